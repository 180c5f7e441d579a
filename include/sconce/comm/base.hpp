/// \file
/// The basis of communicators: creation and end, rank and device, and calls with addresses.
/// `<sconce/comm/comm.hpp>` includes all headers of communicators.
#ifndef SCONCE_COMM_BASE_HPP
#define SCONCE_COMM_BASE_HPP

#include <sconce/c/comm.h>
#include <sconce/c/library.h>
#include <sconce/c/stream.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <sconce/comm/work.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// The target of `ncclComm_t`, which NCCL's header defines.
struct ncclComm;

namespace sconce {
inline namespace v0 {
namespace distributed {

/// The bytes with which the ranks of a communicator find each other. They may be sent over a pipe
/// unchanged. Corresponds to `ncclUniqueId`.
struct UniqueId {
  std::array<std::uint8_t, SCONCE_COMM_ID_BYTES> bytes{};  ///< copied from rank to rank
};
static_assert(std::is_trivially_copyable_v<UniqueId> && sizeof(UniqueId) == sizeof(sconce_comm_id),
              "an id is sent as its bytes");

/// Makes an id. One rank calls this function, and the program passes the id to the others.
/// Corresponds to `torch::cuda::nccl::get_unique_id`.
[[nodiscard]] inline UniqueId get_unique_id() {
  sconce_comm_id id;
  detail::check(::sconce_comm_get_unique_id(&id));
  UniqueId result;
  std::copy(std::begin(id.bytes), std::end(id.bytes), result.bytes.begin());
  return result;
}

/// The version of NCCL, as NCCL counts: 22809 is 2.28.9. Corresponds to `torch.cuda.nccl.version`.
/// \throws Error `SCONCE_ERROR_LIBRARY_NOT_FOUND` if there is none
[[nodiscard]] inline std::int32_t nccl_version() {
  std::int32_t version = 0;
  detail::check(::sconce_comm_get_version(&version));
  return version;
}

/// Configuration of a communicator; all ranks must pass the same. Corresponds to
/// `torch.distributed.ProcessGroupNCCL.Options`.
struct CommOptions {
  /// The value of `timeout` that means no timeout.
  static constexpr std::chrono::milliseconds kNoTimeout{-1};

  /// The timeout of calls that wait for other ranks, and of queued calls. When it expires, the
  /// communicator is aborted. 0: calls that wait fail after 10 minutes, and queued calls have no
  /// timeout.
  std::chrono::milliseconds timeout{0};
  bool is_high_priority_stream = false;  ///< asynchronous calls use a stream of high priority
  bool split_share = false;   ///< whether communicators that are split off share its resources
  std::int32_t min_ctas = 0;  ///< the smallest number of thread blocks of a call; 0: NCCL chooses
  std::int32_t max_ctas = 0;  ///< the largest number of thread blocks of a call; 0: NCCL chooses
  std::int32_t cga_cluster_size = 0;  ///< thread blocks of a cluster; 0: NCCL chooses

  /// As the C API takes it.
  [[nodiscard]] sconce_comm_config get() const noexcept {
    sconce_comm_config config = SCONCE_COMM_CONFIG_INIT;
    config.timeout_ms = timeout.count();
    config.high_priority = is_high_priority_stream;
    config.split_share = split_share;
    config.min_ctas = min_ctas;
    config.max_ctas = max_ctas;
    config.cga_cluster_size = cga_cluster_size;
    return config;
  }
};

/// How the values of all ranks are combined. The sum of bools is their maximum, and the product is
/// their minimum. Complex numbers support sums and averages only. Corresponds to
/// `torch.distributed.ReduceOp`.
class ReduceOp {
 public:
  /// The operations without a factor.
  enum Kind : std::int32_t {
    SUM = SCONCE_COMM_SUM,       ///< the sum
    PRODUCT = SCONCE_COMM_PROD,  ///< the product
    MIN = SCONCE_COMM_MIN,       ///< the smallest
    MAX = SCONCE_COMM_MAX,       ///< the largest
    AVG = SCONCE_COMM_AVG,       ///< the sum divided by the number of ranks
  };
  /// An operation without a factor.
  constexpr ReduceOp(Kind kind) noexcept : op_(kind) {}  // NOLINT: the constants stand for it
  /// The sum of each rank's values, multiplied by a factor that the rank passes. Corresponds to
  /// `torch.distributed._make_nccl_premul_sum`.
  [[nodiscard]] static constexpr ReduceOp premul_sum(double factor) noexcept {
    ReduceOp op(SUM);
    op.op_ = SCONCE_COMM_PREMUL_SUM;
    op.factor_ = factor;
    return op;
  }

  /// As the C API takes it: one of `SCONCE_COMM_…`.
  [[nodiscard]] constexpr std::int32_t op() const noexcept { return op_; }
  /// The factor of a premultiplied sum.
  [[nodiscard]] constexpr double factor() const noexcept { return factor_; }

 private:
  std::int32_t op_;
  double factor_ = 0.0;
};

/// One rank of a set of ranks, each with its own device. Owns its handle; movable, not copyable.
/// All ranks must make the same calls in the same order. Calls with tensors are in `Communicator`.
///
/// Calls return nothing and are queued on a stream, by default the current one of the
/// communicator's device. With `async_op` they return a `Work`, and are queued on the
/// communicator's own stream, after the work that is queued on the given stream.
///
/// The destructor finalizes the communicator, which waits for the work that it has queued. If the
/// destructor runs because of an exception, it aborts the communicator instead, so that the other
/// ranks notice at once. The destructor of an object in static storage does not wait.
///
/// Threads: one thread at a time may make calls; any thread may abort at any time.
class [[nodiscard]] CommunicatorBase {
 public:
  CommunicatorBase(const CommunicatorBase&) = delete;
  CommunicatorBase& operator=(const CommunicatorBase&) = delete;
  /// Takes the communicator of `other`, which may then only be destroyed or assigned to.
  CommunicatorBase(CommunicatorBase&& other) noexcept
      : comm_(std::exchange(other.comm_, nullptr)), device_(other.device_) {}
  /// Destroys its communicator, and takes that of `other`.
  CommunicatorBase& operator=(CommunicatorBase&& other) noexcept {
    if (this != &other) {
      destroy(false);
      comm_ = std::exchange(other.comm_, nullptr);
      device_ = other.device_;
    }
    return *this;
  }
  ~CommunicatorBase() { destroy(std::uncaught_exceptions() > exceptions_); }

  /// The number of this rank. Corresponds to `torch.distributed.get_rank`.
  [[nodiscard]] std::int32_t rank() const { return number_of(::sconce_comm_get_rank); }
  /// The number of ranks. Corresponds to `torch.distributed.get_world_size`.
  [[nodiscard]] std::int32_t size() const { return number_of(::sconce_comm_get_size); }
  /// The device on which this rank works.
  [[nodiscard]] std::int32_t device() const noexcept { return device_; }
  /// NCCL's handle, borrowed; null once the communicator is aborted.
  [[nodiscard]] ncclComm* native() const {
    void* native = nullptr;
    detail::check(::sconce_comm_get_native(comm_, &native));
    return static_cast<ncclComm*>(native);
  }
  /// Waits until everything that this rank has queued is done. The communicator accepts no calls
  /// afterwards.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if it is not done in time; the communicator is then
  ///   aborted
  void finalize() const { detail::check(::sconce_comm_finalize(comm_)); }
  /// Aborts the communicator at once, even while another thread waits in one of its calls. Queued
  /// calls end; they have no result unless all ranks have made them. Later calls fail. Corresponds
  /// to `ProcessGroupNCCL.abort`.
  void abort() const { detail::check(::sconce_comm_abort(comm_)); }
  /// Throws the reason if the communicator is broken. Corresponds to `ncclCommGetAsyncError`.
  /// \throws Error `SCONCE_ERROR_ABORTED`: this process has aborted it; `_REMOTE`: another rank has
  /// failed; `_TIMEOUT`: a call has exceeded its limit; `_INVALID_STATE`: calls do not match
  void check_async_error() const { detail::check(::sconce_comm_get_async_error(comm_)); }
  /// The C API's handle, borrowed.
  [[nodiscard]] sconce_comm* get() const noexcept { return comm_; }

  /// Reduces `count` values of all ranks; every rank receives the result. `send` may be `recv`. All
  /// calls with addresses have the same rules. Memory is on the communicator's device, and counts
  /// are in elements. Memory must stay allocated until the call is done, or be freed in the order
  /// of the stream.
  /// \throws Error `SCONCE_ERROR_CROSS_DEVICE` for memory of another device,
  /// `SCONCE_ERROR_ABORTED`, `_REMOTE` or `_TIMEOUT` if the communicator is broken
  template <class Mode = SyncOp>
  typename Mode::Result all_reduce(const void* send, void* recv, std::size_t count,
                                   ScalarType dtype, ReduceOp op = ReduceOp::SUM, Mode mode = {},
                                   const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_all_reduce(comm_, send, recv, count, number_of(dtype), op.op(),
                                      op.factor(), on, work);
    });
  }
  /// Reduces `count` values of all ranks; rank `dst` receives the result.
  template <class Mode = SyncOp>
  typename Mode::Result reduce(const void* send, void* recv, std::size_t count, ScalarType dtype,
                               std::int32_t dst, ReduceOp op = ReduceOp::SUM, Mode mode = {},
                               const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_reduce(comm_, send, recv, count, number_of(dtype), op.op(), op.factor(),
                                  dst, on, work);
    });
  }
  /// Reduces `size() * recv_count` values of all ranks; rank r receives part r of the result.
  template <class Mode = SyncOp>
  typename Mode::Result reduce_scatter(const void* send, void* recv, std::size_t recv_count,
                                       ScalarType dtype, ReduceOp op = ReduceOp::SUM,
                                       Mode mode = {},
                                       const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_reduce_scatter(comm_, send, recv, recv_count, number_of(dtype), op.op(),
                                          op.factor(), on, work);
    });
  }
  /// Sends `count` values of rank `src` to all ranks; `send` is ignored elsewhere.
  template <class Mode = SyncOp>
  typename Mode::Result broadcast(const void* send, void* recv, std::size_t count, ScalarType dtype,
                                  std::int32_t src, Mode mode = {},
                                  const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_broadcast(comm_, send, recv, count, number_of(dtype), src, on, work);
    });
  }
  /// Gathers `send_count` values of each rank, in the order of the ranks, at every rank.
  template <class Mode = SyncOp>
  typename Mode::Result all_gather(const void* send, void* recv, std::size_t send_count,
                                   ScalarType dtype, Mode mode = {},
                                   const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_all_gather(comm_, send, recv, send_count, number_of(dtype), on, work);
    });
  }
  /// Gathers `send_count` values of each rank, in the order of the ranks, at rank `dst`; `recv` is
  /// ignored elsewhere.
  template <class Mode = SyncOp>
  typename Mode::Result gather(const void* send, void* recv, std::size_t send_count,
                               ScalarType dtype, std::int32_t dst, Mode mode = {},
                               const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_gather(comm_, send, recv, send_count, number_of(dtype), dst, on, work);
    });
  }
  /// Sends part r of `size() * recv_count` values of rank `src` to rank r; `send` is ignored
  /// elsewhere.
  template <class Mode = SyncOp>
  typename Mode::Result scatter(const void* send, void* recv, std::size_t recv_count,
                                ScalarType dtype, std::int32_t src, Mode mode = {},
                                const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_scatter(comm_, send, recv, recv_count, number_of(dtype), src, on, work);
    });
  }
  /// Sends part r of each rank's `size() * count_per_rank` values to rank r.
  template <class Mode = SyncOp>
  typename Mode::Result all_to_all(const void* send, void* recv, std::size_t count_per_rank,
                                   ScalarType dtype, Mode mode = {},
                                   const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_all_to_all(comm_, send, recv, count_per_rank, number_of(dtype), on,
                                      work);
    });
  }
  /// Sends a part of each rank's values to every rank. The lists have the number of elements for
  /// each rank, and the offset of the first one. The count that a rank sends to another one must be
  /// the count that the other receives from it.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless each list has one number for each rank
  template <class Mode = SyncOp>
  typename Mode::Result all_to_all(const void* send, const std::vector<std::size_t>& send_counts,
                                   const std::vector<std::size_t>& send_offsets, void* recv,
                                   const std::vector<std::size_t>& recv_counts,
                                   const std::vector<std::size_t>& recv_offsets, ScalarType dtype,
                                   Mode mode = {},
                                   const cuda::OptionalStream& stream = std::nullopt) const {
    const auto ranks = static_cast<std::size_t>(size());
    for (const auto* list : {&send_counts, &send_offsets, &recv_counts, &recv_offsets}) {
      if (list->size() != ranks) {
        throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                    "a list of all_to_all has " + std::to_string(list->size()) +
                        " numbers, but there are " + std::to_string(ranks) + " ranks");
      }
    }
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_all_to_all_v(comm_, send, send_counts.data(), send_offsets.data(), recv,
                                        recv_counts.data(), recv_offsets.data(), number_of(dtype),
                                        on, work);
    });
  }
  /// Sends `count` values to rank `dst`. Sends and receives that depend on each other must be in
  /// one `group` on each rank.
  template <class Mode = SyncOp>
  typename Mode::Result send(const void* send, std::size_t count, ScalarType dtype,
                             std::int32_t dst, Mode mode = {},
                             const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_send(comm_, send, count, number_of(dtype), dst, on, work);
    });
  }
  /// Receives `count` values from rank `src`.
  template <class Mode = SyncOp>
  typename Mode::Result recv(void* recv, std::size_t count, ScalarType dtype, std::int32_t src,
                             Mode mode = {},
                             const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_recv(comm_, recv, count, number_of(dtype), src, on, work);
    });
  }
  /// Synchronises the ranks: work after the barrier begins when all ranks have reached it. Unlike
  /// in torch, the host does not wait; synchronise the stream or the work for that.
  template <class Mode = SyncOp>
  typename Mode::Result barrier(Mode mode = {},
                                const cuda::OptionalStream& stream = std::nullopt) const {
    return queued(mode, stream, [&](sconce_stream on, sconce_comm_work** work) {
      return ::sconce_comm_barrier(comm_, on, work);
    });
  }

 protected:
  /// Takes ownership of a handle.
  explicit CommunicatorBase(sconce_comm* comm) : comm_(comm) {
    try {
      device_ = number_of(::sconce_comm_get_device);
    } catch (...) {
      destroy(true);
      throw;
    }
  }

  /// A type as the C API takes it.
  static std::int32_t number_of(ScalarType dtype) noexcept {
    return static_cast<std::int32_t>(dtype);
  }

 private:
  [[nodiscard]] std::int32_t number_of(Status (*call)(sconce_comm*, std::int32_t*)) const {
    std::int32_t number = 0;
    detail::check(call(comm_, &number));
    return number;
  }

  template <class Mode, class Call>
  typename Mode::Result queued(Mode /*mode*/, const cuda::OptionalStream& stream,
                               Call&& call) const {
    const cuda::CUDAStream on = stream.has_value() ? *stream : cuda::getCurrentCUDAStream(device_);
    if constexpr (std::is_same_v<Mode, AsyncOp>) {
      sconce_comm_work* work = nullptr;
      detail::check(call(on.get(), &work));
      return Work(work, device_);
    } else {
      static_assert(std::is_same_v<Mode, SyncOp>, "the mode of a call is async_op, or left out");
      detail::check(call(on.get(), nullptr));
    }
  }

  void destroy(bool is_failing) noexcept {
    if (comm_ == nullptr) {
      return;
    }
    if (is_failing) {
      detail::log_failure(::sconce_comm_abort(comm_), "aborting a Communicator");
    }
    detail::log_failure(::sconce_comm_destroy(std::exchange(comm_, nullptr)),
                        "destroying a Communicator");
  }

  sconce_comm* comm_ = nullptr;
  std::int32_t device_ = -1;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace distributed
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMM_BASE_HPP
