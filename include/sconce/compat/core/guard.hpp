/// \file
/// c10's guards of a device of any kind, for code written for c10: `DeviceGuard`, `device_of`.
/// Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_CORE_GUARD_HPP
#define SCONCE_COMPAT_CORE_GUARD_HPP

#include <optional>
#include <sconce/cuda/guard.hpp>
#include <sconce/tensor/base.hpp>
#include <utility>

namespace sconce {
inline namespace v0 {

/// The device of a tensor; none if the tensor is undefined. Corresponds to `at::device_of`, which
/// code calls without a namespace.
[[nodiscard]] inline std::optional<Device> device_of(const TensorBase& tensor) {
  return tensor.defined() ? std::optional<Device>(tensor.device()) : std::nullopt;
}

namespace compat {
namespace c10 {

/// Makes a device of any kind current for a scope. For the CPU it does nothing, and makes no driver
/// call. Corresponds to `c10::DeviceGuard`.
class [[nodiscard]] DeviceGuard {
 public:
  /// Makes a CUDA device current; a device without an index changes nothing.
  SCONCE_NODISCARD_CTOR explicit DeviceGuard(const Device& device)
      : original_(device), current_(device) {
    enter(device);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  DeviceGuard(DeviceGuard&&) = delete;
  DeviceGuard& operator=(DeviceGuard&&) = delete;
  ~DeviceGuard() = default;

  /// Makes another device current. A device of another kind ends this guard and begins a new one.
  void reset_device(const Device& device) {
    if (device.type() != original_.type()) {
      guard_.reset();
      enter(device);
    } else if (guard_ && device.has_index()) {
      guard_->set_index(device.index());
      current_ = device;
    }
  }
  /// Makes another device of the same kind current.
  void set_index(DeviceIndex index) {
    if (guard_) {
      reset_device(Device(DeviceType::CUDA, index));
    }
  }
  /// The device that was current before; the CPU for a guard of the CPU.
  [[nodiscard]] Device original_device() const noexcept { return original_; }
  /// The device that the guard made current.
  [[nodiscard]] Device current_device() const noexcept { return current_; }

 private:
  /// Begins with a device; there is no guard yet.
  void enter(const Device& device) {
    if (device.is_cuda()) {
      (void)guard_.emplace(device.index());
      original_ = guard_->original_device();
      current_ = guard_->current_device();
    } else {
      original_ = current_ = device;
    }
  }

  std::optional<::sconce::cuda::CUDAGuard> guard_;
  Device original_;
  Device current_;
};

/// A `DeviceGuard` that may guard nothing. Corresponds to `c10::OptionalDeviceGuard`.
class [[nodiscard]] OptionalDeviceGuard {
 public:
  /// Guards nothing.
  SCONCE_NODISCARD_CTOR OptionalDeviceGuard() noexcept = default;
  /// Makes a device current, as `DeviceGuard`.
  SCONCE_NODISCARD_CTOR explicit OptionalDeviceGuard(const Device& device) : guard_(device) {}
  /// Makes a device current if there is one.
  SCONCE_NODISCARD_CTOR explicit OptionalDeviceGuard(const std::optional<Device>& device) {
    if (device) {
      (void)guard_.emplace(*device);
    }
  }
  OptionalDeviceGuard(const OptionalDeviceGuard&) = delete;
  OptionalDeviceGuard& operator=(const OptionalDeviceGuard&) = delete;
  OptionalDeviceGuard(OptionalDeviceGuard&&) = delete;
  OptionalDeviceGuard& operator=(OptionalDeviceGuard&&) = delete;
  ~OptionalDeviceGuard() = default;

  /// Makes a device current, also if there was none to guard.
  void reset_device(const Device& device) {
    if (guard_) {
      guard_->reset_device(device);
    } else {
      (void)guard_.emplace(device);
    }
  }
  /// The device that was current before; none if nothing is guarded.
  [[nodiscard]] std::optional<Device> original_device() const {
    return guard_ ? std::optional<Device>(guard_->original_device()) : std::nullopt;
  }
  /// The device that the guard made current; none if nothing is guarded.
  [[nodiscard]] std::optional<Device> current_device() const {
    return guard_ ? std::optional<Device>(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace c10
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_CORE_GUARD_HPP
