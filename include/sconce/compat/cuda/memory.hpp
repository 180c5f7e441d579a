/// \file
/// c10's allocators for code written for c10: `DataPtr`, `Allocator`, statistics as arrays. Part of
/// `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_CUDA_MEMORY_HPP
#define SCONCE_COMPAT_CUDA_MEMORY_HPP

#include <sconce/c/host_memory.h>
#include <sconce/c/library.h>
#include <sconce/c/memory.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <sconce/cuda/host_memory.hpp>
#include <sconce/cuda/memory.hpp>
#include <sconce/cuda/memory_observers.hpp>
#include <sconce/tensor/options.hpp>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// Frees what a `DataPtr` owns.
using DeleterFnPtr = void (*)(void*);

/// An address with an owner and a device. Movable, not copyable. Corresponds to `c10::DataPtr`.
class DataPtr {
 public:
  /// Null, of the CPU.
  DataPtr() noexcept : context_(nullptr, &ignore), device_(::sconce::DeviceType::CPU) {}
  /// An address that other code owns.
  DataPtr(void* data, ::sconce::Device device) noexcept
      : data_(data), context_(nullptr, &ignore), device_(device) {}
  /// An address; the destructor calls `deleter(context)` unless `context` is null.
  DataPtr(void* data, void* context, DeleterFnPtr deleter, ::sconce::Device device) noexcept
      : data_(data), context_(context, deleter != nullptr ? deleter : &ignore), device_(device) {}

  /// The address.
  [[nodiscard]] void* get() const noexcept { return data_; }
  /// The address.
  [[nodiscard]] void* mutable_get() noexcept { return data_; }
  /// The address.
  void* operator->() const noexcept { return data_; }
  /// The deleter's argument.
  [[nodiscard]] void* get_context() const noexcept { return context_.get(); }
  /// Releases the ownership, and returns the deleter's argument.
  void* release_context() noexcept { return context_.release(); }
  /// The deleter.
  [[nodiscard]] DeleterFnPtr get_deleter() const noexcept { return context_.get_deleter(); }
  /// The device of the address.
  [[nodiscard]] ::sconce::Device device() const noexcept { return device_; }
  /// Frees the memory, and becomes null.
  void clear() noexcept {
    context_.reset();
    data_ = nullptr;
  }
  /// Whether there is an address or an owner.
  explicit operator bool() const noexcept { return data_ != nullptr || context_ != nullptr; }
  /// Whether there is none.
  friend bool operator==(const DataPtr& pointer, std::nullptr_t) noexcept { return !pointer; }
  /// Whether there is one.
  friend bool operator!=(const DataPtr& pointer, std::nullptr_t) noexcept {
    return static_cast<bool>(pointer);
  }

 private:
  static void ignore(void*) {}

  void* data_ = nullptr;
  std::unique_ptr<void, DeleterFnPtr> context_;
  ::sconce::Device device_;
};

/// An allocator by its address. Corresponds to `c10::Allocator`.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// Allocates, and returns memory with its owner.
  [[nodiscard]] virtual DataPtr allocate(std::size_t bytes) = 0;
  /// Frees memory of `raw_allocate`.
  [[nodiscard]] virtual DeleterFnPtr raw_deleter() const = 0;
  /// Allocates without an owner.
  [[nodiscard]] void* raw_allocate(std::size_t bytes) { return allocate(bytes).release_context(); }
  /// Frees memory of `raw_allocate`.
  void raw_deallocate(void* pointer) { raw_deleter()(pointer); }
};

namespace cuda {
namespace CUDACachingAllocator {

using namespace ::sconce::cuda::CUDACachingAllocator;
using ::sconce::cuda::CUDACachingAllocator::raw_alloc_with_stream;
using ::sconce::cuda::CUDACachingAllocator::recordStream;

/// Allocates for a stream by its handle, on the current device.
[[nodiscard]] inline void* raw_alloc_with_stream(std::size_t nbytes, CUstream_st* stream) {
  return raw_alloc_with_stream(nbytes, ::sconce::cuda::getStreamFromExternal(stream));
}

/// Notes that work of `stream` uses the memory of `pointer`.
inline void recordStream(const DataPtr& pointer, const ::sconce::cuda::CUDAStream& stream) {
  recordStream(pointer.get(), stream);
}

/// Which blocks a statistic counts. Corresponds to `c10::CachingAllocator::StatType`.
enum class StatType : std::uint64_t {
  AGGREGATE = 0,   ///< all
  SMALL_POOL = 1,  ///< small ones
  LARGE_POOL = 2,  ///< large ones
  NUM_TYPES = 3,   ///< the number of kinds
};
/// Statistics by `StatType`.
using StatArray = std::array<Stat, static_cast<std::size_t>(StatType::NUM_TYPES)>;

/// The statistics of a device as arrays by `StatType`.
struct DeviceStats {
  StatArray allocation{};                 ///< blocks that callers hold
  StatArray segment{};                    ///< allocations taken from the driver
  StatArray active{};                     ///< blocks that callers hold or work still uses
  StatArray inactive_split{};             ///< free parts of segments
  StatArray allocated_bytes{};            ///< bytes of `allocation`
  StatArray reserved_bytes{};             ///< bytes of `segment`
  StatArray active_bytes{};               ///< bytes of `active`
  StatArray inactive_split_bytes{};       ///< bytes of `inactive_split`
  StatArray requested_bytes{};            ///< bytes of `active` as they were requested
  std::int64_t num_alloc_retries = 0;     ///< times that free memory was returned for an allocation
  std::int64_t num_ooms = 0;              ///< allocations that failed
  std::int64_t num_sync_all_streams = 0;  ///< waits for all streams
  std::int64_t num_device_alloc = 0;      ///< allocations by the driver
  std::int64_t num_device_free = 0;       ///< frees by the driver
  Stat oversize_allocations{};            ///< blocks that are not split
  Stat oversize_segments{};               ///< segments that are not split
  std::int64_t max_split_size = 0;        ///< the size from which blocks are not split
};

/// The statistics of a device.
[[nodiscard]] inline DeviceStats getDeviceStats(::sconce::cuda::DeviceIndex device) {
  const ::sconce_memory_stats from = ::sconce::cuda::CUDACachingAllocator::getDeviceStats(device);
  const auto array = [](const ::sconce_pool_stats& stats) {
    return StatArray{stats.all, stats.small_pool, stats.large_pool};
  };
  DeviceStats stats;
  stats.allocation = array(from.allocation);
  stats.segment = array(from.segment);
  stats.active = array(from.active);
  stats.inactive_split = array(from.inactive_split);
  stats.allocated_bytes = array(from.allocated_bytes);
  stats.reserved_bytes = array(from.reserved_bytes);
  stats.active_bytes = array(from.active_bytes);
  stats.inactive_split_bytes = array(from.inactive_split_bytes);
  stats.requested_bytes = array(from.requested_bytes);
  stats.num_alloc_retries = from.num_alloc_retries;
  stats.num_ooms = from.num_ooms;
  stats.num_sync_all_streams = from.num_sync_all_streams;
  stats.num_device_alloc = from.num_device_alloc;
  stats.num_device_free = from.num_device_free;
  stats.oversize_allocations = from.oversize_allocations;
  stats.oversize_segments = from.oversize_segments;
  stats.max_split_size = from.max_split_size;
  return stats;
}

/// Attaches an observer until the process ends, as c10 does.
inline void attachOutOfMemoryObserver(OutOfMemoryObserver observer) {
  static auto* const attached = new std::vector<AttachedObserver>;
  attached->push_back(
      ::sconce::cuda::CUDACachingAllocator::attachOutOfMemoryObserver(std::move(observer)));
}

/// The caching allocator as an object. Corresponds to the interface of that name.
class CUDAAllocator : public Allocator {
 public:
  /// Allocates on the current device for its current stream.
  [[nodiscard]] DataPtr allocate(std::size_t bytes) override {
    const ::sconce::Device device(::sconce::DeviceType::CUDA, ::sconce::cuda::current_device());
    void* pointer = CUDACachingAllocator::raw_alloc(bytes);
    return {pointer, pointer, raw_deleter(), device};
  }
  [[nodiscard]] DeleterFnPtr raw_deleter() const override {
    return [](void* pointer) {
      ::sconce::detail::log_failure(::sconce_memory_free(pointer), "freeing a DataPtr");
    };
  }
  /// `CUDACachingAllocator::raw_alloc`.
  [[nodiscard]] void* raw_alloc(std::size_t bytes) {
    return CUDACachingAllocator::raw_alloc(bytes);
  }
  /// `CUDACachingAllocator::raw_alloc_with_stream`.
  [[nodiscard]] void* raw_alloc_with_stream(std::size_t bytes, CUstream_st* stream) {
    return CUDACachingAllocator::raw_alloc_with_stream(bytes, stream);
  }
  /// `CUDACachingAllocator::raw_delete`.
  void raw_delete(void* pointer) { CUDACachingAllocator::raw_delete(pointer); }
  /// Whether the library is initialised.
  [[nodiscard]] bool initialized() const { return ::sconce_is_initialized(); }
  /// `CUDACachingAllocator::emptyCache`.
  void emptyCache() { CUDACachingAllocator::emptyCache(); }
  /// `CUDACachingAllocator::setMemoryFraction`.
  void setMemoryFraction(double fraction, ::sconce::cuda::DeviceIndex device) {
    CUDACachingAllocator::setMemoryFraction(fraction, device);
  }
  /// `CUDACachingAllocator::getBaseAllocation`.
  [[nodiscard]] void* getBaseAllocation(void* pointer, std::size_t* size) {
    return CUDACachingAllocator::getBaseAllocation(pointer, size);
  }
  /// `CUDACachingAllocator::recordStream`.
  void recordStream(const DataPtr& pointer, const ::sconce::cuda::CUDAStream& stream) {
    CUDACachingAllocator::recordStream(pointer, stream);
  }
  /// `CUDACachingAllocator::getDeviceStats`.
  [[nodiscard]] DeviceStats getDeviceStats(::sconce::cuda::DeviceIndex device) {
    return CUDACachingAllocator::getDeviceStats(device);
  }
  /// `CUDACachingAllocator::resetPeakStats`.
  void resetPeakStats(::sconce::cuda::DeviceIndex device) {
    CUDACachingAllocator::resetPeakStats(device);
  }
};

/// The caching allocator.
[[nodiscard]] inline CUDAAllocator* get() {
  static CUDAAllocator allocator;
  return &allocator;
}

}  // namespace CUDACachingAllocator
}  // namespace cuda
}  // namespace c10

namespace c10 {

/// Ordinary memory of the host.
class CPUAllocator : public Allocator {
 public:
  [[nodiscard]] DataPtr allocate(std::size_t bytes) override {
    void* pointer = bytes == 0 ? nullptr : ::operator new (bytes, std::align_val_t{alignment});
    return {pointer, pointer, raw_deleter(), ::sconce::DeviceType::CPU};
  }
  [[nodiscard]] DeleterFnPtr raw_deleter() const override {
    return [](void* pointer) { ::operator delete (pointer, std::align_val_t{alignment}); };
  }

 private:
  static constexpr std::size_t alignment = 64;
};

/// The allocator of a kind of device. Corresponds to `c10::GetAllocator`.
[[nodiscard]] inline Allocator* GetAllocator(::sconce::DeviceType type) {
  static CPUAllocator of_the_cpu;
  if (type == ::sconce::DeviceType::CPU) {
    return &of_the_cpu;
  }
  return cuda::CUDACachingAllocator::get();
}

/// Figures under the names that they have in later versions of c10.
namespace CachingAllocator {
using cuda::CUDACachingAllocator::Stat;
using cuda::CUDACachingAllocator::StatArray;
using cuda::CUDACachingAllocator::StatType;
}  // namespace CachingAllocator
/// Figures under the names that they have in later versions of c10.
namespace CachingDeviceAllocator {
using cuda::CUDACachingAllocator::DeviceStats;
using namespace CachingAllocator;
}  // namespace CachingDeviceAllocator

}  // namespace c10

namespace at {
namespace cuda {

/// The allocator of pinned memory as an object.
class CachingHostAllocatorObject : public c10::Allocator {
 public:
  [[nodiscard]] c10::DataPtr allocate(std::size_t bytes) override {
    void* pointer = ::sconce::cuda::CachingHostAllocator::raw_alloc(bytes);
    return {pointer, pointer, raw_deleter(), ::sconce::DeviceType::CPU};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override {
    return [](void* pointer) {
      ::sconce::detail::log_failure(::sconce_host_memory_free(pointer), "freeing a DataPtr");
    };
  }
  /// Notes that work of `stream` uses pinned memory; true if the memory is this allocator's.
  bool record_event(void* pointer, void*, const ::sconce::cuda::CUDAStream& stream) {
    return ::sconce::cuda::CachingHostAllocator::recordStream(pointer, stream);
  }
  /// Returns all unused pinned memory.
  void empty_cache() { ::sconce::cuda::CachingHostAllocator::emptyCache(); }
};

/// The allocator of pinned memory. Corresponds to `at::cuda::getCachingHostAllocator`.
[[nodiscard]] inline CachingHostAllocatorObject* getCachingHostAllocator() {
  static CachingHostAllocatorObject allocator;
  return &allocator;
}
/// The allocator of pinned memory. Corresponds to `at::cuda::getPinnedMemoryAllocator`.
[[nodiscard]] inline c10::Allocator* getPinnedMemoryAllocator() {
  return getCachingHostAllocator();
}
/// Notes that work of `stream` uses pinned memory; false if the memory is not this allocator's.
inline bool CachingHostAllocator_recordEvent(void* pointer, void* context,
                                             const ::sconce::cuda::CUDAStream& stream) {
  return getCachingHostAllocator()->record_event(pointer, context, stream);
}
/// Returns all unused pinned memory.
inline void CachingHostAllocator_emptyCache() { getCachingHostAllocator()->empty_cache(); }
/// The caching allocator of device memory.
[[nodiscard]] inline c10::Allocator* getCUDADeviceAllocator() {
  return c10::cuda::CUDACachingAllocator::get();
}

}  // namespace cuda
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_CUDA_MEMORY_HPP
