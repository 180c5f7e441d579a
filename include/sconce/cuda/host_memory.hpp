/// \file
/// Pinned host memory: the caching allocator, under torch's names, and its statistics.
///
/// Every device can copy from and to pinned memory at full speed and without blocking. The cache
/// keeps freed memory for later allocations, but does not reuse it before the copies that use it
/// have finished.
#ifndef SCONCE_CUDA_HOST_MEMORY_HPP
#define SCONCE_CUDA_HOST_MEMORY_HPP

#include <sconce/c/host_memory.h>
#include <sconce/c/memory.h>

#include <cstddef>
#include <cstdint>
#include <sconce/cuda/span.hpp>
#include <sconce/cuda/stream.hpp>
#include <string>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The allocator of pinned host memory. Corresponds to `at::cuda::getCachingHostAllocator()`.
namespace CachingHostAllocator {

/// One statistic: its value, its peak, and the sums of its increases and decreases.
using Stat = ::sconce_stat;
/// Time spent in a kind of driver call, in microseconds.
using DurationStat = ::sconce_duration_stat;
/// All statistics: `stats.active_bytes.peak` corresponds to torch's key.
using HostStats = ::sconce_host_memory_stats;

/// Allocates `nbytes` of pinned memory, at a multiple of 64; null for 0.
/// \throws OutOfMemoryError
[[nodiscard]] inline void* raw_alloc(std::size_t nbytes) {
  void* ptr = nullptr;
  detail::check(::sconce_host_memory_alloc(nbytes, &ptr));
  return ptr;
}

/// Frees memory of `raw_alloc`, on any thread; null is a no-op. Copies of this library may still
/// use it.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for any other address, also for freed memory
inline void raw_delete(void* ptr) { detail::check(::sconce_host_memory_free(ptr)); }

/// Notes that work of `stream` uses the memory that contains `ptr`: after the free, the memory is
/// not reused before the work queued there at that time has finished. Copies of this library are
/// noted automatically. Memory that is not of this library is ignored.
///
/// Corresponds to `CachingHostAllocator_recordEvent`, which for a slice needs the context of its
/// tensor.
/// \returns whether the memory is of this library
inline bool recordStream(void* ptr, const CUDAStream& stream) {
  bool known = false;
  detail::check(::sconce_host_memory_try_record_stream(ptr, stream.get(), &known));
  return known;
}

/// Notes that work of `stream` uses the memory of a view.
/// \returns whether the memory is of this library
template <class T>
bool recordStream(Span<T> memory, const CUDAStream& stream) {
  return recordStream(const_cast<std::remove_cv_t<T>*>(memory.data()), stream);
}

/// Returns all unused pinned memory to the system.
///
/// Corresponds to `CachingHostAllocator_emptyCache`.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if a stream is captured; nothing is returned
inline void emptyCache() { detail::check(::sconce_host_memory_empty_cache()); }

/// Whether the driver knows `ptr` as page-locked host memory, whichever code locked it; false for
/// null.
///
/// Corresponds to `at::Tensor::is_pinned`.
[[nodiscard]] inline bool isPinned(const void* ptr) {
  bool pinned = false;
  detail::check(::sconce_host_memory_is_pinned(ptr, &pinned));
  return pinned;
}

/// Returns all figures; zeros if nothing has been allocated yet.
[[nodiscard]] inline HostStats getStats() {
  HostStats stats{};
  stats.struct_size = static_cast<std::uint32_t>(sizeof(stats));
  detail::check(::sconce_host_memory_get_stats(&stats));
  return stats;
}

/// Sets every peak to the present value, and resets the longest and shortest times.
inline void resetPeakStats() { detail::check(::sconce_host_memory_reset_peak_stats()); }

/// Sets every sum and count to 0.
inline void resetAccumulatedStats() {
  detail::check(::sconce_host_memory_reset_accumulated_stats());
}

}  // namespace CachingHostAllocator

/// Returns all unused pinned memory to the system; `empty_cache` does so for devices.
///
/// Corresponds to `torch._C._host_emptyCache`.
inline void host_empty_cache() { CachingHostAllocator::emptyCache(); }

/// Returns all figures of pinned memory. Corresponds to `torch.cuda.host_memory_stats`.
[[nodiscard]] inline CachingHostAllocator::HostStats host_memory_stats() {
  return CachingHostAllocator::getStats();
}

/// Returns all figures of pinned memory as a flat JSON object with torch's keys.
[[nodiscard]] inline std::string host_memory_stats_json() {
  return detail::text_of(
      [](char** out_json) { return ::sconce_host_memory_get_stats_json(out_json); });
}

/// Sets every peak to the present value. Corresponds to `torch.cuda.reset_peak_host_memory_stats`.
inline void reset_peak_host_memory_stats() { CachingHostAllocator::resetPeakStats(); }

/// Sets every sum and count to 0. Corresponds to `torch.cuda.reset_accumulated_host_memory_stats`.
inline void reset_accumulated_host_memory_stats() { CachingHostAllocator::resetAccumulatedStats(); }

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_HOST_MEMORY_HPP
