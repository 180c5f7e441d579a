//! What must not depend on which call, or which thread, comes first.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use sconce_runtime::memory::{self, check, pool};
use sconce_runtime::stream::{self, Stream};
use testkit::in_child;

const ENVIRONMENT: &[(&str, &str)] = &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")];

fn pooled() -> Stream {
    stream::from_pool(0, 0).unwrap()
}

#[test]
fn settings_set_the_share_of_devices_in_use_until_a_call_does() {
    in_child("settings_set_the_share_of_devices_in_use_until_a_call_does", ENVIRONMENT, || {
        let used = memory::alloc(1 << 20).unwrap();
        let total = 4_usize << 30;
        memory::configure("per_process_memory_fraction:0.5").unwrap();
        assert!((memory::get_fraction(0).unwrap() - 0.5).abs() < 1e-6);
        let error = memory::alloc(total / 4 * 3).unwrap_err();
        assert!(error.message().contains("2.00 GiB allowed"), "{error}");
        memory::configure("").unwrap();
        assert!((memory::get_fraction(0).unwrap() - 1.0).abs() < 1e-6);
        memory::set_fraction(0.25, 0).unwrap();
        memory::configure("per_process_memory_fraction:0.5").unwrap();
        assert!((memory::get_fraction(0).unwrap() - 0.25).abs() < 1e-6);
        memory::free(used).unwrap();
    });
}

#[test]
fn a_free_by_another_thread_counts_before_the_next_peak() {
    in_child("a_free_by_another_thread_counts_before_the_next_peak", ENVIRONMENT, || {
        let (first, second) = (pooled(), pooled());
        let block = memory::alloc_on(100 << 20, first).unwrap();
        let other = std::thread::spawn(move || {
            memory::free(block).unwrap();
            memory::alloc_on(100 << 20, second).unwrap()
        });
        let block = other.join().unwrap();
        assert_eq!(memory::stats(0).unwrap().allocated_bytes.all.peak, 100 << 20);
        memory::free(block).unwrap();
        check::walk().unwrap();
    });
}

#[test]
fn a_free_succeeds_while_a_use_of_the_block_is_noted() {
    in_child("a_free_succeeds_while_a_use_of_the_block_is_noted", ENVIRONMENT, || {
        let (own, other) = (pooled(), pooled());
        for _ in 0..5_000 {
            let block = memory::alloc_on(512, own).unwrap();
            let barrier = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    barrier.wait();
                    // It may have been freed already: then the call reports that.
                    let _ = memory::record_stream(block, other);
                });
                barrier.wait();
                memory::free(block).unwrap();
            });
        }
        stream::synchronize(sconce_runtime::context::runtime().unwrap(), other).unwrap();
        memory::empty_cache().unwrap();
        let stats = memory::stats(0).unwrap();
        assert_eq!((stats.active.all.current, stats.reserved_bytes.all.current), (0, 0));
        check::walk().unwrap();
    });
}

#[test]
fn sums_never_fall_below_zero_while_they_begin_again() {
    in_child("sums_never_fall_below_zero_while_they_begin_again", ENVIRONMENT, || {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stopped() {
                    memory::free(memory::alloc(512).unwrap()).unwrap();
                }
            });
            scope.spawn(|| {
                while !stopped() {
                    memory::reset_accumulated_stats(0).unwrap();
                }
            });
            for _ in 0..5_000 {
                let stats = memory::stats(0).unwrap();
                let sums = stats.allocation.all;
                if sums.allocated < 0 || sums.freed < 0 {
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                    panic!("{sums:?}");
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
}

#[test]
fn a_pool_is_begun_or_destroyed_and_never_both() {
    in_child("a_pool_is_begun_or_destroyed_and_never_both", ENVIRONMENT, || {
        memory::free(memory::alloc(1).unwrap()).unwrap();
        for _ in 0..3_000 {
            let key = pool::create().unwrap();
            let barrier = std::sync::Barrier::new(2);
            let destroyed = std::thread::scope(|scope| {
                let destroyer = scope.spawn(|| {
                    barrier.wait();
                    pool::destroy(key).is_ok()
                });
                barrier.wait();
                let begun = pool::begin(key, 0).is_ok();
                if begun {
                    pool::end(key, 0).unwrap();
                }
                destroyer.join().unwrap()
            });
            assert!(destroyed || pool::destroy(key).is_ok());
        }
    });
}
