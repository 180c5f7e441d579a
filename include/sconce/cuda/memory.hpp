/// \file
/// Device memory: the caching allocator, under torch's names.
///
/// The cache keeps freed memory for later allocations on the same stream, so that few allocations
/// call the driver. Memory may be freed while work of its stream is still queued; note work of
/// other streams with `recordStream` first.
#ifndef SCONCE_CUDA_MEMORY_HPP
#define SCONCE_CUDA_MEMORY_HPP

#include <sconce/c/library.h>
#include <sconce/c/memory.h>

#include <cstddef>
#include <cstdint>
#include <sconce/cuda/memory_pool.hpp>
#include <sconce/cuda/memory_snapshot.hpp>
#include <sconce/cuda/memory_stats.hpp>
#include <sconce/cuda/span.hpp>
#include <sconce/cuda/stream.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace sconce {
inline namespace v0 {
namespace cuda::CUDACachingAllocator {

/// Allocates `nbytes` of the current device for its current stream; null for 0. The host cannot
/// access the address.
/// \throws OutOfMemoryError
[[nodiscard]] inline void* raw_alloc(std::size_t nbytes) {
  void* ptr = nullptr;
  detail::check(::sconce_memory_alloc(nbytes, &ptr));
  return ptr;
}

/// Allocates `nbytes` of the stream's device for that stream; null for 0.
/// \throws OutOfMemoryError
[[nodiscard]] inline void* raw_alloc_with_stream(std::size_t nbytes, const CUDAStream& stream) {
  void* ptr = nullptr;
  detail::check(::sconce_memory_alloc_on(nbytes, stream.get(), &ptr));
  return ptr;
}

/// Frees memory of `raw_alloc` or `raw_alloc_with_stream`, on any thread; null is a no-op.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other address, also for freed memory
inline void raw_delete(void* ptr) { detail::check(::sconce_memory_free(ptr)); }

/// Notes that work of `stream` uses `ptr`: after the free, the memory is not reused before the work
/// queued there at that time has finished. Memory that is not of this library is ignored.
inline void recordStream(void* ptr, const CUDAStream& stream) {
  detail::check(::sconce_memory_record_stream(ptr, stream.get()));
}

/// Notes that work of `stream` uses the memory of a view.
template <class T>
void recordStream(DeviceSpan<T> memory, const CUDAStream& stream) {
  recordStream(const_cast<std::remove_cv_t<T>*>(memory.data()), stream);
}

/// Returns unused memory of every device to the driver: segments without a live block, and with
/// `policy:pages` every whole free page, of the default pool and of pools that no longer exist;
/// idle workspaces of cuBLAS, too. Unused memory of a private pool stays with the pool;
/// `MemPool::trim` returns it. Memory of a graph's pool stays as long as the graph.
///
/// Beside a capture: no memory of a device goes back while one of its streams is captured, by any
/// thread. The other devices are emptied, and the call throws; the capture is not affected.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if a stream is captured
inline void emptyCache() { detail::check(::sconce_memory_empty_cache()); }

/// Returns the driver allocation that contains `ptr`, and stores its size if `size` is not null.
[[nodiscard]] inline void* getBaseAllocation(const void* ptr, std::size_t* size = nullptr) {
  void* base = nullptr;
  std::size_t bytes = 0;
  detail::check(::sconce_memory_get_base(ptr, &base, &bytes));
  if (size != nullptr) {
    *size = bytes;
  }
  return base;
}

/// Returns the size of an allocation's block: the requested size, rounded up.
[[nodiscard]] inline std::size_t getUsableBytes(const void* ptr) {
  std::size_t bytes = 0;
  detail::check(::sconce_memory_get_usable_bytes(ptr, &bytes));
  return bytes;
}

/// Limits the share of a device's memory that this process may take, from 0 to 1.
inline void setMemoryFraction(double fraction, DeviceIndex device = -1) {
  detail::check(::sconce_memory_set_fraction(fraction, device));
}

/// The share of a device's memory that this process may take; 1 is no limit.
[[nodiscard]] inline double getMemoryFraction(DeviceIndex device = -1) {
  double fraction = 0;
  detail::check(::sconce_memory_get_fraction(device, &fraction));
  return fraction;
}

/// Configures the allocator from now on, in the syntax of `PYTORCH_CUDA_ALLOC_CONF`. Corresponds to
/// `setAllocatorSettings`.
/// \throws Error naming an unknown key or value; nothing changes then
inline void setAllocatorSettings(const std::string& conf) {
  detail::check(::sconce_memory_configure(conf.c_str()));
}

}  // namespace cuda::CUDACachingAllocator
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Returns unused memory of every device to the driver, as `CUDACachingAllocator::emptyCache`,
/// which says what is unused and what happens beside a capture.
///
/// Corresponds to `torch.cuda.empty_cache`.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if a stream is captured
inline void empty_cache() { CUDACachingAllocator::emptyCache(); }

/// Limits the share of a device's memory that this process may take, from 0 to 1.
///
/// Corresponds to `torch.cuda.set_per_process_memory_fraction`.
inline void set_per_process_memory_fraction(double fraction, DeviceIndex device = -1) {
  CUDACachingAllocator::setMemoryFraction(fraction, device);
}

/// The share of a device's memory that this process may take; 1 is no limit.
///
/// Corresponds to `torch.cuda.get_per_process_memory_fraction`.
[[nodiscard]] inline double get_per_process_memory_fraction(DeviceIndex device = -1) {
  return CUDACachingAllocator::getMemoryFraction(device);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_MEMORY_HPP
