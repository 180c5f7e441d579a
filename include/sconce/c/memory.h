/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Memory of devices: the caching allocator, pools, settings, statistics, snapshots, sleep.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_MEMORY_H_
#define SCONCE_C_MEMORY_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>

/**
 * Kind of a segment.
 */
#ifdef __cplusplus
enum sconce_memory_kind : int32_t {
#else
typedef int32_t sconce_memory_kind;
enum {
#endif
  /**
   * For blocks of up to 1 MiB.
   */
  SCONCE_MEMORY_SMALL = 0,
  /**
   * For larger blocks.
   */
  SCONCE_MEMORY_LARGE = 1,
};

/**
 * State of a block.
 */
#ifdef __cplusplus
enum sconce_block_state : int32_t {
#else
typedef int32_t sconce_block_state;
enum {
#endif
  /**
   * A caller holds the block.
   */
  SCONCE_BLOCK_ACTIVE_ALLOCATED = 0,
  /**
   * The block was freed, and work of other streams may still use it.
   */
  SCONCE_BLOCK_ACTIVE_PENDING_FREE = 1,
  /**
   * The block is free.
   */
  SCONCE_BLOCK_INACTIVE = 2,
};

/**
 * The event that an entry of the history records.
 */
#ifdef __cplusplus
enum sconce_trace_action : int32_t {
#else
typedef int32_t sconce_trace_action;
enum {
#endif
  /**
   * A block was allocated.
   */
  SCONCE_TRACE_ALLOC = 0,
  /**
   * A caller freed a block.
   */
  SCONCE_TRACE_FREE_REQUESTED = 1,
  /**
   * A freed block can be reused.
   */
  SCONCE_TRACE_FREE_COMPLETED = 2,
  /**
   * A segment was taken from the driver.
   */
  SCONCE_TRACE_SEGMENT_ALLOC = 3,
  /**
   * A segment was returned to the driver.
   */
  SCONCE_TRACE_SEGMENT_FREE = 4,
  /**
   * A snapshot was taken.
   */
  SCONCE_TRACE_SNAPSHOT = 5,
  /**
   * An allocation failed for lack of memory.
   */
  SCONCE_TRACE_OOM = 6,
  /**
   * Pages joined a segment (`policy:pages`).
   */
  SCONCE_TRACE_SEGMENT_MAP = 7,
  /**
   * Pages left a segment.
   */
  SCONCE_TRACE_SEGMENT_UNMAP = 8,
};

/**
 * What the memory of a private pool is made of.
 */
#ifdef __cplusplus
enum sconce_memory_policy : int32_t {
#else
typedef int32_t sconce_memory_policy;
enum {
#endif
  /**
   * As the settings `policy` and `expandable_segments` choose when the pool obtains memory.
   */
  SCONCE_MEMORY_POLICY_OF_SETTINGS = 0,
  /**
   * Segments, regardless of the settings.
   */
  SCONCE_MEMORY_POLICY_SEGMENTS = 1,
  /**
   * Pages, regardless of the settings. torch calls them expandable segments.
   */
  SCONCE_MEMORY_POLICY_PAGES = 2,
};

/**
 * Where the bytes of live blocks are while their pool sleeps.
 */
#ifdef __cplusplus
enum sconce_sleep_mode : int32_t {
#else
typedef int32_t sconce_sleep_mode;
enum {
#endif
  /**
   * The pool is awake. Only reported, never requested.
   */
  SCONCE_SLEEP_NONE = 0,
  /**
   * Nowhere: the bytes are lost.
   */
  SCONCE_SLEEP_DISCARD = 1,
  /**
   * In pinned memory of the host. Copies run at the speed of the link.
   */
  SCONCE_SLEEP_HOST_PINNED = 2,
  /**
   * In ordinary memory of the host.
   */
  SCONCE_SLEEP_HOST_PAGEABLE = 3,
  /**
   * In a file.
   */
  SCONCE_SLEEP_FILE = 4,
};

/**
 * What live blocks contain after their pool has woken.
 */
#ifdef __cplusplus
enum sconce_wake_mode : int32_t {
#else
typedef int32_t sconce_wake_mode;
enum {
#endif
  /**
   * The saved bytes, or those with which the program has replaced them. Undefined after
   * `SCONCE_SLEEP_DISCARD`.
   */
  SCONCE_WAKE_RESTORE = 0,
  /**
   * Undefined contents: nothing is copied.
   */
  SCONCE_WAKE_EMPTY = 1,
};

/**
 * A private memory pool: it serves only allocations between `sconce_memory_pool_begin` and
 * `sconce_memory_pool_end`. Opaque; created by `sconce_memory_pool_create`.
 */
typedef struct sconce_memory_pool sconce_memory_pool;

/**
 * A snapshot: every segment and block of every device at one moment, and the recorded history.
 * Opaque; created by `sconce_memory_snapshot_create`.
 */
typedef struct sconce_memory_snapshot sconce_memory_snapshot;

/**
 * Where the bytes of a pool are saved. Begin with `SCONCE_SLEEP_DESC_INIT`, which means pinned
 * memory.
 */
typedef struct sconce_sleep_desc {
  /**
   * `sizeof(sconce_sleep_desc)`.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_SLEEP_DISCARD`, `_HOST_PINNED`, `_HOST_PAGEABLE` or `_FILE`.
   */
  int32_t mode;
  /**
   * For `SCONCE_SLEEP_FILE`: the folder in which an unnamed file is made. Otherwise NULL.
   */
  const char *path;
} sconce_sleep_desc;

/** A `sconce_sleep_desc`: to pinned memory of the host. */
#ifdef __cplusplus
#define SCONCE_SLEEP_DESC_INIT \
  {sizeof(sconce_sleep_desc), SCONCE_SLEEP_HOST_PINNED, nullptr}
#else
#define SCONCE_SLEEP_DESC_INIT \
  {.struct_size = sizeof(sconce_sleep_desc), .mode = SCONCE_SLEEP_HOST_PINNED}
#endif

/**
 * State of a pool on a device.
 */
typedef struct sconce_memory_sleep_state {
  /**
   * `sizeof(sconce_memory_sleep_state)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_SLEEP_…`. With `SCONCE_SLEEP_NONE` the pool is awake, and the other fields are 0.
   */
  int32_t mode;
  /**
   * Bytes of the pool whose memory has gone back to the driver.
   */
  uint64_t sleeping_bytes;
  /**
   * Bytes of live blocks that were saved.
   */
  uint64_t saved_bytes;
} sconce_memory_sleep_state;

/** A `sconce_memory_sleep_state`: for results. */
#ifdef __cplusplus
#define SCONCE_MEMORY_SLEEP_STATE_INIT \
  {sizeof(sconce_memory_sleep_state), 0, 0, 0}
#else
#define SCONCE_MEMORY_SLEEP_STATE_INIT \
  {.struct_size = sizeof(sconce_memory_sleep_state)}
#endif

/**
 * A function that is called when an allocation fails for lack of memory, with the device, the
 * bytes requested from the driver, the bytes that the process may use (all of the device's, or the
 * allowed share), the free bytes of the device, and the caller's pointer.
 */
typedef void (*sconce_oom_observer)(int32_t device,
                                    size_t requested_bytes,
                                    size_t total_bytes,
                                    size_t free_bytes,
                                    void *user);

/**
 * One figure: its value, its peak, and the sums of its increases and decreases.
 */
typedef struct sconce_stat {
  /**
   * The present value.
   */
  int64_t current;
  /**
   * The highest value since the start or the last reset of peaks.
   */
  int64_t peak;
  /**
   * The sum of all increases since the start or the last reset of sums.
   */
  int64_t allocated;
  /**
   * The sum of all decreases since then.
   */
  int64_t freed;
} sconce_stat;

/**
 * A figure for all blocks, and for each of the two kinds of block.
 */
typedef struct sconce_pool_stats {
  /**
   * All blocks.
   */
  struct sconce_stat all;
  /**
   * Blocks of up to 1 MiB.
   */
  struct sconce_stat small_pool;
  /**
   * Larger blocks.
   */
  struct sconce_stat large_pool;
} sconce_pool_stats;

/**
 * Figures of a device. Sizes are those of blocks, which are requested sizes, rounded up.
 */
typedef struct sconce_memory_stats {
  /**
   * `sizeof(sconce_memory_stats)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Blocks that callers hold.
   */
  struct sconce_pool_stats allocation;
  /**
   * Allocations taken from the driver.
   */
  struct sconce_pool_stats segment;
  /**
   * Blocks that callers hold, or that were freed while work of other streams may still use them.
   */
  struct sconce_pool_stats active;
  /**
   * Free blocks that are parts of a segment.
   */
  struct sconce_pool_stats inactive_split;
  /**
   * Bytes of the blocks that callers hold.
   */
  struct sconce_pool_stats allocated_bytes;
  /**
   * Bytes taken from the driver.
   */
  struct sconce_pool_stats reserved_bytes;
  /**
   * Bytes of active blocks.
   */
  struct sconce_pool_stats active_bytes;
  /**
   * Bytes of free blocks that are parts of a segment.
   */
  struct sconce_pool_stats inactive_split_bytes;
  /**
   * Bytes of active blocks as they were requested.
   */
  struct sconce_pool_stats requested_bytes;
  /**
   * Blocks of `max_split_size` and more.
   */
  struct sconce_stat oversize_allocations;
  /**
   * Segments of `max_split_size` and more.
   */
  struct sconce_stat oversize_segments;
  /**
   * Number of times that free memory was returned because the driver had none left.
   */
  int64_t num_alloc_retries;
  /**
   * Number of allocations that failed for lack of memory.
   */
  int64_t num_ooms;
  /**
   * Number of times that the allocator waited for all streams whose work may use freed memory.
   */
  int64_t num_sync_all_streams;
  /**
   * Number of allocations by the driver.
   */
  int64_t num_device_alloc;
  /**
   * Number of frees by the driver.
   */
  int64_t num_device_free;
  /**
   * The size in bytes from which blocks are not split; -1 if there is no such size.
   */
  int64_t max_split_size;
  /**
   * Bytes of sleeping pools whose memory has gone back to the driver. Reserved bytes exclude
   * them.
   */
  int64_t sleeping_bytes;
} sconce_memory_stats;

/** A `sconce_memory_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_MEMORY_STATS_INIT \
  {sizeof(sconce_memory_stats), 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, 0, 0, 0, 0, \
   0, 0, 0}
#else
#define SCONCE_MEMORY_STATS_INIT \
  {.struct_size = sizeof(sconce_memory_stats)}
#endif

/**
 * Statistics of the pages of a device, under `policy:pages`. Mappings are counted separately from
 * memory: a page that is mapped at several addresses is reserved once.
 */
typedef struct sconce_memory_page_figures {
  /**
   * `sizeof(sconce_memory_page_figures)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Number of pages taken from the driver.
   */
  uint64_t pages;
  /**
   * Bytes of these pages.
   */
  uint64_t page_bytes;
  /**
   * Mappings of pages, in use or kept for later.
   */
  uint64_t mappings;
  /**
   * Bytes of mappings beyond the first of each page. They are addresses, not memory: reserved
   * bytes exclude them.
   */
  uint64_t alias_bytes;
  /**
   * Number of mappings made of pages that were mapped already.
   */
  uint64_t aliases_made;
  /**
   * Number of requests that an earlier mapping served without a driver call.
   */
  uint64_t alias_hits;
  /**
   * Bytes of sleeping pages: their addresses are kept, and their memory has gone back to the
   * driver.
   */
  uint64_t sleeping_bytes;
} sconce_memory_page_figures;

/** A `sconce_memory_page_figures`: for results. */
#ifdef __cplusplus
#define SCONCE_MEMORY_PAGE_FIGURES_INIT \
  {sizeof(sconce_memory_page_figures), 0, 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_MEMORY_PAGE_FIGURES_INIT \
  {.struct_size = sizeof(sconce_memory_page_figures)}
#endif

/**
 * A segment: an allocation taken from the driver.
 */
typedef struct sconce_memory_segment {
  /**
   * Address at which it begins.
   */
  uint64_t address;
  /**
   * Its size.
   */
  uint64_t total_bytes;
  /**
   * Bytes of its blocks that callers hold.
   */
  uint64_t allocated_bytes;
  /**
   * Bytes of its blocks that callers hold, or that were freed while work of other streams may
   * still use them.
   */
  uint64_t active_bytes;
  /**
   * Bytes of active blocks as they were requested.
   */
  uint64_t requested_bytes;
  /**
   * The `cudaStream_t` of the stream that it serves.
   */
  uint64_t stream;
  /**
   * The private pool to which it belongs, as torch's pair of numbers; 0, 0 means no private
   * pool.
   */
  uint64_t pool_id[2];
  /**
   * Index of its first block in the snapshot's blocks; the others follow by address.
   */
  uint64_t first_block;
  /**
   * Number of its blocks.
   */
  uint64_t block_count;
  /**
   * Index of its device.
   */
  int32_t device;
  /**
   * `SCONCE_MEMORY_SMALL` or `_LARGE`.
   */
  int32_t kind;
  /**
   * Whether it is made of pages, so that it may grow and shrink.
   */
  bool is_expandable;
  /**
   * 0.
   */
  uint8_t reserved[7];
} sconce_memory_segment;

/**
 * A piece of a segment.
 */
typedef struct sconce_memory_block {
  /**
   * Address at which it begins.
   */
  uint64_t address;
  /**
   * Its size.
   */
  uint64_t bytes;
  /**
   * Its requested size; for a free block, that of its last owner.
   */
  uint64_t requested_bytes;
  /**
   * `SCONCE_BLOCK_…`.
   */
  int32_t state;
  /**
   * 0.
   */
  int32_t reserved;
} sconce_memory_block;

/**
 * An entry of the history.
 */
typedef struct sconce_memory_trace_entry {
  /**
   * Address; for `SCONCE_TRACE_OOM` the number of bytes that the device had free.
   */
  uint64_t address;
  /**
   * Bytes: the requested size of a block, the whole size of a segment; for `SCONCE_TRACE_OOM`
   * the requested size, rounded up.
   */
  uint64_t bytes;
  /**
   * The `cudaStream_t` of the stream.
   */
  uint64_t stream;
  /**
   * Microseconds since 1970.
   */
  int64_t time_us;
  /**
   * The private pool, as torch's pair of numbers; 0, 0 means no private pool.
   */
  uint64_t pool_id[2];
  /**
   * `SCONCE_TRACE_…`.
   */
  int32_t action;
  /**
   * 0.
   */
  int32_t reserved;
} sconce_memory_trace_entry;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Allocates memory of the current device for its current stream, from memory freed on that stream
 * or else from the driver. The contents are undefined.
 *
 * The memory is for work of that stream: earlier work of the stream may still use the same bytes.
 * Work of other streams must wait for an event of that stream, and must be noted with
 * `sconce_memory_record_stream`.
 *
 * - `bytes`: 0 returns NULL.
 * - `out_ptr`: receives a device address, a multiple of 512, that the host cannot access.
 * - Errors: OUT_OF_MEMORY: the device, or the share of it that the process may use, has not enough
 *   memory left; the message lists the figures.
 * - Ownership: the caller frees the memory with `sconce_memory_free`.
 * - Ordering: blocks only while the driver allocates.
 * - torch: `torch.cuda.caching_allocator_alloc()`, `c10::cuda::CUDACachingAllocator::raw_alloc`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_alloc(size_t bytes, void **out_ptr);

/**
 * Allocates memory for a stream, on the stream's device. Otherwise as `sconce_memory_alloc`.
 *
 * - `bytes`: 0 returns NULL.
 * - `out_ptr`: receives the address.
 * - torch: `c10::cuda::CUDACachingAllocator::raw_alloc_with_stream`, which uses the current
 *   device.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_alloc_on(size_t bytes,
                                     struct sconce_stream stream,
                                     void **out_ptr);

/**
 * Frees memory, on any thread. The cache keeps the memory for later allocations on the stream for
 * which it was allocated.
 *
 * The caller need not wait for queued work that uses the memory, on the stream for which it was
 * allocated and on streams noted with `sconce_memory_record_stream`.
 *
 * - `ptr`: the address that an allocating function returned; NULL is a no-op.
 * - Errors: INVALID_ARGUMENT: `ptr` is not memory of this library, points into it, or was freed
 *   already; the message states which.
 * - torch: `torch.cuda.caching_allocator_delete()`, `c10::cuda::CUDACachingAllocator::raw_delete`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_free(void *ptr);

/**
 * Notes that work of another stream uses an allocation. After the allocation is freed, its memory
 * is not reused before the work that is queued on that stream at the time of the free has
 * finished.
 *
 * An external stream may be destroyed before the memory is freed. The memory is then reused after
 * a call of this library has waited for the whole device. If an external stream is not current
 * when the memory is freed, the library does not access the stream at that time. The memory
 * becomes reusable in a later call that names the stream (this function, an allocation on it,
 * `sconce_stream_get_from_external`, `sconce_stream_synchronize`) or that waits for the device
 * (`sconce_device_synchronize`, `sconce_memory_empty_cache`, an allocation that finds no memory).
 *
 * - `ptr`: any address in an allocation of this library; the call applies to the whole block. NULL
 *   and memory that is not of this library are ignored.
 * - `stream`: ignored if it is the stream for which the memory was allocated.
 * - Errors: INVALID_ARGUMENT: the memory was freed already.
 * - torch: `torch.Tensor.record_stream()`, `c10::cuda::CUDACachingAllocator::recordStream`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_record_stream(void *ptr, struct sconce_stream stream);

/**
 * Returns unused memory of every device to the driver: segments without a live block, and with
 * `policy:pages` every whole free page, of the default pool and of pools that were destroyed; idle
 * workspaces of cuBLAS, too. Unused memory of other pools stays with them;
 * `sconce_memory_pool_trim` returns it.
 *
 * - Errors: INVALID_STATE: a stream is being captured. Nothing of its device is returned; other
 *   devices are emptied, and the capture is not affected.
 * - Ordering: waits for the streams whose work may still use freed memory. Returning memory to the
 *   driver waits for the device.
 * - torch: `torch.cuda.empty_cache()`, `c10::cuda::CUDACachingAllocator::emptyCache`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_empty_cache(void);

/**
 * Reports the driver allocation that contains an allocation, e.g. to share it with another
 * process. The library may return the driver allocation once all its pieces are freed.
 *
 * - `ptr`: any address in an allocation of this library, else INVALID_ARGUMENT.
 * - `out_base`: receives the address at which the driver allocation begins; for memory of pages,
 *   the first page that holds a part of the allocation.
 * - `out_bytes`: receives its size; for memory of pages, that of all pages that hold a part of the
 *   allocation.
 * - torch: `c10::cuda::CUDACachingAllocator::getBaseAllocation`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_base(const void *ptr,
                                     void **out_base,
                                     size_t *out_bytes);

/**
 * Reports the size of an allocation's block: the requested size, rounded up, plus a remainder that
 * was too small to be split off. The caller may use all of these bytes, as with
 * `malloc_usable_size`.
 *
 * - `ptr`: the address that an allocating function returned.
 * - `out_bytes`: receives the size.
 * - Errors: INVALID_ARGUMENT: `ptr` is NULL, is not memory of this library, points into it, or was
 *   freed.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_usable_bytes(const void *ptr, size_t *out_bytes);

/**
 * Creates a private memory pool, without any memory yet. It serves all devices. Needs no device.
 *
 * - `out_pool`: receives the pool.
 * - Errors: OUT_OF_MEMORY: too many pools.
 * - Ownership: the caller destroys the pool with `sconce_memory_pool_destroy`.
 * - torch: `torch.cuda.MemPool()`, `c10::cuda::MemPool`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_pool_create(struct sconce_memory_pool **out_pool);

/**
 * Creates a private memory pool with the given policy, without any memory yet. It serves all devices. Needs no
 * device.
 *
 * - `policy`: `SCONCE_MEMORY_POLICY_…`. If the driver does not support pages, the pool uses
 *   segments, and a warning is logged, as for the setting `policy:pages`.
 * - `out_pool`: receives the pool.
 * - Errors: INVALID_ARGUMENT: no such policy. OUT_OF_MEMORY: too many pools.
 * - Ownership: the caller destroys the pool with `sconce_memory_pool_destroy`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_create_with_policy(int32_t policy,
                                                    struct sconce_memory_pool **out_pool);

/**
 * Reports the number of a pool in snapshots and histories. Needs no device.
 *
 * - `out_id`: receives the second number of torch's pair, whose first number is 0. The number is
 *   never 0, and is not reused.
 * - torch: `torch.cuda.MemPool.id`, `c10::cuda::MemPool::id`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_get_id(struct sconce_memory_pool *pool,
                                        uint64_t *out_id);

/**
 * Destroys a pool and returns its unused memory to the driver. Its allocations stay valid and are
 * freed as usual.
 *
 * - `pool`: NULL is a no-op.
 * - Errors: INVALID_STATE: a thread has called `sconce_memory_pool_begin` without
 *   `sconce_memory_pool_end`, or the memory of the pool is fixed. DRIVER: the pool is destroyed
 *   all the same.
 * - Ordering: as `sconce_memory_pool_trim`. While a stream is being captured, and while launches of
 *   graphs that have used the pool are queued, the call does not block, and the memory goes back
 *   later, as in `sconce_graph_reset`. While a graph holds the pool, its memory stays.
 * - torch: the destructor of `c10::cuda::MemPool`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_pool_destroy(struct sconce_memory_pool *pool);

/**
 * Serves the calling thread's allocations on a device from a pool, until `sconce_memory_pool_end`.
 * If a thread has begun several pools, the one begun last serves.
 *
 * - Errors: INVALID_STATE: the thread has begun this pool on this device already.
 * - torch: entering `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::beginAllocateToPool`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_begin(struct sconce_memory_pool *pool,
                                       int32_t device);

/**
 * Undoes `sconce_memory_pool_begin`. Allocations stay valid, and return to the pool when they are
 * freed.
 *
 * - Errors: INVALID_STATE: the thread has not begun this pool on this device.
 * - Threads: the thread that called `sconce_memory_pool_begin`.
 * - torch: leaving `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::endAllocateToPool`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_end(struct sconce_memory_pool *pool,
                                     int32_t device);

/**
 * Returns unused memory of a pool to the driver, on every device, which `sconce_memory_empty_cache`
 * does not do. Returns nothing while the memory is fixed, or while a graph holds the pool.
 *
 * - `out_bytes`: receives the number of bytes returned.
 * - Errors: INVALID_STATE: a stream is being captured.
 * - Ordering: as `sconce_memory_empty_cache`.
 * - torch: `CUDACachingAllocator::emptyCache(mempool_id)`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_trim(struct sconce_memory_pool *pool,
                                      size_t *out_bytes);

/**
 * Fixes the memory of a pool on every device, or ends that. A program that registers memory of the
 * pool with another library (`ncclCommRegister`, `ibv_reg_mr`) fixes the pool before the first
 * registration, and ends that after the last registration has ended.
 *
 * Fixed memory keeps its pages and addresses. It cannot sleep, and it does not return to the
 * driver, not even in freed blocks, which serve later allocations from the pool. The pool may
 * still take more memory. The default pool cannot be fixed: its memory may sleep, and its pages
 * move between free blocks.
 *
 * - `fixed`: whether the memory is fixed from now on. Repeated calls with the same value have no
 *   further effect.
 * - Errors: INVALID_STATE: the pool is asleep on a device. NOT_SUPPORTED: memory is allocated without caching.
 * - Ordering: waits for threads that put a pool to sleep, wake it or return memory to the driver.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_set_fixed(struct sconce_memory_pool *pool,
                                           bool fixed);

/**
 * Reports whether the memory of a pool is fixed. Needs no device.
 *
 * - `out_fixed`: receives the answer.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_is_fixed(struct sconce_memory_pool *pool,
                                          bool *out_fixed);

/**
 * Puts a pool to sleep on a device: its memory returns to the driver, and its addresses stay
 * reserved. The bytes of live blocks are saved; unused memory is dropped. The pool's memory must
 * consist of pages (`SCONCE_MEMORY_POLICY_PAGES`, or `policy:pages` in the settings).
 *
 * Until the pool wakes, its memory must not be used, but blocks may be freed. Calls of this
 * library with such addresses, allocations from the pool, and launches of graphs that use the
 * pool's memory fail with INVALID_STATE. Addresses that kernels use are not checked.
 *
 * - `pool`: NULL is the default pool.
 * - `desc`: where the bytes are saved.
 * - Errors: INVALID_STATE: the pool is asleep; its memory is fixed (`sconce_memory_pool_set_fixed`); another
 *   process has a block of it open; or a stream of the device is being captured. NOT_SUPPORTED: memory of the
 *   pool is in use and does not consist of pages; the message names a block. OUT_OF_MEMORY: the host has too little
 *   memory. IO: the file cannot be written. After an error the pool is awake, with its bytes unless they were to be
 *   discarded. In rare cases the message says that the pool is asleep all the same; then no data is lost.
 * - Ordering: waits for the device, and for devices with access to its memory.
 * - Threads: any. Only one thread at a time puts pools of a device to sleep or wakes them; others
 *   wait for it. A thread that destroys a pool waits as well, and so does one that begins a
 *   capture while a pool is being put to sleep.
 * - torch: vLLM's `CuMemAllocator.sleep`, `torch_memory_saver.pause`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_sleep(struct sconce_memory_pool *pool,
                                       int32_t device,
                                       const struct sconce_sleep_desc *desc);

/**
 * Wakes a pool on a device: takes memory from the driver, and restores the pool's bytes at their
 * addresses.
 *
 * - `pool`: NULL is the default pool.
 * - `mode`: `SCONCE_WAKE_…`.
 * - Errors: INVALID_STATE: the pool is awake. OUT_OF_MEMORY: the device or the limit has too
 *   little memory, even after the cache was emptied. IO: the file cannot be read. After an error
 *   the pool sleeps as before, and can be woken later.
 * - Ordering: returns when the memory can be used on every stream.
 * - torch: vLLM's `CuMemAllocator.wake_up`, `torch_memory_saver.resume`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_wake(struct sconce_memory_pool *pool,
                                      int32_t device,
                                      int32_t mode);

/**
 * Reports whether a pool is asleep on a device, and how much of it. Does not wait for a thread that puts it to sleep
 * or wakes it.
 *
 * - `pool`: NULL is the default pool.
 * - `out_state`: receives the state; begin with `SCONCE_MEMORY_SLEEP_STATE_INIT`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_get_sleep_state(struct sconce_memory_pool *pool,
                                                 int32_t device,
                                                 struct sconce_memory_sleep_state *out_state);

/**
 * Returns the host address of the saved bytes of a live block while its pool sleeps, so that a
 * program can replace them: the pool wakes with the bytes that are there at that time.
 *
 * - `pool`: NULL is the default pool.
 * - `ptr`: an address in the block.
 * - `out_host`: receives the host address of the byte at `ptr`. The bytes up to the end of the
 *   block follow it.
 * - Errors: INVALID_ARGUMENT: `ptr` is in no live block of the pool. INVALID_STATE: the block is not asleep, or its
 *   bytes are not in memory of the host.
 * - Ownership: borrowed. The address is valid until the pool wakes.
 * - torch: `tms_get_cpu_backup_pointer` of torch_memory_saver.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_backup_pointer(struct sconce_memory_pool *pool,
                                                const void *ptr,
                                                void **out_host);

/**
 * Puts all memory of a device to sleep: the default pool, and every pool that has memory there and is awake.
 *
 * - `desc`: as in `sconce_memory_pool_sleep`.
 * - Errors: as in `sconce_memory_pool_sleep`; pools that this call has put to sleep are woken again.
 * - Ordering: as `sconce_memory_pool_sleep`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_sleep(int32_t device,
                                  const struct sconce_sleep_desc *desc);

/**
 * Wakes every sleeping pool of a device, including pools that have been destroyed but still have
 * live blocks.
 *
 * - `mode`: as in `sconce_memory_pool_wake`.
 * - Errors: OUT_OF_MEMORY, IO: as in `sconce_memory_pool_wake`. Pools are woken in the order of
 *   their numbers; the pool that failed and those after it stay asleep.
 * - Ordering: as `sconce_memory_pool_wake`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_wake(int32_t device, int32_t mode);

/**
 * Configures the allocator for later calls. Does not change existing memory. Needs no device.
 *
 * Until the first call the configuration comes from the environment: `SCONCE_ALLOC_CONF`, else
 * `PYTORCH_CUDA_ALLOC_CONF`, else `PYTORCH_ALLOC_CONF`. These keys have an effect:
 * `max_split_size_mb` (blocks of this size and more are not split), `max_non_split_rounding_mb`,
 * `roundup_power2_divisions` (a power of two, or a list such as `[64:8,256:4,>:1]`),
 * `garbage_collection_threshold` (a fraction between 0 and 1), `large_segment_size_mb`,
 * `per_process_memory_fraction` (on devices without a fraction of their own), `policy` (`segments`
 * or `pages`; not a key of PyTorch) or its synonym `expandable_segments`, and for pinned memory
 * `pinned_use_cuda_host_register`, `pinned_num_register_threads`, `pinned_use_background_threads`,
 * `pinned_free_catch_all`, `pinned_reserve_segment_size_mb` and `pinned_max_cached_size_mb`.
 * `docs/design/memory_settings.md` describes them. PyTorch's other keys are accepted without
 * effect, and a warning reports that once. `PYTORCH_NO_CUDA_MEMORY_CACHING=1` in the environment
 * turns caching off.
 *
 * - `conf`: `key:value` pairs separated by commas, in the syntax of `PYTORCH_CUDA_ALLOC_CONF`.
 *   Keys that are not named are reset to their defaults; "" resets all keys.
 * - Errors: INVALID_ARGUMENT: a key or value is not known; the message names it, and the
 *   configuration does not change.
 * - torch: `torch.cuda.memory._set_allocator_settings()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_configure(const char *conf);

/**
 * Limits the share of a device's memory that this process takes from the driver. Memory that the
 * process has already stays allocated. Makes the device's context.
 *
 * - `fraction`: 0 to 1, else INVALID_ARGUMENT; 1 is no limit.
 * - torch: `torch.cuda.set_per_process_memory_fraction()`,
 *   `CUDACachingAllocator::setMemoryFraction`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_set_fraction(double fraction, int32_t device);

/**
 * Reports the share of a device's memory that this process may take from the driver. Makes the
 * device's context.
 *
 * - `out_fraction`: receives 0 to 1; 1 is no limit.
 * - torch: `torch.cuda.get_per_process_memory_fraction()`,
 *   `CUDACachingAllocator::getMemoryFraction`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_fraction(int32_t device, double *out_fraction);

/**
 * Registers a function that is called whenever an allocation fails for lack of memory, before the
 * failure is returned. Observers are called in the order in which they were attached. Needs no
 * device.
 *
 * Observers run on the thread whose allocation failed, while the library holds no lock. An
 * observer may call this library and may free memory, but the failed allocation is not tried
 * again.
 *
 * - `observer`: the function.
 * - `user`: passed to each call of `observer`.
 * - `out_id`: receives a number for `sconce_memory_detach_oom_observer`; never 0.
 * - Ownership: `user` must live until the observer is detached and every call of it has returned.
 * - Threads: several threads may call `observer` at once.
 * - Safety: `observer` does not unwind, and `user` is what it expects.
 * - torch: `CUDACachingAllocator::attachOutOfMemoryObserver`; torch cannot detach observers.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_attach_oom_observer(sconce_oom_observer observer,
                                                void *user,
                                                uint64_t *out_id);

/**
 * Removes an observer. The observer may still be running on another thread when this function
 * returns. An observer may detach itself.
 *
 * - `id`: the number from `sconce_memory_attach_oom_observer`; INVALID_ARGUMENT if there is no
 *   such observer.
 */
SCONCE_NODISCARD sconce_status sconce_memory_detach_oom_observer(uint64_t id);

/**
 * Reports all statistics of a device; zeros if nothing has been allocated on it yet.
 *
 * While other threads allocate, a reported peak may be up to a sixteenth too high. It is never too
 * low.
 *
 * - `out_stats`: receives the statistics; begin with `SCONCE_MEMORY_STATS_INIT`.
 * - torch: `torch.cuda.memory_stats()`, `CUDACachingAllocator::getDeviceStats`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_stats(int32_t device,
                                      struct sconce_memory_stats *out_stats);

/**
 * Reports all statistics of a device as one flat JSON object with torch's keys, e.g.
 * `"reserved_bytes.all.peak"`.
 *
 * - `out_json`: receives the text.
 * - torch: `json.dumps(torch.cuda.memory_stats())`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_stats_json(int32_t device, char **out_json);

/**
 * Reports the bytes of a device that callers hold.
 *
 * - `out_bytes`: receives the number.
 * - torch: `torch.cuda.memory_allocated()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_allocated(int32_t device, size_t *out_bytes);

/**
 * Reports the peak of the bytes of a device that callers hold, since the start or
 * `sconce_memory_reset_peak_stats`.
 *
 * - `out_bytes`: receives the number.
 * - torch: `torch.cuda.max_memory_allocated()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_max_allocated(int32_t device, size_t *out_bytes);

/**
 * Reports the bytes of a device that this process has taken from the driver, in use or cached.
 *
 * - `out_bytes`: receives the number.
 * - torch: `torch.cuda.memory_reserved()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_reserved(int32_t device, size_t *out_bytes);

/**
 * Reports the peak of the bytes of a device that this process has taken from the driver, since the
 * start or `sconce_memory_reset_peak_stats`.
 *
 * - `out_bytes`: receives the number.
 * - torch: `torch.cuda.max_memory_reserved()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_max_reserved(int32_t device, size_t *out_bytes);

/**
 * Sets every peak of a device to the current value.
 *
 * - torch: `torch.cuda.reset_peak_memory_stats()`, `CUDACachingAllocator::resetPeakStats`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_reset_peak_stats(int32_t device);

/**
 * Sets every accumulated sum and count of a device to 0.
 *
 * - torch: `torch.cuda.reset_accumulated_memory_stats()`,
 *   `CUDACachingAllocator::resetAccumulatedStats`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_reset_accumulated_stats(int32_t device);

/**
 * Returns the statistics of a device as a table for human readers.
 *
 * - `abbreviated`: omits the lines for small and large blocks.
 * - `out_text`: receives the text.
 * - torch: `torch.cuda.memory_summary()`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_summary(int32_t device,
                                        bool abbreviated,
                                        char **out_text);

/**
 * Reports the statistics of a device's pages: how many there are, at how many addresses they are
 * mapped, and how often an earlier mapping served a request. All are 0 if no memory
 * consists of pages.
 *
 * - `out_figures`: receives the statistics; begin with `SCONCE_MEMORY_PAGE_FIGURES_INIT`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_page_figures(int32_t device,
                                             struct sconce_memory_page_figures *out_figures);

/**
 * Returns every segment and block of every device, and the recorded history, as JSON for torch's
 * viewer.
 *
 * - `out_json`: receives the text.
 * - Ordering: does not wait for devices. Other threads that allocate wait while the records of the
 *   blocks of their stream are copied.
 * - torch: `json.dumps(torch.cuda.memory._snapshot())`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_snapshot_json(char **out_json);

/**
 * Writes a snapshot to a file.
 *
 * - `path`: the file, which is overwritten; its ending selects the format: `.pickle` or `.json` for torch's
 *   viewer (`pytorch.org/memory_viz`), or `.html` for a page that a browser shows without a network.
 * - Errors: INVALID_ARGUMENT: `path` has another ending. IO: the file cannot be written.
 * - Ordering: as `sconce_memory_get_snapshot_json`.
 * - torch: `torch.cuda.memory._dump_snapshot()`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_save_snapshot(const char *path);

/**
 * Starts or stops the recording of memory events for snapshots. Stopping discards the recorded
 * events; starting again without stopping keeps them. Needs no device.
 *
 * While recording, every allocation and free takes a little longer.
 *
 * - `enabled`: whether to record.
 * - `max_entries`: the number of entries that are kept for each device; further entries replace
 *   the oldest. More than 0 if `enabled`, else ignored.
 * - torch: `torch.cuda.memory._record_memory_history()`; stack traces are not recorded.
 */
SCONCE_NODISCARD sconce_status sconce_memory_record_history(bool enabled, size_t max_entries);

/**
 * Takes a snapshot: every segment and block of every device, and the history recorded so far.
 *
 * - `out_snapshot`: receives the snapshot.
 * - Errors: OUT_OF_MEMORY: too many snapshots.
 * - Ownership: the caller destroys the snapshot with `sconce_memory_snapshot_destroy`.
 * - Ordering: as `sconce_memory_get_snapshot_json`.
 * - torch: `torch.cuda.memory_snapshot()`, `CUDACachingAllocator::snapshot`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_create(struct sconce_memory_snapshot **out_snapshot);

/**
 * Destroys a snapshot and its arrays.
 *
 * - `snapshot`: NULL is a no-op.
 * - Safety: the arrays of the snapshot must not be used any more.
 * - torch: the destructor of `CUDACachingAllocator::SnapshotInfo`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_destroy(struct sconce_memory_snapshot *snapshot);

/**
 * Returns the segments of a snapshot, in the order of their addresses.
 *
 * - `out_segments`: receives a pointer to the first; NULL if there is none.
 * - `out_count`: receives their number.
 * - Ownership: borrowed until the snapshot is destroyed.
 * - torch: `torch.cuda.memory_snapshot()`, `SnapshotInfo::segments`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_get_segments(struct sconce_memory_snapshot *snapshot,
                                                  const struct sconce_memory_segment **out_segments,
                                                  size_t *out_count);

/**
 * Returns the blocks of all segments of a snapshot.
 *
 * - `out_blocks`: receives a pointer to the first; NULL if there is none.
 * - `out_count`: receives their number.
 * - Ownership: borrowed until the snapshot is destroyed.
 * - torch: the `blocks` of `torch.cuda.memory_snapshot()`, `SegmentInfo::blocks`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_get_blocks(struct sconce_memory_snapshot *snapshot,
                                                const struct sconce_memory_block **out_blocks,
                                                size_t *out_count);

/**
 * Returns a device's history in a snapshot, oldest entry first.
 *
 * - `out_entries`: receives a pointer to the first; NULL if there is none.
 * - `out_count`: receives their number.
 * - Ownership: borrowed until the snapshot is destroyed.
 * - torch: the `device_traces` of `torch.cuda.memory._snapshot()`, `SnapshotInfo::device_traces`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_get_trace(struct sconce_memory_snapshot *snapshot,
                                               int32_t device,
                                               const struct sconce_memory_trace_entry **out_entries,
                                               size_t *out_count);

/**
 * Allocates memory for PyTorch's `CUDAPluggableAllocator`. Returns NULL on failure, with the
 * reason in `sconce_last_error_message` and in the log. torch does not check for NULL: the first
 * use of the tensor fails.
 *
 * - `bytes`: 0 returns NULL.
 * - `device`: index.
 * - `stream`: a `cudaStream_t` of the device; NULL is the default stream.
 * - Ownership: torch frees the memory with `sconce_torch_free`.
 * - Ordering: as `sconce_memory_alloc`.
 * - Safety: `stream` is NULL or a live stream of the device.
 * - torch: the `alloc_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`, whose `ssize_t` is
 *   C's `ptrdiff_t`.
 */
void *sconce_torch_malloc(ptrdiff_t bytes, int32_t device, void *stream);

/**
 * Frees memory for PyTorch's `CUDAPluggableAllocator`. If `ptr` is not memory of this library, or
 * was freed already, the failure is logged.
 *
 * - `ptr`: from `sconce_torch_malloc`; NULL is a no-op.
 * - `bytes`, `device`, `stream`: ignored, since the library knows them.
 * - torch: the `free_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`.
 */
void sconce_torch_free(void *ptr, ptrdiff_t bytes, int32_t device, void *stream);

/**
 * Allocates memory for CuPy's `CFunctionAllocator`, for this library's current stream of the
 * device in the calling thread. CuPy's own current stream has no effect on it. Returns NULL on
 * failure, with the reason in `sconce_last_error_message` and in the log. CuPy does not check for
 * NULL: the first use of the array fails.
 *
 * - `param`: ignored.
 * - `bytes`: 0 returns NULL.
 * - `device`: index.
 * - Ownership: CuPy frees the memory with `sconce_cupy_free`.
 * - Ordering: as `sconce_memory_alloc`.
 */
void *sconce_cupy_malloc(void *param, size_t bytes, int32_t device);

/**
 * Frees memory for CuPy's `CFunctionAllocator`. If `ptr` is not memory of this library, or was
 * freed already, the failure is logged.
 *
 * - `param`, `device`: ignored.
 * - `ptr`: from `sconce_cupy_malloc`; NULL is a no-op.
 */
void sconce_cupy_free(void *param, void *ptr, int32_t device);

/**
 * Allocates memory for the option `gpu_external_alloc` of ONNX Runtime's CUDA provider, as
 * `sconce_memory_alloc` does. Returns NULL on failure, with the reason in
 * `sconce_last_error_message` and in the log.
 *
 * - `bytes`: 0 returns NULL.
 * - Ownership: ONNX Runtime frees the memory with `sconce_ort_free`.
 * - Ordering: as `sconce_memory_alloc`.
 */
void *sconce_ort_alloc(size_t bytes);

/**
 * Frees memory for the option `gpu_external_free` of ONNX Runtime's CUDA provider. If `ptr` is not
 * memory of this library, or was freed already, the failure is logged.
 *
 * - `ptr`: from `sconce_ort_alloc`; NULL is a no-op.
 */
void sconce_ort_free(void *ptr);

/**
 * Empties the cache for the option `gpu_external_empty_cache` of ONNX Runtime's CUDA provider, as
 * `sconce_memory_empty_cache` does. A failure is logged.
 *
 * - Ordering: as `sconce_memory_empty_cache`.
 */
void sconce_ort_empty_cache(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_MEMORY_H_ */
