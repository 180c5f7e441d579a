//! The allocator amid captures, on simulated devices: what it asks of the driver spoils none, frees wait
//! where they must, and nothing is lost afterwards. The data of replays is `memory_graph`'s, on a GPU.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::{Mutex, MutexGuard};

use sconce::sim_controls as sim;
use sconce_base::config::{BackendChoice, SimConfig};
use sconce_base::error::Status;
use sconce_driver::{EventFlags, StreamRef};
use sconce_runtime::context::{Options, Runtime, initialize_with};
use sconce_runtime::memory::{self, pool};
use sconce_runtime::stream::{self, Stream};
use testkit::simulated::captured;

const MIB: usize = 1 << 20;
/// Several to a segment of the large pool.
const BLOCK: usize = 4 * MIB;
/// Has a segment of its own.
const BIG: usize = 64 * MIB;

/// Starts the simulator; captures hold back other threads, so one test runs at a time.
fn alone() -> (MutexGuard<'static, ()>, &'static Runtime) {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let sim = SimConfig { memory_bytes: 1 << 30, ..SimConfig::default() };
    let runtime =
        initialize_with(Options { backend: BackendChoice::Sim, sim, visible: None }).unwrap();
    memory::empty_cache().unwrap();
    (one, runtime)
}

fn stream_of(device: i32) -> Stream {
    stream::from_pool(device, 0).unwrap()
}

fn reserved(device: i32) -> i64 {
    memory::stats(device).unwrap().reserved_bytes.all.current
}

#[test]
fn a_pool_serves_a_capture_and_keeps_its_memory_from_others() {
    let (_one, runtime) = alone();
    let (stream, private) = (stream_of(0), pool::create().unwrap());
    let before = reserved(0);
    pool::begin(private, 0).unwrap();
    let inside = captured(runtime, stream, || {
        let first = memory::alloc_on(BLOCK, stream).unwrap();
        let second = memory::alloc_on(BLOCK, stream).unwrap();
        memory::free(first).unwrap();
        let third = memory::alloc_on(BLOCK, stream).unwrap();
        assert_eq!(third, first, "what a capture frees it uses again");
        let big = memory::alloc_on(BIG, stream).unwrap();
        let places = [second, third, big].map(|ptr| memory::base_of(ptr).unwrap());
        for ptr in [second, third, big] {
            memory::free(ptr).unwrap();
        }
        places
    });
    pool::end(private, 0).unwrap();
    let others = [BLOCK, BLOCK, BIG].map(|bytes| memory::alloc_on(bytes, stream).unwrap());
    for other in others {
        assert!(inside.iter().all(|(base, bytes)| !(*base..base + bytes).contains(&other)));
        memory::free(other).unwrap();
    }
    memory::empty_cache().unwrap();
    assert!(reserved(0) > before, "a living pool keeps its memory");
    pool::destroy(private).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(0), before);
}

#[test]
fn a_block_that_a_captured_stream_uses_waits_for_the_end_of_the_capture() {
    let (_one, runtime) = alone();
    let (stream, side) = (stream_of(0), stream_of(0));
    let driver = runtime.driver();
    let device = stream.device();
    let event = |on: StreamRef, then: StreamRef| {
        let event = driver.event_create(device, EventFlags::default()).unwrap();
        driver.event_record(event, on).unwrap();
        driver.stream_wait_event(then, event).unwrap();
    };
    let used = captured(runtime, stream, || {
        let used = memory::alloc_on(BLOCK, stream).unwrap();
        event(stream.driver_ref(), side.driver_ref());
        memory::record_stream(used, side).unwrap();
        memory::free(used).unwrap();
        let other = memory::alloc_on(BLOCK, stream).unwrap();
        assert_ne!(other, used);
        memory::free(other).unwrap();
        event(side.driver_ref(), stream.driver_ref());
        used
    });
    // An allocation records what was put off, and the next finds it complete.
    memory::free(memory::alloc_on(BLOCK, stream).unwrap()).unwrap();
    driver.stream_synchronize(side.driver_ref()).unwrap();
    let again = memory::alloc_on(BLOCK, stream).unwrap();
    assert_eq!(again, used);
    memory::free(again).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(0), 0);
}

#[test]
fn events_of_streams_outside_are_asked_without_harm() {
    let (_one, runtime) = alone();
    let (stream, own, user) = (stream_of(0), stream_of(0), stream_of(0));
    let pending = memory::alloc_on(BLOCK, own).unwrap();
    sim::set_manual(true).unwrap();
    runtime
        .driver()
        .fill_async(sconce_base::types::DevicePtr(pending as u64), 1, 16, user.driver_ref())
        .unwrap();
    memory::record_stream(pending, user).unwrap();
    memory::free(pending).unwrap();
    captured(runtime, stream, || {
        let other = memory::alloc_on(BLOCK, own).unwrap();
        assert_ne!(other, pending, "the other stream is not done");
        assert!(sim::run_until_idle().unwrap() > 0);
        let next = memory::alloc_on(BLOCK, own).unwrap();
        assert_eq!(next, pending, "done, and seen amid the capture");
        // The free of another thread, too.
        std::thread::spawn(move || memory::free(next).unwrap()).join().unwrap();
        memory::free(other).unwrap();
    });
    sim::set_manual(false).unwrap();
}

#[test]
fn other_threads_get_memory_during_a_capture() {
    let (_one, runtime) = alone();
    let stream = stream_of(0);
    captured(runtime, stream, || {
        let threads = [0, 1].map(|device| {
            std::thread::spawn(move || {
                let own = stream_of(device);
                let big = memory::alloc_on(BIG, own).unwrap();
                memory::free(big).unwrap();
                assert_eq!(memory::alloc_on(BIG, own).unwrap(), big);
                memory::free(big).unwrap();
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
    memory::empty_cache().unwrap();
    assert_eq!((reserved(0), reserved(1)), (0, 0));
}

#[test]
fn a_device_under_capture_gives_nothing_back_and_others_do() {
    let (_one, runtime) = alone();
    let (stream, there) = (stream_of(0), stream_of(1));
    memory::free(memory::alloc_on(BIG, stream).unwrap()).unwrap();
    memory::free(memory::alloc_on(BIG, there).unwrap()).unwrap();
    let before = reserved(0);
    captured(runtime, stream, || {
        let error = memory::empty_cache().unwrap_err();
        assert_eq!(error.status(), Status::InvalidState, "{error}");
        assert_eq!((reserved(0), reserved(1)), (before, 0));
    });
    memory::empty_cache().unwrap();
    assert_eq!(reserved(0), 0);
}

#[test]
fn collecting_old_blocks_rests_during_a_capture() {
    let (_one, runtime) = alone();
    let stream = stream_of(0);
    memory::configure("garbage_collection_threshold:0.1").unwrap();
    memory::set_fraction(0.5, 0).unwrap();
    memory::free(memory::alloc_on(2 * BIG, stream).unwrap()).unwrap();
    let before = reserved(0);
    captured(runtime, stream, || {
        let more = memory::alloc_on(3 * BIG, stream).unwrap();
        assert!(reserved(0) > before, "nothing went back");
        memory::free(more).unwrap();
    });
    let more = memory::alloc_on(4 * BIG, stream).unwrap();
    assert!(reserved(0) < 8 * BIG as i64, "and now it does");
    memory::free(more).unwrap();
    memory::configure("garbage_collection_threshold:0.99").unwrap();
    memory::set_fraction(1.0, 0).unwrap();
}

#[test]
fn running_out_of_memory_does_a_capture_no_harm() {
    let (_one, runtime) = alone();
    let stream = stream_of(0);
    memory::free(memory::alloc_on(8 * BIG, stream).unwrap()).unwrap();
    captured(runtime, stream, || {
        let error = memory::alloc_on(12 * BIG, stream).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
    });
    // Outside, what is cached makes room.
    memory::free(memory::alloc_on(12 * BIG, stream).unwrap()).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(0), 0);
}
