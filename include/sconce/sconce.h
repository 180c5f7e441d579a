/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The C API.
 *
 * The following holds for every function. The comment of a function states only what deviates from it.
 *
 * **Results.** Functions that can fail return a `sconce_status`. On failure no result is written, and
 * `sconce_last_error_message()` describes the failure. The first call that needs a device initialises
 * the library, as `sconce_init` does.
 *
 * **Parameters.** `out_…` parameters receive results. A `device` is an index, or -1 for the calling
 * thread's current device. A `stream` is one that this library returned. Handles such as `event`, `pool`,
 * `generator`, `module`, `kernel`, `store`, `comm`, `work` or `tensor` are live: created by this library and
 * not destroyed. A `dim` is a dimension; it counts from the end if it is negative. A struct that begins with
 * `struct_size` is first set to its `SCONCE_…_INIT`. Sizes are in bytes where the name ends with `bytes`.
 *
 * **Errors.** Every call may return these:
 * - INVALID_ARGUMENT: a pointer is misaligned, or is NULL where the comment does not allow NULL; a
 *   `struct_size` is of no version of the struct; no field of a description has been set.
 * - INVALID_DEVICE: a `device` is out of range.
 * - INVALID_HANDLE: a handle is NULL, destroyed, or was not created by this library. For a `stream` that
 *   this library did not return: INVALID_HANDLE or INVALID_DEVICE.
 * - NO_DEVICE, LIBRARY_NOT_FOUND: the library could not be initialised; see `sconce_init`. Functions that have
 *   nothing to do without a device succeed, as in torch: those that seed, that report or reset statistics, and that
 *   give unused memory back. They report zeros, and empty texts and lists.
 * - FORKED: the process is a forked child of a process that had initialised devices.
 * - DRIVER: a driver call failed, possibly because earlier work of the device failed.
 * - NOT_SUPPORTED: the function is one of `sconce_sim_…`, and the backend is not the simulator.
 * - INTERNAL: the library has a defect.
 *
 * **Ownership.** Ownership is not transferred. The library uses the targets of pointer parameters only
 * during the call. The caller frees texts from `char **out_…` parameters with `sconce_string_free`. The
 * library detects handles that have been destroyed.
 *
 * **Ordering.** A call neither waits for a device nor for queued work. If `CUDA_LAUNCH_BLOCKING=1` is in
 * the environment, functions that queue kernels, copies or host functions wait for them.
 *
 * A call that computes on addresses has a second form whose name ends in `_on`: it does the same, as if its
 * `stream` and the stream's device were current on the calling thread. The thread's own device and streams have no
 * effect on it and do not change. Work of another device is CROSS_DEVICE; a copy between two devices needs a stream of
 * the source's device. Work on the CPU does not use the stream. Functions of tensors, of DLPack and of backward passes
 * use current streams: `sconce_stream_run`, or `sconce_stream_exchange` and `sconce_stream_restore`, make one current.
 *
 * **Threads.** Any thread may call any function at any time. Each thread has its own current device and
 * current streams.
 *
 * **Safety.** Host pointers are NULL or valid for the described access during the call: for one value, for
 * the stated number of values, or for `struct_size` bytes. Texts are NUL-terminated. Device addresses and
 * handles are checked, and never dereferenced on the host.
 *
 * **torch.** A line that begins with `torch:` names what the function corresponds to in PyTorch. Without
 * such a line, PyTorch has no counterpart.
 */

#ifndef SCONCE_SCONCE_H_
#define SCONCE_SCONCE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Marks functions whose status must be checked. A definition before this header replaces it. */
#ifndef SCONCE_NODISCARD
#if defined(__cplusplus) && __cplusplus >= 201703L
#define SCONCE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define SCONCE_NODISCARD __attribute__((warn_unused_result))
#else
#define SCONCE_NODISCARD
#endif
#endif

/** The major part of the library's version. */
#define SCONCE_VERSION_MAJOR 0
/** The minor part of the library's version. */
#define SCONCE_VERSION_MINOR 1
/** The patch part of the library's version. */
#define SCONCE_VERSION_PATCH 0

/*
 * Structs of DLPack. Programs that use them include dlpack.h (version 1.0 or newer).
 */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
struct DLPackExchangeAPI;

/*
 * Initialisers of the structs that begin with `struct_size`, their own size, in C99 and C++17:
 *
 *   sconce_matmul_desc desc = SCONCE_MATMUL_DESC_INIT;
 *
 * A struct may grow in later versions. The library accepts a struct of an older program, and one of a
 * newer program if its additional fields are 0. It refuses a description whose fields are all 0.
 */

/** A `sconce_options`: all options follow the environment. */
#ifdef __cplusplus
#define SCONCE_OPTIONS_INIT \
  {sizeof(sconce_options), 0, 0, 0, 0}
#else
#define SCONCE_OPTIONS_INIT \
  {.struct_size = sizeof(sconce_options)}
#endif

/** A `sconce_device_properties`: for results. */
#ifdef __cplusplus
#define SCONCE_DEVICE_PROPERTIES_INIT \
  {sizeof(sconce_device_properties), 0, 0, 0, {}, {}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
   0, 0, 0, 0, 0, {}, {}, 0, 0, 0, 0, 0}
#else
#define SCONCE_DEVICE_PROPERTIES_INIT \
  {.struct_size = sizeof(sconce_device_properties)}
#endif

/** A `sconce_kernel_attributes`: for results. */
#ifdef __cplusplus
#define SCONCE_KERNEL_ATTRIBUTES_INIT \
  {sizeof(sconce_kernel_attributes), 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_KERNEL_ATTRIBUTES_INIT \
  {.struct_size = sizeof(sconce_kernel_attributes)}
#endif

/** A `sconce_launch_desc`: one block of one thread. */
#ifdef __cplusplus
#define SCONCE_LAUNCH_DESC_INIT \
  {sizeof(sconce_launch_desc), {1, 1, 1}, {1, 1, 1}, {}, 0, 0, {}}
#else
#define SCONCE_LAUNCH_DESC_INIT \
  {.struct_size = sizeof(sconce_launch_desc), .grid = {1, 1, 1}, .block = {1, 1, 1}}
#endif

/** A `sconce_memory_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_MEMORY_STATS_INIT \
  {sizeof(sconce_memory_stats), 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, 0, 0, 0, 0, \
   0, 0, 0}
#else
#define SCONCE_MEMORY_STATS_INIT \
  {.struct_size = sizeof(sconce_memory_stats)}
#endif

/** A `sconce_memory_page_figures`: for results. */
#ifdef __cplusplus
#define SCONCE_MEMORY_PAGE_FIGURES_INIT \
  {sizeof(sconce_memory_page_figures), 0, 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_MEMORY_PAGE_FIGURES_INIT \
  {.struct_size = sizeof(sconce_memory_page_figures)}
#endif

/** A `sconce_sleep_desc`: to pinned memory of the host. */
#ifdef __cplusplus
#define SCONCE_SLEEP_DESC_INIT \
  {sizeof(sconce_sleep_desc), SCONCE_SLEEP_HOST_PINNED, nullptr}
#else
#define SCONCE_SLEEP_DESC_INIT \
  {.struct_size = sizeof(sconce_sleep_desc), .mode = SCONCE_SLEEP_HOST_PINNED}
#endif

/** A `sconce_memory_sleep_state`: for results. */
#ifdef __cplusplus
#define SCONCE_MEMORY_SLEEP_STATE_INIT \
  {sizeof(sconce_memory_sleep_state), 0, 0, 0}
#else
#define SCONCE_MEMORY_SLEEP_STATE_INIT \
  {.struct_size = sizeof(sconce_memory_sleep_state)}
#endif

/** A `sconce_host_memory_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_HOST_MEMORY_STATS_INIT \
  {sizeof(sconce_host_memory_stats), 0, {}, {}, {}, {}, {}, {}, {}, 0, 0}
#else
#define SCONCE_HOST_MEMORY_STATS_INIT \
  {.struct_size = sizeof(sconce_host_memory_stats)}
#endif

/** A `sconce_strided_copy`: set all of its fields. */
#ifdef __cplusplus
#define SCONCE_STRIDED_COPY_INIT \
  {sizeof(sconce_strided_copy), 0, 0, {}, {}, {}}
#else
#define SCONCE_STRIDED_COPY_INIT \
  {.struct_size = sizeof(sconce_strided_copy)}
#endif

/** A `sconce_tensor_options`: the call uses its defaults. */
#ifdef __cplusplus
#define SCONCE_TENSOR_OPTIONS_INIT \
  {sizeof(sconce_tensor_options), SCONCE_DTYPE_DEFAULT, -1, 0, false, {}}
#else
#define SCONCE_TENSOR_OPTIONS_INIT \
  {.struct_size = sizeof(sconce_tensor_options), .dtype = SCONCE_DTYPE_DEFAULT, .device = -1}
#endif

/** A `sconce_comm_config`: the defaults. */
#ifdef __cplusplus
#define SCONCE_COMM_CONFIG_INIT \
  {sizeof(sconce_comm_config), 0, 0, 0, 0, false, false, {}}
#else
#define SCONCE_COMM_CONFIG_INIT \
  {.struct_size = sizeof(sconce_comm_config)}
#endif

/** A `sconce_matmul_desc`: one product of packed matrices of F32, `alpha` 1, `beta` 0; set the sizes. */
#ifdef __cplusplus
#define SCONCE_MATMUL_DESC_INIT \
  {sizeof(sconce_matmul_desc), 0, 0, 0, 0, 1, 1.0, 0, false, false, {}, {}, {}}
#else
#define SCONCE_MATMUL_DESC_INIT \
  {.struct_size = sizeof(sconce_matmul_desc), .batch = 1, .alpha = 1.0}
#endif

/**
 * A `sconce_convolution_desc`: a forward convolution of packed F32 in 2 spatial dimensions and one group,
 * of stride 1, without padding; set channels and sizes.
 */
#ifdef __cplusplus
#define SCONCE_CONVOLUTION_DESC_INIT \
  {sizeof(sconce_convolution_desc), 0, 0, 2, 1, 0, 0, 1, {}, {}, {1, 1, 1}, {}, {1, 1, 1}, \
   {}, {}, {}}
#else
#define SCONCE_CONVOLUTION_DESC_INIT \
  {.struct_size = sizeof(sconce_convolution_desc), .spatial_rank = 2, .batch = 1, \
   .groups = 1, .stride = {1, 1, 1}, .dilation = {1, 1, 1}}
#endif

/** A `sconce_fft_desc`: one forward C2C transform of packed F32 in 1 dimension, not scaled; set the size. */
#ifdef __cplusplus
#define SCONCE_FFT_DESC_INIT \
  {sizeof(sconce_fft_desc), 0, 0, 0, 0, 1, {}, 1, 0, {}, 0, {}, false}
#else
#define SCONCE_FFT_DESC_INIT \
  {.struct_size = sizeof(sconce_fft_desc), .rank = 1, .batch = 1}
#endif

/** A `sconce_fft_cache_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_FFT_CACHE_STATS_INIT \
  {sizeof(sconce_fft_cache_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_FFT_CACHE_STATS_INIT \
  {.struct_size = sizeof(sconce_fft_cache_stats)}
#endif

/** A `sconce_blas_workspace_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_BLAS_WORKSPACE_STATS_INIT \
  {sizeof(sconce_blas_workspace_stats), 0, 0, 0, 0, 0, 0, 0}
#else
#define SCONCE_BLAS_WORKSPACE_STATS_INIT \
  {.struct_size = sizeof(sconce_blas_workspace_stats)}
#endif

/**
 * The number of the binary interface, also in the library's soname.
 */
#define SCONCE_ABI_VERSION 0

/**
 * Bytes of an interprocess handle.
 */
#define SCONCE_IPC_HANDLE_BYTES 64

/**
 * The largest number of axes of a strided copy.
 */
#define SCONCE_COPY_MOST_AXES 8

/**
 * Bytes of a generator's state: seed, then offset, little-endian.
 */
#define SCONCE_GENERATOR_STATE_BYTES 16

/**
 * Bytes of the state of a generator of the CPU.
 */
#define SCONCE_GENERATOR_CPU_STATE_BYTES 5056

/**
 * The largest number of spatial dimensions of a convolution.
 */
#define SCONCE_CONVOLUTION_MOST_SPATIAL 3

/**
 * The largest number of dimensions of a transform.
 */
#define SCONCE_FFT_MOST_RANK 3

/**
 * Stands for the CPU where a function of tensors takes a device.
 */
#define SCONCE_DEVICE_CPU -2

/**
 * Where a function takes an element type: torch's default for the call, or the tensor's own.
 */
#define SCONCE_DTYPE_DEFAULT -1

/**
 * Bytes of a `sconce_comm_id`.
 */
#define SCONCE_COMM_ID_BYTES 128

/**
 * Flag of a stream of a simulated device: the default stream does not order its work implicitly.
 * The value is CUDA's (`CU_STREAM_NON_BLOCKING`).
 */
#define SCONCE_SIM_STREAM_NON_BLOCKING 1

/**
 * The outcome of a call. Values never change once released.
 */
enum sconce_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The call succeeded.
   */
  SCONCE_OK = 0,
  /**
   * An argument is not one that the call accepts; the message names it.
   */
  SCONCE_ERROR_INVALID_ARGUMENT = 1,
  /**
   * A device index names no device.
   */
  SCONCE_ERROR_INVALID_DEVICE = 2,
  /**
   * A handle was never returned by the library, or has been destroyed.
   */
  SCONCE_ERROR_INVALID_HANDLE = 3,
  /**
   * The object or the library is in a state that does not permit the call.
   */
  SCONCE_ERROR_INVALID_STATE = 4,
  /**
   * There is no device.
   */
  SCONCE_ERROR_NO_DEVICE = 5,
  /**
   * Device or host memory is exhausted.
   */
  SCONCE_ERROR_OUT_OF_MEMORY = 6,
  /**
   * A library that is opened at run time is missing or lacks a symbol; the message lists what
   * was searched.
   */
  SCONCE_ERROR_LIBRARY_NOT_FOUND = 7,
  /**
   * The device, the driver or the backend cannot do this.
   */
  SCONCE_ERROR_NOT_SUPPORTED = 8,
  /**
   * The driver reported an error that has no status of its own; `sconce_last_error_backend_code`
   * returns its number.
   */
  SCONCE_ERROR_DRIVER = 9,
  /**
   * A call combines memory or objects of different devices that it cannot combine.
   */
  SCONCE_ERROR_CROSS_DEVICE = 10,
  /**
   * The work in question has not finished.
   */
  SCONCE_ERROR_NOT_READY = 11,
  /**
   * The process was forked after devices had been initialised; the child cannot use them.
   */
  SCONCE_ERROR_FORKED = 12,
  /**
   * An operating system's operation failed, such as writing a file.
   */
  SCONCE_ERROR_IO = 13,
  /**
   * A defect of the library itself.
   */
  SCONCE_ERROR_INTERNAL = 14,
  /**
   * What the call waited for did not happen in the given time.
   */
  SCONCE_ERROR_TIMEOUT = 15,
  /**
   * Another process or rank that takes part has failed or has gone.
   */
  SCONCE_ERROR_REMOTE = 16,
  /**
   * The operation was ended by an abort.
   */
  SCONCE_ERROR_ABORTED = 17,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_status sconce_status;
#else
typedef int32_t sconce_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The backends.
 */
enum sconce_backend
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * There is no device.
   */
  SCONCE_BACKEND_NONE = 0,
  /**
   * NVIDIA's driver.
   */
  SCONCE_BACKEND_CUDA = 1,
  /**
   * The simulated device.
   */
  SCONCE_BACKEND_SIM = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_backend sconce_backend;
#else
typedef int32_t sconce_backend;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Level of a message.
 */
enum sconce_log_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * A failure that no status reports.
   */
  SCONCE_LOG_ERROR = 1,
  /**
   * Something that the user probably does not want.
   */
  SCONCE_LOG_WARN = 2,
  /**
   * A rare event of interest.
   */
  SCONCE_LOG_INFO = 3,
  /**
   * Everything else.
   */
  SCONCE_LOG_DEBUG = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_log_level sconce_log_level;
#else
typedef int32_t sconce_log_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Precision of float32 matrix products.
 */
enum sconce_float32_matmul_precision
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * IEEE float32.
   */
  SCONCE_FLOAT32_MATMUL_PRECISION_HIGHEST = 0,
  /**
   * TF32 inputs.
   */
  SCONCE_FLOAT32_MATMUL_PRECISION_HIGH = 1,
  /**
   * The same as `HIGH` on CUDA.
   */
  SCONCE_FLOAT32_MATMUL_PRECISION_MEDIUM = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_float32_matmul_precision sconce_float32_matmul_precision;
#else
typedef int32_t sconce_float32_matmul_precision;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Flags of an event; any number of them may be combined by `|`.
 */
enum sconce_event_flags
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_event_flags sconce_event_flags;
#else
typedef uint32_t sconce_event_flags;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Kind of a segment.
 */
enum sconce_memory_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * For blocks of up to 1 MiB.
   */
  SCONCE_MEMORY_SMALL = 0,
  /**
   * For larger blocks.
   */
  SCONCE_MEMORY_LARGE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_memory_kind sconce_memory_kind;
#else
typedef int32_t sconce_memory_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * State of a block.
 */
enum sconce_block_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_block_state sconce_block_state;
#else
typedef int32_t sconce_block_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The event that an entry of the history records.
 */
enum sconce_trace_action
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_trace_action sconce_trace_action;
#else
typedef int32_t sconce_trace_action;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Element type.
 */
enum sconce_dtype
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Single precision.
   */
  SCONCE_DTYPE_F32 = 0,
  /**
   * Double precision.
   */
  SCONCE_DTYPE_F64 = 1,
  /**
   * Half precision.
   */
  SCONCE_DTYPE_F16 = 2,
  /**
   * Bfloat16.
   */
  SCONCE_DTYPE_BF16 = 3,
  /**
   * Signed byte.
   */
  SCONCE_DTYPE_I8 = 4,
  /**
   * Signed 16-bit integer.
   */
  SCONCE_DTYPE_I16 = 5,
  /**
   * Signed 32-bit integer.
   */
  SCONCE_DTYPE_I32 = 6,
  /**
   * Signed 64-bit integer.
   */
  SCONCE_DTYPE_I64 = 7,
  /**
   * Unsigned byte.
   */
  SCONCE_DTYPE_U8 = 8,
  /**
   * One byte, 0 or 1.
   */
  SCONCE_DTYPE_BOOL = 9,
  /**
   * Two singles, real and imaginary.
   */
  SCONCE_DTYPE_C64 = 10,
  /**
   * Two doubles, real and imaginary.
   */
  SCONCE_DTYPE_C128 = 11,
  /**
   * Unsigned 16-bit integer.
   */
  SCONCE_DTYPE_U16 = 12,
  /**
   * Unsigned 32-bit integer.
   */
  SCONCE_DTYPE_U32 = 13,
  /**
   * Unsigned 64-bit integer.
   */
  SCONCE_DTYPE_U64 = 14,
  /**
   * Two halves, real and imaginary.
   */
  SCONCE_DTYPE_C32 = 15,
  /**
   * 8-bit float, 4 exponent and 3 fraction bits, without infinities.
   */
  SCONCE_DTYPE_F8_E4M3FN = 16,
  /**
   * 8-bit float, 4 exponent and 3 fraction bits, without infinities and negative zero.
   */
  SCONCE_DTYPE_F8_E4M3FNUZ = 17,
  /**
   * 8-bit float, 5 exponent and 2 fraction bits.
   */
  SCONCE_DTYPE_F8_E5M2 = 18,
  /**
   * 8-bit float, 5 exponent and 2 fraction bits, without infinities and negative zero.
   */
  SCONCE_DTYPE_F8_E5M2FNUZ = 19,
  /**
   * 8-bit power of two without a sign: the scale of a block of narrow floats.
   */
  SCONCE_DTYPE_F8_E8M0FNU = 20,
  /**
   * A byte that holds two 4-bit floats of 2 exponent bits and 1 fraction bit.
   */
  SCONCE_DTYPE_F4_E2M1FN_X2 = 21,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_dtype sconce_dtype;
#else
typedef int32_t sconce_dtype;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a `sconce_scalar` is.
 */
enum sconce_scalar_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * An integer, in `integer`.
   */
  SCONCE_SCALAR_INTEGER = 0,
  /**
   * A real number, in `real`.
   */
  SCONCE_SCALAR_REAL = 1,
  /**
   * A truth value: whether `integer` is not 0.
   */
  SCONCE_SCALAR_BOOL = 2,
  /**
   * A complex number, in `real` and `imaginary`.
   */
  SCONCE_SCALAR_COMPLEX = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_scalar_kind sconce_scalar_kind;
#else
typedef int32_t sconce_scalar_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The order of a tensor's dimensions in memory.
 */
enum sconce_memory_format
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * As in the tensor that the new one is like; without one, the last dimension is innermost.
   */
  SCONCE_MEMORY_FORMAT_PRESERVE = 0,
  /**
   * The last dimension first.
   */
  SCONCE_MEMORY_FORMAT_CONTIGUOUS = 1,
  /**
   * Of four dimensions, the second one first.
   */
  SCONCE_MEMORY_FORMAT_CHANNELS_LAST = 2,
  /**
   * Of five dimensions, the second one first.
   */
  SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_memory_format sconce_memory_format;
#else
typedef int32_t sconce_memory_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * An elementwise operation of one operand, with torch's name.
 */
enum sconce_unary_operation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * `-x`.
   */
  SCONCE_UNARY_NEG = 0,
  /**
   * The absolute value; a real number, also for complex `x`.
   */
  SCONCE_UNARY_ABS = 1,
  /**
   * -1, 0 or 1.
   */
  SCONCE_UNARY_SIGN = 2,
  /**
   * The exponential.
   */
  SCONCE_UNARY_EXP = 3,
  /**
   * The natural logarithm.
   */
  SCONCE_UNARY_LOG = 4,
  /**
   * The square root.
   */
  SCONCE_UNARY_SQRT = 5,
  /**
   * `1 / sqrt(x)`.
   */
  SCONCE_UNARY_RSQRT = 6,
  /**
   * `1 / x`.
   */
  SCONCE_UNARY_RECIPROCAL = 7,
  /**
   * The sine.
   */
  SCONCE_UNARY_SIN = 8,
  /**
   * The cosine.
   */
  SCONCE_UNARY_COS = 9,
  /**
   * The hyperbolic tangent.
   */
  SCONCE_UNARY_TANH = 10,
  /**
   * `1 / (1 + exp(-x))`.
   */
  SCONCE_UNARY_SIGMOID = 11,
  /**
   * `max(x, 0)`.
   */
  SCONCE_UNARY_RELU = 12,
  /**
   * `x` times the normal distribution function of `x`.
   */
  SCONCE_UNARY_GELU = 13,
  /**
   * The approximation of GELU by `tanh`.
   */
  SCONCE_UNARY_GELU_TANH = 14,
  /**
   * `x * sigmoid(x)`.
   */
  SCONCE_UNARY_SILU = 15,
  /**
   * The error function.
   */
  SCONCE_UNARY_ERF = 16,
  /**
   * Rounded down.
   */
  SCONCE_UNARY_FLOOR = 17,
  /**
   * Rounded up.
   */
  SCONCE_UNARY_CEIL = 18,
  /**
   * To the nearest integer, ties to even.
   */
  SCONCE_UNARY_ROUND = 19,
  /**
   * Toward 0.
   */
  SCONCE_UNARY_TRUNC = 20,
  /**
   * Whether x is 0.
   */
  SCONCE_UNARY_LOGICAL_NOT = 21,
  /**
   * Inverts all bits; for BOOL, the logical negation.
   */
  SCONCE_UNARY_BITWISE_NOT = 22,
  /**
   * Whether x is NaN.
   */
  SCONCE_UNARY_IS_NAN = 23,
  /**
   * Whether x is neither infinite nor NaN.
   */
  SCONCE_UNARY_IS_FINITE = 24,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_unary_operation sconce_unary_operation;
#else
typedef int32_t sconce_unary_operation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * An elementwise operation of two operands, with torch's name.
 */
enum sconce_binary_operation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * `a + alpha * b`.
   */
  SCONCE_BINARY_ADD = 0,
  /**
   * `a - alpha * b`.
   */
  SCONCE_BINARY_SUB = 1,
  /**
   * `a * b`.
   */
  SCONCE_BINARY_MUL = 2,
  /**
   * `a / b`; a floating-point number, also for integers.
   */
  SCONCE_BINARY_DIV = 3,
  /**
   * The quotient rounded down.
   */
  SCONCE_BINARY_FLOOR_DIVIDE = 4,
  /**
   * The quotient rounded toward 0.
   */
  SCONCE_BINARY_TRUNC_DIVIDE = 5,
  /**
   * The remainder, with the sign of `b`, as in Python.
   */
  SCONCE_BINARY_REMAINDER = 6,
  /**
   * `a` to the power of `b`.
   */
  SCONCE_BINARY_POW = 7,
  /**
   * The smaller of the two; NaN if either is NaN.
   */
  SCONCE_BINARY_MINIMUM = 8,
  /**
   * The larger of the two; NaN if either is NaN.
   */
  SCONCE_BINARY_MAXIMUM = 9,
  /**
   * Whether `a == b`.
   */
  SCONCE_BINARY_EQ = 10,
  /**
   * Whether `a != b`.
   */
  SCONCE_BINARY_NE = 11,
  /**
   * Whether `a < b`.
   */
  SCONCE_BINARY_LT = 12,
  /**
   * Whether `a <= b`.
   */
  SCONCE_BINARY_LE = 13,
  /**
   * Whether `a > b`.
   */
  SCONCE_BINARY_GT = 14,
  /**
   * Whether `a >= b`.
   */
  SCONCE_BINARY_GE = 15,
  /**
   * `a & b`.
   */
  SCONCE_BINARY_BITWISE_AND = 16,
  /**
   * `a | b`.
   */
  SCONCE_BINARY_BITWISE_OR = 17,
  /**
   * `a ^ b`.
   */
  SCONCE_BINARY_BITWISE_XOR = 18,
  /**
   * Whether both are nonzero.
   */
  SCONCE_BINARY_LOGICAL_AND = 19,
  /**
   * Whether at least one is nonzero.
   */
  SCONCE_BINARY_LOGICAL_OR = 20,
  /**
   * Whether exactly one is nonzero.
   */
  SCONCE_BINARY_LOGICAL_XOR = 21,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_binary_operation sconce_binary_operation;
#else
typedef int32_t sconce_binary_operation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A reduction, with torch's name.
 */
enum sconce_reduction
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The sum; 0 if there are no elements. Integers are added as I64.
   */
  SCONCE_REDUCE_SUM = 0,
  /**
   * The mean of floating-point or complex numbers; NaN if there are no elements.
   */
  SCONCE_REDUCE_MEAN = 1,
  /**
   * The product; 1 if there are no elements.
   */
  SCONCE_REDUCE_PROD = 2,
  /**
   * The largest element; NaN if any element is NaN.
   */
  SCONCE_REDUCE_AMAX = 3,
  /**
   * The smallest element; NaN if any element is NaN.
   */
  SCONCE_REDUCE_AMIN = 4,
  /**
   * The index of the first largest element, as I64.
   */
  SCONCE_REDUCE_ARGMAX = 5,
  /**
   * The index of the first smallest element, as I64.
   */
  SCONCE_REDUCE_ARGMIN = 6,
  /**
   * Whether all elements are nonzero.
   */
  SCONCE_REDUCE_ALL = 7,
  /**
   * Whether any element is nonzero.
   */
  SCONCE_REDUCE_ANY = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_reduction sconce_reduction;
#else
typedef int32_t sconce_reduction;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A calculation along a dimension, with torch's name.
 */
enum sconce_line_operation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The softmax: `exp(x)` divided by the sum of `exp(x)`.
   */
  SCONCE_LINE_SOFTMAX = 0,
  /**
   * The logarithm of the softmax.
   */
  SCONCE_LINE_LOG_SOFTMAX = 1,
  /**
   * The running sum: for each element, the sum of the elements up to it.
   */
  SCONCE_LINE_CUMSUM = 2,
  /**
   * The running product: for each element, the product of the elements up to it.
   */
  SCONCE_LINE_CUMPROD = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_line_operation sconce_line_operation;
#else
typedef int32_t sconce_line_operation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a convolution computes.
 */
enum sconce_convolution_operation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Computes the output from `a`, the input, and `b`, the filter.
   */
  SCONCE_CONVOLUTION_FORWARD = 0,
  /**
   * Computes the input's gradient from `a`, the output's gradient, and `b`, the filter.
   */
  SCONCE_CONVOLUTION_BACKWARD_DATA = 1,
  /**
   * Computes the filter's gradient from `a`, the output's gradient, and `b`, the input.
   */
  SCONCE_CONVOLUTION_BACKWARD_FILTER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_convolution_operation sconce_convolution_operation;
#else
typedef int32_t sconce_convolution_operation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kinds of numbers that a transform reads and writes.
 */
enum sconce_fft_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_fft_kind sconce_fft_kind;
#else
typedef int32_t sconce_fft_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Direction of a transform.
 */
enum sconce_fft_direction
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The sign of the exponent is minus.
   */
  SCONCE_FFT_FORWARD = 0,
  /**
   * The sign of the exponent is plus.
   */
  SCONCE_FFT_INVERSE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_fft_direction sconce_fft_direction;
#else
typedef int32_t sconce_fft_direction;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The number by which the results of a transform are divided.
 */
enum sconce_fft_normalization
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_fft_normalization sconce_fft_normalization;
#else
typedef int32_t sconce_fft_normalization;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How strictly calls are checked while a stream is captured. The values are CUDA's.
 */
enum sconce_capture_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_capture_mode sconce_capture_mode;
#else
typedef int32_t sconce_capture_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Whether a stream is being captured. The values are CUDA's.
 */
enum sconce_capture_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_capture_status sconce_capture_status;
#else
typedef int32_t sconce_capture_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How the values of all ranks are combined. NCCL chooses the order in which floating-point numbers
 * are added; the simulator adds them in the order of the ranks. As in torch, the sum of bools is
 * their maximum, and the product is their minimum. Complex numbers support sums and averages only.
 */
enum sconce_comm_op
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The sum.
   */
  SCONCE_COMM_SUM = 0,
  /**
   * The product.
   */
  SCONCE_COMM_PROD = 1,
  /**
   * The smallest value.
   */
  SCONCE_COMM_MIN = 2,
  /**
   * The largest value.
   */
  SCONCE_COMM_MAX = 3,
  /**
   * The sum divided by the number of ranks.
   */
  SCONCE_COMM_AVG = 4,
  /**
   * The sum of each rank's values, multiplied by a factor that the rank passes.
   */
  SCONCE_COMM_PREMUL_SUM = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_comm_op sconce_comm_op;
#else
typedef int32_t sconce_comm_op;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a conditional node does with its condition. The values are CUDA's.
 */
enum sconce_graph_conditional_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_graph_conditional_kind sconce_graph_conditional_kind;
#else
typedef int32_t sconce_graph_conditional_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What the memory of a private pool is made of.
 */
enum sconce_memory_policy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_memory_policy sconce_memory_policy;
#else
typedef int32_t sconce_memory_policy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Where the bytes of live blocks are while their pool sleeps.
 */
enum sconce_sleep_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_sleep_mode sconce_sleep_mode;
#else
typedef int32_t sconce_sleep_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What live blocks contain after their pool has woken.
 */
enum sconce_wake_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
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
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_wake_mode sconce_wake_mode;
#else
typedef int32_t sconce_wake_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Recorded operations and leaves, over which backward passes run. Opaque; created by
 * `sconce_backward_graph_create`.
 */
typedef struct sconce_backward_graph sconce_backward_graph;

/**
 * One rank's end of a communicator. Opaque; created by `sconce_comm_init_rank`, `_init_store`,
 * `_init_all` or `_split`.
 */
typedef struct sconce_comm sconce_comm;

/**
 * An asynchronous call of a communicator. Opaque; calls create it.
 */
typedef struct sconce_comm_work sconce_comm_work;

/**
 * A point in a stream's work. Opaque; created by `sconce_event_create`.
 */
typedef struct sconce_event sconce_event;

/**
 * A generator of random numbers: a seed, and an offset in the sequence that belongs to the seed.
 * Opaque; created by `sconce_generator_create`, or the default generator of a device or of the
 * CPU. As in torch, a generator of the CPU (`SCONCE_DEVICE_CPU`) has the state of a Mersenne
 * Twister instead of an offset.
 */
typedef struct sconce_generator sconce_generator;

/**
 * A CUDA graph: work that is captured from a stream once and launched any number of times. Opaque;
 * created by `sconce_graph_create`.
 */
typedef struct sconce_graph sconce_graph;

/**
 * A kernel of a module. Opaque; returned by `sconce_kernel_get`, and valid as long as its module.
 */
typedef struct sconce_kernel sconce_kernel;

/**
 * CUDA C++ with kernels of the program, to be compiled at run time. Opaque; created by
 * `sconce_kernel_source_create`.
 */
typedef struct sconce_kernel_source sconce_kernel_source;

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
 * Code with kernels of the program. Opaque; created by `sconce_module_load`, `sconce_module_load_file`
 * and `sconce_kernel_source_compile`.
 */
typedef struct sconce_module sconce_module;

/**
 * A table of keys and values that the processes of a job share. Opaque; created by a `sconce_store_create_`
 * function.
 */
typedef struct sconce_store sconce_store;

/**
 * A tensor: memory, seen through a data type, sizes, strides and an offset. Opaque. The caller
 * releases every handle that a function returns with `sconce_tensor_release`. A view keeps its
 * memory alive.
 */
typedef struct sconce_tensor sconce_tensor;

/**
 * A function that receives log messages: the level (`SCONCE_LOG_…`), the text, and the caller's
 * pointer.
 */
typedef void (*sconce_log_callback)(int32_t level, const char *message, void *user);

/**
 * Options of `sconce_init_with`. A field that is 0 follows the environment.
 */
typedef struct sconce_options {
  /**
   * `sizeof(sconce_options)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_BACKEND_CUDA` or `_SIM`; `_NONE` (0) follows the environment variable
   * `SCONCE_BACKEND`.
   */
  int32_t backend;
  /**
   * Simulated devices, 1 to 64. If it is 0, `CUDA_VISIBLE_DEVICES` applies to those of the environment.
   */
  int32_t sim_devices;
  /**
   * Streaming multiprocessors of each simulated device.
   */
  int32_t sim_sms;
  /**
   * Memory of each simulated device, in bytes.
   */
  uint64_t sim_memory_bytes;
} sconce_options;

/**
 * Properties of a device.
 */
typedef struct sconce_device_properties {
  /**
   * `sizeof(sconce_device_properties)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Compute capability, major part.
   */
  int32_t major;
  /**
   * Compute capability, minor part.
   */
  int32_t minor;
  /**
   * Streaming multiprocessors.
   */
  int32_t multi_processor_count;
  /**
   * Marketing name, NUL-terminated.
   */
  char name[256];
  /**
   * Unique id, the same in every process.
   */
  uint8_t uuid[16];
  /**
   * Total memory of the device, in bytes.
   */
  uint64_t total_memory_bytes;
  /**
   * L2 cache, in bytes.
   */
  uint64_t l2_cache_bytes;
  /**
   * Shared memory a block can have without opting in, in bytes.
   */
  uint64_t shared_memory_per_block_bytes;
  /**
   * Shared memory a block can have after opting in, in bytes.
   */
  uint64_t shared_memory_per_block_optin_bytes;
  /**
   * Shared memory a multiprocessor has, in bytes.
   */
  uint64_t shared_memory_per_multi_processor_bytes;
  /**
   * Threads a multiprocessor can hold.
   */
  int32_t max_threads_per_multi_processor;
  /**
   * Threads a block can have.
   */
  int32_t max_threads_per_block;
  /**
   * Threads a warp has.
   */
  int32_t warp_size;
  /**
   * 32-bit registers a multiprocessor has.
   */
  int32_t registers_per_multi_processor;
  /**
   * Core clock, in kHz.
   */
  int32_t clock_rate_khz;
  /**
   * Memory clock, in kHz.
   */
  int32_t memory_clock_rate_khz;
  /**
   * Width of the memory bus, in bits.
   */
  int32_t memory_bus_width_bits;
  /**
   * PCI domain.
   */
  int32_t pci_domain_id;
  /**
   * PCI bus.
   */
  int32_t pci_bus_id;
  /**
   * PCI device.
   */
  int32_t pci_device_id;
  /**
   * 1 when the device shares the host's memory, else 0.
   */
  int32_t integrated;
  /**
   * 1 when the device is one of several on a board, else 0.
   */
  int32_t is_multi_gpu_board;
  /**
   * Threads that a block can have in x, y and z.
   */
  int32_t max_block_size[3];
  /**
   * Blocks that a grid can have in x, y and z.
   */
  int32_t max_grid_size[3];
  /**
   * Constant memory, in bytes.
   */
  uint64_t constant_memory_bytes;
  /**
   * 32-bit registers that a block can have.
   */
  int32_t registers_per_block;
  /**
   * Blocks that a multiprocessor can hold.
   */
  int32_t max_blocks_per_multi_processor;
  /**
   * 1 when the device supports cooperative launches, whose blocks can wait for each other, else
   * 0.
   */
  int32_t cooperative_launch;
  /**
   * 1 when the device runs several kernels at the same time, else 0.
   */
  int32_t concurrent_kernels;
} sconce_device_properties;

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

/**
 * Resources that a kernel needs on a device, and the limits of a launch. Begin with
 * `SCONCE_KERNEL_ATTRIBUTES_INIT`.
 */
typedef struct sconce_kernel_attributes {
  /**
   * `sizeof(sconce_kernel_attributes)`.
   */
  uint32_t struct_size;
  /**
   * Registers of a thread.
   */
  uint32_t registers;
  /**
   * Shared memory of a block that the kernel declares, in bytes.
   */
  uint32_t static_shared_bytes;
  /**
   * Local memory of a thread, in bytes.
   */
  uint32_t local_bytes;
  /**
   * Constant memory that the kernel declares, in bytes.
   */
  uint32_t constant_bytes;
  /**
   * The largest number of threads that a block may have.
   */
  uint32_t max_threads_per_block;
  /**
   * Dynamic shared memory that a launch may have at present, in bytes. A launch with more raises
   * this limit.
   */
  uint32_t dynamic_shared_bytes;
  /**
   * The largest dynamic shared memory that a launch may have, in bytes.
   */
  uint32_t most_dynamic_shared_bytes;
} sconce_kernel_attributes;

/**
 * How a kernel is launched. Begin with `SCONCE_LAUNCH_DESC_INIT`: one block of one thread.
 */
typedef struct sconce_launch_desc {
  /**
   * `sizeof(sconce_launch_desc)`.
   */
  uint32_t struct_size;
  /**
   * Blocks of the grid along x, y and z; 0 along y or z counts as 1.
   */
  uint32_t grid[3];
  /**
   * Threads of a block along x, y and z; 0 along y or z counts as 1.
   */
  uint32_t block[3];
  /**
   * Blocks of a cluster along x, y and z, of which the grid is a multiple; all 0: no clusters, or
   * those that the kernel declares. 0 along y or z counts as 1.
   */
  uint32_t cluster[3];
  /**
   * Dynamic shared memory of a block, in bytes.
   */
  uint32_t shared_bytes;
  /**
   * Whether all blocks run at the same time, so that they may wait for each other
   * (`grid.sync()`).
   */
  bool cooperative;
  /**
   * 0.
   */
  uint8_t reserved[3];
} sconce_launch_desc;

/**
 * The seed and offset of a kernel: two numbers, or the address in device memory that holds them.
 */
typedef struct sconce_philox_state {
  /**
   * The seed; 0 when `device_state` is not NULL.
   */
  uint64_t seed;
  /**
   * Where the reserved range begins, in 32-bit words; 0 when `device_state` is not NULL.
   */
  uint64_t offset;
  /**
   * NULL, or the device address of seed and offset, which the kernel reads when it runs.
   */
  const uint64_t *device_state;
} sconce_philox_state;

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

/**
 * Describes a convolution (a cross-correlation, as in torch) of 1 to 3 spatial dimensions. Begin
 * with `SCONCE_CONVOLUTION_DESC_INIT`.
 *
 * Strides count elements. The order is batch, channels, spatial dimensions from the outermost; for
 * the filter it is output channels, input channels of a group, spatial dimensions. If all strides
 * of a tensor are 0, the tensor is packed in that order. Entries past `spatial_rank` are not read.
 */
typedef struct sconce_convolution_desc {
  /**
   * `sizeof(sconce_convolution_desc)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * Element type of all three: `SCONCE_DTYPE_` F16, BF16, F32 or F64.
   */
  int32_t dtype;
  /**
   * What is computed, one of `SCONCE_CONVOLUTION_…`.
   */
  int32_t operation;
  /**
   * Number of spatial dimensions, 1 to 3.
   */
  int32_t spatial_rank;
  /**
   * Number of images; with 0 the filter's gradient is 0.
   */
  int64_t batch;
  /**
   * Channels of the input, a multiple of `groups`.
   */
  int64_t in_channels;
  /**
   * Channels of the output, a multiple of `groups`.
   */
  int64_t out_channels;
  /**
   * Number of groups into which the channels are divided, at least 1.
   */
  int64_t groups;
  /**
   * Spatial sizes of the input.
   */
  int64_t input_sizes[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Spatial sizes of the filter.
   */
  int64_t filter_sizes[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Step of the filter, at least 1.
   */
  int64_t stride[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Zeros on each side of the input.
   */
  int64_t padding[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Distance of the filter's elements on the input, at least 1.
   */
  int64_t dilation[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Strides of the input, or of its gradient.
   */
  int64_t input_strides[5];
  /**
   * Strides of the filter, or of its gradient.
   */
  int64_t filter_strides[5];
  /**
   * Strides of the output, or of its gradient.
   */
  int64_t output_strides[5];
} sconce_convolution_desc;

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

/**
 * Type, device and memory format of a new tensor. Begin with `SCONCE_TENSOR_OPTIONS_INIT`, with
 * which the call uses its defaults.
 */
typedef struct sconce_tensor_options {
  /**
   * `sizeof(sconce_tensor_options)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_DTYPE_…`, or `SCONCE_DTYPE_DEFAULT`.
   */
  int32_t dtype;
  /**
   * An index, `SCONCE_DEVICE_CPU`, or -1 for the default of the call: the current device, or for
   * a `…_like` function the device of the other tensor. If `pinned` is true, -1 is the CPU.
   */
  int32_t device;
  /**
   * `SCONCE_MEMORY_FORMAT_…`.
   */
  int32_t memory_format;
  /**
   * Whether memory of the CPU is page-locked.
   */
  bool pinned;
  /**
   * 0, else INVALID_ARGUMENT.
   */
  uint8_t reserved[7];
} sconce_tensor_options;

/**
 * A number. Its kind affects the type of results, as the kind of a Python number does in torch.
 */
typedef struct sconce_scalar {
  /**
   * `SCONCE_SCALAR_…`.
   */
  int32_t kind;
  /**
   * 0.
   */
  int32_t reserved;
  /**
   * The value of an integer or a truth value.
   */
  int64_t integer;
  /**
   * The value of a real number, or the real part of a complex number.
   */
  double real;
  /**
   * The imaginary part of a complex number.
   */
  double imaginary;
} sconce_scalar;

/**
 * Returns memory to its owner. Called once, with the `context` that was passed with the function,
 * on any thread, possibly at exit.
 */
typedef void (*sconce_deleter)(void *context);

/**
 * Where a gradient goes.
 */
typedef struct sconce_backward_edge {
  /**
   * The number of a node; 0: the gradient is not used.
   */
  uint64_t node;
  /**
   * Which input of the node: 0 for a leaf, else the index of the forward operation's result to
   * which the gradient belongs.
   */
  uint64_t input;
} sconce_backward_edge;

/**
 * Computes the gradients of an operation's inputs from those of its results.
 *
 * `gradients` has an entry for each result of the operation; an entry is NULL if the result has no
 * gradient. The function borrows these tensors. `out_gradients` has an entry for each edge. The
 * function sets an entry to a tensor whose ownership it transfers, or leaves it NULL. To return a
 * tensor of `gradients`, it first retains that tensor with `sconce_tensor_retain`. It returns
 * `SCONCE_OK` or another status, and does not throw. The node's device and stream are current
 * during the call.
 */
typedef int32_t (*sconce_backward_function)(void *context,
                                            struct sconce_tensor *const *gradients,
                                            size_t gradient_count,
                                            struct sconce_tensor **out_gradients,
                                            size_t out_count);

/**
 * Where a backward pass begins.
 */
typedef struct sconce_backward_root {
  /**
   * The number of a node.
   */
  uint64_t node;
  /**
   * Which input of the node.
   */
  uint64_t input;
  /**
   * The initial gradient.
   */
  struct sconce_tensor *gradient;
} sconce_backward_root;

/**
 * Receives the error of `sconce_dlpack_allocator`: the name of a Python exception, and a message.
 */
typedef void (*sconce_dlpack_set_error)(void *error_ctx, const char *kind, const char *message);

/**
 * The bytes with which the ranks of a communicator find each other.
 */
typedef struct sconce_comm_id {
  /**
   * Opaque bytes, copied unchanged from rank to rank.
   */
  uint8_t bytes[SCONCE_COMM_ID_BYTES];
} sconce_comm_id;

/**
 * Configuration of a communicator. All ranks must pass the same. Begin with
 * `SCONCE_COMM_CONFIG_INIT`; a field that is 0 has its default.
 */
typedef struct sconce_comm_config {
  /**
   * `sizeof(sconce_comm_config)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * The fewest thread blocks of a call; 0: NCCL chooses.
   */
  int32_t min_ctas;
  /**
   * The most thread blocks of a call; 0: NCCL chooses.
   */
  int32_t max_ctas;
  /**
   * Thread blocks of a cluster; 0: NCCL chooses.
   */
  int32_t cga_cluster_size;
  /**
   * Timeout of calls that wait for other ranks, and of queued calls, in milliseconds. When it
   * expires, the communicator is aborted. 0: calls that wait fail after 10 minutes, and queued
   * calls have no timeout. -1: no timeout.
   */
  int64_t timeout_ms;
  /**
   * Whether communicators that are split from this one share its resources.
   */
  bool split_share;
  /**
   * Whether the stream of asynchronous calls has the highest priority.
   */
  bool high_priority;
  /**
   * 0.
   */
  uint8_t reserved[6];
} sconce_comm_config;

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

/**
 * The work of `sconce_parallel_for`: the numbers from `begin` to `end`, without `end`. No exception may leave it.
 */
typedef void (*sconce_range_function)(int64_t begin, int64_t end, void *context);

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
#endif // __cplusplus

/**
 * Returns the spelling of a status, e.g. `SCONCE_ERROR_NOT_READY`, as a static string.
 *
 * - `status`: any number; `SCONCE_STATUS_UNKNOWN` is returned for one that is no status.
 * - torch: `cudaGetErrorName`.
 */
const char *sconce_status_name(int32_t status);

/**
 * Returns the message of the calling thread's most recent failed call. The message names the
 * argument that was wrong, or the driver call that failed and the driver's name for the error.
 *
 * Never NULL: the text is empty before the first failure. A successful call does not change it.
 *
 * - Ownership: borrowed. The text stays as it is until the thread has read the message of a later failure, so it may be
 *   an argument beside a call that fails, and until the thread's end.
 * - torch: the text of the exception that torch would throw.
 */
const char *sconce_last_error_message(void);

/**
 * Returns the driver's error number for the calling thread's most recent failed call. 0 if no
 * driver call caused that failure, or if no call has failed yet.
 *
 * - torch: `cudaGetLastError`, whose result torch puts into its exceptions. Unlike there, reading
 *   the number does not clear it.
 */
int32_t sconce_last_error_backend_code(void);

/**
 * Frees a string that a function returned through a `char **out_…` parameter.
 *
 * - `text`: the string; NULL is a no-op.
 * - Ownership: the library takes the string back.
 * - Safety: `text` is NULL, or came from this library and has not been freed.
 */
void sconce_string_free(char *text);

/**
 * Returns the library's version, e.g. `0.1.0` (semantic versioning), as a static string.
 *
 * - torch: `torch.__version__`.
 */
const char *sconce_version(void);

/**
 * Returns the number of the binary interface, to be compared with `SCONCE_ABI_VERSION` of the
 * header.
 */
uint32_t sconce_abi_version(void);

/**
 * Sends log messages to a function of the caller instead of standard error.
 *
 * `SCONCE_LOG` = `off`, `error`, `warn` (default), `info` or `debug` selects the messages. A
 * message is delivered at the end of the call that caused it. The library holds no lock at that
 * time, so the callback may call the library. Messages that the callback itself causes are
 * delivered after it has returned.
 *
 * - `callback`: NULL sends messages to standard error again.
 * - `user`: passed to each call of `callback`.
 * - Ownership: the message is borrowed for the call of `callback`. `callback` and `user` must stay
 *   usable until another callback has been set and no call of the old one is under way.
 * - Threads: several threads may call `callback` at once.
 * - Safety: `callback` does not unwind, and `user` is what it expects.
 * - torch: `c10::SetLogger`; torch's warnings go through Python.
 */
void sconce_log_set_callback(sconce_log_callback callback, void *user);

/**
 * Logs a failure that the caller cannot report: in destructors, finalizers and callbacks, which
 * return no status. The message has the level `SCONCE_LOG_ERROR`. It consists of `what`, the name
 * of the status, and `sconce_last_error_message()`.
 *
 * Logs nothing in a forked child, and nothing after the driver has shut down at the end of the
 * process, because then the objects that the failed call would have released no longer exist.
 *
 * - `status`: what the failed call of this thread returned; `SCONCE_OK` logs nothing.
 * - `what`: the operation that failed, e.g. `freeing a buffer`; NULL omits it.
 * - Threads: called by the thread of the failed call, before its next call.
 * - torch: `C10_CUDA_CHECK_WARN`, with which torch's destructors warn.
 */
void sconce_log_failure(int32_t status, const char *what);

/**
 * Logs a message of the caller in the same way as the library's own messages. For libraries that
 * build on this one.
 *
 * - `level`: `SCONCE_LOG_…`; a message of another level is logged as an error.
 * - `message`: the text; NULL logs nothing.
 * - torch: `TORCH_WARN`.
 */
void sconce_log_message(int32_t level, const char *message);

/**
 * Initialises the library: finds the backend and its devices. Optional, since every call that
 * needs a device initialises the library. Later calls do nothing.
 *
 * Makes no context on any device. Takes as long as opening the driver takes.
 *
 * - Errors: NO_DEVICE: there is no CUDA device, and `SCONCE_BACKEND` does not name another
 *   backend; the message lists what was searched. LIBRARY_NOT_FOUND: `SCONCE_BACKEND=cuda`, and
 *   `libcuda` is missing.
 * - torch: `torch.cuda.init()`.
 */
SCONCE_NODISCARD sconce_status sconce_init(void);

/**
 * Initialises the library with a backend that the caller chooses, and for the simulator with the
 * devices that the caller chooses. The call is also allowed after a call that found no device.
 *
 * - `options`: begin with `SCONCE_OPTIONS_INIT`; fields that are 0 follow the environment.
 * - Errors: INVALID_ARGUMENT: a field is out of range. INVALID_STATE: the library is initialised
 *   with other options. Otherwise as `sconce_init`.
 */
SCONCE_NODISCARD sconce_status sconce_init_with(const struct sconce_options *options);

/**
 * Returns the backend in use; determines it if the library has not been initialised.
 * `SCONCE_BACKEND_NONE` if there is no device, and in a forked child.
 *
 * Makes no context and does not initialise the library.
 */
sconce_backend sconce_backend_get_active(void);

/**
 * Returns whether there is a device; `CUDA_VISIBLE_DEVICES` is respected. False in a forked child.
 *
 * Makes no context and does not initialise the library. The process can still fork afterwards, as
 * after `sconce_device_count`.
 *
 * - torch: `torch.cuda.is_available()`.
 */
bool sconce_is_available(void);

/**
 * Returns whether the library has been initialised in this process. False in a forked child.
 *
 * - torch: `torch.cuda.is_initialized()`.
 */
bool sconce_is_initialized(void);

/**
 * Sets whether products of float32 matrices use TF32. True by default; products of compiled models and
 * kernel libraries (libsconce_torch) do not use TF32 by default, as in torch since 1.12, and follow
 * this setting once it is set. `NVIDIA_TF32_OVERRIDE=0` in the environment overrides the setting with
 * false.
 *
 * This setting and the other `sconce_context_…` settings hold for the whole process. Calls that
 * start later see a change.
 *
 * - torch: `at::globalContext().setAllowTF32CuBLAS`.
 */
void sconce_context_set_allow_tf32_cublas(bool allow);

/**
 * Returns whether products of float32 matrices use TF32 on the calling thread: the setting of the
 * thread if it has one, else the setting of the process.
 *
 * - torch: `at::globalContext().allowTF32CuBLAS`.
 */
bool sconce_context_get_allow_tf32_cublas(void);

/**
 * Returns what was set for products of float32 matrices on the calling thread: 1 or 0 if the thread,
 * the process or the environment has a setting, and -1 if nothing was set, so that each library
 * follows its default.
 *
 * - torch: no equivalent.
 */
int32_t sconce_context_get_allow_tf32_cublas_setting(void);

/**
 * Sets whether products of float32 matrices use TF32 on the calling thread, regardless of the
 * setting of the process. `NVIDIA_TF32_OVERRIDE=0` in the environment overrides the setting with
 * false.
 *
 * - `allow`: 0 or 1; -1 follows the setting of the process, which is the default.
 * - `out_before`: receives the previous setting, with the same values as `allow`.
 * - Errors: INVALID_ARGUMENT: `allow` is another number.
 */
SCONCE_NODISCARD
sconce_status sconce_context_set_thread_allow_tf32_cublas(int32_t allow,
                                                          int32_t *out_before);

/**
 * Sets whether convolutions use TF32. True by default. `NVIDIA_TF32_OVERRIDE=0` in the environment
 * overrides the setting with false.
 *
 * - torch: `at::globalContext().setAllowTF32CuDNN`.
 */
void sconce_context_set_allow_tf32_cudnn(bool allow);

/**
 * Returns whether convolutions use TF32.
 *
 * - torch: `at::globalContext().allowTF32CuDNN`.
 */
bool sconce_context_get_allow_tf32_cudnn(void);

/**
 * Sets whether convolutions measure cuDNN's engines and keep the fastest. False by default.
 *
 * - torch: `at::globalContext().setBenchmarkCuDNN`.
 */
void sconce_context_set_benchmark_cudnn(bool benchmark);

/**
 * Returns whether convolutions measure cuDNN's engines and keep the fastest.
 *
 * - torch: `at::globalContext().benchmarkCuDNN`.
 */
bool sconce_context_get_benchmark_cudnn(void);

/**
 * Sets the largest number of cuDNN's engines that are measured for a shape. 10 by default.
 *
 * - `limit`: the number of engines, in the order in which cuDNN recommends them; 0 means all. A
 *   negative number is INVALID_ARGUMENT.
 * - torch: `torch.backends.cudnn.benchmark_limit`.
 */
SCONCE_NODISCARD sconce_status sconce_context_set_benchmark_limit_cudnn(int32_t limit);

/**
 * Returns the largest number of cuDNN's engines that are measured for a shape; 0 means all.
 *
 * - torch: `torch.backends.cudnn.benchmark_limit`.
 */
int32_t sconce_context_get_benchmark_limit_cudnn(void);

/**
 * Sets whether convolutions use only deterministic engines of cuDNN. False by default.
 *
 * - torch: `at::globalContext().setDeterministicCuDNN`.
 */
void sconce_context_set_deterministic_cudnn(bool deterministic);

/**
 * Returns whether convolutions use only deterministic engines of cuDNN.
 *
 * - torch: `at::globalContext().deterministicCuDNN`.
 */
bool sconce_context_get_deterministic_cudnn(void);

/**
 * Sets whether all libraries use only deterministic algorithms. False by default.
 *
 * - torch: `at::globalContext().setDeterministicAlgorithms`.
 */
void sconce_context_set_deterministic_algorithms(bool deterministic);

/**
 * Returns whether all libraries use only deterministic algorithms.
 *
 * - torch: `at::globalContext().deterministicAlgorithms`.
 */
bool sconce_context_get_deterministic_algorithms(void);

/**
 * Sets the precision of float32 matrix products. HIGHEST disables TF32 in them, the other two
 * enable it.
 *
 * - `precision`: one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`; another number is INVALID_ARGUMENT.
 * - torch: `torch.set_float32_matmul_precision`.
 */
SCONCE_NODISCARD sconce_status sconce_context_set_float32_matmul_precision(int32_t precision);

/**
 * Returns the precision of float32 matrix products, one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`.
 *
 * - torch: `torch.get_float32_matmul_precision`.
 */
int32_t sconce_context_get_float32_matmul_precision(void);

/**
 * Returns the number of devices; `CUDA_VISIBLE_DEVICES` is respected. 0 without a backend, and in
 * a forked child.
 *
 * Makes no context and does not initialise the library. The process can still fork afterwards,
 * unless NVML is missing or a device is divided (MIG).
 *
 * - torch: `torch.cuda.device_count()`, `c10::cuda::device_count()`.
 */
int32_t sconce_device_count(void);

/**
 * Reports the calling thread's current device. It is device 0 when a thread starts.
 *
 * - `out_device`: receives the index.
 * - torch: `torch.cuda.current_device()`, `c10::cuda::current_device()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_get_current(int32_t *out_device);

/**
 * Makes a device the calling thread's current one, for this library and for the CUDA runtime in
 * the same thread.
 *
 * The first use of a device makes its context, which blocks. With `SCONCE_CHECK_DEVICE=1`, the
 * default of debug builds, the current device follows a `cudaSetDevice` that other code calls on
 * the thread, and the library logs one warning. Otherwise the library does not notice such a call.
 *
 * - `device`: index; a negative one changes nothing, as in torch, and needs no device.
 * - torch: `torch.cuda.set_device()`, `c10::cuda::set_device()`; switching back to device 0 makes
 *   no context there.
 */
SCONCE_NODISCARD sconce_status sconce_device_set_current(int32_t device);

/**
 * Makes a device the calling thread's current one and reports the previous one. Device guards are
 * built on it.
 *
 * Blocks as `sconce_device_set_current`. Makes no driver call if `device` is current already,
 * except for the check of the device.
 *
 * - `device`: index; -1 keeps the current one, and needs no device.
 * - `out_previous`: receives the index of the device that was current; -1 without a device.
 * - torch: `c10::cuda::ExchangeDevice`; `CUDAGuard(-1)` corresponds to -1.
 */
SCONCE_NODISCARD sconce_status sconce_device_exchange(int32_t device, int32_t *out_previous);

/**
 * Reports whether a device's primary context exists, whichever code of the process made it. Makes
 * no context.
 *
 * - `out_active`: receives the answer.
 * - torch: `c10::cuda::hasPrimaryContext`.
 */
SCONCE_NODISCARD sconce_status sconce_device_has_context(int32_t device, bool *out_active);

/**
 * Waits until a device has finished all work queued on it so far, on every stream. Does not change
 * the current device. Memory of graphs and pools that are gone and that had to wait for launches goes
 * back to the driver.
 *
 * - Errors: INVALID_STATE: a stream of the device is being captured, by whatever thread; the capture
 *   stays valid. Only captures of other code on streams of its own may be lost.
 * - Ordering: blocks the calling thread.
 * - torch: `torch.cuda.synchronize(device)`, which invalidates captures.
 */
SCONCE_NODISCARD
sconce_status sconce_device_synchronize(int32_t device);

/**
 * Waits as `sconce_device_synchronize`, unless a stream of the device is being captured.
 *
 * - `out_waited`: receives whether it has waited.
 * - Ordering: as `sconce_device_synchronize`.
 */
SCONCE_NODISCARD sconce_status sconce_device_try_synchronize(int32_t device, bool *out_waited);

/**
 * Reports the properties of a device. Makes no context.
 *
 * - `out_properties`: receives the properties; begin with `SCONCE_DEVICE_PROPERTIES_INIT`.
 * - torch: `torch.cuda.get_device_properties()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_properties(int32_t device,
                                           struct sconce_device_properties *out_properties);

/**
 * Reports the compute capability of a device. Makes no context.
 *
 * - `out_major`, `out_minor`: receive its two numbers, e.g. 9 and 0.
 * - torch: `torch.cuda.get_device_capability()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_capability(int32_t device,
                                           int32_t *out_major,
                                           int32_t *out_minor);

/**
 * Reports the name of a device. Makes no context.
 *
 * - `buffer`: receives the name, NUL-terminated.
 * - `length`: bytes that `buffer` can hold; 256 always suffice. If they do not suffice, the
 *   call returns INVALID_ARGUMENT, and the message states the number of bytes needed.
 * - torch: `torch.cuda.get_device_name()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_get_name(int32_t device, char *buffer, size_t length);

/**
 * Reports whether the hardware lets kernels of one device use another device's memory. Makes no
 * context.
 *
 * - `device`, `peer`: indices, -1 for the current device.
 * - `out_possible`: receives the answer; false if both are one device, as in CUDA.
 * - torch: `torch.cuda.can_device_access_peer()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_can_access_peer(int32_t device,
                                            int32_t peer,
                                            bool *out_possible);

/**
 * Lets kernels of `device` use the memory of `peer`, in this direction only. Has no effect if it
 * is enabled already.
 *
 * - `device`, `peer`: indices, -1 for the current device.
 * - Errors: INVALID_ARGUMENT: both are one device. NOT_SUPPORTED: the hardware does not allow it.
 * - Ordering: makes the contexts of both devices, and may wait for both.
 * - torch: `cudaDeviceEnablePeerAccess`, which torch calls at the first copy between two devices.
 */
SCONCE_NODISCARD sconce_status sconce_device_enable_peer_access(int32_t device, int32_t peer);

/**
 * Reports the free and the total memory of a device, in bytes. Free memory takes all processes
 * into account. Makes the device's context.
 *
 * - `out_free_bytes`, `out_total_bytes`: receive the two figures.
 * - torch: `torch.cuda.mem_get_info()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_memory_info(int32_t device,
                                            size_t *out_free_bytes,
                                            size_t *out_total_bytes);

/**
 * Reports the device that an address belongs to.
 *
 * - `pointer`: any address, also inside an allocation.
 * - `out_device`: receives the index.
 * - Errors: INVALID_ARGUMENT: `pointer` is not device memory; the message states what it is.
 * - torch: `at::cuda::getDeviceFromPtr`.
 */
SCONCE_NODISCARD sconce_status sconce_device_of_pointer(const void *pointer, int32_t *out_device);

/**
 * Lists the processes that hold memory of a device, as text in torch's format: a line
 * `GPU:<index>`, then a line for each process with its id and its memory in MiB, or
 * `no processes are running`.
 *
 * The device is identified by its PCI bus id, so `CUDA_VISIBLE_DEVICES` has no effect.
 * Containers may hide processes or show other ids. Makes no context.
 *
 * - `out_text`: receives the text.
 * - Errors: LIBRARY_NOT_FOUND: NVIDIA's management library is missing.
 * - torch: `torch.cuda.list_gpu_processes()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_list_processes(int32_t device, char **out_text);

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

/**
 * Returns a handle with which another process can open the driver allocation that contains device
 * memory, and the offset of the memory in it. For a block of pages (`policy:pages`,
 * `expandable_segments:True`) the handle stands for all pages that hold a part of the block.
 *
 * - `ptr`: device memory, of this library or of other code of the process. Virtual memory must
 *   have been made shareable by file descriptor.
 * - `out_handle`: receives `SCONCE_IPC_HANDLE_BYTES` (64) bytes, equal for all memory of one
 *   driver allocation, or of one block of pages.
 * - `out_offset_bytes`: receives the distance of `ptr` from the beginning of the driver
 *   allocation, or of the first page.
 * - Errors: INVALID_ARGUMENT: `ptr` is not device memory, was freed, is memory of another process,
 *   or cannot be shared. INVALID_STATE: `ptr` is memory of a pool that is asleep. NOT_SUPPORTED:
 *   the driver cannot share such memory, or the pages of the block. IO: the socket on which other
 *   processes send their requests cannot be opened.
 * - Ownership: the memory stays the caller's. If it is freed while another process has it open, it
 *   is not reused before that process has closed it or ended. Memory that other code took from the
 *   driver must not be freed before then. Freed memory cannot be opened.
 * - Ordering: the other process must not use the memory before the work queued here has finished:
 *   share an event, too.
 * - torch: `torch.UntypedStorage._share_cuda_()`, `cudaIpcGetMemHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_get_memory_handle(void *ptr,
                                           uint8_t *out_handle,
                                           size_t *out_offset_bytes);

/**
 * Opens device memory of another process.
 *
 * - `device`: the device of the memory, on which this process uses it; index, -1 for the current
 *   device.
 * - `handle`, `offset_bytes`: the results of `sconce_ipc_get_memory_handle` in the other process.
 * - `out_ptr`: receives the memory's address in this process.
 * - Errors: INVALID_ARGUMENT: `handle` is no such handle, is of this process or of another device,
 *   or `offset_bytes` is not below the allocation's size. INVALID_HANDLE: the other process has
 *   ended, has freed the memory, or belongs to another user. INVALID_STATE: the other process has
 *   not answered for 10 seconds (`sconce_ipc_set_timeout_ms`), or the memory is asleep there. IO:
 *   the connection to the other process failed. DRIVER: also for failures in the other process.
 * - Ownership: the caller closes the memory with `sconce_ipc_close_memory`, once for each call.
 * - Ordering: waits for the answer of the other process, not for its device work.
 * - torch: `torch.UntypedStorage._new_shared_cuda`, `cudaIpcOpenMemHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_open_memory(int32_t device,
                                     const uint8_t *handle,
                                     size_t offset_bytes,
                                     void **out_ptr);

/**
 * Closes memory of another process. Once an allocation has been closed as often as opened, its
 * addresses are invalid.
 *
 * - `ptr`: the address that `sconce_ipc_open_memory` returned; NULL is a no-op.
 * - Errors: INVALID_ARGUMENT: `ptr` was not opened, or was closed as often as opened.
 *   INVALID_STATE: a stream of the device is being captured; the wait would invalidate the
 *   capture. After INVALID_STATE and DRIVER the memory is still open.
 * - Ordering: the last close of an address waits for the device; afterwards the other process may
 *   use the memory.
 * - torch: the end of a shared storage, `cudaIpcCloseMemHandle`.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_close_memory(void *ptr);

/**
 * Makes freed memory reusable if all processes that had it open have closed it or have ended. The
 * library also does this by itself a little later; the call does it now.
 *
 * - Errors: DRIVER, and INVALID_STATE while a stream of the device is being captured: without
 *   caching, memory cannot be returned to the driver now; the next call tries again.
 * - Ordering: does not block. Without caching, returning memory waits for its device.
 * - torch: `torch.cuda.ipc_collect()`.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_collect(void);

/**
 * Sets how long later calls of `sconce_ipc_open_memory` wait for the answer of the other process.
 * 10,000 ms by default. Needs no device.
 *
 * - `milliseconds`: more than 0, else INVALID_ARGUMENT.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_set_timeout_ms(uint32_t milliseconds);

/**
 * Reports how long `sconce_ipc_open_memory` waits for the answer of the other process. Needs no
 * device.
 *
 * - `out_milliseconds`: receives the figure.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_get_timeout_ms(uint32_t *out_milliseconds);

/**
 * Creates a module from code in memory: PTX, machine code (the ELF file that `nvcc -cubin`
 * writes), or a fat binary (`nvcc -fatbin`).
 *
 * Checks the code and copies it. Needs no device and makes no driver call: a device loads the
 * module when one of its kernels is first used there, even during a stream capture.
 *
 * - `image`: the code.
 * - `image_bytes`: its size. PTX needs no NUL byte at its end.
 * - `out_module`: receives the module.
 * - Errors: INVALID_ARGUMENT: the code is of no known kind, or is cut off. OUT_OF_MEMORY: too many
 *   modules.
 * - Ownership: the caller unloads the module with `sconce_module_unload`.
 * - torch: `cuModuleLoadData`; torch's inductor and NVRTC fuser load their kernels with it.
 */
SCONCE_NODISCARD
sconce_status sconce_module_load(const void *image,
                                 size_t image_bytes,
                                 struct sconce_module **out_module);

/**
 * Creates a module from the code in a file. Otherwise as `sconce_module_load`.
 *
 * - `path`: the file.
 * - `out_module`: receives the module.
 * - Errors: IO: the file cannot be read. Otherwise as `sconce_module_load`.
 * - Ownership: the caller unloads the module with `sconce_module_unload`.
 * - torch: `cuModuleLoad`.
 */
SCONCE_NODISCARD
sconce_status sconce_module_load_file(const char *path,
                                      struct sconce_module **out_module);

/**
 * Unloads a module. The handles of its kernels become invalid.
 *
 * Queued launches of its kernels still run. If a launch was captured into a graph, the module
 * stays loaded until the process ends, because the graph may be launched at any time. The same
 * holds on a device with a stream that is being captured.
 *
 * - `module`: NULL is a no-op. The handle is invalid afterwards, even if the call fails.
 * - Ordering: waits for calls that use the module, and for the devices that have loaded it.
 * - torch: `cuModuleUnload`.
 */
SCONCE_NODISCARD sconce_status sconce_module_unload(struct sconce_module *module);

/**
 * Finds a kernel of a module. The current device loads the module unless it has done so; other
 * devices load it at the first use of the kernel there.
 *
 * - `name`: the name of the entry point in the code, which is mangled unless the kernel is
 *   `extern "C"`. For a module that was compiled from a source, also an expression that was passed
 *   to `sconce_kernel_source_add_kernel`.
 * - `out_kernel`: receives the kernel; the same one for each call with this name.
 * - Errors: INVALID_ARGUMENT: the module has no kernel of that name, or the device cannot load the
 *   code; the message contains that of the driver's compiler. On the simulator also: no function
 *   is registered for the kernel (`sconce_sim_register_kernel`). OUT_OF_MEMORY: of the device.
 * - Ownership: borrowed; valid until the module is unloaded.
 * - Ordering: the first use of a module on a device may wait for the device and take the time of a
 *   compilation.
 * - torch: `cuModuleGetFunction`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get(struct sconce_module *module,
                                const char *name,
                                struct sconce_kernel **out_kernel);

/**
 * Creates a source of CUDA C++. Compiles nothing and needs no backend.
 *
 * The source can include `sconce/device.cuh` without an include path, and the headers of a CUDA
 * toolkit (such as `cuda_fp16.h`) if one is in `CUDA_HOME` or /usr/local/cuda.
 *
 * - `code`: the text. NVRTC compiles device code only.
 * - `name`: the name in the compiler's messages; NULL stands for `source.cu`.
 * - `out_source`: receives the source.
 * - Errors: OUT_OF_MEMORY: too many sources.
 * - Ownership: the texts are copied. The caller destroys the source with
 *   `sconce_kernel_source_destroy`.
 * - torch: `nvrtcCreateProgram`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_create(const char *code,
                                          const char *name,
                                          struct sconce_kernel_source **out_source);

/**
 * Destroys a source. Modules that were compiled from it stay.
 *
 * - `source`: NULL is a no-op.
 * - torch: `nvrtcDestroyProgram`.
 */
SCONCE_NODISCARD sconce_status sconce_kernel_source_destroy(struct sconce_kernel_source *source);

/**
 * Adds a header that the source may include.
 *
 * - `source`: the source.
 * - `name`: the name that the source includes: `mine.cuh` for `#include "mine.cuh"`. The header
 *   replaces an earlier one of that name; it may also replace `sconce/device.cuh`.
 * - `code`: its text.
 * - Ownership: the texts are copied.
 * - torch: the headers of `nvrtcCreateProgram`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_add_header(struct sconce_kernel_source *source,
                                              const char *name,
                                              const char *code);

/**
 * Adds an option of the compiler: `--use_fast_math`, `--std=c++20`, `-DN=4`,
 * `--include-path=folder`. Options are passed in the order in which they were added. The library
 * chooses the architecture, unless `--gpu-architecture` is among the options.
 *
 * - `source`: the source.
 * - `option`: an option of NVRTC, not one of nvcc.
 * - Ownership: the text is copied.
 * - torch: the options of `nvrtcCompileProgram`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_add_option(struct sconce_kernel_source *source,
                                              const char *option);

/**
 * Adds a kernel by a C++ expression that names it. The compiler instantiates the templates that
 * expressions name, and `sconce_kernel_get` accepts the expression as the kernel's name. Kernels
 * that are `extern "C"` need no expression.
 *
 * - `source`: the source.
 * - `expression`: for example `scale<float>` or `mine::step`. `sconce_kernel_get` accepts the same
 *   text.
 * - Errors: INVALID_ARGUMENT: `expression` is empty.
 * - Ownership: the text is copied.
 * - torch: `nvrtcAddNameExpression`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_add_kernel(struct sconce_kernel_source *source,
                                              const char *expression);

/**
 * Compiles a source into a module with an installed NVRTC.
 *
 * The result is machine code for the device, or PTX if NVRTC does not know the device's
 * architecture yet. On the simulator nothing is compiled: functions that are registered under the
 * kernels' names (`sconce_sim_register_kernel`) run instead, and the source is only searched for
 * these names.
 *
 * - `source`: the source; it may be compiled again, also after additions.
 * - `device`: the device; -1 for the current one. Its context is not made.
 * - `ptx`: whether to produce PTX, which newer architectures accept too. A device compiles it at
 *   the first use of a kernel.
 * - `out_module`: receives the module.
 * - Errors: INVALID_ARGUMENT: the source does not compile, an option is unknown, or an expression
 *   names no kernel; the message and the log contain those of the compiler. LIBRARY_NOT_FOUND: NVRTC
 *   is not installed; the message names what was searched, and `SCONCE_LIBNVRTC` names another place.
 *   NOT_SUPPORTED: the installed NVRTC no longer knows the device's architecture.
 * - Ownership: the caller unloads the module with `sconce_module_unload`.
 * - Ordering: compiles on the calling thread, also during a stream capture.
 * - Threads: threads that compile the same source do not wait for each other; the log is that of
 *   the compilation that finished last.
 * - torch: `nvrtcCompileProgram`, `nvrtcGetCUBIN`, `nvrtcGetLoweredName`; torch's NVRTC fuser.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_compile(struct sconce_kernel_source *source,
                                           int32_t device,
                                           bool ptx,
                                           struct sconce_module **out_module);

/**
 * Returns the compiler's messages of the last compilation of a source: its errors, or its warnings
 * if it succeeded.
 *
 * - `source`: the source.
 * - `out_log`: receives the text; empty if there are no messages.
 * - Ownership: the caller frees the text with `sconce_string_free`.
 * - torch: `nvrtcGetProgramLog`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_source_get_log(struct sconce_kernel_source *source,
                                           char **out_log);

/**
 * Reports the resources that a kernel needs on a device. The device loads the kernel's module
 * unless it has done so.
 *
 * - `out_attributes`: receives the figures; begin with `SCONCE_KERNEL_ATTRIBUTES_INIT`. On the
 *   simulator they are those of `sconce_sim_register_kernel`.
 * - Errors: as `sconce_kernel_get`.
 * - torch: `cudaFuncGetAttributes`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get_attributes(struct sconce_kernel *kernel,
                                           int32_t device,
                                           struct sconce_kernel_attributes *out_attributes);

/**
 * Raises the dynamic shared memory that launches of a kernel may have on a device. A launch with
 * more raises the limit by itself; call this function to detect a failure earlier.
 *
 * - `bytes`: the new limit, per block. A number below the present limit changes nothing.
 * - Errors: INVALID_ARGUMENT: more than a block can have. Otherwise as `sconce_kernel_get`.
 * - torch: `cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …)`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_allow_shared(struct sconce_kernel *kernel,
                                         int32_t device,
                                         uint32_t bytes);

/**
 * Reports how many blocks of a kernel a multiprocessor runs at the same time.
 *
 * - `threads`: threads of a block, at least 1.
 * - `shared_bytes`: dynamic shared memory of a block.
 * - `out_blocks`: receives the number of blocks; 0 if a block does not fit.
 * - Errors: INVALID_ARGUMENT: `threads` is 0, or `shared_bytes` is more than a block can have.
 *   Otherwise as `sconce_kernel_get`.
 * - torch: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get_occupancy(struct sconce_kernel *kernel,
                                          int32_t device,
                                          uint32_t threads,
                                          uint32_t shared_bytes,
                                          uint32_t *out_blocks);

/**
 * Reports the block size with which the largest number of a kernel's threads runs on a
 * multiprocessor at the same time.
 *
 * - `shared_bytes`: dynamic shared memory of a block, for blocks of any size.
 * - `most_threads`: the largest block that the caller can use; 0 for any.
 * - `out_threads`: receives the threads of a block.
 * - `out_min_blocks`: receives the smallest number of blocks that fills the whole device.
 * - Errors: INVALID_ARGUMENT: `shared_bytes` is more than a block can have. Otherwise as
 *   `sconce_kernel_get`.
 * - torch: `cudaOccupancyMaxPotentialBlockSize`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_get_best_block(struct sconce_kernel *kernel,
                                           int32_t device,
                                           uint32_t shared_bytes,
                                           uint32_t most_threads,
                                           uint32_t *out_threads,
                                           uint32_t *out_min_blocks);

/**
 * Launches a kernel on the calling thread's current stream of the current device.
 *
 * Arguments are passed by value, in the order of the kernel's parameters: `arguments[i]` points to
 * the value of parameter `i`, which has `argument_bytes[i]` bytes. For a pointer parameter, pass
 * the address of a variable that contains a device address. Device addresses are not checked: the
 * kernel uses whatever addresses it receives.
 *
 * - `desc`: grid, block and the rest; begin with `SCONCE_LAUNCH_DESC_INIT`. Dynamic shared
 *   memory beyond 48 KiB needs no further call.
 * - `arguments`: addresses of the values, in ordinary memory. May be NULL if there are none.
 * - `argument_bytes`: their sizes. May be NULL if there are none.
 * - `argument_count`: their number.
 * - Errors: INVALID_ARGUMENT: the number or a size of the arguments differs from the kernel's
 *   parameters (drivers before CUDA 12.4 do not report them, so nothing is checked), or the device
 *   does not accept the configuration. NOT_SUPPORTED: clusters or a cooperative launch, which the
 *   device or the driver does not support. Otherwise as `sconce_kernel_get`.
 * - Ownership: the values are copied. The memory that a kernel uses must stay allocated until the
 *   launch is done; note other streams with `sconce_memory_record_stream`.
 * - Ordering: queued on the stream. The first launch on a device loads the kernel's module.
 * - Safety: if the driver does not report a kernel's parameters, the caller must pass all of them
 *   with their correct sizes.
 * - torch: `cuLaunchKernel`, `cuLaunchKernelEx`, `kernel<<<grid, block, shared_bytes, stream>>>(…)`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_launch(struct sconce_kernel *kernel,
                                   const struct sconce_launch_desc *desc,
                                   const void *const *arguments,
                                   const size_t *argument_bytes,
                                   size_t argument_count);

/**
 * Launches a kernel on a stream, independently of the current device and stream. Otherwise as
 * `sconce_kernel_launch`.
 *
 * - `desc`: as for `sconce_kernel_launch`.
 * - `arguments`, `argument_bytes`, `argument_count`: as for `sconce_kernel_launch`.
 * - Errors: as `sconce_kernel_launch`.
 * - Ownership: as `sconce_kernel_launch`.
 * - Ordering: queued on `stream`.
 * - Safety: as `sconce_kernel_launch`.
 * - torch: `kernel<<<grid, block, shared_bytes, stream>>>(…)`.
 */
SCONCE_NODISCARD
sconce_status sconce_kernel_launch_on(struct sconce_kernel *kernel,
                                      const struct sconce_launch_desc *desc,
                                      const void *const *arguments,
                                      const size_t *argument_bytes,
                                      size_t argument_count,
                                      struct sconce_stream stream);

/**
 * Returns the default generator of a device, or of the CPU. The first request makes it, with a seed from the
 * operating system unless a seed was set before. Makes no context.
 *
 * - `device`: an index, -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `out_generator`: receives the generator.
 * - Errors: IO: the operating system returns no seed.
 * - Ownership: borrowed; the library owns it until the process ends.
 * - torch: `torch.cuda.default_generators[device]`, `torch.default_generator`,
 *   `at::cuda::detail::getDefaultCUDAGenerator`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_default(int32_t device,
                                           struct sconce_generator **out_generator);

/**
 * Creates a generator with seed 67280421310721 and offset 0. Makes no context.
 *
 * - `device`: an index, -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `out_generator`: receives the generator.
 * - Errors: OUT_OF_MEMORY: too many generators.
 * - Ownership: the caller destroys the generator with `sconce_generator_destroy`.
 * - torch: `torch.Generator(device)`, `at::cuda::detail::createCUDAGenerator`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_create(int32_t device,
                                      struct sconce_generator **out_generator);

/**
 * Creates a generator with the device and the state of another one. The two are independent
 * afterwards.
 *
 * - `out_generator`: receives the clone.
 * - Errors: OUT_OF_MEMORY: too many generators. INVALID_STATE: as `sconce_generator_get_offset`.
 * - Ownership: the caller destroys the clone with `sconce_generator_destroy`, also the clone of a
 *   default generator.
 * - Ordering: as `sconce_generator_get_offset`.
 * - torch: `torch.Generator.clone_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_clone(struct sconce_generator *generator,
                                     struct sconce_generator **out_generator);

/**
 * Destroys a generator. Graphs that use it may still be replayed.
 *
 * - `generator`: from `sconce_generator_create` or `sconce_generator_clone`, else
 *   INVALID_ARGUMENT; NULL is a no-op.
 * - torch: the destructor of `at::Generator`.
 */
SCONCE_NODISCARD sconce_status sconce_generator_destroy(struct sconce_generator *generator);

/**
 * Reports the device of a generator. Makes no driver call.
 *
 * - `out_device`: receives the index, or `SCONCE_DEVICE_CPU`.
 * - torch: `torch.Generator.device`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_device(struct sconce_generator *generator,
                                          int32_t *out_device);

/**
 * Sets a generator's seed, and its offset to 0. For a generator of the CPU, sets the state that
 * belongs to the lower 32 bits of the seed.
 *
 * - `seed`: any number.
 * - Errors: INVALID_STATE: the generator is of a device whose current stream is being captured.
 * - Ordering: counts for all later calls, and does not wait; launches that are queued keep their
 *   numbers. If a capture that other code began has a fill with the generator, waits for the fills
 *   and launches of this library that use the generator.
 * - torch: `torch.Generator.manual_seed()`; for a negative seed of torch, pass the seed plus 2^64.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_seed(struct sconce_generator *generator,
                                        uint64_t seed);

/**
 * Sets a generator's seed to one of 53 bits from the operating system, and its offset to 0.
 *
 * - `out_seed`: receives the seed.
 * - Errors: IO: the operating system returns no seed. INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.Generator.seed()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_seed(struct sconce_generator *generator,
                                    uint64_t *out_seed);

/**
 * Reports the seed that was last set for a generator.
 *
 * - `out_seed`: receives the seed.
 * - torch: `torch.Generator.initial_seed()`, which torch refuses in a capture.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_initial_seed(struct sconce_generator *generator,
                                                uint64_t *out_seed);

/**
 * Reports a generator's offset in its sequence, in 32-bit words of each thread.
 *
 * - `out_offset`: receives the offset, a multiple of 4.
 * - Errors: CROSS_DEVICE: a generator of the CPU, which has no offset. INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: includes all calls before, and does not wait, with two exceptions. While the launch of
 *   a graph is pending that draws in the body of a conditional node, only the device knows how much
 *   it draws: the call waits for that launch. If a capture that other code began has a fill with the
 *   generator, the call waits as `sconce_generator_set_seed` does, and launches of that graph count
 *   once they have run.
 * - torch: `torch.Generator.get_offset()`, `CUDAGeneratorImpl::philox_offset_per_thread`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_offset(struct sconce_generator *generator,
                                          uint64_t *out_offset);

/**
 * Sets a generator's offset in its sequence.
 *
 * - `offset`: in 32-bit words of each thread; a multiple of 4, else INVALID_ARGUMENT.
 * - Errors: CROSS_DEVICE: a generator of the CPU, which has no offset. INVALID_STATE: as `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.Generator.set_offset()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_offset(struct sconce_generator *generator,
                                          uint64_t offset);

/**
 * Returns the state of a device's generator in torch's bytes.
 *
 * - `out_state`: receives `SCONCE_GENERATOR_STATE_BYTES` (16) bytes.
 * - Errors: CROSS_DEVICE: a generator of the CPU (`sconce_generator_get_cpu_state`). INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_get_offset`.
 * - torch: `torch.cuda.get_rng_state()`, `torch.Generator.get_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_state(struct sconce_generator *generator,
                                         uint8_t *out_state);

/**
 * Returns the state of a generator of the CPU in torch's bytes.
 *
 * - `out_state`: receives `SCONCE_GENERATOR_CPU_STATE_BYTES` (5056) bytes.
 * - Errors: CROSS_DEVICE: a generator of a device (`sconce_generator_get_state`).
 * - torch: `torch.get_rng_state()`, `torch.Generator.get_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_cpu_state(struct sconce_generator *generator,
                                             uint8_t *out_state);

/**
 * Sets a generator's state from the bytes that `sconce_generator_get_state` or torch returned.
 *
 * - `state`: the bytes.
 * - `length`: the number of bytes: 16, or 8 for only the seed with offset 0; 5056 for a generator
 *   of the CPU.
 * - Errors: INVALID_ARGUMENT: `length` is another number, the offset is not a multiple of 4, or no
 *   Mersenne Twister has the state. INVALID_STATE: as `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.set_rng_state()`, `torch.set_rng_state()`; the 816 bytes of releases before 2.0 are refused.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_state(struct sconce_generator *generator,
                                         const uint8_t *state,
                                         size_t length);

/**
 * Reserves a range of a generator's sequence for a kernel of the caller. The range overlaps no
 * other reservation, including those of other threads.
 *
 * - `increment`: the largest number of 32-bit words that a thread of the kernel draws, rounded up
 *   to a multiple of 4.
 * - `out_seed`: receives the seed.
 * - `out_offset`: receives the offset at which the range begins.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`, where the call would wait; a captured
 *   kernel needs `sconce_generator_reserve_philox_state`.
 * - Ordering: as `sconce_generator_get_offset`.
 * - torch: `CUDAGeneratorImpl::philox_engine_inputs`; the caller needs no lock.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox(struct sconce_generator *generator,
                                              uint64_t increment,
                                              uint64_t *out_seed,
                                              uint64_t *out_offset);

/**
 * Reserves a range of a generator's sequence for one kernel that the caller is about to launch on
 * its current stream of the generator's device. If that stream is being captured into a graph,
 * every replay receives its own range, which the kernel reads from device memory.
 *
 * - `increment`: the largest number of 32-bit words that a thread of the kernel draws, rounded up
 *   to a multiple of 4.
 * - `out_state`: receives the state; its `device_state` is valid as long as the graph.
 * - Errors: OUT_OF_MEMORY: the stream is being captured, and the device has not enough memory left
 *   for the generator state of graphs (`sconce_generator_prepare_capture`).
 * - Ordering: during a capture, queues a small kernel on the current stream; otherwise as
 *   `sconce_generator_reserve_philox`.
 * - torch: `CUDAGeneratorImpl::philox_cuda_state`, `at::cuda::philox::unpack`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox_state(struct sconce_generator *generator,
                                                    uint64_t increment,
                                                    struct sconce_philox_state *out_state);

/**
 * Reserves a range of a generator's sequence for one kernel that the caller is about to launch on a
 * stream, such as by `sconce_kernel_launch_on`. Otherwise as
 * `sconce_generator_reserve_philox_state`.
 *
 * - `stream`: a stream of the generator's device.
 * - torch: `CUDAGeneratorImpl::philox_cuda_state` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox_state_on(struct sconce_generator *generator,
                                                       uint64_t increment,
                                                       struct sconce_stream stream,
                                                       struct sconce_philox_state *out_state);

/**
 * Allocates the device memory (256 KiB) that random fills need in CUDA graphs, and keeps it until
 * the process ends. The first fill allocates it as well, captured or not; call this function if
 * memory may be exhausted by then.
 *
 * - Errors: OUT_OF_MEMORY.
 * - Ordering: the first call blocks briefly and makes the device's context.
 * - torch: `torch.cuda.CUDAGraph.register_generator_state()`, which torch needs for each graph.
 */
SCONCE_NODISCARD sconce_status sconce_generator_prepare_capture(struct sconce_generator *generator);

/**
 * Seeds the default generator of the current device. Needs no device and does not initialise the
 * library: the seed is kept until the generator is first used.
 *
 * - `seed`: any number.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.manual_seed()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_manual_seed(uint64_t seed);

/**
 * Seeds the default generators of all devices. Needs no device and does not initialise the
 * library: the seed is kept until a generator is first used.
 *
 * - `seed`: any number.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`, for any of the generators; then none is
 *   seeded.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.manual_seed_all()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_manual_seed_all(uint64_t seed);

/**
 * Seeds the default generators of the CPU and of all devices. Needs no device and does not initialise the
 * library: the seed is kept until a generator is first used.
 *
 * - `seed`: any number; for a negative seed of torch, pass the seed plus 2^64.
 * - Errors: INVALID_STATE: as `sconce_generator_set_seed`, for any of the generators; then none is
 *   seeded, nor is that of the CPU.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.manual_seed()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_manual_seed_everywhere(uint64_t seed);

/**
 * Seeds the default generator of the current device from the operating system. Needs no device, as
 * `sconce_random_manual_seed`.
 *
 * - `out_seed`: receives the seed, of 53 bits.
 * - Errors: IO: the operating system returns no seed. INVALID_STATE: as
 *   `sconce_generator_set_seed`.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.seed()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_seed(uint64_t *out_seed);

/**
 * Seeds the default generators of all devices with one seed from the operating system. Needs no
 * device, as `sconce_random_manual_seed`.
 *
 * - `out_seed`: receives the seed, of 53 bits.
 * - Errors: IO: the operating system returns no seed. INVALID_STATE: as
 *   `sconce_generator_set_seed`, for any of the generators; then none is seeded.
 * - Ordering: as `sconce_generator_set_seed`.
 * - torch: `torch.cuda.seed_all()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_seed_all(uint64_t *out_seed);

/**
 * Reports the seed of the current device's default generator. Needs no device, as
 * `sconce_random_manual_seed`.
 *
 * - `out_seed`: receives the seed.
 * - torch: `torch.cuda.initial_seed()`, which torch refuses in a capture.
 */
SCONCE_NODISCARD sconce_status sconce_random_get_initial_seed(uint64_t *out_seed);

/**
 * Fills device memory with numbers from `low` to `high`, excluding `high`. The bits are torch's.
 *
 * - `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL if `n` is 0.
 * - `n`: number of elements.
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16, BF16, C64 or C128 (both parts are drawn).
 * - `low`, `high`: bounds.
 * - `generator`: a generator of the current device; NULL for its default generator.
 * - Errors: INVALID_ARGUMENT: `low > high`, a bound or their difference is out of the range of the
 *   type, `dtype` is unknown, `ptr` is not device memory, or `n` elements reach beyond its block.
 *   NOT_SUPPORTED: the distribution is not defined for `dtype`. CROSS_DEVICE: `generator` belongs
 *   to another device, or `ptr` to a device to which the current device has no peer access.
 *   OUT_OF_MEMORY: the stream is being captured, and the device has not enough memory left for the
 *   generator state of graphs (`sconce_generator_prepare_capture`).
 * - Ownership: the memory must stay allocated until the fill is done.
 * - Ordering: queued on the current stream. A device's first fill with a distribution takes
 *   longer, since it loads the kernels. In a graph every replay draws new numbers.
 * - torch: `torch.Tensor.uniform_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_uniform(void *ptr,
                                    size_t n,
                                    int32_t dtype,
                                    double low,
                                    double high,
                                    struct sconce_generator *generator);

/**
 * Fills device memory with normally distributed numbers. The bits are torch's on a GPU. Otherwise
 * as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16, BF16, C64 or C128.
 * - `mean`: mean value.
 * - `stddev`: standard deviation, of a complex number as a whole; not negative, else
 *   INVALID_ARGUMENT. torch and the messages call it `std`.
 * - torch: `torch.Tensor.normal_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_normal(void *ptr,
                                   size_t n,
                                   int32_t dtype,
                                   double mean,
                                   double stddev,
                                   struct sconce_generator *generator);

/**
 * Fills device memory with numbers whose logarithms are normally distributed. The bits are torch's
 * on a GPU. Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
 * - `mean`: mean value of the logarithm.
 * - `stddev`: standard deviation of the logarithm; positive, else INVALID_ARGUMENT. torch and the
 *   messages call it `std`.
 * - torch: `torch.Tensor.log_normal_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_log_normal(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       double mean,
                                       double stddev,
                                       struct sconce_generator *generator);

/**
 * Fills device memory with exponentially distributed numbers. The bits are torch's on a GPU.
 * Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
 * - `rate`: positive, else INVALID_ARGUMENT. torch and the messages call it `lambda`.
 * - torch: `torch.Tensor.exponential_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_exponential(void *ptr,
                                        size_t n,
                                        int32_t dtype,
                                        double rate,
                                        struct sconce_generator *generator);

/**
 * Fills device memory with Cauchy distributed numbers. The bits are torch's on a GPU. Otherwise as
 * `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16.
 * - `median`: median.
 * - `sigma`: half the width of the density at half its height; positive, else INVALID_ARGUMENT.
 * - torch: `torch.Tensor.cauchy_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_cauchy(void *ptr,
                                   size_t n,
                                   int32_t dtype,
                                   double median,
                                   double sigma,
                                   struct sconce_generator *generator);

/**
 * Fills device memory with geometrically distributed numbers: numbers of trials up to the first
 * success. The bits are torch's on a GPU. Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number.
 * - `p`: probability of success, between 0 and 1, else INVALID_ARGUMENT.
 * - torch: `torch.Tensor.geometric_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_geometric(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills device memory with ones and zeros. The bits are torch's. Otherwise as
 * `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
 * - `p`: probability of a one, from 0 to 1, else INVALID_ARGUMENT.
 * - torch: `torch.Tensor.bernoulli_()` with a number.
 */
SCONCE_NODISCARD
sconce_status sconce_random_bernoulli(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills device memory with integers from `low` to `high`, excluding `high`. The bits are torch's.
 * Otherwise as `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
 * - `low`, `high`: bounds; INVALID_ARGUMENT if `low >= high`, or if a bound is beyond the type.
 * - torch: `torch.Tensor.random_(from, to)`, `torch.randint()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_integers(void *ptr,
                                     size_t n,
                                     int32_t dtype,
                                     int64_t low,
                                     int64_t high,
                                     struct sconce_generator *generator);

/**
 * Fills device memory with integers from 0 to the largest of an integer type, or to the largest up
 * to which a floating-point type represents every integer. The bits are torch's. Otherwise as
 * `sconce_random_uniform`.
 *
 * - `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL.
 * - torch: `torch.Tensor.random_()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_full_range(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       struct sconce_generator *generator);

/**
 * Fills device memory with numbers from `low` to `high` on a stream. The stream and its device are
 * used instead of the current ones. Otherwise as `sconce_random_uniform`.
 *
 * - `ptr`: memory of the stream's device for `n` elements, or of a peer of that device.
 * - `generator`: a generator of the stream's device; NULL for its default generator.
 * - `stream`: the stream on which the fill is queued.
 * - Threads: any; the calling thread's device and streams have no effect and do not change.
 * - torch: `torch.Tensor.uniform_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_uniform_on(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       double low,
                                       double high,
                                       struct sconce_generator *generator,
                                       struct sconce_stream stream);

/**
 * Fills device memory with normally distributed numbers on a stream, as `sconce_random_uniform_on`
 * does. Otherwise as `sconce_random_normal`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.normal_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_normal_on(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double mean,
                                      double stddev,
                                      struct sconce_generator *generator,
                                      struct sconce_stream stream);

/**
 * Fills device memory with log-normally distributed numbers on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_log_normal`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.log_normal_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_log_normal_on(void *ptr,
                                          size_t n,
                                          int32_t dtype,
                                          double mean,
                                          double stddev,
                                          struct sconce_generator *generator,
                                          struct sconce_stream stream);

/**
 * Fills device memory with exponentially distributed numbers on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_exponential`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.exponential_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_exponential_on(void *ptr,
                                           size_t n,
                                           int32_t dtype,
                                           double rate,
                                           struct sconce_generator *generator,
                                           struct sconce_stream stream);

/**
 * Fills device memory with Cauchy-distributed numbers on a stream, as `sconce_random_uniform_on`
 * does. Otherwise as `sconce_random_cauchy`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.cauchy_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_cauchy_on(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double median,
                                      double sigma,
                                      struct sconce_generator *generator,
                                      struct sconce_stream stream);

/**
 * Fills device memory with geometrically distributed numbers on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_geometric`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.geometric_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_geometric_on(void *ptr,
                                         size_t n,
                                         int32_t dtype,
                                         double p,
                                         struct sconce_generator *generator,
                                         struct sconce_stream stream);

/**
 * Fills device memory with ones and zeros on a stream, as `sconce_random_uniform_on` does.
 * Otherwise as `sconce_random_bernoulli`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.bernoulli_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_bernoulli_on(void *ptr,
                                         size_t n,
                                         int32_t dtype,
                                         double p,
                                         struct sconce_generator *generator,
                                         struct sconce_stream stream);

/**
 * Fills device memory with integers from `low` to `high`, excluding `high` on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_integers`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.random_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_integers_on(void *ptr,
                                        size_t n,
                                        int32_t dtype,
                                        int64_t low,
                                        int64_t high,
                                        struct sconce_generator *generator,
                                        struct sconce_stream stream);

/**
 * Fills device memory with integers from the type's whole range on a stream, as
 * `sconce_random_uniform_on` does. Otherwise as `sconce_random_full_range`.
 *
 * - `stream`: the stream on which the fill is queued.
 * - torch: `torch.Tensor.random_()` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_random_full_range_on(void *ptr,
                                          size_t n,
                                          int32_t dtype,
                                          struct sconce_generator *generator,
                                          struct sconce_stream stream);

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
 * Makes a graph keep the memory of a tensor that its work uses, such as a static input. The graph
 * keeps it as its own memory: until it is reset or destroyed and its queued launches are done, and
 * for graphs that were updated from it. The caller may release the tensor at once.
 *
 * - `graph`: one that is captured or is being captured.
 * - `tensor`: its memory is kept, even if another tensor is assigned to the handle later.
 * - Errors: INVALID_STATE: the graph is empty.
 */
SCONCE_NODISCARD
sconce_status sconce_graph_keep_tensor(struct sconce_graph *graph,
                                       struct sconce_tensor *tensor);

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

/**
 * Returns the calling thread's cuDNN handle for the current device, set to the current stream.
 *
 * Call it again after the current device or stream has changed: it returns the same handle of the
 * device with the new stream.
 *
 * - `out_handle`: receives a `cudnnHandle_t`. The simulator's handle is of use to this library
 *   only.
 * - Errors: LIBRARY_NOT_FOUND: cuDNN cannot be opened; the message lists what was searched, and
 *   `SCONCE_LIBCUDNN` names another place. OUT_OF_MEMORY: for the handle. INVALID_STATE: the
 *   thread is ending and has returned its handles, or the call comes from a callback of a call
 *   that uses the handle.
 * - Ownership: borrowed. The handle belongs to the thread until the thread ends; another thread
 *   may then receive it. The caller may change its stream: the next call of this function or
 *   convolution sets it again.
 * - Ordering: does not block, except for the first handle of a device.
 * - torch: `at::native::getCudnnHandle`.
 */
SCONCE_NODISCARD sconce_status sconce_dnn_get_handle(void **out_handle);

/**
 * Reports cuDNN's version as a number: 10,000 times its first part, plus 100 times its second,
 * plus its third, e.g. 91900.
 *
 * - `out_version`: receives the number; 90000 on the simulator.
 * - Errors: LIBRARY_NOT_FOUND: cuDNN cannot be opened.
 * - torch: `torch.backends.cudnn.version`, which is None where this function fails.
 */
SCONCE_NODISCARD sconce_status sconce_dnn_get_version(int64_t *out_version);

/**
 * Computes the spatial sizes of a convolution's output. Needs no device.
 *
 * - `desc`: the convolution, whose strides are not read; begin with
 *   `SCONCE_CONVOLUTION_DESC_INIT`.
 * - `out_sizes`: receives `spatial_rank` numbers.
 * - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, or the filter is larger than
 *   the padded input.
 * - torch: the shapes of the results of `torch.nn.functional.conv1d`, `conv2d` and `conv3d`.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution_get_output_sizes(const struct sconce_convolution_desc *desc,
                                                  int64_t *out_sizes);

/**
 * Computes a convolution, or a gradient of one, as `desc` describes.
 *
 * `SCONCE_CONVOLUTION_FORWARD` computes the output from the input `a` and the filter `b`;
 * `_BACKWARD_DATA` the input's gradient from the output's gradient `a` and the filter `b`;
 * `_BACKWARD_FILTER` the filter's gradient from the output's gradient `a` and the input `b`. A
 * result whose sums have no terms is set to 0. A filter, or a filter's gradient, with gaps between
 * its elements is copied through a packed temporary. The settings
 * `sconce_context_set_allow_tf32_cudnn`, `_deterministic_cudnn` and `_deterministic_algorithms`
 * apply as they are at the time of the call.
 *
 * - `desc`: operation, sizes, strides; begin with `SCONCE_CONVOLUTION_DESC_INIT`.
 * - `a`, `b`: addresses of the first elements that are read.
 * - `result`: address of the first element that is written. All three are in memory of one device,
 *   aligned to the element type; NULL is allowed for a tensor without elements.
 * - Errors: INVALID_ARGUMENT: a field of `desc` is out of its bounds, elements of the result
 *   overlap each other or an operand, or a tensor is not in device memory or reaches beyond its
 *   allocation. CROSS_DEVICE: the tensors are on different devices. NOT_SUPPORTED: cuDNN has no
 *   engine, or no deterministic one if that is required, for this convolution. OUT_OF_MEMORY:
 *   there is not enough memory for any engine's workspace, or for a temporary. Otherwise as
 *   `sconce_dnn_get_handle`.
 * - Ownership: the memory must stay allocated until the convolution is done.
 * - Ordering: queued on the current stream of the device that holds the memory. The first
 *   convolution of a shape takes milliseconds. Under `sconce_context_set_benchmark_cudnn` it waits
 *   for the engines that it measures.
 * - torch: `torch.nn.functional.conv1d`, `conv2d`, `conv3d`; `torch.nn.grad.conv2d_input`,
 *   `conv2d_weight` and their 1D and 3D forms.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution(const struct sconce_convolution_desc *desc,
                                 const void *a,
                                 const void *b,
                                 void *result);

/**
 * Computes a convolution on a stream, which is used instead of the current one. Otherwise as
 * `sconce_convolution`.
 *
 * - `stream`: the stream on which the convolution is queued.
 * - Errors: CROSS_DEVICE: the memory and the stream are of different devices. Otherwise as
 *   `sconce_convolution`.
 * - Threads: any; the calling thread's device and streams have no effect and do not change.
 * - Safety: as `sconce_convolution`.
 * - torch: `torch.nn.functional.conv2d` inside `torch.cuda.stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution_on(const struct sconce_convolution_desc *desc,
                                    const void *a,
                                    const void *b,
                                    void *result,
                                    struct sconce_stream stream);

/**
 * Discards the engines that were chosen for convolutions, and their plans. Without a device there
 * is nothing to do. Plans that graphs use stay until the graphs are gone; those of captures that
 * other code began stay for ever.
 *
 * - Ordering: does not block. The plans of other threads' handles are discarded when those threads
 *   next compute a convolution, or end.
 */
SCONCE_NODISCARD sconce_status sconce_convolution_clear_plans(void);

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
 * Adds an owner to a tensor handle: the handle must be released once more.
 *
 * - torch: a second reference to the same `at::Tensor`.
 */
SCONCE_NODISCARD sconce_status sconce_tensor_retain(struct sconce_tensor *tensor);

/**
 * Removes an owner from a tensor handle. The last release makes the handle invalid. The memory is
 * freed when no tensor uses it any more.
 *
 * - `tensor`: NULL does nothing.
 * - Ordering: device memory goes back to the allocator in the order of the stream for which it was
 *   allocated for; see `sconce_tensor_record_stream`.
 * - Threads: the thread that releases the last tensor calls the deleter of imported memory.
 * - torch: the end of an `at::Tensor`.
 */
SCONCE_NODISCARD sconce_status sconce_tensor_release(struct sconce_tensor *tensor);

/**
 * Replaces the tensor of a handle by another one: the memory, type and shape of `source`. All
 * owners of the handle see the new tensor.
 *
 * - `tensor`: its previous tensor is released.
 * - `source`: may be undefined.
 * - torch: `a = b` of an `at::Tensor` that is passed by reference.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_assign(struct sconce_tensor *tensor,
                                   struct sconce_tensor *source);

/**
 * Returns an undefined tensor, which has no memory, type or shape. Functions refuse it, except
 * those of handles.
 *
 * - `out_tensor`: receives the tensor.
 * - torch: `at::Tensor()`.
 */
SCONCE_NODISCARD sconce_status sconce_tensor_undefined(struct sconce_tensor **out_tensor);

/**
 * Returns the number of live tensor handles in the process, including undefined tensors. For tests
 * that look for leaks.
 */
size_t sconce_tensor_live_count(void);

/**
 * Returns whether a tensor has memory, type and shape.
 *
 * - `out_defined`: receives whether it does.
 * - torch: `at::Tensor::defined`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_defined(struct sconce_tensor *tensor,
                                       bool *out_defined);

/**
 * Returns the data type.
 *
 * - `out_dtype`: receives `SCONCE_DTYPE_…`.
 * - torch: `torch.Tensor.dtype`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_dtype(struct sconce_tensor *tensor,
                                      int32_t *out_dtype);

/**
 * Returns where the memory is.
 *
 * - `out_device`: receives the device's index, or `SCONCE_DEVICE_CPU`.
 * - torch: `torch.Tensor.device`, `torch.Tensor.get_device`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_device(struct sconce_tensor *tensor,
                                       int32_t *out_device);

/**
 * Returns the number of dimensions.
 *
 * - `out_rank`: receives the number.
 * - torch: `torch.Tensor.dim()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_rank(struct sconce_tensor *tensor,
                                     size_t *out_rank);

/**
 * Returns the sizes.
 *
 * - `out_sizes`: receives an entry for each dimension; may be NULL without dimensions.
 * - `capacity`: entries that `out_sizes` can hold.
 * - Errors: INVALID_ARGUMENT: `capacity` is less than the number of dimensions.
 * - torch: `torch.Tensor.size()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_sizes(struct sconce_tensor *tensor,
                                      int64_t *out_sizes,
                                      size_t capacity);

/**
 * Returns the strides, in elements.
 *
 * - `out_strides`: receives an entry for each dimension; may be NULL without dimensions.
 * - `capacity`: entries that `out_strides` can hold.
 * - Errors: INVALID_ARGUMENT: `capacity` is less than the number of dimensions.
 * - torch: `torch.Tensor.stride()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_strides(struct sconce_tensor *tensor,
                                        int64_t *out_strides,
                                        size_t capacity);

/**
 * Returns the address of the sizes: `sconce_tensor_get_rank` numbers.
 *
 * - `out_sizes`: receives their address.
 * - Ownership: borrowed; valid until the handle's last owner has released it, or another tensor is assigned to it.
 * - torch: `at::Tensor::sizes().data()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_borrow_sizes(struct sconce_tensor *tensor,
                                         const int64_t **out_sizes);

/**
 * Returns the address of the strides: `sconce_tensor_get_rank` numbers, in elements.
 *
 * - `out_strides`: receives their address.
 * - Ownership: as `sconce_tensor_borrow_sizes`.
 * - torch: `at::Tensor::strides().data()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_borrow_strides(struct sconce_tensor *tensor,
                                           const int64_t **out_strides);

/**
 * Returns the number of elements between the beginning of the memory and the first element of the
 * tensor.
 *
 * - `out_offset`: receives the number.
 * - torch: `torch.Tensor.storage_offset()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_storage_offset(struct sconce_tensor *tensor,
                                               int64_t *out_offset);

/**
 * Returns the number of elements.
 *
 * - `out_numel`: receives the number.
 * - torch: `torch.Tensor.numel()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_numel(struct sconce_tensor *tensor,
                                      int64_t *out_numel);

/**
 * Returns the bytes of an element of a data type.
 *
 * - `dtype`: `SCONCE_DTYPE_…`.
 * - `out_bytes`: receives the number.
 * - torch: `torch.dtype.itemsize`.
 */
SCONCE_NODISCARD sconce_status sconce_dtype_get_bytes(int32_t dtype, size_t *out_bytes);

/**
 * Returns the address of the first element.
 *
 * - `out_address`: receives the address, of a device or of the host; NULL if the memory has no bytes.
 * - Ownership: borrowed; valid while a tensor uses the memory.
 * - torch: `torch.Tensor.data_ptr()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_data(struct sconce_tensor *tensor,
                                     void **out_address);

/**
 * Returns the memory of a tensor: its address and its size.
 *
 * - `out_address`: receives the address at which the memory begins; NULL if it has no bytes.
 * - `out_bytes`: receives the size.
 * - Ownership: as `sconce_tensor_get_data`.
 * - torch: `torch.Tensor.untyped_storage()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_get_storage(struct sconce_tensor *tensor,
                                        void **out_address,
                                        size_t *out_bytes);

/**
 * Returns whether the elements are contiguous in memory, in a given order of the dimensions.
 *
 * - `memory_format`: `SCONCE_MEMORY_FORMAT_…`; with PRESERVE, whether the elements are dense in
 *   any order.
 * - `out_contiguous`: receives whether they are.
 * - torch: `torch.Tensor.is_contiguous(memory_format)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_contiguous(struct sconce_tensor *tensor,
                                          int32_t memory_format,
                                          bool *out_contiguous);

/**
 * Returns whether the memory is page-locked memory of the host.
 *
 * - `out_pinned`: receives whether it is.
 * - torch: `torch.Tensor.is_pinned()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_pinned(struct sconce_tensor *tensor,
                                      bool *out_pinned);

/**
 * Returns whether two tensors are parts of the same memory, even if the parts do not overlap.
 *
 * - `other`: the other tensor.
 * - `out_shares`: receives whether they do.
 * - torch: `a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_shares_storage(struct sconce_tensor *tensor,
                                           struct sconce_tensor *other,
                                           bool *out_shares);

/**
 * Notes that a stream uses the memory of a tensor. After its release, the memory is not reused
 * before the work that is queued on that stream at that time has finished.
 *
 * - `stream`: ignored if the memory was allocated for this stream, and for ordinary host memory
 *   and memory of other owners.
 * - torch: `torch.Tensor.record_stream(stream)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_record_stream(struct sconce_tensor *tensor,
                                          struct sconce_stream stream);

/**
 * Creates a tensor whose values are not set.
 *
 * - `sizes`: elements along each dimension, at least 0.
 * - `rank`: number of dimensions; 0 makes a tensor of one element.
 * - `options`: NULL or fields left at their defaults: F32, on the current device, for its current stream.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: a size is negative, the sizes are too large to be counted, or a tensor of a
 *   device is to be pinned. OUT_OF_MEMORY: as `sconce_memory_alloc`.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`.
 * - torch: `torch.empty`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_empty(const int64_t *sizes,
                                  size_t rank,
                                  const struct sconce_tensor_options *options,
                                  struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with the given strides, whose values are not set. Otherwise as
 * `sconce_tensor_empty`.
 *
 * - `strides`: elements from one index to the next, at least 0; 0 repeats elements.
 * - `options`: the memory format is not used.
 * - `out_tensor`: receives the tensor.
 * - torch: `torch.empty_strided`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_empty_strided(const int64_t *sizes,
                                          const int64_t *strides,
                                          size_t rank,
                                          const struct sconce_tensor_options *options,
                                          struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with the sizes of another, whose values are not set.
 *
 * - `options`: fields at their defaults are taken from `tensor`: type, device and memory format.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - torch: `torch.empty_like`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_empty_like(struct sconce_tensor *tensor,
                                       const struct sconce_tensor_options *options,
                                       struct sconce_tensor **out_tensor);

/**
 * Creates a tensor whose elements all have one value.
 *
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`; the default type is that of the value: I64, F32,
 *   BOOL or C64.
 * - `value`: the value of every element.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
 * - torch: `torch.full`, `torch.zeros`, `torch.ones`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_full(const int64_t *sizes,
                                 size_t rank,
                                 const struct sconce_scalar *value,
                                 const struct sconce_tensor_options *options,
                                 struct sconce_tensor **out_tensor);

/**
 * Creates a tensor of zeros.
 *
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.zeros`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_zeros(const int64_t *sizes,
                                  size_t rank,
                                  const struct sconce_tensor_options *options,
                                  struct sconce_tensor **out_tensor);

/**
 * Creates a tensor of ones.
 *
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.ones`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_ones(const int64_t *sizes,
                                 size_t rank,
                                 const struct sconce_tensor_options *options,
                                 struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with the sizes of another, whose elements all have one value. Otherwise as
 * `sconce_tensor_empty_like`.
 *
 * - `value`: the value of every element.
 * - `out_tensor`: receives the tensor.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.full_like`, `torch.zeros_like`, `torch.ones_like`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_full_like(struct sconce_tensor *tensor,
                                      const struct sconce_scalar *value,
                                      const struct sconce_tensor_options *options,
                                      struct sconce_tensor **out_tensor);

/**
 * Creates a tensor with values from the caller's memory.
 *
 * - `values`: the elements in row-major order, of the type that `options` names.
 * - `bytes`: the size of all elements.
 * - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `bytes` is not the size of the elements. Otherwise as
 *   `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_copy` from ordinary memory: `values` may be changed once the call returns.
 * - torch: `torch.tensor`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_values(const void *values,
                                        size_t bytes,
                                        const int64_t *sizes,
                                        size_t rank,
                                        const struct sconce_tensor_options *options,
                                        struct sconce_tensor **out_tensor);

/**
 * Creates a vector of evenly spaced numbers: `start`, `start + step`, and so on, up to but
 * excluding `end`.
 *
 * - `start`, `end`, `step`: the first number, the bound and the distance.
 * - `options`: the default type is I64 if all three are integers, else F32.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `step` is 0 or leads away from `end`, or a bound is not finite. Otherwise as
 *   `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.arange`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_arange(const struct sconce_scalar *start,
                                   const struct sconce_scalar *end,
                                   const struct sconce_scalar *step,
                                   const struct sconce_tensor_options *options,
                                   struct sconce_tensor **out_tensor);

/**
 * Creates a vector of numbers at equal distances from `start` to `end`, both included.
 *
 * - `steps`: how many numbers, at least 0.
 * - `start`, `end`: the first and the last number.
 * - `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `steps` is negative. Otherwise as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.linspace`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_linspace(const struct sconce_scalar *start,
                                     const struct sconce_scalar *end,
                                     int64_t steps,
                                     const struct sconce_tensor_options *options,
                                     struct sconce_tensor **out_tensor);

/**
 * Creates a matrix with ones on its main diagonal, and zeros elsewhere.
 *
 * - `rows`, `columns`: at least 0.
 * - `options`: as in `sconce_tensor_empty`.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty`.
 * - Ownership: as `sconce_tensor_empty`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.eye`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_eye(int64_t rows,
                                int64_t columns,
                                const struct sconce_tensor_options *options,
                                struct sconce_tensor **out_tensor);

/**
 * Sets every element of a tensor to a value, converted to the tensor's type.
 *
 * - `value`: the value of every element.
 * - Errors: INVALID_ARGUMENT: several elements of the tensor share a place in memory.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.Tensor.fill_`, `torch.Tensor.zero_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_fill(struct sconce_tensor *tensor,
                                 const struct sconce_scalar *value);

/**
 * Creates a tensor over memory of another owner.
 *
 * - `address`: the first element, in memory of a device or of the host; may be NULL if there are
 *   no elements.
 * - `bytes`: the size of the memory that begins there.
 * - `sizes`, `rank`: as in `sconce_tensor_empty`.
 * - `strides`: in elements; NULL if the elements are contiguous.
 * - `dtype`: `SCONCE_DTYPE_…`.
 * - `device`: the device of the memory, or `SCONCE_DEVICE_CPU`.
 * - `deleter`: called with `context` when no tensor uses the memory any more; NULL if the memory outlives all
 *   of them. It is not called if this call fails.
 * - `context`: the deleter's argument.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: an element lies outside of the memory, the memory is not on that
 *   device, memory of a device is declared as the CPU's, or device memory is not aligned to the elements.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`. The memory is valid until the
 *   deleter is called.
 * - Ordering: the caller must order earlier work on the memory before the device's current stream.
 *   A deleter that frees the memory out of stream order must wait for later work on it.
 * - Threads: the deleter is called once, on the thread that releases the last tensor.
 * - torch: `torch::from_blob`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_memory(void *address,
                                        size_t bytes,
                                        const int64_t *sizes,
                                        const int64_t *strides,
                                        size_t rank,
                                        int32_t dtype,
                                        int32_t device,
                                        sconce_deleter deleter,
                                        void *context,
                                        struct sconce_tensor **out_tensor);

/**
 * Creates a tensor over memory of another owner, whose size follows from the sizes and strides. Otherwise as
 * `sconce_tensor_from_memory`.
 *
 * - `data`: the first element, in memory of a device or of the host; may be NULL if there are no
 *   elements.
 * - `sizes`: as in `sconce_tensor_empty`.
 * - `strides`: in elements; NULL if the elements are contiguous.
 * - `dims`: number of dimensions.
 * - `options`: type and device of the elements; NULL or fields at their defaults: F32, on the device that the memory
 *   belongs to, or on the CPU.
 * - `deleter`: called with `user` when no tensor uses the memory any more; NULL if the memory outlives all of
 *   them. It is not called if this call fails.
 * - `user`: the deleter's argument.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: a size or a stride is negative, the memory is not on that device, device
 *   memory is not aligned to the elements, or `options` request pinned memory or a memory format.
 * - torch: `torch::from_blob`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_blob(void *data,
                                      const int64_t *sizes,
                                      const int64_t *strides,
                                      size_t dims,
                                      const struct sconce_tensor_options *options,
                                      sconce_deleter deleter,
                                      void *user,
                                      struct sconce_tensor **out_tensor);

/**
 * Fills a tensor with numbers from `low` to `high`, excluding `high`. The bits are
 * torch's: elements are drawn in the order in which they lie in memory.
 *
 * - `low`, `high`: bounds.
 * - `generator`: a generator of the tensor's device, or of the CPU for a tensor there; NULL for its default
 *   generator.
 * - Errors: INVALID_ARGUMENT: the parameters, as in `sconce_random_uniform`; or several elements
 *   of the tensor share a place in memory. NOT_SUPPORTED: the distribution is not defined for the
 *   tensor's type. CROSS_DEVICE: `generator` belongs to another device.
 * - Ordering: queued on the current stream of the tensor's device; a tensor of the CPU is filled on return.
 * - torch: `torch.Tensor.uniform_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_uniform(struct sconce_tensor *tensor,
                                    double low,
                                    double high,
                                    struct sconce_generator *generator);

/**
 * Fills a tensor with normally distributed numbers. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `mean`, `stddev`: as in `sconce_random_normal`.
 * - torch: `torch.Tensor.normal_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_normal(struct sconce_tensor *tensor,
                                   double mean,
                                   double stddev,
                                   struct sconce_generator *generator);

/**
 * Fills a tensor with numbers whose logarithm is normally distributed. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `mean`, `stddev`: of the logarithm.
 * - torch: `torch.Tensor.log_normal_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_log_normal(struct sconce_tensor *tensor,
                                       double mean,
                                       double stddev,
                                       struct sconce_generator *generator);

/**
 * Fills a tensor with exponentially distributed numbers. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `lambda`: the rate, above 0.
 * - torch: `torch.Tensor.exponential_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_exponential(struct sconce_tensor *tensor,
                                        double lambda,
                                        struct sconce_generator *generator);

/**
 * Fills a tensor with numbers of a Cauchy distribution. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `median`, `sigma`: median and scale.
 * - torch: `torch.Tensor.cauchy_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_cauchy(struct sconce_tensor *tensor,
                                   double median,
                                   double sigma,
                                   struct sconce_generator *generator);

/**
 * Fills a tensor with numbers of a geometric distribution. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `p`: the probability of success, between 0 and 1.
 * - torch: `torch.Tensor.geometric_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_geometric(struct sconce_tensor *tensor,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills a tensor with 1 or 0. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `p`: the probability of 1.
 * - torch: `torch.Tensor.bernoulli_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_bernoulli(struct sconce_tensor *tensor,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills a tensor with integers from `low` to `high`, excluding `high`. Otherwise as
 * `sconce_tensor_uniform`.
 *
 * - `low`, `high`: bounds.
 * - torch: `torch.Tensor.random_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_random_integers(struct sconce_tensor *tensor,
                                            int64_t low,
                                            int64_t high,
                                            struct sconce_generator *generator);

/**
 * Fills a tensor with integers from 0 to the largest of its type, as `sconce_random_full_range`
 * does. Otherwise as `sconce_tensor_uniform`.
 *
 * - torch: `torch.Tensor.random_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_random(struct sconce_tensor *tensor,
                                   struct sconce_generator *generator);

/**
 * Creates a vector of the numbers 0 to `n - 1` in a random order, with torch's bits.
 *
 * - `n`: how many numbers, at least 0.
 * - `generator`: a generator of the tensor's device, or of the CPU for a tensor there; NULL for its default
 *   generator.
 * - `options`: NULL or fields left at their defaults: I64, on the current device.
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: `n` is negative, or the type cannot hold the numbers. NOT_SUPPORTED:
 *   the type is neither an integer nor a real floating-point number. CROSS_DEVICE: `generator`
 *   belongs to another device. OUT_OF_MEMORY: for the result or for work memory.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the tensor's device; a tensor of the CPU is filled on return.
 * - torch: `torch.randperm`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_randperm(int64_t n,
                                     struct sconce_generator *generator,
                                     const struct sconce_tensor_options *options,
                                     struct sconce_tensor **out_tensor);

/**
 * Copies the elements of `source` to `tensor`, between any devices. The elements are converted to
 * the type of `tensor` and broadcast to its shape.
 *
 * - `source`: the tensor to copy.
 * - `non_blocking`: as in `sconce_copy`.
 * - Errors: INVALID_ARGUMENT: the shape of `source` cannot be broadcast to that of `tensor`, or
 *   the two partly overlap in memory. Otherwise as `sconce_copy_strided`.
 * - Ordering: as `sconce_copy_strided`. Elements are converted on the device of `source`; from the CPU to a device
 *   they are converted on the device if `non_blocking` is true. A blocking copy that converts elements of page-locked
 *   memory waits for the current stream first, because earlier work may still write to them.
 * - torch: `torch.Tensor.copy_(source, non_blocking)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_copy(struct sconce_tensor *tensor,
                                 struct sconce_tensor *source,
                                 bool non_blocking);

/**
 * Returns a tensor with another type, device or memory format. If nothing changes, returns the
 * tensor itself, with one more owner.
 *
 * - `options`: fields at their defaults change nothing. `pinned` is not used.
 * - `non_blocking`: as in `sconce_copy`; a result on the CPU is then page-locked.
 * - `copy`: copies even if nothing changes.
 * - `out_tensor`: receives the tensor.
 * - Errors: as `sconce_tensor_empty` and `sconce_tensor_copy`.
 * - Ownership: the caller releases the result with `sconce_tensor_release`, even if it is the same
 *   handle.
 * - Ordering: as `sconce_tensor_copy`.
 * - torch: `torch.Tensor.to`, `.cuda()`, `.cpu()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to(struct sconce_tensor *tensor,
                               const struct sconce_tensor_options *options,
                               bool non_blocking,
                               bool copy,
                               struct sconce_tensor **out_tensor);

/**
 * Returns a copy of a tensor in new memory.
 *
 * - `memory_format`: `SCONCE_MEMORY_FORMAT_…`.
 * - `out_tensor`: receives the copy.
 * - Ownership: the caller releases the copy with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
 * - torch: `torch.Tensor.clone`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_clone(struct sconce_tensor *tensor,
                                  int32_t memory_format,
                                  struct sconce_tensor **out_tensor);

/**
 * Returns a tensor whose elements are contiguous in memory: the tensor itself, with one more
 * owner, or a copy.
 *
 * - `memory_format`: `SCONCE_MEMORY_FORMAT_…` other than PRESERVE.
 * - `out_tensor`: receives the tensor.
 * - Ownership: as `sconce_tensor_to`.
 * - Ordering: as `sconce_tensor_clone`.
 * - torch: `torch.Tensor.contiguous`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_contiguous(struct sconce_tensor *tensor,
                                       int32_t memory_format,
                                       struct sconce_tensor **out_tensor);

/**
 * Returns a tensor in page-locked host memory: the tensor itself, with one more owner, or a copy.
 *
 * - `out_tensor`: receives the tensor.
 * - Errors: INVALID_ARGUMENT: the tensor is on a device.
 * - Ownership: as `sconce_tensor_to`.
 * - Ordering: done when the call returns.
 * - torch: `torch.Tensor.pin_memory`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_pin_memory(struct sconce_tensor *tensor,
                                       struct sconce_tensor **out_tensor);

/**
 * Writes all elements to the caller's memory, in row-major order.
 *
 * - `out_values`: receives the elements; may be NULL if there are none.
 * - `bytes`: the size of all elements.
 * - Errors: INVALID_ARGUMENT: `bytes` is not the size of the elements.
 * - Ordering: after earlier work of the current stream of the tensor's device; done when the call returns.
 * - torch: `torch.Tensor.tolist()`, `.cpu().numpy()`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_values(struct sconce_tensor *tensor,
                                      void *out_values,
                                      size_t bytes);

/**
 * Returns the value of a tensor of one element.
 *
 * - `out_value`: receives the value: an integer, a real number, a truth value or a complex number.
 * - Errors: INVALID_ARGUMENT: the tensor has another number of elements.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `torch.Tensor.item`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_item(struct sconce_tensor *tensor,
                                 struct sconce_scalar *out_value);

/**
 * Returns a tensor as text, as torch prints it in Python, such as
 * `tensor([1., 2.], device='cuda:0')`. If there are more than 1000 elements, only the first and
 * last three of each dimension are printed.
 *
 * - `tensor`: may be undefined.
 * - `out_text`: receives the text.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `str(tensor)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_string(struct sconce_tensor *tensor,
                                      char **out_text);

/**
 * Returns the elements of a tensor with other sizes, without a copy.
 *
 * - `sizes`: one may be -1, and is then computed from the others.
 * - `rank`: number of sizes.
 * - `out_tensor`: receives the view, which shares the memory.
 * - Errors: INVALID_ARGUMENT: the sizes have another number of elements, or the elements cannot be
 *   addressed with strides in that shape (`sconce_tensor_reshape` then makes a copy).
 * - Ownership: the caller releases the view with `sconce_tensor_release`; it keeps the memory alive.
 * - torch: `torch.Tensor.view(sizes)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_view(struct sconce_tensor *tensor,
                                 const int64_t *sizes,
                                 size_t rank,
                                 struct sconce_tensor **out_tensor);

/**
 * Returns the elements of a tensor with other sizes: a view where possible, else a copy. Otherwise as
 * `sconce_tensor_view`.
 *
 * - `out_tensor`: receives the view or the copy.
 * - Ordering: a copy is queued on the current stream of the tensor's device.
 * - torch: `torch.Tensor.reshape`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_reshape(struct sconce_tensor *tensor,
                                    const int64_t *sizes,
                                    size_t rank,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a view of the memory of a tensor with the given sizes, strides and offset.
 *
 * - `sizes`: elements along each dimension.
 * - `strides`: in elements, at least 0.
 * - `rank`: number of sizes and of strides.
 * - `storage_offset`: elements from the beginning of the memory to the first element; -1 for the
 *   tensor's own.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: an element lies outside of the memory.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.as_strided`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_as_strided(struct sconce_tensor *tensor,
                                       const int64_t *sizes,
                                       const int64_t *strides,
                                       size_t rank,
                                       int64_t storage_offset,
                                       struct sconce_tensor **out_tensor);

/**
 * Returns a part of a dimension.
 *
 * - `start`: the first index; counts from the end if it is negative.
 * - `length`: the number of indices.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the part reaches beyond the dimension.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.narrow`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_narrow(struct sconce_tensor *tensor,
                                   int64_t dim,
                                   int64_t start,
                                   int64_t length,
                                   struct sconce_tensor **out_tensor);

/**
 * Returns every `step`-th index of a dimension from `start` up to, but excluding, `end`.
 *
 * - `start`, `end`: count from the end if they are negative, and are clamped to the dimension.
 *   INT64_MAX as `end` means the end of the dimension.
 * - `step`: at least 1.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: `step` is less than 1.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `tensor[start:end:step]`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_slice(struct sconce_tensor *tensor,
                                  int64_t dim,
                                  int64_t start,
                                  int64_t end,
                                  int64_t step,
                                  struct sconce_tensor **out_tensor);

/**
 * Returns one index of a dimension, without that dimension.
 *
 * - `index`: counts from the end if it is negative.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the dimension has no such index.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.select`, `tensor[index]`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_select(struct sconce_tensor *tensor,
                                   int64_t dim,
                                   int64_t index,
                                   struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with two dimensions exchanged.
 *
 * - `first`, `second`: the two dimensions.
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.transpose`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_transpose(struct sconce_tensor *tensor,
                                      int64_t first,
                                      int64_t second,
                                      struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with its dimensions in another order.
 *
 * - `dims`: the dimensions in their new order, each once.
 * - `count`: number of entries of `dims`.
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.permute`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_permute(struct sconce_tensor *tensor,
                                    const int64_t *dims,
                                    size_t count,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with dimensions of one element repeated, without memory for the repetitions.
 *
 * - `sizes`: -1 keeps a size; dimensions that the tensor does not have come first.
 * - `rank`: number of sizes.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: a dimension of more than one element would have another size.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.expand`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_expand(struct sconce_tensor *tensor,
                                   const int64_t *sizes,
                                   size_t rank,
                                   struct sconce_tensor **out_tensor);

/**
 * Returns a tensor without the given dimensions, as far as they have one element.
 *
 * - `dims`: NULL for all dimensions.
 * - `count`: number of entries of `dims`.
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.squeeze`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_squeeze(struct sconce_tensor *tensor,
                                    const int64_t *dims,
                                    size_t count,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with one more dimension, of one element, before dimension `dim`.
 *
 * - `out_tensor`: receives the view.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.unsqueeze`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unsqueeze(struct sconce_tensor *tensor,
                                      int64_t dim,
                                      struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with the dimensions from `start` to `end`, both included, joined into one: a
 * view where possible, else a copy.
 *
 * - `out_tensor`: receives the view or the copy.
 * - Ownership: as `sconce_tensor_view`.
 * - Ordering: as `sconce_tensor_reshape`.
 * - torch: `torch.Tensor.flatten`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_flatten(struct sconce_tensor *tensor,
                                    int64_t start,
                                    int64_t end,
                                    struct sconce_tensor **out_tensor);

/**
 * Returns a tensor with one dimension replaced by several.
 *
 * - `sizes`: their product is the size of the dimension; one may be -1.
 * - `count`: number of sizes.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the sizes have another product.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.unflatten`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unflatten(struct sconce_tensor *tensor,
                                      int64_t dim,
                                      const int64_t *sizes,
                                      size_t count,
                                      struct sconce_tensor **out_tensor);

/**
 * Returns the diagonal of two dimensions, as the last dimension.
 *
 * - `offset`: how far above the main diagonal; negative: below.
 * - `first`, `second`: the two dimensions.
 * - `out_tensor`: receives the view.
 * - Errors: INVALID_ARGUMENT: the two dimensions are the same.
 * - Ownership: as `sconce_tensor_view`.
 * - torch: `torch.Tensor.diagonal`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_diagonal(struct sconce_tensor *tensor,
                                     int64_t offset,
                                     int64_t first,
                                     int64_t second,
                                     struct sconce_tensor **out_tensor);

/**
 * Splits a dimension into at most `chunks` pieces of equal size; the last piece may be smaller.
 *
 * - `chunks`: at least 1.
 * - `out_tensors`: receives the views.
 * - `capacity`: entries that `out_tensors` can hold.
 * - `out_count`: receives the number of views.
 * - Errors: INVALID_ARGUMENT: `chunks` is less than 1, or `capacity` is less than the number of pieces.
 * - Ownership: the caller releases each view with `sconce_tensor_release`; it keeps the memory alive.
 * - torch: `torch.chunk`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_chunk(struct sconce_tensor *tensor,
                                  int64_t chunks,
                                  int64_t dim,
                                  struct sconce_tensor **out_tensors,
                                  size_t capacity,
                                  size_t *out_count);

/**
 * Splits a dimension into pieces of `size` indices; the last piece may be smaller. Otherwise as
 * `sconce_tensor_chunk`.
 *
 * - `out_tensors`: receives the views.
 * - `out_count`: receives the number of views.
 * - torch: `torch.split`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_split(struct sconce_tensor *tensor,
                                  int64_t size,
                                  int64_t dim,
                                  struct sconce_tensor **out_tensors,
                                  size_t capacity,
                                  size_t *out_count);

/**
 * Splits a dimension into pieces of the given sizes, whose sum is the size of the dimension.
 * Otherwise as `sconce_tensor_chunk`.
 *
 * - `sizes`: indices of each piece.
 * - `count`: number of sizes.
 * - `out_tensors`: receives the views.
 * - `out_count`: receives the number of views.
 * - torch: `torch.split`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_split_with_sizes(struct sconce_tensor *tensor,
                                             const int64_t *sizes,
                                             size_t count,
                                             int64_t dim,
                                             struct sconce_tensor **out_tensors,
                                             size_t capacity,
                                             size_t *out_count);

/**
 * Returns a view for each index of a dimension, without that dimension. Otherwise as `sconce_tensor_chunk`.
 *
 * - `out_tensors`: receives the views.
 * - `out_count`: receives the number of views.
 * - torch: `torch.unbind`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unbind(struct sconce_tensor *tensor,
                                   int64_t dim,
                                   struct sconce_tensor **out_tensors,
                                   size_t capacity,
                                   size_t *out_count);

/**
 * Applies an operation to every element.
 *
 * - `operation`: `SCONCE_UNARY_…`.
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`. It may have any type to which the type of the
 *   result can be cast. It may be the tensor itself; then it is not resized. NULL makes a new tensor.
 * - `out_tensor`: receives the new tensor; may be NULL if `into` is not.
 * - Errors: NOT_SUPPORTED: the operation is not defined for the tensor's type; the message is torch's.
 *   INVALID_ARGUMENT: `into` has a type that cannot hold the result, partly overlaps the tensor in memory, is
 *   read-only, has several elements in one place, or is memory of another owner that is too small. CROSS_DEVICE:
 *   `into` is on another device. OUT_OF_MEMORY: for the result.
 * - Ownership: the caller releases the new tensor with `sconce_tensor_release`.
 * - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
 * - torch: the functions of the same names, such as `torch.exp`; with `into` `torch.exp(…, out=into)` and
 *   `torch.Tensor.exp_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_unary(int32_t operation,
                                  struct sconce_tensor *tensor,
                                  struct sconce_tensor *into,
                                  struct sconce_tensor **out_tensor);

/**
 * Applies an operation to every pair of elements of two operands, which are broadcast to a common shape. An operand
 * is a tensor or a number. The type of the result follows torch's promotion rules: numbers and tensors without
 * dimensions affect it only by their kind.
 *
 * - `operation`: `SCONCE_BINARY_…`.
 * - `first`, `second`: tensors; NULL for an operand that is a number.
 * - `first_number`, `second_number`: numbers; NULL for an operand that is a tensor.
 * - `alpha`: for sums and differences, the factor of the second operand; NULL means 1.
 * - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand, and then is
 *   not resized. NULL makes a new tensor.
 * - `out_tensor`: receives the new tensor; may be NULL if `into` is not.
 * - Errors: INVALID_ARGUMENT: the shapes cannot be broadcast, an operand has both or neither of a tensor and a
 *   number, `into` cannot hold the result, or integers of the CPU are divided by 0. CROSS_DEVICE: the tensors are on
 *   different devices; tensors of the CPU without dimensions may be combined with those of a device. NOT_SUPPORTED:
 *   the operation is not defined for the type.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`. The value of a tensor of the CPU is read during the call.
 * - torch: the functions of the same names, such as `torch.add`; with `into` `torch.add(…, out=into)` and
 *   `torch.Tensor.add_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_binary(int32_t operation,
                                   struct sconce_tensor *first,
                                   const struct sconce_scalar *first_number,
                                   struct sconce_tensor *second,
                                   const struct sconce_scalar *second_number,
                                   const struct sconce_scalar *alpha,
                                   struct sconce_tensor *into,
                                   struct sconce_tensor **out_tensor);

/**
 * Clamps every element to bounds.
 *
 * - `least`, `most`: the bounds as tensors; NULL for a bound that is a number or absent.
 * - `least_number`, `most_number`: the bounds as numbers; NULL for a bound that is a tensor or
 *   absent.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: both bounds are absent. Otherwise as `sconce_tensor_binary`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.clamp`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_clamp(struct sconce_tensor *tensor,
                                  struct sconce_tensor *least,
                                  const struct sconce_scalar *least_number,
                                  struct sconce_tensor *most,
                                  const struct sconce_scalar *most_number,
                                  struct sconce_tensor **out_tensor);

/**
 * Selects elements of one operand where a condition is true, else those of another.
 *
 * - `condition`: a tensor of BOOL.
 * - `if_true`, `if_false`: tensors; NULL for an operand that is a number.
 * - `true_number`, `false_number`: numbers; NULL for an operand that is a tensor.
 * - `out_tensor`: receives the new tensor.
 * - Errors: as `sconce_tensor_binary`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.where`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_where(struct sconce_tensor *condition,
                                  struct sconce_tensor *if_true,
                                  const struct sconce_scalar *true_number,
                                  struct sconce_tensor *if_false,
                                  const struct sconce_scalar *false_number,
                                  struct sconce_tensor **out_tensor);

/**
 * Reduces dimensions of a tensor.
 *
 * - `operation`: `SCONCE_REDUCE_…`.
 * - `dims`: the dimensions to reduce; NULL for all. ARGMAX and ARGMIN accept one or all.
 * - `count`: number of entries of `dims`.
 * - `keep_dims`: whether the result keeps these dimensions, with one element.
 * - `dtype`: for sums, means and products, the type to which elements are converted first, and the
 *   type of the result; else `SCONCE_DTYPE_DEFAULT`.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: a dimension is named twice, or there are no elements of which to
 *   find the largest or smallest. NOT_SUPPORTED: the operation is not defined for the type; the
 *   message is torch's. OUT_OF_MEMORY: for the result.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`. Results are reproducible: the same sizes and strides on
 *   the same device produce the same bits.
 * - torch: the functions of the same names, such as `torch.sum`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_reduce(int32_t operation,
                                   struct sconce_tensor *tensor,
                                   const int64_t *dims,
                                   size_t count,
                                   bool keep_dims,
                                   int32_t dtype,
                                   struct sconce_tensor **out_tensor);

/**
 * Computes softmax or a running sum or product along a dimension. The result has the tensor's
 * sizes.
 *
 * - `operation`: `SCONCE_LINE_…`.
 * - `dtype`: the type to which elements are converted first, and the type of the result.
 *   `SCONCE_DTYPE_DEFAULT`: the tensor's type, or I64 for running sums and products of integers.
 * - `out_tensor`: receives the new tensor.
 * - Errors: NOT_SUPPORTED: softmax of a type that is not a real floating-point type.
 *   OUT_OF_MEMORY: for the result.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.softmax`, `torch.log_softmax`, `torch.cumsum`, `torch.cumprod`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_along(int32_t operation,
                                  struct sconce_tensor *tensor,
                                  int64_t dim,
                                  int32_t dtype,
                                  struct sconce_tensor **out_tensor);

/**
 * Joins tensors along an existing dimension. The result has the tensors' common type.
 *
 * - `tensors`: at least one; tensors of shape [0] are skipped.
 * - `count`: number of tensors.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: the shapes differ in another dimension. CROSS_DEVICE: the tensors are on several
 *   devices. OUT_OF_MEMORY: for the result.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.cat`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_cat(struct sconce_tensor *const *tensors,
                                size_t count,
                                int64_t dim,
                                struct sconce_tensor **out_tensor);

/**
 * Joins tensors of one shape along a new dimension. Otherwise as `sconce_tensor_cat`.
 *
 * - `out_tensor`: receives the new tensor.
 * - torch: `torch.stack`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_stack(struct sconce_tensor *const *tensors,
                                  size_t count,
                                  int64_t dim,
                                  struct sconce_tensor **out_tensor);

/**
 * Returns the elements at the given indices of a dimension.
 *
 * - `index`: a vector of I32 or I64 on the same device.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: `index` is not such a vector, or on the CPU an index is out of
 *   range. CROSS_DEVICE: the tensors are on different devices. On a device, an index out of range
 *   makes the device fail, as in torch.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.index_select`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_index_select(struct sconce_tensor *tensor,
                                         int64_t dim,
                                         struct sconce_tensor *index,
                                         struct sconce_tensor **out_tensor);

/**
 * Returns the indices of all elements that are not 0: an I64 tensor with a row for each of them, in
 * row-major order, and a column for each dimension.
 *
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_STATE: the current stream of the tensor's device is being captured. OUT_OF_MEMORY: for the result
 *   or for work memory.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: waits for the current stream of the tensor's device, since the size of the result depends on the
 *   elements.
 * - torch: `torch.nonzero`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_nonzero(struct sconce_tensor *tensor,
                                    struct sconce_tensor **out_tensor);

/**
 * Sorts along a dimension. Equal elements keep their order; NaN counts as the largest.
 *
 * - `descending`: whether the largest element comes first.
 * - `out_values`: receives the sorted elements.
 * - `out_indices`: receives the original index of each element along the dimension, as I64.
 * - Errors: NOT_SUPPORTED: the type is complex. OUT_OF_MEMORY: for the results or for work memory.
 * - Ownership: the caller releases both with `sconce_tensor_release`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.sort(stable=True)`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_sort(struct sconce_tensor *tensor,
                                 int64_t dim,
                                 bool descending,
                                 struct sconce_tensor **out_values,
                                 struct sconce_tensor **out_indices);

/**
 * Returns whether two tensors have the same shape and equal elements.
 *
 * - `first`, `second`: the tensors.
 * - `out_equal`: receives whether they do.
 * - Errors: CROSS_DEVICE: the tensors are on several devices.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `torch.equal`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_equal(struct sconce_tensor *first,
                                  struct sconce_tensor *second,
                                  bool *out_equal);

/**
 * Returns whether every element of `first` is equal to that of `second`, or differs from it by at most
 * `atol + rtol * |second|`.
 *
 * - `first`, `second`: the tensors.
 * - `rtol`, `atol`: the relative and the absolute tolerance, at least 0.
 * - `equal_nan`: whether NaN counts as equal to NaN.
 * - `out_close`: receives whether they are close.
 * - Errors: INVALID_ARGUMENT: the types differ, the shapes do not fit, or a tolerance is negative. CROSS_DEVICE:
 *   the tensors are on several devices.
 * - Ordering: as `sconce_tensor_to_values`.
 * - torch: `torch.allclose`, whose tolerances are 1e-5 and 1e-8 unless named.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_allclose(struct sconce_tensor *first,
                                     struct sconce_tensor *second,
                                     double rtol,
                                     double atol,
                                     bool equal_nan,
                                     bool *out_close);

/**
 * Multiplies vectors, matrices or batches of matrices, as torch does. Small products are added up
 * in the order of the inner dimension and without TF32; large ones are computed as by
 * `sconce_matmul`.
 *
 * - `first`, `second`: the factors, of the same type: F16, BF16, F32, F64, C64 or C128.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: the shapes do not fit, or the types differ. NOT_SUPPORTED: another
 *   type. CROSS_DEVICE: the tensors are on different devices. Otherwise as `sconce_matmul`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.matmul`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_matmul(struct sconce_tensor *first,
                                   struct sconce_tensor *second,
                                   struct sconce_tensor **out_tensor);

/**
 * Multiplies two batches of matrices. Otherwise as `sconce_tensor_matmul`.
 *
 * - `first`, `second`: tensors of three dimensions.
 * - `out_tensor`: receives the new tensor.
 * - torch: `torch.bmm`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_bmm(struct sconce_tensor *first,
                                struct sconce_tensor *second,
                                struct sconce_tensor **out_tensor);

/**
 * Returns `beta * tensor + alpha * (first @ second)`. Otherwise as `sconce_tensor_matmul`.
 *
 * - `tensor`: broadcast to the product's shape; if `beta` is 0, it is not read.
 * - `first`, `second`: matrices.
 * - `out_tensor`: receives the new tensor.
 * - torch: `torch.addmm`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_addmm(struct sconce_tensor *tensor,
                                  struct sconce_tensor *first,
                                  struct sconce_tensor *second,
                                  double beta,
                                  double alpha,
                                  struct sconce_tensor **out_tensor);

/**
 * Convolves images with a filter, and adds a bias.
 *
 * - `tensor`: batch, channels, and one to three spatial dimensions; of F16, BF16, F32 or F64.
 * - `filter`: output channels, input channels of a group, spatial dimensions.
 * - `bias`: a number for each output channel; NULL for none.
 * - `stride`, `padding`, `dilation`: an entry for each spatial dimension.
 * - `spatial`: number of spatial dimensions.
 * - `groups`: number of groups into which the channels are divided.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: the shapes do not fit. CROSS_DEVICE: the tensors are on several devices.
 *   NOT_SUPPORTED: the type. OUT_OF_MEMORY: on the CPU for the unfolded input. Otherwise as
 *   `sconce_convolution`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.nn.functional.conv1d`, `conv2d`, `conv3d`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_convolution(struct sconce_tensor *tensor,
                                        struct sconce_tensor *filter,
                                        struct sconce_tensor *bias,
                                        const int64_t *stride,
                                        const int64_t *padding,
                                        const int64_t *dilation,
                                        size_t spatial,
                                        int64_t groups,
                                        struct sconce_tensor **out_tensor);

/**
 * Computes Fourier transforms over one to three dimensions of a tensor.
 *
 * - `kind`: `SCONCE_FFT_C2C`, `_R2C` or `_C2R`. Real elements are converted to complex ones for
 *   C2C and C2R.
 * - `direction`: `SCONCE_FFT_FORWARD` or `_INVERSE`.
 * - `normalization`: `SCONCE_FFT_NORM_…`; torch's default is NONE forward and BY_N inverse.
 * - `dims`: the dimensions. R2C returns only the first half of the last one.
 * - `count`: number of dimensions, 1 to 3.
 * - `length`: for C2R, the size of the result along the last dimension; -1 for 2 * (n - 1), where
 *   n is the tensor's size.
 * - `out_tensor`: receives the new tensor.
 * - Errors: INVALID_ARGUMENT: a dimension is named twice, is empty, or `length` does not fit.
 *   NOT_SUPPORTED: the type, which on the CPU includes F16. Otherwise as `sconce_fft`.
 * - Ownership: as `sconce_tensor_unary`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.fft.fft`, `rfft`, `irfft` and their forms of two and n dimensions.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_fft(struct sconce_tensor *tensor,
                                int32_t kind,
                                int32_t direction,
                                int32_t normalization,
                                const int64_t *dims,
                                size_t count,
                                int64_t length,
                                struct sconce_tensor **out_tensor);

/**
 * Reduces dimensions of a tensor, and writes the result to a tensor of the caller. Otherwise as
 * `sconce_tensor_reduce`.
 *
 * - `into`: receives the result. A tensor of the result's shape keeps its memory and strides. A
 *   tensor of another shape is resized and becomes contiguous. It keeps its memory if that is
 *   large enough and is not the memory of `tensor`; otherwise it gets new memory. If it had
 *   elements, a warning is logged, once in the process. An undefined tensor becomes a new one.
 * - `dtype`: with `SCONCE_DTYPE_DEFAULT`, sums, means and products are computed in the type of
 *   `into`, and ALL and ANY write BOOL or U8. Any other value must be the type of `into`.
 * - Errors: INVALID_ARGUMENT: `into` has another type than the result, is read-only, has several
 *   elements in one place, partly overlaps `tensor` in memory, or is memory of another owner that
 *   is too small. CROSS_DEVICE: `into` is on another device. Otherwise as `sconce_tensor_reduce`.
 * - Ownership: `into` stays the caller's; all owners of the handle see the result. If its memory
 *   is replaced, views keep the old memory.
 * - Ordering: as `sconce_tensor_unary`. If `into` uses the memory of `tensor`, the result is
 *   computed in new memory and then copied.
 * - torch: `torch.sum(…, out=into)` and the other functions of the same names; `at::sum_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_reduce_out(int32_t operation,
                                       struct sconce_tensor *tensor,
                                       const int64_t *dims,
                                       size_t count,
                                       bool keep_dims,
                                       int32_t dtype,
                                       struct sconce_tensor *into);

/**
 * Computes softmax or a running sum or product along a dimension, and writes the result to a
 * tensor of the caller. Otherwise as `sconce_tensor_along`.
 *
 * - `dtype`: with `SCONCE_DTYPE_DEFAULT`, running sums and products are computed in the type of
 *   `into`, and softmax in the type of `tensor`. Any other value must be the type of `into`.
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`; it may be `tensor`.
 * - Errors: as `sconce_tensor_reduce_out`, and as `sconce_tensor_along`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_reduce_out`.
 * - torch: `torch.cumsum(…, out=into)` and the other functions of the same names; `at::cumsum_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_along_out(int32_t operation,
                                      struct sconce_tensor *tensor,
                                      int64_t dim,
                                      int32_t dtype,
                                      struct sconce_tensor *into);

/**
 * Clamps every element to bounds, and writes the result to a tensor of the caller. Otherwise as
 * `sconce_tensor_clamp`.
 *
 * - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand.
 * - Errors: as `sconce_tensor_clamp`; for `into`, as `sconce_tensor_unary`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.clamp(…, out=into)`, `torch.Tensor.clamp_`; `at::clamp_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_clamp_out(struct sconce_tensor *tensor,
                                      struct sconce_tensor *least,
                                      const struct sconce_scalar *least_number,
                                      struct sconce_tensor *most,
                                      const struct sconce_scalar *most_number,
                                      struct sconce_tensor *into);

/**
 * Selects elements of one operand where a condition is true, else those of another, and writes
 * them to a tensor of the caller. Otherwise as `sconce_tensor_where`.
 *
 * - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand.
 * - Errors: as `sconce_tensor_where`; for `into`, as `sconce_tensor_unary`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_binary`.
 * - torch: `torch.where(…, out=into)`; `at::where_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_where_out(struct sconce_tensor *condition,
                                      struct sconce_tensor *if_true,
                                      const struct sconce_scalar *true_number,
                                      struct sconce_tensor *if_false,
                                      const struct sconce_scalar *false_number,
                                      struct sconce_tensor *into);

/**
 * Joins tensors along an existing dimension, and writes the result to a tensor of the caller.
 * Otherwise as `sconce_tensor_cat`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`. It may have any type to which
 *   the tensors' common type can be cast.
 * - Errors: INVALID_ARGUMENT: `into` shares memory with one of the tensors. Otherwise as
 *   `sconce_tensor_cat`; for `into`, as `sconce_tensor_unary`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.cat(…, out=into)`; `at::cat_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_cat_out(struct sconce_tensor *const *tensors,
                                    size_t count,
                                    int64_t dim,
                                    struct sconce_tensor *into);

/**
 * Joins tensors of one shape along a new dimension, and writes the result to a tensor of the
 * caller. Otherwise as `sconce_tensor_cat_out`.
 *
 * - `into`: receives the result, as in `sconce_tensor_cat_out`.
 * - torch: `torch.stack(…, out=into)`; `at::stack_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_stack_out(struct sconce_tensor *const *tensors,
                                      size_t count,
                                      int64_t dim,
                                      struct sconce_tensor *into);

/**
 * Writes the elements at the given indices of a dimension to a tensor of the caller. Otherwise as
 * `sconce_tensor_index_select`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`; has the type of `tensor`.
 * - Errors: INVALID_ARGUMENT: `into` shares memory with `tensor` or `index`. Otherwise as
 *   `sconce_tensor_index_select`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.index_select(…, out=into)`; `at::index_select_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_index_select_out(struct sconce_tensor *tensor,
                                             int64_t dim,
                                             struct sconce_tensor *index,
                                             struct sconce_tensor *into);

/**
 * Sorts along a dimension, and writes the results to tensors of the caller. Otherwise as
 * `sconce_tensor_sort`.
 *
 * - `into_values`: receives the sorted elements, as in `sconce_tensor_reduce_out`; has the type of
 *   `tensor`, and may be `tensor`.
 * - `into_indices`: receives the original index of each element along the dimension, as in
 *   `sconce_tensor_reduce_out`; has the type I64.
 * - Errors: INVALID_ARGUMENT: the two share memory. Otherwise as `sconce_tensor_sort`, and as
 *   `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_reduce_out`.
 * - torch: `torch.sort(stable=True, out=(into_values, into_indices))`; `at::sort_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_sort_out(struct sconce_tensor *tensor,
                                     int64_t dim,
                                     bool descending,
                                     struct sconce_tensor *into_values,
                                     struct sconce_tensor *into_indices);

/**
 * Multiplies vectors, matrices or batches of matrices, and writes the result to a tensor of the
 * caller. Otherwise as `sconce_tensor_matmul`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`; has the type of the factors. If
 *   it is not contiguous, or uses the memory of a factor, the product is computed in new memory
 *   and then copied.
 * - Errors: as `sconce_tensor_matmul`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.matmul(…, out=into)`; `at::matmul_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_matmul_out(struct sconce_tensor *first,
                                       struct sconce_tensor *second,
                                       struct sconce_tensor *into);

/**
 * Multiplies two batches of matrices, and writes the result to a tensor of the caller. Otherwise
 * as `sconce_tensor_bmm`.
 *
 * - `into`: receives the result, as in `sconce_tensor_matmul_out`.
 * - Errors: as `sconce_tensor_bmm`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.bmm(…, out=into)`; `at::bmm_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_bmm_out(struct sconce_tensor *first,
                                    struct sconce_tensor *second,
                                    struct sconce_tensor *into);

/**
 * Writes `beta * tensor + alpha * (first @ second)` to a tensor of the caller. Otherwise as
 * `sconce_tensor_addmm`.
 *
 * - `into`: receives the result, as in `sconce_tensor_matmul_out`; it may be `tensor`.
 * - Errors: as `sconce_tensor_addmm`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.addmm(…, out=into)`, `torch.Tensor.addmm_`; `at::addmm_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_addmm_out(struct sconce_tensor *tensor,
                                      struct sconce_tensor *first,
                                      struct sconce_tensor *second,
                                      double beta,
                                      double alpha,
                                      struct sconce_tensor *into);

/**
 * Computes Fourier transforms over one to three dimensions of a tensor, and writes the result to a
 * tensor of the caller. Otherwise as `sconce_tensor_fft`.
 *
 * - `into`: receives the result, as in `sconce_tensor_reduce_out`: complex numbers, or real ones
 *   for C2R. They are converted from the type of the transform to that of `into`. It may use the
 *   memory of `tensor`.
 * - Errors: INVALID_ARGUMENT: `into` is not complex, or for C2R not floating-point. Otherwise as
 *   `sconce_tensor_fft`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_unary`.
 * - torch: `torch.fft.fft(…, out=into)` and the other functions of `sconce_tensor_fft`; `at::fft_fft_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_fft_out(struct sconce_tensor *tensor,
                                    int32_t kind,
                                    int32_t direction,
                                    int32_t normalization,
                                    const int64_t *dims,
                                    size_t count,
                                    int64_t length,
                                    struct sconce_tensor *into);

/**
 * Changes the sizes of a tensor, and makes it contiguous. Elements keep their places in memory,
 * and additional elements are not set. Does nothing if the tensor has the given sizes.
 *
 * - `tensor`: keeps its memory if that is large enough; else it gets new memory, which begins with
 *   the old elements.
 * - `sizes`: elements along each dimension, at least 0.
 * - `rank`: number of dimensions.
 * - Errors: INVALID_ARGUMENT: a size is negative, or the memory belongs to another owner and is
 *   too small. OUT_OF_MEMORY: for new memory.
 * - Ownership: if the memory is replaced, views keep the old memory.
 * - Ordering: a copy to new memory is queued on the current stream of the tensor's device.
 * - torch: `torch.Tensor.resize_`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_resize(struct sconce_tensor *tensor,
                                   const int64_t *sizes,
                                   size_t rank);

/**
 * Writes evenly spaced numbers to a tensor of the caller, in its type. Otherwise as
 * `sconce_tensor_arange`.
 *
 * - `into`: receives the numbers. It keeps its shape if it has the right number of elements;
 *   otherwise it becomes a vector, as in `sconce_tensor_reduce_out`.
 * - Errors: as `sconce_tensor_arange`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.arange(…, out=into)`; `at::arange_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_arange_out(const struct sconce_scalar *start,
                                       const struct sconce_scalar *end,
                                       const struct sconce_scalar *step,
                                       struct sconce_tensor *into);

/**
 * Writes numbers at equal distances to a tensor of the caller, in its type. Otherwise as
 * `sconce_tensor_linspace`.
 *
 * - `into`: receives the numbers, as in `sconce_tensor_arange_out`.
 * - Errors: as `sconce_tensor_linspace`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.linspace(…, out=into)`; `at::linspace_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_linspace_out(const struct sconce_scalar *start,
                                         const struct sconce_scalar *end,
                                         int64_t steps,
                                         struct sconce_tensor *into);

/**
 * Writes ones on the main diagonal, and zeros elsewhere, to a tensor of the caller, in its type.
 * Otherwise as `sconce_tensor_eye`.
 *
 * - `into`: receives the matrix, as in `sconce_tensor_reduce_out`.
 * - Errors: as `sconce_tensor_eye`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_full`.
 * - torch: `torch.eye(…, out=into)`; `at::eye_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_eye_out(int64_t rows,
                                    int64_t columns,
                                    struct sconce_tensor *into);

/**
 * Writes the numbers 0 to `n - 1` in a random order to a tensor of the caller, in its type, with
 * torch's bits. Otherwise as `sconce_tensor_randperm`.
 *
 * - `into`: receives the numbers, as in `sconce_tensor_arange_out`.
 * - Errors: as `sconce_tensor_randperm`, and as `sconce_tensor_reduce_out`.
 * - Ownership: as `sconce_tensor_reduce_out`.
 * - Ordering: as `sconce_tensor_randperm`.
 * - torch: `torch.randperm(…, out=into)`; `at::randperm_out`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_randperm_out(int64_t n,
                                         struct sconce_generator *generator,
                                         struct sconce_tensor *into);

/**
 * Copies a tensor to devices. On the tensor's own device the result is the tensor itself, with one
 * more owner.
 *
 * - `tensor`: on a device or the CPU.
 * - `devices`: indices; -1 is not allowed.
 * - `count`: number of devices.
 * - `out_tensors`: receives `count` tensors, of the sizes, type and order in memory of `tensor`.
 * - Errors: INVALID_ARGUMENT: an index is negative. OUT_OF_MEMORY: nothing is queued then.
 * - Ownership: the caller releases each result with `sconce_tensor_release`.
 * - Ordering: each copy is ordered as by `sconce_copy` between devices: it runs on the current
 *   stream of the tensor's device, and the current stream of the other device waits for it. If
 *   NCCL is installed, copies of 1 MiB or more to three or more devices are one collective
 *   operation on the current streams of all of them. The first such operation makes a communicator
 *   of the devices, and the host waits for that.
 * - torch: `torch.cuda.comm.broadcast(tensor, devices)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_broadcast(struct sconce_tensor *tensor,
                                            const int32_t *devices,
                                            size_t count,
                                            struct sconce_tensor **out_tensors);

/**
 * Copies a tensor to tensors of devices.
 *
 * - `tensor`: on a device or the CPU.
 * - `outputs`: tensors of devices, of the sizes of `tensor`.
 * - `count`: number of outputs.
 * - Errors: INVALID_ARGUMENT: an output is on the CPU or has another shape. After any failure the contents of the
 *   outputs are undefined.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.broadcast(tensor, out=outputs)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_broadcast_out(struct sconce_tensor *tensor,
                                                struct sconce_tensor *const *outputs,
                                                size_t count);

/**
 * Copies many tensors to devices with few copies: tensors of one type are joined until they have
 * `buffer_bytes` or more.
 *
 * - `tensors`: on the first device.
 * - `count`: number of tensors.
 * - `devices`: indices; -1 is not allowed.
 * - `device_count`: number of devices, at least 1.
 * - `buffer_bytes`: 10,485,760 in torch.
 * - `out_tensors`: receives `device_count * count` tensors: those of the first device, which are the tensors
 *   themselves, then those of the second one, and so on.
 * - Errors: INVALID_ARGUMENT: a tensor is not on the first device, or an index is negative.
 * - Ownership: the caller releases each result with `sconce_tensor_release`. Results that were
 *   joined share a block, which is freed with the last of them.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.broadcast_coalesced(tensors, devices, buffer_size)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_broadcast_coalesced(struct sconce_tensor *const *tensors,
                                                      size_t count,
                                                      const int32_t *devices,
                                                      size_t device_count,
                                                      size_t buffer_bytes,
                                                      struct sconce_tensor **out_tensors);

/**
 * Splits a tensor along a dimension, and copies each part to a device. A part that is on its
 * device already is a view.
 *
 * - `tensor`: on a device or the CPU, with at least one dimension.
 * - `devices`: indices; -1 is not allowed.
 * - `count`: number of devices, at least 1.
 * - `chunk_sizes`: the sizes of the `count` parts; NULL for parts of equal size, of which the last
 *   may be smaller. With NULL there may be fewer parts than devices.
 * - `streams`: `count` pointers, each NULL or to a stream of the device, which is used instead of
 *   the current one there; NULL to use the current streams.
 * - `out_tensors`: receives the parts; can hold `count` tensors.
 * - `out_count`: receives the number of parts.
 * - Errors: INVALID_ARGUMENT: the sum of the sizes is not the size of the dimension, a stream is
 *   of another device, or an index is negative.
 * - Ownership: the caller releases each result with `sconce_tensor_release`.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.scatter(tensor, devices, chunk_sizes, dim, streams)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_scatter(struct sconce_tensor *tensor,
                                          const int32_t *devices,
                                          size_t count,
                                          const int64_t *chunk_sizes,
                                          int64_t dim,
                                          const struct sconce_stream *const *streams,
                                          struct sconce_tensor **out_tensors,
                                          size_t *out_count);

/**
 * Copies the parts of a tensor along a dimension to tensors of devices.
 *
 * - `tensor`: on a device or the CPU, with at least one dimension.
 * - `outputs`: tensors of devices. The sum of their sizes along `dim` is the tensor's size; their
 *   other sizes are the tensor's.
 * - `count`: number of outputs, at least 1.
 * - Errors: INVALID_ARGUMENT: an output is on the CPU or has another shape. After any failure the contents of the
 *   outputs are undefined.
 * - Ordering: as `sconce_comm_tensors_broadcast`.
 * - torch: `torch.cuda.comm.scatter(tensor, dim=dim, out=outputs)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_scatter_out(struct sconce_tensor *tensor,
                                              struct sconce_tensor *const *outputs,
                                              size_t count,
                                              int64_t dim);

/**
 * Adds tensors of devices. If there is only one tensor, the result is that tensor, with one more
 * owner.
 *
 * - `tensors`: at least one tensor; all of the same shape, on devices. They are added in their
 *   order, beginning with the one on the destination. Integers, for which the order does not
 *   matter, are added with one collective operation under the conditions of
 *   `sconce_comm_tensors_broadcast`.
 * - `count`: number of tensors.
 * - `destination`: the device of the result; one of the tensors must be there. If several are, the
 *   addition begins with the last of them. -1 for the current device.
 * - `out_tensor`: receives the sum.
 * - Errors: INVALID_ARGUMENT: a tensor is on the CPU, has another shape, or none is on the destination.
 * - Ownership: the caller releases the result with `sconce_tensor_release`.
 * - Ordering: the sum is ready in the order of the destination's current stream. Tensors of other devices are read in
 *   the order of their devices' current streams.
 * - torch: `torch.cuda.comm.reduce_add(inputs, destination)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_reduce_add(struct sconce_tensor *const *tensors,
                                             size_t count,
                                             int32_t destination,
                                             struct sconce_tensor **out_tensor);

/**
 * Adds many tensors of devices with few copies: tensors of one type are joined into buffers of up
 * to `buffer_bytes`.
 *
 * - `tensors`: `lists * count` tensors: those of the first device, then those of the second one, and so on; each list
 *   has the same types and shapes.
 * - `lists`: number of devices, at least 1.
 * - `count`: number of tensors of each device.
 * - `destination`: the device of the results; one of the lists must be there. -1 for the current
 *   device.
 * - `buffer_bytes`: 10,485,760 in torch.
 * - `out_tensors`: receives `count` sums.
 * - Errors: INVALID_ARGUMENT: as `sconce_comm_tensors_reduce_add`, or the lists differ.
 * - Ownership: the caller releases each result with `sconce_tensor_release`. Results that were
 *   joined share a block.
 * - Ordering: as `sconce_comm_tensors_reduce_add`.
 * - torch: `torch.cuda.comm.reduce_add_coalesced(inputs, destination, buffer_size)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_reduce_add_coalesced(struct sconce_tensor *const *tensors,
                                                       size_t lists,
                                                       size_t count,
                                                       int32_t destination,
                                                       size_t buffer_bytes,
                                                       struct sconce_tensor **out_tensors);

/**
 * Joins tensors of devices along a dimension.
 *
 * - `tensors`: on devices, of shapes that differ only in `dim`; at least 1, with at least one dimension.
 * - `count`: number of tensors.
 * - `destination`: the device of the result, -1 for the current one, or `SCONCE_DEVICE_CPU`.
 * - `out_tensor`: receives the joined tensor, which has the type of the first one. It has the
 *   channels-last memory format if all tensors have it.
 * - Errors: INVALID_ARGUMENT: a tensor is on the CPU, or the shapes do not fit.
 * - Ownership: the caller releases the result with `sconce_tensor_release`.
 * - Ordering: the result is ready in the order of the destination's current stream. If the
 *   destination is the CPU, the call waits for the copies.
 * - torch: `torch.cuda.comm.gather(tensors, dim, destination)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_gather(struct sconce_tensor *const *tensors,
                                         size_t count,
                                         int64_t dim,
                                         int32_t destination,
                                         struct sconce_tensor **out_tensor);

/**
 * Joins tensors of devices along a dimension, and writes the result to a tensor of the caller.
 *
 * - `tensors`: as for `sconce_comm_tensors_gather`.
 * - `count`: number of tensors.
 * - `output`: on a device or the CPU, of the shape of the joined tensors.
 * - Errors: INVALID_ARGUMENT: a tensor is on the CPU, or the shapes do not fit. After any failure the contents of the
 *   output are undefined.
 * - Ordering: as `sconce_comm_tensors_gather`.
 * - torch: `torch.cuda.comm.gather(tensors, dim, out=output)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_tensors_gather_out(struct sconce_tensor *const *tensors,
                                             size_t count,
                                             int64_t dim,
                                             struct sconce_tensor *output);

/**
 * Creates an empty graph for backward passes.
 *
 * - `out_graph`: receives the graph.
 * - Errors: OUT_OF_MEMORY: too many graphs.
 * - Ownership: the caller destroys the graph with `sconce_backward_graph_destroy`.
 * - torch: the graph that `grad_fn` of a tensor leads to.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_graph_create(struct sconce_backward_graph **out_graph);

/**
 * Destroys a graph with its nodes and gradients. Passes that are running may still use them until
 * they end.
 *
 * - `graph`: NULL is a no-op.
 * - Threads: deleters of contexts are called by this thread, or by the thread of the last pass.
 * - torch: the destruction of the last tensor with a `grad_fn`.
 */
SCONCE_NODISCARD sconce_status sconce_backward_graph_destroy(struct sconce_backward_graph *graph);

/**
 * Removes all operations from a graph, and keeps the leaves and their gradients. For the next
 * training step.
 *
 * - `graph`: the graph.
 * - Threads: as `sconce_backward_graph_destroy`.
 */
SCONCE_NODISCARD sconce_status sconce_backward_graph_clear(struct sconce_backward_graph *graph);

/**
 * Adds a leaf: a node to whose gradient backward passes add, on the stream that is current on its
 * device now.
 *
 * - `graph`: the graph.
 * - `device`: the device of its gradients; -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `name`: for messages.
 * - `out_node`: receives the number of the node, at least 1.
 * - torch: `AccumulateGrad`, which torch creates for a tensor with `requires_grad` at its first
 *   use.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_add_leaf(struct sconce_backward_graph *graph,
                                       int32_t device,
                                       const char *name,
                                       uint64_t *out_node);

/**
 * Records a forward operation as a node, with the stream that is current on its device now.
 *
 * - `graph`: the graph.
 * - `device`: the device of the operation; -1 for the current device, or `SCONCE_DEVICE_CPU`.
 * - `name`: for messages.
 * - `gradient_count`: number of results of the operation, at least 1. The function receives a
 *   gradient for each.
 * - `edges`: the destination of each gradient that the function returns: nodes that were added
 *   before.
 * - `edge_count`: number of entries of `edges`.
 * - `function`: computes the gradients.
 * - `deleter`: called with `context` when the function is not called any more; may be NULL. It is not called if this
 *   call fails.
 * - `context`: passed to `function` and `deleter`.
 * - `out_node`: receives the number of the node, which is larger than those of all earlier nodes.
 * - Errors: INVALID_ARGUMENT: an edge leads to no node of this graph, or to an input that the node
 *   does not have.
 * - Threads: the function runs on the worker thread of its device, or for nodes of the CPU on the
 *   thread that calls `sconce_backward_run`. The deleter runs on any thread.
 * - torch: a `torch::autograd::Node` with its `next_edges`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_add_node(struct sconce_backward_graph *graph,
                                       int32_t device,
                                       const char *name,
                                       size_t gradient_count,
                                       const struct sconce_backward_edge *edges,
                                       size_t edge_count,
                                       sconce_backward_function function,
                                       sconce_deleter deleter,
                                       void *context,
                                       uint64_t *out_node);

/**
 * Returns the gradient of a leaf.
 *
 * - `graph`: the graph.
 * - `leaf`: the number that `sconce_backward_add_leaf` returned.
 * - `out_gradient`: receives the gradient; an undefined tensor if there is none.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`. It shares the memory
 *   to which later passes add.
 * - torch: `torch.Tensor.grad`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_get_gradient(struct sconce_backward_graph *graph,
                                           uint64_t leaf,
                                           struct sconce_tensor **out_gradient);

/**
 * Replaces the gradient of a leaf.
 *
 * - `graph`: the graph.
 * - `leaf`: the number that `sconce_backward_add_leaf` returned.
 * - `gradient`: the tensor to which later passes add; NULL for none.
 * - Errors: CROSS_DEVICE: the gradient is not on the leaf's device.
 * - torch: `x.grad = gradient`, `torch.optim.Optimizer.zero_grad`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_set_gradient(struct sconce_backward_graph *graph,
                                           uint64_t leaf,
                                           struct sconce_tensor *gradient);

/**
 * Runs a backward pass: calls the functions of all nodes that are reachable from the roots, each
 * on the stream of its forward operation, and adds to the gradients of leaves.
 *
 * Blocks until all functions have returned, but does not wait for the devices.
 *
 * - `graph`: the graph.
 * - `roots`: the nodes that receive initial gradients.
 * - `count`: number of entries of `roots`.
 * - `keep_graph`: whether the nodes can run again; if not, the deleter of each context is called
 *   as soon as its node has run.
 * - Errors: INVALID_STATE: a pass without `keep_graph` has run a node before. NOT_SUPPORTED: 16
 *   passes are nested already. Otherwise the first failure of a function or of the engine, with
 *   the node's name; leaves may have received some gradients then.
 * - Ordering: initial gradients are taken to be computed on the calling thread's current streams.
 *   Later work of these streams runs after the work on the gradients of leaves. A node's stream
 *   waits for the streams of the gradients that it receives.
 * - Threads: see `sconce_backward_add_node`. A node's function may call this function. With
 *   `keep_graph`, several threads may run passes over one graph at the same time.
 * - torch: `torch.autograd.backward(tensors, grad_tensors, retain_graph)`.
 */
SCONCE_NODISCARD
sconce_status sconce_backward_run(struct sconce_backward_graph *graph,
                                  const struct sconce_backward_root *roots,
                                  size_t count,
                                  bool keep_graph);

/**
 * Exports a tensor to another library: a `DLManagedTensorVersioned` of DLPack 1.3 that shares its memory.
 *
 * `byte_offset` is 0, and `strides` is not NULL. Pinned memory is exported as `kDLCPU`, which
 * every consumer accepts.
 *
 * - `consumer_stream`: the stream on which the consumer will use the memory. NULL or -1 means
 *   none, 1 the legacy default stream, 2 the per-thread default stream; any other value is a
 *   `cudaStream_t` of the tensor's device.
 * - `out_managed`: receives the struct.
 * - Errors: INVALID_ARGUMENT: the tensor is undefined; a stream is named for a tensor of the CPU.
 * - Ownership: the caller, or the consumer, calls the struct's deleter once. The memory lives
 *   until then, even if the tensor is released earlier.
 * - Ordering: makes `consumer_stream` wait for the current stream of the tensor's device. The
 *   memory is not reused before the work that is queued on `consumer_stream` when the deleter is
 *   called has finished. Without a stream, the consumer must work on the current stream, or wait
 *   for it. Queued copies may still write to memory of the host.
 * - Threads: any thread may call the deleter.
 * - Safety: `consumer_stream` is a live stream, if it is a handle.
 * - torch: `torch.Tensor.__dlpack__(stream=...)`, `at::toDLPackVersioned`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_dlpack(struct sconce_tensor *tensor,
                                      void *consumer_stream,
                                      struct DLManagedTensorVersioned **out_managed);

/**
 * Exports a tensor as a `DLManagedTensor`, for libraries that support only DLPack before 1.0.
 * Otherwise as `sconce_tensor_to_dlpack`.
 *
 * - `consumer_stream`: as in `sconce_tensor_to_dlpack`.
 * - `out_managed`: receives the struct.
 * - Errors: INVALID_ARGUMENT: the tensor is read-only, which the struct cannot express. Otherwise
 *   as `sconce_tensor_to_dlpack`.
 * - Ownership: as `sconce_tensor_to_dlpack`.
 * - Ordering: as `sconce_tensor_to_dlpack`.
 * - Safety: as `sconce_tensor_to_dlpack`.
 * - torch: `torch.utils.dlpack.to_dlpack`, `at::toDLPack`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_to_dlpack_unversioned(struct sconce_tensor *tensor,
                                                  void *consumer_stream,
                                                  struct DLManagedTensor **out_managed);

/**
 * Imports a tensor of another library: a tensor over the same memory.
 *
 * - `managed`: a `DLManagedTensorVersioned` over host memory, GPU memory or managed memory.
 * - `producer_stream`: the stream on which the producer uses the memory, with the values of
 *   `consumer_stream` of `sconce_tensor_to_dlpack`. NULL or -1 means that the producer uses the
 *   current stream, or has made it wait.
 * - `out_tensor`: receives the tensor. If `managed` has the flag READ_ONLY, functions refuse to
 *   write to it.
 * - Errors: INVALID_ARGUMENT: a field contradicts another one or the memory. NOT_SUPPORTED: the
 *   major version is not 1, or this library does not support the kind of memory, the type, a flag
 *   or a negative stride. INVALID_DEVICE: there is no such device.
 * - Ownership: the caller releases the tensor with `sconce_tensor_release`. The tensor owns
 *   `managed`, and calls its deleter once no tensor uses the memory any more. If this call fails,
 *   the caller still owns `managed`. The exception is a major version other than 1: then the
 *   deleter has been called, as DLPack demands.
 * - Ordering: makes the current stream of the device wait for `producer_stream`. Before the
 *   deleter is called, the producer's stream (without one, the stream that was current at the
 *   import) waits for the other streams that used the memory: the stream that was current at the
 *   import, and those of `sconce_tensor_record_stream`. If the producer's stream can no longer be
 *   named, the last release waits for the device.
 * - Threads: the thread that releases the last tensor calls the deleter.
 * - Safety: `managed` and what it points to are as DLPack describes them, until the deleter is
 *   called. `producer_stream` is a live stream, if it is a handle.
 * - torch: `torch.from_dlpack`, `at::fromDLPackVersioned`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_dlpack(struct DLManagedTensorVersioned *managed,
                                        void *producer_stream,
                                        struct sconce_tensor **out_tensor);

/**
 * Imports a tensor of a library that supports only DLPack before 1.0. Otherwise as
 * `sconce_tensor_from_dlpack`.
 *
 * - `managed`: a `DLManagedTensor`. It has no version and no flags.
 * - `producer_stream`, `out_tensor`: as in `sconce_tensor_from_dlpack`.
 * - Errors: as `sconce_tensor_from_dlpack`.
 * - Ownership: as `sconce_tensor_from_dlpack`.
 * - Ordering: as `sconce_tensor_from_dlpack`.
 * - Threads: as `sconce_tensor_from_dlpack`.
 * - Safety: as `sconce_tensor_from_dlpack`.
 * - torch: `torch.utils.dlpack.from_dlpack`, `at::fromDLPack`.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_from_dlpack_unversioned(struct DLManagedTensor *managed,
                                                    void *producer_stream,
                                                    struct sconce_tensor **out_tensor);

/**
 * Returns whether functions refuse to write to a tensor, because it was imported as read-only.
 *
 * - `out_read_only`: receives whether they do.
 */
SCONCE_NODISCARD
sconce_status sconce_tensor_is_read_only(struct sconce_tensor *tensor,
                                         bool *out_read_only);

/**
 * Allocates a tensor for another library: `DLPackManagedTensorAllocator` of the C exchange table.
 *
 * Returns 0, or -1 on failure, which `sconce_last_error_message()` describes as well.
 *
 * - `prototype`: a `DLTensor`, of which only type, dimensions, shape and device are read. The
 *   device is `kDLCPU`, `kDLCUDA` or `kDLCUDAHost` (pinned memory).
 * - `out_managed`: receives the struct, whose values are not set; NULL on failure.
 * - `error_ctx`: passed to `set_error`.
 * - `set_error`: called once on failure with `MemoryError`, `ValueError`, `BufferError` or `RuntimeError`; may
 *   be NULL.
 * - Ownership: the caller calls the struct's deleter once.
 * - Ordering: memory of a device is allocated for its current stream.
 * - Safety: `prototype` is as DLPack describes it. `set_error` does not unwind.
 */
int32_t sconce_dlpack_allocator(void *prototype,
                                struct DLManagedTensorVersioned **out_managed,
                                void *error_ctx,
                                sconce_dlpack_set_error set_error);

/**
 * Returns the native handle of the calling thread's current stream of a device: `DLPackCurrentWorkStream` of
 * the C exchange table.
 *
 * Returns 0, or -1 on failure, which `sconce_last_error_message()` describes.
 *
 * - `device_type`: `kDLCUDA`, `kDLCUDAManaged`, `kDLCPU` or `kDLCUDAHost`.
 * - `device_id`: the index of the device, at least 0.
 * - `out_stream`: receives the handle; NULL for a default stream (which is 1 in parameters such as
 *   `consumer_stream`), and for memory of the host.
 * - Ownership: borrowed; never destroy it.
 * - torch: `torch.cuda.current_stream(device_id).cuda_stream`.
 */
int32_t sconce_dlpack_current_stream(int32_t device_type,
                                     int32_t device_id,
                                     void **out_stream);

/**
 * Returns the C exchange table of DLPack 1.3 with the functions that need no Python objects:
 * `managed_tensor_allocator` and `current_work_stream`.
 *
 * `managed_tensor_from_py_object_no_sync`, `managed_tensor_to_py_object_no_sync` and
 * `dltensor_from_py_object_no_sync` are NULL. DLPack allows that for the last one only: a Python binding copies
 * the table, sets its own functions, and publishes the copy as `__dlpack_c_exchange_api__` of its type.
 *
 * - Ownership: the table is constant and lives as long as the process.
 */
const struct DLPackExchangeAPI *sconce_dlpack_exchange_api(void);

/**
 * Reports the version of NCCL, as NCCL counts: 22809 is 2.28.9.
 *
 * - `out_version`: receives the number.
 * - Errors: LIBRARY_NOT_FOUND: NCCL 2.18 or newer cannot be opened; the message lists what was
 *   searched, and `SCONCE_LIBNCCL` names another place.
 * - torch: `torch.cuda.nccl.version()`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_get_version(int32_t *out_version);

/**
 * Makes the bytes with which the ranks of one communicator find each other. One rank makes them,
 * and the program passes them to the others.
 *
 * - `out_id`: receives the bytes.
 * - Errors: LIBRARY_NOT_FOUND: as `sconce_comm_get_version`.
 * - torch: `torch::cuda::nccl::get_unique_id`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_get_unique_id(struct sconce_comm_id *out_id);

/**
 * Makes one rank of a communicator. All ranks must call this function, in one process or in
 * several, each on its own thread.
 *
 * - `id`: the bytes of `sconce_comm_get_unique_id`, the same for all ranks, used for one communicator.
 * - `ranks`: the number of ranks, from 1 to 65,536.
 * - `rank`: the number of this rank, below `ranks`.
 * - `device`: the device on which the rank works; no other rank may use it.
 * - `config`: NULL for the defaults.
 * - `out_comm`: receives the communicator.
 * - Errors: LIBRARY_NOT_FOUND: as `sconce_comm_get_version`. TIMEOUT: not all ranks have called.
 *   REMOTE: another rank has failed. INVALID_STATE: the thread is in a group.
 * - Ownership: the caller destroys the communicator with `sconce_comm_destroy`.
 * - Ordering: blocks until all ranks have called, within the limit of `config`.
 * - torch: `torch::cuda::nccl::comm_init_rank`, `torch.distributed.init_process_group`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_init_rank(const struct sconce_comm_id *id,
                                    int32_t ranks,
                                    int32_t rank,
                                    int32_t device,
                                    const struct sconce_comm_config *config,
                                    struct sconce_comm **out_comm);

/**
 * Makes one rank of a communicator whose ranks share a store. Rank 0 makes the id and passes it to
 * the others through the store. All wait until every rank has joined, and then proceed as in
 * `sconce_comm_init_rank`.
 *
 * - `store`: a store of the same table at all ranks. It is not used after the call.
 * - `name`: the communicator's name, the same for all ranks. It can be used again for the next one.
 * - `ranks`: the number of ranks, from 1 to 65,536.
 * - `rank`: the number of this rank, below `ranks`.
 * - `device`: the device on which the rank works; no other rank may use it.
 * - `config`: NULL for the defaults.
 * - `out_comm`: receives the communicator.
 * - Errors: TIMEOUT: not all ranks have joined; on every rank that has, the message names the
 *   missing ones. REMOTE: rank 0 cannot open NCCL, or the server of the store has ended. Otherwise
 *   as `sconce_comm_init_rank`, and errors of the store.
 * - Ownership: the caller destroys the communicator with `sconce_comm_destroy`.
 * - Ordering: blocks until all ranks have called, within the limit of `config`.
 * - torch: `torch.distributed.init_process_group(store=…)`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_init_store(struct sconce_store *store,
                                     const char *name,
                                     int32_t ranks,
                                     int32_t rank,
                                     int32_t device,
                                     const struct sconce_comm_config *config,
                                     struct sconce_comm **out_comm);

/**
 * Makes all ranks of a communicator in this process.
 *
 * A thread that makes calls for several ranks must make them in a group
 * (`sconce_comm_group_start`).
 *
 * - `devices`: `count` devices, all different; rank i works on the i-th. NULL means devices 0 to
 *   `count - 1`.
 * - `count`: the number of ranks.
 * - `config`: NULL for the defaults.
 * - `out_comms`: receives `count` communicators.
 * - Errors: as `sconce_comm_init_rank`. INVALID_ARGUMENT: a device is named twice.
 * - Ownership: the caller destroys each with `sconce_comm_destroy`.
 * - Ordering: blocks until the communicator is made.
 * - torch: the communicators of `torch.cuda.comm`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_init_all(const int32_t *devices,
                                   int32_t count,
                                   const struct sconce_comm_config *config,
                                   struct sconce_comm **out_comms);

/**
 * Splits a communicator: ranks that pass the same color form a new communicator. All ranks of
 * `comm` must call this function.
 *
 * - `color`: the number of the new communicator; a negative number keeps the rank out of all of
 *   them.
 * - `key`: orders the ranks of the new communicator; ranks with equal keys keep their order.
 * - `config`: the configuration of the new communicator; NULL for the defaults.
 * - `out_comm`: receives the new communicator; NULL with a negative `color`.
 * - Errors: NOT_SUPPORTED: the installed NCCL cannot split. Otherwise as `sconce_comm_init_rank`,
 *   and the errors of a broken communicator (`sconce_comm_get_async_error`).
 * - Ownership: the caller destroys the communicator with `sconce_comm_destroy`.
 * - Ordering: blocks until all ranks have called, within the limit of `config`.
 * - torch: `torch.distributed.new_group`, `split_group`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_split(struct sconce_comm *comm,
                                int32_t color,
                                int32_t key,
                                const struct sconce_comm_config *config,
                                struct sconce_comm **out_comm);

/**
 * Waits until everything that this rank has queued is done. The communicator accepts no calls
 * afterwards.
 *
 * - Errors: TIMEOUT: the work is not done within the limit of the configuration; the communicator
 *   is then aborted. The errors of a broken communicator (`sconce_comm_get_async_error`).
 * - Ordering: blocks the calling thread.
 * - torch: `torch.distributed.destroy_process_group`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_finalize(struct sconce_comm *comm);

/**
 * Aborts a communicator at once, even while another thread waits in one of its calls. Queued calls
 * of this rank end; they have no result unless all ranks have made them. Later calls fail with
 * ABORTED. The other ranks wait for this one until they abort as well. A communicator that is
 * broken already does not change.
 *
 * - Ordering: does not wait for other ranks.
 * - torch: `torch.distributed.ProcessGroupNCCL.abort()`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_abort(struct sconce_comm *comm);

/**
 * Destroys a communicator. Finalizes it first, unless it has been finalized or is broken.
 *
 * - `comm`: NULL is a no-op.
 * - Errors: as `sconce_comm_finalize`; the communicator is destroyed all the same.
 * - Ordering: as `sconce_comm_finalize`. At the end of the process, the call does not wait.
 * - torch: `torch.distributed.destroy_process_group`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_destroy(struct sconce_comm *comm);

/**
 * Reports the rank of a communicator's handle.
 *
 * - `out_rank`: receives the number of the rank.
 * - torch: `torch.distributed.get_rank()`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_get_rank(struct sconce_comm *comm, int32_t *out_rank);

/**
 * Reports how many ranks a communicator has.
 *
 * - `out_ranks`: receives the number.
 * - torch: `torch.distributed.get_world_size()`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_get_size(struct sconce_comm *comm, int32_t *out_ranks);

/**
 * Reports the device on which a communicator's rank works.
 *
 * - `out_device`: receives the index.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_get_device(struct sconce_comm *comm,
                                     int32_t *out_device);

/**
 * Returns the `ncclComm_t` of a communicator, for other libraries. NCCL allows one thread at a
 * time to make calls of a communicator; the communicator is a blocking one.
 *
 * - `out_native`: receives the handle; NULL once the communicator is aborted. The simulator's handle
 *   is of use to this library only.
 * - Ownership: borrowed. Never destroy it.
 * - torch: `torch.distributed.ProcessGroupNCCL._comm_ptr()`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_get_native(struct sconce_comm *comm,
                                     void **out_native);

/**
 * Reports whether a communicator is broken, by failing with the reason. All later calls of a
 * broken communicator fail for the same reason; it can only be destroyed.
 *
 * - Errors: ABORTED: this process has aborted the communicator. REMOTE: another rank has failed.
 *   TIMEOUT: a call has exceeded its limit. INVALID_STATE, on the simulator only: the ranks made
 *   calls that do not match; the message quotes two of them.
 * - torch: `ncclCommGetAsyncError`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_get_async_error(struct sconce_comm *comm);

/**
 * Reduces the values of all ranks; every rank receives the result. All ranks call with the same
 * `count`, `dtype` and `op`.
 *
 * The following holds for all calls of communicators. All ranks must make the same calls in the
 * same order. Memory must be on the communicator's device.
 *
 * - `send`: `count` values. May be equal to `recv`, but must not overlap it otherwise.
 * - `recv`: receives `count` values.
 * - `count`: elements.
 * - `dtype`: `SCONCE_DTYPE_…`. 16-bit integers cannot be reduced. Of the 8-bit floats, only
 *   `SCONCE_DTYPE_F8_E4M3FN` and `SCONCE_DTYPE_F8_E5M2` can be reduced, with NCCL 2.24 or newer on
 *   devices of compute capability 9.0 or later; results that are too large become the largest
 *   finite number.
 * - `op`: `SCONCE_COMM_…`.
 * - `factor`: the factor of `SCONCE_COMM_PREMUL_SUM`; else ignored.
 * - `stream`: a stream of the communicator's device. If `out_work` is NULL, the operation is
 *   queued on it.
 * - `out_work`: NULL, or receives a work. With a work, the operation is queued on the
 *   communicator's own stream, after the work that is queued on `stream` now.
 * - Errors: CROSS_DEVICE: the memory or the stream is of another device. INVALID_STATE: the
 *   communicator has been finalized. ABORTED, REMOTE, TIMEOUT: the communicator is broken.
 *   NOT_SUPPORTED: the type.
 * - Ownership: without a work, the memory must stay allocated until the operation is done, or be
 *   freed in the order of `stream`. With a work, memory of this library's allocator may be freed
 *   earlier: it is not reused before the operation is done. The caller destroys the work.
 * - Ordering: does not block, except that the first calls of a communicator may wait for other
 *   ranks, within the limit of its configuration. Inside a group, the operation is queued when the
 *   group ends. During a capture, the operation becomes part of the graph.
 * - torch: `torch.distributed.all_reduce`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_all_reduce(struct sconce_comm *comm,
                                     const void *send,
                                     void *recv,
                                     size_t count,
                                     int32_t dtype,
                                     int32_t op,
                                     double factor,
                                     struct sconce_stream stream,
                                     struct sconce_comm_work **out_work);

/**
 * Reduces the values of all ranks; the root receives the result.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `count` values.
 * - `recv`: receives `count` values at the root; ignored elsewhere.
 * - `factor`: the factor of `SCONCE_COMM_PREMUL_SUM`; else ignored.
 * - `root`: the rank that receives.
 * - torch: `torch.distributed.reduce`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_reduce(struct sconce_comm *comm,
                                 const void *send,
                                 void *recv,
                                 size_t count,
                                 int32_t dtype,
                                 int32_t op,
                                 double factor,
                                 int32_t root,
                                 struct sconce_stream stream,
                                 struct sconce_comm_work **out_work);

/**
 * Reduces the values of all ranks; rank r receives part r of the result.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `recv_count` values for each rank.
 * - `recv`: receives `recv_count` values; may be this rank's part of `send`.
 * - `recv_count`: elements that each rank receives.
 * - `factor`: the factor of `SCONCE_COMM_PREMUL_SUM`; else ignored.
 * - torch: `torch.distributed.reduce_scatter_tensor`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_reduce_scatter(struct sconce_comm *comm,
                                         const void *send,
                                         void *recv,
                                         size_t recv_count,
                                         int32_t dtype,
                                         int32_t op,
                                         double factor,
                                         struct sconce_stream stream,
                                         struct sconce_comm_work **out_work);

/**
 * Synchronises the ranks: work that a rank queues after the barrier begins when all ranks have
 * reached the barrier. The host does not wait; synchronise the stream or the work for that.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - torch: `torch.distributed.barrier`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_barrier(struct sconce_comm *comm,
                                  struct sconce_stream stream,
                                  struct sconce_comm_work **out_work);

/**
 * Sends the root's values to all ranks.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `count` values at the root; ignored elsewhere.
 * - `recv`: receives `count` values; at the root it may be `send`.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - `root`: the rank that sends.
 * - torch: `torch.distributed.broadcast`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_broadcast(struct sconce_comm *comm,
                                    const void *send,
                                    void *recv,
                                    size_t count,
                                    int32_t dtype,
                                    int32_t root,
                                    struct sconce_stream stream,
                                    struct sconce_comm_work **out_work);

/**
 * Gathers the values of all ranks, in their order, at every rank.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `send_count` values; may be this rank's part of `recv`.
 * - `recv`: receives `send_count` values of each rank.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - torch: `torch.distributed.all_gather_into_tensor`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_all_gather(struct sconce_comm *comm,
                                     const void *send,
                                     void *recv,
                                     size_t send_count,
                                     int32_t dtype,
                                     struct sconce_stream stream,
                                     struct sconce_comm_work **out_work);

/**
 * Sends part r of each rank's values to rank r, all parts of one size.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `count_per_rank` values for each rank; must not overlap `recv`.
 * - `recv`: receives `count_per_rank` values of each rank, in their order.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - torch: `torch.distributed.all_to_all_single`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_all_to_all(struct sconce_comm *comm,
                                     const void *send,
                                     void *recv,
                                     size_t count_per_rank,
                                     int32_t dtype,
                                     struct sconce_stream stream,
                                     struct sconce_comm_work **out_work);

/**
 * Sends a part of each rank's values to every rank. The count that a rank sends to another one
 * must be the count that the other receives from it.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: the values, from which the offsets count; must not overlap `recv`.
 * - `send_counts`, `send_offsets`: for each rank, the number of elements to send to it, and the
 *   offset of the first one, in elements.
 * - `recv`: receives the values.
 * - `recv_counts`, `recv_offsets`: the same for the elements that are received from each rank.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - torch: `torch.distributed.all_to_all_single` with split sizes.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_all_to_all_v(struct sconce_comm *comm,
                                       const void *send,
                                       const size_t *send_counts,
                                       const size_t *send_offsets,
                                       void *recv,
                                       const size_t *recv_counts,
                                       const size_t *recv_offsets,
                                       int32_t dtype,
                                       struct sconce_stream stream,
                                       struct sconce_comm_work **out_work);

/**
 * Gathers the values of all ranks, in their order, at the root.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `send_count` values; at the root it may be its part of `recv`.
 * - `recv`: receives `send_count` values of each rank at the root; ignored elsewhere.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - `root`: the rank that receives.
 * - torch: `torch.distributed.gather`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_gather(struct sconce_comm *comm,
                                 const void *send,
                                 void *recv,
                                 size_t send_count,
                                 int32_t dtype,
                                 int32_t root,
                                 struct sconce_stream stream,
                                 struct sconce_comm_work **out_work);

/**
 * Sends part r of the root's values to rank r.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `recv_count` values for each rank at the root; ignored elsewhere.
 * - `recv`: receives `recv_count` values; at the root it may be its part of `send`.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - `root`: the rank that sends.
 * - torch: `torch.distributed.scatter`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_scatter(struct sconce_comm *comm,
                                  const void *send,
                                  void *recv,
                                  size_t recv_count,
                                  int32_t dtype,
                                  int32_t root,
                                  struct sconce_stream stream,
                                  struct sconce_comm_work **out_work);

/**
 * Sends values to one rank, which must receive the same number of bytes. Sends and receives that
 * depend on each other must be in one group on each rank; otherwise they deadlock.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `send`: `count` values.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - `peer`: the rank that receives.
 * - torch: `torch.distributed.send`, `isend`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_send(struct sconce_comm *comm,
                               const void *send,
                               size_t count,
                               int32_t dtype,
                               int32_t peer,
                               struct sconce_stream stream,
                               struct sconce_comm_work **out_work);

/**
 * Receives values from one rank, which must send the same number of bytes.
 *
 * Otherwise as `sconce_comm_all_reduce`.
 *
 * - `recv`: receives `count` values.
 * - `dtype`: any `SCONCE_DTYPE_…`.
 * - `peer`: the rank that sends.
 * - torch: `torch.distributed.recv`, `irecv`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_recv(struct sconce_comm *comm,
                               void *recv,
                               size_t count,
                               int32_t dtype,
                               int32_t peer,
                               struct sconce_stream stream,
                               struct sconce_comm_work **out_work);

/**
 * Begins a group on the calling thread. Groups nest. Calls of communicators in the group are
 * checked at once, and queued together when the outermost group ends, so that none waits for
 * another. That is necessary if one thread makes calls for several ranks, and for sends and
 * receives that depend on each other. All calls of one communicator in a group must have the same
 * stream.
 *
 * - Threads: the same thread must begin and end the group.
 * - torch: `ncclGroupStart`, `torch.distributed.batch_isend_irecv`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_group_start(void);

/**
 * Ends the innermost group of the calling thread.
 *
 * - Errors: INVALID_STATE: the thread is in no group. Otherwise the errors of the calls; the group
 *   has ended in any case.
 * - Ordering: the end of the outermost group queues the calls with the ordering of single calls.
 * - torch: `ncclGroupEnd`.
 */
SCONCE_NODISCARD sconce_status sconce_comm_group_end(void);

/**
 * Ends the innermost group of the calling thread without queueing its calls. For a program that
 * has failed inside the group. The calls of enclosing groups are dropped as well, and ending these
 * groups fails. A group that had calls is logged as a warning.
 *
 * - Errors: INVALID_STATE: the thread is in no group.
 */
SCONCE_NODISCARD sconce_status sconce_comm_group_cancel(void);

/**
 * Reports an address at which a tensor's elements lie in the order of its dimensions, for calls of the
 * thread's group. If the tensor is contiguous, that is its own memory. Otherwise it is temporary
 * memory: the end of the group copies the elements there before it queues the calls, and back
 * behind them. The address is valid until the group ends.
 *
 * - `tensor`: on the communicator's device; of any strides.
 * - `is_read`: whether the calls read the tensor.
 * - `is_written`: whether the calls write the tensor.
 * - `stream`: the stream of the calls.
 * - `is_async`: whether the calls have works.
 * - `out_address`: receives the address.
 * - Errors: INVALID_STATE: the thread is in no group. CROSS_DEVICE: the tensor or the stream is of
 *   another device. INVALID_ARGUMENT: several elements of a tensor that is written are one place.
 * - Ownership: the group keeps the tensor and the temporary memory until its calls are queued.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_stage_tensor(struct sconce_comm *comm,
                                       struct sconce_tensor *tensor,
                                       bool is_read,
                                       bool is_written,
                                       struct sconce_stream stream,
                                       bool is_async,
                                       void **out_address);

/**
 * Makes later work of a stream wait for an asynchronous call. The work handle releases the tensors
 * that it keeps.
 *
 * - Errors: ABORTED, REMOTE, TIMEOUT: the communicator is broken. INVALID_STATE: the call is in a
 *   group that has not ended.
 * - torch: `torch.distributed.Work.wait()`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_work_wait(struct sconce_comm_work *work,
                                    struct sconce_stream stream);

/**
 * Reports whether an asynchronous call is done.
 *
 * - `out_complete`: receives the answer.
 * - Errors: as `sconce_comm_work_wait`.
 * - torch: `torch.distributed.Work.is_completed()`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_work_query(struct sconce_comm_work *work,
                                     bool *out_complete);

/**
 * Waits on the calling thread until an asynchronous call is done. The work handle releases the
 * tensors that it keeps.
 *
 * - `timeout_ms`: the limit in milliseconds; -1 means no limit.
 * - Errors: TIMEOUT: the call is not done. It continues, and the caller may wait again or abort
 *   the communicator. Otherwise as `sconce_comm_work_wait`, including when the communicator breaks
 *   during the wait.
 * - Ordering: blocks the calling thread.
 * - torch: `torch.distributed.Work.wait(timeout)` in blocking mode.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_work_synchronize(struct sconce_comm_work *work,
                                           int64_t timeout_ms);

/**
 * Makes a work handle keep a tensor that its call uses, until the work is waited for or destroyed.
 * The caller may release the tensor at once.
 *
 * - `tensor`: its memory is kept, even if another tensor is assigned to the handle later.
 * - torch: the tensors that `ProcessGroupNCCL` stashes in its works.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_work_keep(struct sconce_comm_work *work,
                                    struct sconce_tensor *tensor);

/**
 * Reports the sequence number of a call on its communicator, with which error messages name the
 * call.
 *
 * - `out_sequence`: receives the number; the first call of the rank has 1.
 * - torch: `torch.distributed.Work._get_sequence_number`.
 */
SCONCE_NODISCARD
sconce_status sconce_comm_work_get_sequence(struct sconce_comm_work *work,
                                            uint64_t *out_sequence);

/**
 * Destroys a work handle. The call continues. Its memory, if it is of this library's allocator, is
 * not reused before the call is done.
 *
 * - `work`: NULL is a no-op.
 */
SCONCE_NODISCARD sconce_status sconce_comm_work_destroy(struct sconce_comm_work *work);

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

/**
 * Creates a store in a file on a file system that all processes can access. PyTorch's `FileStore`
 * uses the same format, so both can use one file.
 *
 * - `path`: the file, which is created if it does not exist. Remove the file of an earlier job
 *   first.
 * - `world_size`: the number of processes. The last one to destroy its store removes the file.
 *   With 0, nobody removes it.
 * - `timeout_ms`: the timeout of this call, and the default of later ones; -1 for 300,000.
 * - `out_store`: receives the store.
 * - Errors: IO: the file cannot be opened, locked, read or written, or is not the file of a store.
 *   TIMEOUT: another process holds the file's lock.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`.
 * - torch: `torch.distributed.FileStore`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_file(const char *path,
                                       int32_t world_size,
                                       int64_t timeout_ms,
                                       struct sconce_store **out_store);

/**
 * Creates a client of a store's server, of this library or of PyTorch (2.5 or newer). The server may be started
 * later: the call tries again until its timeout.
 *
 * - `host`: the server's machine, as a name or an address.
 * - `port`: the server's port.
 * - `timeout_ms`: the timeout of this call, and the default of later ones; -1 for 300,000.
 * - `out_store`: receives the store.
 * - Errors: TIMEOUT: no server has answered; the message states the last failure.
 *   INVALID_ARGUMENT: a server that is not a store's has answered.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`.
 * - Ordering: waits for the server. Resolving a name may take longer than the timeout.
 * - torch: `torch.distributed.TCPStore(host, port, is_master=False, wait_for_workers=False)`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_tcp_client(const char *host,
                                             uint16_t port,
                                             int64_t timeout_ms,
                                             struct sconce_store **out_store);

/**
 * Creates a server in this process, and a client of it. PyTorch's `TCPStore` can be a client as
 * well. The server has no authentication: anyone who can connect can read and write. It limits the
 * memory that clients can make it use.
 *
 * - `host`: the only address on which the server listens: `127.0.0.1` for processes of this
 *   machine, `0.0.0.0` or `::` for all interfaces.
 * - `port`: 0 selects a free port, which `sconce_store_get_port` returns.
 * - `timeout_ms`: the default of later calls; -1 for 300,000.
 * - `out_store`: receives the store.
 * - Errors: IO: the address is not of this machine, or the port is in use.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`, which ends the server.
 *   All other processes must have finished using the server before.
 * - Threads: starts a thread, which ends with the store or the process.
 * - torch: `torch.distributed.TCPStore(host, port, is_master=True, wait_for_workers=False)`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_tcp_server(const char *host,
                                             uint16_t port,
                                             int64_t timeout_ms,
                                             struct sconce_store **out_store);

/**
 * Creates a store of the same table whose keys begin with `prefix/`, so that parts of a program do not use the same
 * keys by accident.
 *
 * - `prefix`: a text. If `store` has a prefix, that prefix comes first.
 * - `out_store`: receives the store.
 * - Ownership: the caller destroys the new store with `sconce_store_destroy`. It may outlive `store`.
 * - torch: `torch.distributed.PrefixStore`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_prefixed(struct sconce_store *store,
                                           const char *prefix,
                                           struct sconce_store **out_store);

/**
 * Joins the job that the environment describes: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and LOCAL_RANK, as
 * `torchrun` and `scripts/launch` set them. Rank 0 serves the store at MASTER_ADDR and waits for the others, unless
 * the launcher serves it. Processes of PyTorch can be members of the job.
 *
 * - `timeout_ms`: the longest wait of this call and the default of later ones; -1 for 300,000.
 * - `out_store`: receives the store.
 * - `out_rank`, `out_world_size`, `out_local_rank`: receive the number of this process, the number
 *   of processes, and the number of this process on its machine, which is usually the index of its
 *   device.
 * - Errors: INVALID_STATE: a variable is missing or malformed. TIMEOUT: the server has not
 *   answered, or another process has not joined. IO: MASTER_ADDR is not an address of this
 *   machine, or the port is in use.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`; rank 0 does so after all
 *   others have finished using it.
 * - Ordering: waits for the other processes.
 * - torch: `torch.distributed.init_process_group(init_method="env://")`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_from_environment(int64_t timeout_ms,
                                                   struct sconce_store **out_store,
                                                   int32_t *out_rank,
                                                   int32_t *out_world_size,
                                                   int32_t *out_local_rank);

/**
 * Destroys a store. Calls of other threads that wait in the store fail with INVALID_STATE. With
 * the last store of a table in this process, its server ends; calls of clients in other processes
 * then fail with REMOTE.
 *
 * - `store`: NULL is a no-op.
 * - Ordering: waits for the server's thread to end, which takes little time.
 * - torch: the destructor of a store.
 */
SCONCE_NODISCARD sconce_status sconce_store_destroy(struct sconce_store *store);

/**
 * Returns the port of a store's server.
 *
 * - `out_port`: receives the port.
 * - Errors: INVALID_ARGUMENT: the store is in a file.
 * - torch: `torch.distributed.TCPStore.port`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get_port(struct sconce_store *store,
                                    uint16_t *out_port);

/**
 * Returns the timeout of calls that name none.
 *
 * - `out_timeout_ms`: receives milliseconds.
 * - torch: `torch.distributed.Store.timeout`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get_timeout_ms(struct sconce_store *store,
                                          int64_t *out_timeout_ms);

/**
 * Sets the timeout of calls that name none. Calls in progress keep their timeout.
 *
 * - `timeout_ms`: milliseconds; -1 for 300,000.
 * - torch: `torch.distributed.Store.set_timeout`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_set_timeout_ms(struct sconce_store *store,
                                          int64_t timeout_ms);

/**
 * Sets a key to a value. All processes can see the value when the call returns.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `value`: any bytes; may be NULL if `bytes` is 0.
 * - `bytes`: at most 8 MiB.
 * - Errors: REMOTE: the server has ended or refuses the value, for example because it holds 256 MiB. TIMEOUT. IO.
 * - Ordering: waits for the server's acknowledgement.
 * - torch: `torch.distributed.Store.set`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_set(struct sconce_store *store,
                               const char *key,
                               const void *value,
                               size_t bytes);

/**
 * Waits until a key exists, and returns its value.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `timeout_ms`: the timeout; 0 checks once; -1 for the store's timeout.
 * - `buffer`: receives the value, or its beginning if it has more than `capacity` bytes; may be NULL
 *   if `capacity` is 0.
 * - `capacity`: bytes that `buffer` can hold.
 * - `out_bytes`: receives the size of the whole value. If it is more than `capacity`, call again with
 *   a larger buffer.
 * - Errors: TIMEOUT: the key does not exist; the message names it. REMOTE: the server has ended.
 *   IO. INVALID_STATE: the store was destroyed during the call.
 * - Ordering: waits for another process.
 * - torch: `torch.distributed.Store.get`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get(struct sconce_store *store,
                               const char *key,
                               int64_t timeout_ms,
                               void *buffer,
                               size_t capacity,
                               size_t *out_bytes);

/**
 * Adds to a counter, atomically among all processes. A counter is stored as decimal text. A
 * missing counter counts as 0.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `delta`: what to add; 0 reads the counter.
 * - `out_value`: receives the sum.
 * - Errors: INVALID_STATE: the value is not a number, or the sum has more than 64 bits, for a
 *   store in a file. REMOTE: the same for a store with a server; or the server has ended, in which
 *   case the addition may have happened. TIMEOUT. IO.
 * - torch: `torch.distributed.Store.add`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_add(struct sconce_store *store,
                               const char *key,
                               int64_t delta,
                               int64_t *out_value);

/**
 * Sets a key to `desired` if its value is `expected`, atomically among all processes, and returns
 * the value of the key afterwards. A missing key counts as an empty value. If the key is missing
 * and `expected` is not empty, nothing is set, and `expected` is returned.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `expected`, `desired`: any bytes; may be NULL if they have none.
 * - `expected_bytes`, `desired_bytes`: their sizes, at most 8 MiB.
 * - `buffer`, `capacity`: receive the value; as for `sconce_store_get`.
 * - `out_bytes`: receives the size of the value.
 * - Errors: as `sconce_store_set`.
 * - torch: `torch.distributed.Store.compare_set`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_compare_set(struct sconce_store *store,
                                       const char *key,
                                       const void *expected,
                                       size_t expected_bytes,
                                       const void *desired,
                                       size_t desired_bytes,
                                       void *buffer,
                                       size_t capacity,
                                       size_t *out_bytes);

/**
 * Reports whether all of the given keys exist.
 *
 * - `keys`: texts.
 * - `count`: number of keys, at least 1.
 * - `out_present`: receives the answer.
 * - torch: `torch.distributed.Store.check`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_check(struct sconce_store *store,
                                 const char *const *keys,
                                 size_t count,
                                 bool *out_present);

/**
 * Waits until all of the given keys exist.
 *
 * - `keys`: texts.
 * - `count`: number of keys, at least 1.
 * - `timeout_ms`: the timeout; 0 checks once; -1 for the store's timeout.
 * - Errors: TIMEOUT: a key does not exist. REMOTE: the server has ended. IO. INVALID_STATE: the
 *   store was destroyed during the call.
 * - Ordering: waits for other processes.
 * - torch: `torch.distributed.Store.wait`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_wait(struct sconce_store *store,
                                const char *const *keys,
                                size_t count,
                                int64_t timeout_ms);

/**
 * Deletes a key.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `out_deleted`: receives whether the key existed.
 * - torch: `torch.distributed.Store.delete_key`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_delete_key(struct sconce_store *store,
                                      const char *key,
                                      bool *out_deleted);

/**
 * Returns the number of keys of the table, those of other prefixes and the table's own (such as `init/`) included.
 *
 * - `out_count`: receives the number.
 * - torch: `torch.distributed.Store.num_keys`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get_num_keys(struct sconce_store *store,
                                        int64_t *out_count);

/**
 * Waits until `world_size` processes, or threads, have called this function with the same name. The name can be used
 * again at once.
 *
 * - `name`: names the barrier; its keys are `name/barrier/…`.
 * - `world_size`: at least 1, and the same in all calls.
 * - `timeout_ms`: the timeout; -1 for the store's timeout.
 * - Errors: TIMEOUT: not all have called; the message states how many have. The name cannot be
 *   used again then.
 * - Ordering: waits for other processes.
 * - torch: `torch.distributed.barrier`, over a store.
 */
SCONCE_NODISCARD
sconce_status sconce_store_barrier(struct sconce_store *store,
                                   const char *name,
                                   int32_t world_size,
                                   int64_t timeout_ms);

/**
 * Marks a moment for a profiling tool.
 *
 * This function and the other `sconce_nvtx_…` functions need no device, and take hardly any time
 * if no tool is attached.
 *
 * - `message`: the text that the tool shows.
 * - torch: `torch.cuda.nvtx.mark()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_mark(const char *message);

/**
 * Opens a range, nested in the ranges that the calling thread has open.
 *
 * - `message`: the text that the tool shows.
 * - `out_depth`: receives the depth of the range, 0 for the outermost; if a tool is attached, the
 *   number that the tool returns.
 * - torch: `torch.cuda.nvtx.range_push()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_push(const char *message, int32_t *out_depth);

/**
 * Closes the innermost range that the calling thread has open.
 *
 * - `out_depth`: receives the depth of the closed range, 0 for the outermost; negative if none was
 *   open.
 * - torch: `torch.cuda.nvtx.range_pop()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_pop(int32_t *out_depth);

/**
 * Opens a range that any thread may end, and that need not nest.
 *
 * - `message`: the text that the tool shows.
 * - `out_id`: receives a number for `sconce_nvtx_range_end`; 0 if no tool is attached.
 * - torch: `torch.cuda.nvtx.range_start()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_start(const char *message, uint64_t *out_id);

/**
 * Ends a range that `sconce_nvtx_range_start` opened.
 *
 * - `id`: the number of the range; the tool ignores other numbers.
 * - torch: `torch.cuda.nvtx.range_end()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_end(uint64_t id);

/**
 * Sets the most threads that work on one call of the CPU, the calling one included: products, convolutions, attention
 * of compiled models, and `sconce_parallel_for`.
 *
 * It holds for the whole process, for calls that start later. Before, it is `OMP_NUM_THREADS`, else `MKL_NUM_THREADS`,
 * else the number of processors that the process may use; `OMP_THREAD_LIMIT` bounds each of them. Results do not
 * depend on it.
 *
 * - `num_threads`: at least 1, with which calls stay on their threads; else INVALID_ARGUMENT. More
 *   than 1,024 count as 1,024.
 * - torch: `at::set_num_threads`.
 */
SCONCE_NODISCARD
sconce_status sconce_parallel_set_num_threads(int32_t num_threads);

/**
 * Returns the most threads that work on one call of the CPU.
 *
 * - torch: `at::get_num_threads`.
 */
int32_t sconce_parallel_get_num_threads(void);

/**
 * Returns which part of a `sconce_parallel_for` the calling thread works on, from 0 and below the number of threads; 0
 * outside of one.
 *
 * - torch: `at::get_thread_num`.
 */
int32_t sconce_parallel_get_thread_num(void);

/**
 * Returns whether the calling thread works on a part of a call on several threads. Calls within a part stay on its
 * thread.
 *
 * - torch: `at::in_parallel_region`.
 */
bool sconce_parallel_in_region(void);

/**
 * Calls a function for parts of a range that together are the range, on several threads at the same time if it has
 * more than `grain_size` numbers. Returns when all calls have.
 *
 * There are at most as many parts as threads. A call within a part, and one of a process that was forked from a user
 * of devices, has one part, on the calling thread. Nothing is called for an empty range.
 *
 * - `begin`, `end`: the range, without `end`.
 * - `grain_size`: the least numbers of a part but the last; 0 is the same as 1.
 * - `function`: is called with the range of a part, by several threads at the same time. It may call the library.
 * - `context`: passed to `function`.
 * - torch: `at::parallel_for`.
 */
SCONCE_NODISCARD
sconce_status sconce_parallel_for(int64_t begin,
                                  int64_t end,
                                  int64_t grain_size,
                                  sconce_range_function function,
                                  void *context);

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
#endif  // __cplusplus

#endif  /* SCONCE_SCONCE_H_ */
