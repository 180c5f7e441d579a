// Using device 1 makes no context on device 0, and queries make none anywhere. In a process of its
// own, since contexts are never destroyed.
#include <cstdio>

#include "process.hpp"

namespace {

using namespace sconce::cuda;
using process::expect;
using process::failed;

}  // namespace

int main() {
  if (const std::string& reason = support::started(); !reason.empty()) {
    return process::skipped(reason.c_str());
  }
  if (device_count() < 2) {
    return process::skipped("needs 2 devices");
  }

  (void)is_available();
  (void)getDeviceProperties(0);
  (void)getDeviceProperties(1);
  (void)get_device_capability(1);
  (void)getCurrentCUDAStream(1);
  (void)getDefaultCUDAStream(1);
  { const CUDAGuard same(0); }
  { const CUDAGuard none(-1); }
  setCurrentCUDAStream(getDefaultCUDAStream(1));
  const CUDAEvent never_recorded;
  (void)never_recorded.query();
  expect(!hasPrimaryContext(0), "questions make no context on device 0");
  expect(!hasPrimaryContext(1), "questions make no context on device 1");

  {
    const CUDAStream stream = getStreamFromPool(false, 1);
    const CUDAStreamGuard guard(stream);
    CUDAEvent start(EventFlags::Timing);
    CUDAEvent end(EventFlags::Timing);
    start.record();
    sleep(std::chrono::milliseconds(5));
    end.record();
    stream.synchronize();
    expect(start.elapsed_time(end) > 4.0F, "device 1 works");
    device_synchronize();
  }
  {
    const CUDAMultiStreamGuard guard({getStreamFromPool(false, 1)});
    sleep(std::chrono::milliseconds(1), getCurrentCUDAStream(1));
    device_synchronize(1);
  }
  expect(current_device() == 0, "the guard restored the device");
  expect(hasPrimaryContext(1), "work makes a context on device 1");
  expect(!hasPrimaryContext(0), "and none on device 0, where none is needed");
  std::puts(failed ? "a context appeared where none should be" : "no stray context");
  return failed ? 1 : 0;
}
