// PYTORCH_NO_CUDA_MEMORY_CACHING=1: the driver performs every allocation and free, and misuse is
// still reported. The environment is read once, hence a process of its own.
#include <cstdio>
#include <cstdlib>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
namespace allocator = sconce::cuda::CUDACachingAllocator;
using process::expect;
using process::failed;

std::size_t free_bytes() { return mem_get_info().free_bytes; }

}  // namespace

int main() {
  ::setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
  if (const std::string& reason = support::started(); !reason.empty()) {
    return process::skipped(reason.c_str());
  }
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const CUDAStream stream = getStreamFromPool();
  (void)allocator::raw_alloc_with_stream(1, stream);  // Whatever the driver sets up at first.
  const std::size_t before = free_bytes();
  void* const memory = allocator::raw_alloc_with_stream(kBytes, stream);
  expect(free_bytes() + kBytes <= before, "the driver gave the memory");
  std::size_t bytes = 0;
  expect(allocator::getBaseAllocation(memory, &bytes) == memory && bytes == kBytes,
         "it is an allocation of its own");
  expect(allocator::getUsableBytes(memory) == kBytes, "its size is what was asked for");
  expect(memory_reserved() == 0 && memory_allocated() == 0, "nothing is counted, as in torch");
  allocator::recordStream(memory, getStreamFromPool());
  const std::size_t meanwhile = free_bytes();
  allocator::raw_delete(memory);
  expect(free_bytes() >= meanwhile + kBytes, "the driver has it back at once");
  expect(sconce_memory_free(memory) == SCONCE_ERROR_INVALID_ARGUMENT, "a second free is refused");
  expect(allocator::raw_alloc(0) == nullptr, "nothing is given for nothing");
  try {
    (void)allocator::raw_alloc(2 * mem_get_info().total_bytes);
    expect(false, "there is no such room");
  } catch (const sconce::OutOfMemoryError&) {
  }
  empty_cache();
  return failed ? 1 : 0;
}
