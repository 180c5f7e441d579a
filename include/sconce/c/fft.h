/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Fourier transforms, with cuFFT and its cache of plans.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_FFT_H_
#define SCONCE_C_FFT_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/dtype.h>

/**
 * The largest number of dimensions of a transform.
 */
#define SCONCE_FFT_MOST_RANK 3

/**
 * The kinds of numbers that a transform reads and writes.
 */
#ifdef __cplusplus
enum sconce_fft_kind : int32_t {
#else
typedef int32_t sconce_fft_kind;
enum {
#endif
  /**
   * Complex to complex.
   */
  SCONCE_FFT_C2C = 0,
  /**
   * Real to complex: the first n / 2 + 1 of the last dimension's n results. Forward only.
   */
  SCONCE_FFT_R2C = 1,
  /**
   * Complex to real: from the first n / 2 + 1 of the last dimension's n complex numbers. Inverse
   * only.
   */
  SCONCE_FFT_C2R = 2,
};

/**
 * Direction of a transform.
 */
#ifdef __cplusplus
enum sconce_fft_direction : int32_t {
#else
typedef int32_t sconce_fft_direction;
enum {
#endif
  /**
   * The sign of the exponent is minus.
   */
  SCONCE_FFT_FORWARD = 0,
  /**
   * The sign of the exponent is plus.
   */
  SCONCE_FFT_INVERSE = 1,
};

/**
 * The number by which the results of a transform are divided.
 */
#ifdef __cplusplus
enum sconce_fft_normalization : int32_t {
#else
typedef int32_t sconce_fft_normalization;
enum {
#endif
  /**
   * Not divided, as by cuFFT: a forward and an inverse transform together multiply by n.
   */
  SCONCE_FFT_NORM_NONE = 0,
  /**
   * Divided by the square root of the number of elements (torch's "ortho").
   */
  SCONCE_FFT_NORM_BY_ROOT_N = 1,
  /**
   * Divided by the number of elements (torch's "backward" of an inverse transform).
   */
  SCONCE_FFT_NORM_BY_N = 2,
};

/**
 * Describes a batch of transforms of 1 to 3 dimensions. Begin with `SCONCE_FFT_DESC_INIT`, which
 * sets `batch` and `rank` to 1.
 *
 * Strides count elements of their side, real or complex. If all strides of a side are 0, that of
 * the batch included, the side is packed. If one of them is not 0, all count, and a stride of 0
 * repeats elements of the input, or its transforms. Entries past `rank` are not read.
 */
typedef struct sconce_fft_desc {
  /**
   * `sizeof(sconce_fft_desc)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_FFT_C2C`, `_R2C` or `_C2R`.
   */
  int32_t kind;
  /**
   * Type of a real number, `SCONCE_DTYPE_` F16, F32 or F64; C64 and C128 mean the same as F32
   * and F64.
   */
  int32_t dtype;
  /**
   * `SCONCE_FFT_FORWARD` or `_INVERSE`.
   */
  int32_t direction;
  /**
   * One of `SCONCE_FFT_NORM_…`.
   */
  int32_t normalization;
  /**
   * Number of dimensions, 1 to 3.
   */
  int32_t rank;
  /**
   * Sizes of the real side (for C2C: of both), outermost first, at least 1.
   */
  int64_t sizes[SCONCE_FFT_MOST_RANK];
  /**
   * Number of transforms; 0 does nothing.
   */
  int64_t batch;
  /**
   * Distance of transforms in the input; 0 repeats one transform if another stride is set.
   */
  int64_t in_batch_stride;
  /**
   * Distance of elements along each dimension of the input.
   */
  int64_t in_strides[SCONCE_FFT_MOST_RANK];
  /**
   * Distance of transforms in the output.
   */
  int64_t out_batch_stride;
  /**
   * Distance of elements along each dimension of the output. Elements must not overlap.
   */
  int64_t out_strides[SCONCE_FFT_MOST_RANK];
  /**
   * Whether a C2R transform may overwrite its input, which saves a copy of it.
   */
  bool may_overwrite_input;
} sconce_fft_desc;

/** A `sconce_fft_desc`: one forward C2C transform of packed F32 in 1 dimension, not scaled; set the size. */
#ifdef __cplusplus
#define SCONCE_FFT_DESC_INIT \
  {sizeof(sconce_fft_desc), 0, 0, 0, 0, 1, {}, 1, 0, {}, 0, {}, false}
#else
#define SCONCE_FFT_DESC_INIT \
  {.struct_size = sizeof(sconce_fft_desc), .rank = 1, .batch = 1}
#endif

/**
 * Statistics of one device's plan cache.
 */
typedef struct sconce_fft_cache_stats {
  /**
   * `sizeof(sconce_fft_cache_stats)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Plans in the cache.
   */
  uint64_t size;
  /**
   * The limit of `size`.
   */
  uint64_t max_size;
  /**
   * Device memory of the cache's plans, and of plans that have left the cache but that graphs
   * use: the sum of the next two.
   */
  uint64_t bytes;
  /**
   * Memory that cuFFT itself took while the plans were made, and that the allocator does not
   * know. The driver allocates it in large pieces, so the figure of one plan may include memory
   * that several plans will use. It is measured as the change in free device memory, and
   * therefore includes allocations that other libraries made at the same time.
   */
  uint64_t plan_bytes;
  /**
   * Workspaces of all plans, which calls take from the allocator.
   */
  uint64_t workspace_bytes;
  /**
   * The limit of `bytes`.
   */
  uint64_t max_bytes;
  /**
   * Transforms whose plan was in the cache.
   */
  uint64_t hits;
  /**
   * Transforms that made their plan.
   */
  uint64_t misses;
  /**
   * Plans evicted to keep a limit, or because memory was short. Clearing the cache does not
   * count.
   */
  uint64_t evictions;
} sconce_fft_cache_stats;

/** A `sconce_fft_cache_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_FFT_CACHE_STATS_INIT \
  {sizeof(sconce_fft_cache_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_FFT_CACHE_STATS_INIT \
  {.struct_size = sizeof(sconce_fft_cache_stats)}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Computes Fourier transforms as `desc` describes, with a plan of the device's cache.
 *
 * The input does not change, except in place and for C2R with `may_overwrite_input`. If cuFFT does
 * not support the strides, elements are copied through packed temporaries.
 *
 * - `desc`: kind, sizes, strides; begin with `SCONCE_FFT_DESC_INIT`.
 * - `input`: address of the input's first element.
 * - `output`: address of the output's first element. Equal to `input` for a transform in place:
 *   every element of the output must then lie where an element of the input of the same transform
 *   lies, as in cuFFT (R2C: rows of 2 * (n / 2 + 1) reals). Both are in memory of one device,
 *   aligned to their elements.
 * - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, R2C is not forward or C2R
 *   not inverse, elements of the output overlap each other, the output overlaps the input other
 *   than in place, or one of them is not in device memory or reaches beyond its allocation.
 *   CROSS_DEVICE: they are on different devices. NOT_SUPPORTED: cuFFT refuses the sizes; F16
 *   supports powers of two only. LIBRARY_NOT_FOUND: cuFFT cannot be opened; the message lists what
 *   was searched, and `SCONCE_LIBCUFFT` names another place. OUT_OF_MEMORY: for the plan, its
 *   workspace or a temporary.
 * - Ownership: the memory must stay allocated until the transform is done. A graph of `sconce_graph`
 *   keeps the plans of captured transforms until it is destroyed and its launches are done. Plans
 *   of captures that other code began are never destroyed.
 * - Ordering: queued on the current stream of the device that holds the memory. The first
 *   transform of a shape makes its plan, which takes milliseconds.
 * - Threads: any. Threads that queue transforms of the same shape on one device take turns.
 * - Safety: `desc` does not change during the call.
 * - torch: `torch.fft.fft`, `ifft`, `rfft`, `irfft` and their n-dimensional forms; `at::_fft_c2c`,
 *   `_fft_r2c`, `_fft_c2r`.
 */
SCONCE_NODISCARD
sconce_status sconce_fft(const struct sconce_fft_desc *desc,
                         const void *input,
                         void *output);

/**
 * Computes Fourier transforms on a stream, which is used instead of the current one. Otherwise as
 * `sconce_fft`.
 *
 * - `stream`: the stream on which the transform is queued.
 * - Errors: CROSS_DEVICE: the memory and the stream are of different devices. Otherwise as
 *   `sconce_fft`.
 * - Threads: any; the calling thread's device and streams have no effect and do not change.
 * - Safety: as `sconce_fft`.
 * - torch: `torch.fft.fftn` and the like inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_on(const struct sconce_fft_desc *desc,
                            const void *input,
                            void *output,
                            struct sconce_stream stream);

/**
 * Reports the number of plans in a device's cache.
 *
 * - `out_size`: receives the number.
 * - torch: `torch.backends.cuda.cufft_plan_cache[device].size`.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_get_size(int32_t device, size_t *out_size);

/**
 * Reports the largest number of plans that a device's cache keeps. 4096 by default, 1023 with a
 * cuFFT before CUDA 10.
 *
 * - `out_max_size`: receives the number.
 * - torch: `torch.backends.cuda.cufft_plan_cache[device].max_size`.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_get_max_size(int32_t device, size_t *out_max_size);

/**
 * Sets the largest number of plans that a device's cache keeps. Plans beyond it are evicted at
 * once, least recently used first.
 *
 * - `max_size`: with 0 no plan is kept, and each transform makes its own.
 * - Errors: INVALID_ARGUMENT: `max_size` is negative, or exceeds 1023 with a cuFFT before CUDA 10.
 * - Ordering: waits for other threads that are queuing a transform with an evicted plan.
 *   Destroying plans may wait for the device.
 * - torch: `torch.backends.cuda.cufft_plan_cache[device].max_size = n`.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_set_max_size(int32_t device, int64_t max_size);

/**
 * Reports the limit of the device memory that the plans of a device's cache may use. No limit by
 * default.
 *
 * - `out_max_bytes`: receives the limit in bytes; INT64_MAX means no limit.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_get_max_bytes(int32_t device,
                                             uint64_t *out_max_bytes);

/**
 * Limits the device memory that the plans of a device's cache may use
 * (`sconce_fft_cache_stats::bytes`). Plans beyond the limit are evicted at once, least recently
 * used first. Plans that graphs use leave the cache, too, but stay, and count for the limit, until
 * the graphs are gone.
 *
 * - `max_bytes`: not negative, else INVALID_ARGUMENT; INT64_MAX means no limit. A single plan that
 *   exceeds the limit is used once and not kept.
 * - Ordering: as `sconce_fft_cache_set_max_size`.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_set_max_bytes(int32_t device, int64_t max_bytes);

/**
 * Evicts all plans of a device's cache. Limits and counts do not change. Plans that graphs use stay
 * until the graphs are gone, and count in `sconce_fft_cache_stats::bytes`.
 *
 * - Ordering: as `sconce_fft_cache_set_max_size`.
 * - torch: `torch.backends.cuda.cufft_plan_cache[device].clear()`.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_clear(int32_t device);

/**
 * Reports the statistics of a device's plan cache, all at one moment except the hits of other
 * threads. Takes a few microseconds if there are thousands of plans.
 *
 * - `out_stats`: receives the statistics; begin with `SCONCE_FFT_CACHE_STATS_INIT`.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_get_stats(int32_t device,
                                         struct sconce_fft_cache_stats *out_stats);

/**
 * Sets the counts of hits, misses and evictions of a device's cache to 0.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_reset_stats(int32_t device);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_FFT_H_ */
