/// \file
/// Groups of calls of communicators, and the works of asynchronous calls.
#ifndef SCONCE_COMM_WORK_HPP
#define SCONCE_COMM_WORK_HPP

#include <sconce/c/comm.h>
#include <sconce/c/library.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <sconce/cuda/stream.hpp>
#include <sconce/tensor/base.hpp>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {

/// Ranks that compute together, as in `torch.distributed`.
namespace distributed {

/// An asynchronous call of a communicator. Owns its handle; movable, not copyable. The call
/// continues when its work is destroyed. Corresponds to `torch.distributed.Work`.
///
/// Threads: any thread may use a work at any time.
class [[nodiscard]] Work {
 public:
  /// The type of timeouts.
  using Milliseconds = std::chrono::milliseconds;
  /// The timeout that means no timeout.
  static constexpr Milliseconds kNoTimeout{-1};

  /// Takes over a handle of the C API; `device` is that of the communicator.
  SCONCE_NODISCARD_CTOR Work(sconce_comm_work* work, std::int32_t device) noexcept
      : work_(work), device_(device) {}

  /// Makes later work of the current stream of the communicator's device wait for the call. The
  /// host does not wait. The `Work` releases the tensors that it keeps.
  /// \throws Error `SCONCE_ERROR_ABORTED`, `_REMOTE` or `_TIMEOUT` if the communicator is broken
  void wait() const { wait(cuda::getCurrentCUDAStream(device_)); }
  /// Makes later work of a stream wait for the call, as `wait()`.
  void wait(const cuda::CUDAStream& stream) const {
    detail::check(::sconce_comm_work_wait(get(), stream.get()));
  }
  /// Waits on the host until the call is done. The `Work` releases the tensors that it keeps.
  /// Corresponds to `Work.wait(timeout)` in blocking mode.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if it is not done in time; the call continues
  void synchronize(Milliseconds timeout = kNoTimeout) const {
    detail::check(::sconce_comm_work_synchronize(get(), timeout.count()));
  }
  /// Whether the call is done.
  /// \throws Error `SCONCE_ERROR_ABORTED`, `_REMOTE` or `_TIMEOUT` if the communicator is broken
  [[nodiscard]] bool is_completed() const {
    bool complete = false;
    detail::check(::sconce_comm_work_query(get(), &complete));
    return complete;
  }
  /// Keeps a tensor alive until the work is waited for. Calls with tensors do so by themselves.
  void keep(const TensorBase& tensor) const {
    detail::check(::sconce_comm_work_keep(get(), tensor.get()));
  }
  /// The sequence number of the call on its communicator, with which error messages name the call.
  [[nodiscard]] std::uint64_t sequence() const {
    std::uint64_t sequence = 0;
    detail::check(::sconce_comm_work_get_sequence(get(), &sequence));
    return sequence;
  }

  /// The C API's handle, borrowed.
  [[nodiscard]] sconce_comm_work* get() const noexcept { return work_.get(); }

 private:
  struct Destroy {
    void operator()(sconce_comm_work* work) const noexcept {
      detail::log_failure(::sconce_comm_work_destroy(work), "destroying a Work");
    }
  };

  std::unique_ptr<sconce_comm_work, Destroy> work_;
  std::int32_t device_;
};

/// The mode of a call that is queued on the current stream; it returns nothing.
struct SyncOp {
  using Result = void;  ///< what the call returns
};
/// The mode of a call that is queued on the communicator's own stream; it returns its work.
struct AsyncOp {
  using Result = Work;  ///< what the call returns
};
/// The asynchronous mode of a call: `comm.all_reduce(gradient, ReduceOp::SUM, async_op)` returns a
/// `Work`. Corresponds to `async_op=True`.
inline constexpr AsyncOp async_op{};

/// Collects the calls that its thread makes until `end`, which queues them together. Necessary if
/// one thread makes calls for several ranks, and for sends and receives that depend on each other.
/// All calls of one communicator in a group must have the same stream and mode. Groups nest.
///
/// If the guard is destroyed without `end`, for example because of an exception, the group is
/// incomplete, and nothing is queued. `group` creates the guard and calls `end`. Corresponds to
/// `torch::cuda::nccl::AutoNcclGroup`, which queues an incomplete group.
class [[nodiscard]] GroupGuard {
 public:
  /// Begins a group.
  SCONCE_NODISCARD_CTOR GroupGuard() { detail::check(::sconce_comm_group_start()); }
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  GroupGuard(GroupGuard&&) = delete;
  GroupGuard& operator=(GroupGuard&&) = delete;
  /// Cancels the group unless it has ended: none of its calls is queued, and a warning is logged.
  ~GroupGuard() {
    if (!has_ended_) {
      detail::log_failure(::sconce_comm_group_cancel(), "cancelling a GroupGuard");
    }
  }

  /// Ends the group; the outermost one queues the calls.
  /// \throws Error if a call cannot be queued; the group has ended in any case
  void end() {
    if (has_ended_) {
      throw Error(SCONCE_ERROR_INVALID_STATE, "the GroupGuard has ended already");
    }
    has_ended_ = true;
    detail::check(::sconce_comm_group_end());
  }

 private:
  bool has_ended_ = false;
};

/// Makes the calls of `body` in a group, and returns what `body` returns. If `body` throws, none of
/// them is queued. Corresponds to `torch.distributed.batch_isend_irecv`.
/// \throws Error if a call cannot be queued
template <class Body>
auto group(Body&& body) -> std::invoke_result_t<Body> {
  GroupGuard guard;
  if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
    std::forward<Body>(body)();
    guard.end();
  } else {
    auto result = std::forward<Body>(body)();
    guard.end();
    return result;
  }
}

}  // namespace distributed
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMM_WORK_HPP
