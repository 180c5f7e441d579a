/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * The sanitizer: races between streams, and uses of freed memory.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_SANITIZER_H_
#define SCONCE_C_SANITIZER_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/tensor.h>

/**
 * What the sanitizer does with a report.
 */
#ifdef __cplusplus
enum sconce_sanitizer_mode : int32_t {
#else
typedef int32_t sconce_sanitizer_mode;
enum {
#endif
  /**
   * Reports, and the program goes on.
   */
  SCONCE_SANITIZER_REPORT = 1,
  /**
   * The process ends with the first report.
   */
  SCONCE_SANITIZER_ABORT = 2,
};

/**
 * How memory is used.
 */
#ifdef __cplusplus
enum sconce_sanitizer_use : int32_t {
#else
typedef int32_t sconce_sanitizer_use;
enum {
#endif
  /**
   * The memory is read.
   */
  SCONCE_SANITIZER_READ = 1,
  /**
   * The memory is written; it may be read, too.
   */
  SCONCE_SANITIZER_WRITE = 2,
};

/**
 * A function that receives reports: the text, the report as one JSON object, and the caller's pointer.
 */
typedef void (*sconce_sanitizer_callback)(const char *text, const char *json, void *user);

/**
 * Memory that work of the program uses.
 */
typedef struct sconce_sanitizer_range {
  /**
   * The first byte.
   */
  const void *address;
  /**
   * How many bytes; 0: to the end of the block.
   */
  size_t bytes;
  /**
   * `SCONCE_SANITIZER_READ` or `SCONCE_SANITIZER_WRITE`.
   */
  int32_t mode;
  /**
   * 0.
   */
  int32_t reserved;
} sconce_sanitizer_range;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Switches the sanitizer on. Before the first call that needs a device it always can be; later it can be switched on
 * again only if the library was opened with it (`SCONCE_SANITIZER`, or an earlier call of this function).
 *
 * From then on the order of all work, and the memory that it uses, are followed. Nothing is followed of work that was
 * queued while the sanitizer was off: it counts as done.
 *
 * - `mode`: `SCONCE_SANITIZER_REPORT` or `SCONCE_SANITIZER_ABORT`. It holds from the opening on; later calls do not
 *   change it.
 * - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for another mode, `SCONCE_ERROR_INVALID_STATE` if the library was opened
 *   without the sanitizer.
 * - torch: `torch.cuda._sanitizer.enable_cuda_sanitizer`.
 */
sconce_status sconce_sanitizer_enable(int32_t mode);

/**
 * Switches the sanitizer off; without one it does nothing. Reports stay.
 */
sconce_status sconce_sanitizer_disable(void);

/**
 * Whether calls are followed now. One load of memory.
 */
bool sconce_sanitizer_is_enabled(void);

/**
 * How many reports there are: each pair of places in the program once. 0 without the sanitizer.
 */
int64_t sconce_sanitizer_report_count(void);

/**
 * Reads a report.
 *
 * - `index`: from 0 to the count less 1, in the order in which they were found.
 * - `out_text`: receives the report for people, in several lines; NULL omits it.
 * - `out_json`: receives the report as one JSON object, in one line; NULL omits it.
 * - `out_count`: receives how often it was found; NULL omits it.
 * - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` if there is no report of this number, `SCONCE_ERROR_INVALID_STATE` without
 *   the sanitizer.
 * - Ownership: the caller frees the texts with `sconce_string_free`.
 */
sconce_status sconce_sanitizer_get_report(int64_t index,
                                          char **out_text,
                                          char **out_json,
                                          int64_t *out_count);

/**
 * How many operations were followed, and of how many nothing was known: host functions, and kernels of the program
 * that declare nothing. Unknown operations are never the cause of a report.
 *
 * - `out_all`, `out_unknown`: receive the numbers; 0 without the sanitizer.
 */
sconce_status sconce_sanitizer_get_operations(int64_t *out_all,
                                              int64_t *out_unknown);

/**
 * Waits for the devices of all live blocks and of those that were freed of late, and reports what was written behind
 * their ends, or into those that are free.
 *
 * Each block is followed by a guard zone (`SCONCE_SANITIZER_GUARD_BYTES`). After a free it is copied to the host, and
 * looked at when the library learns that the copy is done: with a later wait, or here. A program that ends without
 * either does not hear of its last blocks. Freed blocks that are still kept from being handed out
 * (`SCONCE_SANITIZER_QUARANTINE_MB`) are compared with what they were filled with, of large ones a kilobyte. Does
 * nothing without the sanitizer, or while it is off.
 *
 * - Errors: those of `sconce_device_synchronize`, such as a stream that is being captured.
 */
sconce_status sconce_sanitizer_check(void);

/**
 * Forgets all reports; what they found is reported again when it is found again. Does nothing without the sanitizer.
 */
sconce_status sconce_sanitizer_reset(void);

/**
 * Sends reports to a function of the caller, beside the log and the file.
 *
 * A report is delivered at the end of the call in which it was found, or of the next call of any thread. The library
 * holds no lock then, so the callback may call the library.
 *
 * - `callback`: NULL sends them nowhere else.
 * - `user`: passed to each call of `callback`.
 * - Errors: `SCONCE_ERROR_INVALID_STATE` without the sanitizer.
 * - Ownership: the texts are borrowed for the call of `callback`. `callback` and `user` must stay usable until another
 *   callback has been set and no call of the old one is under way.
 * - Threads: several threads may call `callback` at once.
 * - Safety: `callback` does not unwind, and `user` is what it expects.
 */
sconce_status sconce_sanitizer_set_callback(sconce_sanitizer_callback callback,
                                            void *user);

/**
 * Declares an operation of a stream that this library does not see: work that the program queues through CUDA itself.
 * Call it where the work is queued. Does nothing while the sanitizer is off.
 *
 * - `stream`: where the work runs.
 * - `ranges`, `count`: the memory that it reads and writes.
 * - `name`: what reports call it; NULL for `declared work`.
 * - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for an unknown mode.
 */
sconce_status sconce_sanitizer_access(struct sconce_stream stream,
                                      const struct sconce_sanitizer_range *ranges,
                                      size_t count,
                                      const char *name);

/**
 * Declares the memory that the next kernel uses which the calling thread launches. Without this call nothing is known
 * of it. Does nothing while the sanitizer is off.
 *
 * - `ranges`, `count`: the memory that the kernel reads and writes. 0 takes back what was declared, after a launch
 *   that failed.
 * - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for an unknown mode.
 */
sconce_status sconce_sanitizer_declare_launch(const struct sconce_sanitizer_range *ranges,
                                              size_t count);

/**
 * Declares that the host reads or writes memory by itself, such as pinned memory that copies use. Does nothing while
 * the sanitizer is off, or for memory that is not pinned.
 *
 * - `ranges`, `count`: the memory.
 * - `name`: what reports call it; NULL for `the host`.
 * - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for an unknown mode.
 */
sconce_status sconce_sanitizer_host_access(const struct sconce_sanitizer_range *ranges,
                                           size_t count,
                                           const char *name);

/**
 * Declares that other processes have waited for all that they did so far to memory that is open here, as a message
 * from one of them says. Call it behind the opening of the memory, and again for each such message. Without it, memory
 * of another process counts as being written until an event of that process has been waited for. Does nothing while
 * the sanitizer is off.
 */
sconce_status sconce_sanitizer_heard_from_processes(void);

/**
 * Declares an operation on tensors that begins now, and that `sconce_sanitizer_end_operation` ends on the same thread.
 * It may consist of many calls and launches. Kernels that the thread launches meanwhile are a part of it, so they do
 * not count as unknown. An operation within another one is a part of that one: what it passes is not looked at.
 *
 * Tensors of devices are used on the thread's current streams of the devices. If all tensors are on the CPU, the host
 * uses those that lie in pinned memory. Does nothing without the sanitizer.
 *
 * - `name`: what reports call it.
 * - `reads`, `read_count`: tensors that it reads. Undefined ones are left out.
 * - `writes`, `write_count`: tensors that it writes, and may read. Undefined ones are left out.
 * - Errors: after an error there is no operation to end.
 */
sconce_status sconce_sanitizer_begin_operation(const char *name,
                                               struct sconce_tensor *const *reads,
                                               size_t read_count,
                                               struct sconce_tensor *const *writes,
                                               size_t write_count);

/**
 * Ends the operation that the calling thread began last. Does nothing if there is none.
 *
 * - `results`, `result_count`: tensors that the operation has made and written, on the streams that are current now.
 *   Undefined ones are left out, and so are those that lie in memory of the tensors that it began with.
 * - Errors: the operation has ended also after an error.
 */
sconce_status sconce_sanitizer_end_operation(struct sconce_tensor *const *results,
                                             size_t result_count);

/**
 * Begins or ends to keep what `sconce_sanitizer_save_page` draws. `SCONCE_SANITIZER_PAGE` begins it with the library,
 * with 4096 operations, and writes the page at the end of the process.
 *
 * While it is kept, each operation and each wait costs the sanitizer a little more time, and up to about a kilobyte.
 *
 * - `enabled`: whether to keep it. Ending discards what was kept; beginning again does not.
 * - `max_operations`: how many of the newest operations are kept, beside those near reports; ignored if `enabled` is
 *   false.
 * - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for 0 operations, `SCONCE_ERROR_INVALID_STATE` without the sanitizer.
 */
sconce_status sconce_sanitizer_record_history(bool enabled,
                                              size_t max_operations);

/**
 * Writes the page of the run so far: streams, operations, waits and reports, for a browser without a network.
 *
 * - `path`: the file, which is overwritten.
 * - Errors: `SCONCE_ERROR_INVALID_STATE` without the sanitizer, or if nothing was kept; `SCONCE_ERROR_IO` if the file
 *   cannot be written.
 */
sconce_status sconce_sanitizer_save_page(const char *path);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_SANITIZER_H_ */
