// The fixture of the tests that use pinned memory.
#ifndef SCONCE_CPP_TESTS_HOST_MEMORY_SUPPORT_HPP
#define SCONCE_CPP_TESTS_HOST_MEMORY_SUPPORT_HPP

#include <sconce/cuda/host_memory.hpp>

#include "memory_support.hpp"

namespace support {

/// A `MemoryFixture` that begins and ends with no pinned memory, too.
class HostMemoryFixture : public MemoryFixture {
 protected:
  void SetUp() override {
    MemoryFixture::SetUp();
    if (!IsSkipped()) {
      as_at_first();
    }
  }

  void TearDown() override {
    MemoryFixture::TearDown();
    if (started().empty()) {
      as_at_first();
    }
  }

 private:
  static void as_at_first() {
    sconce::cuda::CachingHostAllocator::emptyCache();
    sconce::cuda::reset_peak_host_memory_stats();
    sconce::cuda::reset_accumulated_host_memory_stats();
  }
};

}  // namespace support

#endif  // SCONCE_CPP_TESTS_HOST_MEMORY_SUPPORT_HPP
