//! What graphs keep alive, and when they let go.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;

use crate::support::*;

const BYTES: usize = 4 << 20;

fn pool() -> *mut sconce_memory_pool {
    let mut pool = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_memory_pool_create(&mut pool) });
    pool
}

#[test]
fn a_graph_runs_at_each_replay_with_memory_that_the_capture_allocated() {
    let stream = current_stream();
    let input = allocate(1024);
    ok(set(input, 1, 1024));
    let graph = graph(false);
    ok(begin(graph, stream));
    let inside = allocate(1024);
    ok(copy(inside, input, 1024));
    ok(set(input, 9, 512));
    free(inside);
    let output = allocate(1024);
    ok(copy(output, inside, 1024));
    ok(sconce_graph_capture_end(graph));
    assert_eq!(output, inside, "memory that was freed in the capture is used again");
    assert_eq!(read(input, 1024), [1; 1024], "captured work has run");
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(input, 512), [9; 512]);
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(output, 512), [9; 512]);
    assert_eq!(read(output, 1024)[512..], [1; 512]);
    let mut count = 0;
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_node_count(graph, &mut count) });
    assert_eq!(count, 3);
    ok(sconce_graph_destroy(graph));
    free(output);
    free(input);
}

#[test]
fn the_memory_of_a_pool_stays_while_a_graph_may_be_launched() {
    let stream = current_stream();
    let (graph, pool) = (graph(false), pool());
    let kept = allocate(BYTES);
    ok(set(kept, 7, BYTES));
    let before = free_bytes();
    ok(sconce_graph_capture_begin(graph, stream, pool, SCONCE_CAPTURE_GLOBAL));
    let inside = allocate(BYTES);
    ok(copy(inside, kept, BYTES));
    ok(copy(kept, inside, BYTES));
    free(inside);
    ok(sconce_graph_capture_end(graph));
    let taken = before - free_bytes();
    assert!(taken >= BYTES as u64);
    let mut trimmed = 1;
    // SAFETY: a writable place.
    ok(unsafe { sconce_memory_pool_trim(pool, &mut trimmed) });
    assert_eq!(trimmed, 0, "a trim took memory that the graph uses");
    ok(sconce_memory_empty_cache());
    ok(sconce_memory_pool_destroy(pool));
    assert_eq!(before - free_bytes(), taken, "memory of the graph went back");
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(kept, BYTES), vec![7; BYTES]);
    ok(sconce_graph_destroy(graph));
    assert_eq!(free_bytes(), before, "the last graph let go, and the memory stayed");
    free(kept);
}

#[test]
fn graphs_share_a_pool_and_the_last_one_gives_it_back() {
    let stream = current_stream();
    let (first, second) = (graph(false), graph(false));
    let before = free_bytes();
    let capture = |graph, pool| {
        ok(sconce_graph_capture_begin(graph, stream, pool, SCONCE_CAPTURE_GLOBAL));
        let inside = allocate(BYTES);
        ok(set(inside, 1, BYTES));
        free(inside);
        ok(sconce_graph_capture_end(graph));
        inside
    };
    let inside = capture(first, null_mut());
    let taken = before - free_bytes();
    let mut shared = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_get_pool(first, &mut shared) });
    assert_eq!(capture(second, shared), inside, "the second capture got other memory");
    assert_eq!(before - free_bytes(), taken);
    ok(sconce_graph_reset(first));
    assert_eq!(before - free_bytes(), taken, "the second graph still holds the pool");
    ok(sconce_graph_replay(second, stream));
    ok(sconce_graph_destroy(second));
    // What a queued launch may use goes back when it is done.
    ok(sconce_device_synchronize(0));
    assert_eq!(free_bytes(), before);
    ok(sconce_graph_destroy(first));
}

#[test]
fn destroying_a_graph_while_it_runs_leaves_its_launch_alone() {
    let stream = current_stream();
    let kept = allocate(BYTES);
    ok(set(kept, 1, BYTES));
    let graph = graph(false);
    ok(begin(graph, stream));
    let inside = allocate(BYTES);
    ok(sconce_stream_sleep(stream, 30_000_000));
    ok(set(inside, 5, BYTES));
    ok(copy(kept, inside, BYTES));
    free(inside);
    ok(sconce_graph_capture_end(graph));
    ok(sconce_graph_replay(graph, stream));
    ok(sconce_graph_destroy(graph));
    // Memory of the graph that somebody else got too early would be overwritten.
    let other = allocate(BYTES);
    ok(set(other, 77, BYTES));
    assert_eq!(read(kept, BYTES), vec![5; BYTES]);
    assert_eq!(read(other, BYTES), vec![77; BYTES]);
    free(other);
    free(kept);
}

#[test]
fn pinned_memory_of_a_graph_is_not_used_again_before_the_graph_lets_go() {
    let stream = current_stream();
    let device = allocate(4096);
    let graph = graph(false);
    let source = pinned(4096);
    // SAFETY: the memory is the test's, and nothing else uses it.
    unsafe { source.write_bytes(3, 4096) };
    ok(begin(graph, stream));
    ok(copy(device, source.cast_const().cast(), 4096));
    ok(sconce_graph_capture_end(graph));
    ok(sconce_host_memory_free(source.cast()));
    let others: Vec<*mut u8> = (0..40).map(|_| pinned(4096)).collect();
    assert!(!others.contains(&source), "the graph's pinned memory was handed out");
    for other in &others {
        // SAFETY: the memory is the test's, and nothing else uses it.
        unsafe { other.write_bytes(8, 4096) };
    }
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(device, 4096), [3; 4096]);
    ok(sconce_graph_replay(graph, stream));
    ok(sconce_graph_destroy(graph));
    ok(sconce_device_synchronize(0));
    let again: Vec<*mut u8> = (0..40).map(|_| pinned(4096)).collect();
    assert!(again.contains(&source), "the graph's pinned memory never came back");
    for address in others.into_iter().chain(again) {
        ok(sconce_host_memory_free(address.cast()));
    }
    free(device);
}

#[test]
fn captures_without_end_lose_no_memory() {
    let stream = current_stream();
    let cycle = |stream| {
        let graph = graph(false);
        let source = pinned(1 << 16);
        ok(begin(graph, stream));
        let inside = allocate(1 << 20);
        ok(copy(inside, source.cast_const().cast(), 1 << 16));
        free(inside);
        ok(sconce_graph_capture_end(graph));
        ok(sconce_host_memory_free(source.cast()));
        ok(sconce_graph_replay(graph, stream));
        ok(sconce_graph_destroy(graph));
        ok(sconce_stream_synchronize(stream));
    };
    for _ in 0..4 {
        cycle(stream);
    }
    // The memory of the last one may be late.
    ok(sconce_device_synchronize(0));
    let (before, pinned_before) = (free_bytes(), calls("host_alloc"));
    for _ in 0..100 {
        cycle(stream);
    }
    ok(sconce_device_synchronize(0));
    assert_eq!(free_bytes(), before);
    assert_eq!(calls("host_alloc"), pinned_before, "a capture pinned new memory");
}

#[test]
fn threads_capture_and_replay_at_the_same_time() {
    testkit::simulated::runtime();
    let threads: Vec<_> = (0..6_u8)
        .map(|number| {
            std::thread::spawn(move || {
                let stream = current_stream();
                let output = allocate(4096);
                for round in 0..20_u8 {
                    let graph = graph(false);
                    let mode = SCONCE_CAPTURE_THREAD_LOCAL;
                    ok(sconce_graph_capture_begin(graph, stream, null_mut(), mode));
                    let inside = allocate(4096);
                    ok(set(inside, number * 20 + round, 4096));
                    ok(copy(output, inside, 4096));
                    free(inside);
                    ok(sconce_graph_capture_end(graph));
                    ok(set(output, 255, 4096));
                    ok(sconce_graph_replay(graph, stream));
                    ok(sconce_stream_synchronize(stream));
                    let mut data = [0_u8; 4096];
                    let to: *mut c_void = data.as_mut_ptr().cast();
                    // SAFETY: memory of a device, and a writable place of this size.
                    ok(unsafe { sconce_sim_memory_read(output, 4096, to) });
                    assert_eq!(data, [number * 20 + round; 4096]);
                    // A capture of another thread may keep memory from going back; that is no failure.
                    ok(sconce_graph_destroy(graph));
                }
                free(output);
            })
        })
        .collect();
    for thread in threads {
        assert!(thread.join().is_ok());
    }
}

#[test]
fn a_dead_or_empty_graph_is_refused_with_words() {
    let stream = current_stream();
    let empty = graph(false);
    refused(sconce_graph_replay(empty, stream), SCONCE_ERROR_INVALID_STATE, "without a preceding");
    refused(sconce_graph_capture_end(empty), SCONCE_ERROR_INVALID_STATE, "not being captured");
    ok(begin(empty, stream));
    refused(sconce_graph_destroy(empty), SCONCE_ERROR_INVALID_STATE, "while it is being captured");
    refused(sconce_graph_reset(empty), SCONCE_ERROR_INVALID_STATE, "while it is being captured");
    ok(sconce_graph_capture_abort(empty));
    let mut default = stream;
    // SAFETY: a writable place.
    ok(unsafe { sconce_stream_get_default(0, &mut default) });
    refused(begin(empty, default), SCONCE_ERROR_INVALID_STATE, "non-default stream");
    ok(begin(empty, stream));
    ok(sconce_graph_capture_end(empty));
    refused(begin(empty, stream), SCONCE_ERROR_INVALID_STATE, "already owns a captured graph");
    ok(sconce_graph_destroy(empty));
    refused(sconce_graph_replay(empty, stream), SCONCE_ERROR_INVALID_HANDLE, "not alive");
}

#[test]
fn the_warning_of_an_empty_graph_may_call_the_library() {
    static TOLD: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    unsafe extern "C" fn listen(_level: i32, _text: *const std::ffi::c_char, _user: *mut c_void) {
        // The graph's own functions work, too: no lock is held.
        let other = graph(false);
        ok(sconce_graph_destroy(other));
        TOLD.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    let stream = current_stream();
    // SAFETY: the function may be called at any time, on any thread.
    unsafe { sconce_log_set_callback(Some(listen), null_mut()) };
    let empty = graph(false);
    ok(begin(empty, stream));
    ok(sconce_graph_capture_end(empty));
    assert_eq!(TOLD.load(std::sync::atomic::Ordering::Relaxed), 1);
    ok(sconce_graph_destroy(empty));
}
