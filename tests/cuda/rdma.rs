//! Memory for GPUDirect RDMA: made where the driver makes it and lets the device use it, and nowhere else.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use sconce_base::error::{Result, Status};
use sconce_driver::{PhysicalHandle, VirtualMemory};
use testkit::fake_cuda::{Fake, fake, second};

fn create(fake: &Fake) -> Result<u64> {
    fake.driver.physical_create(second(), 2 << 20, false).map(PhysicalHandle::native)
}

/// How often memory was asked for without RDMA, and with it.
fn asked(fake: &Fake) -> (i64, i64) {
    (fake.state().words[5], fake.state().words[6])
}

/// Physical memory, mappings and reserved ranges that are live.
fn live(fake: &Fake) -> (i64, i64, i64) {
    let state = fake.state();
    (state.handles, state.mappings, state.ranges)
}

#[test]
fn memory_is_for_rdma_unless_the_driver_refuses_to_make_it() {
    let fake = fake();
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (0, 1)));
    // Out of memory has nothing to do with it.
    fake.state().words[7] = 2;
    assert_eq!(create(&fake).unwrap_err().status(), Status::OutOfMemory);
    assert_eq!(asked(&fake), (0, 2));
    fake.state().words[7] = 801;
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (1, 3)));
    // It is asked once.
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (2, 3)));
    assert_eq!(live(&fake), (3, 0, 0));
}

/// As in WSL: the memory is made, and access to it fails.
#[test]
fn memory_is_made_without_rdma_where_the_driver_refuses_access() {
    let fake = fake();
    fake.state().rdma_access = 999;
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (1, 1)));
    assert_eq!(live(&fake), (1, 0, 0), "the first memory has gone back");
    // It is known from now on, also once the driver would allow it.
    fake.state().rdma_access = 0;
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (2, 1)));
    assert_eq!(live(&fake), (2, 0, 0));
}

#[test]
fn access_that_works_is_tried_once() {
    let fake = fake();
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (0, 1)));
    assert_eq!(live(&fake), (1, 0, 0), "nothing is left of the trial");
    // A later failure is that of the mapping, not of the memory.
    fake.state().rdma_access = 999;
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (0, 2)));
}

/// Failures that say nothing about RDMA leave the question open, and nothing behind.
#[test]
fn other_failures_of_the_trial_decide_nothing() {
    let fake = fake();
    fake.state().rdma_access = 2;
    assert_eq!(create(&fake).unwrap_err().status(), Status::OutOfMemory);
    assert_eq!((asked(&fake), live(&fake)), ((0, 1), (0, 0, 0)));
    // Without RDMA access fails just so: it is not the reason.
    fake.state().rdma_access = 0;
    fake.state().all_access = 999;
    let error = create(&fake).unwrap_err();
    assert!(error.message().contains("cuMemSetAccess"), "{error}");
    assert_eq!((asked(&fake), live(&fake)), ((1, 2), (0, 0, 0)));
    fake.state().all_access = 0;
    assert_eq!((create(&fake), asked(&fake)), (Ok(77), (1, 3)));
    assert_eq!(live(&fake), (1, 0, 0));
}
