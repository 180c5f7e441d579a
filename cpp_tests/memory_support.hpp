// The fixture of the tests of device memory.
#ifndef SCONCE_CPP_TESTS_MEMORY_SUPPORT_HPP
#define SCONCE_CPP_TESTS_MEMORY_SUPPORT_HPP

#include <cstddef>
#include <cstdint>
#include <sconce/cuda/buffer.hpp>

#include "fixture.hpp"

namespace support {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

/// Begins and ends with empty caches and default settings.
class MemoryFixture : public WorkFixture {
 protected:
  void SetUp() override {
    WorkFixture::SetUp();
    if (!IsSkipped()) {
      as_at_first();
    }
  }

  void TearDown() override {
    if (started().empty()) {
      if (!wants_cuda()) {
        sconce::simulator::set_manual(false);
      }
      as_at_first();
    }
    WorkFixture::TearDown();
  }

 private:
  static void as_at_first() {
    namespace allocator = sconce::cuda::CUDACachingAllocator;
    allocator::setAllocatorSettings("");
    allocator::recordHistory(false);
    allocator::emptyCache();
    for (sconce::cuda::DeviceIndex device = 0; device < sconce::cuda::device_count(); ++device) {
      allocator::setMemoryFraction(1, device);
      allocator::resetPeakStats(device);
      allocator::resetAccumulatedStats(device);
    }
  }
};

/// `bytes` as a fraction of the current device's memory, rounded up.
inline double fraction_of(std::size_t bytes) {
  const double total = static_cast<double>(sconce::cuda::getDeviceProperties(0).total_memory_bytes);
  return (static_cast<double>(bytes) + 0.5) / total;
}

/// The address `bytes` after another.
inline void* further(void* ptr, std::size_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(ptr) + bytes);
}

}  // namespace support

#endif  // SCONCE_CPP_TESTS_MEMORY_SUPPORT_HPP
