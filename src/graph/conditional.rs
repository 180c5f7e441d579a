//! Conditional nodes.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_compute::graph;
use sconce_driver::ConditionalKind;
use sconce_runtime::context::runtime;

use super::sconce_graph;
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status, sconce_stream};

/// What a conditional node does with its condition. The values are CUDA's.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_graph_conditional_kind {
    /// Runs its first body once if the condition is not 0; otherwise runs its second body, if it
    /// has two.
    SCONCE_GRAPH_IF = 0,
    /// Runs its only body as long as the condition is not 0.
    SCONCE_GRAPH_WHILE = 1,
    /// Runs the body whose number, counted from 0, equals the condition. Runs nothing if there is
    /// no such body.
    SCONCE_GRAPH_SWITCH = 2,
}

numbers_of!(sconce_graph_conditional_kind as i32: SCONCE_GRAPH_IF, SCONCE_GRAPH_WHILE, SCONCE_GRAPH_SWITCH);

fn kind_of(kind: i32) -> Result<ConditionalKind> {
    match kind {
        SCONCE_GRAPH_IF => Ok(ConditionalKind::If),
        SCONCE_GRAPH_WHILE => Ok(ConditionalKind::While),
        SCONCE_GRAPH_SWITCH => Ok(ConditionalKind::Switch),
        _ => Err(Error::invalid_argument(format!(
            "kind is {kind}; it must be SCONCE_GRAPH_IF (0), _WHILE (1) or _SWITCH (2)"
        ))),
    }
}

/// Creates a condition in the graph that is being captured, or in the body of its innermost
/// conditional node. The condition is 0 when a launch begins. Each conditional node needs its own
/// condition.
///
/// - `graph`: one that is being captured.
/// - `out_condition`: receives the number of the condition.
/// - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it.
///   NOT_SUPPORTED: the driver is older than CUDA 12.3.
/// - Threads: the thread that began the capture.
/// - torch: part of `CUDAGraph::begin_capture_to_if_node`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_condition_create(
    graph: *mut sconce_graph,
    out_condition: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_condition = out!(out_condition);
        out_condition.write(graph::create_condition(sconce_graph::key(graph, "graph")?)?);
        Ok(())
    })
}

/// Captures a kernel that sets a condition to an integer in memory. The kernel reads the integer
/// when it runs.
///
/// - `graph`: the graph that `stream` is captured into.
/// - `condition`: a condition of this capture.
/// - `value`: the address of an unsigned integer in memory of the stream's device or in pinned
///   memory; a multiple of `bytes`.
/// - `bytes`: the size of the integer: 1, 4 or 8.
/// - `stream`: one that is being captured.
/// - Errors: INVALID_STATE: `stream` is not being captured.
/// - Threads: the thread that began the capture.
/// - torch: part of `CUDAGraph::begin_capture_to_if_node`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_condition_set(
    graph: *mut sconce_graph,
    condition: u64,
    value: *const c_void,
    bytes: usize,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let key = sconce_graph::key(graph, "graph")?;
        let runtime = runtime()?;
        let stream = stream.resolve(runtime)?;
        graph::set_condition(runtime, key, condition, value as usize, bytes, stream)
    })
}

/// Adds a conditional node after the work captured from the graph's stream so far, and begins to
/// capture its first body. Inside a body, the node becomes part of that body. Later work of the
/// outer stream runs after the node.
///
/// - `graph`: one that is being captured.
/// - `condition`: a condition of this capture that no other node uses.
/// - `kind`: one of `SCONCE_GRAPH_IF`, `_WHILE` and `_SWITCH`.
/// - `bodies`: the number of bodies: 1 or 2 for `_IF`, 1 for `_WHILE`, 1 or more for `_SWITCH`.
/// - `stream`: the stream from which the bodies are captured: a stream of the graph's device that
///   is not a default stream and is not being captured.
/// - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it.
///   NOT_SUPPORTED: the driver is older than CUDA 12.3. DRIVER: the driver is older than CUDA 12.8,
///   and the node has a second body or is a `_SWITCH`.
/// - Threads: the thread that began the capture.
/// - torch: `CUDAGraph::begin_capture_to_if_node`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_conditional_begin(
    graph: *mut sconce_graph,
    condition: u64,
    kind: i32,
    bodies: usize,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let kind = kind_of(kind)?;
        let key = sconce_graph::key(graph, "graph")?;
        let runtime = runtime()?;
        let stream = stream.resolve(runtime)?;
        graph::begin_conditional(runtime, key, condition, kind, bodies, stream)
    })
}

/// Adds a conditional node, and begins to capture its first body from a stream that the library
/// lends to the node, as `sconce_graph_capture_begin_own_stream` does for a capture. Otherwise as
/// `sconce_graph_conditional_begin`.
///
/// - `graph`: one that is being captured.
/// - `condition`: a condition of this capture that no other node uses.
/// - `kind`: one of `SCONCE_GRAPH_IF`, `_WHILE` and `_SWITCH`.
/// - `bodies`: the number of bodies: 1 or 2 for `_IF`, 1 for `_WHILE`, 1 or more for `_SWITCH`.
/// - `out_stream`: receives the stream.
/// - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it; all 32
///   streams are being captured. NOT_SUPPORTED: the driver is older than CUDA 12.3. DRIVER: the
///   driver is older than CUDA 12.8, and the node has a second body or is a `_SWITCH`.
/// - Threads: the thread that began the capture.
/// - torch: `CUDAGraph::begin_capture_to_if_node`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_conditional_begin_own_stream(
    graph: *mut sconce_graph,
    condition: u64,
    kind: i32,
    bodies: usize,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard(|| {
        let out_stream = out!(out_stream);
        let kind = kind_of(kind)?;
        let key = sconce_graph::key(graph, "graph")?;
        let runtime = runtime()?;
        let stream = graph::begin_conditional_lent(runtime, key, condition, kind, bodies)?;
        out_stream.write(sconce_stream::of(stream));
        Ok(())
    })
}

/// Ends the body that is being captured, and begins to capture the next one from the same stream.
///
/// - `graph`: one that is being captured.
/// - Errors: INVALID_STATE: the capture is in no conditional node, or the node has no further body.
/// - Threads: the thread that began the capture.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_conditional_next(graph: *mut sconce_graph) -> sconce_status {
    guard(|| graph::next_body(sconce_graph::key(graph, "graph")?))
}

/// Ends the innermost conditional node. Bodies that were not captured stay empty.
///
/// - `graph`: one that is being captured.
/// - Errors: INVALID_STATE: the capture is in no conditional node, or fails with the backend code
///   901 or 904 as in `sconce_graph_capture_end`; the graph's capture can then only be aborted.
/// - Threads: the thread that began the capture.
/// - torch: `CUDAGraph::end_capture_to_conditional_node`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_conditional_end(graph: *mut sconce_graph) -> sconce_status {
    guard(|| graph::end_conditional(sconce_graph::key(graph, "graph")?))
}
