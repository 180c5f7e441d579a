//! Pools that sleep, and blocks that other processes have open.

use super::*;
use sconce_base::error::Status;
use sconce_runtime::memory::pool;
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};

/// A pool does not sleep while another process has a block of it open, whether the block was freed or not.
#[test]
fn a_pool_with_a_block_that_is_open_elsewhere_does_not_sleep() {
    let _alone = with_pages();
    let (block, neighbour) = (memory::alloc(3 * PAGE).unwrap(), memory::alloc(MIB).unwrap());
    device::fill(block, 3, 3 * PAGE);
    device::fill(neighbour, 4, MIB);
    let mut other = Remote::start();
    let there = other.open(&ipc::export(block).unwrap());
    for is_freed in [false, true] {
        if is_freed {
            memory::free(block).unwrap();
        }
        let error = sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap_err();
        assert_eq!(error.status(), Status::InvalidState, "{error}");
        assert!(error.message().contains("the default pool of device 0 cannot sleep"), "{error}");
        assert!(error.message().contains(&format!("{block:#x}")), "{error}");
        assert!(error.message().contains("open in another process"), "{error}");
        assert_eq!(error.message().contains("freed here"), is_freed, "{error}");
        // Nothing was done.
        assert_eq!(sleep::state(None, 0).unwrap(), None);
        memory::check::walk().unwrap();
        assert!(other.holds(there, 3, 3 * PAGE));
        assert!(holds(&device::read(neighbour, MIB), 4));
    }
    other.close(there);
    ipc::collect().unwrap();
    sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
    assert_eq!(reserved(), 0);
    sleep::wake(None, 0, WakeMode::Restore).unwrap();
    assert!(holds(&device::read(neighbour, MIB), 4));
    memory::free(neighbour).unwrap();
}

/// Another pool than the one that sleeps has the block.
#[test]
fn other_pools_sleep_while_a_block_is_open_elsewhere() {
    let _alone = with_pages();
    let private = pool::create().unwrap();
    pool::begin(private, 0).unwrap();
    let block = memory::alloc(2 * PAGE).unwrap();
    pool::end(private, 0).unwrap();
    let mut other = Remote::start();
    let there = other.open(&ipc::export(block).unwrap());
    sleep::sleep(None, 0, &SleepPlace::HostPageable).unwrap();
    let error = sleep::sleep(Some(private), 0, &SleepPlace::HostPageable).unwrap_err();
    assert_eq!(error.status(), Status::InvalidState, "{error}");
    sleep::wake(None, 0, WakeMode::Restore).unwrap();
    other.close(there);
    memory::free(block).unwrap();
    ipc::collect().unwrap();
    pool::destroy(private).unwrap();
    memory::empty_cache().unwrap();
    memory::check::walk().unwrap();
}

/// What was exported and is not open sleeps, and is refused to other processes until it is awake.
#[test]
fn what_was_exported_sleeps_and_can_be_opened_after_it_woke() {
    let _alone = with_pages();
    let all = Neighbours::new(5 * MIB);
    let export = ipc::export(all.block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    other.fill(there, 7, all.bytes);
    other.close(there);
    // The exporter may not have heard of the closing yet.
    ipc::collect().unwrap();
    for _ in 0..2 {
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        let asleep = other.try_open(&export).unwrap_err();
        assert_eq!(asleep.0, "SCONCE_ERROR_INVALID_STATE");
        assert!(asleep.1.contains("asleep"), "{}", asleep.1);
        assert_eq!(other.number("sharing"), 0);
        for address in [all.block, all.before] {
            let error = ipc::export(address).unwrap_err();
            assert_eq!(error.status(), Status::InvalidState, "{error}");
            assert!(error.message().contains("asleep"), "{error}");
        }
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        assert_eq!(ipc::export(all.block).unwrap(), export, "the same block");
        let there = other.open(&export);
        assert!(other.holds(there, 7, all.bytes), "other pages, the same bytes");
        all.assert_untouched();
        other.close(there);
        ipc::collect().unwrap();
    }
    // Freed while it sleeps.
    sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
    memory::free(all.block).unwrap();
    assert_eq!(other.try_open(&export).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    sleep::wake(None, 0, WakeMode::Restore).unwrap();
    assert_eq!(other.try_open(&export).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    all.assert_untouched();
    all.free_others();
    memory::check::walk().unwrap();
}
