// PyTorch's caching allocator. Built against an installed PyTorch by scripts/gpu-check.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include <cstddef>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

class C10 {
 public:
  static constexpr bool slow = false;

  C10() {
    enter_thread();
    if (!caching::get()->initialized()) {
      caching::init(c10::cuda::device_count());
    }
    streams_.push_back(c10::cuda::getDefaultCUDAStream(0).stream());
    for (int i = 0; i < memory_bench::most_streams; ++i) {
      streams_.push_back(c10::cuda::getStreamFromPool(false, 0).stream());
    }
  }

  static std::string title() { return std::string("PyTorch ") + TORCH_VERSION; }
  static void enter_thread() { c10::cuda::set_device(0); }

  void* allocate(std::size_t bytes, int stream) {
    try {
      return caching::raw_alloc_with_stream(bytes, streams_[static_cast<std::size_t>(stream)]);
    } catch (const c10::OutOfMemoryError&) {
      return nullptr;
    }
  }
  static void* allocate_here(std::size_t bytes) {
    try {
      return caching::raw_alloc(bytes);
    } catch (const c10::OutOfMemoryError&) {
      return nullptr;
    }
  }
  static void free(void* pointer, std::size_t, int) { caching::raw_delete(pointer); }

  static std::size_t peak_reserved() {
    return static_cast<std::size_t>(caching::getDeviceStats(0).reserved_bytes[0].peak);
  }
  static void start_over() {
    c10::cuda::device_synchronize();
    caching::emptyCache();
    caching::resetPeakStats(0);
  }

  static void query_stats() {
    const auto stats = caching::getDeviceStats(0);
    asm volatile("" : : "r"(&stats) : "memory");
  }
  static void snapshot() {
    const auto snapshot = caching::snapshot();
    asm volatile("" : : "r"(&snapshot) : "memory");
  }

 private:
  std::vector<cudaStream_t> streams_;
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  C10 backend;
  return memory_bench::run(backend, options);
}
