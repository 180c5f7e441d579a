//! Graphs, conditional nodes, backward passes.

use std::ptr::{null, null_mut};

use sconce::*;
use testkit::statuses::ok;

use super::{Call, call};
use crate::world::*;

#[rustfmt::skip]
pub(super) const ALL: &[Call] = &[
    call!(sconce_graph_create, w, [CBool::FALSE, out()]),
    call!(sconce_graph_destroy, w, [graph(false)]),
    call!(sconce_graph_reset, w, { let graph = graph(false); ok(sconce_graph_replay(graph, w.other)); } [graph]),
    call!(sconce_graph_capture_begin, w, [empty_graph(false), w.other, null_mut(), SCONCE_CAPTURE_THREAD_LOCAL]),
    call!(sconce_graph_capture_begin_own_stream, w, [empty_graph(false), 0, null_mut(), SCONCE_CAPTURE_THREAD_LOCAL, out()]),
    call!(sconce_graph_warm_up, w, [0, SCOPED, null_mut()]),
    call!(sconce_graph_keep_tensor, w, [graph(false), tensor_on(0)]),
    call!(sconce_graph_capture_end, w, [capturing()]),
    call!(sconce_graph_capture_abort, w, [capturing()]),
    call!(sconce_graph_get_capturing, w, [out()]),
    call!(sconce_graph_get_pool, w, [graph(false), out()]),
    call!(sconce_graph_get_device, w, [graph(false), out()]),
    call!(sconce_graph_replay, w, [graph(false), w.stream]),
    call!(sconce_graph_replay_on_current, w, [graph(false)]),
    call!(sconce_graph_instantiate, w, { let graph = graph(true); ok(sconce_graph_replay(graph, w.other)); } [graph]),
    call!(sconce_graph_upload, w, [graph(false), w.stream]),
    call!(sconce_graph_update, w, [graph(true), graph(true), out()]),
    call!(sconce_graph_node_count, w, [graph(false), out()]),
    call!(sconce_graph_debug_dump, w, [graph(true), path("graph.dot"), 0]),
    call!(sconce_graph_get_native, w, [graph(true), out()]),
    call!(sconce_graph_get_native_exec, w, [graph(true), out()]),
    call!(sconce_graph_condition_create, w, [capturing(), out()]),
    call!(sconce_graph_condition_set, w, { let (graph, condition, stream) = condition(); } [graph, condition, zeros_for_capture().cast_const(), 4, stream]),
    call!(sconce_graph_conditional_begin, w, { let (graph, condition, _) = condition(); } [graph, condition, SCONCE_GRAPH_IF, 2, w.other]),
    call!(sconce_graph_conditional_begin_own_stream, w, { let (graph, condition, _) = condition(); } [graph, condition, SCONCE_GRAPH_IF, 2, out()]),
    call!(sconce_graph_conditional_next, w, [in_body()]),
    call!(sconce_graph_conditional_end, w, [in_body()]),
    call!(sconce_backward_graph_create, w, [out()]),
    call!(sconce_backward_graph_destroy, w, [leaf().0]),
    call!(sconce_backward_graph_clear, w, [leaf().0]),
    call!(sconce_backward_add_leaf, w, [backward_graph(), 0, c"leaf".as_ptr(), out()]),
    call!(sconce_backward_add_node, w, { let (graph, _) = leaf(); } [graph, 0, c"node".as_ptr(), 1, null(), 0, NO_GRADIENTS, None, null_mut(), out()]),
    call!(sconce_backward_get_gradient, w, { let (graph, leaf) = leaf(); } [graph, leaf, out()]),
    call!(sconce_backward_set_gradient, w, { let (graph, leaf) = leaf(); } [graph, leaf, tensor_on(0)]),
    call!(sconce_backward_run, w, { let (graph, leaf) = leaf(); } [graph, root(leaf), 1, CBool::FALSE]),
];
