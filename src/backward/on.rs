//! Nodes and backward passes on a stream that the call names.

use std::ffi::{c_char, c_void};

use super::function::sconce_backward_function;
use super::graph::{
    sconce_backward_add_leaf, sconce_backward_add_node, sconce_backward_edge,
    sconce_backward_graph, sconce_backward_root, sconce_backward_run,
};
use crate::stream::{on, on_current};
use crate::{CBool, sconce_deleter, sconce_status, sconce_stream};

/// Adds a leaf, to whose gradient backward passes add on a stream. Otherwise as
/// `sconce_backward_add_leaf`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_add_leaf_on(
    stream: sconce_stream,
    graph: *mut sconce_backward_graph,
    device: i32,
    name: *const c_char,
    out_node: *mut u64,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_backward_add_leaf(graph, device, name, out_node) }
    })
}

/// Records a forward operation of a stream as a node. Otherwise as `sconce_backward_add_node`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_add_node_on(
    stream: sconce_stream,
    graph: *mut sconce_backward_graph,
    device: i32,
    name: *const c_char,
    gradient_count: usize,
    edges: *const sconce_backward_edge,
    edge_count: usize,
    function: sconce_backward_function,
    deleter: sconce_deleter,
    context: *mut c_void,
    out_node: *mut u64,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_backward_add_node(
                graph,
                device,
                name,
                gradient_count,
                edges,
                edge_count,
                function,
                deleter,
                context,
                out_node,
            )
        }
    })
}

/// Runs a backward pass whose initial gradients are computed on a stream. Later work of the stream
/// runs after the work on the gradients of leaves of its device. Otherwise as
/// `sconce_backward_run`.
///
/// - `stream`: of any device of the pass. On other devices the calling thread's current streams are
///   used. Functions of nodes of the CPU run while the stream is current, and may use other devices.
/// - torch: `torch.autograd.backward(tensors, grad_tensors, retain_graph)` inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_run_on(
    stream: sconce_stream,
    graph: *mut sconce_backward_graph,
    roots: *const sconce_backward_root,
    count: usize,
    keep_graph: CBool,
) -> sconce_status {
    on_current(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_backward_run(graph, roots, count, keep_graph) }
    })
}
