// Threads that nobody joins still queue work and allocate while the process ends: nothing may crash
// or hang.
#include <atomic>
#include <cstdio>
#include <thread>

#include "../support.hpp"

namespace {

using namespace sconce::cuda;

std::atomic<unsigned> running{0};

void keep_busy(DeviceIndex device) {
  try {
    const CUDAStreamGuard guard(getStreamFromPool(false, device));
    const CUDAStream other = getStreamFromPool(true, device);
    CUDAEvent event;
    bool first = true;
    for (;;) {
      sleep(std::chrono::microseconds(20));
      event.record();
      event.block(getStreamFromPool(true, device));
      const DeviceBuffer memory(1000);
      memory.record_stream(other);
      guard.current_stream().synchronize();
      if (first) {
        running.fetch_add(1);
        first = false;
      }
    }
  } catch (const sconce::Error&) {
    // The end of the process may cause an error; a thread that sees one stops.
  }
}

}  // namespace

int main() {
  if (const std::string& reason = support::started(); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  constexpr unsigned kThreads = 8;
  for (unsigned i = 0; i < kThreads; ++i) {
    std::thread(keep_busy, static_cast<DeviceIndex>(i) % device_count()).detach();
  }
  while (running.load() < kThreads) {
    std::this_thread::yield();
  }
  std::puts("leaving main while threads queue work");
  return 0;
}
