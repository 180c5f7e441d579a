//! Pools whose memory is fixed, since the program has registered it elsewhere: nothing of it sleeps or goes back.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use sconce_base::error::Status;
use sconce_runtime::memory;
use sconce_runtime::memory::pool::{self, PoolPolicy};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use testkit::memory::structure;

use super::{
    MIB, alloc, free_bytes, holds, inside, pool_stream, refused, reserved, state, with_pages,
};
use crate::queued::{fill, read};

#[test]
fn a_fixed_pool_keeps_its_memory() {
    with_pages("a_fixed_pool_keeps_its_memory", "256M", || {
        let free_at_start = free_bytes();
        let own = pool_stream();
        for policy in [PoolPolicy::Pages, PoolPolicy::Segments] {
            let private = pool::create_with(policy).unwrap();
            let number = pool::number(private).unwrap();
            let (held, freed) = inside(private, || (alloc(20 * MIB, own), alloc(24 * MIB, own)));
            fill(held, 5, 20 * MIB, own);
            memory::free(freed).unwrap();
            assert!(!pool::is_fixed(private).unwrap());
            // Twice counts once.
            pool::set_fixed(private, true).unwrap();
            pool::set_fixed(private, true).unwrap();
            assert!(pool::is_fixed(private).unwrap());
            let before = reserved();
            assert_eq!(pool::trim(private), Ok(0));
            memory::empty_cache().unwrap();
            // Another pool runs out of memory: everything that may go back does.
            refused(memory::alloc_on(300 * MIB, own), "");
            assert_eq!(reserved(), before);
            let words = format!("pool {number} on device 0 cannot sleep: its memory is fixed");
            let error = refused(sleep::sleep(Some(private), 0, &SleepPlace::HostPinned), &words);
            assert_eq!(error.status(), Status::InvalidState);
            let error = refused(pool::destroy(private), "the memory of pool is fixed");
            assert_eq!(error.status(), Status::InvalidState);
            // It works on, at the same addresses, and may get more.
            assert_eq!(inside(private, || alloc(24 * MIB, own)), freed);
            let more = inside(private, || alloc(30 * MIB, own));
            [freed, more].into_iter().for_each(|block| memory::free(block).unwrap());
            assert!(holds(&read(held, 20 * MIB, own), 5));
            structure::assert_sound();
            memory::free(held).unwrap();
            pool::set_fixed(private, false).unwrap();
            assert_eq!(pool::trim(private).unwrap(), reserved_by(before, 30 * MIB));
            pool::destroy(private).unwrap();
            structure::assert_all_given_back(&[free_at_start]);
        }
    });
}

/// What a pool had, and what it got later.
fn reserved_by(before: i64, more: usize) -> usize {
    before as usize + more
}

/// Blocks that are not cut go back for a larger one of their pool, but not those of a fixed pool.
#[test]
fn oversize_blocks_of_a_fixed_pool_stay() {
    with_pages("oversize_blocks_of_a_fixed_pool_stay", "96M", || {
        memory::configure("policy:segments,max_split_size_mb:32").unwrap();
        let own = pool_stream();
        let private = pool::create().unwrap();
        inside(private, || memory::free(alloc(40 * MIB, own)).unwrap());
        pool::set_fixed(private, true).unwrap();
        let error = inside(private, || refused(memory::alloc_on(70 * MIB, own), ""));
        assert_eq!(error.status(), Status::OutOfMemory);
        assert_eq!(reserved(), 40 * MIB as i64);
        pool::set_fixed(private, false).unwrap();
        inside(private, || memory::free(alloc(70 * MIB, own)).unwrap());
        assert_eq!(reserved(), 70 * MIB as i64);
        pool::destroy(private).unwrap();
    });
}

#[test]
fn a_device_with_a_fixed_pool_does_not_sleep_and_says_why() {
    with_pages("a_device_with_a_fixed_pool_does_not_sleep_and_says_why", "256M", || {
        let own = pool_stream();
        let (first, fixed) = (pool::create().unwrap(), pool::create().unwrap());
        let blocks = [first, fixed].map(|pool| inside(pool, || alloc(4 * MIB, own)));
        pool::set_fixed(fixed, true).unwrap();
        refused(sleep::sleep_device(0, &SleepPlace::HostPinned), "its memory is fixed");
        assert_eq!((state(None), state(Some(first)), state(Some(fixed))), (None, None, None));
        // Pool by pool the others do.
        sleep::sleep(Some(first), 0, &SleepPlace::HostPinned).unwrap();
        sleep::wake(Some(first), 0, WakeMode::Restore).unwrap();
        pool::set_fixed(fixed, false).unwrap();
        sleep::sleep_device(0, &SleepPlace::HostPinned).unwrap();
        sleep::wake_device(0, WakeMode::Restore).unwrap();
        blocks.into_iter().for_each(|block| memory::free(block).unwrap());
    });
}

#[test]
fn a_pool_that_sleeps_cannot_be_fixed() {
    with_pages("a_pool_that_sleeps_cannot_be_fixed", "256M", || {
        let own = pool_stream();
        let private = pool::create().unwrap();
        let block = inside(private, || alloc(4 * MIB, own));
        sleep::sleep(Some(private), 0, &SleepPlace::HostPinned).unwrap();
        let error = refused(pool::set_fixed(private, true), "is asleep");
        assert_eq!(error.status(), Status::InvalidState);
        assert!(!pool::is_fixed(private).unwrap());
        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        pool::set_fixed(private, true).unwrap();
        pool::set_fixed(private, false).unwrap();
        memory::free(block).unwrap();
        pool::destroy(private).unwrap();
        assert_eq!(pool::set_fixed(private, true).unwrap_err().status(), Status::InvalidHandle);
        assert_eq!(pool::is_fixed(private).unwrap_err().status(), Status::InvalidHandle);
    });
}

/// One thread fixes the pool again and again, another one has it sleep, wake and trimmed: what is fixed is awake and
/// keeps its memory until it is let go.
#[test]
fn a_pool_is_fixed_or_asleep_and_never_both() {
    with_pages("a_pool_is_fixed_or_asleep_and_never_both", "256M", || {
        let own = pool_stream();
        let private = pool::create().unwrap();
        let block = inside(private, || alloc(4 * MIB, own));
        let (enough, slept, mut fixed) = (AtomicBool::new(false), AtomicU32::new(0), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) {
                    if sleep::sleep(Some(private), 0, &SleepPlace::HostPinned).is_ok() {
                        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
                        slept.fetch_add(1, Ordering::Relaxed);
                    }
                    let _ = pool::trim(private).unwrap();
                    std::thread::yield_now();
                }
            });
            while fixed < 20 || slept.load(Ordering::Relaxed) < 20 {
                // Free memory of the pool, which a trim gives back.
                let spare = inside(private, || memory::alloc_on(6 * MIB, own));
                spare.into_iter().for_each(|spare| memory::free(spare).unwrap());
                if pool::set_fixed(private, true).is_ok() {
                    fixed += 1;
                    let before = reserved();
                    for _ in 0..20 {
                        assert_eq!((state(Some(private)), reserved()), (None, before));
                        std::thread::yield_now();
                    }
                    pool::set_fixed(private, false).unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            enough.store(true, Ordering::Relaxed);
        });
        memory::free(block).unwrap();
        pool::destroy(private).unwrap();
        structure::assert_sound();
    });
}

#[test]
fn memory_without_caching_is_not_fixed() {
    let environment = [("SCONCE_BACKEND", "sim"), ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")];
    testkit::in_child("memory_without_caching_is_not_fixed", &environment, || {
        let private = pool::create().unwrap();
        let error = refused(pool::set_fixed(private, true), "PYTORCH_NO_CUDA_MEMORY_CACHING");
        assert_eq!(error.status(), Status::NotSupported);
        pool::destroy(private).unwrap();
    });
}
