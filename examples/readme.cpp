// The example of the README.
#include <cstdio>
#include <sconce/sconce.hpp>

namespace cc = sconce::cuda;

int main() try {
  cc::CUDAStream side = cc::getStreamFromPool(/*isHighPriority=*/true);
  cc::CUDAEvent start(cc::EventFlags::Timing), end(cc::EventFlags::Timing);
  {
    cc::CUDAStreamGuard guard(side);          // side is current until the brace
    start.record();                           // events are made at the first record
    cc::sleep(std::chrono::milliseconds(5));  // your kernels here: side.stream() is a cudaStream_t
    end.record();
  }
  cc::getCurrentCUDAStream().wait_stream(side);
  cc::device_synchronize();
  std::printf("%s: %.1f ms\n", cc::get_device_name().c_str(), start.elapsed_time(end));
} catch (const sconce::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // without a GPU: set SCONCE_BACKEND=sim
  return 1;
}
