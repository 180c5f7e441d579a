/// \file
/// The parts of `torch.nn.DataParallel`, for one process with several devices: replicate the
/// parameters, scatter the input, run a thread for each replica, gather the outputs.
#ifndef SCONCE_COMM_DATA_PARALLEL_HPP
#define SCONCE_COMM_DATA_PARALLEL_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <sconce/comm/tensors.hpp>
#include <sconce/cuda/error.hpp>
#include <sconce/cuda/guard.hpp>
#include <sconce/cuda/stream.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The failure of a replica, with the original exception nested in it (`std::rethrow_if_nested`).
class ReplicaError : public std::runtime_error, public std::nested_exception {
 public:
  /// The failure of replica `replica` on a device, made where its exception is handled.
  ReplicaError(std::size_t replica, std::int32_t device, const std::string& what)
      : std::runtime_error("replica " + std::to_string(replica) + " on device " +
                           std::to_string(device) + ": " + what),
        replica_(replica),
        device_(device) {}
  /// The number of the replica.
  [[nodiscard]] std::size_t replica() const noexcept { return replica_; }
  /// The index of its device.
  [[nodiscard]] std::int32_t device() const noexcept { return device_; }

 private:
  std::size_t replica_;
  std::int32_t device_;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

/// \cond
namespace sconce {
inline namespace v0 {
namespace detail {

/// The current streams of all devices, which another thread takes over.
class CurrentStreams {
 public:
  /// The current streams of the calling thread.
  CurrentStreams() {
    for (cuda::DeviceIndex device = 0; device < cuda::device_count(); ++device) {
      streams_.push_back(cuda::getCurrentCUDAStream(device));
    }
  }
  /// Makes them the current streams of the calling thread.
  void take_over() const {
    for (const cuda::CUDAStream& stream : streams_) {
      cuda::setCurrentCUDAStream(stream);
    }
  }

 private:
  std::vector<cuda::CUDAStream> streams_;
};

/// The outcome of a replica: a failure, or nothing.
template <class Run>
void run_replica(std::size_t replica, std::int32_t device, std::exception_ptr& failure,
                 const Run& run) noexcept {
  try {
    try {
      const cuda::CUDAGuard guard(device);
      run();
    } catch (const std::exception& error) {
      throw cuda::ReplicaError(replica, device, error.what());
    } catch (...) {
      throw cuda::ReplicaError(replica, device, "an exception of another type");
    }
  } catch (...) {
    failure = std::current_exception();
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce
/// \endcond

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The parameters on each device, made with few copies: a list for each device. The list of the
/// first device has the parameters themselves. Corresponds to `torch.nn.parallel.replicate`.
[[nodiscard]] inline std::vector<std::vector<Tensor>> replicate(
    const std::vector<Tensor>& parameters, const std::vector<std::int32_t>& devices) {
  return comm::broadcast_coalesced(parameters, devices);
}

/// Calls `function(replica)` for each device at the same time, on one thread for each. On that
/// thread, the device is current, and the current streams of all devices are those of the caller.
/// Returns the results in the order of the devices. The calling thread serves one of the devices.
/// Corresponds to `torch.nn.parallel.parallel_apply`.
///
/// Ordering: work that the replicas queue is in the order of the caller's current streams, as if
/// the caller had queued it. The call returns when all functions have returned, without waiting for
/// the devices.
/// \throws ReplicaError for the first replica that has failed, once all have returned
template <class Function>
auto parallel_apply(const std::vector<std::int32_t>& devices, Function&& function) {
  using Result = std::decay_t<std::invoke_result_t<Function&, std::size_t>>;
  constexpr bool kIsVoid = std::is_void_v<std::invoke_result_t<Function&, std::size_t>>;
  // Each thread writes its own.
  std::vector<std::conditional_t<kIsVoid, char, std::optional<Result>>> results(devices.size());
  std::vector<std::exception_ptr> failures(devices.size());
  const auto run = [&](std::size_t replica) {
    if constexpr (kIsVoid) {
      function(replica);
    } else {
      results[replica].emplace(function(replica));
    }
  };
  if (devices.size() == 1) {
    detail::run_replica(0, devices[0], failures[0], [&] { run(0); });
  } else {
    const detail::CurrentStreams streams;
    std::vector<std::thread> threads;
    threads.reserve(devices.size());
    for (std::size_t replica = 0; replica < devices.size(); ++replica) {
      const auto body = [&, replica] {
        detail::run_replica(replica, devices[replica], failures[replica], [&] {
          streams.take_over();
          run(replica);
        });
      };
      try {
        threads.emplace_back(body);
      } catch (const std::exception&) {
        // No thread is left: the caller serves the replica, after what it has queued for others.
        const CUDAGuard device_guard(devices[replica]);
        body();
      }
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }
  if constexpr (!kIsVoid) {
    std::vector<Result> values;
    values.reserve(results.size());
    for (auto& result : results) {
      values.push_back(std::move(*result));
    }
    return values;
  }
}

/// Runs `module(parameters, input)` on all devices: the parameters are replicated, the input is
/// split along a dimension, and the outputs are joined on the first device. The first device uses
/// the parameters of the caller. Corresponds to the forward pass of `torch.nn.DataParallel`.
/// \throws ReplicaError if a replica fails
template <class Module>
[[nodiscard]] Tensor data_parallel(const std::vector<Tensor>& parameters, const Tensor& input,
                                   const std::vector<std::int32_t>& devices, Module&& module,
                                   std::int64_t dim = 0) {
  const std::vector<Tensor> inputs = comm::scatter(input, devices, std::nullopt, dim);
  const std::vector<std::int32_t> used(
      devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  const std::vector<std::vector<Tensor>> replicas = replicate(parameters, used);
  const std::vector<Tensor> outputs = parallel_apply(
      used, [&](std::size_t replica) { return module(replicas[replica], inputs[replica]); });
  return comm::gather(outputs, dim, sconce::Device(sconce::kCUDA, devices[0]));
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMM_DATA_PARALLEL_HPP
