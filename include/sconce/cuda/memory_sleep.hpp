/// \file
/// Device memory that moves to the host or to a file, and returns at the same addresses.
#ifndef SCONCE_CUDA_MEMORY_SLEEP_HPP
#define SCONCE_CUDA_MEMORY_SLEEP_HPP

#include <sconce/c/memory.h>

#include <cstdint>
#include <sconce/cuda/device.hpp>
#include <string>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Where the bytes of live blocks are while their pool sleeps.
enum class SleepMode : std::int32_t {
  Awake = SCONCE_SLEEP_NONE,                  ///< the pool is awake; only reported
  Discard = SCONCE_SLEEP_DISCARD,             ///< nowhere: the bytes are lost
  HostPinned = SCONCE_SLEEP_HOST_PINNED,      ///< in pinned memory of the host
  HostPageable = SCONCE_SLEEP_HOST_PAGEABLE,  ///< in ordinary memory of the host
  File = SCONCE_SLEEP_FILE,                   ///< in a file
};

/// What live blocks contain after their pool has woken.
enum class WakeMode : std::int32_t {
  Restore = SCONCE_WAKE_RESTORE,  ///< the saved bytes; undefined after `SleepMode::Discard`
  Empty = SCONCE_WAKE_EMPTY,      ///< undefined contents
};

/// Where the bytes of a pool are saved when it is put to sleep.
class SleepPlace {
 public:
  /// Nowhere: the bytes are lost. The fastest, for memory that the program fills again itself.
  static SleepPlace discard() { return SleepPlace(SleepMode::Discard, {}); }
  /// Pinned memory of the host. Copies run at the speed of the link.
  static SleepPlace host_pinned() { return SleepPlace(SleepMode::HostPinned, {}); }
  /// Ordinary memory of the host.
  static SleepPlace host_pageable() { return SleepPlace(SleepMode::HostPageable, {}); }
  /// An unnamed file in a folder. It disappears when the process ends.
  static SleepPlace file(std::string folder) {
    return SleepPlace(SleepMode::File, std::move(folder));
  }

  /// Which kind of place it is.
  [[nodiscard]] SleepMode mode() const noexcept { return mode_; }

  /// The C API's description, valid as long as this object.
  [[nodiscard]] sconce_sleep_desc desc() const noexcept {
    sconce_sleep_desc desc = SCONCE_SLEEP_DESC_INIT;
    desc.mode = static_cast<std::int32_t>(mode_);
    if (mode_ == SleepMode::File) desc.path = folder_.c_str();
    return desc;
  }

 private:
  SleepPlace(SleepMode mode, std::string folder) : mode_(mode), folder_(std::move(folder)) {}

  SleepMode mode_;
  std::string folder_;
};

/// State of a pool on a device.
struct SleepState {
  SleepMode mode = SleepMode::Awake;  ///< the place of its bytes
  std::uint64_t sleeping_bytes = 0;   ///< bytes whose memory has gone back to the driver
  std::uint64_t saved_bytes = 0;      ///< bytes of live blocks that were saved
};

}  // namespace cuda

namespace detail {

// A pool of NULL is the default pool.
inline void pool_sleep(sconce_memory_pool* pool, const cuda::SleepPlace& place,
                       cuda::DeviceIndex device) {
  const sconce_sleep_desc desc = place.desc();
  check(::sconce_memory_pool_sleep(pool, device, &desc));
}

inline void pool_wake(sconce_memory_pool* pool, cuda::WakeMode mode, cuda::DeviceIndex device) {
  check(::sconce_memory_pool_wake(pool, device, static_cast<std::int32_t>(mode)));
}

inline cuda::SleepState pool_sleep_state(sconce_memory_pool* pool, cuda::DeviceIndex device) {
  sconce_memory_sleep_state state = SCONCE_MEMORY_SLEEP_STATE_INIT;
  check(::sconce_memory_pool_get_sleep_state(pool, device, &state));
  return {static_cast<cuda::SleepMode>(state.mode), state.sleeping_bytes, state.saved_bytes};
}

inline void* pool_backup_pointer(sconce_memory_pool* pool, const void* ptr) {
  void* host = nullptr;
  check(::sconce_memory_pool_backup_pointer(pool, ptr, &host));
  return host;
}

}  // namespace detail

namespace cuda {

/// Puts the default pool of a device to sleep, as `MemPool::sleep` does with another one.
inline void sleep_default_pool(const SleepPlace& place = SleepPlace::host_pinned(),
                               DeviceIndex device = -1) {
  detail::pool_sleep(nullptr, place, device);
}

/// Wakes the default pool of a device, as `MemPool::wake` does with another one.
inline void wake_default_pool(WakeMode mode = WakeMode::Restore, DeviceIndex device = -1) {
  detail::pool_wake(nullptr, mode, device);
}

/// Returns whether the default pool of a device sleeps, and how much of it.
[[nodiscard]] inline SleepState default_pool_sleep_state(DeviceIndex device = -1) {
  return detail::pool_sleep_state(nullptr, device);
}

/// Returns the host address of the saved bytes of a live block of the default pool while the pool
/// sleeps, as `MemPool::backup_pointer` does with another pool.
[[nodiscard]] inline void* default_pool_backup_pointer(const void* ptr) {
  return detail::pool_backup_pointer(nullptr, ptr);
}

/// Puts all memory of a device to sleep: the default pool, and every pool with memory there that is
/// awake. If one cannot sleep, those that this call has put to sleep are woken again.
/// \throws Error as `MemPool::sleep`
inline void sleep_device(const SleepPlace& place = SleepPlace::host_pinned(),
                         DeviceIndex device = -1) {
  const sconce_sleep_desc desc = place.desc();
  detail::check(::sconce_memory_sleep(device, &desc));
}

/// Wakes every sleeping pool of a device. If one cannot wake, it and those after it stay asleep.
/// \throws Error as `MemPool::wake`
inline void wake_device(WakeMode mode = WakeMode::Restore, DeviceIndex device = -1) {
  detail::check(::sconce_memory_wake(device, static_cast<std::int32_t>(mode)));
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_MEMORY_SLEEP_HPP
