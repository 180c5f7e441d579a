//! Replay, upload, update; figures, files, native handles.

use std::ffi::{c_char, c_void};
use std::ptr::without_provenance_mut;

use sconce_base::error::Error;
use sconce_base::log;
use sconce_compute::graph;
use sconce_runtime::context::runtime;

use super::sconce_graph;
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status, sconce_stream};

/// Queues a launch of a graph. All of its work runs once, after the work queued on the stream so
/// far and after earlier launches of the graph. Later work of the stream runs after it. Captured
/// random fills draw the numbers that ordinary fills would draw at this point.
///
/// - `graph`: one that was captured.
/// - `stream`: a stream of the device on which the graph was captured, which may be its default
///   stream. No capture of the stream may be under way.
/// - Errors: INVALID_STATE: the graph was not captured or not instantiated, or `stream` is being
///   captured.
/// - Ownership: all memory that the captured work uses must live until the launch is done. The
///   graph itself keeps the memory that was allocated during the capture, and pinned memory of this
///   library.
/// - torch: `torch.cuda.CUDAGraph.replay()` in a scope of `torch.cuda.stream`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_replay(
    graph: *mut sconce_graph,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let key = sconce_graph::key(graph, "graph")?;
        let runtime = runtime()?;
        graph::replay(runtime, key, stream.resolve(runtime)?)
    })
}

/// Queues a launch of a graph on the calling thread's current stream of the graph's device; otherwise
/// as `sconce_graph_replay`.
///
/// - `graph`: one that was captured.
/// - Errors: as `sconce_graph_replay`.
/// - Ownership: as `sconce_graph_replay`.
/// - torch: `torch.cuda.CUDAGraph.replay()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_replay_on_current(graph: *mut sconce_graph) -> sconce_status {
    guard(|| {
        let key = sconce_graph::key(graph, "graph")?;
        graph::replay_on_current(runtime()?, key)
    })
}

/// Makes a captured graph executable, which `sconce_graph_capture_end` does unless the graph was
/// created with `keep_graph`, and the first replay otherwise. Another call replaces the executable
/// graph.
///
/// - `graph`: one that was captured.
/// - Errors: INVALID_STATE: the graph was not captured, or not created with `keep_graph`.
/// - torch: `torch.cuda.CUDAGraph.instantiate()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_instantiate(graph: *mut sconce_graph) -> sconce_status {
    guard(|| graph::instantiate(sconce_graph::key(graph, "graph")?))
}

/// Prepares the first launch of a graph on the device, in stream order, so that the first launch
/// takes no longer than later ones.
///
/// - `graph`: one that was captured.
/// - `stream`: a stream of the device on which the graph was captured. No capture of the stream may
///   be under way.
/// - Errors: INVALID_STATE: the graph was not captured or not instantiated, or `stream` is being
///   captured.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_upload(
    graph: *mut sconce_graph,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let key = sconce_graph::key(graph, "graph")?;
        let runtime = runtime()?;
        graph::upload(runtime, key, stream.resolve(runtime)?)
    })
}

/// Updates a graph with the addresses and numbers of another graph that has the same nodes and
/// edges. That is much faster than instantiating the other graph. Launches that are queued are not
/// affected.
///
/// - `graph`: the graph to be changed.
/// - `from`: a captured graph that was created with `keep_graph`. It may be reset or destroyed
///   afterwards.
/// - `out_updated`: receives false if the graphs differ in their nodes or edges. `graph` is then
///   unchanged, and the difference is logged at level debug.
/// - Errors: INVALID_STATE: a graph was not captured, or `graph` not instantiated. INVALID_ARGUMENT:
///   `from` is `graph`, or keeps no graph.
/// - Ownership: `graph` keeps what `from` keeps (the pool's memory and pinned memory) until it is
///   updated or instantiated again, reset or destroyed.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_update(
    graph: *mut sconce_graph,
    from: *mut sconce_graph,
    out_updated: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_updated = out!(out_updated);
        let key = sconce_graph::key(graph, "graph")?;
        let refused = graph::update(key, sconce_graph::key(from, "from")?)?;
        if let Some(why) = &refused {
            log::debug(format_args!("a graph was not updated: {why}"));
        }
        out_updated.write(refused.is_none());
        Ok(())
    })
}

/// Reports how many nodes a graph has. The bodies of a conditional node do not count.
///
/// - `graph`: one that was captured.
/// - `out_count`: receives the number; 0 for a capture without work.
/// - Errors: INVALID_STATE: the graph was not captured.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_node_count(
    graph: *mut sconce_graph,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        out_count.write(graph::node_count(sconce_graph::key(graph, "graph")?)?);
        Ok(())
    })
}

/// Writes a graph to a file in the language of Graphviz.
///
/// - `graph`: one that was captured.
/// - `path`: the file; an existing one is overwritten.
/// - `flags`: bits of `CUgraphDebugDot_flags`; 0 writes the least, 1 everything. Simulated devices
///   ignore them.
/// - Errors: INVALID_STATE: the graph was not captured, or not created with `keep_graph`. DRIVER: the
///   file cannot be written.
/// - torch: `torch.cuda.CUDAGraph.debug_dump(path)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_debug_dump(
    graph: *mut sconce_graph,
    path: *const c_char,
    flags: u32,
) -> sconce_status {
    guard(|| {
        let path = text!(path);
        let path = path.to_str().map_err(|_| Error::invalid_argument("path: it is not UTF-8"))?;
        graph::debug_dump(sconce_graph::key(graph, "graph")?, path, flags)
    })
}

/// Reports the driver's graph, for code that calls CUDA itself.
///
/// - `graph`: one that was captured.
/// - `out_native`: receives the `CUgraph` or `cudaGraph_t`; on the simulator, a number.
/// - Errors: INVALID_STATE: the graph was not captured, or not created with `keep_graph`.
/// - Ownership: borrowed; it lives until the graph is reset or destroyed.
/// - torch: `torch.cuda.CUDAGraph.raw_cuda_graph()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_get_native(
    graph: *mut sconce_graph,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_native = out!(out_native);
        let native = graph::native(sconce_graph::key(graph, "graph")?)?;
        out_native.write(without_provenance_mut(native));
        Ok(())
    })
}

/// Reports the driver's executable graph, for code that calls CUDA itself.
///
/// - `graph`: one that was captured.
/// - `out_native`: receives the `CUgraphExec` or `cudaGraphExec_t`; on the simulator, a number.
/// - Errors: INVALID_STATE: the graph was not captured or not instantiated.
/// - Ownership: borrowed; it lives until the graph is instantiated again, reset or destroyed. The
///   graph does not know of launches that other code makes: they must be done before the graph lets
///   go of its memory. Such a launch repeats the random numbers
///   of the last one through this library, as in torch.
/// - torch: `at::cuda::CUDAGraph::raw_cuda_graph_exec`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_get_native_exec(
    graph: *mut sconce_graph,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_native = out!(out_native);
        let native = graph::native_exec(sconce_graph::key(graph, "graph")?)?;
        out_native.write(without_provenance_mut(native));
        Ok(())
    })
}
