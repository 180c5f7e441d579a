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
 * - INVALID_HANDLE: a handle is NULL, destroyed, of another kind of object (the message names both kinds), or was
 *   not created by this library. For a `stream` that this library did not return: INVALID_HANDLE or INVALID_DEVICE.
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
 * library detects handles that have been destroyed. No two objects have the same handle, whatever their kinds.
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

#ifndef SCONCE_C_LIBRARY_H_
#define SCONCE_C_LIBRARY_H_

/* A parser that knows these types itself, such as that of cffi, defines the macro. */
#ifndef SCONCE_NO_SYSTEM_HEADERS
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

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
 * Initialisers of the structs that begin with `struct_size`, their own size, in C99 and C++17:
 *
 *   sconce_matmul_desc desc = SCONCE_MATMUL_DESC_INIT;
 *
 * A struct may grow in later versions. The library accepts a struct of an older program, and one of a
 * newer program if its additional fields are 0. It refuses a description whose fields are all 0.
 */

/**
 * The number of the binary interface, also in the library's soname.
 */
#define SCONCE_ABI_VERSION 0

/**
 * The outcome of a call. Values never change once released.
 */
#ifdef __cplusplus
enum sconce_status : int32_t {
#else
typedef int32_t sconce_status;
enum {
#endif
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
   * A handle was never returned by the library, has been destroyed, or is of another kind of object.
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

/**
 * The backends.
 */
#ifdef __cplusplus
enum sconce_backend : int32_t {
#else
typedef int32_t sconce_backend;
enum {
#endif
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

/**
 * Level of a message.
 */
#ifdef __cplusplus
enum sconce_log_level : int32_t {
#else
typedef int32_t sconce_log_level;
enum {
#endif
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

/** A `sconce_options`: all options follow the environment. */
#ifdef __cplusplus
#define SCONCE_OPTIONS_INIT \
  {sizeof(sconce_options), 0, 0, 0, 0}
#else
#define SCONCE_OPTIONS_INIT \
  {.struct_size = sizeof(sconce_options)}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the spelling of a status, e.g. `SCONCE_ERROR_NOT_READY`, as a static string.
 *
 * - `status`: any number; `SCONCE_STATUS_UNKNOWN` is returned for one that is not a status.
 * - torch: `cudaGetErrorName`.
 */
const char *sconce_status_name(int32_t status);

/**
 * Returns the message of the calling thread's most recent failed call. The message names the
 * argument that was wrong, or the driver call that failed and the driver's name for the error.
 *
 * Never NULL: the text is empty before the first failure. A successful call does not change it.
 *
 * - Ownership: borrowed. The text stays as it is until the thread has read the message of a later failure, so it may
 *   be an argument beside a call that fails, and until the thread's end.
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

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_LIBRARY_H_ */
