// Kernels that use blocks of the allocator rightly or wrongly, for memcheck of compute-sanitizer:
// scripts/check-memory-regions runs it with SCONCE_NVTX_MEMORY=1 and without.
//
//   memory_regions inside    blocks are written and freed while their streams are busy: no error
//   memory_regions past      the byte behind a block of 1,024 bytes is written
//   memory_regions freed     a block is written after its stream was waited for and it was freed
#include <cstdint>
#include <iostream>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

#include "../poke.hpp"
#include "program.hpp"

namespace {

using namespace sconce::cuda;
using support::poke;

void inside() {
  const std::vector<CUDAStream> streams = {getStreamFromPool(), getStreamFromPool()};
  for (int step = 0; step < 200; ++step) {
    const CUDAStream& own = streams[static_cast<std::size_t>(step) % 2];
    const CUDAStream& other = streams[static_cast<std::size_t>(step + 1) % 2];
    const std::size_t bytes = 1 + static_cast<std::size_t>(step) * 977 % 100000;
    DeviceBuffer block(bytes, own);
    memory_set(block, 1, own);
    poke(block.get(), static_cast<std::int64_t>(bytes) - 1, own);
    other.wait_stream(own);
    poke(block.get(), 0, other);
    // Freed while both streams may be busy.
    block.record_stream(other);
  }
  const sconce::Tensor x = sconce::ones({64, 64}, sconce::device(sconce::kCUDA));
  gpu::expect(x.matmul(x).sum().item<float>() == 64.0F * 64 * 64, "a product is right");
  device_synchronize();
  empty_cache();
}

void past() {
  const CUDAStream stream = getStreamFromPool();
  const DeviceBuffer block(1024, stream);
  const DeviceBuffer next(1024, stream);
  poke(block.get(), 1023, stream);
  device_synchronize();
  poke(block.get(), 1024, stream);
  device_synchronize();
}

void freed() {
  const CUDAStream stream = getStreamFromPool();
  DeviceBuffer block(1024, stream);
  const DeviceBuffer next(1024, stream);
  const void* const address = block.get();
  poke(address, 0, stream);
  device_synchronize();
  block.reset();
  poke(address, 0, stream);
  device_synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "inside";
  return gpu::program("memory_regions", [&] {
    if (mode == "inside") {
      inside();
    } else if (mode == "past") {
      past();
    } else if (mode == "freed") {
      freed();
    } else {
      std::cerr << "usage: memory_regions inside|past|freed\n";
      return 2;
    }
    return gpu::verdict("memory_regions");
  });
}
