/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Events: marks in streams, waits and times.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_EVENT_H_
#define SCONCE_C_EVENT_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>

/**
 * Bytes of an interprocess handle.
 */
#define SCONCE_IPC_HANDLE_BYTES 64

/**
 * Flags of an event; any number of them may be combined by `|`.
 */
#ifdef __cplusplus
enum sconce_event_flags : uint32_t {
#else
typedef uint32_t sconce_event_flags;
enum {
#endif
  /**
   * Records take a time stamp.
   */
  SCONCE_EVENT_TIMING = 1,
  /**
   * A thread that waits for the event sleeps instead of spinning.
   */
  SCONCE_EVENT_BLOCKING_SYNC = 2,
  /**
   * Other processes can open the event; not together with timing.
   */
  SCONCE_EVENT_INTERPROCESS = 4,
};

/**
 * A point in a stream's work. Opaque; created by `sconce_event_create`.
 */
typedef struct sconce_event sconce_event;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates an event. The first record makes the driver's own event, on the device of the recording
 * stream.
 *
 * Needs no device and makes no driver call.
 *
 * - `flags`: `SCONCE_EVENT_…` combined by `|`; 0 for an event that only orders work.
 * - `out_event`: receives the event.
 * - Errors: INVALID_ARGUMENT: unknown flags, or timing together with interprocess. OUT_OF_MEMORY:
 *   too many events.
 * - Ownership: the caller destroys the event with `sconce_event_destroy`.
 * - torch: `torch.cuda.Event(enable_timing, blocking, interprocess)`, `at::cuda::CUDAEvent`.
 */
SCONCE_NODISCARD sconce_status sconce_event_create(uint32_t flags, struct sconce_event **out_event);

/**
 * Destroys an event, which may be pending. Work that waits for it still waits.
 *
 * - `event`: NULL is a no-op.
 * - torch: the destructor of `at::cuda::CUDAEvent`.
 */
SCONCE_NODISCARD sconce_status sconce_event_destroy(struct sconce_event *event);

/**
 * Records an event on a stream: the event is complete when the work queued on the stream so far
 * has finished. The record replaces an earlier one, but does not affect waits for the earlier one.
 *
 * - `stream`: a stream of the event's device, which the first record determines.
 * - Errors: CROSS_DEVICE: the event was first recorded on another device.
 * - torch: `torch.cuda.Event.record()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_record(struct sconce_event *event,
                                  struct sconce_stream stream);

/**
 * Makes work that is queued on a stream from now on wait for an event's most recent record. Later
 * records do not change the wait. An event that was never recorded causes no wait.
 *
 * - `event`: of any device.
 * - torch: `torch.cuda.Stream.wait_event()`, `CUDAEvent::block`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_wait_event(struct sconce_stream stream,
                                       struct sconce_event *event);

/**
 * Reports whether an event's most recent record is complete. True if the event was never recorded.
 *
 * - `out_complete`: receives the answer.
 * - torch: `torch.cuda.Event.query()`.
 */
SCONCE_NODISCARD sconce_status sconce_event_query(struct sconce_event *event, bool *out_complete);

/**
 * Waits until an event's most recent record is complete. Returns at once if the event was never
 * recorded.
 *
 * - Ordering: blocks the calling thread, which spins, or sleeps if the event has
 *   `SCONCE_EVENT_BLOCKING_SYNC`.
 * - torch: `torch.cuda.Event.synchronize()`.
 */
SCONCE_NODISCARD sconce_status sconce_event_synchronize(struct sconce_event *event);

/**
 * Reports the time between the records of two events of one device, both made with
 * `SCONCE_EVENT_TIMING`.
 *
 * - `out_elapsed_ms`: receives milliseconds; negative if `end` was recorded first.
 * - Errors: INVALID_ARGUMENT: an event has no timing. INVALID_STATE: an event was never recorded.
 *   NOT_READY: a record is pending. CROSS_DEVICE: the events are of two devices.
 * - torch: `torch.cuda.Event.elapsed_time()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_elapsed_ms(struct sconce_event *start,
                                      struct sconce_event *end,
                                      float *out_elapsed_ms);

/**
 * Reports the device on which an event was first recorded. Makes no driver call.
 *
 * - `out_device`: receives the index; -1 while the event has not been recorded.
 * - torch: `at::cuda::CUDAEvent::device_index()`, `isCreated()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_get_device(struct sconce_event *event,
                                      int32_t *out_device);

/**
 * Returns the `cudaEvent_t` (`CUevent`) of an event, for other libraries. Makes no driver call.
 *
 * - `out_native`: receives the handle; NULL while the event has not been recorded, exported or
 *   opened.
 * - Ownership: borrowed; valid until the event is destroyed. Never destroy it.
 * - torch: `at::cuda::CUDAEvent::event()`, `torch.cuda.Event.cuda_event`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_get_native(struct sconce_event *event,
                                      void **out_native);

/**
 * Returns the bytes with which another process can open an event.
 *
 * - `event`: made with `SCONCE_EVENT_INTERPROCESS`, else INVALID_ARGUMENT. If it was never
 *   recorded, the current device becomes its device.
 * - `out_handle`: receives `SCONCE_IPC_HANDLE_BYTES` (64) bytes.
 * - Ownership: the event must outlive its use by other processes.
 * - torch: `torch.cuda.Event.ipc_handle()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_get_ipc_handle(struct sconce_event *event,
                                          uint8_t *out_handle);

/**
 * Opens an event of another process.
 *
 * - `handle`: the 64 bytes that `sconce_event_get_ipc_handle` returned in the other process.
 * - `out_event`: receives the event.
 * - Errors: INVALID_ARGUMENT: the event is of this process. INVALID_HANDLE or DRIVER: the bytes
 *   are no handle, or the event no longer exists.
 * - Ownership: the caller destroys the event with `sconce_event_destroy`.
 * - torch: `torch.cuda.Event.from_ipc_handle()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_from_ipc_handle(int32_t device,
                                           const uint8_t *handle,
                                           struct sconce_event **out_event);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_EVENT_H_ */
