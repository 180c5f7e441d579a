/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Products of matrices, with cuBLAS and cuBLASLt.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_BLAS_H_
#define SCONCE_C_BLAS_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/dtype.h>

/**
 * Describes products of matrices, row-major as in torch: `c = alpha * op(a) @ op(b) + beta * c`.
 *
 * For a linear layer's `x @ w.T`, pass `w` as it is stored and set `transpose_b`. Begin with
 * `SCONCE_MATMUL_DESC_INIT`, which sets `batch` and `alpha` to 1.
 *
 * Strides count elements. Three strides of 0 mean that the matrices of the batch are packed; if
 * one of them is not 0, all three count.
 */
typedef struct sconce_matmul_desc {
  /**
   * `sizeof(sconce_matmul_desc)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Element type of all three: `SCONCE_DTYPE_` F16, BF16, F32, F64, C64 or C128.
   */
  int32_t dtype;
  /**
   * Rows of `op(a)` and of `c`.
   */
  int64_t m;
  /**
   * Columns of `op(b)` and of `c`.
   */
  int64_t n;
  /**
   * Columns of `op(a)`, rows of `op(b)`. If 0, the product is 0.
   */
  int64_t k;
  /**
   * Number of products; 0 does nothing.
   */
  int64_t batch;
  /**
   * Factor of the product; with 0 the elements of `a` and `b` are not read.
   */
  double alpha;
  /**
   * Factor of `c` before the product is added; with 0 the elements of `c` are not read.
   */
  double beta;
  /**
   * Whether `a` is stored as a matrix of `k` rows and `m` columns.
   */
  bool transpose_a;
  /**
   * Whether `b` is stored as a matrix of `n` rows and `k` columns.
   */
  bool transpose_b;
  /**
   * Strides of `a` as it is stored: from matrix to matrix, from row to row, from column to column.
   * A stride of 0 repeats elements.
   */
  int64_t a_strides[3];
  /**
   * Strides of `b` as it is stored.
   */
  int64_t b_strides[3];
  /**
   * Strides of `c`, whose elements must not overlap: sorted, each stride is at least what the
   * axes with smaller strides span.
   */
  int64_t c_strides[3];
} sconce_matmul_desc;

/** A `sconce_matmul_desc`: one product of packed matrices of F32, `alpha` 1, `beta` 0; set the sizes. */
#ifdef __cplusplus
#define SCONCE_MATMUL_DESC_INIT \
  {sizeof(sconce_matmul_desc), 0, 0, 0, 0, 1, 1.0, 0, false, false, {}, {}, {}}
#else
#define SCONCE_MATMUL_DESC_INIT \
  {.struct_size = sizeof(sconce_matmul_desc), .batch = 1, .alpha = 1.0}
#endif

/**
 * Statistics of one device's cuBLAS workspaces.
 */
typedef struct sconce_blas_workspace_stats {
  /**
   * `sizeof(sconce_blas_workspace_stats)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Workspaces.
   */
  uint64_t count;
  /**
   * The sum of their bytes, which the allocator counts as allocated.
   */
  uint64_t bytes;
  /**
   * The largest value that `bytes` has had.
   */
  uint64_t peak_bytes;
  /**
   * Bytes of the workspaces that are not in use. The allocator frees them before a request
   * fails.
   */
  uint64_t idle_bytes;
  /**
   * The limit of `bytes`; INT64_MAX is no limit.
   */
  uint64_t max_bytes;
  /**
   * Workspaces that were freed because memory was short, because the allocator's cache was
   * emptied, or to keep the limit.
   */
  uint64_t num_given_back;
  /**
   * How often a handle was set to no workspace because of the limit.
   */
  uint64_t num_without;
} sconce_blas_workspace_stats;

/** A `sconce_blas_workspace_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_BLAS_WORKSPACE_STATS_INIT \
  {sizeof(sconce_blas_workspace_stats), 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_BLAS_WORKSPACE_STATS_INIT \
  {.struct_size = sizeof(sconce_blas_workspace_stats)}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the calling thread's cuBLAS handle for the current device, set to the current stream,
 * with a workspace, and with the TF32 setting.
 *
 * Call it again after the current device, the current stream or a setting has changed: it returns
 * the same handle of the device with the new settings.
 *
 * - `out_handle`: receives a `cublasHandle_t`. The simulator's handle is of use to this library
 *   only.
 * - Errors: LIBRARY_NOT_FOUND: cuBLAS cannot be opened; the message lists what was searched, and
 *   `SCONCE_LIBCUBLAS` names another place. OUT_OF_MEMORY: for the handle or its workspace.
 *   INVALID_STATE: the thread is ending and has returned its handles, or the call comes from a
 *   callback of a call that is setting up the handle.
 * - Ownership: borrowed. The handle belongs to the thread until the thread ends; another thread
 *   may then receive it. The caller may change its stream, math mode and workspace: the next call
 *   of this function sets stream and math mode again, and the next product of this library or
 *   change of stream sets the workspace. The caller must restore other settings, such as the
 *   pointer mode, before the library uses the handle.
 * - Ordering: does not block, except for the first handle of a device.
 * - torch: `torch.cuda.current_blas_handle`, `at::cuda::getCurrentCUDABlasHandle`.
 */
SCONCE_NODISCARD sconce_status sconce_blas_get_handle(void **out_handle);

/**
 * Frees the cuBLAS workspaces: their memory returns to the allocator's cache. Without a device
 * there is nothing to do.
 *
 * There is one workspace for each stream that products run on, and one for each `cublasHandle_t`
 * that `sconce_blas_get_handle` returned. The allocator also frees idle workspaces before a
 * request fails, and in `sconce_memory_empty_cache`. A returned handle has no workspace until it
 * is next requested. What graphs of `sconce_graph` use stays, and goes back with the last of them.
 * Workspaces of graphs that other code captured without a private memory pool are freed by this
 * call alone: do not launch those graphs afterwards.
 *
 * - Ordering: does not block. Queued products keep their memory until they are done. The workspace
 *   of another thread's handle is freed when that thread next requests its handle, or ends.
 * - torch: `torch._C._cuda_clearCublasWorkspaces`.
 */
SCONCE_NODISCARD sconce_status sconce_blas_clear_workspaces(void);

/**
 * Multiplies matrices as `desc` describes.
 *
 * Products of F32 follow the setting `sconce_context_set_allow_tf32_cublas` at the time of the
 * call, which is true by default (unlike in torch since 1.12). Sums of F16 and BF16 are
 * accumulated in F32. Matrices with a stride of 1 neither along rows nor along columns go through
 * packed temporaries.
 *
 * - `desc`: sizes, strides, factors; begin with `SCONCE_MATMUL_DESC_INIT`.
 * - `a`, `b`: addresses of the first elements of the factors.
 * - `c`: address of the first element of the result. All three are in memory of one device,
 *   aligned to the element type; NULL is allowed for a matrix without elements.
 * - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, elements of `c` overlap each
 *   other or a factor, or a matrix is not in device memory or reaches beyond its allocation.
 *   CROSS_DEVICE: the matrices are on different devices. NOT_SUPPORTED: the type, or sizes that
 *   the installed cuBLAS does not accept. INVALID_STATE: deterministic algorithms are required,
 *   and `CUBLAS_WORKSPACE_CONFIG` is neither `:4096:8` nor `:16:8`. Otherwise as
 *   `sconce_blas_get_handle`.
 * - Ownership: the memory must stay allocated until the product is done.
 * - Ordering: queued on the current stream of the device that holds the memory.
 * - torch: `torch.matmul`, `torch.baddbmm`, `at::cuda::blas::gemm`, `at::cuda::blas::bgemm`.
 */
SCONCE_NODISCARD
sconce_status sconce_matmul(const struct sconce_matmul_desc *desc,
                            const void *a,
                            const void *b,
                            void *c);

/**
 * Multiplies matrices on a stream, which is used instead of the current one. Otherwise as
 * `sconce_matmul`.
 *
 * - `stream`: the stream on which the product is queued.
 * - Errors: CROSS_DEVICE: the memory and the stream are of different devices. Otherwise as
 *   `sconce_matmul`.
 * - Threads: any; the calling thread's device and streams have no effect and do not change.
 * - Safety: as `sconce_matmul`.
 * - torch: `torch.matmul` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_matmul_on(const struct sconce_matmul_desc *desc,
                               const void *a,
                               const void *b,
                               void *c,
                               struct sconce_stream stream);

/**
 * Reports the statistics of a device's cuBLAS workspaces, all at one moment.
 *
 * - `out_stats`: receives the statistics; begin with `SCONCE_BLAS_WORKSPACE_STATS_INIT`.
 */
SCONCE_NODISCARD
sconce_status sconce_blas_get_workspace_stats(int32_t device,
                                              struct sconce_blas_workspace_stats *out_stats);

/**
 * Limits the total size of the cuBLAS workspaces of a device. The default is the environment
 * variable `SCONCE_BLAS_WORKSPACE_MAX` (bytes, with an optional K, M or G), or no limit.
 *
 * A new workspace that would exceed the limit replaces idle ones, least recently used first. If
 * that does not suffice, the handle has no workspace: its products then use only algorithms that
 * need none, which can be slower and round differently. Idle workspaces beyond a new limit return
 * to the allocator's cache at once; workspaces in use are kept.
 *
 * - `max_bytes`: not negative, else INVALID_ARGUMENT; INT64_MAX means no limit.
 */
SCONCE_NODISCARD
sconce_status sconce_blas_set_workspace_max_bytes(int32_t device,
                                                  int64_t max_bytes);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_BLAS_H_ */
