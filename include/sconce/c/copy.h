/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Copies and fills of bytes and of strided elements.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_COPY_H_
#define SCONCE_C_COPY_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>

/**
 * The largest number of axes of a strided copy.
 */
#define SCONCE_COPY_MOST_AXES 8

/**
 * The shape of a strided copy: axes from the outermost to the innermost, strides in elements.
 * Begin with `SCONCE_STRIDED_COPY_INIT`.
 */
typedef struct sconce_strided_copy {
  /**
   * `sizeof(sconce_strided_copy)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Number of axes; 0 copies one element.
   */
  int32_t rank;
  /**
   * Bytes of an element, at least 1.
   */
  size_t element_bytes;
  /**
   * Elements along each axis; entries past `rank` are not read.
   */
  int64_t sizes[SCONCE_COPY_MOST_AXES];
  /**
   * Distances of elements in the destination; negative ones lead backwards from `dst`. Elements
   * must not overlap.
   */
  int64_t dst_strides[SCONCE_COPY_MOST_AXES];
  /**
   * Distances of elements in the source; 0 repeats an element.
   */
  int64_t src_strides[SCONCE_COPY_MOST_AXES];
} sconce_strided_copy;

/** A `sconce_strided_copy`: set all of its fields. */
#ifdef __cplusplus
#define SCONCE_STRIDED_COPY_INIT \
  {sizeof(sconce_strided_copy), 0, 0, {}, {}, {}}
#else
#define SCONCE_STRIDED_COPY_INIT \
  {.struct_size = sizeof(sconce_strided_copy)}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Copies bytes between any two places: ordinary, pinned or managed host memory, and the memory of
 * any two devices, peers or not. The addresses determine the kinds of memory.
 *
 * - `dst`, `src`: addresses, also inside allocations; they may be NULL for 0 bytes.
 * - `bytes`: how many.
 * - `non_blocking`: whether the call may return before the copy is done, where that is safe.
 * - Errors: INVALID_ARGUMENT: pinned memory was freed, or a range leaves its allocation: the block
 *   of this library that contains its first byte, or the driver allocation if the memory is of
 *   other code. INVALID_STATE: a stream involved is being captured, and the copy uses ordinary
 *   memory or has to wait; use pinned memory and `non_blocking`. INVALID_STATE: a copy between
 *   devices involves one stream that is being captured and one that is not.
 * - Ordering: *Host to host*: done when the call returns. *Between host and device*: on the
 *   device's current stream. The call returns when the copy is done. With `non_blocking` it
 *   returns once the copy is queued if the host memory is pinned, once the source may be changed
 *   if the source is ordinary memory, and when the copy is done if the destination is ordinary
 *   memory. *Within a device*: queued on its current stream. *Between devices*: queued on the
 *   source device's current stream, after the work queued on the destination device's current
 *   stream; later work of the latter waits for the copy. If the hardware supports it, the call
 *   enables peer access from the source device to the destination's memory. Pinned memory of this
 *   library may be freed while copies use it. `CUDA_LAUNCH_BLOCKING=1` makes every call wait.
 * - Safety: host ranges are valid for the access, do not overlap, and stay as they are until the
 *   copy is done. Device ranges are checked.
 * - torch: `torch.Tensor.copy_(src, non_blocking)`.
 */
SCONCE_NODISCARD
sconce_status sconce_copy(void *dst,
                          const void *src,
                          size_t bytes,
                          bool non_blocking);

/**
 * Sets bytes of device or host memory.
 *
 * - `ptr`: an address, also inside an allocation; it may be NULL for 0 bytes.
 * - `value`: the new value of each byte.
 * - `bytes`: how many.
 * - Errors: INVALID_ARGUMENT: the range leaves its allocation. CROSS_DEVICE: the memory is of a
 *   device to which the current device has no peer access; the message names both. A copy from the
 *   current device to the other one, or `sconce_device_enable_peer_access`, enables it.
 * - Ordering: *device memory*: queued on the current device's current stream. *Host memory*: done
 *   when the call returns.
 * - Safety: a host range is valid for writing. Device ranges are checked.
 * - torch: `torch.Tensor.fill_` of bytes, `cudaMemsetAsync`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_set(void *ptr, uint8_t value, size_t bytes);

/**
 * Copies bytes between any two places on a stream, which is used instead of the current stream of
 * its device. Otherwise as `sconce_copy`.
 *
 * - `stream`: the stream on which the copy is queued. It is of the device whose memory is
 *   involved; between two devices, of the source's device. A copy from host to host does not use
 *   it.
 * - Errors: CROSS_DEVICE: the stream is of another device. Otherwise as `sconce_copy`.
 * - Ordering: as `sconce_copy`. Between two devices the destination's side is ordered with the
 *   calling thread's current stream there, which is the default stream unless the thread set it.
 * - Threads: any; the calling thread's device and streams do not change.
 * - Safety: as `sconce_copy`.
 * - torch: `torch.Tensor.copy_(src, non_blocking)` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_copy_on(void *dst,
                             const void *src,
                             size_t bytes,
                             bool non_blocking,
                             struct sconce_stream stream);

/**
 * Sets bytes of device or host memory on a stream. The stream and its device are used instead of
 * the current ones. Otherwise as `sconce_memory_set`.
 *
 * - `stream`: the stream on which the fill is queued. For host memory it is not used.
 * - Threads: any; the calling thread's device and streams have no effect and do not change.
 * - Safety: as `sconce_memory_set`.
 * - torch: `cudaMemsetAsync` with a stream.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_set_on(void *ptr,
                                   uint8_t value,
                                   size_t bytes,
                                   struct sconce_stream stream);

/**
 * Copies rows of bytes between any two places. Otherwise as `sconce_copy`.
 *
 * - `dst`, `src`: addresses of the first rows; they may be NULL if there is nothing to copy.
 * - `dst_pitch_bytes`, `src_pitch_bytes`: bytes from the beginning of a row to that of the next,
 *   at least `width_bytes`.
 * - `width_bytes`: bytes of a row.
 * - `height`: number of rows.
 * - `non_blocking`: as in `sconce_copy`.
 * - Errors: INVALID_ARGUMENT: a pitch is less than a row. OUT_OF_MEMORY: for temporaries, between
 *   devices without peer access. Otherwise as `sconce_copy`.
 * - Safety: as `sconce_copy`.
 * - torch: `torch.Tensor.copy_` of a slice of columns, `cudaMemcpy2DAsync`.
 */
SCONCE_NODISCARD
sconce_status sconce_copy_2d(void *dst,
                             size_t dst_pitch_bytes,
                             const void *src,
                             size_t src_pitch_bytes,
                             size_t width_bytes,
                             size_t height,
                             bool non_blocking);

/**
 * Copies elements with strides between any two places. Otherwise as `sconce_copy`.
 *
 * - `shape`: sizes and strides; begin with `SCONCE_STRIDED_COPY_INIT`.
 * - `dst`, `src`: addresses of the elements whose indices are all 0.
 * - `non_blocking`: as in `sconce_copy`.
 * - Errors: INVALID_ARGUMENT: a field of `shape` is out of its bounds, or axes of the destination
 *   overlap or interleave (sorted by stride, each stride must be at least what the axes before it
 *   span). OUT_OF_MEMORY: for a temporary. INVALID_STATE: as `sconce_copy`; during a capture copy
 *   packed pinned memory. Otherwise as `sconce_copy`.
 * - Ordering: as `sconce_copy`, except that the call returns when the copy is done if the host's
 *   side is not packed. Page-locked memory that is not packed is read after the earlier work of the stream.
 * - Safety: as `sconce_copy`.
 * - torch: `torch.Tensor.copy_` of strided tensors; strides in elements.
 */
SCONCE_NODISCARD
sconce_status sconce_copy_strided(const struct sconce_strided_copy *shape,
                                  void *dst,
                                  const void *src,
                                  bool non_blocking);

/**
 * Sets rows of bytes of device or host memory. Otherwise as `sconce_memory_set`.
 *
 * - `ptr`: address of the first row; it may be NULL if there is nothing to set.
 * - `pitch_bytes`: bytes from the beginning of a row to that of the next, at least `width_bytes`.
 * - `value`: the new value of each byte.
 * - `width_bytes`: bytes of a row.
 * - `height`: number of rows.
 * - Errors: INVALID_ARGUMENT: the pitch is less than a row. Otherwise as `sconce_memory_set`.
 * - Safety: as `sconce_memory_set`.
 * - torch: `torch.Tensor.fill_` of a slice of columns, `cudaMemset2DAsync`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_set_2d(void *ptr,
                                   size_t pitch_bytes,
                                   uint8_t value,
                                   size_t width_bytes,
                                   size_t height);

/**
 * Copies rows of bytes on a stream, as `sconce_copy_on` does. Otherwise as `sconce_copy_2d`.
 *
 * - `stream`: the stream on which the copy is queued.
 * - Safety: as `sconce_copy`.
 * - torch: `cudaMemcpy2DAsync` with a stream.
 */
SCONCE_NODISCARD
sconce_status sconce_copy_2d_on(void *dst,
                                size_t dst_pitch_bytes,
                                const void *src,
                                size_t src_pitch_bytes,
                                size_t width_bytes,
                                size_t height,
                                bool non_blocking,
                                struct sconce_stream stream);

/**
 * Copies elements with strides on a stream, as `sconce_copy_on` does. Otherwise as
 * `sconce_copy_strided`.
 *
 * - `stream`: the stream on which the copy is queued.
 * - Safety: as `sconce_copy`.
 * - torch: `torch.Tensor.copy_` of strided tensors inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_copy_strided_on(const struct sconce_strided_copy *shape,
                                     void *dst,
                                     const void *src,
                                     bool non_blocking,
                                     struct sconce_stream stream);

/**
 * Sets rows of bytes on a stream, as `sconce_memory_set_on` does. Otherwise as
 * `sconce_memory_set_2d`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - Safety: as `sconce_memory_set`.
 * - torch: `cudaMemset2DAsync` with a stream.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_set_2d_on(void *ptr,
                                      size_t pitch_bytes,
                                      uint8_t value,
                                      size_t width_bytes,
                                      size_t height,
                                      struct sconce_stream stream);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_COPY_H_ */
