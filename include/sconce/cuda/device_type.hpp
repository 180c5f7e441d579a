/// \file
/// The CPU or a CUDA device: `Device` and `DeviceType`.
#ifndef SCONCE_CUDA_DEVICE_TYPE_HPP
#define SCONCE_CUDA_DEVICE_TYPE_HPP

#include <sconce/c/device.h>
#include <sconce/c/library.h>

#include <cstddef>
#include <cstdint>
#include <sconce/cuda/device.hpp>
#include <string>

namespace sconce {
inline namespace v0 {

using cuda::DeviceIndex;

/// The kind of a device. Corresponds to `c10::DeviceType`.
enum class DeviceType : std::int8_t {
  CPU = 0,   ///< memory of the host, pinned or not
  CUDA = 1,  ///< a GPU, or a simulated device
  /// A number above those of all kinds, for tables by kind; no kind of device.
  COMPILE_TIME_MAX_DEVICE_TYPES = 21,
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
    if (type != DeviceType::CPU && type != DeviceType::CUDA) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "there is no kind of device with number " +
                                                     std::to_string(static_cast<int>(type)) +
                                                     "; use kCPU or kCUDA");
    }
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
  /// False: every device has memory.
  [[nodiscard]] constexpr bool is_meta() const noexcept { return false; }
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

}  // namespace detail
}  // namespace v0
}  // namespace sconce

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

#endif  // SCONCE_CUDA_DEVICE_TYPE_HPP
