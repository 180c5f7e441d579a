//! Graphs, their nodes, and passes over them.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::error::{Error, Result};
use sconce_tensors::backward::{Edge, Graph, Root, handle, run};
use sconce_tensors::tensor::{Place, Tensor};

use super::function::{CFunction, sconce_backward_function};
use crate::arguments::{check_count, null, text};
use crate::handle::OpaqueHandle;
use crate::tensor::handle::{returned, tensor_of};
use crate::{CBool, guard, sconce_deleter, sconce_status, sconce_tensor};

/// Recorded operations and leaves, over which backward passes run. Opaque; created by
/// `sconce_backward_graph_create`.
pub struct sconce_backward_graph {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_backward_graph {
    const SOURCE: &'static str = "make graphs with sconce_backward_graph_create";
}

/// Where a gradient goes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_backward_edge {
    /// The number of a node; 0: the gradient is not used.
    pub node: u64,
    /// Which input of the node: 0 for a leaf, else the index of the forward operation's result to
    /// which the gradient belongs.
    pub input: u64,
}

/// Where a backward pass begins.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_backward_root {
    /// The number of a node.
    pub node: u64,
    /// Which input of the node.
    pub input: u64,
    /// The initial gradient.
    pub gradient: *mut sconce_tensor,
}

any_bits!(sconce_backward_edge: node, input);
any_bits!(sconce_backward_root: node, input, gradient);

/// A node's name, for messages.
///
/// # Safety
/// As [`text`].
unsafe fn name_of(name: *const c_char) -> Result<String> {
    // SAFETY: C passes `name` as NULL, which is refused, or as a NUL-terminated text that stays as it is
    // during the call.
    unsafe { text(&name, "name") }.map(|name| name.to_string_lossy().into_owned())
}

fn graph_of(graph: *mut sconce_backward_graph) -> Result<Arc<Graph>> {
    handle::get(sconce_backward_graph::key(graph, "graph")?)
}

fn index_of(input: u64) -> usize {
    usize::try_from(input).unwrap_or(usize::MAX)
}

/// Creates an empty graph for backward passes.
///
/// - `out_graph`: receives the graph.
/// - Errors: OUT_OF_MEMORY: too many graphs.
/// - Ownership: the caller destroys the graph with `sconce_backward_graph_destroy`.
/// - torch: the graph that `grad_fn` of a tensor leads to.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_graph_create(
    out_graph: *mut *mut sconce_backward_graph,
) -> sconce_status {
    guard(|| {
        let out_graph = out!(out_graph);
        out_graph.write(sconce_backward_graph::from_key(handle::create()?));
        Ok(())
    })
}

/// Destroys a graph with its nodes and gradients. Passes that are running may still use them until
/// they end.
///
/// - `graph`: NULL is a no-op.
/// - Threads: deleters of contexts are called by this thread, or by the thread of the last pass.
/// - torch: the destruction of the last tensor with a `grad_fn`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_backward_graph_destroy(
    graph: *mut sconce_backward_graph,
) -> sconce_status {
    guard(|| match sconce_backward_graph::optional(graph) {
        None => Ok(()),
        Some(key) => handle::destroy(key),
    })
}

/// Removes all operations from a graph, and keeps the leaves and their gradients. For the next
/// training step.
///
/// - `graph`: the graph.
/// - Threads: as `sconce_backward_graph_destroy`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_backward_graph_clear(graph: *mut sconce_backward_graph) -> sconce_status {
    guard(|| {
        graph_of(graph)?.clear();
        Ok(())
    })
}

/// Adds a leaf: a node to whose gradient backward passes add, on the stream that is current on its
/// device now.
///
/// - `graph`: the graph.
/// - `device`: the device of its gradients; -1 for the current device, or `SCONCE_DEVICE_CPU`.
/// - `name`: for messages.
/// - `out_node`: receives the number of the node, at least 1.
/// - torch: `AccumulateGrad`, which torch creates for a tensor with `requires_grad` at its first
///   use.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_add_leaf(
    graph: *mut sconce_backward_graph,
    device: i32,
    name: *const c_char,
    out_node: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_node = out!(out_node);
        let name = checked!(name_of(name));
        let graph = graph_of(graph)?;
        out_node.write(graph.add_leaf(name, Place::resolve(device)?)?);
        Ok(())
    })
}

/// Records a forward operation as a node, with the stream that is current on its device now.
///
/// - `graph`: the graph.
/// - `device`: the device of the operation; -1 for the current device, or `SCONCE_DEVICE_CPU`.
/// - `name`: for messages.
/// - `gradient_count`: number of results of the operation, at least 1. The function receives a
///   gradient for each.
/// - `edges`: the destination of each gradient that the function returns: nodes that were added
///   before.
/// - `edge_count`: number of entries of `edges`.
/// - `function`: computes the gradients.
/// - `deleter`: called with `context` when the function is not called any more; may be NULL. It is not called if this
///   call fails.
/// - `context`: passed to `function` and `deleter`.
/// - `out_node`: receives the number of the node, which is larger than those of all earlier nodes.
/// - Errors: INVALID_ARGUMENT: an edge leads to no node of this graph, or to an input that the node
///   does not have.
/// - Threads: the function runs on the worker thread of its device, or for nodes of the CPU on the
///   thread that calls `sconce_backward_run`. The deleter runs on any thread.
/// - torch: a `torch::autograd::Node` with its `next_edges`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_add_node(
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
    guard(|| {
        let out_node = out!(out_node);
        let name = checked!(name_of(name));
        if gradient_count == 0 {
            return Err(Error::invalid_argument(
                "gradient_count is 0; an operation has at least one result",
            ));
        }
        check_count(gradient_count, "gradient_count")?;
        let edges = entries!(edges, edge_count);
        let function = function.ok_or_else(|| null("function"))?;
        let graph = graph_of(graph)?;
        let owned = AtomicBool::new(false);
        let c_function =
            Arc::new(CFunction { function, context, deleter, owned, results: edge_count });
        let called = c_function.clone();
        let edge = |edge: &sconce_backward_edge| {
            (edge.node != 0).then(|| Edge { node: edge.node, input: index_of(edge.input) })
        };
        let node = graph.add_function(
            name,
            Place::resolve(device)?,
            gradient_count,
            edges.iter().map(edge).collect(),
            Box::new(move |gradients| called.call(gradients)),
        )?;
        c_function.owned.store(true, Ordering::Release);
        out_node.write(node);
        Ok(())
    })
}

/// Returns the gradient of a leaf.
///
/// - `graph`: the graph.
/// - `leaf`: the number that `sconce_backward_add_leaf` returned.
/// - `out_gradient`: receives the gradient; an undefined tensor if there is none.
/// - Ownership: the caller releases the tensor with `sconce_tensor_release`. It shares the memory
///   to which later passes add.
/// - torch: `torch.Tensor.grad`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_get_gradient(
    graph: *mut sconce_backward_graph,
    leaf: u64,
    out_gradient: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_gradient = out!(out_gradient);
        out_gradient.write(returned(graph_of(graph)?.gradient(leaf)?)?);
        Ok(())
    })
}

/// Replaces the gradient of a leaf.
///
/// - `graph`: the graph.
/// - `leaf`: the number that `sconce_backward_add_leaf` returned.
/// - `gradient`: the tensor to which later passes add; NULL for none.
/// - Errors: CROSS_DEVICE: the gradient is not on the leaf's device.
/// - torch: `x.grad = gradient`, `torch.optim.Optimizer.zero_grad`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_backward_set_gradient(
    graph: *mut sconce_backward_graph,
    leaf: u64,
    gradient: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let graph = graph_of(graph)?;
        let gradient = match gradient.is_null() {
            true => Tensor::default(),
            false => tensor_of(gradient, "gradient")?,
        };
        graph.set_gradient(leaf, gradient)
    })
}

/// Runs a backward pass: calls the functions of all nodes that are reachable from the roots, each
/// on the stream of its forward operation, and adds to the gradients of leaves.
///
/// Blocks until all functions have returned, but does not wait for the devices.
///
/// - `graph`: the graph.
/// - `roots`: the nodes that receive initial gradients.
/// - `count`: number of entries of `roots`.
/// - `keep_graph`: whether the nodes can run again; if not, the deleter of each context is called
///   as soon as its node has run.
/// - Errors: INVALID_STATE: a pass without `keep_graph` has run a node before. NOT_SUPPORTED: 16
///   passes are nested already. Otherwise the first failure of a function or of the engine, with
///   the node's name; leaves may have received some gradients then.
/// - Ordering: initial gradients are taken to be computed on the calling thread's current streams.
///   Later work of these streams runs after the work on the gradients of leaves. A node's stream
///   waits for the streams of the gradients that it receives.
/// - Threads: see `sconce_backward_add_node`. A node's function may call this function. With
///   `keep_graph`, several threads may run passes over one graph at the same time.
/// - torch: `torch.autograd.backward(tensors, grad_tensors, retain_graph)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_backward_run(
    graph: *mut sconce_backward_graph,
    roots: *const sconce_backward_root,
    count: usize,
    keep_graph: CBool,
) -> sconce_status {
    guard(|| {
        let given = entries!(roots, count);
        let keep = keep_graph.is_true();
        let graph = graph_of(graph)?;
        let root = |(index, root): (usize, &sconce_backward_root)| {
            let gradient = tensor_of(root.gradient, &format!("roots[{index}].gradient"))?;
            let edge = Edge { node: root.node, input: index_of(root.input) };
            Ok(Root { edge, gradient })
        };
        let roots = given.iter().enumerate().map(root).collect::<Result<Vec<Root>>>()?;
        run(&graph, roots, keep)
    })
}
