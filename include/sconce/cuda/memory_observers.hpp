/// \file
/// Observers of running out of memory, under torch's names. Not part of `<sconce/sconce.hpp>`,
/// whose units would take longer to compile with the standard headers that observers need.
#ifndef SCONCE_CUDA_MEMORY_OBSERVERS_HPP
#define SCONCE_CUDA_MEMORY_OBSERVERS_HPP

#include <sconce/c/library.h>
#include <sconce/c/memory.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sconce/cuda/error.hpp>
#include <sconce/fwd.hpp>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace cuda::CUDACachingAllocator {

/// A function that is called when an allocation fails for lack of memory, with the device, the
/// bytes requested from the driver, the bytes that may be used, and the bytes that the device has
/// free. It must not throw.
using OutOfMemoryObserver = std::function<void(std::int64_t device, std::size_t allocated,
                                               std::size_t device_total, std::size_t device_free)>;

}  // namespace cuda::CUDACachingAllocator
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

/// The program's observers by number. If a call comes late, on another thread whose allocation
/// failed, it finds that its observer no longer exists, instead of using a freed one.
class OutOfMemoryObservers {
 public:
  using Observer = cuda::CUDACachingAllocator::OutOfMemoryObserver;

  /// Never destroyed: memory can run out while a process ends.
  static OutOfMemoryObservers& all() {
    static auto* const observers = new OutOfMemoryObservers;
    return *observers;
  }

  std::uintptr_t add(Observer observer) {
    auto shared = std::make_shared<const Observer>(std::move(observer));
    const std::lock_guard<std::mutex> lock(mutex_);
    observers_.emplace(++newest_, std::move(shared));
    return newest_;
  }

  void remove(std::uintptr_t number) noexcept {
    std::shared_ptr<const Observer> removed;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto place = observers_.find(number);
    if (place != observers_.end()) {
      removed = std::move(place->second);
      observers_.erase(place);
    }
  }

  static void call(std::int32_t device, std::size_t allocated, std::size_t device_total,
                   std::size_t device_free, void* user) noexcept {
    if (const auto observer = all().find(reinterpret_cast<std::uintptr_t>(user))) {
      (*observer)(device, allocated, device_total, device_free);
    }
  }

 private:
  std::shared_ptr<const Observer> find(std::uintptr_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto place = observers_.find(number);
    return place == observers_.end() ? nullptr : place->second;
  }

  std::mutex mutex_;
  std::uintptr_t newest_ = 0;
  std::map<std::uintptr_t, std::shared_ptr<const Observer>> observers_;
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda::CUDACachingAllocator {

/// An attached observer; the destructor detaches it. Movable, not copyable.
class [[nodiscard]] AttachedObserver {
 public:
  /// Attaches an observer. Prefer `attachOutOfMemoryObserver`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for an observer that holds no function
  SCONCE_NODISCARD_CTOR explicit AttachedObserver(OutOfMemoryObserver observer) {
    if (!observer) {
      // Refused with the library's message.
      detail::check(::sconce_memory_attach_oom_observer(nullptr, nullptr, &id_));
    }
    number_ = detail::OutOfMemoryObservers::all().add(std::move(observer));
    const Status status = ::sconce_memory_attach_oom_observer(
        detail::OutOfMemoryObservers::call, reinterpret_cast<void*>(number_), &id_);
    if (status != SCONCE_OK) {
      detail::OutOfMemoryObservers::all().remove(number_);
      detail::throw_error(status);
    }
  }

  AttachedObserver(const AttachedObserver&) = delete;
  AttachedObserver& operator=(const AttachedObserver&) = delete;
  /// Takes over the other's observer.
  AttachedObserver(AttachedObserver&& other) noexcept
      : number_(std::exchange(other.number_, 0)), id_(std::exchange(other.id_, 0)) {}
  /// Detaches its own observer and takes over the other's.
  AttachedObserver& operator=(AttachedObserver&& other) noexcept {
    AttachedObserver taken(std::move(other));
    std::swap(number_, taken.number_);
    std::swap(id_, taken.id_);
    return *this;
  }

  /// Detaches the observer.
  ~AttachedObserver() { detach(); }

  /// Detaches the observer. A call on another thread may still be running. A no-op if it is
  /// detached already.
  void detach() noexcept {
    if (id_ != 0) {
      detail::log_failure(::sconce_memory_detach_oom_observer(std::exchange(id_, 0)),
                          "detaching an observer of running out of memory");
      detail::OutOfMemoryObservers::all().remove(std::exchange(number_, 0));
    }
  }

 private:
  std::uintptr_t number_ = 0;
  std::uint64_t id_ = 0;
};

/// Registers `observer`, which is called whenever an allocation fails for lack of memory, on that
/// thread, before the failure is thrown. It stays attached as long as the returned object lives;
/// c10's observers stay until the process ends.
[[nodiscard]] inline AttachedObserver attachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  return AttachedObserver(std::move(observer));
}

}  // namespace cuda::CUDACachingAllocator
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_MEMORY_OBSERVERS_HPP
