// PyTorch's graphs. Built against an installed PyTorch by scripts/gpu-check.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/version.h>

#include "program.hpp"

namespace {

struct Torch {
  using Tensor = at::Tensor;

  class Graph {
   public:
    void capture(const graph_bench::Work& work) {
      graph_.capture_begin();
      work();
      graph_.capture_end();
    }
    void replay() { graph_.replay(); }

   private:
    at::cuda::CUDAGraph graph_;
  };

  static std::string title() { return std::string("PyTorch ") + TORCH_VERSION; }
  static void enter() { c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool()); }
  static void wait() { c10::cuda::getCurrentCUDAStream().synchronize(); }
  static Tensor full(const std::vector<std::int64_t>& sizes, double value) {
    return at::full(sizes, value, at::TensorOptions().device(at::kCUDA).dtype(at::kFloat));
  }
  static void on_new_stream(const graph_bench::Work& work) {
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    c10::cuda::device_synchronize();
    work();
  }
  static graph_bench::Work launch_of(const Graph&) { return nullptr; }
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  if (!options.valid) {
    return 2;
  }
  at::globalContext().lazyInitDevice(at::kCUDA);
  const c10::NoGradGuard no_gradients;
  return graph_bench::run<Torch>(options);
}
