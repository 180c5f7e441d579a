/// \file
/// The statistics of the caching allocator, under torch's names.
#ifndef SCONCE_CUDA_MEMORY_STATS_HPP
#define SCONCE_CUDA_MEMORY_STATS_HPP

#include <sconce/c/memory.h>

#include <cstddef>
#include <cstdint>
#include <sconce/cuda/device.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace cuda {
namespace CUDACachingAllocator {

/// One statistic: its value, its peak, and the sums of its increases and decreases.
using Stat = ::sconce_stat;
/// A statistic for all blocks (`all`), and for each kind of block.
using StatArray = ::sconce_pool_stats;
/// Statistics of a device: `stats.reserved_bytes.all.peak` corresponds to torch's key.
using DeviceStats = ::sconce_memory_stats;

/// Returns the statistics of a device; zeros if nothing has been allocated yet.
[[nodiscard]] inline DeviceStats getDeviceStats(DeviceIndex device = -1) {
  DeviceStats stats{};
  stats.struct_size = static_cast<std::uint32_t>(sizeof(stats));
  detail::check(::sconce_memory_get_stats(device, &stats));
  return stats;
}

/// Sets every peak of a device to the current value.
inline void resetPeakStats(DeviceIndex device = -1) {
  detail::check(::sconce_memory_reset_peak_stats(device));
}

/// Sets every accumulated sum and count of a device to 0.
inline void resetAccumulatedStats(DeviceIndex device = -1) {
  detail::check(::sconce_memory_reset_accumulated_stats(device));
}

}  // namespace CUDACachingAllocator

/// Returns the statistics of a device. Corresponds to `torch.cuda.memory_stats`.
[[nodiscard]] inline CUDACachingAllocator::DeviceStats memory_stats(DeviceIndex device = -1) {
  return CUDACachingAllocator::getDeviceStats(device);
}

/// Returns the statistics of a device as a flat JSON object with torch's keys.
[[nodiscard]] inline std::string memory_stats_json(DeviceIndex device = -1) {
  return detail::text_of(
      [&](char** out_json) { return ::sconce_memory_get_stats_json(device, out_json); });
}

/// Returns the statistics of a device as a table. Corresponds to `torch.cuda.memory_summary`.
[[nodiscard]] inline std::string memory_summary(DeviceIndex device = -1, bool abbreviated = false) {
  return detail::text_of(
      [&](char** out_text) { return ::sconce_memory_get_summary(device, abbreviated, out_text); });
}

/// Statistics of the pages of a device, under `policy:pages`.
using PageFigures = ::sconce_memory_page_figures;

/// Returns the statistics of a device's pages: at how many addresses they are mapped, and how often
/// earlier mappings served requests. All are 0 if no memory consists of pages.
[[nodiscard]] inline PageFigures page_figures(DeviceIndex device = -1) {
  PageFigures figures = SCONCE_MEMORY_PAGE_FIGURES_INIT;
  detail::check(::sconce_memory_get_page_figures(device, &figures));
  return figures;
}

/// The bytes of a device that callers hold. Corresponds to `torch.cuda.memory_allocated`.
[[nodiscard]] inline std::size_t memory_allocated(DeviceIndex device = -1) {
  std::size_t bytes = 0;
  detail::check(::sconce_memory_get_allocated(device, &bytes));
  return bytes;
}

/// The peak of the bytes of a device that callers hold. Corresponds to
/// `torch.cuda.max_memory_allocated`.
[[nodiscard]] inline std::size_t max_memory_allocated(DeviceIndex device = -1) {
  std::size_t bytes = 0;
  detail::check(::sconce_memory_get_max_allocated(device, &bytes));
  return bytes;
}

/// The bytes of a device taken from the driver, in use or cached. Corresponds to
/// `torch.cuda.memory_reserved`.
[[nodiscard]] inline std::size_t memory_reserved(DeviceIndex device = -1) {
  std::size_t bytes = 0;
  detail::check(::sconce_memory_get_reserved(device, &bytes));
  return bytes;
}

/// The peak of the bytes of a device taken from the driver. Corresponds to
/// `torch.cuda.max_memory_reserved`.
[[nodiscard]] inline std::size_t max_memory_reserved(DeviceIndex device = -1) {
  std::size_t bytes = 0;
  detail::check(::sconce_memory_get_max_reserved(device, &bytes));
  return bytes;
}

/// Sets every peak to the current value. Corresponds to `torch.cuda.reset_peak_memory_stats`.
inline void reset_peak_memory_stats(DeviceIndex device = -1) {
  CUDACachingAllocator::resetPeakStats(device);
}

/// An older name of `memory_reserved`, as in torch.
[[nodiscard]] inline std::size_t memory_cached(DeviceIndex device = -1) {
  return memory_reserved(device);
}

/// An older name of `max_memory_reserved`, as in torch.
[[nodiscard]] inline std::size_t max_memory_cached(DeviceIndex device = -1) {
  return max_memory_reserved(device);
}

/// An older name of `reset_peak_memory_stats`, as in torch: it sets every peak.
inline void reset_max_memory_allocated(DeviceIndex device = -1) { reset_peak_memory_stats(device); }

/// An older name of `reset_peak_memory_stats`, as in torch: it sets every peak.
inline void reset_max_memory_cached(DeviceIndex device = -1) { reset_peak_memory_stats(device); }

/// Sets sums and counts to 0. Corresponds to `torch.cuda.reset_accumulated_memory_stats`.
inline void reset_accumulated_memory_stats(DeviceIndex device = -1) {
  CUDACachingAllocator::resetAccumulatedStats(device);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_MEMORY_STATS_HPP
