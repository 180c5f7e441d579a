// The driver's own allocators: its stream-ordered pool, which keeps everything that is freed
// (`--backend pool`), and plain device memory without any cache (`--backend plain`). Built with
// CUDA's headers by scripts/gpu-check.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

void must(cudaError_t code, const char* call) {
  if (code != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
    std::exit(1);
  }
}

/// NULL when memory ran out; whatever else goes wrong ends the program.
void* allocated(void* pointer, cudaError_t code, const char* call) {
  if (code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  must(code, call);
  return pointer;
}

std::string driver_version() {
  int version = 0;
  must(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

class Pool {
 public:
  static constexpr bool slow = false;

  Pool() {
    enter_thread();
    must(cudaDeviceGetDefaultMemPool(&pool_, 0), "cudaDeviceGetDefaultMemPool");
    std::uint64_t everything = UINT64_MAX;
    must(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &everything),
         "cudaMemPoolSetAttribute");
    streams_.push_back(nullptr);
    for (int i = 0; i < memory_bench::most_streams; ++i) {
      cudaStream_t stream = nullptr;
      must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      streams_.push_back(stream);
    }
  }

  static std::string title() { return "cudaMallocAsync, " + driver_version(); }
  static void enter_thread() { must(cudaSetDevice(0), "cudaSetDevice"); }

  void* allocate(std::size_t bytes, int stream) {
    void* pointer = nullptr;
    const cudaError_t code =
        cudaMallocAsync(&pointer, bytes, streams_[static_cast<std::size_t>(stream)]);
    return allocated(pointer, code, "cudaMallocAsync");
  }
  void free(void* pointer, std::size_t, int stream) {
    must(cudaFreeAsync(pointer, streams_[static_cast<std::size_t>(stream)]), "cudaFreeAsync");
  }

  std::size_t peak_reserved() {
    std::uint64_t bytes = 0;
    must(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, &bytes),
         "cudaMemPoolGetAttribute");
    return bytes;
  }
  void start_over() {
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    must(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
    std::uint64_t zero = 0;
    must(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, &zero),
         "cudaMemPoolSetAttribute");
  }

 private:
  cudaMemPool_t pool_ = nullptr;
  std::vector<cudaStream_t> streams_;
};

struct Plain {
  static constexpr bool slow = true;

  Plain() { enter_thread(); }

  static std::string title() { return "cudaMalloc, " + driver_version(); }
  static void enter_thread() { must(cudaSetDevice(0), "cudaSetDevice"); }

  static void* allocate(std::size_t bytes, int) {
    void* pointer = nullptr;
    const cudaError_t code = cudaMalloc(&pointer, bytes);
    return allocated(pointer, code, "cudaMalloc");
  }
  static void free(void* pointer, std::size_t, int) { must(cudaFree(pointer), "cudaFree"); }
  static std::size_t peak_reserved() { return 0; }
  static void start_over() {}
};

template <class Backend>
int measure(const memory_bench::Options& options) {
  Backend backend;
  return memory_bench::run(backend, options);
}

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  if (options.backend == "pool") {
    return measure<Pool>(options);
  }
  if (options.backend == "plain") {
    return measure<Plain>(options);
  }
  std::fprintf(stderr, "--backend is pool or plain\n");
  return 2;
}
