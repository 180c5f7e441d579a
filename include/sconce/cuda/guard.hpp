/// \file
/// Guards: scopes in which another device or stream is current, with c10's semantics.
///
/// The destructor of a guard restores the state that the constructor found, also when an exception
/// leaves the scope. It creates no context in doing so, and logs a failure. Guards can be neither
/// copied nor moved, and belong to the thread that made them. With `SCONCE_CHECK_DEVICE=1`, the
/// default of debug builds of the library, they notice `cudaSetDevice` of other code. A guard
/// without a name is destroyed at once, and the compiler warns about it.
#ifndef SCONCE_CUDA_GUARD_HPP
#define SCONCE_CUDA_GUARD_HPP

#include <sconce/c/device.h>
#include <sconce/c/library.h>
#include <sconce/c/stream.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <sconce/cuda/device_type.hpp>
#include <sconce/cuda/stream.hpp>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Makes a device current for a scope. Corresponds to `c10::cuda::CUDAGuard`.
class [[nodiscard]] CUDAGuard {
 public:
  CUDAGuard() = delete;

  /// Makes the device with this index current. -1 switches nothing; the end of the scope still
  /// restores the device.
  /// \throws Error `SCONCE_ERROR_INVALID_DEVICE` when there is no such device
  SCONCE_NODISCARD_CTOR explicit CUDAGuard(DeviceIndex index)
      : original_(ExchangeDevice(index)), current_(index == -1 ? original_ : index) {}

  /// Makes the device current; one without an index switches nothing.
  SCONCE_NODISCARD_CTOR explicit CUDAGuard(Device device) : CUDAGuard(device.index()) {}

  /// Makes the device of a tensor current, as in `CUDAGuard guard(x.device())`. For the CPU the
  /// guard does nothing.
  SCONCE_NODISCARD_CTOR explicit CUDAGuard(const ::sconce::Device& device) {
    if (device.is_cuda()) {
      original_ = ExchangeDevice(device.index());
      current_ = device.has_index() ? device.index() : original_;
    }
  }

  CUDAGuard(const CUDAGuard&) = delete;
  CUDAGuard& operator=(const CUDAGuard&) = delete;
  CUDAGuard(CUDAGuard&&) = delete;
  CUDAGuard& operator=(CUDAGuard&&) = delete;

  /// Makes the original device current again.
  ~CUDAGuard() {
    if (original_ == -1) {
      return;
    }
    std::int32_t ignored = -1;
    // The device was current before, so this fails only where the process can no longer use
    // devices.
    detail::log_failure(::sconce_device_exchange(original_, &ignored),
                        "restoring the device of a CUDAGuard");
  }

  /// Makes another device current; one without an index is a no-op, and so is the CPU.
  void set_device(const ::sconce::Device& device) { set_index(device.index()); }

  /// Another name of `set_device`.
  void reset_device(const ::sconce::Device& device) { set_device(device); }

  /// Makes the device with another index current; -1 is a no-op.
  /// \throws Error `SCONCE_ERROR_INVALID_DEVICE` when there is no such device
  void set_index(DeviceIndex index) {
    if (index != -1) {
      const DeviceIndex before = ExchangeDevice(index);
      original_ = original_ == -1 ? before : original_;
      current_ = index;
    }
  }

  /// The device that was current when the guard was made. The end of the scope restores it. Without
  /// an index while the guard of a CPU has switched nothing.
  [[nodiscard]] Device original_device() const noexcept { return Device(original_); }

  /// The device that this guard made current last. Without an index while the guard of a CPU has
  /// switched nothing.
  [[nodiscard]] Device current_device() const noexcept { return Device(current_); }

 private:
  DeviceIndex original_ = -1;
  DeviceIndex current_ = -1;
};

/// A `CUDAGuard` that may guard nothing yet. Corresponds to `c10::cuda::OptionalCUDAGuard`.
class [[nodiscard]] OptionalCUDAGuard {
 public:
  /// Guards nothing.
  SCONCE_NODISCARD_CTOR OptionalCUDAGuard() noexcept = default;

  /// Makes the device current if there is one. For the CPU nothing is guarded.
  SCONCE_NODISCARD_CTOR explicit OptionalCUDAGuard(const std::optional<::sconce::Device>& device) {
    if (device && device->is_cuda()) {
      guard_.emplace(*device);
    }
  }

  /// Makes the device with this index current.
  SCONCE_NODISCARD_CTOR explicit OptionalCUDAGuard(DeviceIndex index) { guard_.emplace(index); }

  OptionalCUDAGuard(const OptionalCUDAGuard&) = delete;
  OptionalCUDAGuard& operator=(const OptionalCUDAGuard&) = delete;
  OptionalCUDAGuard(OptionalCUDAGuard&&) = delete;
  OptionalCUDAGuard& operator=(OptionalCUDAGuard&&) = delete;
  ~OptionalCUDAGuard() = default;

  /// Makes a device current; the CPU is a no-op. After the first call the end of the scope restores
  /// the original device.
  void set_device(const ::sconce::Device& device) {
    if (device.is_cuda()) {
      set_index(device.index());
    }
  }

  /// Another name of `set_device`.
  void reset_device(const ::sconce::Device& device) { set_device(device); }

  /// Makes the device with another index current, as `set_device` does.
  void set_index(DeviceIndex index) {
    if (guard_) {
      guard_->set_index(index);
    } else {
      guard_.emplace(index);
    }
  }

  /// The device that the end of the scope restores; none while nothing is guarded.
  [[nodiscard]] std::optional<Device> original_device() const noexcept {
    return guard_ ? std::optional<Device>(guard_->original_device()) : std::nullopt;
  }

  /// The device that this guard made current last; none while nothing is guarded.
  [[nodiscard]] std::optional<Device> current_device() const noexcept {
    return guard_ ? std::optional<Device>(guard_->current_device()) : std::nullopt;
  }

  /// Restores the original device now. The guard guards nothing afterwards.
  void reset() noexcept { guard_.reset(); }

 private:
  std::optional<CUDAGuard> guard_;
};

/// Makes a stream and its device current for a scope. Corresponds to `c10::cuda::CUDAStreamGuard`.
class [[nodiscard]] CUDAStreamGuard {
 public:
  CUDAStreamGuard() = delete;

  /// Makes `stream` current on its device, and its device current.
  SCONCE_NODISCARD_CTOR explicit CUDAStreamGuard(const CUDAStream& stream) : current_(stream) {
    detail::check(::sconce_stream_exchange(stream.get(), &replaced_, &original_device_));
    original_ = replaced_;
    if (original_device_ != stream.device_index()) {
      const Status status = ::sconce_stream_get_current(original_device_, &original_);
      if (status != SCONCE_OK) {
        restore();
        detail::throw_error(status);
      }
    }
  }

  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;
  CUDAStreamGuard(CUDAStreamGuard&&) = delete;
  CUDAStreamGuard& operator=(CUDAStreamGuard&&) = delete;

  /// Makes the replaced stream current again on its device, and the original device current.
  ~CUDAStreamGuard() { restore(); }

  /// Makes another stream current instead. If that is on another device, the stream that this guard
  /// replaced becomes current again on the device that the guard leaves, and the new stream's
  /// device becomes current. On failure nothing changes.
  void reset_stream(const CUDAStream& stream) {
    if (stream.device_index() == current_.device_index()) {
      setCurrentCUDAStream(stream);
    } else {
      sconce_stream replaced{};
      std::int32_t left_device = -1;
      detail::check(::sconce_stream_exchange(stream.get(), &replaced, &left_device));
      // The stream was current before, so it can be made current again.
      detail::log_failure(::sconce_stream_set_current(replaced_),
                          "restoring the stream of a CUDAStreamGuard");
      replaced_ = replaced;
    }
    current_ = stream;
  }

  /// The stream that was current on the original device when the guard was made. When the guarded
  /// stream is on another device, this is not the stream that the guard replaced.
  [[nodiscard]] CUDAStream original_stream() const noexcept { return CUDAStream(original_); }

  /// The stream that this guard made current last.
  [[nodiscard]] CUDAStream current_stream() const noexcept { return current_; }

  /// The device that was current when the guard was made. The end of the scope restores it.
  [[nodiscard]] Device original_device() const noexcept { return Device(original_device_); }

  /// The device that this guard made current last: that of `current_stream`.
  [[nodiscard]] Device current_device() const noexcept { return current_.device(); }

 private:
  void restore() noexcept {
    // Both were current before, so this fails only where the process can no longer use devices.
    detail::log_failure(::sconce_stream_restore(replaced_, original_device_),
                        "restoring the stream of a CUDAStreamGuard");
  }

  CUDAStream current_;
  sconce_stream replaced_{};  // what was current on the device of `current_`
  sconce_stream original_{};  // what was current on the original device
  std::int32_t original_device_ = -1;
};

/// Calls `action` while `stream` and its device are current, and returns its result. Use it to run
/// operators and functions of tensors, which have no stream parameter, on a stream.
///
/// Corresponds to a block of `with torch.cuda.stream(s)`.
template <class Action>
decltype(auto) with_stream(const CUDAStream& stream, Action&& action) {
  const CUDAStreamGuard guard(stream);
  return std::forward<Action>(action)();
}

/// A `CUDAStreamGuard` that may guard nothing yet. Corresponds to
/// `c10::cuda::OptionalCUDAStreamGuard`.
class [[nodiscard]] OptionalCUDAStreamGuard {
 public:
  /// Guards nothing.
  SCONCE_NODISCARD_CTOR OptionalCUDAStreamGuard() noexcept = default;

  /// Makes the stream and its device current.
  SCONCE_NODISCARD_CTOR explicit OptionalCUDAStreamGuard(const CUDAStream& stream) {
    guard_.emplace(stream);
  }

  /// Makes the stream and its device current if there is one.
  SCONCE_NODISCARD_CTOR explicit OptionalCUDAStreamGuard(const std::optional<CUDAStream>& stream) {
    if (stream) {
      guard_.emplace(*stream);
    }
  }

  OptionalCUDAStreamGuard(const OptionalCUDAStreamGuard&) = delete;
  OptionalCUDAStreamGuard& operator=(const OptionalCUDAStreamGuard&) = delete;
  OptionalCUDAStreamGuard(OptionalCUDAStreamGuard&&) = delete;
  OptionalCUDAStreamGuard& operator=(OptionalCUDAStreamGuard&&) = delete;
  ~OptionalCUDAStreamGuard() = default;

  /// Makes a stream current. After the first call the end of the scope restores the original stream
  /// and device.
  void reset_stream(const CUDAStream& stream) {
    if (guard_) {
      guard_->reset_stream(stream);
    } else {
      guard_.emplace(stream);
    }
  }

  /// The original stream, as `CUDAStreamGuard::original_stream`; none while nothing is guarded.
  [[nodiscard]] std::optional<CUDAStream> original_stream() const noexcept {
    return guard_ ? std::optional<CUDAStream>(guard_->original_stream()) : std::nullopt;
  }

  /// The stream that this guard made current last; none while nothing is guarded.
  [[nodiscard]] std::optional<CUDAStream> current_stream() const noexcept {
    return guard_ ? std::optional<CUDAStream>(guard_->current_stream()) : std::nullopt;
  }

  /// Restores the original stream and device now. The guard guards nothing afterwards.
  void reset() noexcept { guard_.reset(); }

 private:
  std::optional<CUDAStreamGuard> guard_;
};

/// Makes several streams current, each on its own device. Does not change the current device.
/// Corresponds to `c10::cuda::CUDAMultiStreamGuard`.
///
/// Restores in reverse order, so that two streams of one device are restored correctly (c10's guard
/// restores in forward order and leaves the first of them current).
class [[nodiscard]] CUDAMultiStreamGuard {
 public:
  CUDAMultiStreamGuard() = delete;

  /// Makes each stream current on its device, in order. On failure nothing changes.
  SCONCE_NODISCARD_CTOR explicit CUDAMultiStreamGuard(const std::vector<CUDAStream>& streams)
      : CUDAMultiStreamGuard(streams.data(), streams.size()) {}

  /// Makes the listed streams current: `CUDAMultiStreamGuard guard({a, b});`.
  SCONCE_NODISCARD_CTOR CUDAMultiStreamGuard(std::initializer_list<CUDAStream> streams)
      : CUDAMultiStreamGuard(streams.begin(), streams.size()) {}

  /// Makes the streams of an array current, as those of a vector.
  template <std::size_t N>
  SCONCE_NODISCARD_CTOR explicit CUDAMultiStreamGuard(const std::array<CUDAStream, N>& streams)
      : CUDAMultiStreamGuard(streams.data(), N) {}

  /// Makes the `count` streams of an array current.
  SCONCE_NODISCARD_CTOR CUDAMultiStreamGuard(const CUDAStream* streams, std::size_t count) {
    replaced_.reserve(count);
    try {
      for (std::size_t i = 0; i < count; ++i) {
        const CUDAStream replaced = getCurrentCUDAStream(streams[i].device_index());
        setCurrentCUDAStream(streams[i]);
        replaced_.push_back(replaced);
      }
    } catch (...) {
      restore();
      throw;
    }
  }

  CUDAMultiStreamGuard(const CUDAMultiStreamGuard&) = delete;
  CUDAMultiStreamGuard& operator=(const CUDAMultiStreamGuard&) = delete;
  CUDAMultiStreamGuard(CUDAMultiStreamGuard&&) = delete;
  CUDAMultiStreamGuard& operator=(CUDAMultiStreamGuard&&) = delete;

  /// Makes each replaced stream current again, the last first.
  ~CUDAMultiStreamGuard() { restore(); }

  /// The replaced streams, in the order of the constructor's arguments.
  [[nodiscard]] const std::vector<CUDAStream>& original_streams() const noexcept {
    return replaced_;
  }

 private:
  void restore() noexcept {
    for (auto stream = replaced_.rbegin(); stream != replaced_.rend(); ++stream) {
      // The stream was current before, so it can be made current again.
      detail::log_failure(::sconce_stream_set_current(stream->get()),
                          "restoring a stream of a CUDAMultiStreamGuard");
    }
  }

  std::vector<CUDAStream> replaced_;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_GUARD_HPP
