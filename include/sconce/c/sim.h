/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The simulated device: its settings, and what a test asks of it.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_SIM_H_
#define SCONCE_C_SIM_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/tensor.h>
#include <sconce/c/comm.h>

/**
 * Flag of a stream of a simulated device: the default stream does not order its work implicitly.
 * The value is CUDA's (`CU_STREAM_NON_BLOCKING`).
 */
#define SCONCE_SIM_STREAM_NON_BLOCKING 1

/**
 * A launch, passed to the function that runs in place of its kernel.
 */
typedef struct sconce_sim_launch {
  /**
   * Blocks of the grid along x, y and z.
   */
  uint32_t grid[3];
  /**
   * Threads of a block along x, y and z.
   */
  uint32_t block[3];
  /**
   * Blocks of a cluster along x, y and z; 1 without clusters.
   */
  uint32_t cluster[3];
  /**
   * Dynamic shared memory of a block, in bytes. The function provides that memory itself.
   */
  uint32_t shared_bytes;
  /**
   * The device.
   */
  int32_t device;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * Addresses of the arguments, in host memory.
   */
  const void *const *arguments;
  /**
   * Their sizes in bytes.
   */
  const size_t *argument_bytes;
  /**
   * Their number.
   */
  size_t argument_count;
  /**
   * The block that the function computes. The function sets it, for messages.
   */
  uint32_t block_index[3];
  /**
   * The thread that the function computes. The function sets it, for messages.
   */
  uint32_t thread_index[3];
} sconce_sim_launch;

/**
 * A function that runs in place of a kernel: it does the work of all blocks of a launch.
 */
typedef void (*sconce_sim_kernel_function)(struct sconce_sim_launch *launch, void *user);

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Turns manual mode on or off. In manual mode, queued work completes only in `sconce_sim_step` and
 * `sconce_sim_run_until_idle`, and time advances only with what completes.
 *
 * - `manual`: false lets all work proceed by itself.
 */
SCONCE_NODISCARD sconce_status sconce_sim_set_manual(bool manual);

/**
 * Completes the first pending operation of a stream, if everything for which it waits has
 * happened. The operation, even a host function, runs on the calling thread.
 *
 * - `out_stepped`: receives whether an operation was completed.
 */
SCONCE_NODISCARD sconce_status sconce_sim_step(struct sconce_stream stream, bool *out_stepped);

/**
 * Completes all operations that can complete: in manual mode on the calling thread, otherwise by
 * waiting. The remaining ones wait for a stuck event or for another process.
 *
 * - `out_steps`: receives the number of operations completed on the calling thread.
 * - Ordering: blocks until it is done.
 */
SCONCE_NODISCARD sconce_status sconce_sim_run_until_idle(size_t *out_steps);

/**
 * Reports how many operations of a stream have not completed.
 *
 * - `out_count`: receives the number.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_get_pending(struct sconce_stream stream,
                                     size_t *out_count);

/**
 * Sets the duration of kernels, copies, fills and host functions that are queued from now on. The
 * default is `SCONCE_SIM_LATENCY_NS`, which is 5000 by default.
 *
 * - `latency_ns`: nanoseconds.
 */
SCONCE_NODISCARD sconce_status sconce_sim_set_latency_ns(uint64_t latency_ns);

/**
 * Reports how many times a driver call has been made since the last reset.
 *
 * - `call`: name of a driver call, such as `stream_create`, `copy_async`, `fill_async` or
 *   `kernel_launch`. Another name is INVALID_ARGUMENT, and the message lists all names.
 * - `out_count`: receives the number.
 */
SCONCE_NODISCARD sconce_status sconce_sim_get_call_count(const char *call, uint64_t *out_count);

/**
 * Sets the count of every driver call to 0.
 */
SCONCE_NODISCARD sconce_status sconce_sim_reset_call_counts(void);

/**
 * Makes the `nth` driver call of a kind, counted from now on, fail at once.
 *
 * - `call`: name of a driver call, as in `sconce_sim_get_call_count`.
 * - `nth`: 1 is the next call; 0 is INVALID_ARGUMENT.
 * - `code`: a CUDA error number, e.g. 2 for out of memory; 0 is INVALID_ARGUMENT.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_inject_fault(const char *call,
                                      uint64_t nth,
                                      int32_t code);

/**
 * Makes the `nth` operation queued by driver calls of a kind fail when it runs. Its device then
 * fails as well: every later call that queues work there or waits for work fails with the same
 * code.
 *
 * - `call`: name of a driver call, as in `sconce_sim_get_call_count`.
 * - `nth`: 1 is the next operation; 0 is INVALID_ARGUMENT.
 * - `code`: a CUDA error number, e.g. 700 for an illegal address; 0 is INVALID_ARGUMENT.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_inject_async_fault(const char *call,
                                            uint64_t nth,
                                            int32_t code);

/**
 * Makes the `nth` event record, counted from now on, never complete. Later work of its stream does
 * not complete either.
 *
 * - `nth`: 1 is the next record; 0 is INVALID_ARGUMENT.
 */
SCONCE_NODISCARD sconce_status sconce_sim_stick_event(uint64_t nth);

/**
 * Removes all injected faults that have not taken effect, and lets stuck records complete.
 */
SCONCE_NODISCARD sconce_status sconce_sim_clear_faults(void);

/**
 * Clears the asynchronous error of a device, which no real driver can do. Work that was queued at
 * the time of the error is not executed.
 */
SCONCE_NODISCARD sconce_status sconce_sim_clear_device_error(int32_t device);

/**
 * Sets whether the simulated hardware lets kernels of `device` use the memory of `peer`. True by
 * default.
 *
 * - `device`, `peer`: indices, -1 for the current device.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_set_peer_access(int32_t device,
                                         int32_t peer,
                                         bool allowed);

/**
 * Begins a capture on a simulated stream, as other code does with `cuStreamBeginCapture` on a real
 * one, for tests of calls during a capture. Work queued on the stream until
 * `sconce_sim_end_capture` never runs: the graph is discarded. Work queued earlier still runs. To
 * make a graph that can be launched, use `sconce_graph_capture_begin`.
 *
 * - `stream`: not a default stream.
 * - `mode`: one of `SCONCE_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`; another number is
 *   INVALID_ARGUMENT.
 * - Errors: INVALID_STATE: `stream` is a default stream or is being captured.
 * - Threads: any; unless `mode` is relaxed, the same thread must end the capture.
 */
SCONCE_NODISCARD sconce_status sconce_sim_begin_capture(struct sconce_stream stream, int32_t mode);

/**
 * Ends the capture that began on a simulated stream. A failure that reports an invalid capture or
 * an unjoined stream ends the capture as well.
 *
 * - `stream`: the stream on which the capture began.
 * - Errors: INVALID_STATE: no capture began on `stream`, another thread must end it, or the
 *   capture failed: backend code 901 if a call invalidated it, 904 if a stream that joined the
 *   capture was not waited for.
 * - Threads: the thread that began the capture, unless its mode is relaxed.
 */
SCONCE_NODISCARD sconce_status sconce_sim_end_capture(struct sconce_stream stream);

/**
 * Creates a stream on a simulated device outside the library, as other code of a process does with
 * `cuStreamCreateWithPriority`. `sconce_stream_get_from_external` accepts it. The call is not
 * counted as a driver call of the library.
 *
 * - `flags`: 0 or `SCONCE_SIM_STREAM_NON_BLOCKING`, else INVALID_ARGUMENT.
 * - `priority`: 0 (lowest) to -5, clamped.
 * - `out_native`: receives the handle.
 * - Ownership: the caller destroys the stream with `sconce_sim_stream_destroy`.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_stream_create(int32_t device,
                                       uint32_t flags,
                                       int32_t priority,
                                       void **out_native);

/**
 * Destroys a stream that `sconce_sim_stream_create` created. Work that is queued already still
 * runs.
 *
 * Any later simulated driver call that receives the handle ends the process with a message that
 * names the call and the handle, because CUDA would read freed memory. With address reuse, a new
 * stream or event may have the same handle.
 *
 * - `native`: the handle; INVALID_HANDLE if it was never a handle, or is a default stream.
 */
SCONCE_NODISCARD sconce_status sconce_sim_stream_destroy(void *native);

/**
 * Makes the context of a simulated device current on the calling thread outside the library, as
 * other code of a process does with `cudaSetDevice`. The call is not counted as a driver call of
 * the library. With `SCONCE_CHECK_DEVICE=1` the library's current device follows.
 *
 * - `device`: index; -1 leaves no context current, as `cuCtxSetCurrent(NULL)` does.
 */
SCONCE_NODISCARD sconce_status sconce_sim_set_current_device(int32_t device);

/**
 * Reports the simulated device whose context is current on the calling thread, as other code of
 * the process sees it with `cuCtxGetDevice`.
 *
 * - `out_device`: receives the index; -1 if no context is current.
 */
SCONCE_NODISCARD sconce_status sconce_sim_get_current_device(int32_t *out_device);

/**
 * Creates an event on a simulated device outside the library, as other code of a process does with
 * `cuEventCreate`. The call is not counted as a driver call of the library.
 *
 * - `flags`: `SCONCE_EVENT_…` combined by `|`.
 * - `out_native`: receives the handle.
 * - Errors: INVALID_ARGUMENT: unknown flags, or timing together with interprocess.
 * - Ownership: the caller destroys the event with `sconce_sim_event_destroy`.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_event_create(int32_t device,
                                      uint32_t flags,
                                      void **out_native);

/**
 * Destroys an event that `sconce_sim_event_create` created. Work that waits for it still waits.
 *
 * Any later simulated driver call that receives the handle ends the process with a message that
 * names the call and the handle.
 *
 * - `native`: the handle; INVALID_HANDLE if it was never a handle.
 */
SCONCE_NODISCARD sconce_status sconce_sim_event_destroy(void *native);

/**
 * Records an event that other code made on a stream of its device, as `cuEventRecord` does.
 *
 * - `event`: the event's handle.
 * - `stream`: the stream's handle; NULL is the default stream of the event's device.
 * - Errors: INVALID_HANDLE: an argument is not a handle, or the stream and the event are of
 *   different devices. INVALID_STATE: a capture forbids it.
 */
SCONCE_NODISCARD sconce_status sconce_sim_event_record(void *event, void *stream);

/**
 * Reports whether the most recent record of an event that other code made has completed, as
 * `cuEventQuery` does. True if there is no record.
 *
 * - `event`: the event's handle, else INVALID_HANDLE.
 * - `out_done`: receives the answer.
 * - Errors: INVALID_STATE: a capture forbids it.
 */
SCONCE_NODISCARD sconce_status sconce_sim_event_query(void *event, bool *out_done);

/**
 * Waits for the most recent record of an event that other code made, as `cuEventSynchronize` does.
 *
 * - `event`: the event's handle, else INVALID_HANDLE.
 * - Errors: INVALID_STATE: a capture forbids it.
 * - Ordering: blocks until the record has completed.
 */
SCONCE_NODISCARD sconce_status sconce_sim_event_synchronize(void *event);

/**
 * Turns the reuse of freed addresses and handles on or off. The default is
 * `SCONCE_SIM_REUSE_ADDRESSES` (0 or 1), which is 0 by default.
 *
 * *On*: for device memory, reserved ranges and pinned host memory, the next allocation that fits
 * returns the address that was freed last, and new streams and events have the handles of
 * destroyed ones, as with CUDA drivers. *Off*: freed addresses stay unused as long as possible, so
 * that a use after free is found.
 *
 * - `reuse`: whether addresses and handles that are freed from now on are reused at once.
 */
SCONCE_NODISCARD sconce_status sconce_sim_set_address_reuse(bool reuse);

/**
 * Allocates memory of a simulated device directly from the device, without a cache. The contents
 * are undefined.
 *
 * - `bytes`: more than 0, else INVALID_ARGUMENT.
 * - `out_ptr`: receives a device address that the host cannot access.
 * - Errors: OUT_OF_MEMORY.
 * - Ownership: the caller frees the memory with `sconce_sim_memory_free`.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_memory_alloc(int32_t device,
                                      size_t bytes,
                                      void **out_ptr);

/**
 * Frees memory that `sconce_sim_memory_alloc` returned.
 *
 * - `ptr`: the address; NULL is a no-op.
 * - Errors: INVALID_ARGUMENT or INVALID_HANDLE: `ptr` is not such memory, or was freed before.
 * - Ordering: blocks until the device has finished all work.
 */
SCONCE_NODISCARD sconce_status sconce_sim_memory_free(void *ptr);

/**
 * Copies from simulated device memory to the host.
 *
 * - `ptr`: a device address, also inside an allocation.
 * - `bytes`: how many.
 * - `out_data`: receives the bytes.
 * - Errors: INVALID_ARGUMENT: `ptr` is not simulated memory, or holds fewer bytes.
 * - Ordering: on the device's default stream; blocks until it is done.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_memory_read(const void *ptr,
                                     size_t bytes,
                                     void *out_data);

/**
 * Copies from the host to simulated device memory.
 *
 * - `ptr`: a device address, also inside an allocation.
 * - `bytes`: how many.
 * - `data`: the bytes, in host memory.
 * - Errors: INVALID_ARGUMENT: `ptr` is not simulated memory, or holds fewer bytes.
 * - Ordering: on the device's default stream; blocks until it is done.
 */
SCONCE_NODISCARD sconce_status sconce_sim_memory_write(void *ptr, size_t bytes, const void *data);

/**
 * Ends a communicator's rank as if its process had died: the calls that it has queued end without
 * a result, its later calls fail with ABORTED, and calls of other ranks that wait for it fail with
 * REMOTE.
 */
SCONCE_NODISCARD sconce_status sconce_sim_comm_kill(struct sconce_comm *comm);

/**
 * Delays the beginning of each call of a communicator's rank, as on a slow machine. The delay is
 * in real time, not in simulated time.
 *
 * - `nanoseconds`: the delay of each call from now on; 0 means none.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_comm_delay(struct sconce_comm *comm,
                                    uint64_t nanoseconds);

/**
 * Makes a communicator's rank fail asynchronously, as NCCL may report with
 * `ncclCommGetAsyncError`.
 *
 * - `code`: an `ncclResult_t`, such as 6 for `ncclRemoteError`.
 */
SCONCE_NODISCARD sconce_status sconce_sim_comm_fail(struct sconce_comm *comm, int32_t code);

/**
 * Sets how long calls of communicators wait for other ranks; NCCL would wait forever. A call that
 * has waited that long ends, and breaks its communicator with a message that states what it waited
 * for.
 *
 * - `milliseconds`: 60,000 by default.
 */
SCONCE_NODISCARD sconce_status sconce_sim_set_comm_patience_ms(uint64_t milliseconds);

/**
 * Registers a function that runs in place of a kernel of the program on simulated devices, in all
 * modules that have a kernel of that name. It replaces a function that is registered under the
 * same name; launches and kernels that were found before keep the old function.
 *
 * The function is called for each launch, in stream order, on a thread of the simulator. It does
 * the work of all blocks, and accesses device memory only with `sconce_sim_kernel_read` and
 * `sconce_sim_kernel_write`. An address that the device may not use fails the launch and its
 * device, as an illegal address does on CUDA (700); the message names the kernel, the block and
 * the thread.
 *
 * Needs no backend, and has no effect on CUDA.
 *
 * - `name`: the name of the kernel's entry point.
 * - `parameter_bytes`: the size of each parameter of the kernel. May be NULL if there are none.
 * - `parameter_count`: the number of parameters.
 * - `registers`: registers of a thread, reported in the kernel's attributes and used for
 *   occupancy.
 * - `static_shared_bytes`: shared memory of a block that the kernel declares, for the same
 *   purposes.
 * - `function`: the function to run.
 * - `user`: passed to `function`.
 * - `deleter`: called with `user` when nothing uses the function any more; may be NULL. Not called
 *   if the registration fails.
 * - Errors: INVALID_ARGUMENT: the name is empty, a parameter has no bytes, or there are more
 *   parameters than a kernel can have.
 * - Ownership: `user` must live until `deleter` is called, or until the process ends.
 * - Safety: `function` may be called with `user` on any thread, on several threads at the same
 *   time, and does not unwind; `deleter` may be called once, on any thread.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_register_kernel(const char *name,
                                         const size_t *parameter_bytes,
                                         size_t parameter_count,
                                         uint32_t registers,
                                         uint32_t static_shared_bytes,
                                         sconce_sim_kernel_function function,
                                         void *user,
                                         sconce_deleter deleter);

/**
 * Removes a function that was registered for a kernel. Kernels that were found before keep it. A
 * name that is not registered is a no-op.
 *
 * - `name`: the name of the kernel's entry point.
 */
SCONCE_NODISCARD sconce_status sconce_sim_unregister_kernel(const char *name);

/**
 * Reads device memory, from a function that runs in place of a kernel.
 *
 * - `address`: a device address, such as an argument of the launch.
 * - `bytes`: how many.
 * - `out_data`: receives the bytes.
 * - Errors: INVALID_STATE: the device may not read there, which fails the launch; the launch has
 *   failed before; or no such function runs on the calling thread. Then nothing is read; the
 *   function should return.
 * - Threads: the thread that called the function.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_kernel_read(uint64_t address,
                                     size_t bytes,
                                     void *out_data);

/**
 * Writes device memory, from a function that runs in place of a kernel.
 *
 * - `address`: a device address, such as an argument of the launch.
 * - `bytes`: how many.
 * - `data`: the bytes.
 * - Errors: INVALID_STATE: the device may not write there, which fails the launch; the launch has
 *   failed before; or no such function runs on the calling thread. Then nothing is written; the
 *   function should return.
 * - Threads: the thread that called the function.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_kernel_write(uint64_t address,
                                      size_t bytes,
                                      const void *data);

/**
 * Fails a launch and its device, from the function that runs in place of its kernel, as an
 * assertion in a kernel does.
 *
 * - `code`: CUDA's number, not 0, e.g. 710 (`CUDA_ERROR_ASSERT`) or 716
 *   (`CUDA_ERROR_MISALIGNED_ADDRESS`).
 * - `message`: the text for the log and for later failures of the device.
 * - Errors: INVALID_ARGUMENT: `code` is 0. INVALID_STATE: no such function runs on the calling
 *   thread.
 * - Threads: the thread that called the function.
 */
SCONCE_NODISCARD sconce_status sconce_sim_kernel_fail(int32_t code, const char *message);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_SIM_H_ */
