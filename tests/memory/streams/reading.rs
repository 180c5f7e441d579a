//! Figures that are read again and again: whatever happens between two readings shows in the second.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::memory::{self, MemoryStats, check};
use sconce_runtime::stream::{self, Stream};
use testkit::in_child;

const ENVIRONMENT: &[(&str, &str)] = &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")];
const MIB: usize = 1 << 20;

fn pooled() -> Stream {
    stream::from_pool(0, 0).unwrap()
}

/// The figures, twice the same.
fn read() -> MemoryStats {
    let stats = memory::stats(0).unwrap();
    assert_eq!(memory::stats(0).unwrap(), stats, "nothing happened between two readings");
    stats
}

/// Live blocks and all blocks so far.
fn blocks() -> (i64, i64) {
    let stats = read();
    (stats.allocation.all.current, stats.allocation.all.allocated)
}

#[test]
fn each_call_shows_at_once() {
    in_child("each_call_shows_at_once", ENVIRONMENT, || {
        let stream = pooled();
        assert_eq!(blocks(), (0, 0));
        let first = memory::alloc_on(512, stream).unwrap();
        assert_eq!(blocks(), (1, 1));
        memory::free(first).unwrap();
        assert_eq!(blocks(), (0, 1));
        // The block that was handed out last, again and again.
        for times in 0..5 {
            let again = memory::alloc_on(512, stream).unwrap();
            assert_eq!(blocks(), (1, times + 2));
            memory::free(again).unwrap();
            assert_eq!(blocks(), (0, times + 2));
        }
        assert_eq!(read().segment.all.current, 1);
        memory::empty_cache().unwrap();
        assert_eq!(read().segment.all.current, 0);
        check::walk().unwrap();
    });
}

#[test]
fn streams_and_threads_show_at_once() {
    in_child("streams_and_threads_show_at_once", ENVIRONMENT, || {
        let streams: Vec<_> = (0..5).map(|_| pooled()).collect();
        let held: Vec<_> = (0..50)
            .map(|number| {
                let block = memory::alloc_on(MIB, streams[number % streams.len()]).unwrap();
                assert_eq!(blocks(), (number as i64 + 1, number as i64 + 1));
                block
            })
            .collect();
        for (number, block) in held.into_iter().enumerate() {
            // A free of another thread is left to the cache, and counts all the same.
            if number % 2 == 0 {
                std::thread::spawn(move || memory::free(block).unwrap()).join().unwrap();
            } else {
                memory::free(block).unwrap();
            }
            assert_eq!(blocks().0, 49 - number as i64);
        }
        assert_eq!(read().allocated_bytes.all.peak, 50 * MIB as i64);
        check::walk().unwrap();
    });
}

#[test]
fn blocks_that_wait_show_at_once() {
    in_child("blocks_that_wait_show_at_once", ENVIRONMENT, || {
        let runtime = runtime().unwrap();
        let (own, other) = (pooled(), pooled());
        let block = memory::alloc_on(MIB, own).unwrap();
        memory::record_stream(block, other).unwrap();
        sleep_kernel::sleep(runtime, other, 1_000_000).unwrap();
        memory::free(block).unwrap();
        let stats = read();
        assert_eq!((stats.allocation.all.current, stats.active.all.current), (0, 1));
        stream::synchronize(runtime, other).unwrap();
        memory::empty_cache().unwrap();
        assert_eq!(read().active.all.current, 0);
    });
}

#[test]
fn resets_and_settings_show_at_once() {
    in_child("resets_and_settings_show_at_once", ENVIRONMENT, || {
        let block = memory::alloc(3 * MIB).unwrap();
        memory::free(block).unwrap();
        let peak = |stats: MemoryStats| stats.allocated_bytes.all.peak;
        assert_eq!(peak(read()), 3 * MIB as i64);
        memory::reset_peak_stats(0).unwrap();
        assert_eq!(peak(read()), 0);
        assert_eq!(read().allocation.all.allocated, 1);
        memory::reset_accumulated_stats(0).unwrap();
        assert_eq!(read().allocation.all.allocated, 0);
        assert_eq!(read().max_split_size, -1);
        memory::configure("max_split_size_mb:64").unwrap();
        assert_eq!(read().max_split_size, 64 * MIB as i64);
        memory::configure("").unwrap();
        assert_eq!(read().max_split_size, -1);
        memory::set_fraction(0.001, 0).unwrap();
        assert_eq!(read().num_ooms, 0);
        memory::alloc(1 << 30).unwrap_err();
        assert_eq!(read().num_ooms, 1);
    });
}
