/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src/ffi by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

#ifndef SCONCE_SCONCE_H_
#define SCONCE_SCONCE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Marks functions whose status must be looked at. Define it first, as empty or otherwise, to replace it. */
#ifndef SCONCE_NODISCARD
#if defined(__cplusplus) && __cplusplus >= 201703L
#define SCONCE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define SCONCE_NODISCARD __attribute__((warn_unused_result))
#else
#define SCONCE_NODISCARD
#endif
#endif

/** The first number of the library's version. */
#define SCONCE_VERSION_MAJOR 0
/** The second number of the library's version. */
#define SCONCE_VERSION_MINOR 1
/** The third number of the library's version. */
#define SCONCE_VERSION_PATCH 0

/*
 * Initialisers of the structs that begin with `struct_size`, their own size, in C99 and C++17:
 *
 *   sconce_matmul_desc desc = SCONCE_MATMUL_DESC_INIT;
 *
 * A struct may grow in later versions. One of an older program is accepted, and so is one of a newer
 * program whose additional fields are 0. A description whose fields are all 0 is refused.
 */

/** A `sconce_options`: everything as the environment says. */
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
   0, 0, 0, 0, 0}
#else
#define SCONCE_DEVICE_PROPERTIES_INIT \
  {.struct_size = sizeof(sconce_device_properties)}
#endif

/** A `sconce_memory_stats`: for results. */
#ifdef __cplusplus
#define SCONCE_MEMORY_STATS_INIT \
  {sizeof(sconce_memory_stats), 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, 0, 0, 0, 0, \
   0, 0}
#else
#define SCONCE_MEMORY_STATS_INIT \
  {.struct_size = sizeof(sconce_memory_stats)}
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
 * Bytes of an inter-process handle.
 */
#define SCONCE_IPC_HANDLE_BYTES 64

/**
 * The most axes of a strided copy.
 */
#define SCONCE_COPY_MOST_AXES 8

/**
 * Bytes of a generator's state: seed, then offset, little-endian.
 */
#define SCONCE_GENERATOR_STATE_BYTES 16

/**
 * The most spatial dimensions of a convolution.
 */
#define SCONCE_CONVOLUTION_MOST_SPATIAL 3

/**
 * The most dimensions of a transform.
 */
#define SCONCE_FFT_MOST_RANK 3

/**
 * Flag of a stream of a simulated device: no implicit order with the default stream. The value is
 * CUDA's (`CU_STREAM_NON_BLOCKING`).
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
   * The call did what it says.
   */
  SCONCE_OK = 0,
  /**
   * An argument is outside what the call accepts; the message names it.
   */
  SCONCE_ERROR_INVALID_ARGUMENT = 1,
  /**
   * A device index names no device.
   */
  SCONCE_ERROR_INVALID_DEVICE = 2,
  /**
   * A handle was never given out, or has been destroyed.
   */
  SCONCE_ERROR_INVALID_HANDLE = 3,
  /**
   * The object or the library is not in a state in which the call makes sense.
   */
  SCONCE_ERROR_INVALID_STATE = 4,
  /**
   * There is no device to work on.
   */
  SCONCE_ERROR_NO_DEVICE = 5,
  /**
   * Device or host memory is exhausted.
   */
  SCONCE_ERROR_OUT_OF_MEMORY = 6,
  /**
   * A library that is opened at run time is missing or lacks a symbol; the message tells what was searched.
   */
  SCONCE_ERROR_LIBRARY_NOT_FOUND = 7,
  /**
   * The device, the driver or the backend cannot do this.
   */
  SCONCE_ERROR_NOT_SUPPORTED = 8,
  /**
   * The driver reported an error that has no status of its own; `sconce_last_error_backend_code` gives its number.
   */
  SCONCE_ERROR_DRIVER = 9,
  /**
   * Memory or objects of different devices met.
   */
  SCONCE_ERROR_CROSS_DEVICE = 10,
  /**
   * The work asked about has not finished.
   */
  SCONCE_ERROR_NOT_READY = 11,
  /**
   * The process was forked after devices had been initialised; the child cannot use them.
   */
  SCONCE_ERROR_FORKED = 12,
  /**
   * Reading or writing a file failed.
   */
  SCONCE_ERROR_IO = 13,
  /**
   * A defect of the library itself.
   */
  SCONCE_ERROR_INTERNAL = 14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_status sconce_status;
#else
typedef int32_t sconce_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Which backend is at work.
 */
enum sconce_backend
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * None: there is no device.
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
   * Something failed that no status reports.
   */
  SCONCE_LOG_ERROR = 1,
  /**
   * Something is probably not what the user wants.
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
   * As high on CUDA.
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
   * Its records take a time stamp.
   */
  SCONCE_EVENT_TIMING = 1,
  /**
   * A thread that waits for it sleeps rather than spins.
   */
  SCONCE_EVENT_BLOCKING_SYNC = 2,
  /**
   * Other processes can open it; not together with timing.
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
   * A caller holds it.
   */
  SCONCE_BLOCK_ACTIVE_ALLOCATED = 0,
  /**
   * Freed, waiting for work of other streams.
   */
  SCONCE_BLOCK_ACTIVE_PENDING_FREE = 1,
  /**
   * Free.
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
 * What an entry of the history records.
 */
enum sconce_trace_action
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * A block was handed out.
   */
  SCONCE_TRACE_ALLOC = 0,
  /**
   * A caller freed a block.
   */
  SCONCE_TRACE_FREE_REQUESTED = 1,
  /**
   * A freed block can be used again.
   */
  SCONCE_TRACE_FREE_COMPLETED = 2,
  /**
   * A segment was got from the driver.
   */
  SCONCE_TRACE_SEGMENT_ALLOC = 3,
  /**
   * A segment went back to the driver.
   */
  SCONCE_TRACE_SEGMENT_FREE = 4,
  /**
   * A snapshot was taken.
   */
  SCONCE_TRACE_SNAPSHOT = 5,
  /**
   * An allocation failed for want of memory.
   */
  SCONCE_TRACE_OOM = 6,
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
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_dtype sconce_dtype;
#else
typedef int32_t sconce_dtype;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a convolution calculates.
 */
enum sconce_convolution_operation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The output is calculated: from `a`, the input, and `b`, the filter.
   */
  SCONCE_CONVOLUTION_FORWARD = 0,
  /**
   * The input's gradient is calculated: from `a`, the output's gradient, and `b`, the filter.
   */
  SCONCE_CONVOLUTION_BACKWARD_DATA = 1,
  /**
   * The filter's gradient is calculated: from `a`, the output's gradient, and `b`, the input.
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
 * From what to what a transform goes.
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
   * Real to complex: of the last dimension's n results the first n / 2 + 1. Forward only.
   */
  SCONCE_FFT_R2C = 1,
  /**
   * The first n / 2 + 1 of the last dimension's n complex numbers to real ones. Inverse only.
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
   * The exponent's sign is minus.
   */
  SCONCE_FFT_FORWARD = 0,
  /**
   * The exponent's sign is plus.
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
 * What the results of a transform are divided by.
 */
enum sconce_fft_normalization
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Sums as they are, as cuFFT leaves them: forward and back gives n times the input.
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
 * Mode of a simulated capture. The values are CUDA's.
 */
enum sconce_sim_capture_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Holds back every thread, except those that have relaxed their own mode, from calls that are
   * unsafe in a capture: allocating, freeing, querying or waiting for events and streams.
   */
  SCONCE_SIM_CAPTURE_GLOBAL = 0,
  /**
   * Holds back only the thread that began it.
   */
  SCONCE_SIM_CAPTURE_THREAD_LOCAL = 1,
  /**
   * Holds back no thread.
   */
  SCONCE_SIM_CAPTURE_RELAXED = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sconce_sim_capture_mode sconce_sim_capture_mode;
#else
typedef int32_t sconce_sim_capture_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A point in a stream's work. Opaque; made by `sconce_event_create`.
 */
typedef struct sconce_event sconce_event;

/**
 * A seed and a place in the sequence that it names. Opaque; made by `sconce_generator_create`, or
 * the library's own default one of a device.
 */
typedef struct sconce_generator sconce_generator;

/**
 * Memory that only allocations inside its begin and end are served from. Opaque; made by
 * `sconce_memory_pool_create`.
 */
typedef struct sconce_memory_pool sconce_memory_pool;

/**
 * Every segment and block of every device at one time, and the recorded history. Opaque; made by
 * `sconce_memory_snapshot_create`.
 */
typedef struct sconce_memory_snapshot sconce_memory_snapshot;

/**
 * A function that takes a message: its level (`SCONCE_LOG_…`), its text, and the caller's pointer.
 */
typedef void (*sconce_log_callback)(int32_t level, const char *message, void *user);

/**
 * What `sconce_init_with` may choose. Zero in a field means: as the environment says.
 */
typedef struct sconce_options {
  /**
   * `sizeof(sconce_options)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * `SCONCE_BACKEND_CUDA` or `_SIM`; `_NONE` (0): as `SCONCE_BACKEND` says.
   */
  int32_t backend;
  /**
   * Simulated devices, 1 to 64.
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
 * What a device is.
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
   * All of the device's memory, in bytes.
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
} sconce_device_properties;

/**
 * A stream: a value, owned by nobody. Streams are equal when `id` and `device` are.
 */
typedef struct sconce_stream {
  /**
   * Which stream of the device; 0 is the default stream. The numbers are torch's.
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
 * A function that runs in stream order.
 */
typedef void (*sconce_host_function)(void *user);

/**
 * A function that is told when memory has run out: the device, the bytes asked of the driver, the
 * bytes that may be used (all of the device's, or the share that is allowed), the bytes the device
 * has free, and the caller's pointer.
 */
typedef void (*sconce_oom_observer)(int32_t device,
                                    size_t requested_bytes,
                                    size_t total_bytes,
                                    size_t free_bytes,
                                    void *user);

/**
 * One figure: now, at its highest, and the sums of its rises and falls.
 */
typedef struct sconce_stat {
  /**
   * The value now.
   */
  int64_t current;
  /**
   * The highest value since the start or the last reset of peaks.
   */
  int64_t peak;
  /**
   * The sum of all rises since the start or the last reset of sums.
   */
  int64_t allocated;
  /**
   * The sum of all falls since then.
   */
  int64_t freed;
} sconce_stat;

/**
 * A figure for all memory, and for that of each kind of block.
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
 * The figures of a device. Sizes are those of blocks, which are what was asked for, rounded up.
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
   * Allocations got from the driver.
   */
  struct sconce_pool_stats segment;
  /**
   * Blocks that callers hold, or that wait for work of other streams after they were freed.
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
   * Bytes got from the driver.
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
   * Bytes of active blocks as they were asked for.
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
   * How often free memory was given back because the driver had none left.
   */
  int64_t num_alloc_retries;
  /**
   * How often an allocation failed for want of memory.
   */
  int64_t num_ooms;
  /**
   * How often all streams that freed memory waits for were waited for.
   */
  int64_t num_sync_all_streams;
  /**
   * Allocations by the driver.
   */
  int64_t num_device_alloc;
  /**
   * Frees by the driver.
   */
  int64_t num_device_free;
  /**
   * The size in bytes from which blocks are not split; -1 when there is none.
   */
  int64_t max_split_size;
} sconce_memory_stats;

/**
 * An allocation got from the driver.
 */
typedef struct sconce_memory_segment {
  /**
   * Where it begins.
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
   * The same, and of those that wait for work of other streams.
   */
  uint64_t active_bytes;
  /**
   * Bytes of active blocks as they were asked for.
   */
  uint64_t requested_bytes;
  /**
   * The `cudaStream_t` of the stream it serves.
   */
  uint64_t stream;
  /**
   * The private pool it belongs to, as torch's pair; 0, 0 is none.
   */
  uint64_t pool_id[2];
  /**
   * Place of its first block in the snapshot's blocks; the others follow by address.
   */
  uint64_t first_block;
  /**
   * How many blocks it has.
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
} sconce_memory_segment;

/**
 * A piece of a segment.
 */
typedef struct sconce_memory_block {
  /**
   * Where it begins.
   */
  uint64_t address;
  /**
   * Its size.
   */
  uint64_t bytes;
  /**
   * Its size as it was asked for; of a free block, by its last owner.
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
   * Where; for `SCONCE_TRACE_OOM`, how many bytes the device had free.
   */
  uint64_t address;
  /**
   * Bytes: of a block as they were asked for, of a segment all; for `SCONCE_TRACE_OOM`, what was
   * asked for, rounded up.
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
   * The private pool, as torch's pair; 0, 0 is none.
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
   * The longest since the start or the last reset of peaks; 0 before the first.
   */
  int64_t max;
  /**
   * The shortest since then; 0 before the first.
   */
  int64_t min;
  /**
   * How many calls there were.
   */
  int64_t count;
  /**
   * The average; 0 before the first.
   */
  int64_t avg;
} sconce_duration_stat;

/**
 * The figures of pinned host memory. Sizes of blocks are what was asked for, rounded up.
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
   * Pieces of memory got from the driver, from which blocks are cut.
   */
  struct sconce_stat allocations;
  /**
   * Bytes got from the driver: what is pinned.
   */
  struct sconce_stat allocated_bytes;
  /**
   * Blocks that callers hold, or that wait for copies after they were freed.
   */
  struct sconce_stat active_requests;
  /**
   * Bytes of active blocks.
   */
  struct sconce_stat active_bytes;
  /**
   * Bytes of active blocks as they were asked for. torch does not tell.
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
   * How often memory was pinned.
   */
  int64_t num_host_alloc;
  /**
   * How often memory was unpinned.
   */
  int64_t num_host_free;
} sconce_host_memory_stats;

/**
 * The shape of a strided copy: axes from the outermost to the innermost, strides in elements. Begin with
 * `SCONCE_STRIDED_COPY_INIT`. A shape of which nothing was set, or whose `struct_size` is no version's, is
 * INVALID_ARGUMENT.
 */
typedef struct sconce_strided_copy {
  /**
   * `sizeof(sconce_strided_copy)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * How many axes; 0 copies one element.
   */
  int32_t rank;
  /**
   * Bytes of an element, at least 1.
   */
  size_t element_bytes;
  /**
   * Elements along each axis; of those past `rank` nothing is read.
   */
  int64_t sizes[SCONCE_COPY_MOST_AXES];
  /**
   * How far apart elements are in the destination; negative ones go backwards from `dst`. Elements
   * must not overlap.
   */
  int64_t dst_strides[SCONCE_COPY_MOST_AXES];
  /**
   * How far apart elements are in the source; 0 repeats them.
   */
  int64_t src_strides[SCONCE_COPY_MOST_AXES];
} sconce_strided_copy;

/**
 * What a kernel draws from: two numbers, or the place in device memory where it finds them.
 */
typedef struct sconce_philox_state {
  /**
   * The seed; 0 when `device_state` is not NULL.
   */
  uint64_t seed;
  /**
   * Where the reserved piece begins, in 32-bit words; 0 when `device_state` is not NULL.
   */
  uint64_t offset;
  /**
   * NULL, or the device address of seed and offset, to be read by the kernel when it runs.
   */
  const uint64_t *device_state;
} sconce_philox_state;

/**
 * Products of matrices, row by row as in torch: `c = alpha * op(a) @ op(b) + beta * c`.
 *
 * A linear layer's `x @ w.T` is `transpose_b` with `w` as it is stored. Begin with
 * `SCONCE_MATMUL_DESC_INIT`: `batch` and `alpha` are 1 there, and with 0 there is no product. A description
 * of which nothing was set, or whose `struct_size` is no version's, is INVALID_ARGUMENT.
 *
 * Strides count elements. Three strides of 0 mean that the matrices of the batch are packed; if one of
 * them is not 0, all three count.
 */
typedef struct sconce_matmul_desc {
  /**
   * `sizeof(sconce_matmul_desc)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * The type of all three: `SCONCE_DTYPE_` F16, BF16, F32 or F64.
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
   * How many products; 0 does nothing.
   */
  int64_t batch;
  /**
   * What the product is multiplied by; with 0 nothing is read of `a` and `b`.
   */
  double alpha;
  /**
   * What `c` is multiplied by before it is added; with 0 nothing is read of `c`.
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
   * Strides of `c`, whose elements must not overlap: sorted, each stride is at least what the axes
   * with smaller ones span.
   */
  int64_t c_strides[3];
} sconce_matmul_desc;

/**
 * Figures of one device's cuBLAS workspaces.
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
   * The greatest `bytes` there was.
   */
  uint64_t peak_bytes;
  /**
   * Bytes of the workspaces that are not in use. The allocator takes them back before a request
   * fails.
   */
  uint64_t idle_bytes;
  /**
   * The most `bytes` there may be; INT64_MAX is no limit.
   */
  uint64_t max_bytes;
  /**
   * Workspaces that went back because memory was short, because the allocator's cache was emptied,
   * or to keep the limit.
   */
  uint64_t num_given_back;
  /**
   * How often a handle was set to no workspace because of the limit.
   */
  uint64_t num_without;
} sconce_blas_workspace_stats;

/**
 * A convolution (a cross-correlation, as in torch) of 1 to 3 spatial dimensions.
 *
 * Strides count elements, of the batch, the channels, then the spatial dimensions from the outermost;
 * those of the filter of output channels, input channels of a group, spatial dimensions. If all of a
 * tensor's are 0 it is packed in that order. What is past `spatial_rank` is not read.
 * Begin with `SCONCE_CONVOLUTION_DESC_INIT`. A description of which nothing was set, or whose
 * `struct_size` is no version's, is INVALID_ARGUMENT.
 */
typedef struct sconce_convolution_desc {
  /**
   * `sizeof(sconce_convolution_desc)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * The type of all three: `SCONCE_DTYPE_` F16, BF16, F32 or F64.
   */
  int32_t dtype;
  /**
   * What is calculated, one of `SCONCE_CONVOLUTION_…`.
   */
  int32_t operation;
  /**
   * Spatial dimensions, 1 to 3.
   */
  int32_t spatial_rank;
  /**
   * Images; may be 0, which makes the filter's gradient 0.
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
   * Into how many groups the channels are divided, at least 1.
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
   * How far the filter moves, at least 1.
   */
  int64_t stride[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * Zeros on each side of the input.
   */
  int64_t padding[SCONCE_CONVOLUTION_MOST_SPATIAL];
  /**
   * How far apart the filter's elements lie on the input, at least 1.
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
 * A batch of transforms of 1 to 3 dimensions.
 *
 * Strides count elements of their side, real or complex; if all of a side are 0 (that of the batch
 * included) it is packed. If one of them is not 0, all count: with 0 elements of the input, or its
 * transforms, are repeated. What is past `rank` is not read. Begin with
 * `SCONCE_FFT_DESC_INIT`, where `batch` and `rank` are 1. A description of which nothing was set, or whose
 * `struct_size` is no version's, is INVALID_ARGUMENT.
 */
typedef struct sconce_fft_desc {
  /**
   * `sizeof(sconce_fft_desc)`, set by the caller.
   */
  uint32_t struct_size;
  /**
   * From what to what, `SCONCE_FFT_C2C`, `_R2C` or `_C2R`.
   */
  int32_t kind;
  /**
   * The type of a real number, `SCONCE_DTYPE_` F16, F32 or F64; C64 and C128 mean the same as F32
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
   * Dimensions, 1 to 3.
   */
  int32_t rank;
  /**
   * Sizes of the real side (of C2C: of both), outermost first, at least 1.
   */
  int64_t sizes[SCONCE_FFT_MOST_RANK];
  /**
   * How many transforms; 0 does nothing.
   */
  int64_t batch;
  /**
   * From transform to transform of the input; 0 repeats one, where there are strides.
   */
  int64_t in_batch_stride;
  /**
   * From element to element along each dimension of the input.
   */
  int64_t in_strides[SCONCE_FFT_MOST_RANK];
  /**
   * From transform to transform of the output.
   */
  int64_t out_batch_stride;
  /**
   * From element to element along each dimension of the output. Elements must not overlap.
   */
  int64_t out_strides[SCONCE_FFT_MOST_RANK];
  /**
   * Whether a C2R transform may leave anything in its input, which saves a copy of it.
   */
  bool may_overwrite_input;
} sconce_fft_desc;

/**
 * Figures of one device's cache of plans.
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
   * The most plans it keeps.
   */
  uint64_t max_size;
  /**
   * What its plans make the device hold: the sum of the next two.
   */
  uint64_t bytes;
  /**
   * Memory that cuFFT took for itself while they were made, which the allocator knows nothing of.
   * The driver gives it in large pieces, so that one plan has what several will use. Measured
   * as the change in free device memory, so allocations that other libraries made meanwhile are included.
   */
  uint64_t plan_bytes;
  /**
   * Workspaces of all plans, which calls borrow from the allocator.
   */
  uint64_t workspace_bytes;
  /**
   * The most `bytes` it keeps.
   */
  uint64_t max_bytes;
  /**
   * Transforms that found their plan.
   */
  uint64_t hits;
  /**
   * Transforms that had to make it.
   */
  uint64_t misses;
  /**
   * Plans that left to keep a limit, or because memory was short. Clearing is not counted.
   */
  uint64_t evictions;
} sconce_fft_cache_stats;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Gives the spelling of a status, e.g. `SCONCE_ERROR_NOT_READY`.
 *
 * # Parameters
 * `status`: any number; one that is no status gives `SCONCE_STATUS_UNKNOWN`.
 * # Errors
 * None.
 * # Ownership
 * The string is static.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `cudaGetErrorName`.
 */
const char *sconce_status_name(int32_t status);

/**
 * Tells what went wrong in this thread's newest failed call: which argument, or which driver call
 * with the driver's own name for the error.
 *
 * # Parameters
 * None.
 * # Errors
 * None. Never NULL: an empty string before the first failure.
 * # Ownership
 * Borrowed until this thread's next failing call or its end; a successful call leaves it alone.
 * # Ordering
 * Does not block.
 * # Threads
 * Any; each thread has its own.
 * # Safety
 * No requirements.
 * # Upstream
 * The text of the exception that torch would throw.
 */
const char *sconce_last_error_message(void);

/**
 * Gives the driver's number for this thread's newest failed call.
 *
 * # Parameters
 * None.
 * # Errors
 * None. 0 when no driver call was behind the failure, or nothing has failed yet.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any; each thread has its own.
 * # Safety
 * No requirements.
 * # Upstream
 * `cudaGetLastError`, which torch puts into its exceptions; unlike there, reading clears nothing.
 */
int32_t sconce_last_error_backend_code(void);

/**
 * Frees a string that the library gave through a `char** out_…` parameter.
 *
 * # Parameters
 * `text`: the string; NULL is a no-op.
 * # Errors
 * None.
 * # Ownership
 * Takes the string back.
 * # Ordering
 * Does not block.
 * # Threads
 * Any, not only the one that got the string.
 * # Safety
 * `text` is NULL or came from this library and has not been freed.
 * # Upstream
 * None: torch returns `std::string`.
 */
void sconce_string_free(char *text);

/**
 * Gives the library's version, e.g. `0.1.0` (semantic versioning).
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * The string is static.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.__version__`.
 */
const char *sconce_version(void);

/**
 * Gives the number of the binary interface, to compare with `SCONCE_ABI_VERSION` of the header.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None.
 */
uint32_t sconce_abi_version(void);

/**
 * Sends messages to a function of the caller instead of standard error.
 *
 * Which messages there are at all is set by `SCONCE_LOG` = `off`, `error`, `warn` (default),
 * `info` or `debug`.
 *
 * # Parameters
 * `callback`: NULL sends messages to standard error again. `user`: handed to each call.
 * # Errors
 * None.
 * # Ownership
 * The message is borrowed for the call. `callback` and `user` must stay usable until another
 * callback is set and no call is under way.
 * # Ordering
 * Does not block. A message is handed over when the call that caused it ends: the callback is called
 * with no lock held and may call the library. Messages that it causes come after it has returned.
 * # Threads
 * Any; the callback may be called from several threads at once.
 * # Safety
 * `callback` is NULL or a function of this type that does not unwind; `user` fits it.
 * # Upstream
 * `c10::SetLogger` in spirit; torch's warnings go through Python.
 */
void sconce_log_set_callback(sconce_log_callback callback,
                             void *user);

/**
 * Logs a failure that the caller cannot report: for destructors, finalizers and callbacks, which
 * return no status. The message has the level `SCONCE_LOG_ERROR`.
 *
 * # Parameters
 * `status`: what the failed call of this thread returned; `SCONCE_OK` logs nothing. `what`: the
 * operation that failed, e.g. `freeing a buffer`, NUL-terminated; NULL leaves it out. The message is
 * `what`, the name of the status, and `sconce_last_error_message()`.
 * # Errors
 * None.
 * # Ownership
 * `what` is borrowed for the call.
 * # Ordering
 * Does not block. Logs nothing in a forked child, nor after the driver has shut down at the end of
 * the process: what the call would have released is gone there.
 * # Threads
 * Any; called on the thread of the failed call, before its next one.
 * # Safety
 * `what` is NULL or a NUL-terminated text.
 * # Upstream
 * `C10_CUDA_CHECK_WARN`, by which torch's destructors warn.
 */
void sconce_log_failure(int32_t status,
                        const char *what);

/**
 * Makes the library ready: finds the backend and its devices. Optional, since every call that
 * needs a device does the same; idempotent.
 *
 * # Parameters
 * None.
 * # Errors
 * NO_DEVICE: there is no CUDA device and `SCONCE_BACKEND` asks for none else; the message tells
 * what was searched. LIBRARY_NOT_FOUND: `SCONCE_BACKEND=cuda` and `libcuda` is missing. FORKED.
 * # Ownership
 * None.
 * # Ordering
 * Makes no context on any device; may take as long as opening the driver takes.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.init()`.
 */
SCONCE_NODISCARD sconce_status sconce_init(void);

/**
 * Makes the library ready with a backend, and a simulated machine, of the caller's choice.
 *
 * May follow a call that found no device.
 *
 * # Parameters
 * `options`: begin with `SCONCE_OPTIONS_INIT`; fields that are 0 follow the environment.
 * # Errors
 * INVALID_ARGUMENT: `options` is NULL, its `struct_size` is no version's, or a field is out of range. INVALID_STATE: already initialised
 * otherwise. Else as `sconce_init`.
 * # Ownership
 * `options` is read during the call.
 * # Ordering
 * As `sconce_init`.
 * # Threads
 * Any.
 * # Safety
 * `options` is NULL or points to `struct_size` readable bytes.
 * # Upstream
 * None: torch has one backend.
 */
SCONCE_NODISCARD
sconce_status sconce_init_with(const struct sconce_options *options);

/**
 * Tells which backend is at work, having found it out if need be.
 *
 * # Parameters
 * None.
 * # Errors
 * None. `SCONCE_BACKEND_NONE` when there is no device, and in a forked child.
 * # Ownership
 * None.
 * # Ordering
 * Makes no context; does not initialise.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None.
 */
sconce_backend sconce_backend_get_active(void);

/**
 * Tells whether there is a device to work on; `CUDA_VISIBLE_DEVICES` is respected.
 *
 * # Parameters
 * None.
 * # Errors
 * None; never fails. False in a forked child.
 * # Ownership
 * None.
 * # Ordering
 * Makes no context; does not initialise.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.is_available()`.
 */
bool sconce_is_available(void);

/**
 * Tells whether a device has been used, or an initialising call made, in this process.
 *
 * # Parameters
 * None.
 * # Errors
 * None. False in a forked child.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.is_initialized()`.
 */
bool sconce_is_initialized(void);

/**
 * Sets whether products of float32 matrices use TF32. True by default; false under `NVIDIA_TF32_OVERRIDE=0`, whatever is set.
 *
 * # Parameters
 * `allow`: on or off.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().setAllowTF32CuBLAS`.
 */
void sconce_context_set_allow_tf32_cublas(bool allow);

/**
 * Tells whether products of float32 matrices use TF32.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().allowTF32CuBLAS`.
 */
bool sconce_context_get_allow_tf32_cublas(void);

/**
 * Sets whether convolutions use TF32. True by default; false under `NVIDIA_TF32_OVERRIDE=0`, whatever is set.
 *
 * # Parameters
 * `allow`: on or off.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().setAllowTF32CuDNN`.
 */
void sconce_context_set_allow_tf32_cudnn(bool allow);

/**
 * Tells whether convolutions use TF32.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().allowTF32CuDNN`.
 */
bool sconce_context_get_allow_tf32_cudnn(void);

/**
 * Sets whether cuDNN times its algorithms and keeps the fastest. False by default.
 *
 * # Parameters
 * `benchmark`: on or off.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().setBenchmarkCuDNN`.
 */
void sconce_context_set_benchmark_cudnn(bool benchmark);

/**
 * Tells whether cuDNN times its algorithms and keeps the fastest.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().benchmarkCuDNN`.
 */
bool sconce_context_get_benchmark_cudnn(void);

/**
 * Sets how many algorithms cuDNN times at most for a shape. 10 by default.
 *
 * # Parameters
 * `limit`: how many of those that cuDNN thinks best; 0 for all.
 * # Errors
 * INVALID_ARGUMENT: `limit` is negative.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.backends.cudnn.benchmark_limit`.
 */
SCONCE_NODISCARD sconce_status sconce_context_set_benchmark_limit_cudnn(int32_t limit);

/**
 * Gives how many algorithms cuDNN times at most for a shape; 0 is all.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.backends.cudnn.benchmark_limit`.
 */
int32_t sconce_context_get_benchmark_limit_cudnn(void);

/**
 * Sets whether cuDNN is kept to deterministic algorithms. False by default.
 *
 * # Parameters
 * `deterministic`: on or off.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().setDeterministicCuDNN`.
 */
void sconce_context_set_deterministic_cudnn(bool deterministic);

/**
 * Tells whether cuDNN is kept to deterministic algorithms.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().deterministicCuDNN`.
 */
bool sconce_context_get_deterministic_cudnn(void);

/**
 * Sets whether every library is kept to deterministic algorithms. False by default.
 *
 * # Parameters
 * `deterministic`: on or off.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().setDeterministicAlgorithms`.
 */
void sconce_context_set_deterministic_algorithms(bool deterministic);

/**
 * Tells whether every library is kept to deterministic algorithms.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::globalContext().deterministicAlgorithms`.
 */
bool sconce_context_get_deterministic_algorithms(void);

/**
 * Sets the precision of float32 matrix products; HIGHEST is the same as not allowing TF32 there.
 *
 * # Parameters
 * `precision`: one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`.
 * # Errors
 * INVALID_ARGUMENT: another value.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.set_float32_matmul_precision`.
 */
SCONCE_NODISCARD sconce_status sconce_context_set_float32_matmul_precision(int32_t precision);

/**
 * Gives the precision of float32 matrix products, one of `SCONCE_FLOAT32_MATMUL_PRECISION_…`.
 *
 * # Parameters
 * None.
 * # Errors
 * None.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls that start later see it.
 * # Threads
 * Any; the switch is the whole process's.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.get_float32_matmul_precision`.
 */
int32_t sconce_context_get_float32_matmul_precision(void);

/**
 * Gives how many devices there are; `CUDA_VISIBLE_DEVICES` is respected.
 *
 * # Parameters
 * None.
 * # Errors
 * None; never fails. 0 without a backend, and in a forked child.
 * # Ownership
 * None.
 * # Ordering
 * Makes no context; does not initialise.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.device_count()`, `c10::cuda::device_count()`.
 */
int32_t sconce_device_count(void);

/**
 * Gives the calling thread's current device; 0 at thread start.
 *
 * # Parameters
 * `out_device` [out]: index.
 * # Errors
 * INVALID_ARGUMENT: `out_device` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_device` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.current_device()`, `c10::cuda::current_device()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_get_current(int32_t *out_device);

/**
 * Makes a device the calling thread's current one, for this library and for the CUDA runtime in
 * the same thread.
 *
 * # Parameters
 * `device`: index; a negative one changes nothing, as in torch.
 * # Errors
 * INVALID_DEVICE: too large. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, but for making the device's context when this is its first use.
 * # Threads
 * Any; each thread has its own current device.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.set_device()`, `c10::cuda::set_device()`; switching back to device 0 makes no
 * context there.
 */
SCONCE_NODISCARD sconce_status sconce_device_set_current(int32_t device);

/**
 * Makes a device current and gives the one that was: what device guards are made of.
 *
 * # Parameters
 * `device`: index; -1 keeps the current one. `out_previous` [out]: the device that was current.
 * # Errors
 * INVALID_DEVICE: `device` is out of range. INVALID_ARGUMENT: `out_previous` is NULL. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * As `sconce_device_set_current`; to the same device it calls no driver.
 * # Threads
 * Any; each thread has its own current device.
 * # Safety
 * `out_previous` is NULL or valid for writing one value.
 * # Upstream
 * `c10::cuda::ExchangeDevice`; -1 is what `CUDAGuard(-1)` needs.
 */
SCONCE_NODISCARD sconce_status sconce_device_exchange(int32_t device, int32_t *out_previous);

/**
 * Tells whether a device's primary context exists, made by anyone in the process.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_active` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_active` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `out_active` is NULL or valid for writing one value.
 * # Upstream
 * `c10::cuda::hasPrimaryContext`.
 */
SCONCE_NODISCARD sconce_status sconce_device_has_context(int32_t device, bool *out_active);

/**
 * Waits until a device has finished all work queued on it so far, on every stream.
 *
 * # Parameters
 * `device`: index, -1 for the current device.
 * # Errors
 * INVALID_DEVICE. DRIVER: also for a failure of earlier work on the device. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Blocks the calling thread.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.synchronize(device)`; the current device stays what it is.
 */
SCONCE_NODISCARD sconce_status sconce_device_synchronize(int32_t device);

/**
 * Tells what a device is.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_properties` [in, out]: `struct_size` is set by
 * the caller (`SCONCE_DEVICE_PROPERTIES_INIT`); as much as fits is written.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_properties` is NULL, or its `struct_size` is no
 * version's. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `out_properties` is NULL or points to `struct_size` readable and writable bytes.
 * # Upstream
 * `torch.cuda.get_device_properties()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_properties(int32_t device,
                                           struct sconce_device_properties *out_properties);

/**
 * Gives a device's compute capability.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_major`, `out_minor` [out]: e.g. 9 and 0.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_major` or `out_minor` is NULL. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `out_major` and `out_minor` are each NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.get_device_capability()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_capability(int32_t device,
                                           int32_t *out_major,
                                           int32_t *out_minor);

/**
 * Gives a device's name.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `buffer` [out]: the name, NUL-terminated. `length`:
 * bytes the buffer has; 256 are always enough.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `buffer` is NULL or `length` too small, in which case the
 * message says how many bytes are needed. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `buffer` is NULL or valid for writing `length` bytes.
 * # Upstream
 * `torch.cuda.get_device_name()`.
 */
SCONCE_NODISCARD sconce_status sconce_device_get_name(int32_t device, char *buffer, size_t length);

/**
 * Tells whether kernels of one device could use another's memory.
 *
 * # Parameters
 * `device`, `peer`: indices, -1 for the current device. `out_possible` [out]; false for a device
 * and itself, as with CUDA.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_possible` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
 * as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `out_possible` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.can_device_access_peer()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_can_access_peer(int32_t device,
                                            int32_t peer,
                                            bool *out_possible);

/**
 * Lets kernels of `device` use the memory of `peer`, in this direction only. Enabling twice is
 * fine.
 *
 * # Parameters
 * `device`, `peer`: indices, -1 for the current device.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: both are one device. NOT_SUPPORTED: the hardware does not
 * allow it. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * May wait for the devices; makes their contexts.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `cudaDeviceEnablePeerAccess`, which torch calls at the first copy between two devices.
 */
SCONCE_NODISCARD sconce_status sconce_device_enable_peer_access(int32_t device, int32_t peer);

/**
 * Gives a device's free and total memory.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_free_bytes`, `out_total_bytes` [out]: bytes,
 * counting every process.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_free_bytes` or `out_total_bytes` is NULL. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes the device's context.
 * # Threads
 * Any.
 * # Safety
 * `out_free_bytes` and `out_total_bytes` are each NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.mem_get_info()`.
 */
SCONCE_NODISCARD
sconce_status sconce_device_get_memory_info(int32_t device,
                                            size_t *out_free_bytes,
                                            size_t *out_total_bytes);

/**
 * Gives the device that an address belongs to.
 *
 * # Parameters
 * `pointer`: any address, also inside an allocation; it is not followed. `out_device` [out]:
 * index.
 * # Errors
 * INVALID_ARGUMENT: not device memory (the message says what it is instead), or `out_device` is
 * NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_device` is NULL or valid for writing one value.
 * # Upstream
 * `at::cuda::getDeviceFromPtr`.
 */
SCONCE_NODISCARD sconce_status sconce_device_of_pointer(const void *pointer, int32_t *out_device);

/**
 * Lists the processes that hold memory of a device, as text: a line `GPU:<index>`, then a line for
 * each process with its id and its memory in MiB, or `no processes are running`.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_text` [out]: the text.
 * # Errors
 * INVALID_DEVICE. LIBRARY_NOT_FOUND: NVIDIA's management library is missing. INVALID_ARGUMENT:
 * `out_text` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller frees the text with `sconce_string_free`.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `out_text` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.list_gpu_processes()`, in its words; the device is found by its PCI bus id, so
 * `CUDA_VISIBLE_DEVICES` does not confuse it. Containers may hide processes or show other ids.
 */
SCONCE_NODISCARD sconce_status sconce_device_list_processes(int32_t device, char **out_text);

/**
 * Gives a device's default stream: CUDA's legacy one, handle NULL.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_stream` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_stream` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_stream` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.default_stream()`, `c10::cuda::getDefaultCUDAStream`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_default(int32_t device,
                                        struct sconce_stream *out_stream);

/**
 * Gives the calling thread's current stream on a device; the default stream at thread start.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_stream` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_stream` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls no driver.
 * # Threads
 * Any; each thread has its own current streams.
 * # Safety
 * `out_stream` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.current_stream()`, `c10::cuda::getCurrentCUDAStream`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_current(int32_t device,
                                        struct sconce_stream *out_stream);

/**
 * Makes a stream the calling thread's current one on the stream's device. The current device
 * stays.
 *
 * # Parameters
 * `stream`: any stream the library gave out.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls no driver.
 * # Threads
 * Any; each thread has its own current streams.
 * # Safety
 * No requirements.
 * # Upstream
 * `c10::cuda::setCurrentCUDAStream`; unlike `torch.cuda.set_stream`, which also switches the
 * device.
 */
SCONCE_NODISCARD sconce_status sconce_stream_set_current(struct sconce_stream stream);

/**
 * Makes a stream current on its device and that device the current one: what stream guards begin
 * with.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `out_previous` [out]: the stream that was current on
 * the stream's device. `out_previous_device` [out]: the device that was current.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `out_previous` or `out_previous_device` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * As `sconce_device_set_current`; on the current device it calls no driver.
 * # Threads
 * Any; each thread has its own current device and streams.
 * # Safety
 * `out_previous` and `out_previous_device` are each NULL or valid for writing one value.
 * # Upstream
 * Entering `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_exchange(struct sconce_stream stream,
                                     struct sconce_stream *out_previous,
                                     int32_t *out_previous_device);

/**
 * Undoes `sconce_stream_exchange`: what stream guards end with. `previous` becomes current on its
 * device, then `previous_device` becomes the current device.
 *
 * # Parameters
 * `previous`, `previous_device`: what the exchange gave.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: not what an exchange gave. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * As `sconce_device_set_current`; on the current device it calls no driver.
 * # Threads
 * The thread that called the exchange.
 * # Safety
 * No requirements.
 * # Upstream
 * Leaving `torch.cuda.stream(s)` or a `c10::cuda::CUDAStreamGuard`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_restore(struct sconce_stream previous,
                                    int32_t previous_device);

/**
 * Gives the next of the 32 pooled streams of a device and priority, in turn: request n and request
 * n + 32 get the same stream. Each is made at its first request and never destroyed.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `priority`: 0 low, -1 high; lower values are still
 * higher, down to -3. `out_stream` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `priority` is above 0, or `out_stream` is NULL. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The library owns what the stream names.
 * # Ordering
 * Does not block. Pooled streams are non-blocking: nothing orders them with the default stream but
 * events.
 * # Threads
 * Any.
 * # Safety
 * `out_stream` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.Stream(device, priority)`, `c10::cuda::getStreamFromPool`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_from_pool(int32_t device,
                                          int32_t priority,
                                          struct sconce_stream *out_stream);

/**
 * Gives the stream behind a `cudaStream_t` (`CUstream`) that somebody else made.
 *
 * # Parameters
 * `native`: the handle; NULL is the default stream. `device`: index, -1 for the current device.
 * `out_stream` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `native` cannot be a stream handle, or `out_stream` is NULL.
 * INVALID_HANDLE: the simulator knows all its streams and this is none. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The maker keeps the stream, and may destroy it once no call names it any more: passes it, or runs
 * while it is the calling thread's current stream. Memory that was allocated for it, or noted with
 * `record_stream`, may still be held then. A handle that the driver uses again for another stream must
 * be passed to this function again.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_stream` is NULL or valid for writing one value. `native` is NULL or a live stream of the
 * device.
 * # Upstream
 * `torch.cuda.ExternalStream`, `c10::cuda::getStreamFromExternal`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_from_external(void *native,
                                              int32_t device,
                                              struct sconce_stream *out_stream);

/**
 * Gives the `cudaStream_t` (`CUstream`) of a stream, for kernel launches and other libraries.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `out_native` [out]: NULL for a default stream.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `out_native` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * Borrowed: never destroy it.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_native` is NULL or valid for writing one value.
 * # Upstream
 * `c10::cuda::CUDAStream::stream()`, `torch.cuda.Stream.cuda_stream`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_native(struct sconce_stream stream,
                                       void **out_native);

/**
 * Makes an event. The driver's own event is made at the first record, on the recording stream's
 * device.
 *
 * # Parameters
 * `flags`: `SCONCE_EVENT_…` or-ed together; 0 for plain ordering. `out_event` [out].
 * # Errors
 * INVALID_ARGUMENT: unknown flags, timing together with interprocess, or `out_event` is NULL.
 * OUT_OF_MEMORY: too many events. FORKED. Works without a device.
 * # Ownership
 * The caller destroys it with `sconce_event_destroy`.
 * # Ordering
 * Does not block; calls no driver.
 * # Threads
 * Any.
 * # Safety
 * `out_event` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.Event(enable_timing, blocking, interprocess)`, `at::cuda::CUDAEvent`.
 */
SCONCE_NODISCARD sconce_status sconce_event_create(uint32_t flags, struct sconce_event **out_event);

/**
 * Destroys an event. Work that waits for it still waits.
 *
 * # Parameters
 * `event`: a live event; NULL is a no-op.
 * # Errors
 * INVALID_HANDLE: `event` is destroyed or foreign.
 * FORKED as `sconce_init`.
 * # Ownership
 * Takes the event back; the handle is dead afterwards and is recognised as such.
 * # Ordering
 * Does not block, also when the event is pending.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The destructor of `at::cuda::CUDAEvent`.
 */
SCONCE_NODISCARD sconce_status sconce_event_destroy(struct sconce_event *event);

/**
 * Captures the work queued on a stream so far: the event is complete when that work has finished.
 * An earlier record is replaced; waits bound to it stay with it.
 *
 * # Parameters
 * `event`: a live event. `stream`: any stream the library gave out, of the event's device once
 * that is settled.
 * # Errors
 * INVALID_HANDLE: `event` is NULL, destroyed or foreign. INVALID_HANDLE or INVALID_DEVICE:
 * `stream` was not given out by the library. CROSS_DEVICE: the event was first recorded on another
 * device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.Event.record()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_record(struct sconce_event *event,
                                  struct sconce_stream stream);

/**
 * Tells whether an event's newest record is complete; true when there is none.
 *
 * # Parameters
 * `event`: a live event. `out_complete` [out].
 * # Errors
 * INVALID_HANDLE: `event` is NULL, destroyed or foreign. DRIVER: also for a failure of earlier
 * work on the device. INVALID_ARGUMENT: `out_complete` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_complete` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.Event.query()`.
 */
SCONCE_NODISCARD sconce_status sconce_event_query(struct sconce_event *event, bool *out_complete);

/**
 * Waits for an event's newest record; returns at once when there is none.
 *
 * # Parameters
 * `event`: a live event.
 * # Errors
 * INVALID_HANDLE: `event` is NULL, destroyed or foreign. DRIVER: also for a failure of earlier
 * work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Blocks the calling thread: spinning, or sleeping with `SCONCE_EVENT_BLOCKING_SYNC`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.Event.synchronize()`.
 */
SCONCE_NODISCARD sconce_status sconce_event_synchronize(struct sconce_event *event);

/**
 * Gives the time between two records.
 *
 * # Parameters
 * `start`, `end`: live events of one device, made with `SCONCE_EVENT_TIMING`, recorded and
 * complete. `out_elapsed_ms` [out]: milliseconds, negative when `end` came first.
 * # Errors
 * INVALID_HANDLE: one of them is NULL, destroyed or foreign. INVALID_ARGUMENT: one has no timing,
 * or `out_elapsed_ms` is NULL. INVALID_STATE: one was never recorded. NOT_READY: one is pending.
 * CROSS_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_elapsed_ms` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.Event.elapsed_time()`, in its words.
 */
SCONCE_NODISCARD
sconce_status sconce_event_elapsed_ms(struct sconce_event *start,
                                      struct sconce_event *end,
                                      float *out_elapsed_ms);

/**
 * Gives the device an event was first recorded on.
 *
 * # Parameters
 * `event`: a live event. `out_device` [out]: index, -1 while the event has not been recorded.
 * # Errors
 * INVALID_HANDLE: `event` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_device` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls no driver.
 * # Threads
 * Any.
 * # Safety
 * `out_device` is NULL or valid for writing one value.
 * # Upstream
 * `at::cuda::CUDAEvent::device_index()`, `isCreated()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_get_device(struct sconce_event *event,
                                      int32_t *out_device);

/**
 * Gives the bytes by which another process can open an event.
 *
 * # Parameters
 * `event`: a live event made with `SCONCE_EVENT_INTERPROCESS`; if it was never recorded it settles
 * on the current device. `out_handle` [out]: 64 bytes.
 * # Errors
 * INVALID_HANDLE: `event` is NULL, destroyed or foreign. INVALID_ARGUMENT: made without that flag,
 * or `out_handle` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The event must outlive its use by other processes.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_handle` is NULL or valid for writing 64 bytes.
 * # Upstream
 * `torch.cuda.Event.ipc_handle()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_get_ipc_handle(struct sconce_event *event,
                                          uint8_t *out_handle);

/**
 * Opens another process's event.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `handle`: the 64 bytes that process gave.
 * `out_event` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `handle` or `out_event` is NULL, or it is of an event of this
 * process. INVALID_HANDLE or DRIVER: the bytes are no handle, or the event is gone. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller destroys it with `sconce_event_destroy`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `handle` is NULL or valid for reading 64 bytes. `out_event` is NULL or valid for writing one
 * value.
 * # Upstream
 * `torch.cuda.Event.from_ipc_handle()`.
 */
SCONCE_NODISCARD
sconce_status sconce_event_from_ipc_handle(int32_t device,
                                           const uint8_t *handle,
                                           struct sconce_event **out_event);

/**
 * Tells whether all work queued on a stream has finished.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `out_idle` [out].
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. DRIVER: also for a
 * failure of earlier work on the device. INVALID_ARGUMENT: `out_idle` is NULL. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_idle` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.Stream.query()`.
 */
SCONCE_NODISCARD sconce_status sconce_stream_query(struct sconce_stream stream, bool *out_idle);

/**
 * Waits until all work queued on a stream has finished.
 *
 * # Parameters
 * `stream`: any stream the library gave out.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. DRIVER: also for a
 * failure of earlier work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Blocks the calling thread.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.Stream.synchronize()`.
 */
SCONCE_NODISCARD sconce_status sconce_stream_synchronize(struct sconce_stream stream);

/**
 * Gives a stream's priority; lower is more urgent.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `out_priority` [out].
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `out_priority` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_priority` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.Stream.priority`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_priority(struct sconce_stream stream,
                                         int32_t *out_priority);

/**
 * Gives the priorities that make a difference on the current device.
 *
 * # Parameters
 * `out_least` [out]: 0. `out_greatest` [out]: negative; at the lowest -3, as many levels as pools
 * are kept for.
 * # Errors
 * INVALID_ARGUMENT: `out_least` or `out_greatest` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes the current device's context.
 * # Threads
 * Any.
 * # Safety
 * `out_least` and `out_greatest` are each NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.Stream.priority_range()`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_get_priority_range(int32_t *out_least,
                                               int32_t *out_greatest);

/**
 * Tells whether a stream is being captured into a CUDA graph, or on the simulator into a simulated
 * capture (`sconce_sim_begin_capture`).
 *
 * # Parameters
 * `stream`: any stream the library gave out. `out_capturing` [out]: true from the capture's beginning
 * to its end, also after the capture has become invalid.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `out_capturing` is NULL. INVALID_STATE: `stream` is the default stream, and a capture of another stream
 * forbids its use. DRIVER: also for a failure of earlier work on the device. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_capturing` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.is_current_stream_capturing()`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_is_capturing(struct sconce_stream stream,
                                         bool *out_capturing);

/**
 * Makes work queued on a stream from now on start after an event's newest record. Later records do
 * not move the wait; an event that was never recorded makes no wait.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `event`: a live event, of any device.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_HANDLE:
 * `event` is NULL, destroyed or foreign. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block the host.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.Stream.wait_event()`, `CUDAEvent::block`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_wait_event(struct sconce_stream stream,
                                       struct sconce_event *event);

/**
 * Makes work queued on `waiting` from now on start after the work queued on `waited` so far.
 *
 * # Parameters
 * `waiting`, `waited`: streams the library gave out, of any device.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: one of them was not. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block the host.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.Stream.wait_stream()`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_wait_stream(struct sconce_stream waiting,
                                        struct sconce_stream waited);

/**
 * Runs a host function once all work queued on a stream so far has finished; work queued later
 * starts after it has returned.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `function`: called once, on a thread of the driver;
 * not called when earlier work of the stream fails. `user`: handed to it.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `function` is NULL. DRIVER: also for a failure of earlier work on the device. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * `user` must live until the function has run.
 * # Ordering
 * Does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The function must not call the device: nothing
 * of this library but what calls no driver, and nothing of CUDA.
 * # Threads
 * Any.
 * # Safety
 * `function` is NULL or may be called with `user` on another thread, and does not unwind.
 * # Upstream
 * `cudaLaunchHostFunc`.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_launch_host_function(struct sconce_stream stream,
                                                 sconce_host_function function,
                                                 void *user);

/**
 * Keeps a stream of a device busy for a time, with a kernel that does nothing else: for tests and
 * examples of overlap.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `duration_ns`: nanoseconds.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. DRIVER: also for a
 * failure of earlier work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless `CUDA_LAUNCH_BLOCKING=1`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda._sleep`, which counts cycles instead.
 */
SCONCE_NODISCARD
sconce_status sconce_stream_sleep(struct sconce_stream stream,
                                  uint64_t duration_ns);

/**
 * Allocates memory of the current device for its current stream: from what was freed there before,
 * else from the driver. Contents are undefined.
 *
 * # Parameters
 * `bytes`: how many; 0 gives NULL. `out_ptr` [out]: device address, a multiple of 512; the host
 * cannot follow it.
 * # Errors
 * OUT_OF_MEMORY: the device, or the share of it that is allowed, has no such room left; the message
 * has the figures. INVALID_ARGUMENT: `out_ptr` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * The caller frees it with `sconce_memory_free`.
 * # Ordering
 * The memory is for work of that stream: earlier work of it may still use the same bytes. Work of
 * other streams is ordered after an event of it, and noted with `sconce_memory_record_stream`.
 * Blocks only when the driver is asked for memory.
 * # Threads
 * Any.
 * # Safety
 * `out_ptr` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.caching_allocator_alloc()`, `c10::cuda::CUDACachingAllocator::raw_alloc`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_alloc(size_t bytes, void **out_ptr);

/**
 * Allocates memory for a stream, on the stream's device. Contents are undefined.
 *
 * # Parameters
 * `bytes`: how many; 0 gives NULL. `stream`: any stream the library gave out. `out_ptr` [out]:
 * device address, a multiple of 512; the host cannot follow it.
 * # Errors
 * OUT_OF_MEMORY: the device, or the share of it that is allowed, has no such room left; the message
 * has the figures. INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library.
 * INVALID_ARGUMENT: `out_ptr` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller frees it with `sconce_memory_free`.
 * # Ordering
 * As `sconce_memory_alloc`, for `stream` instead of the current one.
 * # Threads
 * Any.
 * # Safety
 * `out_ptr` is NULL or valid for writing one value.
 * # Upstream
 * `c10::cuda::CUDACachingAllocator::raw_alloc_with_stream`; there the current device counts.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_alloc_on(size_t bytes,
                                     struct sconce_stream stream,
                                     void **out_ptr);

/**
 * Frees memory: it is kept for later allocations on the stream it was allocated for.
 *
 * # Parameters
 * `ptr`: what an allocating function of this library gave; NULL is a no-op.
 * # Errors
 * INVALID_ARGUMENT: `ptr` is not memory of this library, points into it, or was freed already; the
 * message says which. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * Takes the memory back.
 * # Ordering
 * Does not block, and needs no waiting before it: queued work of the stream that the memory was
 * allocated for, and of streams noted with `sconce_memory_record_stream`, may still use it.
 * # Threads
 * Any, not only the one that allocated.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.caching_allocator_delete()`, `c10::cuda::CUDACachingAllocator::raw_delete`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_free(void *ptr);

/**
 * Notes that work of another stream uses an allocation: once freed, it is not used again before
 * the work that is queued there by then has finished.
 *
 * # Parameters
 * `ptr`: any address in memory that an allocating function of this library returned; it stands for
 * the whole block. NULL, and memory that is not of this library, are ignored. `stream`: any stream
 * the library gave out; the one that the memory was allocated for is ignored.
 * # Errors
 * INVALID_ARGUMENT: the memory was freed already. INVALID_HANDLE or INVALID_DEVICE: `stream` was not
 * given out by the library. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None. An external stream may be destroyed before the memory is freed. The memory is then used again
 * once a call of the library has waited for the whole device.
 * # Ordering
 * Does not block. If `stream` is external and not current at the free, the library must not touch it
 * there: the memory comes back after a later call that names the stream (`record_stream`, an
 * allocation on it, `sconce_stream_get_from_external`, `sconce_stream_synchronize`) or waits for the
 * device (`sconce_device_synchronize`, `sconce_memory_empty_cache`, an allocation that finds no
 * memory).
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.record_stream()`, `c10::cuda::CUDACachingAllocator::recordStream`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_record_stream(void *ptr,
                                          struct sconce_stream stream);

/**
 * Gives the memory of every device that nothing uses back to the driver.
 *
 * # Parameters
 * None.
 * # Errors
 * DRIVER: also for a failure of earlier work on a device. INVALID_STATE: a stream is being captured.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Waits for the streams that freed memory still waits for; giving back waits for the device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.empty_cache()`, `c10::cuda::CUDACachingAllocator::emptyCache`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_empty_cache(void);

/**
 * Gives the driver's allocation that an allocation is a piece of, e.g. to share it with another
 * process.
 *
 * # Parameters
 * `ptr`: any address in memory that is allocated from this library. `out_base` [out]: where the
 * driver's allocation begins. `out_bytes` [out]: its size.
 * # Errors
 * INVALID_ARGUMENT: `ptr` is not in allocated memory of this library, or `out_base` or `out_bytes`
 * is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None: the library may give the driver's allocation back once all its pieces are freed.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_base` and `out_bytes` are each NULL or valid for writing one value.
 * # Upstream
 * `c10::cuda::CUDACachingAllocator::getBaseAllocation`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_base(const void *ptr,
                                     void **out_base,
                                     size_t *out_bytes);

/**
 * Gives the size of an allocation's block: what was asked for, rounded up, and a rest that was too small to
 * be split off.
 *
 * # Parameters
 * `ptr`: what an allocating function of this library gave. `out_bytes` [out].
 * # Errors
 * INVALID_ARGUMENT: `ptr` is NULL, is not memory of this library, points into it, or was freed; or
 * `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None; the caller may use all of these bytes.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_bytes` is NULL or valid for writing one value.
 * # Upstream
 * None; `malloc_usable_size` in spirit. torch has the same blocks and does not show them.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_usable_bytes(const void *ptr,
                                             size_t *out_bytes);

/**
 * Makes a pool, without any memory yet. It serves all devices.
 *
 * # Parameters
 * `out_pool` [out].
 * # Errors
 * INVALID_ARGUMENT: `out_pool` is NULL. OUT_OF_MEMORY: too many pools. FORKED. Works without a
 * device.
 * # Ownership
 * The caller destroys it with `sconce_memory_pool_destroy`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_pool` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.MemPool()`, `c10::cuda::MemPool`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_pool_create(struct sconce_memory_pool **out_pool);

/**
 * Gives the number by which snapshots and histories know a pool.
 *
 * # Parameters
 * `pool`: a live pool. `out_id` [out]: the second number of the pair; the first is 0. Never 0, and
 * never used again.
 * # Errors
 * INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_id` is NULL. Works
 * without a device.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_id` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.MemPool.id`, `c10::cuda::MemPool::id`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_get_id(struct sconce_memory_pool *pool,
                                        uint64_t *out_id);

/**
 * Destroys a pool and gives what nothing uses of it back to the driver. What is allocated from it
 * stays valid and is freed as ever.
 *
 * # Parameters
 * `pool`: a live pool; NULL is a no-op.
 * # Errors
 * INVALID_HANDLE: `pool` is destroyed or foreign. INVALID_STATE: a thread has begun it and not ended
 * it. DRIVER: also for a failure of earlier work on a device; the pool is destroyed all the same.
 * FORKED.
 * # Ownership
 * Takes the pool back; the handle is dead afterwards and is recognised as such.
 * # Ordering
 * As `sconce_memory_pool_trim`; while a stream is being captured it does not block, and the memory
 * goes back when the cache is emptied next.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The destructor of `c10::cuda::MemPool`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_destroy(struct sconce_memory_pool *pool);

/**
 * Has the calling thread's allocations on a device served from a pool, until
 * `sconce_memory_pool_end`. Of several pools that have begun, the newest serves.
 *
 * # Parameters
 * `pool`: a live pool. `device`: index, -1 for the current device.
 * # Errors
 * INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_DEVICE. INVALID_STATE: the thread
 * has begun this pool on this device already. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any; for the calling thread alone.
 * # Safety
 * No requirements.
 * # Upstream
 * Entering `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::beginAllocateToPool`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_begin(struct sconce_memory_pool *pool,
                                       int32_t device);

/**
 * Undoes `sconce_memory_pool_begin`. What was allocated stays allocated, and returns to the pool
 * when it is freed.
 *
 * # Parameters
 * `pool`: a live pool. `device`: index, -1 for the current device.
 * # Errors
 * INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_DEVICE. INVALID_STATE: the thread
 * has not begun this pool on this device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * The thread that called the begin.
 * # Safety
 * No requirements.
 * # Upstream
 * Leaving `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::endAllocateToPool`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_end(struct sconce_memory_pool *pool,
                                     int32_t device);

/**
 * Gives memory of a pool that nothing uses back to the driver, on every device.
 *
 * # Parameters
 * `pool`: a live pool. `out_bytes` [out]: how many bytes went back.
 * # Errors
 * INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_bytes` is NULL.
 * INVALID_STATE: a stream is being captured. DRIVER: also for a failure of earlier work on a device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Waits for the streams that freed memory still waits for; giving back waits for the device.
 * # Threads
 * Any.
 * # Safety
 * `out_bytes` is NULL or valid for writing one value.
 * # Upstream
 * `CUDACachingAllocator::emptyCache(mempool_id)`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_pool_trim(struct sconce_memory_pool *pool,
                                      size_t *out_bytes);

/**
 * Configures the allocator from now on; memory that is already there stays as it is.
 *
 * Until the first call the text is taken from the environment: `SCONCE_ALLOC_CONF`, else
 * `PYTORCH_CUDA_ALLOC_CONF`, else `PYTORCH_ALLOC_CONF`. The keys that have an effect:
 * `max_split_size_mb` (from this size on, blocks are not cut), `max_non_split_rounding_mb`,
 * `roundup_power2_divisions` (a power of two, or a list as `[64:8,256:4,>:1]`),
 * `garbage_collection_threshold` (0 to 1, with a fraction), `large_segment_size_mb` and
 * `per_process_memory_fraction` (on devices without a fraction of their own). PyTorch's other keys
 * are accepted, and a warning says once that they have none. `PYTORCH_NO_CUDA_MEMORY_CACHING=1` in the
 * environment turns caching off.
 *
 * # Parameters
 * `conf`: `key:value` pairs with commas between, in the syntax of `PYTORCH_CUDA_ALLOC_CONF`; keys
 * that are not named go back to their defaults. "" is all defaults.
 * # Errors
 * INVALID_ARGUMENT: `conf` is NULL, or has a key or value that is not known; the message names it,
 * and the configuration stays as it was. FORKED. Works without a device.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `conf` is NULL or a NUL-terminated string.
 * # Upstream
 * `torch.cuda.memory._set_allocator_settings()`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_configure(const char *conf);

/**
 * Limits how much of a device's memory this process gets from the driver. What it has by then it
 * keeps.
 *
 * # Parameters
 * `fraction`: of the device's memory, 0 to 1; 1 is no limit. `device`: index, -1 for the current
 * device.
 * # Errors
 * INVALID_ARGUMENT: `fraction` is not from 0 to 1. INVALID_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes the device's context.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.set_per_process_memory_fraction()`, `CUDACachingAllocator::setMemoryFraction`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_set_fraction(double fraction, int32_t device);

/**
 * Gives the share of a device's memory that this process may get from the driver.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_fraction` [out]: 0 to 1; 1 without a limit.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_fraction` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
 * as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; makes the device's context.
 * # Threads
 * Any.
 * # Safety
 * `out_fraction` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.get_per_process_memory_fraction()`, `CUDACachingAllocator::getMemoryFraction`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_fraction(int32_t device, double *out_fraction);

/**
 * Has a function called whenever an allocation fails for want of memory, before the failure is
 * returned. Observers are called in the order they were attached.
 *
 * # Parameters
 * `observer`: the function; it may call this library, also to free memory, but the failed
 * allocation is not tried again. `user`: handed to it. `out_id` [out]: for
 * `sconce_memory_detach_oom_observer`; never 0.
 * # Errors
 * INVALID_ARGUMENT: `observer` or `out_id` is NULL. FORKED. Works without a device.
 * # Ownership
 * `user` must live until the observer is detached and every call of it has returned.
 * # Ordering
 * Does not block. Observers run on the thread whose allocation failed, with no lock held.
 * # Threads
 * Any; the observer may be called from several threads at once.
 * # Safety
 * `observer` is NULL or a function of this type that does not unwind; `user` fits it. `out_id` is
 * NULL or valid for writing one value.
 * # Upstream
 * `CUDACachingAllocator::attachOutOfMemoryObserver`; there they cannot be detached.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_attach_oom_observer(sconce_oom_observer observer,
                                                void *user,
                                                uint64_t *out_id);

/**
 * Has an observer not called any more. A call on another thread may still be running.
 *
 * # Parameters
 * `id`: what `sconce_memory_attach_oom_observer` gave.
 * # Errors
 * INVALID_ARGUMENT: it gave no such id, or the observer is detached. FORKED.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; an observer may detach itself.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch's observers stay.
 */
SCONCE_NODISCARD sconce_status sconce_memory_detach_oom_observer(uint64_t id);

/**
 * Gives all figures of a device.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_stats` [out]: its `struct_size` is set by the
 * caller (`SCONCE_MEMORY_STATS_INIT`); as much as fits is written.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no
 * version's. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block. Zeros where nothing has been allocated yet.
 * # Threads
 * Any. While other threads allocate, a peak may be told up to a sixteenth too high, never too low.
 * # Safety
 * `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
 * # Upstream
 * `torch.cuda.memory_stats()`, `CUDACachingAllocator::getDeviceStats`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_stats(int32_t device,
                                      struct sconce_memory_stats *out_stats);

/**
 * Gives all figures of a device as one flat JSON object with torch's keys, e.g.
 * `"reserved_bytes.all.peak"`.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_json` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_json` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * The caller frees the text with `sconce_string_free`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_json` is NULL or valid for writing one value.
 * # Upstream
 * `json.dumps(torch.cuda.memory_stats())`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_stats_json(int32_t device, char **out_json);

/**
 * Gives the bytes of a device that callers hold.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_bytes` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_bytes` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.memory_allocated()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_allocated(int32_t device, size_t *out_bytes);

/**
 * Gives the most bytes of a device that callers have held at a time, since the start or
 * `sconce_memory_reset_peak_stats`.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_bytes` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_bytes` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.max_memory_allocated()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_max_allocated(int32_t device, size_t *out_bytes);

/**
 * Gives the bytes of a device that this process has got from the driver, used or kept.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_bytes` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_bytes` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.memory_reserved()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_reserved(int32_t device, size_t *out_bytes);

/**
 * Gives the most bytes of a device that this process has had from the driver at a time, since the
 * start or `sconce_memory_reset_peak_stats`.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_bytes` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_bytes` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.max_memory_reserved()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_max_reserved(int32_t device, size_t *out_bytes);

/**
 * Sets every peak of a device to the value of now.
 *
 * # Parameters
 * `device`: index, -1 for the current device.
 * # Errors
 * INVALID_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.reset_peak_memory_stats()`, `CUDACachingAllocator::resetPeakStats`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_reset_peak_stats(int32_t device);

/**
 * Sets every sum and every count of occasions of a device to 0.
 *
 * # Parameters
 * `device`: index, -1 for the current device.
 * # Errors
 * INVALID_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.reset_accumulated_memory_stats()`, `CUDACachingAllocator::resetAccumulatedStats`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_reset_accumulated_stats(int32_t device);

/**
 * Gives the figures of a device as a table for people.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `abbreviated`: without the lines of the two kinds of
 * block. `out_text` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_text` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * The caller frees the text with `sconce_string_free`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_text` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.memory_summary()`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_get_summary(int32_t device,
                                        bool abbreviated,
                                        char **out_text);

/**
 * Gives every segment and block of every device, and the recorded history, as JSON that torch's
 * viewer reads.
 *
 * # Parameters
 * `out_json` [out].
 * # Errors
 * INVALID_ARGUMENT: `out_json` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller frees the text with `sconce_string_free`.
 * # Ordering
 * Does not wait for devices; other threads' allocations wait while a stream's blocks are copied.
 * # Threads
 * Any.
 * # Safety
 * `out_json` is NULL or valid for writing one value.
 * # Upstream
 * `json.dumps(torch.cuda.memory._snapshot())`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_get_snapshot_json(char **out_json);

/**
 * Writes a snapshot to a file, for torch's viewer (`pytorch.org/memory_viz`).
 *
 * # Parameters
 * `path`: the file; what is there is replaced. Its ending decides: `.pickle` or `.json`.
 * # Errors
 * INVALID_ARGUMENT: `path` is NULL or has another ending. NOT_SUPPORTED: the ending is `.html`. IO:
 * the file cannot be written. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not wait for devices; other threads' allocations wait while a stream's blocks are copied.
 * # Threads
 * Any.
 * # Safety
 * `path` is NULL or a NUL-terminated string.
 * # Upstream
 * `torch.cuda.memory._dump_snapshot()`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_save_snapshot(const char *path);

/**
 * Starts or stops the recording of what happens to memory, for snapshots. Stopping forgets what was
 * recorded; starting again keeps it.
 *
 * # Parameters
 * `enabled`: whether to record. `max_entries`: how many entries a device keeps; older ones make
 * room for newer ones. Ignored when `enabled` is false.
 * # Errors
 * INVALID_ARGUMENT: `max_entries` is 0 though `enabled`. FORKED. Works without a device.
 * # Ownership
 * None.
 * # Ordering
 * Does not block. While recording, every allocation and free takes a little longer.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.memory._record_memory_history()`; stack traces are not recorded.
 */
SCONCE_NODISCARD sconce_status sconce_memory_record_history(bool enabled, size_t max_entries);

/**
 * Takes a snapshot: every segment and block of every device now, and the history recorded so far.
 *
 * # Parameters
 * `out_snapshot` [out].
 * # Errors
 * INVALID_ARGUMENT: `out_snapshot` is NULL. OUT_OF_MEMORY: too many snapshots. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller destroys it with `sconce_memory_snapshot_destroy`.
 * # Ordering
 * Does not wait for devices; other threads' allocations wait while a stream's blocks are copied.
 * # Threads
 * Any.
 * # Safety
 * `out_snapshot` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.memory_snapshot()`, `CUDACachingAllocator::snapshot`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_create(struct sconce_memory_snapshot **out_snapshot);

/**
 * Destroys a snapshot and its arrays.
 *
 * # Parameters
 * `snapshot`: a live snapshot; NULL is a no-op.
 * # Errors
 * INVALID_HANDLE: `snapshot` is destroyed or foreign.
 * FORKED as `sconce_init`.
 * # Ownership
 * Takes the snapshot back; the handle is dead afterwards and is recognised as such.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * The arrays that it lent are not used any more.
 * # Upstream
 * The destructor of `CUDACachingAllocator::SnapshotInfo`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_destroy(struct sconce_memory_snapshot *snapshot);

/**
 * Lends the segments of a snapshot, in the order of their addresses.
 *
 * # Parameters
 * `snapshot`: a live snapshot. `out_segments` [out]: the first; NULL when there is none.
 * `out_count` [out]: how many.
 * # Errors
 * INVALID_HANDLE: `snapshot` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_segments` or
 * `out_count` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * Borrowed until the snapshot is destroyed.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_segments` and `out_count` are each NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.memory_snapshot()`, `SnapshotInfo::segments`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_get_segments(struct sconce_memory_snapshot *snapshot,
                                                  const struct sconce_memory_segment **out_segments,
                                                  size_t *out_count);

/**
 * Lends the blocks of all segments of a snapshot.
 *
 * # Parameters
 * `snapshot`: a live snapshot. `out_blocks` [out]: the first; NULL when there is none. `out_count`
 * [out]: how many.
 * # Errors
 * INVALID_HANDLE: `snapshot` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_blocks` or
 * `out_count` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * Borrowed until the snapshot is destroyed.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_blocks` and `out_count` are each NULL or valid for writing one value.
 * # Upstream
 * The `blocks` of `torch.cuda.memory_snapshot()`, `SegmentInfo::blocks`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_get_blocks(struct sconce_memory_snapshot *snapshot,
                                                const struct sconce_memory_block **out_blocks,
                                                size_t *out_count);

/**
 * Lends a device's history in a snapshot, oldest entry first.
 *
 * # Parameters
 * `snapshot`: a live snapshot. `device`: index, -1 for the current device. `out_entries` [out]: the
 * first; NULL when there is none. `out_count` [out]: how many.
 * # Errors
 * INVALID_HANDLE: `snapshot` is NULL, destroyed or foreign. INVALID_DEVICE. INVALID_ARGUMENT:
 * `out_entries` or `out_count` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * Borrowed until the snapshot is destroyed.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_entries` and `out_count` are each NULL or valid for writing one value.
 * # Upstream
 * The `device_traces` of `torch.cuda.memory._snapshot()`, `SnapshotInfo::device_traces`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_snapshot_get_trace(struct sconce_memory_snapshot *snapshot,
                                               int32_t device,
                                               const struct sconce_memory_trace_entry **out_entries,
                                               size_t *out_count);

/**
 * Allocates as PyTorch's `CUDAPluggableAllocator` asks.
 *
 * # Parameters
 * `bytes`: how many; 0 gives NULL. `device`: index. `stream`: a `cudaStream_t` of the device, NULL
 * for the default stream.
 * # Errors
 * NULL, with the reason in `sconce_last_error_message` and in the log. torch itself does not look
 * at a NULL: the first use of the tensor fails.
 * # Ownership
 * torch frees it with `sconce_torch_free`.
 * # Ordering
 * As `sconce_memory_alloc`.
 * # Threads
 * Any.
 * # Safety
 * `stream` is NULL or a live stream of the device.
 * # Upstream
 * The `alloc_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`, whose `ssize_t` is C's
 * `ptrdiff_t`.
 */
void *sconce_torch_malloc(ptrdiff_t bytes, int32_t device, void *stream);

/**
 * Frees as PyTorch's `CUDAPluggableAllocator` asks.
 *
 * # Parameters
 * `ptr`: from `sconce_torch_malloc`; NULL is a no-op. `bytes`, `device`, `stream`: ignored, as the
 * library knows them.
 * # Errors
 * To the log: `ptr` is not memory of this library, or was freed already.
 * # Ownership
 * Takes the memory back.
 * # Ordering
 * As `sconce_memory_free`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The `free_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`.
 */
void sconce_torch_free(void *ptr, ptrdiff_t bytes, int32_t device, void *stream);

/**
 * Allocates as CuPy's `CFunctionAllocator` asks: on this thread's current stream of the device, as
 * this library knows it, which CuPy's own current stream does not change.
 *
 * # Parameters
 * `param`: ignored. `bytes`: how many; 0 gives NULL. `device`: index.
 * # Errors
 * NULL, with the reason in `sconce_last_error_message` and in the log. CuPy itself does not look
 * at a NULL: the first use of the array fails.
 * # Ownership
 * CuPy frees it with `sconce_cupy_free`.
 * # Ordering
 * As `sconce_memory_alloc`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The `malloc_func` of `cupy.cuda.memory.CFunctionAllocator`.
 */
void *sconce_cupy_malloc(void *param, size_t bytes, int32_t device);

/**
 * Frees as CuPy's `CFunctionAllocator` asks.
 *
 * # Parameters
 * `param`: ignored. `ptr`: from `sconce_cupy_malloc`; NULL is a no-op. `device`: ignored.
 * # Errors
 * To the log: `ptr` is not memory of this library, or was freed already.
 * # Ownership
 * Takes the memory back.
 * # Ordering
 * As `sconce_memory_free`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The `free_func` of `cupy.cuda.memory.CFunctionAllocator`.
 */
void sconce_cupy_free(void *param, void *ptr, int32_t device);

/**
 * Allocates as ONNX Runtime's CUDA provider asks: as `sconce_memory_alloc`.
 *
 * # Parameters
 * `bytes`: how many; 0 gives NULL.
 * # Errors
 * NULL, with the reason in `sconce_last_error_message` and in the log.
 * # Ownership
 * ONNX Runtime frees it with `sconce_ort_free`.
 * # Ordering
 * As `sconce_memory_alloc`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The provider's option `gpu_external_alloc`.
 */
void *sconce_ort_alloc(size_t bytes);

/**
 * Frees as ONNX Runtime's CUDA provider asks.
 *
 * # Parameters
 * `ptr`: from `sconce_ort_alloc`; NULL is a no-op.
 * # Errors
 * To the log: `ptr` is not memory of this library, or was freed already.
 * # Ownership
 * Takes the memory back.
 * # Ordering
 * As `sconce_memory_free`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The provider's option `gpu_external_free`.
 */
void sconce_ort_free(void *ptr);

/**
 * Empties the cache as ONNX Runtime's CUDA provider asks.
 *
 * # Parameters
 * None.
 * # Errors
 * To the log.
 * # Ownership
 * None.
 * # Ordering
 * As `sconce_memory_empty_cache`.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The provider's option `gpu_external_empty_cache`.
 */
void sconce_ort_empty_cache(void);

/**
 * Allocates page-locked host memory, which every device can copy from and to at full speed and
 * without blocking: from what was freed before, else from the driver. Contents are undefined.
 *
 * # Parameters
 * `bytes`: how many; 0 gives NULL. `out_ptr` [out]: host address, a multiple of 64.
 * # Errors
 * OUT_OF_MEMORY: the system has no such memory left to pin. INVALID_ARGUMENT: `out_ptr` is NULL.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller frees it with `sconce_host_memory_free`.
 * # Ordering
 * Nothing uses the memory any more: neither the host nor a copy that was queued with it. Blocks
 * only when the driver is asked for memory. Before that, cached memory that does not fit may be
 * given back, which waits for the devices in use.
 * # Threads
 * Any.
 * # Safety
 * `out_ptr` is NULL or valid for writing one value.
 * # Upstream
 * `torch.empty(n, pin_memory=True)`, `at::cuda::getCachingHostAllocator()->allocate`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_alloc(size_t bytes, void **out_ptr);

/**
 * Frees pinned memory: it is kept for later allocations.
 *
 * # Parameters
 * `ptr`: what `sconce_host_memory_alloc` gave; NULL is a no-op.
 * # Errors
 * INVALID_ARGUMENT: `ptr` is not pinned memory of this library, points into it, or was freed
 * already; the message says which. INVALID_STATE and DRIVER: only for memory of others with
 * `pinned_free_catch_all`, while a stream is being captured, or when the driver refuses.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * Takes the memory back.
 * # Ordering
 * Does not block (but where `pinned_max_cached_size_mb` or `pinned_free_catch_all` has memory given
 * back at once, waits for the devices in use), and needs no waiting before it: the memory is not handed out again before the
 * copies of this library that use it, and the work of streams noted with
 * `sconce_host_memory_record_stream`, have finished.
 * # Threads
 * Any, not only the one that allocated.
 * # Safety
 * No requirements.
 * # Upstream
 * The deleter of a pinned tensor's `DataPtr`.
 */
SCONCE_NODISCARD
sconce_status sconce_host_memory_free(void *ptr);

/**
 * Notes that work of a stream uses pinned memory: once freed, it is not used again before the work
 * that is queued there by then has finished. The copies of this library note themselves.
 *
 * # Parameters
 * `ptr`: any address in memory that `sconce_host_memory_alloc` gave, also inside. NULL, and memory
 * that is not of this library, are ignored. `stream`: any stream the library gave out.
 * # Errors
 * INVALID_ARGUMENT: the memory was freed already. INVALID_HANDLE or INVALID_DEVICE: `stream` was
 * not given out by the library. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None. An external stream may be destroyed before the memory is freed, as with
 * `sconce_memory_record_stream`.
 * # Ordering
 * Does not block. If `stream` is external and not current at the free, the memory comes back as that
 * of `sconce_memory_record_stream` does.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `at::cuda::CachingHostAllocator_recordEvent`; there a slice needs the context of its tensor.
 */
SCONCE_NODISCARD
sconce_status sconce_host_memory_record_stream(void *ptr,
                                               struct sconce_stream stream);

/**
 * Gives all pinned memory that nothing uses back to the system.
 *
 * # Parameters
 * None.
 * # Errors
 * INVALID_STATE: a stream is being captured; nothing is given back. DRIVER: also for a failure of
 * earlier work on a device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Waits for no copy: memory that waits for one stays, unless its stream is gone. Giving back waits
 * for the devices in use.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch._C._host_emptyCache()`, `at::cuda::CachingHostAllocator_emptyCache`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_empty_cache(void);

/**
 * Tells whether an address is page-locked host memory that the driver knows, whoever locked it.
 *
 * The question opens no backend, so that a program may ask and then fork. Before the first call that
 * opens one, without a device, and in a forked child that cannot use devices, the answer is false.
 *
 * # Parameters
 * `ptr`: any address; NULL is not pinned. `out_pinned` [out].
 * # Errors
 * INVALID_ARGUMENT: `out_pinned` is NULL. DRIVER: the driver refuses the question.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_pinned` is NULL or valid for writing one value; `ptr` is not followed.
 * # Upstream
 * `torch.Tensor.is_pinned()`.
 */
SCONCE_NODISCARD
sconce_status sconce_host_memory_is_pinned(const void *ptr,
                                           bool *out_pinned);

/**
 * Gives all figures of pinned host memory.
 *
 * # Parameters
 * `out_stats` [out]: its `struct_size` is set by the caller (`SCONCE_HOST_MEMORY_STATS_INIT`); as much as
 * fits is written.
 * # Errors
 * INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no version's. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block. Zeros where nothing has been allocated yet.
 * # Threads
 * Any.
 * # Safety
 * `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
 * # Upstream
 * `torch.cuda.host_memory_stats()`.
 */
SCONCE_NODISCARD
sconce_status sconce_host_memory_get_stats(struct sconce_host_memory_stats *out_stats);

/**
 * Gives all figures of pinned host memory as one flat JSON object with torch's keys, e.g.
 * `"active_bytes.peak"`.
 *
 * # Parameters
 * `out_json` [out].
 * # Errors
 * INVALID_ARGUMENT: `out_json` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller frees the text with `sconce_string_free`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_json` is NULL or valid for writing one value.
 * # Upstream
 * `json.dumps(torch.cuda.host_memory_stats())`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_get_stats_json(char **out_json);

/**
 * Makes the peaks of pinned host memory the values of now, and forgets the longest and shortest
 * times.
 *
 * # Parameters
 * None.
 * # Errors
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.reset_peak_host_memory_stats()`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_reset_peak_stats(void);

/**
 * Makes the sums and counts of pinned host memory 0.
 *
 * # Parameters
 * None.
 * # Errors
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.reset_accumulated_host_memory_stats()`.
 */
SCONCE_NODISCARD sconce_status sconce_host_memory_reset_accumulated_stats(void);

/**
 * Copies bytes between any two places: ordinary, pinned or managed host memory and the memory of
 * any device, found from the addresses; any two devices will do, peers or not.
 *
 * # Parameters
 * `dst`, `src`: addresses, also inside allocations; they may be NULL for 0 bytes. `bytes`: how
 * many. `non_blocking`: return before the copy is done where that is safe.
 * # Errors
 * INVALID_ARGUMENT: an address is NULL, pinned memory was freed, or a range leaves its allocation: the
 * block of this library that its first byte lies in, or for memory of others the driver's allocation.
 * INVALID_STATE: a stream concerned is being captured, and the copy needs ordinary memory or has to
 * wait; copy pinned memory with `non_blocking`. Also when a copy between devices concerns a
 * captured stream and one that is not. DRIVER: also for a failure of earlier work on a device.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Host memory to host memory: done when the call returns. Between the host and a device: on the
 * device's current stream; the call returns when the copy is done, or with `non_blocking` once it
 * is queued if the host's side is pinned, once the source may be changed if it is ordinary memory;
 * into ordinary memory it is always done. Within a device: queued on its current stream. Between
 * devices: queued on the source device's current stream, after the work that the destination
 * device's current stream has, whose later work waits for it; where the hardware can, this enables
 * peer access from the source device to the destination's memory. Pinned memory of this library may
 * be freed while copies use it. `CUDA_LAUNCH_BLOCKING` makes each call wait.
 * # Threads
 * Any.
 * # Safety
 * Host ranges are valid for the access, do not overlap, and stay as they are until the copy is
 * done; ranges of devices are checked.
 * # Upstream
 * `torch.Tensor.copy_(src, non_blocking)`.
 */
SCONCE_NODISCARD
sconce_status sconce_copy(void *dst,
                          const void *src,
                          size_t bytes,
                          bool non_blocking);

/**
 * Sets bytes of a device, or of host memory.
 *
 * # Parameters
 * `ptr`: address, also inside an allocation; it may be NULL for 0 bytes. `value`: what each byte
 * becomes. `bytes`: how many.
 * # Errors
 * INVALID_ARGUMENT: `ptr` is NULL, or the range leaves its allocation. CROSS_DEVICE: it is
 * memory of another device than the current one, which has no peer access to it (a copy from the
 * current device to the other enables it, or `sconce_device_enable_peer_access`); the message names
 * both.
 * DRIVER: also for a failure of earlier work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
 * as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Device memory: queued on the current device's current stream. Host memory: done when the call
 * returns. `CUDA_LAUNCH_BLOCKING` makes the call wait.
 * # Threads
 * Any.
 * # Safety
 * A host range is valid for writing; ranges of devices are checked.
 * # Upstream
 * `torch.Tensor.fill_` of bytes, `cudaMemsetAsync`.
 */
SCONCE_NODISCARD sconce_status sconce_memory_set(void *ptr, uint8_t value, size_t bytes);

/**
 * Copies rows of bytes between any two places, of any two devices, too.
 *
 * # Parameters
 * `dst`, `src`: where the first rows begin; they may be NULL if there is nothing to copy.
 * `dst_pitch_bytes`, `src_pitch_bytes`: from the beginning of a row to that of the next, at least
 * `width_bytes`. `width_bytes`: bytes of a row. `height`: rows. `non_blocking`: return before the
 * copy is done where that is safe.
 * # Errors
 * INVALID_ARGUMENT: an address is NULL, a pitch is less than a row, or a range leaves its
 * allocation (`sconce_copy`). OUT_OF_MEMORY: for temporaries, between devices without peer
 * access. INVALID_STATE: a stream concerned is
 * being captured, and the copy needs ordinary memory or has to wait; copy pinned memory with
 * `non_blocking`. Also when a copy between devices concerns a captured stream and one that is not.
 * DRIVER: also for a failure of earlier work on a device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * As `sconce_copy`.
 * # Threads
 * Any.
 * # Safety
 * Host ranges are valid for the access, do not overlap, and stay as they are until the copy is
 * done; ranges of devices are checked.
 * # Upstream
 * `torch.Tensor.copy_` of a slice of columns, `cudaMemcpy2DAsync`.
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
 * Copies elements with strides between any two places, of any two devices, too.
 *
 * # Parameters
 * `shape`: sizes and strides. `dst`, `src`: the element whose indices are all 0. `non_blocking`:
 * return before the copy is done where that is safe.
 * # Errors
 * INVALID_ARGUMENT: `shape` or an address is NULL, `shape` is out of its bounds, axes of the
 * destination overlap or interleave (sorted by stride, each stride must be at least what the axes
 * before it span), or a range leaves its allocation (`sconce_copy`). OUT_OF_MEMORY: for a
 * temporary. INVALID_STATE: a stream concerned
 * is being captured, and the copy needs ordinary memory or has to wait; copy packed pinned memory
 * with `non_blocking`. Also when a copy between devices concerns a captured stream and one that is
 * not. DRIVER: also for a failure of earlier work on a device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
 * as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * As `sconce_copy`; but when the host's side is not packed, the call returns when the copy is
 * done.
 * # Threads
 * Any.
 * # Safety
 * `shape` is NULL or points to as many readable bytes as its `struct_size` says. Host ranges are
 * valid for the access, do not overlap, and stay as they are until the copy is done; ranges of
 * devices are checked.
 * # Upstream
 * `torch.Tensor.copy_` of strided tensors; strides in elements.
 */
SCONCE_NODISCARD
sconce_status sconce_copy_strided(const struct sconce_strided_copy *shape,
                                  void *dst,
                                  const void *src,
                                  bool non_blocking);

/**
 * Sets rows of bytes of a device, or of host memory.
 *
 * # Parameters
 * `ptr`: where the first row begins; it may be NULL if there is nothing to set. `pitch_bytes`:
 * from the beginning of a row to that of the next, at least `width_bytes`. `value`: what each byte
 * becomes. `width_bytes`: bytes of a row. `height`: rows.
 * # Errors
 * As `sconce_memory_set`; INVALID_ARGUMENT also for a pitch that is less than a row.
 * # Ownership
 * None.
 * # Ordering
 * As `sconce_memory_set`.
 * # Threads
 * Any.
 * # Safety
 * A host range is valid for writing; ranges of devices are checked.
 * # Upstream
 * `torch.Tensor.fill_` of a slice of columns, `cudaMemset2DAsync`.
 */
SCONCE_NODISCARD
sconce_status sconce_memory_set_2d(void *ptr,
                                   size_t pitch_bytes,
                                   uint8_t value,
                                   size_t width_bytes,
                                   size_t height);

/**
 * Gives a handle by which another process can open the driver's allocation that holds device
 * memory, and where in it the memory is.
 *
 * # Parameters
 * `ptr`: device memory: of this library, or of anyone who got it from the driver. Virtual memory
 * must have been made shareable by file descriptor. `out_handle` [out]: 64 bytes, the same for
 * everything in one allocation. `out_offset_bytes` [out]: how far `ptr` is from the beginning of
 * the allocation.
 * # Errors
 * INVALID_ARGUMENT: `ptr` is not memory of a device, was freed, is another process's or cannot be
 * shared; or a place is NULL. IO: there is no socket to be had at which the other process could ask.
 * DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The memory stays the caller's. If it is freed while another process has it open, it is not used
 * again before that process has closed it or ended; what the caller got from the driver itself is
 * the caller's business. Once it is freed it cannot be opened any more.
 * # Ordering
 * Does not block. The other process must not use the memory before work that is queued here has
 * finished: share an event, too.
 * # Threads
 * Any.
 * # Safety
 * `out_handle` is NULL or valid for writing 64 bytes, `out_offset_bytes` NULL or valid for writing
 * one value.
 * # Upstream
 * `torch.UntypedStorage._share_cuda_()`, `cudaIpcGetMemHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_get_memory_handle(void *ptr,
                                           uint8_t *out_handle,
                                           size_t *out_offset_bytes);

/**
 * Opens device memory of another process.
 *
 * # Parameters
 * `device`: where it is to be used, index, -1 for the current device; it must be the device whose
 * memory it is. `handle`: the 64 bytes. `offset_bytes`: the offset that came with them. `out_ptr`
 * [out]: the memory's address in this process.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `handle` is no such handle or one of this process, or it is of
 * another device, `offset_bytes` is not below the allocation's size, or a pointer is NULL.
 * INVALID_HANDLE: the process that made it has ended, has freed the memory, or is another user's.
 * INVALID_STATE: that process has not answered for 10 seconds. IO. DRIVER: also of that process. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller closes it with `sconce_ipc_close_memory`, once for each opening.
 * # Ordering
 * Asks the other process, and waits for its answer, but not for its work.
 * # Threads
 * Any.
 * # Safety
 * `handle` is NULL or valid for reading 64 bytes, `out_ptr` NULL or valid for writing one value.
 * # Upstream
 * `torch.UntypedStorage._new_shared_cuda`, `cudaIpcOpenMemHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_open_memory(int32_t device,
                                     const uint8_t *handle,
                                     size_t offset_bytes,
                                     void **out_ptr);

/**
 * Closes memory of another process.
 *
 * # Parameters
 * `ptr`: what `sconce_ipc_open_memory` gave; NULL is a no-op.
 * # Errors
 * INVALID_ARGUMENT: `ptr` was not opened, or was closed as often as opened. INVALID_STATE: a stream
 * of the device is being captured, which does not survive the waiting. DRIVER: also for a failure of
 * earlier work on the device. After both the memory is open still. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * Takes the opening back; after the last one of an allocation its addresses are invalid.
 * # Ordering
 * The last closing of an address waits for the device: then the other process may use the memory.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The end of a shared storage, `cudaIpcCloseMemHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_close_memory(void *ptr);

/**
 * Makes freed memory usable again whose last consumer in another process has closed it or ended.
 * This happens by itself as well, soon after; the call makes it certain.
 *
 * # Parameters
 * None.
 * # Errors
 * DRIVER, and INVALID_STATE while a stream of the device is being captured: without caching, for
 * memory that cannot be given back to the driver now; the next call tries again. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; without caching, giving memory back waits for its device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.ipc_collect()`.
 */
SCONCE_NODISCARD
sconce_status sconce_ipc_collect(void);

/**
 * Sets how long `sconce_ipc_open_memory` waits for the process that made a handle to answer. After
 * that it fails with INVALID_STATE. 10,000 ms at first.
 *
 * # Parameters
 * `milliseconds`: more than 0.
 * # Errors
 * INVALID_ARGUMENT: `milliseconds` is 0. Works without a device.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; holds for openings that begin later.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch does not ask the other process.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_set_timeout_ms(uint32_t milliseconds);

/**
 * Tells how long `sconce_ipc_open_memory` waits for the process that made a handle to answer.
 *
 * # Parameters
 * `out_milliseconds` [out].
 * # Errors
 * INVALID_ARGUMENT: `out_milliseconds` is NULL. Works without a device.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_milliseconds` is NULL or valid for writing one value.
 * # Upstream
 * None: torch does not ask the other process.
 */
SCONCE_NODISCARD sconce_status sconce_ipc_get_timeout_ms(uint32_t *out_milliseconds);

/**
 * Gives the default generator of a device. It is made when it is first asked for, with a seed from
 * the operating system unless one was set before.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_generator` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_generator` is NULL. IO: the operating system gives no
 * seed. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * Borrowed: the library owns it, and it lives as long as the process.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `out_generator` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.default_generators[device]`, `at::cuda::detail::getDefaultCUDAGenerator`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_default(int32_t device,
                                           struct sconce_generator **out_generator);

/**
 * Makes a generator with seed 67280421310721 and offset 0.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_generator` [out].
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_generator` is NULL. OUT_OF_MEMORY: too many generators.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller destroys it with `sconce_generator_destroy`.
 * # Ordering
 * Does not block; makes no context.
 * # Threads
 * Any.
 * # Safety
 * `out_generator` is NULL or valid for writing one value.
 * # Upstream
 * `torch.Generator(device)`, `at::cuda::detail::createCUDAGenerator`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_create(int32_t device,
                                      struct sconce_generator **out_generator);

/**
 * Makes a generator with the device, seed and offset of another; from then on the two go their own
 * ways.
 *
 * # Parameters
 * `generator`: a live generator. `out_generator` [out].
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
 * generator and the current stream is being captured. INVALID_ARGUMENT: `out_generator` is NULL.
 * OUT_OF_MEMORY: too many generators.
 * FORKED as `sconce_init`.
 * # Ownership
 * The caller destroys it with `sconce_generator_destroy`, also the clone of a default one.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_generator` is NULL or valid for writing one value.
 * # Upstream
 * `torch.Generator.clone_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_clone(struct sconce_generator *generator,
                                     struct sconce_generator **out_generator);

/**
 * Destroys a generator. Graphs that use it may still be replayed.
 *
 * # Parameters
 * `generator`: from `sconce_generator_create` or `_clone`; NULL is a no-op.
 * # Errors
 * INVALID_HANDLE: `generator` is destroyed or foreign. INVALID_ARGUMENT: it is a default
 * generator.
 * FORKED as `sconce_init`.
 * # Ownership
 * Takes the generator back; the handle is dead afterwards and is recognised as such.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * The destructor of `at::Generator`.
 */
SCONCE_NODISCARD sconce_status sconce_generator_destroy(struct sconce_generator *generator);

/**
 * Gives the device of a generator.
 *
 * # Parameters
 * `generator`: a live generator. `out_device` [out]: index.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_device` is
 * NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; calls no driver.
 * # Threads
 * Any.
 * # Safety
 * `out_device` is NULL or valid for writing one value.
 * # Upstream
 * `torch.Generator.device`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_device(struct sconce_generator *generator,
                                          int32_t *out_device);

/**
 * Sets a generator's seed and goes back to offset 0.
 *
 * # Parameters
 * `generator`: a live generator. `seed`: any number.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
 * generator and the current stream is being captured.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Generator.manual_seed()`; negative seeds there are 2^64 more here.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_seed(struct sconce_generator *generator,
                                        uint64_t seed);

/**
 * Gives a generator a seed from the operating system, of 53 bits, and goes back to offset 0.
 *
 * # Parameters
 * `generator`: a live generator. `out_seed` [out]: the seed.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
 * generator and the current stream is being captured. IO: the operating system gives no seed.
 * INVALID_ARGUMENT: `out_seed` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_seed` is NULL or valid for writing one value.
 * # Upstream
 * `torch.Generator.seed()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_seed(struct sconce_generator *generator,
                                    uint64_t *out_seed);

/**
 * Gives the seed that a generator was last given.
 *
 * # Parameters
 * `generator`: a live generator. `out_seed` [out].
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
 * generator and the current stream is being captured. INVALID_ARGUMENT: `out_seed` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_seed` is NULL or valid for writing one value.
 * # Upstream
 * `torch.Generator.initial_seed()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_initial_seed(struct sconce_generator *generator,
                                                uint64_t *out_seed);

/**
 * Gives how far a generator has come in its sequence, in 32-bit words of each thread.
 *
 * # Parameters
 * `generator`: a live generator. `out_offset` [out]: a multiple of 4.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
 * generator and the current stream is being captured. INVALID_ARGUMENT: `out_offset` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_offset` is NULL or valid for writing one value.
 * # Upstream
 * `torch.Generator.get_offset()`, `CUDAGeneratorImpl::philox_offset_per_thread`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_offset(struct sconce_generator *generator,
                                          uint64_t *out_offset);

/**
 * Moves a generator to a place in its sequence.
 *
 * # Parameters
 * `generator`: a live generator. `offset`: a multiple of 4.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_ARGUMENT: `offset` is not a
 * multiple of 4. INVALID_STATE: graphs use the generator and the current stream is being captured.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Generator.set_offset()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_offset(struct sconce_generator *generator,
                                          uint64_t offset);

/**
 * Gives a generator's state, in the bytes that torch uses.
 *
 * # Parameters
 * `generator`: a live generator. `out_state` [out]: `SCONCE_GENERATOR_STATE_BYTES` bytes.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
 * generator and the current stream is being captured. INVALID_ARGUMENT: `out_state` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_state` is NULL or valid for writing 16 bytes.
 * # Upstream
 * `torch.cuda.get_rng_state()`, `torch.Generator.get_state()`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_get_state(struct sconce_generator *generator,
                                         uint8_t *out_state);

/**
 * Sets a generator's state from the bytes that `sconce_generator_get_state` or torch gave.
 *
 * # Parameters
 * `generator`: a live generator. `state`: the bytes. `length`: how many, 16; or 8, the seed alone,
 * with offset 0.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_ARGUMENT: `state` is NULL,
 * `length` is neither, or the offset is not a multiple of 4. INVALID_STATE: graphs use the
 * generator and the current stream is being captured.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `state` is NULL or valid for reading `length` bytes.
 * # Upstream
 * `torch.cuda.set_rng_state()`; the 816 bytes of releases before 2.0 are refused.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_set_state(struct sconce_generator *generator,
                                         const uint8_t *state,
                                         size_t length);

/**
 * Reserves a piece of a generator's sequence for a kernel of the caller: no other reservation gets
 * it.
 *
 * # Parameters
 * `generator`: a live generator. `increment`: 32-bit words that each thread of the kernel draws at
 * most, rounded up to a multiple of 4. `out_seed` [out]. `out_offset` [out]: where the piece
 * begins.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
 * generator and the current stream is being captured; a captured kernel needs
 * `sconce_generator_reserve_philox_state`. INVALID_ARGUMENT: `out_seed` or `out_offset` is NULL.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any; callers at once get pieces that do not overlap.
 * # Safety
 * `out_seed` is NULL or valid for writing one value. `out_offset` is NULL or valid for writing one
 * value.
 * # Upstream
 * `CUDAGeneratorImpl::philox_engine_inputs`; no lock is left to the caller.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox(struct sconce_generator *generator,
                                              uint64_t increment,
                                              uint64_t *out_seed,
                                              uint64_t *out_offset);

/**
 * Reserves a piece of a generator's sequence for one kernel that the caller is about to launch on
 * its current stream of the generator's device, also while that stream is being captured into a
 * graph: then every replay gets a piece of its own, which the kernel finds in device memory.
 *
 * # Parameters
 * `generator`: a live generator. `increment`: 32-bit words that each thread of the kernel draws at
 * most, rounded up to a multiple of 4. `out_state` [out].
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. OUT_OF_MEMORY: the stream is being
 * captured and the device has no room for what a graph needs (`sconce_generator_prepare_capture`).
 * INVALID_ARGUMENT: `out_state` is NULL. DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * `device_state` stays valid as long as the process.
 * # Ordering
 * While capturing, queues a tiny kernel on the current stream. Else as
 * `sconce_generator_reserve_philox`.
 * # Threads
 * Any.
 * # Safety
 * `out_state` is NULL or valid for writing one value.
 * # Upstream
 * `CUDAGeneratorImpl::philox_cuda_state`, `at::cuda::philox::unpack`.
 */
SCONCE_NODISCARD
sconce_status sconce_generator_reserve_philox_state(struct sconce_generator *generator,
                                                    uint64_t increment,
                                                    struct sconce_philox_state *out_state);

/**
 * Makes a generator's device ready for capturing random fills into CUDA graphs: allocates a little
 * memory. The first fill does it too, captured or not; call this where memory may be gone by then.
 *
 * # Parameters
 * `generator`: a live generator.
 * # Errors
 * INVALID_HANDLE: `generator` is NULL, destroyed or foreign. OUT_OF_MEMORY. DRIVER. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The memory (256 KiB) stays as long as the process.
 * # Ordering
 * Blocks for a moment at the first call; makes the device's context.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.CUDAGraph.register_generator_state()`, which is needed for each graph there.
 */
SCONCE_NODISCARD sconce_status sconce_generator_prepare_capture(struct sconce_generator *generator);

/**
 * Seeds the default generator of the current device. Needs no device and initialises nothing: the
 * seed is kept for when the generator is first used.
 *
 * # Parameters
 * `seed`: any number.
 * # Errors
 * INVALID_STATE: graphs use the generator and the current stream is being captured.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.manual_seed()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_manual_seed(uint64_t seed);

/**
 * Seeds the default generators of all devices. Needs no device and initialises nothing: the seed
 * is kept for when a generator is first used.
 *
 * # Parameters
 * `seed`: any number.
 * # Errors
 * INVALID_STATE: graphs use one of the generators and the current stream is being captured.
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.manual_seed_all()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_manual_seed_all(uint64_t seed);

/**
 * Gives the default generator of the current device a seed from the operating system.
 *
 * # Parameters
 * `out_seed` [out]: the seed, of 53 bits.
 * # Errors
 * IO: the operating system gives no seed. INVALID_ARGUMENT: `out_seed` is NULL. INVALID_STATE:
 * graphs use the generator and the current stream is being captured. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_seed` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.seed()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_seed(uint64_t *out_seed);

/**
 * Gives the default generators of all devices one seed from the operating system.
 *
 * # Parameters
 * `out_seed` [out]: the seed, of 53 bits.
 * # Errors
 * IO: the operating system gives no seed. INVALID_ARGUMENT: `out_seed` is NULL. INVALID_STATE:
 * graphs use the generator and the current stream is being captured. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_seed` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.seed_all()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_seed_all(uint64_t *out_seed);

/**
 * Gives the seed of the current device's default generator.
 *
 * # Parameters
 * `out_seed` [out].
 * # Errors
 * INVALID_ARGUMENT: `out_seed` is NULL. INVALID_STATE: graphs use the generator and the current
 * stream is being captured. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, unless a graph has been captured that uses the generator: then it waits for the
 * device.
 * # Threads
 * Any.
 * # Safety
 * `out_seed` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.initial_seed()`.
 */
SCONCE_NODISCARD sconce_status sconce_random_get_initial_seed(uint64_t *out_seed);

/**
 * Fills memory with numbers from `low` to `high`, the latter excluded.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
 * `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16, C64 or C128 (both parts). `low`,
 * `high`: bounds. `generator`: of the current device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `low > high`, a bound or their difference beyond the type, `dtype` is
 * unknown, or `ptr` is NULL, misaligned, no memory of a device, or `n` elements run beyond its
 * block. NOT_SUPPORTED: this is not drawn for `dtype`. CROSS_DEVICE: `generator` belongs to
 * another device, or `ptr` to one that the current device has no peer access to. INVALID_HANDLE:
 * `generator` is destroyed or foreign. OUT_OF_MEMORY: the stream is being captured and the
 * device has no room for what a graph needs (`sconce_generator_prepare_capture`). DRIVER.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.uniform_()`, in its bits.
 */
SCONCE_NODISCARD
sconce_status sconce_random_uniform(void *ptr,
                                    size_t n,
                                    int32_t dtype,
                                    double low,
                                    double high,
                                    struct sconce_generator *generator);

/**
 * Fills memory with normally distributed numbers.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is
 * 0. `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16, C64 or C128. `mean`;
 * `stddev`: standard deviation, of a complex number as a whole; torch and the messages call it
 * `std`. `generator`: of the current device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `stddev < 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of
 * a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`.
 * CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current device
 * has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the
 * stream is being captured and the device has no room for what a graph needs
 * (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.normal_()`, in its bits on a GPU.
 */
SCONCE_NODISCARD
sconce_status sconce_random_normal(void *ptr,
                                   size_t n,
                                   int32_t dtype,
                                   double mean,
                                   double stddev,
                                   struct sconce_generator *generator);

/**
 * Fills memory with numbers whose logarithms are normally distributed.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is
 * 0. `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16. `mean`, `stddev`: mean and
 * standard deviation of the logarithm, the latter called `std` in messages. `generator`: of the current device; NULL for its default
 * one.
 * # Errors
 * INVALID_ARGUMENT: `stddev <= 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory
 * of a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for
 * `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current
 * device has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign.
 * OUT_OF_MEMORY: the stream is being captured and the device has no room for what a graph needs
 * (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.log_normal_()`, in its bits on a GPU.
 */
SCONCE_NODISCARD
sconce_status sconce_random_log_normal(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       double mean,
                                       double stddev,
                                       struct sconce_generator *generator);

/**
 * Fills memory with exponentially distributed numbers.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is
 * 0. `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16. `rate`: what torch
 * and the messages call `lambda`. `generator`: of the current device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `rate <= 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of
 * a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`.
 * CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current device
 * has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the
 * stream is being captured and the device has no room for what a graph needs
 * (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.exponential_()`, in its bits on a GPU.
 */
SCONCE_NODISCARD
sconce_status sconce_random_exponential(void *ptr,
                                        size_t n,
                                        int32_t dtype,
                                        double rate,
                                        struct sconce_generator *generator);

/**
 * Fills memory with Cauchy distributed numbers.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
 * `n`: elements. `dtype`: `SCONCE_DTYPE_` F32, F64, F16 or BF16. `median`; `sigma`: half the width
 * at half the height. `generator`: of the current device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `sigma <= 0`, `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of
 * a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`.
 * CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current device
 * has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the
 * stream is being captured and the device has no room for what a graph needs
 * (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.cauchy_()`, in its bits on a GPU.
 */
SCONCE_NODISCARD
sconce_status sconce_random_cauchy(void *ptr,
                                   size_t n,
                                   int32_t dtype,
                                   double median,
                                   double sigma,
                                   struct sconce_generator *generator);

/**
 * Fills memory with the numbers of trials up to the first success.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
 * `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number. `p`: probability of success.
 * `generator`: of the current device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `p` is not between 0 and 1, `dtype` is unknown, or `ptr` is NULL,
 * misaligned, no memory of a device, or `n` elements run beyond its block. NOT_SUPPORTED: this
 * is not drawn for `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one
 * that the current device has no peer access to. INVALID_HANDLE: `generator` is destroyed or
 * foreign. OUT_OF_MEMORY: the stream is being captured and the device has no room for what a
 * graph needs (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
 * as `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.geometric_()`, in its bits on a GPU.
 */
SCONCE_NODISCARD
sconce_status sconce_random_geometric(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills memory with ones and zeros.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
 * `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL. `p`: probability of a one.
 * `generator`: of the current device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `p` is not from 0 to 1, `dtype` is unknown, or `ptr` is NULL, misaligned, no
 * memory of a device, or `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for
 * `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr` to one that the current
 * device has no peer access to. INVALID_HANDLE: `generator` is destroyed or foreign.
 * OUT_OF_MEMORY: the stream is being captured and the device has no room for what a graph needs
 * (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.bernoulli_()` with a number, in its bits.
 */
SCONCE_NODISCARD
sconce_status sconce_random_bernoulli(void *ptr,
                                      size_t n,
                                      int32_t dtype,
                                      double p,
                                      struct sconce_generator *generator);

/**
 * Fills memory with whole numbers from `low` to `high`, the latter excluded.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
 * `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL. `low`, `high`: bounds.
 * `generator`: of the current device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `low >= high`, a bound beyond the type, `dtype` is unknown, or `ptr` is
 * NULL, misaligned, no memory of a device, or `n` elements run beyond its block. NOT_SUPPORTED:
 * this is not drawn for `dtype`. CROSS_DEVICE: `generator` belongs to another device, or `ptr`
 * to one that the current device has no peer access to. INVALID_HANDLE: `generator` is destroyed
 * or foreign. OUT_OF_MEMORY: the stream is being captured and the device has no room for what a
 * graph needs (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
 * as `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.random_(from, to)`, `torch.randint()`, in its bits.
 */
SCONCE_NODISCARD
sconce_status sconce_random_integers(void *ptr,
                                     size_t n,
                                     int32_t dtype,
                                     int64_t low,
                                     int64_t high,
                                     struct sconce_generator *generator);

/**
 * Fills memory with whole numbers from 0 to the largest of an integer type, or up to the last that
 * a floating-point type tells apart from its neighbours.
 *
 * # Parameters
 * `ptr`: memory of the current device for `n` elements, aligned to one; may be NULL when `n` is 0.
 * `n`: elements. `dtype`: `SCONCE_DTYPE_` of any real number, or BOOL. `generator`: of the current
 * device; NULL for its default one.
 * # Errors
 * INVALID_ARGUMENT: `dtype` is unknown, or `ptr` is NULL, misaligned, no memory of a device, or
 * `n` elements run beyond its block. NOT_SUPPORTED: this is not drawn for `dtype`. CROSS_DEVICE:
 * `generator` belongs to another device, or `ptr` to one that the current device has no peer
 * access to. INVALID_HANDLE: `generator` is destroyed or foreign. OUT_OF_MEMORY: the stream is
 * being captured and the device has no room for what a graph needs
 * (`sconce_generator_prepare_capture`). DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * `ptr` must stay until the fill is done.
 * # Ordering
 * On the current stream; does not block, unless `CUDA_LAUNCH_BLOCKING=1`. The first fill with a
 * distribution on a device takes longer: its kernels are compiled. In a graph every replay draws
 * anew.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.Tensor.random_()`, in its bits.
 */
SCONCE_NODISCARD
sconce_status sconce_random_full_range(void *ptr,
                                       size_t n,
                                       int32_t dtype,
                                       struct sconce_generator *generator);

/**
 * Gives the calling thread's cuBLAS handle for the current device: bound to its current stream, with
 * a workspace, and set to the TF32 switch.
 *
 * # Parameters
 * `out_handle` [out]: a `cublasHandle_t`. On the simulator it names the simulator's own handle, and
 * nothing but this library can use it.
 * # Errors
 * INVALID_ARGUMENT: `out_handle` is NULL. LIBRARY_NOT_FOUND: cuBLAS cannot be opened; the message
 * tells what was searched, and `SCONCE_LIBCUBLAS` names another place. OUT_OF_MEMORY: for the handle
 * or its workspace. INVALID_STATE: the thread is ending and has given its handles back, or this is a
 * callback of a call that is setting the handle. DRIVER. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * The library's. The handle is this thread's until the thread ends; another thread then gets it. Its
 * stream, math mode and workspace may be set otherwise: the next request sets stream and mode again,
 * the next product of this library or change of stream the workspace. What else is set, such as the
 * pointer mode, is to be set back before the library uses it.
 * # Ordering
 * Does not block, but for the first handle of a device. Ask again after the current device, stream
 * or a switch has changed; a handle that was given before is changed with it, being the same one.
 * # Threads
 * Any; each has its own handle.
 * # Safety
 * `out_handle` is NULL or writable.
 * # Upstream
 * `torch.cuda.current_blas_handle`, `at::cuda::getCurrentCUDABlasHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_blas_get_handle(void **out_handle);

/**
 * Frees the workspaces of cuBLAS: their memory goes back to the allocator's cache.
 *
 * There is one workspace for each stream that products run on, and one for each `cublasHandle_t` that
 * was given out. The allocator takes idle ones back by itself before a request fails, and in
 * `sconce_memory_empty_cache`. A handle that was given out has no workspace until it is next asked for.
 *
 * # Parameters
 * None.
 * # Errors
 * DRIVER. FORKED as `sconce_init`. Without a device there is nothing to do.
 * # Ownership
 * Workspaces that graphs use are freed too, if the graphs were captured without a private memory pool:
 * do not launch those graphs afterwards.
 * # Ordering
 * Does not block. Products that are queued keep their memory until they are done. The workspace of a
 * handle that was given to another thread goes when that thread next asks for its handle, or ends.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch._C._cuda_clearCublasWorkspaces`.
 */
SCONCE_NODISCARD
sconce_status sconce_blas_clear_workspaces(void);

/**
 * Multiplies matrices, as `desc` tells.
 *
 * # Parameters
 * `desc`: sizes, strides, factors. `a`, `b`: the factors' first elements. `c`: the result's. All are
 * memory of one device and aligned to their type; NULL is allowed where there is nothing of a matrix.
 * # Errors
 * INVALID_ARGUMENT: `desc` is NULL or out of its bounds, `c` overlaps itself or a factor, an address
 * is NULL, misaligned, no memory of a device, or runs beyond its allocation. CROSS_DEVICE: they lie on
 * several devices. NOT_SUPPORTED: the type, or sizes beyond what the installed cuBLAS takes.
 * INVALID_STATE: deterministic algorithms are demanded, and `CUBLAS_WORKSPACE_CONFIG` is neither
 * `:4096:8` nor `:16:8`; also as `sconce_blas_get_handle`, and so LIBRARY_NOT_FOUND, OUT_OF_MEMORY.
 * DRIVER: also for a failure of earlier work on the device. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None. The memory must stay until the product is done.
 * # Ordering
 * On the current stream of the device that the memory is on; does not block, unless
 * `CUDA_LAUNCH_BLOCKING=1`. Matrices without a stride of 1 in rows or columns go through packed
 * temporaries. Products of F32 obey `sconce_context_set_allow_tf32_cublas` as it is at the call, which
 * allows TF32 at first (unlike torch since 1.12); sums of F16 and BF16 are kept in F32.
 * # Threads
 * Any.
 * # Safety
 * `desc` is NULL or points to as many readable bytes as its `struct_size` says. Memory of devices is
 * checked.
 * # Upstream
 * `torch.matmul`, `torch.baddbmm`, `at::cuda::blas::gemm`, `at::cuda::blas::bgemm`.
 */
SCONCE_NODISCARD
sconce_status sconce_matmul(const struct sconce_matmul_desc *desc,
                            const void *a,
                            const void *b,
                            void *c);

/**
 * Gives the figures of a device's cuBLAS workspaces.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_stats` [out]: its `struct_size` is set by
 * the caller (`SCONCE_BLAS_WORKSPACE_STATS_INIT`); as much as fits is written.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no version's.
 * NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block. All figures are of one moment.
 * # Threads
 * Any.
 * # Safety
 * `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
 * # Upstream
 * None; torch has no such figures.
 */
SCONCE_NODISCARD
sconce_status sconce_blas_get_workspace_stats(int32_t device,
                                              struct sconce_blas_workspace_stats *out_stats);

/**
 * Sets the most bytes that the cuBLAS workspaces of a device may have together. At first that is
 * what the environment variable `SCONCE_BLAS_WORKSPACE_MAX` says (bytes, with an optional K, M or
 * G), or no limit.
 *
 * A new workspace that would exceed the limit replaces idle ones, those unused for longest first. If
 * they do not suffice, the handle is set to no workspace: its products then use only algorithms that
 * need none, which can be slower and round differently.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `max_bytes`: bytes; INT64_MAX is no limit.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `max_bytes` is negative. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block. Idle workspaces beyond the limit go back to the allocator's cache at once; those in
 * use stay.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None; torch has no such limit.
 */
SCONCE_NODISCARD
sconce_status sconce_blas_set_workspace_max_bytes(int32_t device,
                                                  int64_t max_bytes);

/**
 * Gives the calling thread's cuDNN handle for the current device, bound to its current stream.
 *
 * # Parameters
 * `out_handle` [out]: a `cudnnHandle_t`. On the simulator it names the simulator's own handle, and
 * nothing but this library can use it.
 * # Errors
 * INVALID_ARGUMENT: `out_handle` is NULL. LIBRARY_NOT_FOUND: cuDNN cannot be opened; the message
 * tells what was searched, and `SCONCE_LIBCUDNN` names another place. OUT_OF_MEMORY: for the handle.
 * INVALID_STATE: the thread is ending and has given its handles back, or this is a callback of a call
 * that uses the handle. DRIVER. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * The library's. The handle is this thread's until the thread ends; another thread then gets it. Its
 * stream may be set otherwise: the next request or convolution sets it again.
 * # Ordering
 * Does not block, but for the first handle of a device. Ask again after the current device or stream
 * has changed; a handle that was given before is changed with it, being the same one.
 * # Threads
 * Any; each has its own handle.
 * # Safety
 * `out_handle` is NULL or writable.
 * # Upstream
 * `at::native::getCudnnHandle`.
 */
SCONCE_NODISCARD
sconce_status sconce_dnn_get_handle(void **out_handle);

/**
 * Gives cuDNN's version: 10,000 times the first number and 100 times the second and the third, such as
 * 91900.
 *
 * # Parameters
 * `out_version` [out]: the version; on the simulator 90000.
 * # Errors
 * INVALID_ARGUMENT: `out_version` is NULL. LIBRARY_NOT_FOUND: cuDNN cannot be opened. NO_DEVICE,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_version` is NULL or writable.
 * # Upstream
 * `torch.backends.cudnn.version`, which is None where this fails.
 */
SCONCE_NODISCARD
sconce_status sconce_dnn_get_version(int64_t *out_version);

/**
 * Gives the spatial sizes of a convolution's output.
 *
 * # Parameters
 * `desc`: the convolution; strides are not looked at. `out_sizes` [out]: as many as `spatial_rank`
 * says are written.
 * # Errors
 * INVALID_ARGUMENT: `desc` is NULL or out of its bounds, the filter is larger than the padded input,
 * or `out_sizes` is NULL.
 * # Ownership
 * None.
 * # Ordering
 * Does not block, and needs no device.
 * # Threads
 * Any.
 * # Safety
 * `desc` is NULL or points to as many readable bytes as its `struct_size` says. `out_sizes` is NULL or
 * writable for three numbers.
 * # Upstream
 * The shape of what `torch.nn.functional.conv1d`, `conv2d` and `conv3d` return.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution_get_output_sizes(const struct sconce_convolution_desc *desc,
                                                  int64_t *out_sizes);

/**
 * Convolves, or calculates a gradient of a convolution, as `desc` tells.
 *
 * # Parameters
 * `desc`: operation, sizes, strides. `a`, `b`: the first elements of what is read, `result` of what is
 * written: the output from input `a` and filter `b`, the input's gradient from the output's gradient
 * `a` and filter `b`, or the filter's gradient from the output's gradient `a` and input `b`. All are
 * memory of one device and aligned to their type; NULL is allowed where a tensor has no elements. A
 * result whose sums have no terms is set to 0. A filter, or a filter's gradient, with gaps between its
 * elements goes through a packed temporary.
 * # Errors
 * INVALID_ARGUMENT: `desc` is NULL or out of its bounds, the result overlaps itself or what is read,
 * an address is NULL, misaligned, no memory of a device, or runs beyond its allocation. CROSS_DEVICE:
 * they lie on several devices. NOT_SUPPORTED: no engine of cuDNN does this, or none of the
 * deterministic ones. OUT_OF_MEMORY: no engine's workspace fits, or no temporary. LIBRARY_NOT_FOUND,
 * INVALID_STATE as `sconce_dnn_get_handle`. DRIVER: also for a failure of earlier work on the device.
 * NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None. The memory must stay until the convolution is done.
 * # Ordering
 * On the current stream of the device that the memory is on. Does not block, unless
 * `CUDA_LAUNCH_BLOCKING=1`; but the first convolution of a shape takes milliseconds, and under
 * `sconce_context_set_benchmark_cudnn` waits for the engines that it tries. Obeys
 * `sconce_context_set_allow_tf32_cudnn`, `_deterministic_cudnn` and `_deterministic_algorithms` as
 * they are at the call.
 * # Threads
 * Any.
 * # Safety
 * `desc` is NULL or points to as many readable bytes as its `struct_size` says. Addresses are checked.
 * # Upstream
 * `torch.nn.functional.conv1d`, `conv2d`, `conv3d`; `torch.nn.grad.conv2d_input`, `conv2d_weight` and
 * their like.
 */
SCONCE_NODISCARD
sconce_status sconce_convolution(const struct sconce_convolution_desc *desc,
                                 const void *a,
                                 const void *b,
                                 void *result);

/**
 * Forgets the engines that were chosen for convolutions, and what was made ready for them.
 *
 * # Parameters
 * None.
 * # Errors
 * FORKED as `sconce_init`. Without a device there is nothing to do.
 * # Ownership
 * None.
 * # Ordering
 * Does not block. What belongs to other threads' handles goes when they next convolve, or end.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None; torch keeps its choices until the process ends.
 */
SCONCE_NODISCARD sconce_status sconce_convolution_clear_plans(void);

/**
 * Transforms, as `desc` tells, with a plan of the device's cache.
 *
 * # Parameters
 * `desc`: kind, sizes, strides. `input`: the input's first element. `output`: the output's; it
 * may be `input` where every element of the output lies where one of the input of the same transform
 * lies, as cuFFT wants it (for R2C rows of 2 * (n / 2 + 1) reals). Both are memory of one device and
 * aligned to their elements.
 * # Errors
 * INVALID_ARGUMENT: `desc` is NULL or out of its bounds, R2C is not forward or C2R not inverse, the
 * output overlaps itself, or the input other than in place; an address is NULL, misaligned, no memory
 * of a device, or runs beyond its allocation. CROSS_DEVICE: they lie on two devices. NOT_SUPPORTED:
 * cuFFT refuses the sizes; F16 takes powers of two only. LIBRARY_NOT_FOUND: cuFFT cannot be opened;
 * the message tells what was searched, and `SCONCE_LIBCUFFT` names another place. OUT_OF_MEMORY: for
 * the plan, its workspace or a temporary. DRIVER: also for a failure of earlier work on the device.
 * NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None. The memory must stay until the transform is done.
 * # Ordering
 * On the current stream of the device that the memory is on; does not block, unless
 * `CUDA_LAUNCH_BLOCKING=1`. A shape's first transform makes its plan, which takes milliseconds. Input
 * stays as it is, but for C2R with `may_overwrite_input` and in place. Strides that cuFFT cannot take
 * go through packed temporaries.
 * # Threads
 * Any. Transforms of the same shape on the same device take turns while they are queued.
 * # Safety
 * `desc` is NULL or points to as many readable bytes as its `struct_size` says, which nobody changes
 * during the call. Memory of devices is checked.
 * # Upstream
 * `torch.fft.fft`, `ifft`, `rfft`, `irfft` and their n-dimensional forms; `at::_fft_c2c`, `_fft_r2c`,
 * `_fft_c2r`.
 */
SCONCE_NODISCARD
sconce_status sconce_fft(const struct sconce_fft_desc *desc,
                         const void *input,
                         void *output);

/**
 * Gives the number of plans in a device's cache.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_size` [out]: plans.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_size` is NULL. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_size` is NULL or writable.
 * # Upstream
 * `torch.backends.cuda.cufft_plan_cache[device].size`.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_get_size(int32_t device, size_t *out_size);

/**
 * Gives the most plans that a device's cache keeps: 4096 at first, 1023 with a cuFFT before CUDA 10.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_max_size` [out]: plans.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_max_size` is NULL. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_max_size` is NULL or writable.
 * # Upstream
 * `torch.backends.cuda.cufft_plan_cache[device].max_size`.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_get_max_size(int32_t device,
                                            size_t *out_max_size);

/**
 * Sets the most plans that a device's cache keeps. Those beyond it leave at once, the longest unused
 * first.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `max_size`: plans; with 0 none is kept, and each
 * transform makes its own.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `max_size` is negative, or more than a cuFFT before CUDA 10
 * can keep. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Plans that go are waited for where another thread is queuing a transform with them, at the longest
 * until it is queued. Destroying them may wait for the device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.backends.cuda.cufft_plan_cache[device].max_size = n`.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_set_max_size(int32_t device,
                                            int64_t max_size);

/**
 * Gives the most bytes that the plans of a device's cache make the device hold: no limit at first.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_max_bytes` [out]: bytes; INT64_MAX is no limit.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_max_bytes` is NULL. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_max_bytes` is NULL or writable.
 * # Upstream
 * None; torch has no such limit.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_get_max_bytes(int32_t device,
                                             uint64_t *out_max_bytes);

/**
 * Sets the most bytes that the plans of a device's cache make the device hold
 * (`sconce_fft_cache_stats::bytes`). Plans beyond it leave at once, the longest unused first.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `max_bytes`: bytes; INT64_MAX is no limit. A plan
 * that is larger by itself is used once and not kept.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `max_bytes` is negative. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Plans that go are waited for where another thread is queuing a transform with them, at the longest
 * until it is queued. Destroying them may wait for the device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None; torch has no such limit.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_set_max_bytes(int32_t device,
                                             int64_t max_bytes);

/**
 * Empties a device's cache of plans. Limits and counts stay.
 *
 * # Parameters
 * `device`: index, -1 for the current device.
 * # Errors
 * INVALID_DEVICE. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Plans that go are waited for where another thread is queuing a transform with them, at the longest
 * until it is queued. Destroying them may wait for the device.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.backends.cuda.cufft_plan_cache[device].clear()`.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_clear(int32_t device);

/**
 * Gives the figures of a device's cache of plans, all at one moment but for hits of other threads.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `out_stats` [out]: its `struct_size` is set by the
 * caller (`SCONCE_FFT_CACHE_STATS_INIT`); as much as fits is written.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no
 * version's. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block. Looks at each plan, which takes some microseconds where there are thousands.
 * # Threads
 * Any.
 * # Safety
 * `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
 * # Upstream
 * None; torch counts neither hits nor evictions.
 */
SCONCE_NODISCARD
sconce_status sconce_fft_cache_get_stats(int32_t device,
                                         struct sconce_fft_cache_stats *out_stats);

/**
 * Sets the counts of hits, misses and evictions of a device's cache to 0.
 *
 * # Parameters
 * `device`: index, -1 for the current device.
 * # Errors
 * INVALID_DEVICE. NO_DEVICE, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None.
 */
SCONCE_NODISCARD sconce_status sconce_fft_cache_reset_stats(int32_t device);

/**
 * Marks a point in time for a profiling tool.
 *
 * # Parameters
 * `message`: NUL-terminated text.
 * # Errors
 * INVALID_ARGUMENT: `message` is NULL.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; costs next to nothing when no tool listens.
 * # Threads
 * Any.
 * # Safety
 * `message` is NULL or NUL-terminated.
 * # Upstream
 * `torch.cuda.nvtx.mark()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_mark(const char *message);

/**
 * Opens a range nested in the ranges that this thread has open.
 *
 * # Parameters
 * `message`: NUL-terminated text. `out_depth` [out]: depth of the new range, 0 for the outermost;
 * with a tool, what the tool says.
 * # Errors
 * INVALID_ARGUMENT: `message` or `out_depth` is NULL.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; costs next to nothing when no tool listens.
 * # Threads
 * Any; each thread nests its own ranges.
 * # Safety
 * `message` is NULL or NUL-terminated. `out_depth` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.nvtx.range_push()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_push(const char *message, int32_t *out_depth);

/**
 * Closes the innermost range that this thread has open.
 *
 * # Parameters
 * `out_depth` [out]: depth of the closed range, 0 for the outermost; negative when none was open.
 * # Errors
 * INVALID_ARGUMENT: `out_depth` is NULL.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; costs next to nothing when no tool listens.
 * # Threads
 * Any; each thread nests its own ranges.
 * # Safety
 * `out_depth` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.nvtx.range_pop()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_pop(int32_t *out_depth);

/**
 * Opens a range that any thread may end, and that need not nest.
 *
 * # Parameters
 * `message`: NUL-terminated text. `out_id` [out]: what ends it; 0 when no tool listens.
 * # Errors
 * INVALID_ARGUMENT: `message` or `out_id` is NULL.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; costs next to nothing when no tool listens.
 * # Threads
 * Any.
 * # Safety
 * `message` is NULL or NUL-terminated. `out_id` is NULL or valid for writing one value.
 * # Upstream
 * `torch.cuda.nvtx.range_start()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_start(const char *message, uint64_t *out_id);

/**
 * Ends a range that `sconce_nvtx_range_start` opened.
 *
 * # Parameters
 * `id`: what it gave; other numbers are the tool's to ignore.
 * # Errors
 * None but INTERNAL.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; costs next to nothing when no tool listens.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * `torch.cuda.nvtx.range_end()`.
 */
SCONCE_NODISCARD sconce_status sconce_nvtx_range_end(uint64_t id);

/**
 * Turns manual mode on or off. In manual mode nothing queued completes until `sconce_sim_step` or
 * `sconce_sim_run_until_idle` lets it, and time moves only with what completes.
 *
 * # Parameters
 * `manual`: on or off; off lets everything go on by itself.
 * # Errors
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_set_manual(bool manual);

/**
 * Completes the first pending operation of a stream, if what it waits for has happened.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `out_stepped` [out]: whether there was one that
 * could.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `out_stepped` is NULL. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Runs the operation, also a host function, on the calling thread.
 * # Threads
 * Any.
 * # Safety
 * `out_stepped` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_step(struct sconce_stream stream, bool *out_stepped);

/**
 * Lets everything happen that can: in manual mode steps on the calling thread, otherwise waits.
 * What remains waits for a stuck event or another process.
 *
 * # Parameters
 * `out_steps` [out]: how many operations were stepped.
 * # Errors
 * INVALID_ARGUMENT: `out_steps` is NULL. NOT_SUPPORTED: the backend is not the simulator.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Blocks until it is done.
 * # Threads
 * Any.
 * # Safety
 * `out_steps` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_run_until_idle(size_t *out_steps);

/**
 * Tells how many operations of a stream have not completed.
 *
 * # Parameters
 * `stream`: any stream the library gave out. `out_count` [out].
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `out_count` is NULL. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_count` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_get_pending(struct sconce_stream stream,
                                     size_t *out_count);

/**
 * Sets how long kernels, copies, fills and host functions take that are queued from now on.
 *
 * # Parameters
 * `latency_ns`: nanoseconds.
 * # Errors
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_set_latency_ns(uint64_t latency_ns);

/**
 * Tells how often a driver call has been made since the last reset.
 *
 * # Parameters
 * `call`: a driver call, such as `stream_create`, `copy_async`, `fill_async`, `kernel_launch`; the
 * message for any other name lists all.
 * `out_count` [out].
 * # Errors
 * INVALID_ARGUMENT: `call` is no driver call, or a parameter is NULL. NOT_SUPPORTED: the backend
 * is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `call` is NULL or NUL-terminated. `out_count` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_get_call_count(const char *call, uint64_t *out_count);

/**
 * Sets the count of every driver call to 0.
 *
 * # Parameters
 * None.
 * # Errors
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_reset_call_counts(void);

/**
 * Makes the `nth` driver call of a kind from now on fail at once.
 *
 * # Parameters
 * `call`: a driver call, such as `stream_create`, `copy_async`, `fill_async`, `kernel_launch`; the
 * message for any other name lists all.
 * `nth`: 1 is the next call. `code`: a CUDA error number, e.g. 2 for out of memory.
 * # Errors
 * INVALID_ARGUMENT: `call` is no driver call or NULL, `nth` or `code` is 0. NOT_SUPPORTED: the
 * backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `call` is NULL or NUL-terminated.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_inject_fault(const char *call,
                                      uint64_t nth,
                                      int32_t code);

/**
 * Makes the `nth` operation queued by driver calls of a kind fail when it runs, and with it its
 * device: every later call that queues or awaits work there fails with the same code.
 *
 * # Parameters
 * `call`: a driver call, such as `stream_create`, `copy_async`, `fill_async`, `kernel_launch`; the
 * message for any other name lists all.
 * `nth`: 1 is the next. `code`: a CUDA error number, e.g. 700 for an illegal address.
 * # Errors
 * INVALID_ARGUMENT: `call` is no driver call or NULL, `nth` or `code` is 0. NOT_SUPPORTED: the
 * backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `call` is NULL or NUL-terminated.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_inject_async_fault(const char *call,
                                            uint64_t nth,
                                            int32_t code);

/**
 * Makes the `nth` event record from now on never complete, and nothing behind it on its stream.
 *
 * # Parameters
 * `nth`: 1 is the next.
 * # Errors
 * INVALID_ARGUMENT: `nth` is 0. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE,
 * LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_stick_event(uint64_t nth);

/**
 * Forgets all faults that have not struck and lets stuck records complete.
 *
 * # Parameters
 * None.
 * # Errors
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_clear_faults(void);

/**
 * Takes an asynchronous error off a device, which no real driver can do. What was queued when it
 * struck stays undone.
 *
 * # Parameters
 * `device`: index, -1 for the current device.
 * # Errors
 * INVALID_DEVICE. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_clear_device_error(int32_t device);

/**
 * Sets whether the simulated hardware lets kernels of `device` use the memory of `peer`; allowed
 * at first.
 *
 * # Parameters
 * `device`, `peer`: indices, -1 for the current device. `allowed`.
 * # Errors
 * INVALID_DEVICE. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND,
 * FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_set_peer_access(int32_t device,
                                         int32_t peer,
                                         bool allowed);

/**
 * Begins a capture on a simulated stream, as `cuStreamBeginCapture` does on a real one. Until
 * `sconce_sim_end_capture` nothing that is queued there runs; nor does it later, since simulated
 * devices cannot launch graphs.
 *
 * # Parameters
 * `stream`: any stream the library gave out but a default stream. `mode`: one of
 * `SCONCE_SIM_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
 * `mode` is none. INVALID_STATE: `stream` is a default stream or is being captured. NOT_SUPPORTED:
 * the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; work queued before still runs.
 * # Threads
 * Any; unless `mode` is relaxed, the same thread must end the capture.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_begin_capture(struct sconce_stream stream, int32_t mode);

/**
 * Ends the capture that began on a simulated stream. Also a failure that says that it was spoilt
 * or left a stream unjoined ends it.
 *
 * # Parameters
 * `stream`: the stream on which it began.
 * # Errors
 * INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_STATE:
 * no capture began on `stream`, another thread must end it, or the capture failed: backend code 901
 * when something spoilt it, 904 when a stream that took part was not waited for. NOT_SUPPORTED: the
 * backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * The one that began the capture, unless that is relaxed.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_end_capture(struct sconce_stream stream);

/**
 * Makes a stream on a simulated device outside the library, as other code of a process does with
 * `cuStreamCreateWithPriority`. `sconce_stream_get_from_external` takes it.
 *
 * The call is not counted as a driver call of the library.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `flags`: 0 or `SCONCE_SIM_STREAM_NON_BLOCKING`.
 * `priority`: 0 (lowest) to -5, clamped. `out_native` [out]: the handle.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: unknown flags, or `out_native` is NULL. NOT_SUPPORTED: the
 * backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * The caller destroys the stream with `sconce_sim_stream_destroy`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_native` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_stream_create(int32_t device,
                                       uint32_t flags,
                                       int32_t priority,
                                       void **out_native);

/**
 * Destroys a stream that `sconce_sim_stream_create` made. Work already queued still runs.
 *
 * Any later simulated driver call that receives the handle ends the process with a message that names
 * the call and the handle: CUDA reads freed memory there. With address reuse a new stream or event may
 * get the same handle.
 *
 * # Parameters
 * `native`: the handle.
 * # Errors
 * INVALID_HANDLE: `native` was never a handle, or is a default stream. NOT_SUPPORTED: the backend is
 * not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * Takes the stream back.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_stream_destroy(void *native);

/**
 * Makes an event on a simulated device outside the library, as other code of a process does with
 * `cuEventCreate`.
 *
 * The call is not counted as a driver call of the library.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `flags`: `SCONCE_EVENT_…` or-ed together.
 * `out_native` [out]: the handle.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: unknown flags, timing together with interprocess, or `out_native`
 * is NULL. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * The caller destroys the event with `sconce_sim_event_destroy`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_native` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_event_create(int32_t device,
                                      uint32_t flags,
                                      void **out_native);

/**
 * Destroys an event that `sconce_sim_event_create` made. Work that waits for it still waits.
 *
 * Any later simulated driver call that receives the handle ends the process with a message that names
 * the call and the handle.
 *
 * # Parameters
 * `native`: the handle.
 * # Errors
 * INVALID_HANDLE: `native` was never a handle. NOT_SUPPORTED: the backend is not the simulator.
 * NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * Takes the event back.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_event_destroy(void *native);

/**
 * Records an event that the library did not make on a stream of its device, as `cuEventRecord` does.
 *
 * # Parameters
 * `event`: the event's handle. `stream`: the stream's handle; NULL is the default stream of the
 * event's device.
 * # Errors
 * INVALID_HANDLE: a handle is none, or the stream is of another device than the event. DRIVER: earlier
 * work of the device failed. INVALID_STATE: a capture forbids it. NOT_SUPPORTED: the backend is not
 * the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block; completes after the work queued on the stream so far.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_event_record(void *event,
                                      void *stream);

/**
 * Tells whether the newest record of an event that the library did not make has completed, as
 * `cuEventQuery` does. True when there is no record.
 *
 * # Parameters
 * `event`: the event's handle. `out_done` [out].
 * # Errors
 * INVALID_HANDLE: `event` is no handle. INVALID_ARGUMENT: `out_done` is NULL. DRIVER: earlier work of
 * the device failed. INVALID_STATE: a capture forbids it. NOT_SUPPORTED: the backend is not the
 * simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_done` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_event_query(void *event,
                                     bool *out_done);

/**
 * Waits for the newest record of an event that the library did not make, as `cuEventSynchronize` does.
 *
 * # Parameters
 * `event`: the event's handle.
 * # Errors
 * INVALID_HANDLE: `event` is no handle. DRIVER: work of the device failed. INVALID_STATE: a capture
 * forbids it. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Blocks until the record has completed.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_event_synchronize(void *event);

/**
 * Turns the reuse of freed addresses and of handles on or off. On: the simulated driver returns an
 * address freed last from the next allocation that fits there, for device memory, reserved ranges and
 * pinned host memory, and gives handles of destroyed streams and events to new ones, as CUDA drivers do.
 * Off: freed addresses rest as long as possible, so that a use after free is found. At first as
 * `SCONCE_SIM_REUSE_ADDRESSES` says (0 or 1, default 0).
 *
 * # Parameters
 * `reuse`: on or off. Only what is freed from now on is reused at once.
 * # Errors
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_set_address_reuse(bool reuse);

/**
 * Gives memory of a simulated device, straight from the device: no cache, contents undefined.
 *
 * # Parameters
 * `device`: index, -1 for the current device. `bytes`: more than 0. `out_ptr` [out]: device
 * address; the host cannot follow it.
 * # Errors
 * INVALID_DEVICE. INVALID_ARGUMENT: `bytes` is 0, or `out_ptr` is NULL. OUT_OF_MEMORY.
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * The caller frees it with `sconce_sim_memory_free`.
 * # Ordering
 * Does not block.
 * # Threads
 * Any.
 * # Safety
 * `out_ptr` is NULL or valid for writing one value.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_memory_alloc(int32_t device,
                                      size_t bytes,
                                      void **out_ptr);

/**
 * Frees memory that `sconce_sim_memory_alloc` gave.
 *
 * # Parameters
 * `ptr`: what it gave; NULL is a no-op.
 * # Errors
 * INVALID_ARGUMENT or INVALID_HANDLE: not such memory, or freed before. NOT_SUPPORTED: the backend
 * is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
 * # Ownership
 * Takes the memory back.
 * # Ordering
 * Blocks until the device has finished all work.
 * # Threads
 * Any.
 * # Safety
 * No requirements.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_memory_free(void *ptr);

/**
 * Copies from simulated device memory to the host.
 *
 * # Parameters
 * `ptr`: device address, also inside an allocation. `bytes`: how many. `out_data` [out]: host
 * memory for them.
 * # Errors
 * INVALID_ARGUMENT: `ptr` is not simulated memory or holds fewer bytes, or `out_data` is NULL.
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * On the device's default stream; blocks until it is done.
 * # Threads
 * Any.
 * # Safety
 * `out_data` is NULL or valid for writing `bytes` bytes.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD
sconce_status sconce_sim_memory_read(const void *ptr,
                                     size_t bytes,
                                     void *out_data);

/**
 * Copies from the host to simulated device memory.
 *
 * # Parameters
 * `ptr`: device address, also inside an allocation. `bytes`: how many. `data`: host memory that
 * holds them.
 * # Errors
 * INVALID_ARGUMENT: `ptr` is not simulated memory or holds fewer bytes, or `data` is NULL.
 * NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
 * `sconce_init`.
 * # Ownership
 * None.
 * # Ordering
 * On the device's default stream; blocks until it is done.
 * # Threads
 * Any.
 * # Safety
 * `data` is NULL or valid for reading `bytes` bytes.
 * # Upstream
 * None: torch has no such backend.
 */
SCONCE_NODISCARD sconce_status sconce_sim_memory_write(void *ptr, size_t bytes, const void *data);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SCONCE_SCONCE_H_ */
