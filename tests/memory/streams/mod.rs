//! Device memory of streams that somebody else made, and has destroyed since.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod caches;
mod reading;

use std::sync::{Mutex, MutexGuard};

use sconce_base::types::DeviceIndex;
use sconce_compute::sleep_kernel;
use sconce_driver::{StreamFlags, StreamRef};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};
use testkit::simulated::runtime;

static ALONE: Mutex<()> = Mutex::new(());

/// The figures are the process': one test at a time, each from the beginning.
fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    runtime();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 0);
    alone
}

fn reserved() -> i64 {
    memory::stats(0).unwrap().reserved_bytes.all.current
}

fn outside_stream() -> (StreamRef, Stream) {
    let flags = StreamFlags { non_blocking: true };
    let handle = runtime().driver().stream_create(DeviceIndex::ZERO, flags, 0).unwrap();
    let made = StreamRef { device: DeviceIndex::ZERO, handle };
    (made, stream::from_external(handle, 0).unwrap())
}

#[test]
fn memory_outlives_the_stream_it_was_allocated_for() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc_on(1000, stream).unwrap();
    let kept = memory::alloc_on(1000, stream).unwrap();
    runtime().driver().stream_destroy(made).unwrap();
    assert_eq!(memory::usable_bytes(address).unwrap(), 1024);
    memory::free(address).unwrap();
    assert_eq!(memory::snapshot().unwrap().segments.len(), 1);
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 2 << 20);
    memory::free(kept).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 0);
}

#[test]
fn what_waits_for_a_stream_is_free_once_its_work_has_finished_though_it_is_gone() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc(1000).unwrap();
    sleep_kernel::sleep(runtime(), stream, 20_000_000).unwrap();
    memory::record_stream(address, stream).unwrap();
    memory::free(address).unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 1);
    runtime().driver().stream_destroy(made).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 0);
    assert_eq!(reserved(), 0);
}

#[test]
fn native_handles_share_the_memory_of_their_stream() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc_native(1000, 0, made.handle).unwrap();
    memory::free(address).unwrap();
    assert_eq!(memory::alloc_on(1000, stream).unwrap(), address);
    assert!(memory::usable_bytes(address).is_ok());
    memory::free(address).unwrap();
    assert!(memory::usable_bytes(address).is_err());
    runtime().driver().stream_destroy(made).unwrap();
}

#[test]
fn a_noted_stream_that_is_gone_holds_no_memory_for_ever() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc(1000).unwrap();
    memory::record_stream(address, stream).unwrap();
    runtime().driver().stream_destroy(made).unwrap();
    memory::free(address).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 0);
    assert_eq!(reserved(), 0);
}

/// The simulator ends a process that hands it a destroyed stream, and gives handles out again.
fn with_handles_that_come_again(scenario: impl FnOnce()) {
    sconce::sim_controls::set_address_reuse(true).unwrap();
    scenario();
    sconce::sim_controls::set_address_reuse(false).unwrap();
}

#[test]
fn work_of_a_destroyed_stream_keeps_its_memory_from_the_next_of_its_handle() {
    let _alone = alone();
    with_handles_that_come_again(|| {
        let (made, first) = outside_stream();
        let cached = memory::alloc_on(1 << 20, first).unwrap();
        let used = memory::alloc(4 << 20).unwrap();
        memory::record_stream(used + 4096, first).unwrap();
        sleep_kernel::sleep(runtime(), first, 50_000_000).unwrap();
        memory::free(cached).unwrap();
        memory::free(used).unwrap();
        runtime().driver().stream_destroy(made).unwrap();
        let (made_again, second) = outside_stream();
        assert_eq!(made_again, made);
        let next = memory::alloc_on(1 << 20, second).unwrap();
        assert_ne!(next, cached, "the first stream is still working on it");
        // An event on the second stream says nothing about the first.
        memory::record_stream(next, second).unwrap();
        stream::synchronize(runtime(), second).unwrap();
        let other = memory::alloc(4 << 20).unwrap();
        assert_ne!(other, used);
        sconce_runtime::device::synchronize(0).unwrap();
        assert_eq!(memory::alloc(4 << 20).unwrap(), used);
        for address in [next, other, used] {
            memory::free(address).unwrap();
        }
        memory::empty_cache().unwrap();
        assert_eq!(reserved(), 0);
        runtime().driver().stream_destroy(made_again).unwrap();
    });
}

#[test]
fn a_pooled_stream_with_the_handle_of_a_destroyed_one_is_the_librarys() {
    let _alone = alone();
    with_handles_that_come_again(|| {
        let (made, first) = outside_stream();
        let cached = memory::alloc_on(1 << 20, first).unwrap();
        sleep_kernel::sleep(runtime(), first, 20_000_000).unwrap();
        memory::free(cached).unwrap();
        runtime().driver().stream_destroy(made).unwrap();
        let pooled = stream::from_pool(0, -3).unwrap();
        assert_eq!(pooled.driver_ref(), made);
        let own = memory::alloc_on(1 << 20, pooled).unwrap();
        assert_ne!(own, cached);
        // It may be asked at any time.
        let used = memory::alloc(4 << 20).unwrap();
        memory::record_stream(used, pooled).unwrap();
        memory::free(used).unwrap();
        stream::synchronize(runtime(), pooled).unwrap();
        assert_eq!(memory::alloc(4 << 20).unwrap(), used);
        memory::free(used).unwrap();
        memory::free(own).unwrap();
        memory::empty_cache().unwrap();
        assert_eq!(reserved(), 0);
    });
}

#[test]
fn a_use_by_a_stream_of_another_device_waits_for_that_device() {
    let _alone = alone();
    let one = DeviceIndex::new(1).unwrap();
    let handle = runtime().driver().stream_create(one, StreamFlags::default(), 0).unwrap();
    let made = StreamRef { device: one, handle };
    let elsewhere = stream::from_external(handle, 1).unwrap();
    let used = memory::alloc(4 << 20).unwrap();
    sleep_kernel::sleep(runtime(), elsewhere, 20_000_000).unwrap();
    memory::record_stream(used, elsewhere).unwrap();
    memory::free(used).unwrap();
    runtime().driver().stream_destroy(made).unwrap();
    sconce_runtime::device::synchronize(0).unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 1);
    sconce_runtime::device::synchronize(1).unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 0);
    memory::empty_cache().unwrap();
}

#[test]
fn blocks_that_wait_for_no_known_stream_leave_allocations_their_short_way() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let used = memory::alloc(4 << 20).unwrap();
    memory::record_stream(used, stream).unwrap();
    memory::free(used).unwrap();
    runtime().driver().stream_destroy(made).unwrap();
    memory::free(memory::alloc(1 << 20).unwrap()).unwrap();
    sconce::sim_controls::reset_call_counts().unwrap();
    for _ in 0..10 {
        memory::free(memory::alloc(1 << 20).unwrap()).unwrap();
    }
    for call in ["stream_id", "event_query", "event_record", "stream_is_capturing"] {
        assert_eq!(sconce::sim_controls::call_count(call).unwrap(), 0, "{call}");
    }
    memory::empty_cache().unwrap();
}

#[test]
fn a_workspace_of_a_destroyed_stream_is_not_the_next_streams_of_its_handle() {
    let _alone = alone();
    with_handles_that_come_again(|| {
        let (made, first) = outside_stream();
        stream::set_current(first);
        sconce_compute::blas::handle().unwrap();
        sconce::sim_controls::reset_call_counts().unwrap();
        sconce_compute::blas::handle().unwrap();
        assert_eq!(
            sconce::sim_controls::call_count("blas_set_workspace").unwrap(),
            0,
            "all is set"
        );
        stream::set_current(stream::default(0).unwrap());
        runtime().driver().stream_destroy(made).unwrap();
        let (made_again, second) = outside_stream();
        assert_eq!(made_again, made);
        stream::set_current(second);
        sconce_compute::blas::handle().unwrap();
        for call in ["blas_set_stream", "blas_set_workspace"] {
            assert!(sconce::sim_controls::call_count(call).unwrap() > 0, "{call}");
        }
        stream::set_current(stream::default(0).unwrap());
        sconce_compute::blas::handle().unwrap();
        sconce_compute::blas::clear_workspaces().unwrap();
        runtime().driver().stream_destroy(made_again).unwrap();
        memory::empty_cache().unwrap();
    });
}
