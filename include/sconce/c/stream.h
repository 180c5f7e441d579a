/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Streams: pools of streams, current streams, order, captures.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_STREAM_H_
#define SCONCE_C_STREAM_H_

#include <sconce/c/library.h>

/**
 * Flag of a stream: the default stream does not order its work implicitly. The value is CUDA's
 * (`CU_STREAM_NON_BLOCKING`).
 */
#define SCONCE_STREAM_NON_BLOCKING 1

/**
 * How strictly calls are checked while a stream is captured. The values are CUDA's.
 */
#ifdef __cplusplus
enum sconce_capture_mode : int32_t {
#else
typedef int32_t sconce_capture_mode;
enum {
#endif
  /**
   * Forbids calls that are unsafe in a capture (allocating through CUDA, querying or waiting for
   * events and streams) on every thread, except those that have relaxed their own mode. This
   * library's own allocations are allowed.
   */
  SCONCE_CAPTURE_GLOBAL = 0,
  /**
   * Forbids those calls only on the thread that began the capture.
   */
  SCONCE_CAPTURE_THREAD_LOCAL = 1,
  /**
   * Forbids them on no thread.
   */
  SCONCE_CAPTURE_RELAXED = 2,
};

/**
 * Whether a stream is being captured. The values are CUDA's.
 */
#ifdef __cplusplus
enum sconce_capture_status : int32_t {
#else
typedef int32_t sconce_capture_status;
enum {
#endif
  /**
   * The stream is not being captured.
   */
  SCONCE_CAPTURE_STATUS_NONE = 0,
  /**
   * The stream is being captured, and the capture is valid.
   */
  SCONCE_CAPTURE_STATUS_ACTIVE = 1,
  /**
   * The stream is being captured, but a call has made the capture invalid. The stream accepts no
   * work until the capture is ended.
   */
  SCONCE_CAPTURE_STATUS_INVALIDATED = 2,
};

/**
 * A stream: a value without an owner. Two streams are equal if `id` and `device` are.
 */
typedef struct sconce_stream {
  /**
   * Number of the stream on its device; 0 is the default stream. The numbers are torch's.
   */
  int64_t id;
  /**
   * Index of the device.
   */
  int32_t device;
  /**
   * 0.
   */
  int32_t reserved;
} sconce_stream;

/**
 * A function that `sconce_stream_launch_host_function` queues on a stream.
 */
typedef void (*sconce_host_function)(void *user);

/**
 * A function that `sconce_stream_run` calls.
 */
typedef void (*sconce_scoped_function)(void *user);

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns a device's default stream: CUDA's legacy default stream, whose native handle is NULL.
 *
 * - `out_stream`: receives the stream.
 * - torch: `torch.cuda.default_stream()`, `c10::cuda::getDefaultCUDAStream`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_default(int32_t device,
                                        struct sconce_stream *out_stream);

/**
 * Returns the calling thread's current stream on a device. It is the default stream when a thread
 * starts. Each thread has its own current streams.
 *
 * Makes no driver call, except for the check of the device.
 *
 * - `out_stream`: receives the stream.
 * - torch: `torch.cuda.current_stream()`, `c10::cuda::getCurrentCUDAStream`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_current(int32_t device,
                                        struct sconce_stream *out_stream);

/**
 * Makes a stream the calling thread's current one on the stream's device. Does not change the
 * current device.
 *
 * Makes no driver call.
 *
 * - torch: `c10::cuda::setCurrentCUDAStream`; `torch.cuda.set_stream` also switches the device.
 */
SCONCE_NODISCARD sconce_status sconce_stream_set_current(struct sconce_stream stream);

/**
 * Makes a stream current on its device and makes that device current. Stream guards begin with it
 * and end with `sconce_stream_restore`.
 *
 * Blocks as `sconce_device_set_current`. Makes no driver call if the device is current already,
 * except for the check of the device.
 *
 * - `out_previous`: receives the stream that was current on the stream's device.
 * - `out_previous_device`: receives the index of the device that was current.
 * - torch: entering `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_exchange(struct sconce_stream stream,
                                     struct sconce_stream *out_previous,
                                     int32_t *out_previous_device);

/**
 * Undoes `sconce_stream_exchange`: makes `previous` current on its device, then `previous_device`
 * the current device.
 *
 * Blocks as `sconce_device_set_current`. Makes no driver call if the device is current already,
 * except for the check of the device.
 *
 * - `previous`, `previous_device`: the two results of `sconce_stream_exchange`.
 * - Threads: the thread that called `sconce_stream_exchange`.
 * - torch: leaving `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_restore(struct sconce_stream previous,
                                    int32_t previous_device);

/**
 * Returns the next of the 32 pooled streams of a device and priority, in turn: requests n and n +
 * 32 return the same stream. A pooled stream is made when it is first requested, and never
 * destroyed.
 *
 * Pooled streams are non-blocking: only events order their work with that of the default stream.
 *
 * - `priority`: 0 is low, -1 is high; lower numbers mean still higher priorities, down to -3.
 * - `out_stream`: receives the stream.
 * - Errors: INVALID_ARGUMENT: `priority` is above 0.
 * - torch: `torch.cuda.Stream(device, priority)`, `c10::cuda::getStreamFromPool`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_from_pool(int32_t device,
                                          int32_t priority,
                                          struct sconce_stream *out_stream);

/**
 * Returns the stream for a `cudaStream_t` (`CUstream`) that other code made.
 *
 * - `native`: the handle; NULL and 1 are the default stream. 2 (`cudaStreamPerThread`) is the default stream of
 *   whichever thread makes a call.
 * - `out_stream`: receives the stream.
 * - Errors: INVALID_ARGUMENT: `native` cannot be a stream handle. INVALID_HANDLE: the simulator,
 *   which knows all its streams, does not know `native`.
 * - Ownership: the other code keeps the native stream. It may destroy the stream once no call uses
 *   it, as an argument or as the calling thread's current stream. Memory that was allocated for
 *   the stream, or noted with a `…_record_stream` function, may still be held at that time. If the
 *   driver reuses the handle for another stream, pass the handle to this function again.
 * - Safety: `native` is NULL or a live stream of the device.
 * - torch: `torch.cuda.ExternalStream`, `c10::cuda::getStreamFromExternal`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_from_external(void *native,
                                              int32_t device,
                                              struct sconce_stream *out_stream);

/**
 * Returns the `cudaStream_t` (`CUstream`) of a stream, for kernel launches and other libraries.
 *
 * - `out_native`: receives the handle; NULL for a default stream.
 * - Ownership: borrowed; never destroy it.
 * - torch: `c10::cuda::CUDAStream::stream()`, `torch.cuda.Stream.cuda_stream`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_native(struct sconce_stream stream,
                                       void **out_native);

/**
 * Creates a stream that the program owns, beside the pools, whose 32 streams all callers share.
 *
 * - `flags`: `SCONCE_STREAM_NON_BLOCKING`, or 0 for a stream that the default stream orders: work of either
 *   begins after the work that was queued on the other before.
 * - `priority`: 0 is low, -1 is high; lower numbers mean still higher priorities, as far as the device has them
 *   (`sconce_stream_get_priority_range`).
 * - `out_stream`: receives the stream.
 * - Errors: INVALID_ARGUMENT: `priority` is above 0, or `flags` has another bit.
 * - Ownership: the caller destroys the stream with `sconce_stream_destroy`. Until then it is used as a stream of
 *   `sconce_stream_get_from_external`.
 * - torch: `torch.cuda.ExternalStream` of a stream of `cudaStreamCreateWithPriority`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_create(int32_t device,
                                   uint32_t flags,
                                   int32_t priority,
                                   struct sconce_stream *out_stream);

/**
 * Destroys a stream of `sconce_stream_create`. Work that is queued already still runs.
 *
 * Memory that was allocated for the stream, or noted with a `…_record_stream` function, stays usable, and is
 * reused when the work that used it has finished.
 *
 * - Errors: INVALID_ARGUMENT: the library owns the stream (a default stream, or one of a pool), or it is the
 *   default stream of a thread. INVALID_STATE: the stream is the calling thread's current stream.
 * - Ownership: no call uses the stream afterwards, and no other thread has it as its current stream. The driver may
 *   give its handle to another stream, which has the same number then.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_destroy(struct sconce_stream stream);

/**
 * Reports whether all work queued on a stream has finished.
 *
 * - `out_idle`: receives the answer.
 * - torch: `torch.cuda.Stream.query()`.
 */
SCONCE_NODISCARD sconce_status sconce_stream_query(struct sconce_stream stream, bool *out_idle);

/**
 * Waits until all work queued on a stream has finished.
 *
 * - Ordering: blocks the calling thread.
 * - torch: `torch.cuda.Stream.synchronize()`.
 */
SCONCE_NODISCARD sconce_status sconce_stream_synchronize(struct sconce_stream stream);

/**
 * Reports the priority of a stream; lower is more urgent.
 *
 * - `out_priority`: receives the priority.
 * - torch: `torch.cuda.Stream.priority`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_priority(struct sconce_stream stream,
                                         int32_t *out_priority);

/**
 * Reports the range of priorities that the current device distinguishes. Makes the device's
 * context.
 *
 * - `out_least`: receives 0.
 * - `out_greatest`: receives a negative number, not below -3, the highest priority that has a
 *   pool.
 * - torch: `torch.cuda.Stream.priority_range()`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_priority_range(int32_t *out_least,
                                               int32_t *out_greatest);

/**
 * Reports whether a stream is being captured into a CUDA graph, by this library or by other code.
 *
 * - `out_capturing`: receives true from the beginning of the capture to its end, also after the
 *   capture has become invalid.
 * - Errors: INVALID_STATE: `stream` is the default stream, and the capture of another stream
 *   forbids its use.
 * - torch: `torch.cuda.is_current_stream_capturing()`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_is_capturing(struct sconce_stream stream,
                                         bool *out_capturing);

/**
 * Reports whether a stream is being captured into a CUDA graph, by this library or by other code, and
 * whether that capture is valid.
 *
 * - `out_status`: receives one of `SCONCE_CAPTURE_STATUS_NONE`, `_ACTIVE` and `_INVALIDATED`.
 * - Errors: as `sconce_stream_is_capturing`.
 * - torch: `c10::cuda::currentStreamCaptureStatusMayInitCtx`, `cudaStreamIsCapturing`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_capture_status(struct sconce_stream stream,
                                               int32_t *out_status);

/**
 * Sets how strictly calls of the calling thread are checked against captures that are under way,
 * and reports the previous mode. The mode applies to all driver calls of the thread, including
 * those of other code.
 *
 * - `mode`: With `SCONCE_CAPTURE_GLOBAL`, the initial mode of a thread, calls that are unsafe in a
 *   capture fail during the thread's own captures and during global captures of other threads.
 *   With `_THREAD_LOCAL` they fail only during the thread's own captures, and with `_RELAXED`
 *   never. Another number is INVALID_ARGUMENT.
 * - `out_previous`: receives the previous mode.
 * - torch: `c10::cuda::CUDAStreamCaptureModeGuard`, `cudaThreadExchangeStreamCaptureMode`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_exchange_capture_mode(int32_t mode,
                                                  int32_t *out_previous);

/**
 * Makes work that is queued on `waiting` from now on wait for the work queued on `waited` so far.
 *
 * - `waiting`, `waited`: streams of any devices.
 * - torch: `torch.cuda.Stream.wait_stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_wait_stream(struct sconce_stream waiting,
                                        struct sconce_stream waited);

/**
 * Queues a host function on a stream: the function runs after all work queued so far, and work
 * queued later starts after it has returned.
 *
 * The function must not use a device. It must not call CUDA. Of this library, it may only call
 * functions that need no backend, and those that release something: `sconce_memory_free`,
 * `sconce_host_memory_free`, `sconce_event_destroy`, `sconce_tensor_release`. All other functions
 * return DRIVER with the code 800, on both backends. The function must not dereference device
 * addresses; on the simulator that ends the process, with a message that names the address.
 *
 * - `function`: called once, on a thread of the driver; not called if earlier work of the stream
 *   fails. If the stream is being captured, the function is called at each launch of the graph.
 * - `user`: passed to `function`.
 * - Ownership: `user` must live until `function` has run; after a capture, as long as the graph.
 * - Safety: `function` may be called with `user` on another thread, and does not unwind.
 * - torch: `cudaLaunchHostFunc`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_launch_host_function(struct sconce_stream stream,
                                                 sconce_host_function function,
                                                 void *user);

/**
 * Queues a host function on a stream, and a second one that is called instead if the first one
 * will not run. Exactly one of the two is called, once, unless the process ends first. Otherwise
 * as `sconce_stream_launch_host_function`.
 *
 * - `function`: called after all work queued so far, if that succeeds.
 * - `otherwise`: called on a thread of the driver, some time after work of the device has failed.
 *   The same rules apply to it as to `function`.
 * - `user`: passed to whichever is called.
 * - Errors: INVALID_STATE: the stream is being captured: a graph would run the function any number
 *   of times. NOT_SUPPORTED: the driver has no `cuStreamAddCallback`. If the call fails, neither
 *   function is called.
 * - Ownership: `user` must live until one of the two has run.
 * - Safety: `function` or `otherwise` may be called with `user` on another thread, and does not
 *   unwind.
 * - torch: `cudaStreamAddCallback`, whose function receives the status.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_launch_host_function_or(struct sconce_stream stream,
                                                    sconce_host_function function,
                                                    sconce_host_function otherwise,
                                                    void *user);

/**
 * Makes a stream and its device current on the calling thread, calls a function, and restores the
 * previous stream and device.
 *
 * Calls without a `stream` parameter that `function` makes on this thread use the stream. Use it for
 * tensors, for sequences of calls, and for work on several devices: `function`
 * may call `sconce_stream_run` again, with a stream of another device. A task that moves between
 * threads, such as a goroutine or a task of an async runtime, does not do so during the call.
 *
 * - `function`: called once, on the calling thread, before this call returns. It may call this
 *   library.
 * - `user`: passed to `function`.
 * - Errors: as `sconce_stream_exchange`, in which case `function` is not called; as
 *   `sconce_stream_restore`.
 * - Ordering: the calls of `function` block as they do elsewhere; this call does not wait for the
 *   work that they queue.
 * - Safety: `function` may be called with `user`, and does not unwind.
 * - torch: a block of `with torch.cuda.stream(s)`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_run(struct sconce_stream stream,
                                sconce_scoped_function function,
                                void *user);

/**
 * Queues a kernel that keeps a stream busy for a given time, for tests and examples of overlap.
 *
 * - `duration_ns`: nanoseconds.
 * - torch: `torch.cuda._sleep`, which counts cycles instead.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_sleep(struct sconce_stream stream,
                                  uint64_t duration_ns);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_STREAM_H_ */
