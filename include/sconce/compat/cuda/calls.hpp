/// \file
/// Functions of c10 that return the errors of the CUDA runtime, and older ones of its allocator.
/// Part of `<sconce/compat/torch.hpp>`.
#ifndef SCONCE_COMPAT_CUDA_CALLS_HPP
#define SCONCE_COMPAT_CUDA_CALLS_HPP

#include <sconce/c/copy.h>

#include <algorithm>
#include <cstddef>
#include <sconce/compat/c10.hpp>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {
namespace cuda {

#ifdef SCONCE_C10_COMPAT_HAS_CUDA_RUNTIME
/// \cond
namespace impl {
/// The runtime's number of a failure of this library.
inline cudaError_t error_of(Status status) {
  if (status == SCONCE_OK) {
    return cudaSuccess;
  }
  const std::int32_t code = ::sconce_last_error_backend_code();
  return code != 0 ? static_cast<cudaError_t>(code) : cudaErrorInvalidValue;
}
}  // namespace impl
/// \endcond

/// Stores the current device. Corresponds to `c10::cuda::GetDevice`.
[[nodiscard]] inline cudaError_t GetDevice(DeviceIndex* device) {
  *device = ::sconce::cuda::current_device();
  return cudaSuccess;
}
/// Makes a device current. Corresponds to `c10::cuda::SetDevice`.
[[nodiscard]] inline cudaError_t SetDevice(DeviceIndex device, bool = false) {
  return impl::error_of(::sconce_device_set_current(device));
}
/// Stores the number of devices. Corresponds to `c10::cuda::GetDeviceCount`.
[[nodiscard]] inline cudaError_t GetDeviceCount(int* count) {
  *count = ::sconce::cuda::device_count();
  return cudaSuccess;
}
#endif

namespace CUDACachingAllocator {

#ifdef SCONCE_C10_COMPAT_HAS_CUDA_RUNTIME
/// Copies between addresses of any devices on a stream. Corresponds to
/// `CUDACachingAllocator::memcpyAsync`.
[[nodiscard]] inline cudaError_t memcpyAsync(void* dst, int, const void* src, int,
                                             std::size_t bytes, cudaStream_t stream, bool) {
  return impl::error_of(
      ::sconce_copy_on(dst, src, bytes, true, ::sconce::cuda::getStreamFromExternal(stream).get()));
}
#endif

/// Stores the size of the largest block that an allocation can have: one that is free in the cache,
/// or what the device has left. Corresponds to `CUDACachingAllocator::cacheInfo`.
inline void cacheInfo(DeviceIndex device, std::size_t* largest) {
  *largest = std::max(*largest, ::sconce::cuda::mem_get_info(device).free_bytes);
  for (const auto& segment : snapshot().segments) {
    if (segment.device != device) {
      continue;
    }
    for (const auto& block : segment.blocks) {
      if (!block.allocated && !block.active) {
        *largest = std::max(*largest, block.size);
      }
    }
  }
}

/// Records the history of allocations, as `recordHistory(enabled, max_entries)`. Stack traces are
/// not recorded, so what would make them is not called. Corresponds to
/// `CUDACachingAllocator::recordHistory`.
template <class Recorder, class... More>
void recordHistory(bool enabled, const Recorder&, std::size_t max_entries, const More&...) {
  ::sconce::cuda::CUDACachingAllocator::recordHistory(enabled, max_entries);
}

}  // namespace CUDACachingAllocator
}  // namespace cuda
}  // namespace c10
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_CUDA_CALLS_HPP
