/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Communicators: collective calls, messages, work.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_COMM_H_
#define SCONCE_C_COMM_H_

#include <sconce/c/library.h>
#include <sconce/c/stream.h>
#include <sconce/c/dtype.h>
#include <sconce/c/tensor.h>
#include <sconce/c/store.h>

/**
 * Bytes of a `sconce_comm_id`.
 */
#define SCONCE_COMM_ID_BYTES 128

/**
 * How the values of all ranks are combined. NCCL chooses the order in which floating-point numbers
 * are added; the simulator adds them in the order of the ranks. As in torch, the sum of bools is
 * their maximum, and the product is their minimum. Complex numbers support sums and averages only.
 */
#ifdef __cplusplus
enum sconce_comm_op : int32_t {
#else
typedef int32_t sconce_comm_op;
enum {
#endif
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

/** A `sconce_comm_config`: the defaults. */
#ifdef __cplusplus
#define SCONCE_COMM_CONFIG_INIT \
  {sizeof(sconce_comm_config), 0, 0, 0, 0, false, false, {}}
#else
#define SCONCE_COMM_CONFIG_INIT \
  {.struct_size = sizeof(sconce_comm_config)}
#endif

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_COMM_H_ */
