//! Blocks, pinned memory and streams of launches that are queued when their graph goes.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{run_until_idle, step_all};

use crate::support::*;

/// Has a segment of its own.
const BYTES: usize = 12 << 20;

/// A captured graph with a block of its pool, which is live.
struct Captured {
    graph: *mut sconce_graph,
    pool: *mut sconce_memory_pool,
    block: *mut c_void,
}

impl Captured {
    /// Captures that all bytes of the block are set, on the current stream.
    fn new(stream: sconce_stream) -> Captured {
        let (graph, mut pool) = (graph(false), null_mut());
        // SAFETY: a writable place.
        ok(unsafe { sconce_memory_pool_create(&mut pool) });
        ok(sconce_graph_capture_begin(graph, stream, pool, SCONCE_CAPTURE_GLOBAL));
        let block = allocate(BYTES);
        ok(set(block, 5, BYTES));
        ok(sconce_graph_capture_end(graph));
        Captured { graph, pool, block }
    }

    /// Allocates from the pool and writes to it, on the current stream.
    fn allocate_inside(&self) -> *mut c_void {
        ok(sconce_memory_pool_begin(self.pool, 0));
        let block = allocate(BYTES);
        ok(sconce_memory_pool_end(self.pool, 0));
        ok(set(block, 9, BYTES));
        block
    }
}

fn foreign_stream() -> (*mut c_void, sconce_stream) {
    let (mut native, mut stream) = (null_mut(), pool_stream());
    // SAFETY: a writable place.
    ok(unsafe { sconce_sim_stream_create(0, SCONCE_SIM_STREAM_NON_BLOCKING, 0, &mut native) });
    // SAFETY: a handle of the simulator, and a writable place.
    ok(unsafe { sconce_stream_get_from_external(native, 0, &mut stream) });
    (native, stream)
}

#[test]
fn a_block_that_is_held_when_the_graph_goes_waits_for_the_launch_once_it_is_freed() {
    let (stream, other) = (current_stream(), pool_stream());
    let captured = Captured::new(stream);
    ok(sconce_sim_set_manual(true.into()));
    ok(sconce_graph_replay(captured.graph, other));
    ok(sconce_graph_destroy(captured.graph));
    // Another thread leaves the free to this one.
    let block = captured.block as usize;
    let freed = std::thread::spawn(move || free(std::ptr::with_exposed_provenance_mut(block)));
    freed.join().unwrap();
    let next = captured.allocate_inside();
    assert_ne!(next, captured.block, "the block is used again before the launch has run");
    step_all(stream);
    run_until_idle();
    ok(sconce_sim_set_manual(false.into()));
    assert_eq!(read(next, BYTES), [9; BYTES]);
    let last = captured.allocate_inside();
    assert_eq!(last, captured.block, "the block never came back");
    [next, last].into_iter().for_each(free);
    ok(sconce_memory_pool_destroy(captured.pool));
}

#[test]
fn a_block_that_waits_for_another_stream_waits_for_the_launch_too() {
    let (stream, other, user) = (current_stream(), pool_stream(), pool_stream());
    let captured = Captured::new(stream);
    ok(sconce_sim_set_manual(true.into()));
    ok(sconce_memory_record_stream(captured.block, user));
    // SAFETY: memory of a device is checked.
    ok(unsafe { sconce_memory_set_on(captured.block, 3, BYTES, user) });
    free(captured.block);
    ok(sconce_graph_replay(captured.graph, other));
    ok(sconce_graph_destroy(captured.graph));
    step_all(user);
    let next = captured.allocate_inside();
    assert_ne!(next, captured.block, "the launch was forgotten");
    step_all(stream);
    run_until_idle();
    ok(sconce_sim_set_manual(false.into()));
    assert_eq!(read(next, BYTES), [9; BYTES]);
    let last = captured.allocate_inside();
    assert_eq!(last, captured.block, "the block never came back");
    [next, last].into_iter().for_each(free);
    ok(sconce_memory_pool_destroy(captured.pool));
}

#[test]
fn a_launch_that_is_done_keeps_nothing() {
    let (stream, other) = (current_stream(), pool_stream());
    let captured = Captured::new(stream);
    ok(sconce_graph_replay(captured.graph, other));
    ok(sconce_stream_synchronize(other));
    ok(sconce_graph_destroy(captured.graph));
    free(captured.block);
    let next = captured.allocate_inside();
    assert_eq!(next, captured.block);
    free(next);
    ok(sconce_memory_pool_destroy(captured.pool));
}

#[test]
fn memory_of_a_graph_that_has_gone_comes_back_with_the_next_graph() {
    let (stream, other) = (current_stream(), pool_stream());
    let capture = || {
        let graph = graph(false);
        ok(begin(graph, stream));
        let inside = allocate(BYTES);
        ok(set(inside, 1, BYTES));
        free(inside);
        ok(sconce_graph_capture_end(graph));
        graph
    };
    let before = free_bytes();
    ok(sconce_sim_set_manual(true.into()));
    let first = capture();
    ok(sconce_graph_replay(first, other));
    ok(sconce_graph_destroy(first));
    assert!(free_bytes() < before, "memory went back under a launch");
    let second = capture();
    let with_both = free_bytes();
    run_until_idle();
    ok(sconce_graph_destroy(second));
    assert_eq!(free_bytes(), before, "of {with_both} bytes that were free with both graphs");
}

#[test]
fn graphs_are_launched_on_streams_without_end_and_lose_nothing() {
    let stream = current_stream();
    ok(sconce_sim_set_address_reuse(true.into()));
    let cycle = |graphs: usize, streams: usize| {
        let mut outputs = Vec::new();
        for _ in 0..graphs {
            let output = allocate_for_all(4096);
            let source = pinned(4096);
            let graph = graph(false);
            ok(begin(graph, stream));
            let inside = allocate(BYTES);
            ok(copy(inside, source.cast_const().cast(), 4096));
            ok(copy(output, inside, 4096));
            free(inside);
            ok(sconce_graph_capture_end(graph));
            ok(sconce_host_memory_free(source.cast()));
            for _ in 0..streams {
                // The handles come again, and name other streams.
                let (native, foreign) = foreign_stream();
                ok(sconce_graph_replay(graph, foreign));
                ok(sconce_graph_replay(graph, foreign));
                ok(sconce_sim_stream_destroy(native));
            }
            ok(sconce_graph_destroy(graph));
            outputs.push(output);
        }
        ok(sconce_device_synchronize(0));
        outputs.into_iter().for_each(free);
        ok(sconce_memory_empty_cache());
        ok(sconce_host_memory_empty_cache());
        (free_bytes(), sconce_runtime::host_memory::stats().unwrap().allocated_bytes.current)
    };
    let after_one = cycle(1, 3);
    assert_eq!(cycle(20, 20), after_one);
}

#[test]
fn a_stream_of_the_program_gives_memory_back_when_a_later_graph_names_it() {
    let stream = current_stream();
    let (native, foreign) = foreign_stream();
    let before = free_bytes();
    let cycle = || {
        let graph = graph(false);
        ok(begin(graph, stream));
        let inside = allocate(BYTES);
        ok(set(inside, 1, BYTES));
        free(inside);
        ok(sconce_graph_capture_end(graph));
        ok(sconce_graph_replay(graph, foreign));
        ok(sconce_graph_destroy(graph));
        // Not by a call that tells the library.
        while testkit::places::pending(foreign) > 0 {
            std::thread::yield_now();
        }
    };
    let used: Vec<u64> = (0..30)
        .map(|_| {
            cycle();
            before - free_bytes()
        })
        .collect();
    assert!(used[29] <= used[4], "each graph leaves memory behind: {used:?}");
    ok(sconce_device_synchronize(0));
    assert_eq!(free_bytes(), before);
    ok(sconce_sim_stream_destroy(native));
}

/// What the device does meanwhile may wait for what this thread does next. A driver frees memory of segments only when
/// all streams are done.
#[test]
fn a_graph_goes_while_the_device_does_other_work() {
    type Way = (&'static str, fn(&Captured));
    let ways: [Way; 4] = [
        ("reset", |captured| ok(sconce_graph_reset(captured.graph))),
        ("destroyed", |captured| ok(sconce_graph_destroy(captured.graph))),
        ("captured again", |captured| {
            ok(sconce_graph_reset(captured.graph));
            ok(begin(captured.graph, current_stream()));
            ok(sconce_graph_capture_abort(captured.graph));
        }),
        ("captured, and discarded", |captured| {
            let other = graph(false);
            ok(begin(other, current_stream()));
            free(allocate(BYTES));
            ok(sconce_graph_capture_abort(other));
            ok(sconce_graph_destroy(other));
            ok(sconce_graph_destroy(captured.graph));
        }),
    ];
    let (stream, other) = (current_stream(), pool_stream());
    for policy in [c"policy:segments", c"policy:pages"] {
        // SAFETY: a NUL-terminated text.
        ok(unsafe { sconce_memory_configure(policy.as_ptr()) });
        for (way, end) in ways {
            let before = free_bytes();
            let captured = Captured::new(stream);
            ok(sconce_graph_replay(captured.graph, stream));
            free(captured.block);
            ok(sconce_memory_pool_destroy(captured.pool));
            ok(sconce_device_synchronize(0));
            ok(sconce_sim_set_manual(true.into()));
            ok(sconce_stream_sleep(other, 1));
            end(&captured);
            assert!(testkit::places::pending(other) > 0, "{way}: it waited");
            ok(sconce_sim_set_manual(false.into()));
            ok(sconce_device_synchronize(0));
            assert_eq!(free_bytes(), before, "{way}, {policy:?}");
        }
    }
}

#[test]
fn a_graph_goes_while_another_thread_captures_with_its_pool() {
    let stream = current_stream();
    let first = graph(false);
    let before = free_bytes();
    ok(begin(first, stream));
    let inside = allocate(BYTES);
    ok(set(inside, 1, BYTES));
    free(inside);
    ok(sconce_graph_capture_end(first));
    let mut pool = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_get_pool(first, &mut pool) });
    let second = graph(false);
    ok(sconce_graph_capture_begin(second, stream, pool, SCONCE_CAPTURE_GLOBAL));
    let handle = first as usize;
    let destroyed = std::thread::spawn(move || {
        ok(sconce_graph_destroy(std::ptr::with_exposed_provenance_mut(handle)));
    });
    destroyed.join().unwrap();
    let output = allocate(BYTES);
    ok(set(output, 6, BYTES));
    ok(sconce_graph_capture_end(second));
    refused(sconce_memory_pool_begin(pool, 0), SCONCE_ERROR_INVALID_HANDLE, "not a live");
    ok(sconce_graph_replay(second, stream));
    assert_eq!(read(output, BYTES), [6; BYTES]);
    ok(sconce_graph_destroy(second));
    free(output);
    ok(sconce_memory_empty_cache());
    assert_eq!(free_bytes(), before, "the pool of the first graph never ended");
}

#[test]
fn a_request_that_finds_no_memory_waits_for_the_launches_of_a_graph_that_has_gone() {
    for policy in [c"policy:segments", c"policy:pages"] {
        // SAFETY: a NUL-terminated text.
        ok(unsafe { sconce_memory_configure(policy.as_ptr()) });
        let (stream, other) = (current_stream(), pool_stream());
        let most = (free_bytes() as usize / 8 * 5).next_multiple_of(2 << 20);
        let output = allocate_for_all(BYTES);
        let graph = graph(false);
        ok(begin(graph, stream));
        let inside = allocate(most);
        ok(set(inside, 4, BYTES));
        ok(copy(output, inside, BYTES));
        free(inside);
        ok(sconce_graph_capture_end(graph));
        ok(sconce_stream_sleep(other, 50_000_000));
        ok(sconce_graph_replay(graph, other));
        ok(sconce_graph_destroy(graph));
        let next = allocate(most);
        ok(set(next, 9, BYTES));
        assert_eq!(read(output, BYTES), [4; BYTES]);
        assert_eq!(read(next, BYTES), [9; BYTES]);
        free(next);
        free(output);
        ok(sconce_memory_empty_cache());
    }
}

#[test]
fn blocks_that_wait_for_launches_are_shown_as_such_and_are_freed_by_nobody() {
    use sconce_runtime::memory::snapshot::{Action, BlockState};
    let (stream, other) = (current_stream(), pool_stream());
    let captured = Captured::new(stream);
    ok(sconce_graph_replay(captured.graph, other));
    free(captured.block);
    sconce_runtime::memory::record_history(true, 1000).unwrap();
    // What a thread of the simulator has begun it ends by itself, also in manual mode.
    ok(sconce_stream_synchronize(other));
    ok(sconce_sim_set_manual(true.into()));
    ok(sconce_graph_replay(captured.graph, other));
    ok(sconce_graph_destroy(captured.graph));
    let waiting = |state: BlockState| {
        let snapshot = sconce_runtime::memory::snapshot().unwrap();
        snapshot.blocks.iter().filter(|block| block.state == state).count()
    };
    assert_eq!(waiting(BlockState::PendingFree), 1);
    sconce_runtime::memory::check::walk().unwrap();
    run_until_idle();
    // An allocation takes it back.
    free(allocate(512));
    assert_eq!(waiting(BlockState::PendingFree), 0);
    sconce_runtime::memory::check::walk().unwrap();
    let history = sconce_runtime::memory::snapshot().unwrap().traces.concat();
    let count = |action| history.iter().filter(|entry| entry.action == action).count();
    assert_eq!(count(Action::FreeRequested), count(Action::FreeCompleted));
    assert_eq!(count(Action::Alloc), 1);
    ok(sconce_memory_pool_destroy(captured.pool));
}
