/// \file
/// Devices: their number, the current device of this thread, and their properties.
///
/// Each thread has its own current device, initially device 0. Making a device current may create
/// its context (as in CUDA 12 and newer), but never one on another device. Returning to device 0
/// creates none.
#ifndef SCONCE_CUDA_DEVICE_HPP
#define SCONCE_CUDA_DEVICE_HPP

#include <sconce/c/device.h>
#include <sconce/c/library.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <sconce/cuda/error.hpp>
#include <string>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The index of a device; -1 means the current one. Corresponds to `c10::DeviceIndex` (wider than
/// its 8 bits).
using DeviceIndex = std::int32_t;

/// A device by its index. Corresponds to `c10::Device`, of which it is the CUDA part.
class Device {
 public:
  /// Constructs the device with this index; -1 means the current device.
  explicit constexpr Device(DeviceIndex index = -1) noexcept : index_(index) {}

  /// The index.
  [[nodiscard]] constexpr DeviceIndex index() const noexcept { return index_; }

  /// Whether the device has an index, rather than being the current one.
  [[nodiscard]] constexpr bool has_index() const noexcept { return index_ != -1; }

  /// Returns torch's spelling: `cuda:1`, or `cuda` without an index.
  [[nodiscard]] std::string str() const {
    return has_index() ? "cuda:" + std::to_string(index_) : std::string("cuda");
  }

  /// Same index.
  friend constexpr bool operator==(Device a, Device b) noexcept { return a.index_ == b.index_; }
  /// Different index.
  friend constexpr bool operator!=(Device a, Device b) noexcept { return a.index_ != b.index_; }

 private:
  DeviceIndex index_;
};

/// Writes torch's spelling of a device, e.g. `cuda:1`.
template <class Char, class Traits>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, Device device) {
  return out << device.str().c_str();
}

/// Returns the number of devices; 0 without a backend. Never fails and creates no context.
///
/// Corresponds to `c10::cuda::device_count`.
[[nodiscard]] inline DeviceIndex device_count() noexcept { return ::sconce_device_count(); }

/// Returns the number of devices, at least 1.
///
/// Corresponds to `c10::cuda::device_count_ensure_non_zero`.
/// \throws Error `SCONCE_ERROR_NO_DEVICE` if there is none
[[nodiscard]] inline DeviceIndex device_count_ensure_non_zero() {
  const DeviceIndex count = device_count();
  if (count == 0) {
    throw Error(SCONCE_ERROR_NO_DEVICE,
                "No CUDA GPUs are available; SCONCE_BACKEND=sim selects simulated devices");
  }
  return count;
}

/// Whether there is a device. Never fails and creates no context.
///
/// Corresponds to `at::cuda::is_available`.
[[nodiscard]] inline bool is_available() noexcept { return ::sconce_is_available(); }

/// This thread's current device.
///
/// Corresponds to `c10::cuda::current_device`.
/// \throws Error `SCONCE_ERROR_NO_DEVICE` if there is none
[[nodiscard]] inline DeviceIndex current_device() {
  std::int32_t device = -1;
  detail::check(::sconce_device_get_current(&device));
  return device;
}

/// Makes `device` this thread's current device; a negative index is a no-op. Prefer `CUDAGuard`.
///
/// Corresponds to `c10::cuda::set_device`.
/// \throws Error `SCONCE_ERROR_INVALID_DEVICE` if there is no such device
inline void set_device(DeviceIndex device) { detail::check(::sconce_device_set_current(device)); }

/// Makes `device` current and returns the previous device; -1 changes nothing. Guards use this
/// function.
///
/// Corresponds to `c10::cuda::ExchangeDevice`.
/// \throws Error `SCONCE_ERROR_INVALID_DEVICE` if there is no such device
inline DeviceIndex ExchangeDevice(DeviceIndex device) {
  std::int32_t previous = -1;
  detail::check(::sconce_device_exchange(device, &previous));
  return previous;
}

/// Waits until all work queued on the device has finished. Does not change the current device.
///
/// Corresponds to `c10::cuda::device_synchronize` and `torch.cuda.synchronize(device)`.
/// \throws Error the failure of earlier work, if it failed
inline void device_synchronize(DeviceIndex device = -1) {
  detail::check(::sconce_device_synchronize(device));
}

/// Waits for all work of a device, unless a stream of the device is being captured.
/// \returns whether it has waited
inline bool try_device_synchronize(DeviceIndex device = -1) {
  bool waited = false;
  detail::check(::sconce_device_try_synchronize(device, &waited));
  return waited;
}

/// Another name of `device_synchronize`. Corresponds to `torch.cuda.synchronize(device)`.
inline void synchronize(DeviceIndex device = -1) { device_synchronize(device); }

/// Whether the device's primary context exists, whichever code made it. Creates none.
///
/// Corresponds to `c10::cuda::hasPrimaryContext`.
[[nodiscard]] inline bool hasPrimaryContext(DeviceIndex device) {
  bool active = false;
  detail::check(::sconce_device_has_context(device, &active));
  return active;
}

/// Properties of a device: name, compute capability, sizes.
using DeviceProperties = ::sconce_device_properties;

/// Returns the properties of a device. Creates no context.
///
/// Corresponds to `at::cuda::getDeviceProperties` (which returns a pointer to `cudaDeviceProp`).
[[nodiscard]] inline DeviceProperties getDeviceProperties(DeviceIndex device = -1) {
  DeviceProperties properties{};
  properties.struct_size = static_cast<std::uint32_t>(sizeof(properties));
  detail::check(::sconce_device_get_properties(device, &properties));
  return properties;
}

/// The properties of the current device.
///
/// Corresponds to `at::cuda::getCurrentDeviceProperties`.
[[nodiscard]] inline DeviceProperties getCurrentDeviceProperties() {
  return getDeviceProperties(-1);
}

/// The device's compute capability, major and minor.
///
/// Corresponds to `torch.cuda.get_device_capability`.
[[nodiscard]] inline std::pair<int, int> get_device_capability(DeviceIndex device = -1) {
  std::int32_t major = 0;
  std::int32_t minor = 0;
  detail::check(::sconce_device_get_capability(device, &major, &minor));
  return {major, minor};
}

/// The device's name.
///
/// Corresponds to `torch.cuda.get_device_name`.
[[nodiscard]] inline std::string get_device_name(DeviceIndex device = -1) {
  char name[256] = {};
  detail::check(::sconce_device_get_name(device, name, sizeof(name)));
  return name;
}

/// Threads in a warp of the current device.
///
/// Corresponds to `at::cuda::warp_size`.
[[nodiscard]] inline int warp_size() { return getCurrentDeviceProperties().warp_size; }

/// Free and total bytes of a device's memory, as the driver reports them:
/// `auto [free, total] = mem_get_info();`.
struct MemoryInfo {
  std::size_t free_bytes;   ///< bytes that an allocation could still take
  std::size_t total_bytes;  ///< all bytes of the device

  /// Both, in that order. Corresponds to the tuple that torch returns.
  constexpr operator std::pair<std::size_t, std::size_t>() const noexcept {  // NOLINT
    return {free_bytes, total_bytes};
  }
};

/// Free and total memory of the device.
///
/// Corresponds to `torch.cuda.mem_get_info`.
[[nodiscard]] inline MemoryInfo mem_get_info(DeviceIndex device = -1) {
  MemoryInfo info{};
  detail::check(::sconce_device_get_memory_info(device, &info.free_bytes, &info.total_bytes));
  return info;
}

/// Whether the hardware lets kernels of `device` use `peer`'s memory; false for a device and
/// itself.
///
/// Corresponds to `at::cuda::canDeviceAccessPeer`.
[[nodiscard]] inline bool canDeviceAccessPeer(DeviceIndex device, DeviceIndex peer) {
  bool can = false;
  detail::check(::sconce_device_can_access_peer(device, peer, &can));
  return can;
}

/// Lets kernels of `device` use `peer`'s memory. Has no effect if it is enabled already.
///
/// Corresponds to the first call of `at::cuda::get_p2p_access`.
/// \throws NotSupportedError if `canDeviceAccessPeer` is false
inline void enablePeerAccess(DeviceIndex device, DeviceIndex peer) {
  detail::check(::sconce_device_enable_peer_access(device, peer));
}

/// Returns the device whose memory contains `pointer`.
///
/// Corresponds to `at::cuda::getDeviceFromPtr`.
/// \throws Error if the address is not device memory
[[nodiscard]] inline Device getDeviceFromPtr(const void* pointer) {
  std::int32_t device = -1;
  detail::check(::sconce_device_of_pointer(pointer, &device));
  return Device(device);
}

/// Lists the processes that hold memory of the device, one on each line, in torch's format.
///
/// Corresponds to `torch.cuda.list_gpu_processes`.
[[nodiscard]] inline std::string list_gpu_processes(DeviceIndex device = -1) {
  return detail::text_of(
      [&](char** out_text) { return ::sconce_device_list_processes(device, out_text); });
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

// Doxygen 1.9 cannot place a specialisation of std.
/// \cond
/// Hashes a device by its index.
template <>
struct std::hash<sconce::cuda::Device> {
  /// The hash.
  std::size_t operator()(sconce::cuda::Device device) const noexcept {
    return std::hash<sconce::cuda::DeviceIndex>()(device.index());
  }
};
/// \endcond

#endif  // SCONCE_CUDA_DEVICE_HPP
