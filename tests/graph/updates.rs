//! Graphs that were updated from another one, which goes before they are launched: they keep the memory that they use
//! now, and let go of it when they do not use it any more.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked_result;

use crate::support::*;

const BYTES: usize = 2 << 20;

/// How the graph goes from which another one was updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Reset,
    Destroyed,
    CapturedAgain,
    /// Another graph was updated in turn, and both are gone.
    OfTwo,
}

const ENDS: [End; 4] = [End::Reset, End::Destroyed, End::CapturedAgain, End::OfTwo];

/// Captures that `value` is copied from pinned memory, by way of memory of the capture, to the output.
fn capture(graph: *mut sconce_graph, stream: sconce_stream, value: u8, output: *mut c_void) {
    ok(begin(graph, stream));
    let source = pinned(BYTES);
    // SAFETY: the memory is the test's, and nothing else uses it.
    unsafe { source.write_bytes(value, BYTES) };
    let inside = allocate(BYTES);
    ok(copy(inside, source.cast_const().cast(), BYTES));
    ok(copy(output, inside, BYTES));
    free(inside);
    ok(sconce_host_memory_free(source.cast()));
    ok(sconce_graph_capture_end(graph));
}

fn update(graph: *mut sconce_graph, from: *mut sconce_graph) -> bool {
    let mut updated = false;
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_update(graph, from, &mut updated) });
    updated
}

/// Whoever could get memory that a graph has let go of gets it, and writes to it.
struct Junk(Vec<*mut c_void>, Vec<*mut u8>);

impl Junk {
    fn new() -> Junk {
        ok(sconce_memory_empty_cache());
        ok(sconce_host_memory_empty_cache());
        let device: Vec<*mut c_void> = (0..8).map(|_| allocate(BYTES)).collect();
        device.iter().for_each(|block| ok(set(*block, 0xEE, BYTES)));
        let host: Vec<*mut u8> = (0..8).map(|_| pinned(BYTES)).collect();
        // SAFETY: the memory is the test's, and nothing else uses it.
        host.iter().for_each(|block| unsafe { block.write_bytes(0xDD, BYTES) });
        Junk(device, host)
    }

    fn is_whole(&self) -> bool {
        self.0.iter().all(|block| read(*block, BYTES) == vec![0xEE; BYTES])
    }

    fn end(self) {
        self.0.into_iter().for_each(free);
        self.1.into_iter().for_each(|block| ok(sconce_host_memory_free(block.cast())));
        ok(sconce_memory_empty_cache());
        ok(sconce_host_memory_empty_cache());
    }
}

fn pinned_bytes() -> i64 {
    sconce_runtime::host_memory::stats().unwrap().allocated_bytes.current
}

/// The graph from which another one was updated goes as `end` says, and the other one is launched.
fn scenario(policy: &CStr, reuse: bool, end: End) -> Result<(), String> {
    forked_result(|| {
        let stream = current_stream();
        ok(sconce_sim_set_address_reuse(reuse.into()));
        // SAFETY: a NUL-terminated text.
        ok(unsafe { sconce_memory_configure(policy.as_ptr()) });
        let output = allocate(BYTES);
        let (before, pinned_before) = (free_bytes(), pinned_bytes());
        let (updated, from, between) = (graph(true), graph(true), graph(true));
        capture(updated, stream, 7, output);
        capture(from, stream, 8, output);
        ok(sconce_graph_instantiate(updated));
        assert!(update(updated, from));
        if end == End::OfTwo {
            capture(between, stream, 6, output);
            ok(sconce_graph_instantiate(between));
            assert!(update(between, from));
            ok(sconce_graph_destroy(between));
        }
        match end {
            End::Reset => ok(sconce_graph_reset(from)),
            End::CapturedAgain => {
                ok(sconce_graph_reset(from));
                capture(from, stream, 9, output);
            }
            _ => ok(sconce_graph_destroy(from)),
        }
        let junk = Junk::new();
        ok(sconce_graph_replay(updated, stream));
        if read(output, BYTES) != vec![8; BYTES] {
            return Err("the launch found other bytes than those of the update".to_owned());
        }
        if !junk.is_whole() {
            return Err("the launch wrote to memory of a new owner".to_owned());
        }
        junk.end();
        if end != End::OfTwo {
            // What it was captured with is still its own.
            ok(sconce_graph_instantiate(updated));
            let junk = Junk::new();
            ok(sconce_graph_replay(updated, stream));
            if read(output, BYTES) != vec![7; BYTES] || !junk.is_whole() {
                return Err("the graph has lost the memory of its own capture".to_owned());
            }
            junk.end();
        }
        ok(sconce_graph_destroy(updated));
        if matches!(end, End::Reset | End::CapturedAgain) {
            ok(sconce_graph_destroy(from));
        }
        ok(sconce_device_synchronize(0));
        ok(sconce_memory_empty_cache());
        ok(sconce_host_memory_empty_cache());
        match (free_bytes() == before, pinned_bytes() == pinned_before) {
            (true, true) => Ok(()),
            (device, _) => Err(format!("memory is lost, of the device: {}", !device)),
        }
    })
}

#[test]
fn an_updated_graph_keeps_the_memory_of_the_graph_that_it_was_updated_from() {
    let mut wrong = Vec::new();
    for policy in [c"policy:segments", c"policy:pages"] {
        for (reuse, end) in ENDS.into_iter().flat_map(|end| [(false, end), (true, end)]) {
            if let Err(why) = scenario(policy, reuse, end) {
                wrong.push(format!("{policy:?}, {end:?}, addresses come again: {reuse}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_update_lets_go_of_the_one_before_and_a_refused_one_keeps_nothing() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let updated = graph(true);
    capture(updated, stream, 7, output);
    ok(sconce_graph_instantiate(updated));
    let (before, pinned_before) = (free_bytes(), pinned_bytes());
    let mut least = u64::MAX;
    for value in 10..30 {
        let from = graph(true);
        capture(from, stream, value, output);
        assert!(update(updated, from));
        ok(sconce_graph_destroy(from));
        ok(sconce_graph_replay(updated, stream));
        assert_eq!(read(output, BYTES), vec![value; BYTES]);
        ok(sconce_memory_empty_cache());
        least = least.min(free_bytes());
    }
    assert!(before - least < 64 << 20, "the memory of all updates is held: {}", before - least);
    let other = graph(true);
    ok(begin(other, stream));
    let inside = allocate(BYTES);
    ok(set(inside, 1, BYTES));
    free(inside);
    ok(sconce_graph_capture_end(other));
    assert!(!update(updated, other));
    ok(sconce_graph_destroy(other));
    ok(sconce_graph_replay(updated, stream));
    assert_eq!(read(output, BYTES), vec![29; BYTES]);
    ok(sconce_graph_instantiate(updated));
    ok(sconce_memory_empty_cache());
    ok(sconce_host_memory_empty_cache());
    assert_eq!(free_bytes(), before, "the graph holds memory that it does not use");
    assert_eq!(pinned_bytes(), pinned_before);
    ok(sconce_graph_destroy(updated));
    free(output);
}

#[test]
fn an_updated_graph_is_not_launched_while_the_memory_that_it_uses_sleeps() {
    let stream = current_stream();
    // SAFETY: a NUL-terminated text.
    ok(unsafe { sconce_memory_configure(c"policy:pages".as_ptr()) });
    let (updated, from) = (graph(true), graph(true));
    let output = allocate(BYTES);
    capture(updated, stream, 7, output);
    capture(from, stream, 8, output);
    ok(sconce_graph_instantiate(updated));
    assert!(update(updated, from));
    let mut pool = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_get_pool(from, &mut pool) });
    let desc = sconce_sleep_desc {
        struct_size: size_of::<sconce_sleep_desc>() as u32,
        mode: SCONCE_SLEEP_HOST_PINNED,
        path: std::ptr::null(),
    };
    // SAFETY: a whole description.
    ok(unsafe { sconce_memory_pool_sleep(pool, 0, &raw const desc) });
    refused(sconce_graph_replay(updated, stream), SCONCE_ERROR_INVALID_STATE, "asleep");
    ok(sconce_memory_pool_wake(pool, 0, SCONCE_WAKE_RESTORE));
    ok(sconce_graph_replay(updated, stream));
    assert_eq!(read(output, BYTES), vec![8; BYTES]);
    for graph in [updated, from] {
        ok(sconce_graph_destroy(graph));
    }
    free(output);
}
