//! Graphs, and how they are captured.

use std::ffi::c_void;

use sconce_base::lock::refuse_held;
use sconce_compute::graph;
use sconce_runtime::context::runtime;
use sconce_runtime::device;

use crate::handle::OpaqueHandle;
use crate::stream::capture_mode;
use crate::{
    CBool, guard, null, sconce_memory_pool, sconce_scoped_function, sconce_status, sconce_stream,
};

/// A CUDA graph: work that is captured from a stream once and launched any number of times. Opaque;
/// created by `sconce_graph_create`.
pub struct sconce_graph {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_graph {
    const SOURCE: &'static str = "make graphs with sconce_graph_create";
}

/// Creates an empty graph. Needs no device.
///
/// - `keep_graph`: whether to keep the driver's graph after the capture, for
///   `sconce_graph_get_native`, `sconce_graph_debug_dump` and `sconce_graph_update`; the graph is then
///   instantiated by `sconce_graph_instantiate`, or by its first replay.
/// - `out_graph`: receives the graph.
/// - Errors: OUT_OF_MEMORY: too many graphs.
/// - Ownership: the caller destroys the graph with `sconce_graph_destroy`.
/// - torch: `torch.cuda.CUDAGraph(keep_graph)`, `at::cuda::CUDAGraph`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_create(
    keep_graph: CBool,
    out_graph: *mut *mut sconce_graph,
) -> sconce_status {
    guard(|| {
        let out_graph = out!(out_graph);
        out_graph.write(sconce_graph::from_key(graph::create(keep_graph.is_true())?));
        Ok(())
    })
}

/// Destroys a graph. A launch that is queued still runs.
///
/// - `graph`: NULL is a no-op.
/// - Errors: INVALID_STATE: the graph is being captured. DRIVER: the graph is destroyed all the
///   same.
/// - Ordering: as `sconce_graph_reset`.
/// - torch: the destructor of `at::cuda::CUDAGraph`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_destroy(graph: *mut sconce_graph) -> sconce_status {
    guard(|| {
        if graph.is_null() {
            return Ok(());
        }
        graph::destroy(sconce_graph::key(graph, "graph")?)
    })
}

/// Empties a graph, so that it can be captured again. A launch that is queued still runs. The graph
/// releases its pool, the pinned memory that it copies, and the plans and workspaces that it uses.
///
/// - `graph`: one that is not being captured.
/// - Errors: INVALID_STATE: the graph is being captured.
/// - Ordering: does not wait for launches. Memory that a launch may use is not used for anything
///   else before the launch is done. If no other graph holds the pool, the memory goes back to the
///   driver: at once if all launches are done and no stream is being captured, else when the next
///   graph is captured or reset, `sconce_device_synchronize` is called or the cache is emptied. The
///   driver may wait for the device when memory goes back.
/// - torch: `torch.cuda.CUDAGraph.reset()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_reset(graph: *mut sconce_graph) -> sconce_status {
    guard(|| graph::reset(sconce_graph::key(graph, "graph")?))
}

/// Begins to capture a stream: work that is queued on it becomes part of the graph and does not
/// run. Another stream joins the capture by waiting for an event that was recorded in the capture.
/// The captured stream must wait for it before the capture ends. Until the end, the calling
/// thread's allocations on the stream's device come from the pool.
///
/// - `graph`: an empty one.
/// - `stream`: not a default stream.
/// - `pool`: the pool for allocations, or NULL for the graph's own pool. Graphs may share a pool if
///   they are launched in the order of their captures and never at the same time.
/// - `mode`: one of `SCONCE_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
/// - Errors: INVALID_STATE: the graph is not empty; the stream is a default stream or is being
///   captured; the thread allocates from the pool already.
/// - Ownership: the graph keeps the pool's memory until it is reset, even if the pool is destroyed.
/// - Threads: the calling thread must end the capture, in every mode.
/// - torch: `torch.cuda.CUDAGraph.capture_begin(pool, capture_error_mode)`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_capture_begin(
    graph: *mut sconce_graph,
    stream: sconce_stream,
    pool: *mut sconce_memory_pool,
    mode: i32,
) -> sconce_status {
    guard(|| {
        let mode = capture_mode(mode)?;
        let key = sconce_graph::key(graph, "graph")?;
        let pool = sconce_memory_pool::optional(pool);
        let runtime = runtime()?;
        graph::begin(runtime, key, stream.resolve(runtime)?, pool, mode)
    })
}

/// Begins to capture a stream that the library lends to the capture. Otherwise as
/// `sconce_graph_capture_begin`. The caller makes the stream current, or names it in calls.
///
/// The stream is the first one of the device's 32 streams for captures that no other capture has at
/// the moment; no other call returns these streams. Captures one after another therefore have the
/// same stream. Memory that a capture frees serves only later work of its stream, so graphs of one
/// pool need no more memory than the largest of them.
///
/// - `graph`: an empty one.
/// - `device`: the device, -1 for the current one.
/// - `pool`: the pool for allocations, or NULL for the graph's own pool.
/// - `mode`: one of `SCONCE_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
/// - `out_stream`: receives the stream.
/// - Errors: INVALID_STATE: the graph is not empty; the thread allocates from the pool already; all
///   32 streams are being captured.
/// - Ownership: the graph keeps the pool's memory until it is reset, even if the pool is destroyed.
/// - Threads: the calling thread must end the capture, in every mode.
/// - torch: `torch.cuda.graph` without a stream, which captures on `default_capture_stream`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_capture_begin_own_stream(
    graph: *mut sconce_graph,
    device: i32,
    pool: *mut sconce_memory_pool,
    mode: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard(|| {
        let out_stream = out!(out_stream);
        let mode = capture_mode(mode)?;
        let key = sconce_graph::key(graph, "graph")?;
        let pool = sconce_memory_pool::optional(pool);
        let runtime = runtime()?;
        let device = device::resolve(runtime, device)?;
        let stream = graph::begin_lent(runtime, key, device, pool, mode)?;
        out_stream.write(sconce_stream::of(stream));
        Ok(())
    })
}

/// Calls a function that will be captured, on the stream that
/// `sconce_graph_capture_begin_own_stream` would capture now: so that its memory is cached, its
/// kernels are loaded and its libraries are set up before the capture.
///
/// The stream and its device are current during the call. The library lends the stream until the
/// call returns, so its work cannot get into a capture of another thread.
///
/// - `device`: the device, -1 for the current one.
/// - `function`: called once, on the calling thread, before this call returns. It may call this
///   library.
/// - `user`: passed to `function`.
/// - Errors: INVALID_STATE: the current stream of the device is being captured; 32 captures without
///   a stream of their own are under way. `function` is not called then.
/// - Ordering: the work of `function` begins after the work that is queued on the current stream of
///   the device, and later work of that stream waits for it.
/// - Safety: `function` may be called with `user`, and does not unwind.
/// - torch: the warm-up on a side stream of `torch.cuda.make_graphed_callables`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_warm_up(
    device: i32,
    function: sconce_scoped_function,
    user: *mut c_void,
) -> sconce_status {
    guard(|| {
        let function = function.ok_or_else(|| null("function"))?;
        let runtime = runtime()?;
        graph::warm_up(runtime, device::resolve(runtime, device)?, || {
            refuse_held("the function of a warm-up");
            // SAFETY: the comment of `sconce_graph_warm_up` demands that `function` may be called with `user` and
            // does not unwind; this is the thread of the call, which has not returned yet.
            unsafe { function(user) };
        })
    })
}

/// Ends the capture of a graph, and instantiates it unless it was created with `keep_graph`. The
/// capture ends in any case; after a failure the graph is empty. An empty capture is logged as a
/// warning.
///
/// - `graph`: one that is being captured.
/// - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it; a call
///   made the capture invalid (backend code 901); a stream that joined the capture was not waited
///   for (904); a conditional node was not ended.
/// - Threads: the thread that began the capture.
/// - torch: `torch.cuda.CUDAGraph.capture_end()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_capture_end(graph: *mut sconce_graph) -> sconce_status {
    guard(|| {
        let key = sconce_graph::key(graph, "graph")?;
        graph::end(runtime()?, key)
    })
}

/// Ends the capture of a graph and discards it, whether it is valid or not. The graph is empty
/// afterwards.
///
/// - `graph`: one that is being captured.
/// - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it.
/// - Threads: the thread that began the capture.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_graph_capture_abort(graph: *mut sconce_graph) -> sconce_status {
    guard(|| graph::abort(sconce_graph::key(graph, "graph")?))
}

/// Reports the graph that the calling thread is capturing; if there are several, the one begun
/// last.
///
/// - `out_graph`: receives the graph, or NULL.
/// - Ownership: borrowed.
/// - torch: `at::cuda::CUDAGraph::get_currently_capturing_graph`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_get_capturing(
    out_graph: *mut *mut sconce_graph,
) -> sconce_status {
    guard(|| {
        let out_graph = out!(out_graph);
        let graph = graph::capturing().map_or(std::ptr::null_mut(), sconce_graph::from_key);
        out_graph.write(graph);
        Ok(())
    })
}

/// Reports the pool that a graph's memory comes from, for captures of further graphs.
///
/// - `graph`: one that is captured or is being captured.
/// - `out_pool`: receives the pool.
/// - Errors: INVALID_STATE: the graph is empty.
/// - Ownership: borrowed; a graph's own pool is destroyed with the graph, or when it is reset.
/// - torch: `torch.cuda.CUDAGraph.pool()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_get_pool(
    graph: *mut sconce_graph,
    out_pool: *mut *mut sconce_memory_pool,
) -> sconce_status {
    guard(|| {
        let out_pool = out!(out_pool);
        let pool = graph::pool_of(sconce_graph::key(graph, "graph")?)?;
        out_pool.write(sconce_memory_pool::from_key(pool));
        Ok(())
    })
}

/// Reports the device of the stream that a graph was captured from.
///
/// - `graph`: one that is captured or is being captured.
/// - `out_device`: receives the device.
/// - Errors: INVALID_STATE: the graph is empty.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_graph_get_device(
    graph: *mut sconce_graph,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_device = out!(out_device);
        out_device.write(graph::device_of(sconce_graph::key(graph, "graph")?)?.as_i32());
        Ok(())
    })
}
