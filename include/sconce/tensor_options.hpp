/// \file
/// The device, type and memory format of a new tensor: `Device` and `TensorOptions`.
#ifndef SCONCE_TENSOR_OPTIONS_HPP
#define SCONCE_TENSOR_OPTIONS_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <sconce/device.hpp>
#include <sconce/memory_format.hpp>
#include <sconce/scalar_type.hpp>
#include <string>

namespace sconce {
inline namespace v0 {

using cuda::DeviceIndex;

/// The kind of a device. Corresponds to `c10::DeviceType`.
enum class DeviceType : std::int8_t {
  CPU = 0,   ///< memory of the host, pinned or not
  CUDA = 1,  ///< a GPU, or a simulated device
};

inline constexpr DeviceType kCPU = DeviceType::CPU;    ///< `DeviceType::CPU`
inline constexpr DeviceType kCUDA = DeviceType::CUDA;  ///< `DeviceType::CUDA`

/// The device of a tensor: the CPU, or a CUDA device by its index. Corresponds to `c10::Device`.
///
/// `sconce::cuda::Device` is the CUDA part of it, and converts to it.
class Device {
 public:
  /// The CPU, or a CUDA device; an index of -1 is the device that is current when it is used.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a CPU with an index above 0, or an index
  ///         below -1
  constexpr Device(DeviceType type, DeviceIndex index = -1)  // NOLINT: as c10::Device
      : type_(type), index_(type == DeviceType::CPU ? -1 : index) {
    if (index < -1 || (type == DeviceType::CPU && index > 0)) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "there is no device with index " + std::to_string(index) +
                      "; the CPU has none, CUDA devices have 0 and above");
    }
  }
  /// A CUDA device, as a number means in Python.
  constexpr Device(DeviceIndex index) : Device(DeviceType::CUDA, index) {}  // NOLINT: as in Python
  /// A CUDA device.
  constexpr Device(cuda::Device device)  // NOLINT: a part of this class
      : Device(DeviceType::CUDA, device.index()) {}
  /// `cpu`, `cuda` or `cuda:1`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other text
  Device(const std::string& name) : Device(named(name)) {}  // NOLINT: as c10::Device
  /// `cpu`, `cuda` or `cuda:1`.
  Device(const char* name) : Device(std::string(name)) {}  // NOLINT: as c10::Device

  /// The kind.
  [[nodiscard]] constexpr DeviceType type() const noexcept { return type_; }
  /// The index; -1 for the CPU, and for a CUDA device without one.
  [[nodiscard]] constexpr DeviceIndex index() const noexcept { return index_; }
  /// Whether there is an index.
  [[nodiscard]] constexpr bool has_index() const noexcept { return index_ != -1; }
  /// Whether it is the CPU.
  [[nodiscard]] constexpr bool is_cpu() const noexcept { return type_ == DeviceType::CPU; }
  /// Whether it is a CUDA device.
  [[nodiscard]] constexpr bool is_cuda() const noexcept { return type_ == DeviceType::CUDA; }
  /// Returns torch's spelling: `cpu`, `cuda:1`, or `cuda` without an index.
  [[nodiscard]] std::string str() const { return is_cpu() ? "cpu" : cuda::Device(index_).str(); }

  /// Same kind and same index.
  friend constexpr bool operator==(const Device& a, const Device& b) noexcept {
    return a.type_ == b.type_ && a.index_ == b.index_;
  }
  /// Another kind or another index.
  friend constexpr bool operator!=(const Device& a, const Device& b) noexcept { return !(a == b); }

 private:
  static Device named(const std::string& name) {
    if (name == "cpu") {
      return DeviceType::CPU;
    }
    if (name == "cuda") {
      return DeviceType::CUDA;
    }
    const std::string digits = name.compare(0, 5, "cuda:") == 0 ? name.substr(5) : std::string();
    const bool number = digits.find_first_not_of("0123456789") == std::string::npos;
    if (digits.empty() || digits.size() > 4 || !number) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "Invalid device string: '" + name + "'; it must be cpu, cuda or cuda:INDEX");
    }
    return {DeviceType::CUDA, std::stoi(digits)};
  }

  DeviceType type_;
  DeviceIndex index_;
};

/// Writes torch's spelling of a device, e.g. `cuda:1`.
template <class Char, class Traits>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                             const Device& device) {
  return out << device.str().c_str();
}

}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

/// The number of a device in the C API. For a CUDA device without an index, returns the current
/// device, because -1 would keep a tensor on its device.
inline std::int32_t number_of(const Device& device) {
  if (device.is_cpu()) {
    return SCONCE_DEVICE_CPU;
  }
  return device.has_index() ? device.index() : cuda::current_device();
}

/// The device with a number of the C API.
inline Device device_of(std::int32_t number) {
  return number == SCONCE_DEVICE_CPU ? Device(DeviceType::CPU) : Device(number);
}

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
      throw NotSupportedError(SCONCE_ERROR_NOT_SUPPORTED,
                              "requires_grad: tensors have no gradients; see <sconce/tape.hpp> for "
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
/// \cond
/// Hashes a device by its kind and its index.
template <>
struct std::hash<sconce::Device> {
  /// The hash.
  std::size_t operator()(const sconce::Device& device) const noexcept {
    return std::hash<sconce::DeviceIndex>()(device.is_cpu() ? -2 : device.index());
  }
};
/// \endcond

#endif  // SCONCE_TENSOR_OPTIONS_HPP
