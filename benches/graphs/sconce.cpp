// This library's graphs.
#include <dlfcn.h>

#include <sconce/sconce_all.hpp>

#include "program.hpp"

namespace {

namespace cc = sconce::cuda;

struct Sconce {
  using Tensor = sconce::Tensor;

  class Graph {
   public:
    void capture(const graph_bench::Work& work) {
      graph_.capture_begin();
      work();
      graph_.capture_end();
    }
    void replay() const { graph_.replay(); }
    [[nodiscard]] void* executable() const { return graph_.raw_cuda_graph_exec(); }

   private:
    cc::CUDAGraph graph_;
  };

  static std::string title() {
    const bool simulated = sconce::active_backend() == sconce::Backend::Sim;
    return std::string("Sconce ") + sconce_version() + (simulated ? " (simulated)" : "");
  }
  static void enter() { cc::setCurrentCUDAStream(cc::getStreamFromPool()); }
  static void wait() { cc::getCurrentCUDAStream().synchronize(); }
  static Tensor full(const std::vector<std::int64_t>& sizes, double value) {
    const auto options = sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kFloat);
    return sconce::full(sizes, value, options);
  }
  static void on_new_stream(const graph_bench::Work& work) {
    const cc::CUDAStreamGuard guard(cc::getStreamFromPool());
    cc::device_synchronize();
    work();
  }
  static graph_bench::Work launch_of(const Graph& graph) {
    using Launch = int (*)(void*, void*);
    if (sconce::active_backend() != sconce::Backend::Cuda) return nullptr;
    void* const cuda = dlopen("libcuda.so.1", RTLD_NOW);
    auto* const launch = reinterpret_cast<Launch>(dlsym(cuda, "cuGraphLaunch"));
    if (launch == nullptr) return nullptr;
    void* const executable = graph.executable();
    void* const stream = cc::getCurrentCUDAStream().stream();
    return [=] { launch(executable, stream); };
  }
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  return options.valid ? graph_bench::run<Sconce>(options) : 2;
}
