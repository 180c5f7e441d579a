/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Pinned memory of the host.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_HOST_MEMORY_H_
#define SCONCE_C_HOST_MEMORY_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/memory.h>

/**
 * Time spent in a kind of driver call, in microseconds.
 */
typedef struct sconce_duration_stat {
  /**
   * The sum.
   */
  int64_t total;
  /**
   * The longest call since the start or the last reset of peaks; 0 before the first call.
   */
  int64_t max;
  /**
   * The shortest call since then; 0 before the first call.
   */
  int64_t min;
  /**
   * Number of calls.
   */
  int64_t count;
  /**
   * The average; 0 before the first call.
   */
  int64_t avg;
} sconce_duration_stat;

/**
 * Statistics of pinned host memory. Sizes of blocks are requested sizes, rounded up.
 */
typedef struct sconce_host_memory_stats {
  /**
   * `sizeof(sconce_host_memory_stats)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Pieces of memory taken from the driver, from which blocks are cut.
   */
  struct sconce_stat allocations;
  /**
   * Bytes taken from the driver, all of them pinned.
   */
  struct sconce_stat allocated_bytes;
  /**
   * Blocks that callers hold, or that were freed while copies may still use them.
   */
  struct sconce_stat active_requests;
  /**
   * Bytes of active blocks.
   */
  struct sconce_stat active_bytes;
  /**
   * Requested bytes of active blocks. torch has no such statistic.
   */
  struct sconce_stat requested_bytes;
  /**
   * Time spent in pinning memory.
   */
  struct sconce_duration_stat host_alloc_time;
  /**
   * Time spent in unpinning memory.
   */
  struct sconce_duration_stat host_free_time;
  /**
   * Number of times that memory was pinned.
   */
  int64_t num_host_alloc;
  /**
   * Number of times that memory was unpinned.
   */
  int64_t num_host_free;
} sconce_host_memory_stats;

/** A `sconce_host_memory_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_HOST_MEMORY_STATS_INIT \
  {sizeof(sconce_host_memory_stats), 0, {}, {}, {}, {}, {}, {}, {}, 0, 0}
#else
#define SCONCE_HOST_MEMORY_STATS_INIT \
  {.struct_size = sizeof(sconce_host_memory_stats)}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Allocates page-locked host memory, from cached memory or else from the driver. Every device can
 * copy from and to it at full speed and without blocking. The contents are undefined.
 *
 * No copy that was queued earlier still uses the memory.
 *
 * - `bytes`: 0 returns NULL.
 * - `out_ptr`: receives a host address, a multiple of 64.
 * - Errors: OUT_OF_MEMORY: the system can pin no more memory.
 * - Ownership: the caller frees the memory with `sconce_host_memory_free`.
 * - Ordering: blocks only while the driver allocates. Before that, cached memory that is too small
 *   may be returned to the system, which waits for the devices in use.
 * - torch: `torch.empty(n, pin_memory=True)`, `at::cuda::getCachingHostAllocator()->allocate`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_alloc(size_t bytes, void **out_ptr);

/**
 * Frees pinned memory, on any thread. The cache keeps it for later allocations.
 *
 * The caller need not wait: the memory is not allocated again before the copies of this library
 * that use it have finished, and the work of streams noted with
 * `sconce_host_memory_record_stream`.
 *
 * - `ptr`: the address that `sconce_host_memory_alloc` returned; NULL is a no-op.
 * - Errors: INVALID_ARGUMENT: `ptr` is not pinned memory of this library, points into it, or was
 *   freed already; the message states which. INVALID_STATE and DRIVER: only under
 *   `pinned_free_catch_all` for memory of other code, while a stream is being captured or if the
 *   driver refuses.
 * - Ordering: does not block, except where `pinned_max_cached_size_mb` or `pinned_free_catch_all`
 *   returns memory at once: that waits for the devices in use.
 * - torch: the deleter of a pinned tensor's `DataPtr`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_free(void *ptr);

/**
 * Notes that work of a stream uses pinned memory. After the memory is freed, it is not reused
 * before the work that is queued on that stream at the time of the free has finished. Copies of
 * this library are noted automatically.
 *
 * External streams are treated as in `sconce_memory_record_stream`.
 *
 * - `ptr`: any address in an allocation of `sconce_host_memory_alloc`. NULL and memory that is not
 *   of this library are ignored.
 * - Errors: INVALID_ARGUMENT: the memory was freed already.
 * - torch: `at::cuda::CachingHostAllocator_recordEvent`, which for a slice needs the context of
 *   its tensor.
 */
SCONCE_NODISCARD
sconce_status sconce_host_memory_record_stream(void *ptr,
                                               struct sconce_stream stream);

/**
 * Notes that work of a stream uses pinned memory, as `sconce_host_memory_record_stream`, and
 * reports whether the memory is of this library.
 *
 * - `ptr`: any address in an allocation of `sconce_host_memory_alloc`. NULL and memory that is not
 *   of this library are ignored.
 * - `out_known`: receives whether the use was noted.
 * - Errors: INVALID_ARGUMENT: the memory was freed already.
 * - torch: the result of `at::cuda::CachingHostAllocator_recordEvent`.
 */
SCONCE_NODISCARD
sconce_status sconce_host_memory_try_record_stream(void *ptr,
                                                   struct sconce_stream stream,
                                                   bool *out_known);

/**
 * Returns all unused pinned memory to the system.
 *
 * - Errors: INVALID_STATE: a stream is being captured; nothing is returned.
 * - Ordering: does not wait for copies: memory that a copy may still use is kept, unless its
 *   stream no longer exists. Returning memory waits for the devices in use.
 * - torch: `torch._C._host_emptyCache()`, `at::cuda::CachingHostAllocator_emptyCache`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_empty_cache(void);

/**
 * Reports whether an address is page-locked host memory that the driver knows, whichever code
 * locked it.
 *
 * The call does not initialise the library, so that a program may call it and fork later. The
 * answer is false before the library is initialised, without a device, and in a forked child that
 * cannot use devices.
 *
 * - `ptr`: any address; NULL is not pinned.
 * - `out_pinned`: receives the answer.
 * - torch: `torch.Tensor.is_pinned()`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_is_pinned(const void *ptr, bool *out_pinned);

/**
 * Reports all statistics of pinned host memory; zeros if none has been allocated yet.
 *
 * - `out_stats`: receives the statistics; begin with `SCONCE_HOST_MEMORY_STATS_INIT`.
 * - torch: `torch.cuda.host_memory_stats()`.
 */
SCONCE_NODISCARD
sconce_status sconce_host_memory_get_stats(struct sconce_host_memory_stats *out_stats);

/**
 * Reports all statistics of pinned host memory as one flat JSON object with torch's keys, e.g.
 * `"active_bytes.peak"`.
 *
 * - `out_json`: receives the text.
 * - torch: `json.dumps(torch.cuda.host_memory_stats())`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_get_stats_json(char **out_json);

/**
 * Sets the peaks of pinned host memory to the current values, and resets the longest and shortest
 * times.
 *
 * - torch: `torch.cuda.reset_peak_host_memory_stats()`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_reset_peak_stats(void);

/**
 * Sets the accumulated sums and counts of pinned host memory to 0.
 *
 * - torch: `torch.cuda.reset_accumulated_host_memory_stats()`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_reset_accumulated_stats(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_HOST_MEMORY_H_ */
