/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Graphs: captures, launches, conditional nodes.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_GRAPH_H_
#define SCONCE_C_GRAPH_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/memory.h>

/**
 * What a conditional node does with its condition. The values are CUDA's.
 */
#ifdef __cplusplus
enum sconce_graph_conditional_kind : int32_t {
#else
typedef int32_t sconce_graph_conditional_kind;
enum {
#endif
  /**
   * Runs its first body once if the condition is not 0; otherwise runs its second body, if it
   * has two.
   */
  SCONCE_GRAPH_IF = 0,
  /**
   * Runs its only body as long as the condition is not 0.
   */
  SCONCE_GRAPH_WHILE = 1,
  /**
   * Runs the body whose number, counted from 0, equals the condition. Runs nothing if there is
   * no such body.
   */
  SCONCE_GRAPH_SWITCH = 2,
};

/**
 * A CUDA graph: work that is captured from a stream once and launched any number of times. Opaque;
 * created by `sconce_graph_create`.
 */
typedef struct sconce_graph sconce_graph;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates an empty graph. Needs no device.
 *
 * - `keep_graph`: whether to keep the driver's graph after the capture, for
 *   `sconce_graph_get_native`, `sconce_graph_debug_dump` and `sconce_graph_update`; the graph is then
 *   instantiated by `sconce_graph_instantiate`, or by its first replay.
 * - `out_graph`: receives the graph.
 * - Errors: OUT_OF_MEMORY: too many graphs.
 * - Ownership: the caller destroys the graph with `sconce_graph_destroy`.
 * - torch: `torch.cuda.CUDAGraph(keep_graph)`, `at::cuda::CUDAGraph`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_create(bool keep_graph,
                                  struct sconce_graph **out_graph);

/**
 * Destroys a graph. A launch that is queued still runs.
 *
 * - `graph`: NULL is a no-op.
 * - Errors: INVALID_STATE: the graph is being captured. DRIVER: the graph is destroyed all the
 *   same.
 * - Ordering: as `sconce_graph_reset`.
 * - torch: the destructor of `at::cuda::CUDAGraph`.
 */
SCONCE_NODISCARD sconce_status sconce_graph_destroy(struct sconce_graph *graph);

/**
 * Empties a graph, so that it can be captured again. A launch that is queued still runs. The graph
 * releases its pool, the pinned memory that it copies, and the plans and workspaces that it uses.
 *
 * - `graph`: one that is not being captured.
 * - Errors: INVALID_STATE: the graph is being captured.
 * - Ordering: does not wait for launches. Memory that a launch may use is not used for anything
 *   else before the launch is done. If no other graph holds the pool, the memory goes back to the
 *   driver: at once if all launches are done and no stream is being captured, else when the next
 *   graph is captured or reset, `sconce_device_synchronize` is called or the cache is emptied. The
 *   driver may wait for the device when memory goes back.
 * - torch: `torch.cuda.CUDAGraph.reset()`.
 */
SCONCE_NODISCARD sconce_status sconce_graph_reset(struct sconce_graph *graph);

/**
 * Begins to capture a stream: work that is queued on it becomes part of the graph and does not
 * run. Another stream joins the capture by waiting for an event that was recorded in the capture.
 * The captured stream must wait for it before the capture ends. Until the end, the calling
 * thread's allocations on the stream's device come from the pool.
 *
 * - `graph`: an empty one.
 * - `stream`: not a default stream.
 * - `pool`: the pool for allocations, or NULL for the graph's own pool. Graphs may share a pool if
 *   they are launched in the order of their captures and never at the same time.
 * - `mode`: one of `SCONCE_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
 * - Errors: INVALID_STATE: the graph is not empty; the stream is a default stream or is being
 *   captured; the thread allocates from the pool already.
 * - Ownership: the graph keeps the pool's memory until it is reset, even if the pool is destroyed.
 * - Threads: the calling thread must end the capture, in every mode.
 * - torch: `torch.cuda.CUDAGraph.capture_begin(pool, capture_error_mode)`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_capture_begin(struct sconce_graph *graph,
                                         struct sconce_stream stream,
                                         struct sconce_memory_pool *pool,
                                         int32_t mode);

/**
 * Begins to capture a stream that the library lends to the capture. Otherwise as
 * `sconce_graph_capture_begin`. The caller makes the stream current, or names it in calls.
 *
 * The stream is the first one of the device's 32 streams for captures that no other capture has at
 * the moment; no other call returns these streams. Captures one after another therefore have the
 * same stream. Memory that a capture frees serves only later work of its stream, so graphs of one
 * pool need no more memory than the largest of them.
 *
 * - `graph`: an empty one.
 * - `device`: the device, -1 for the current one.
 * - `pool`: the pool for allocations, or NULL for the graph's own pool.
 * - `mode`: one of `SCONCE_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
 * - `out_stream`: receives the stream.
 * - Errors: INVALID_STATE: the graph is not empty; the thread allocates from the pool already; all
 *   32 streams are being captured.
 * - Ownership: the graph keeps the pool's memory until it is reset, even if the pool is destroyed.
 * - Threads: the calling thread must end the capture, in every mode.
 * - torch: `torch.cuda.graph` without a stream, which captures on `default_capture_stream`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_capture_begin_own_stream(struct sconce_graph *graph,
                                                    int32_t device,
                                                    struct sconce_memory_pool *pool,
                                                    int32_t mode,
                                                    struct sconce_stream *out_stream);

/**
 * Calls a function that will be captured, on the stream that
 * `sconce_graph_capture_begin_own_stream` would capture now: so that its memory is cached, its
 * kernels are loaded and its libraries are set up before the capture.
 *
 * The stream and its device are current during the call. The library lends the stream until the
 * call returns, so its work cannot get into a capture of another thread.
 *
 * - `device`: the device, -1 for the current one.
 * - `function`: called once, on the calling thread, before this call returns. It may call this
 *   library.
 * - `user`: passed to `function`.
 * - Errors: INVALID_STATE: the current stream of the device is being captured; 32 captures without
 *   a stream of their own are under way. `function` is not called then.
 * - Ordering: the work of `function` begins after the work that is queued on the current stream of
 *   the device, and later work of that stream waits for it.
 * - Safety: `function` may be called with `user`, and does not unwind.
 * - torch: the warm-up on a side stream of `torch.cuda.make_graphed_callables`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_warm_up(int32_t device,
                                   sconce_scoped_function function,
                                   void *user);

/**
 * Ends the capture of a graph, and instantiates it unless it was created with `keep_graph`. The
 * capture ends in any case; after a failure the graph is empty. An empty capture is logged as a
 * warning.
 *
 * - `graph`: one that is being captured.
 * - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it; a call
 *   made the capture invalid (backend code 901); a stream that joined the capture was not waited
 *   for (904); a conditional node was not ended.
 * - Threads: the thread that began the capture.
 * - torch: `torch.cuda.CUDAGraph.capture_end()`.
 */
SCONCE_NODISCARD sconce_status sconce_graph_capture_end(struct sconce_graph *graph);

/**
 * Ends the capture of a graph and discards it, whether it is valid or not. The graph is empty
 * afterwards.
 *
 * - `graph`: one that is being captured.
 * - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it.
 * - Threads: the thread that began the capture.
 */
SCONCE_NODISCARD sconce_status sconce_graph_capture_abort(struct sconce_graph *graph);

/**
 * Reports the graph that the calling thread is capturing; if there are several, the one begun
 * last.
 *
 * - `out_graph`: receives the graph, or NULL.
 * - Ownership: borrowed.
 * - torch: `at::cuda::CUDAGraph::get_currently_capturing_graph`.
 */
SCONCE_NODISCARD sconce_status sconce_graph_get_capturing(struct sconce_graph **out_graph);

/**
 * Reports the pool that a graph's memory comes from, for captures of further graphs.
 *
 * - `graph`: one that is captured or is being captured.
 * - `out_pool`: receives the pool.
 * - Errors: INVALID_STATE: the graph is empty.
 * - Ownership: borrowed; a graph's own pool is destroyed with the graph, or when it is reset.
 * - torch: `torch.cuda.CUDAGraph.pool()`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_get_pool(struct sconce_graph *graph,
                                    struct sconce_memory_pool **out_pool);

/**
 * Reports the device of the stream that a graph was captured from.
 *
 * - `graph`: one that is captured or is being captured.
 * - `out_device`: receives the device.
 * - Errors: INVALID_STATE: the graph is empty.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_get_device(struct sconce_graph *graph,
                                      int32_t *out_device);

/**
 * Queues a launch of a graph. All of its work runs once, after the work queued on the stream so
 * far and after earlier launches of the graph. Later work of the stream runs after it. Captured
 * random fills draw the numbers that ordinary fills would draw at this point.
 *
 * - `graph`: one that was captured.
 * - `stream`: a stream of the device on which the graph was captured, which may be its default
 *   stream. No capture of the stream may be under way.
 * - Errors: INVALID_STATE: the graph was not captured or not instantiated, or `stream` is being
 *   captured.
 * - Ownership: all memory that the captured work uses must live until the launch is done. The
 *   graph itself keeps the memory that was allocated during the capture, and pinned memory of this
 *   library.
 * - torch: `torch.cuda.CUDAGraph.replay()` in a scope of `torch.cuda.stream`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_replay(struct sconce_graph *graph,
                                  struct sconce_stream stream);

/**
 * Queues a launch of a graph on the calling thread's current stream of the graph's device; otherwise
 * as `sconce_graph_replay`.
 *
 * - `graph`: one that was captured.
 * - Errors: as `sconce_graph_replay`.
 * - Ownership: as `sconce_graph_replay`.
 * - torch: `torch.cuda.CUDAGraph.replay()`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_replay_on_current(struct sconce_graph *graph);

/**
 * Makes a captured graph executable, which `sconce_graph_capture_end` does unless the graph was
 * created with `keep_graph`, and the first replay otherwise. Another call replaces the executable
 * graph.
 *
 * - `graph`: one that was captured.
 * - Errors: INVALID_STATE: the graph was not captured, or not created with `keep_graph`.
 * - torch: `torch.cuda.CUDAGraph.instantiate()`.
 */
SCONCE_NODISCARD sconce_status sconce_graph_instantiate(struct sconce_graph *graph);

/**
 * Prepares the first launch of a graph on the device, in stream order, so that the first launch
 * takes no longer than later ones.
 *
 * - `graph`: one that was captured.
 * - `stream`: a stream of the device on which the graph was captured. No capture of the stream may
 *   be under way.
 * - Errors: INVALID_STATE: the graph was not captured or not instantiated, or `stream` is being
 *   captured.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_upload(struct sconce_graph *graph,
                                  struct sconce_stream stream);

/**
 * Updates a graph with the addresses and numbers of another graph that has the same nodes and
 * edges. That is much faster than instantiating the other graph. Launches that are queued are not
 * affected.
 *
 * - `graph`: the graph to be changed.
 * - `from`: a captured graph that was created with `keep_graph`. It may be reset or destroyed
 *   afterwards.
 * - `out_updated`: receives false if the graphs differ in their nodes or edges. `graph` is then
 *   unchanged, and the difference is logged at level debug.
 * - Errors: INVALID_STATE: a graph was not captured, or `graph` not instantiated. INVALID_ARGUMENT:
 *   `from` is `graph`, or keeps no graph.
 * - Ownership: `graph` keeps what `from` keeps (the pool's memory and pinned memory) until it is
 *   updated or instantiated again, reset or destroyed.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_update(struct sconce_graph *graph,
                                  struct sconce_graph *from,
                                  bool *out_updated);

/**
 * Reports how many nodes a graph has. The bodies of a conditional node do not count.
 *
 * - `graph`: one that was captured.
 * - `out_count`: receives the number; 0 for a capture without work.
 * - Errors: INVALID_STATE: the graph was not captured.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_node_count(struct sconce_graph *graph,
                                      size_t *out_count);

/**
 * Writes a graph to a file in the language of Graphviz.
 *
 * - `graph`: one that was captured.
 * - `path`: the file; an existing one is overwritten.
 * - `flags`: bits of `CUgraphDebugDot_flags`; 0 writes the least, 1 everything. Simulated devices
 *   ignore them.
 * - Errors: INVALID_STATE: the graph was not captured, or not created with `keep_graph`. DRIVER: the
 *   file cannot be written.
 * - torch: `torch.cuda.CUDAGraph.debug_dump(path)`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_debug_dump(struct sconce_graph *graph,
                                      const char *path,
                                      uint32_t flags);

/**
 * Reports the driver's graph, for code that calls CUDA itself.
 *
 * - `graph`: one that was captured.
 * - `out_native`: receives the `CUgraph` or `cudaGraph_t`; on the simulator, a number.
 * - Errors: INVALID_STATE: the graph was not captured, or not created with `keep_graph`.
 * - Ownership: borrowed; it lives until the graph is reset or destroyed.
 * - torch: `torch.cuda.CUDAGraph.raw_cuda_graph()`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_get_native(struct sconce_graph *graph,
                                      void **out_native);

/**
 * Reports the driver's executable graph, for code that calls CUDA itself.
 *
 * - `graph`: one that was captured.
 * - `out_native`: receives the `CUgraphExec` or `cudaGraphExec_t`; on the simulator, a number.
 * - Errors: INVALID_STATE: the graph was not captured or not instantiated.
 * - Ownership: borrowed; it lives until the graph is instantiated again, reset or destroyed. The
 *   graph does not know of launches that other code makes: they must be done before the graph lets
 *   go of its memory. Such a launch repeats the random numbers
 *   of the last one through this library, as in torch.
 * - torch: `at::cuda::CUDAGraph::raw_cuda_graph_exec`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_get_native_exec(struct sconce_graph *graph,
                                           void **out_native);

/**
 * Creates a condition in the graph that is being captured, or in the body of its innermost
 * conditional node. The condition is 0 when a launch begins. Each conditional node needs its own
 * condition.
 *
 * - `graph`: one that is being captured.
 * - `out_condition`: receives the number of the condition.
 * - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it.
 *   NOT_SUPPORTED: the driver is older than CUDA 12.3.
 * - Threads: the thread that began the capture.
 * - torch: part of `CUDAGraph::begin_capture_to_if_node`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_condition_create(struct sconce_graph *graph,
                                            uint64_t *out_condition);

/**
 * Captures a kernel that sets a condition to an integer in memory. The kernel reads the integer
 * when it runs.
 *
 * - `graph`: the graph that `stream` is captured into.
 * - `condition`: a condition of this capture.
 * - `value`: the address of an unsigned integer in memory of the stream's device or in pinned
 *   memory; a multiple of `bytes`.
 * - `bytes`: the size of the integer: 1, 4 or 8.
 * - `stream`: one that is being captured.
 * - Errors: INVALID_STATE: `stream` is not being captured.
 * - Threads: the thread that began the capture.
 * - torch: part of `CUDAGraph::begin_capture_to_if_node`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_condition_set(struct sconce_graph *graph,
                                         uint64_t condition,
                                         const void *value,
                                         size_t bytes,
                                         struct sconce_stream stream);

/**
 * Adds a conditional node after the work captured from the graph's stream so far, and begins to
 * capture its first body. Inside a body, the node becomes part of that body. Later work of the
 * outer stream runs after the node.
 *
 * - `graph`: one that is being captured.
 * - `condition`: a condition of this capture that no other node uses.
 * - `kind`: one of `SCONCE_GRAPH_IF`, `_WHILE` and `_SWITCH`.
 * - `bodies`: the number of bodies: 1 or 2 for `_IF`, 1 for `_WHILE`, 1 or more for `_SWITCH`.
 * - `stream`: the stream from which the bodies are captured: a stream of the graph's device that
 *   is not a default stream and is not being captured.
 * - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it.
 *   NOT_SUPPORTED: the driver is older than CUDA 12.3. DRIVER: the driver is older than CUDA 12.8,
 *   and the node has a second body or is a `_SWITCH`.
 * - Threads: the thread that began the capture.
 * - torch: `CUDAGraph::begin_capture_to_if_node`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_conditional_begin(struct sconce_graph *graph,
                                             uint64_t condition,
                                             int32_t kind,
                                             size_t bodies,
                                             struct sconce_stream stream);

/**
 * Adds a conditional node, and begins to capture its first body from a stream that the library
 * lends to the node, as `sconce_graph_capture_begin_own_stream` does for a capture. Otherwise as
 * `sconce_graph_conditional_begin`.
 *
 * - `graph`: one that is being captured.
 * - `condition`: a condition of this capture that no other node uses.
 * - `kind`: one of `SCONCE_GRAPH_IF`, `_WHILE` and `_SWITCH`.
 * - `bodies`: the number of bodies: 1 or 2 for `_IF`, 1 for `_WHILE`, 1 or more for `_SWITCH`.
 * - `out_stream`: receives the stream.
 * - Errors: INVALID_STATE: the graph is not being captured, or another thread captures it; all 32
 *   streams are being captured. NOT_SUPPORTED: the driver is older than CUDA 12.3. DRIVER: the
 *   driver is older than CUDA 12.8, and the node has a second body or is a `_SWITCH`.
 * - Threads: the thread that began the capture.
 * - torch: `CUDAGraph::begin_capture_to_if_node`.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_conditional_begin_own_stream(struct sconce_graph *graph,
                                                        uint64_t condition,
                                                        int32_t kind,
                                                        size_t bodies,
                                                        struct sconce_stream *out_stream);

/**
 * Ends the body that is being captured, and begins to capture the next one from the same stream.
 *
 * - `graph`: one that is being captured.
 * - Errors: INVALID_STATE: the capture is in no conditional node, or the node has no further body.
 * - Threads: the thread that began the capture.
 */
SCONCE_NODISCARD sconce_status sconce_graph_conditional_next(struct sconce_graph *graph);

/**
 * Ends the innermost conditional node. Bodies that were not captured stay empty.
 *
 * - `graph`: one that is being captured.
 * - Errors: INVALID_STATE: the capture is in no conditional node, or fails with the backend code
 *   901 or 904 as in `sconce_graph_capture_end`; the graph's capture can then only be aborted.
 * - Threads: the thread that began the capture.
 * - torch: `CUDAGraph::end_capture_to_conditional_node`.
 */
SCONCE_NODISCARD sconce_status sconce_graph_conditional_end(struct sconce_graph *graph);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_GRAPH_H_ */
