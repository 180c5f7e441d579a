/// \file
/// The device, type and memory format of a new tensor: `TensorOptions`.
#ifndef SCONCE_TENSOR_OPTIONS_HPP
#define SCONCE_TENSOR_OPTIONS_HPP

#include <sconce/c/dtype.h>
#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstdint>
#include <optional>
#include <sconce/cuda/device_type.hpp>
#include <sconce/cuda/memory_format.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The C API's number of an order in memory.
constexpr std::int32_t number_of(MemoryFormat format) noexcept {
  switch (format) {
    case MemoryFormat::Contiguous:
      return SCONCE_MEMORY_FORMAT_CONTIGUOUS;
    case MemoryFormat::ChannelsLast:
      return SCONCE_MEMORY_FORMAT_CHANNELS_LAST;
    case MemoryFormat::ChannelsLast3d:
      return SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D;
    case MemoryFormat::Preserve:
      break;
  }
  return SCONCE_MEMORY_FORMAT_PRESERVE;
}

/// The C API's number of a type that may be left to the call.
constexpr std::int32_t number_of(const std::optional<ScalarType>& dtype) noexcept {
  return dtype ? static_cast<std::int32_t>(*dtype) : SCONCE_DTYPE_DEFAULT;
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// How the elements of a tensor are stored: there is one way. Corresponds to `c10::Layout`.
enum class Layout : std::int8_t {
  Strided = 0,  ///< by sizes and strides
};
inline constexpr Layout kStrided = Layout::Strided;  ///< `Layout::Strided`

/// Type, device and memory format of a new tensor. For options that are not set, the call uses its
/// defaults: factories use `kFloat` and the current device, functions of a tensor use those of the
/// tensor. Corresponds to `c10::TensorOptions`.
///
/// \code
/// auto a = sconce::empty({2, 3}, sconce::device(1).dtype(sconce::kHalf));
/// auto b = sconce::zeros({4}, sconce::kLong);  // a type or a device alone will do
/// \endcode
class TensorOptions {
 public:
  /// No options are set.
  constexpr TensorOptions() noexcept {}
  /// A type.
  constexpr TensorOptions(ScalarType dtype) noexcept  // NOLINT: as c10's
      : dtype_(dtype), has_dtype_(true) {}
  /// A device.
  constexpr TensorOptions(Device device) noexcept  // NOLINT: as c10's
      : device_(device), has_device_(true) {}
  /// A kind of device.
  constexpr TensorOptions(DeviceType type)  // NOLINT: as c10's
      : TensorOptions(Device(type)) {}
  /// A CUDA device.
  constexpr TensorOptions(cuda::Device device)  // NOLINT: as c10's
      : TensorOptions(Device(device)) {}
  /// An order in memory.
  constexpr TensorOptions(MemoryFormat format) noexcept  // NOLINT: as c10's
      : memory_format_(format) {}

  /// These options with another type.
  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> dtype) const noexcept {
    TensorOptions result = *this;
    result.dtype_ = dtype.value_or(ScalarType::Float);
    result.has_dtype_ = dtype.has_value();
    return result;
  }
  /// These options with another device.
  [[nodiscard]] constexpr TensorOptions device(std::optional<Device> device) const noexcept {
    TensorOptions result = *this;
    result.device_ = device.value_or(Device(DeviceType::CUDA));
    result.has_device_ = device.has_value();
    return result;
  }
  /// These options with another device.
  [[nodiscard]] constexpr TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  /// These options with another device.
  [[nodiscard]] constexpr TensorOptions device(DeviceIndex index) const {
    return device(Device(index));
  }
  /// These options, for page-locked memory of the CPU or not. Without a device, page-locked memory
  /// means the CPU.
  [[nodiscard]] constexpr TensorOptions pinned_memory(bool pinned) const noexcept {
    TensorOptions result = *this;
    result.pinned_ = pinned;
    return result;
  }
  /// These options with another order in memory.
  [[nodiscard]] constexpr TensorOptions memory_format(MemoryFormat format) const noexcept {
    TensorOptions result = *this;
    result.memory_format_ = format;
    return result;
  }

  /// These options. Corresponds to the method that asks for gradients.
  /// \throws NotSupportedError if gradients are asked for: there are none here
  [[nodiscard]] TensorOptions requires_grad(bool requires_grad) const {
    if (requires_grad) {
      throw NotSupportedError(
          SCONCE_ERROR_NOT_SUPPORTED,
          "requires_grad: tensors have no gradients; see <sconce/tensor/tape.hpp> for "
          "backward passes of your own");
    }
    return *this;
  }
  /// These options: every tensor is strided.
  [[nodiscard]] constexpr TensorOptions layout(Layout) const noexcept { return *this; }

  /// The type; `kFloat` if it is not set.
  [[nodiscard]] constexpr ScalarType dtype() const noexcept { return dtype_; }
  /// The device. If it is not set: the CPU for page-locked memory, else a CUDA device without an
  /// index, which is the current one.
  [[nodiscard]] constexpr Device device() const {
    return !has_device_ && pinned_ ? Device(DeviceType::CPU) : device_;
  }
  /// The type, if it is set.
  [[nodiscard]] constexpr std::optional<ScalarType> dtype_opt() const noexcept {
    return has_dtype_ ? std::optional(dtype_) : std::nullopt;
  }
  /// The device, if it is set.
  [[nodiscard]] constexpr std::optional<Device> device_opt() const noexcept {
    return has_device_ ? std::optional(device_) : std::nullopt;
  }
  /// Whether memory of the CPU is page-locked.
  [[nodiscard]] constexpr bool pinned_memory() const noexcept { return pinned_; }
  /// The order in memory.
  [[nodiscard]] constexpr MemoryFormat memory_format() const noexcept { return memory_format_; }

  /// The C API's struct.
  [[nodiscard]] sconce_tensor_options get() const {
    sconce_tensor_options options = SCONCE_TENSOR_OPTIONS_INIT;
    options.dtype = has_dtype_ ? static_cast<std::int32_t>(dtype_) : SCONCE_DTYPE_DEFAULT;
    options.device = has_device_ ? detail::number_of(device_) : -1;
    options.memory_format = detail::number_of(memory_format_);
    options.pinned = pinned_;
    return options;
  }

 private:
  // Not std::optional: compilers warn about empty ones under AddressSanitizer.
  ScalarType dtype_ = ScalarType::Float;
  Device device_ = DeviceType::CUDA;
  bool has_dtype_ = false;
  bool has_device_ = false;
  MemoryFormat memory_format_ = MemoryFormat::Preserve;
  bool pinned_ = false;
};

/// Options with a type.
[[nodiscard]] constexpr TensorOptions dtype(ScalarType dtype) noexcept { return dtype; }
/// Options with a device: `device(1)`, `device(kCPU)`, `device("cuda:1")`.
[[nodiscard]] constexpr TensorOptions device(Device device) noexcept { return device; }
/// Options with a device.
[[nodiscard]] constexpr TensorOptions device(DeviceType type, DeviceIndex index) {
  return Device(type, index);
}
/// Options for page-locked memory of the CPU, which is then the device unless another is named, or
/// not.
[[nodiscard]] constexpr TensorOptions pinned_memory(bool pinned = true) noexcept {
  return TensorOptions().pinned_memory(pinned);
}
/// Options with an order in memory.
[[nodiscard]] constexpr TensorOptions memory_format(MemoryFormat format) noexcept { return format; }

}  // namespace v0
}  // namespace sconce

// Doxygen 1.9 cannot place a specialisation of std.
#endif  // SCONCE_TENSOR_OPTIONS_HPP
