//! Pinned memory amid captures: what it asks of the driver spoils none, a block whose address a graph
//! has is never handed out again, and nothing is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::without_provenance_mut;

use sconce::sim_controls as sim;
use sconce::*;
use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;
use sconce_compute::sleep_kernel;
use sconce_driver::StreamFlags;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::host_memory::{self, check};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};
use testkit::simulated::captured;

const MIB: usize = 1 << 20;

/// In a process of its own: captures hold back other threads, and captured blocks stay in use.
fn alone(test: &str, act: impl FnOnce(&'static Runtime, Stream)) {
    testkit::in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")], || {
        act(runtime().unwrap(), stream::from_pool(0, 0).unwrap());
        check::walk().unwrap();
    });
}

fn active() -> i64 {
    host_memory::stats().unwrap().active_requests.current
}

#[test]
fn a_block_in_a_captured_copy_is_never_handed_out_again() {
    alone("a_block_in_a_captured_copy_is_never_handed_out_again", |runtime, stream| {
        let ptr = |address: usize| without_provenance_mut(address);
        let device = memory::alloc(MIB).unwrap();
        let blocks = [(); 3].map(|()| host_memory::alloc(MIB).unwrap());
        stream::set_current(stream);
        captured(runtime, stream, || {
            // From inside of the one, to inside of the other.
            // SAFETY: memory of so many bytes; the blocks live.
            let there =
                unsafe { sconce_copy(ptr(device), ptr(blocks[0] + 512), 1024, true.into()) };
            // SAFETY: both blocks have a MiB, and live until the graph has run.
            let back = unsafe { sconce_copy(ptr(blocks[1] + 64), ptr(device), 1024, true.into()) };
            assert_eq!([there, back], [sconce_status::SCONCE_OK; 2], "{}", testkit::last_message());
            host_memory::free(blocks[0]).unwrap();
        });
        host_memory::free(blocks[1]).unwrap();
        host_memory::free(blocks[2]).unwrap();
        stream::synchronize(runtime, stream).unwrap();
        let others: Vec<usize> = (0..20).map(|_| host_memory::alloc(MIB).unwrap()).collect();
        assert!(others.contains(&blocks[2]));
        assert!(!others.contains(&blocks[0]) && !others.contains(&blocks[1]));
        for other in others {
            host_memory::free(other).unwrap();
        }
        host_memory::empty_cache().unwrap();
        for block in &blocks[..2] {
            assert!(host_memory::is_pinned(*block).unwrap() && host_memory::free(*block).is_err());
        }
        assert_eq!(active(), 2, "the graph's");
    });
}

/// A use before the capture and one within it: the graph still has the address.
#[test]
fn an_earlier_use_does_not_hide_a_captured_one() {
    alone("an_earlier_use_does_not_hide_a_captured_one", |runtime, stream| {
        let block = host_memory::alloc(MIB).unwrap();
        host_memory::record_stream(block, stream).unwrap();
        captured(runtime, stream, || host_memory::record_stream(block, stream).unwrap());
        host_memory::record_stream(block, stream).unwrap();
        host_memory::free(block).unwrap();
        stream::synchronize(runtime, stream).unwrap();
        assert_ne!(host_memory::alloc(MIB).unwrap(), block);
        assert_ne!(host_memory::alloc(MIB).unwrap(), block);
    });
}

/// A block that was used before the capture waits for its end, then for the work.
#[test]
fn what_was_used_before_a_capture_comes_back_after_it() {
    alone("what_was_used_before_a_capture_comes_back_after_it", |runtime, stream| {
        let block = host_memory::alloc(MIB).unwrap();
        host_memory::record_stream(block, stream).unwrap();
        captured(runtime, stream, || {
            host_memory::free(block).unwrap();
            assert_ne!(host_memory::alloc(MIB).unwrap(), block);
        });
        // An allocation records the event, and a later one finds it complete.
        host_memory::free(host_memory::alloc(100).unwrap()).unwrap();
        stream::synchronize(runtime, stream).unwrap();
        assert_eq!(host_memory::alloc(MIB).unwrap(), block);
        assert_eq!(active(), 2);
    });
}

#[test]
fn everything_but_emptying_goes_on_during_a_global_capture() {
    alone("everything_but_emptying_goes_on_during_a_global_capture", |runtime, stream| {
        let other = stream::from_pool(0, 0).unwrap();
        let block = host_memory::alloc(3 * MIB).unwrap();
        sim::set_manual(true).unwrap();
        sleep_kernel::sleep(runtime, other, 1).unwrap();
        host_memory::record_stream(block, other).unwrap();
        let kept = captured(runtime, stream, || {
            host_memory::free(block).unwrap();
            let more = host_memory::alloc(3 * MIB).unwrap();
            assert_ne!(more, block);
            sim::run_until_idle().unwrap();
            assert_eq!(host_memory::alloc(3 * MIB).unwrap(), block, "seen amid the capture");
            assert!(host_memory::is_pinned(more + 7).unwrap());
            // The free of another thread, which the capture holds back too.
            let elsewhere = std::thread::spawn(move || {
                host_memory::free(more).unwrap();
                host_memory::alloc(5 * MIB).unwrap()
            });
            [block, elsewhere.join().unwrap()]
        });
        sim::set_manual(false).unwrap();
        for block in kept {
            host_memory::free(block).unwrap();
        }
        host_memory::empty_cache().unwrap();
        assert_eq!(host_memory::stats().unwrap().allocated_bytes.current, 0);
    });
}

/// Unpinning waits for the devices, which a capture does not survive, in whatever mode.
#[test]
fn nothing_is_unpinned_during_a_capture() {
    alone("nothing_is_unpinned_during_a_capture", |runtime, stream| {
        // Without a capture, memory of other sizes makes room for the last.
        for mib in [20, 21, 22] {
            host_memory::free(host_memory::alloc(mib * MIB).unwrap()).unwrap();
        }
        let unpinned = || sim::call_count("host_free").unwrap();
        assert!(unpinned() > 0);
        let (before, pinned) = (unpinned(), host_memory::stats().unwrap().allocated_bytes.current);
        assert!(pinned > 0);
        let large = captured(runtime, stream, || {
            let large = host_memory::alloc(40 * MIB).unwrap();
            let error = host_memory::empty_cache().unwrap_err();
            assert_eq!(error.status(), Status::InvalidState, "{error}");
            // Memory that is not kept is kept as long as the capture goes on.
            memory::configure("pinned_max_cached_size_mb:1").unwrap();
            let single = host_memory::alloc(2 * MIB).unwrap();
            host_memory::free(single).unwrap();
            check::walk().unwrap();
            large
        });
        assert_eq!(unpinned(), before);
        let all = host_memory::stats().unwrap();
        assert_eq!(all.allocated_bytes.current, pinned + 42 * MIB as i64);
        assert_eq!(all.num_host_alloc, all.allocations.allocated);
        host_memory::free(large).unwrap();
        host_memory::empty_cache().unwrap();
        assert_eq!(host_memory::stats().unwrap().allocated_bytes.current, 0);
    });
}

#[test]
fn running_out_of_memory_spoils_no_capture() {
    alone("running_out_of_memory_spoils_no_capture", |runtime, stream| {
        host_memory::free(host_memory::alloc(20 * MIB).unwrap()).unwrap();
        captured(runtime, stream, || {
            for nth in 1..=3 {
                sim::fail_call("host_alloc", nth, 2).unwrap();
            }
            let error = host_memory::alloc(40 * MIB).unwrap_err();
            assert_eq!(error.status(), Status::OutOfMemory, "{error}");
            sim::clear_faults().unwrap();
        });
        assert_eq!(host_memory::stats().unwrap().allocated_bytes.current, 20 * MIB as i64);
        host_memory::empty_cache().unwrap();
    });
}

#[test]
fn a_captured_stream_of_others_is_known_while_it_is_current() {
    alone("a_captured_stream_of_others_is_known_while_it_is_current", |runtime, _| {
        let flags = StreamFlags { non_blocking: true };
        let handle = runtime.driver().stream_create(DeviceIndex::ZERO, flags, 0).unwrap();
        let external = stream::from_external(handle, 0).unwrap();
        stream::set_current(external);
        host_memory::free(host_memory::alloc(8 * MIB).unwrap()).unwrap();
        captured(runtime, external, || {
            // It finds no room in what is cached, which is too much beside it.
            host_memory::free(host_memory::alloc(9 * MIB).unwrap()).unwrap();
            let refused = host_memory::empty_cache().unwrap_err();
            assert_eq!(refused.status(), Status::InvalidState, "{refused}");
        });
        host_memory::empty_cache().unwrap();
    });
}
