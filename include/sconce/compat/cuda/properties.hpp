/// \file
/// The properties of a device by CUDA's names, for code written for ATen. Part of
/// `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_CUDA_PROPERTIES_HPP
#define SCONCE_COMPAT_CUDA_PROPERTIES_HPP

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <sconce/compat/core/macros.hpp>
#include <sconce/cuda/device.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace at {
namespace cuda {

using ::sconce::cuda::DeviceIndex;

/// \cond
// Sets a field that not every version of `cudaDeviceProp` has.
#define SCONCE_COMPAT_FIELD(field)                                                                 \
  template <class Prop, class Value>                                                               \
  auto set_##field(Prop& prop, const Value& value, int)->decltype(static_cast<void>(prop.field)) { \
    prop.field = static_cast<std::remove_reference_t<decltype(prop.field)>>(value);                \
  }                                                                                                \
  template <class Prop, class Value>                                                               \
  void set_##field(Prop&, const Value&, long) {}
namespace detail {
SCONCE_COMPAT_FIELD(clockRate)
SCONCE_COMPAT_FIELD(memoryClockRate)
}  // namespace detail
#undef SCONCE_COMPAT_FIELD
/// \endcond

#ifdef SCONCE_C10_COMPAT_HAS_CUDA_RUNTIME
// Functions that return it have other symbols than those of units without CUDA's header.
inline namespace with_cuda_runtime {
/// CUDA's own properties. Fields that this library does not know are 0.
using DeviceProp = ::cudaDeviceProp;
#else
/// Properties of a device by the names of `cudaDeviceProp`.
struct DeviceProp {
  /// 16 bytes, as `cudaUUID_t`.
  struct Uuid {
    char bytes[16];  ///< the bytes
  };

  char name[256];                          ///< name of the device
  std::size_t totalGlobalMem;              ///< bytes of memory
  std::size_t sharedMemPerBlock;           ///< bytes of shared memory of a block
  std::size_t sharedMemPerBlockOptin;      ///< the same after opting in
  std::size_t sharedMemPerMultiprocessor;  ///< bytes of shared memory of a multiprocessor
  int regsPerMultiprocessor;               ///< registers of a multiprocessor
  int warpSize;                            ///< threads of a warp
  int maxThreadsPerBlock;                  ///< threads of a block
  int maxThreadsPerMultiProcessor;         ///< threads of a multiprocessor
  int multiProcessorCount;                 ///< multiprocessors
  int major;                               ///< compute capability
  int minor;                               ///< compute capability, minor part
  int l2CacheSize;                         ///< bytes of the L2 cache
  int memoryBusWidth;                      ///< bits of the memory bus
  int pciDomainID;                         ///< PCI domain
  int pciBusID;                            ///< PCI bus
  int pciDeviceID;                         ///< PCI device
  int integrated;                          ///< whether the memory is the host's
  int isMultiGpuBoard;                     ///< whether the board has several devices
  int maxThreadsDim[3];                    ///< threads of a block in x, y and z
  int maxGridSize[3];                      ///< blocks of a grid in x, y and z
  std::size_t totalConstMem;               ///< bytes of constant memory
  int regsPerBlock;                        ///< registers of a block
  int maxBlocksPerMultiProcessor;          ///< blocks of a multiprocessor
  int cooperativeLaunch;                   ///< whether blocks of a grid may wait for each other
  int concurrentKernels;                   ///< whether kernels run at the same time
  int clockRate;                           ///< clock in kHz; removed in CUDA 13
  int memoryClockRate;                     ///< clock of the memory in kHz; as `clockRate`
  Uuid uuid;                               ///< the same in every process
};
#endif

/// The properties of a device (-1: the current one); the same object each time.
[[nodiscard]] inline DeviceProp* getDeviceProperties(DeviceIndex device = -1) {
  static std::array<DeviceProp, 64> all;
  static std::array<std::once_flag, 64> known;
  const DeviceIndex index = device == -1 ? ::sconce::cuda::current_device() : device;
  const auto at = static_cast<std::size_t>(index);
  if (at >= all.size()) {
    (void)::sconce::cuda::getDeviceProperties(index);  // throws: there is no such device
  }
  std::call_once(known.at(at), [&] {
    const auto from = ::sconce::cuda::getDeviceProperties(index);
    DeviceProp& to = all[at];
    std::memset(&to, 0, sizeof to);
    std::memcpy(to.name, from.name, sizeof to.name);
    to.totalGlobalMem = from.total_memory_bytes;
    to.sharedMemPerBlock = from.shared_memory_per_block_bytes;
    to.sharedMemPerBlockOptin = from.shared_memory_per_block_optin_bytes;
    to.sharedMemPerMultiprocessor = from.shared_memory_per_multi_processor_bytes;
    to.regsPerMultiprocessor = from.registers_per_multi_processor;
    to.warpSize = from.warp_size;
    to.maxThreadsPerBlock = from.max_threads_per_block;
    to.maxThreadsPerMultiProcessor = from.max_threads_per_multi_processor;
    to.multiProcessorCount = from.multi_processor_count;
    to.major = from.major;
    to.minor = from.minor;
    to.l2CacheSize = static_cast<int>(from.l2_cache_bytes);
    to.memoryBusWidth = from.memory_bus_width_bits;
    to.pciDomainID = from.pci_domain_id;
    to.pciBusID = from.pci_bus_id;
    to.pciDeviceID = from.pci_device_id;
    to.integrated = from.integrated;
    to.isMultiGpuBoard = from.is_multi_gpu_board;
    std::memcpy(to.maxThreadsDim, from.max_block_size, sizeof to.maxThreadsDim);
    std::memcpy(to.maxGridSize, from.max_grid_size, sizeof to.maxGridSize);
    to.totalConstMem = from.constant_memory_bytes;
    to.regsPerBlock = from.registers_per_block;
    to.maxBlocksPerMultiProcessor = from.max_blocks_per_multi_processor;
    to.cooperativeLaunch = from.cooperative_launch;
    to.concurrentKernels = from.concurrent_kernels;
    detail::set_clockRate(to, from.clock_rate_khz, 0);
    detail::set_memoryClockRate(to, from.memory_clock_rate_khz, 0);
    std::memcpy(to.uuid.bytes, from.uuid, sizeof to.uuid.bytes);
  });
  return &all[at];
}
/// The properties of the current device.
[[nodiscard]] inline DeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(); }

#ifdef SCONCE_C10_COMPAT_HAS_CUDA_RUNTIME
}  // namespace with_cuda_runtime
#endif

}  // namespace cuda
}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_CUDA_PROPERTIES_HPP
