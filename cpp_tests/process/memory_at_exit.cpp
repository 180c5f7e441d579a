// Memory that is alive when the process ends: freed by static destructors, waiting for queued work,
// held by a private pool, and never freed at all. Nothing may crash or hang.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "../support.hpp"

namespace {

using namespace sconce::cuda;
namespace allocator = sconce::cuda::CUDACachingAllocator;

// Destroyed after everything that main made static.
DeviceBuffer first_made;

struct UsesMemoryWhenDestroyed {
  ~UsesMemoryWhenDestroyed() {
    // Any result will do except one: that the library itself is broken.
    try {
      DeviceBuffer late(1000);
      late.record_stream(getStreamFromPool());
      late.reset();
      (void)allocator::snapshot();
      empty_cache();
      DeviceBuffer again(30 << 20);
    } catch (const sconce::Error& error) {
      if (error.status() == SCONCE_ERROR_INTERNAL) {
        std::fprintf(stderr, "%s\n", error.what());
        std::_Exit(1);
      }
    }
  }
};
UsesMemoryWhenDestroyed last_user;

/// A library that registers memory of a pool for as long as the process lives.
struct RegistersItsMemory {
  MemPool pool;
  RegistersItsMemory() { pool.set_fixed(true); }
};

extern "C" void no_failures(std::int32_t level, const char* message, void*) {
  if (level <= SCONCE_LOG_WARN) {
    std::fprintf(stderr, "logged: %s\n", message);
    std::_Exit(1);
  }
}

}  // namespace

int main() {
  if (const std::string& reason = support::started(); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  allocator::recordHistory(true, 100);
  static const MemPool pool;
  static std::optional<MemPoolGuard> guard(std::in_place, pool);
  static const DeviceBuffer of_the_pool(5000);
  static const auto observer = allocator::attachOutOfMemoryObserver(
      [](std::int64_t, std::size_t, std::size_t, std::size_t) {});
  first_made = DeviceBuffer(3 << 20);
  static DeviceBuffer pending(1000);
  const CUDAStream busy = getStreamFromPool();
  sleep(std::chrono::milliseconds(200), busy);
  pending.record_stream(busy);
  static const RegistersItsMemory registered;
  static MemPool fixed;
  fixed.set_fixed(true);
  sconce::log::set_callback(no_failures);
  static const DeviceBuffer on_the_last(1000, getDefaultCUDAStream(device_count() - 1));
  if (allocator::raw_alloc(1000) == nullptr) {
    return 1;
  }
  std::puts("leaving main with memory alive");
  return 0;
}
