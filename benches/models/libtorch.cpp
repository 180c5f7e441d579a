// PyTorch's own C++ loader of compiled models, beside sconce-run: check_models.py runs it. Prints
// milliseconds from the start of the process to the first result, MB resident then, the most bytes
// of the device that a call takes besides, and microseconds a call of many in a row, which THREADS
// threads make, each on a stream of its own.
//
//   libtorch PACKAGE REPEAT THREADS (float32|float16|int64):SIZExSIZE…:FILE…
//
// Each FILE has the elements of an input. BEGIN_NS in the environment is when the process began, by
// CLOCK_MONOTONIC.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

double now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(now).count();
}

long resident_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6) / 1024;
  }
  return 0;
}

at::Tensor input_of(const std::string& text) {
  std::istringstream parts(text);
  std::string type, sizes, file, size;
  std::getline(parts, type, ':');
  std::getline(parts, sizes, ':');
  std::getline(parts, file);
  const at::ScalarType dtype = type == "int64"     ? at::kLong
                               : type == "float16" ? at::kHalf
                                                   : at::kFloat;
  std::vector<std::int64_t> shape;
  for (std::istringstream all(sizes); std::getline(all, size, 'x');) {
    shape.push_back(std::stoll(size));
  }
  const at::Tensor host = at::empty(shape, dtype);
  std::ifstream elements(file, std::ios::binary);
  elements.read(static_cast<char*>(host.data_ptr()), static_cast<std::streamsize>(host.nbytes()));
  if (!elements) throw std::runtime_error(file + " is too short");
  return host.to(at::kCUDA);
}

using Loader = torch::inductor::AOTIModelPackageLoader;

// The most bytes that tensors have during a call, besides what is alive before it.
long bytes_of_a_call(Loader& model, const std::vector<at::Tensor>& inputs) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  constexpr std::size_t all = 0;  // StatType::AGGREGATE
  allocator::resetPeakStats(0);
  const auto before = allocator::getDeviceStats(0).allocated_bytes[all].current;
  auto outputs = model.run(inputs);
  c10::cuda::device_synchronize();
  return static_cast<long>(allocator::getDeviceStats(0).allocated_bytes[all].peak - before);
}

// Makes calls from several threads until so many are done.
void call(Loader& model, const std::vector<at::Tensor>& inputs, int calls, int threads) {
  std::atomic<int> taken{0};
  const auto work = [&](bool on_stream) {
    const c10::NoGradGuard no_gradients;
    c10::cuda::OptionalCUDAStreamGuard guard;
    if (on_stream) guard.reset_stream(c10::cuda::getStreamFromPool());
    while (taken++ < calls) auto outputs = model.run(inputs);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, true);
  work(threads > 1);
  for (std::thread& other : others) other.join();
  c10::cuda::device_synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  const double begin = std::getenv("BEGIN_NS") ? std::atof(std::getenv("BEGIN_NS")) : now_ns();
  if (argc < 5) {
    std::fprintf(stderr, "usage: libtorch PACKAGE REPEAT THREADS TYPE:SIZES:FILE…\n");
    return 2;
  }
  try {
    const c10::NoGradGuard no_gradients;
    const int repeat = std::atoi(argv[2]), threads = std::atoi(argv[3]);
    std::vector<at::Tensor> inputs;
    for (int i = 4; i < argc; ++i) inputs.push_back(input_of(argv[i]));
    Loader model(argv[1]);
    auto outputs = model.run(inputs);
    c10::cuda::device_synchronize();
    const double first_ms = (now_ns() - begin) / 1e6;
    const long resident = resident_mb();
    const long bytes = bytes_of_a_call(model, inputs);
    double call_us = 0;
    // The first round warms up.
    for (int round = 0; round < 2; ++round) {
      const double start = now_ns();
      call(model, inputs, repeat, threads);
      call_us = (now_ns() - start) / 1e3 / repeat;
    }
    std::printf(
        "first result after %.1f ms, %ld MB resident\na call takes %ld bytes of the device at "
        "most\n%.1f us a call\n",
        first_ms, resident, bytes, call_us);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "libtorch: %s\n", error.what());
    return 1;
  }
  return 0;
}
