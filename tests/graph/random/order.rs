//! Random numbers are drawn in the order of the host's calls, whatever the device runs first.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::*;
use testkit::places::{run_until_idle, step_all};
use testkit::simulated::generator;

use crate::support::*;

const N: usize = 300;
const BYTES: usize = 4 * N;

/// A call that draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drawing {
    /// A fill outside of captures.
    Fill,
    /// The launch of a graph with a fill.
    Launch,
    /// The launch of a graph with a fill before a conditional node, one in its body and one behind it.
    Body,
    /// The launch of a graph that another one was updated with, which is gone.
    Updated,
    /// The launch of such a graph that was instantiated anew.
    Instantiated,
}

use Drawing::{Body, Fill, Instantiated, Launch, Updated};

const KINDS: [Drawing; 5] = [Fill, Launch, Body, Updated, Instantiated];

impl Drawing {
    /// How many fills it makes.
    fn fills(self) -> usize {
        if self == Body { 3 } else { 1 }
    }
}

pub(super) fn fill_on(at: *mut c_void, from: *mut sconce_generator, stream: sconce_stream) {
    ok(sconce_random_normal_on(at, N, SCONCE_DTYPE_F32, 0.0, 1.0, from, stream));
}

/// A call, ready to be made, and the memory that it fills.
pub(super) struct Ready {
    drawing: Drawing,
    graph: *mut sconce_graph,
    generator: *mut sconce_generator,
    pub(super) memory: *mut c_void,
}

impl Ready {
    pub(super) fn new(
        drawing: Drawing,
        generator: *mut sconce_generator,
        flag: *mut c_void,
    ) -> Ready {
        let memory = allocate_for_all(3 * BYTES);
        let mut ready = Ready { drawing, graph: null_mut(), generator, memory };
        if drawing != Fill {
            ready.graph = ready.capture(flag);
        }
        if [Updated, Instantiated].contains(&drawing) {
            let newer = ready.capture(flag);
            let mut updated = false;
            // SAFETY: a writable place.
            ok(unsafe { sconce_graph_update(ready.graph, newer, &raw mut updated) });
            assert!(updated);
            ok(sconce_graph_destroy(newer));
        }
        if drawing == Instantiated {
            ok(sconce_graph_instantiate(ready.graph));
        }
        ready
    }

    fn capture(&self, flag: *mut c_void) -> *mut sconce_graph {
        let (stream, side) = (pool_stream(), pool_stream());
        let captured = graph(true);
        ok(begin(captured, stream));
        fill_on(self.memory, self.generator, stream);
        if self.drawing == Body {
            let mut condition = 0;
            // SAFETY: a writable place.
            ok(unsafe { sconce_graph_condition_create(captured, &raw mut condition) });
            // SAFETY: memory of a device is checked.
            ok(unsafe { sconce_graph_condition_set(captured, condition, flag, 4, stream) });
            ok(sconce_graph_conditional_begin(captured, condition, SCONCE_GRAPH_IF, 1, side));
            fill_on(self.memory.wrapping_byte_add(BYTES), self.generator, side);
            ok(sconce_graph_conditional_end(captured));
            fill_on(self.memory.wrapping_byte_add(2 * BYTES), self.generator, stream);
        }
        ok(sconce_graph_capture_end(captured));
        ok(sconce_graph_instantiate(captured));
        captured
    }

    pub(super) fn call(&self, stream: sconce_stream) {
        match self.drawing {
            Fill => fill_on(self.memory, self.generator, stream),
            _ => ok(sconce_graph_replay(self.graph, stream)),
        }
    }

    /// What the call has drawn.
    pub(super) fn drawn(&self) -> Vec<u8> {
        read(self.memory, self.drawing.fills() * BYTES)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if !self.graph.is_null() {
            ok(sconce_graph_destroy(self.graph));
        }
        free(self.memory);
    }
}

/// An integer on the device that is not 0.
pub(super) fn flag() -> *mut c_void {
    let flag = allocate(4);
    ok(set(flag, 1, 4));
    ok(sconce_device_synchronize(0));
    flag
}

/// What ordinary fills draw, `count` of them one after another.
pub(super) fn ordinary(plain: *mut sconce_generator, count: usize) -> Vec<u8> {
    let (memory, stream) = (allocate_for_all(BYTES), pool_stream());
    let mut drawn = Vec::new();
    for _ in 0..count {
        fill_on(memory, plain, stream);
        drawn.extend(read(memory, BYTES));
    }
    free(memory);
    drawn
}

/// Makes the calls on streams of their own without letting the device run, lets it run the streams in an order, and
/// compares what was drawn with ordinary fills in the order of the calls.
fn check(kinds: &[Drawing], order: &[usize]) {
    let (captured, plain, flag) = (generator(3), generator(3), flag());
    let calls: Vec<Ready> = kinds.iter().map(|kind| Ready::new(*kind, captured, flag)).collect();
    let streams: Vec<_> = kinds.iter().map(|_| pool_stream()).collect();
    // Twice: the second time, the state of the generator may still be where the first has left it.
    for round in 0..2 {
        ok(sconce_sim_set_manual(CBool::TRUE));
        calls.iter().zip(&streams).for_each(|(call, stream)| call.call(*stream));
        order.iter().for_each(|at| {
            step_all(streams[*at]);
        });
        run_until_idle();
        ok(sconce_sim_set_manual(CBool::FALSE));
        for (kind, call) in kinds.iter().zip(&calls) {
            let expected = ordinary(plain, kind.fills());
            assert_eq!(
                call.drawn(),
                expected,
                "{kind:?} of {kinds:?}, run as {order:?}, round {round}"
            );
        }
    }
    drop(calls);
    free(flag);
}

#[test]
fn two_calls_draw_in_their_order() {
    current_stream();
    for first in KINDS {
        for second in KINDS {
            for order in [[0, 1], [1, 0]] {
                check(&[first, second], &order);
            }
        }
    }
}

#[test]
fn three_calls_draw_in_their_order() {
    current_stream();
    for kinds in KINDS.iter().flat_map(|a| KINDS.map(|b| [Fill, *a, b])) {
        for order in [[2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            check(&kinds, &order);
        }
    }
}

/// Launches of one graph on two streams: the second finds its own numbers, and not before the first has read its.
#[test]
fn launches_of_one_graph_have_numbers_of_their_own() {
    current_stream();
    for kind in [Launch, Body, Updated] {
        for order in [[0, 1], [1, 0]] {
            let (captured, plain, flag) = (generator(3), generator(3), flag());
            let call = Ready::new(kind, captured, flag);
            let streams = [pool_stream(), pool_stream()];
            let results = [(); 2].map(|()| allocate_for_all(3 * BYTES));
            ok(sconce_sim_set_manual(CBool::TRUE));
            for (stream, result) in streams.iter().zip(results) {
                call.call(*stream);
                // SAFETY: memory of a device is checked.
                ok(unsafe { sconce_copy_on(result, call.memory, 3 * BYTES, CBool::TRUE, *stream) });
            }
            order.iter().for_each(|at| {
                step_all(streams[*at]);
            });
            run_until_idle();
            ok(sconce_sim_set_manual(CBool::FALSE));
            // The copy of the first launch and the fills of the second may run at the same time.
            let last = read(results[1], kind.fills() * BYTES);
            let _first = ordinary(plain, kind.fills());
            assert_eq!(last, ordinary(plain, kind.fills()), "{kind:?}, run as {order:?}");
            results.iter().for_each(|result| free(*result));
            drop(call);
            free(flag);
        }
    }
}

/// The graph is gone, and its last launch is not done.
#[test]
fn a_graph_that_is_gone_leaves_the_order_of_the_host() {
    current_stream();
    for kind in [Launch, Body, Updated] {
        for order in [[0, 1], [1, 0]] {
            let (captured, plain, flag) = (generator(3), generator(3), flag());
            let fills = [(); 2].map(|()| Ready::new(Fill, captured, flag));
            let graph = Ready::new(kind, captured, flag);
            let last = pool_stream();
            graph.call(last);
            ok(sconce_memory_record_stream(graph.memory, last));
            drop(graph);
            ordinary(plain, kind.fills());
            let streams = [pool_stream(), pool_stream()];
            ok(sconce_sim_set_manual(CBool::TRUE));
            fills.iter().zip(&streams).for_each(|(fill, stream)| fill.call(*stream));
            order.iter().for_each(|at| {
                step_all(streams[*at]);
            });
            run_until_idle();
            ok(sconce_sim_set_manual(CBool::FALSE));
            for fill in &fills {
                assert_eq!(fill.drawn(), ordinary(plain, 1), "{kind:?}, run as {order:?}");
            }
            free(flag);
        }
    }
}

/// A graph of one device draws from a generator of another one.
#[test]
fn a_graph_draws_on_several_devices() {
    let here = current_stream();
    let there = testkit::places::pooled(1);
    for body in [false, true] {
        let (mut captured, mut plain) = (null_mut(), null_mut());
        for place in [&mut captured, &mut plain] {
            // SAFETY: a writable place.
            ok(unsafe { sconce_generator_create(1, place) });
            ok(sconce_generator_set_seed(*place, 5));
        }
        let mut memory = null_mut();
        // SAFETY: a writable place.
        ok(unsafe { sconce_memory_alloc_on(BYTES, there, &raw mut memory) });
        ok(sconce_device_synchronize(1));
        let flag = flag();
        let captures = graph(false);
        ok(begin(captures, here));
        if body {
            let mut condition = 0;
            // SAFETY: a writable place.
            ok(unsafe { sconce_graph_condition_create(captures, &raw mut condition) });
            // SAFETY: memory of a device is checked.
            ok(unsafe { sconce_graph_condition_set(captures, condition, flag, 4, here) });
            let side = pool_stream();
            ok(sconce_graph_conditional_begin(captures, condition, SCONCE_GRAPH_IF, 1, side));
            ok(sconce_stream_wait_stream(there, side));
            fill_on(memory, captured, there);
            ok(sconce_stream_wait_stream(side, there));
            ok(sconce_graph_conditional_end(captures));
        } else {
            ok(sconce_stream_wait_stream(there, here));
            fill_on(memory, captured, there);
            ok(sconce_stream_wait_stream(here, there));
        }
        ok(sconce_graph_capture_end(captures));
        let mut results = Vec::new();
        for generator in [captured, plain] {
            for round in 0..3 {
                if generator == captured && round != 1 {
                    ok(sconce_graph_replay(captures, here));
                } else {
                    fill_on(memory, generator, there);
                }
                ok(sconce_device_synchronize(1));
                results.push(read(memory, BYTES));
            }
        }
        assert_eq!(results[..3], results[3..], "in a body: {body}");
        ok(sconce_graph_destroy(captures));
        free(memory);
        free(flag);
    }
}
