//! Every driver call of a capture made to fail: the capture ends, nothing is lost, and the next one works.

use sconce::ffi::sconce_status::*;
use sconce::ffi::*;
use testkit::last_message;

use crate::support::*;

const UNKNOWN: i32 = 999;
const BYTES: usize = 4 << 20;

/// Captures and replays once; returns the first failure.
fn cycle(graph: *mut sconce_graph, stream: sconce_stream, output: usize) -> sconce_status {
    let output = std::ptr::without_provenance_mut(output);
    let begun = begin(graph, stream);
    if begun != SCONCE_OK {
        return begun;
    }
    let mut inside = std::ptr::null_mut();
    #[allow(unsafe_code, reason = "calls the C API")]
    // SAFETY: a writable place.
    let allocated = unsafe { sconce_memory_alloc(BYTES, &mut inside) };
    let mut status = allocated;
    if status == SCONCE_OK {
        status = set(inside, 6, BYTES);
    }
    if status == SCONCE_OK {
        status = copy(output, inside, BYTES);
    }
    if allocated == SCONCE_OK {
        free(inside);
    }
    if status != SCONCE_OK {
        assert_eq!(sconce_graph_capture_abort(graph), SCONCE_OK, "{}", last_message());
        return status;
    }
    let ended = sconce_graph_capture_end(graph);
    if ended != SCONCE_OK {
        return ended;
    }
    let replayed = sconce_graph_replay(graph, stream);
    if replayed != SCONCE_OK {
        return replayed;
    }
    sconce_stream_synchronize(stream)
}

#[test]
fn every_driver_call_of_a_capture_may_fail() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let address = output.addr();
    let warm = graph(false);
    ok(cycle(warm, stream, address));
    ok(sconce_graph_destroy(warm));
    let before = free_bytes();
    let mut struck = 0;
    for call in [
        "capture_begin",
        "capture_end",
        "graph_node_count",
        "graph_instantiate",
        "graph_destroy",
        "graph_launch",
        "stream_is_capturing",
        "memory_alloc",
        "fill_async",
        "copy_async",
        "exchange_capture_mode",
        "stream_synchronize",
    ] {
        for nth in 1..=12 {
            let graph = graph(false);
            inject(call, nth, UNKNOWN);
            let status = cycle(graph, stream, address);
            ok(sconce_sim_clear_faults());
            struck += usize::from(status != SCONCE_OK);
            assert!(!is_capturing(stream), "{call} {nth}: the stream stays captured");
            ok(sconce_device_synchronize(0));
            // The failure of a call that ends the capture has emptied the graph; others leave it usable or captured.
            ok(sconce_graph_reset(graph));
            ok(cycle(graph, stream, address));
            assert_eq!(read(output, BYTES), vec![6; BYTES], "{call} {nth}");
            ok(sconce_graph_destroy(graph));
            ok(sconce_memory_empty_cache());
            assert_eq!(free_bytes(), before, "{call} {nth}: memory is lost");
        }
    }
    assert!(struck >= 11, "only {struck} faults struck");
    free(output);
}

#[test]
fn a_node_that_fails_ends_the_device_at_its_launch() {
    let stream = current_stream();
    let output = allocate(64);
    let graph = graph(false);
    ok(begin(graph, stream));
    ok(set(output, 1, 64));
    ok(sconce_graph_capture_end(graph));
    let name = std::ffi::CString::new("fill_async").unwrap_or_default();
    #[allow(unsafe_code, reason = "calls the C API")]
    // SAFETY: a NUL-terminated name.
    ok(unsafe { sconce_sim_inject_async_fault(name.as_ptr(), 2, 700) });
    ok(sconce_graph_replay(graph, stream));
    ok(sconce_stream_synchronize(stream));
    ok(sconce_graph_replay(graph, stream));
    assert_ne!(sconce_stream_synchronize(stream), SCONCE_OK, "the second launch failed");
    assert_eq!(sconce_last_error_backend_code(), 700);
    assert_ne!(sconce_graph_replay(graph, stream), SCONCE_OK, "the device has failed");
    ok(sconce_sim_clear_device_error(0));
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(output, 64), [1; 64]);
    ok(sconce_graph_destroy(graph));
}
