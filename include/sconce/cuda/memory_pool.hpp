/// \file
/// Private pools of device memory.
#ifndef SCONCE_CUDA_MEMORY_POOL_HPP
#define SCONCE_CUDA_MEMORY_POOL_HPP

#include <sconce/c/memory.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <sconce/cuda/device.hpp>
#include <sconce/cuda/memory_sleep.hpp>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// What the memory of a private pool consists of: segments or pages.
enum class MemPolicy : std::int32_t {
  OfSettings = SCONCE_MEMORY_POLICY_OF_SETTINGS,  ///< as the settings choose
  Segments = SCONCE_MEMORY_POLICY_SEGMENTS,       ///< segments, regardless of the settings
  Pages = SCONCE_MEMORY_POLICY_PAGES,             ///< pages: torch's expandable segments
};

/// A private memory pool, which serves only allocations inside a `MemPoolGuard`. Owns it; movable,
/// not copyable. Corresponds to `c10::cuda::MemPool` and `torch.cuda.MemPool`.
///
/// Its allocations may outlive it, and are freed as usual. A moved-from pool may only be assigned
/// to or destroyed.
class [[nodiscard]] MemPool {
 public:
  /// Creates a pool without any memory yet; it serves all devices.
  SCONCE_NODISCARD_CTOR MemPool() : MemPool(MemPolicy::OfSettings) {}

  /// Creates a pool with the given policy, without any memory yet; it serves all devices.
  SCONCE_NODISCARD_CTOR explicit MemPool(MemPolicy policy) {
    sconce_memory_pool* pool = nullptr;
    detail::check(
        ::sconce_memory_pool_create_with_policy(static_cast<std::int32_t>(policy), &pool));
    pool_.reset(pool);
  }

  /// The number of the pool in snapshots and histories: the second of the pair.
  [[nodiscard]] std::uint64_t id() const {
    std::uint64_t id = 0;
    detail::check(::sconce_memory_pool_get_id(get(), &id));
    return id;
  }

  /// The C API's handle. This object keeps its ownership.
  [[nodiscard]] sconce_memory_pool* get() const noexcept { return pool_.get(); }

  /// Returns unused memory of the pool to the driver; `empty_cache` does not. Nothing goes back
  /// while the pool is fixed, or while a graph holds it.
  /// \returns the number of bytes
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` if a stream is captured
  std::size_t trim() {
    std::size_t bytes = 0;
    detail::check(::sconce_memory_pool_trim(get(), &bytes));
    return bytes;
  }

  /// Fixes the memory of the pool on every device, or ends that. Fixed memory cannot sleep and does
  /// not go back to the driver, and the pool cannot be destroyed. For memory that the program has
  /// registered with another library, for example with `ncclCommRegister`.
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` if the pool is asleep on a device;
  ///   `SCONCE_ERROR_NOT_SUPPORTED` without caching
  void set_fixed(bool fixed = true) { detail::check(::sconce_memory_pool_set_fixed(get(), fixed)); }

  /// Returns whether the memory of the pool is fixed.
  [[nodiscard]] bool is_fixed() const {
    bool fixed = false;
    detail::check(::sconce_memory_pool_is_fixed(get(), &fixed));
    return fixed;
  }

  /// Puts the pool to sleep on a device, -1 for the current one: its memory goes back to the
  /// driver, its addresses stay reserved, and the bytes of live blocks are saved. Waits for the
  /// device. The memory must consist of pages: `MemPolicy::Pages`, or `policy:pages` in the
  /// settings.
  ///
  /// Until the pool wakes, its blocks may only be freed. Calls of this library with such addresses,
  /// allocations from the pool, and launches of graphs that use the pool's memory throw.
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` if the pool is asleep or fixed, or if a stream of
  ///   the device is being captured; `SCONCE_ERROR_NOT_SUPPORTED` if memory of the pool does not
  ///   consist of pages; `SCONCE_ERROR_OUT_OF_MEMORY` or `SCONCE_ERROR_IO` if the bytes cannot be
  ///   saved. The pool is then awake, unless the message says otherwise.
  void sleep(const SleepPlace& place = SleepPlace::host_pinned(), DeviceIndex device = -1) {
    detail::pool_sleep(get(), place, device);
  }

  /// Wakes the pool on a device, -1 for the current one: restores its memory at the same addresses,
  /// for every stream.
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` if the pool is awake; `SCONCE_ERROR_OUT_OF_MEMORY`
  ///   if the device has too little memory: the pool then sleeps as before
  void wake(WakeMode mode = WakeMode::Restore, DeviceIndex device = -1) {
    detail::pool_wake(get(), mode, device);
  }

  /// Returns whether the pool sleeps on a device, -1 for the current one, and how much of it.
  [[nodiscard]] SleepState sleep_state(DeviceIndex device = -1) const {
    return detail::pool_sleep_state(get(), device);
  }

  /// Returns the host address of the saved bytes of a live block while the pool sleeps, so that the
  /// program can replace them: the pool wakes with the bytes that are there at that time. The bytes
  /// up to the end of the block follow. Valid until the pool wakes.
  [[nodiscard]] void* backup_pointer(const void* ptr) const {
    return detail::pool_backup_pointer(get(), ptr);
  }

 private:
  struct Destroy {
    void operator()(sconce_memory_pool* pool) const noexcept {
      // Refused inside a guard of the pool, and while its memory is fixed; the pool stays then.
      detail::log_failure(::sconce_memory_pool_destroy(pool), "destroying a MemPool");
    }
  };
  std::unique_ptr<sconce_memory_pool, Destroy> pool_;
};

/// Serves this thread's allocations on a device from a pool for a scope. The innermost guard
/// applies. Corresponds to `torch.cuda.use_mem_pool`.
class [[nodiscard]] MemPoolGuard {
 public:
  /// Begins on a device, -1 for the current one. The pool must outlive the guard.
  /// \throws Error `SCONCE_ERROR_INVALID_STATE` inside a guard of the same pool and device
  SCONCE_NODISCARD_CTOR explicit MemPoolGuard(const MemPool& pool, DeviceIndex device = -1)
      : pool_(pool.get()), device_(device == -1 ? current_device() : device) {
    detail::check(::sconce_memory_pool_begin(pool_, device_));
  }

  MemPoolGuard(const MemPoolGuard&) = delete;
  MemPoolGuard& operator=(const MemPoolGuard&) = delete;
  MemPoolGuard(MemPoolGuard&&) = delete;
  MemPoolGuard& operator=(MemPoolGuard&&) = delete;

  /// Ends; allocations stay valid.
  ~MemPoolGuard() {
    detail::log_failure(::sconce_memory_pool_end(pool_, device_), "ending a MemPoolGuard");
  }

 private:
  sconce_memory_pool* pool_;
  DeviceIndex device_;
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_MEMORY_POOL_HPP
