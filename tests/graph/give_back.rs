//! Memory that goes back to the driver while another thread begins a capture.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sconce::sconce_status::*;
use sconce::*;

use crate::support::*;

/// How long the work takes that the freed memory waits for.
const BUSY: Duration = Duration::from_millis(400);

/// Leaves most of the device's memory cached, freed while a second stream still uses it. Returns the bytes.
fn cache_most_of_the_memory(other: sconce_stream) -> usize {
    let bytes = (free_bytes() as usize / 8 * 5).next_multiple_of(2 << 20);
    let block = allocate(bytes);
    ok(sconce_stream_sleep(other, BUSY.as_nanos() as u64));
    ok(sconce_memory_record_stream(block, other));
    free(block);
    bytes
}

/// Runs `give_back` on a thread, and begins a capture on this one while the other waits for the device. The capture
/// stays open until the other thread is done.
fn capture_meanwhile(give_back: impl FnOnce() -> sconce_status + Send + 'static) {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    let stream = current_stream();
    let output = allocate(1 << 10);
    let graph = graph(false);
    let started = Instant::now();
    let thread = std::thread::spawn(move || {
        let status = give_back();
        IS_DONE.store(true, Ordering::Release);
        (status, testkit::last_message())
    });
    std::thread::sleep(BUSY / 4);
    assert!(!IS_DONE.load(Ordering::Acquire), "nothing waited for the device");
    ok(begin(graph, stream));
    assert!(started.elapsed() >= BUSY / 2, "the capture began while memory went back");
    ok(set(output, 5, 1 << 10));
    let (status, words) = thread.join().unwrap();
    assert_eq!(status, SCONCE_OK, "{words}");
    ok(sconce_graph_capture_end(graph));
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(output, 1 << 10), [5; 1 << 10]);
    ok(sconce_graph_destroy(graph));
    free(output);
}

#[test]
fn a_capture_begins_behind_a_request_that_empties_the_cache() {
    let other = pool_stream();
    let bytes = cache_most_of_the_memory(other);
    capture_meanwhile(move || {
        let mut address: *mut c_void = null_mut();
        // More than is free beside the cached block, and another size than its own.
        // SAFETY: a writable place.
        let status = unsafe { sconce_memory_alloc(bytes + (4 << 20), &mut address) };
        if status == SCONCE_OK { sconce_memory_free(address) } else { status }
    });
}

#[test]
fn a_capture_begins_behind_an_emptied_cache() {
    cache_most_of_the_memory(pool_stream());
    capture_meanwhile(|| sconce_memory_empty_cache());
}
