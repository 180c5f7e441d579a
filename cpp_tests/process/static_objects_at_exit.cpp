// Objects with static lifetime, made before and after the library's initialisation, are destroyed
// when the process ends: nothing may crash or hang, though work is still queued.
#include <cstdio>
#include <memory>

#include "../support.hpp"

namespace {

using namespace sconce::cuda;

// Destroyed after everything that main made static.
CUDAEvent first_made(EventFlags::Timing);

struct UsesTheLibraryWhenDestroyed {
  ~UsesTheLibraryWhenDestroyed() {
    // Any result will do, as long as the call returns.
    try {
      const CUDAGuard guard(0);
      CUDAEvent late;
      late.record();
      (void)late.query();
      getCurrentCUDAStream().synchronize();
    } catch (const sconce::Error&) {
    }
  }
};
UsesTheLibraryWhenDestroyed last_user;

}  // namespace

int main() {
  if (const std::string& reason = support::started(); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  const DeviceIndex last = device_count() - 1;
  static CUDAEvent recorded;
  static const CUDAGuard device_guard(last);
  static const CUDAStreamGuard stream_guard(getStreamFromPool(false, last));
  static const CUDAMultiStreamGuard streams_guard({getStreamFromPool(false, 0)});
  static const sconce::cuda::nvtx::Range range("until the end");
  first_made.record(getStreamFromPool(false, last));
  recorded.record();
  sleep(std::chrono::milliseconds(200));
  std::puts("leaving main with events, guards and work alive");
  return 0;
}
