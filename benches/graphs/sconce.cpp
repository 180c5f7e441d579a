// Graphs: capture and instantiate, queue a replay, run it; and the driver's own launch of the same
// graph. Prints a line a figure: name, unit, value. `torch_graphs.py` prints the same of torch.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <sconce/sconce.hpp>
#include <vector>

namespace cc = sconce::cuda;
using sconce::Tensor;

namespace {

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void print(const char* name, const char* unit, double value) {
  std::printf("%-44s %-3s %10.3f\n", name, unit, value);
}

/// Microseconds to queue `work`, and microseconds of the device for each, of batches that fit the
/// queue.
void queue_and_run(const char* name, const cc::CUDAStream& stream,
                   const std::function<void()>& work) {
  std::vector<double> queued;
  std::vector<double> ran;
  for (int round = 0; round < 60; ++round) {
    constexpr int kBatch = 20;
    stream.synchronize();
    const double start = now_us();
    for (int i = 0; i < kBatch; ++i) work();
    queued.push_back((now_us() - start) / kBatch);
    stream.synchronize();
    ran.push_back((now_us() - start) / kBatch);
  }
  std::printf("%s\n", name);
  print("  queue", "us", median(queued));
  print("  queue, fastest round", "us", *std::min_element(queued.begin(), queued.end()));
  print("  with the device", "us", median(ran));
}

/// Captures, instantiates and destroys a graph of `work`.
void make_graphs(const char* name, const std::function<void()>& work) {
  std::vector<double> made;
  for (int round = 0; round < 40; ++round) {
    const cc::CUDAStreamGuard guard(cc::getStreamFromPool());
    cc::device_synchronize();
    cc::CUDAGraph graph;
    const double start = now_us();
    graph.capture_begin();
    work();
    graph.capture_end();
    made.push_back(now_us() - start);
  }
  print(name, "us", median(made));
}

Tensor decode(const Tensor& input, const std::vector<Tensor>& gates) {
  Tensor x = input;
  for (const Tensor& gate : gates) {
    const Tensor mean = (x * x).mean({-1}, true);
    const Tensor normal = x * (mean + 1e-5).rsqrt();
    const Tensor gated = (normal * gate).silu();
    x = x + gated;
  }
  return x;
}

}  // namespace

int main() {
  const auto options = sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kFloat);
  const cc::CUDAStream stream = cc::getStreamFromPool();
  const cc::CUDAStreamGuard guard(stream);
  const Tensor a = sconce::full({256}, 0.0, options);
  const Tensor b = sconce::full({256}, 1.0, options);
  const auto additions = [&] {
    for (int i = 0; i < 100; ++i) a.add_(b);
  };
  additions();
  make_graphs("100 additions: capture and instantiate", additions);

  cc::CUDAGraph graph;
  graph.capture_begin();
  additions();
  graph.capture_end();
  queue_and_run("100 additions: eagerly", stream, additions);
  queue_and_run("100 additions: replay", stream, [&] { graph.replay(stream); });
  if (void* const cuda = dlopen("libcuda.so.1", RTLD_NOW)) {
    using Launch = int (*)(void*, void*);
    auto* const launch = reinterpret_cast<Launch>(dlsym(cuda, "cuGraphLaunch"));
    void* const exec = graph.raw_cuda_graph_exec();
    void* const native = stream.stream();
    if (launch != nullptr && sconce::active_backend() == sconce::Backend::Cuda) {
      queue_and_run("100 additions: cuGraphLaunch", stream, [&] { launch(exec, native); });
      queue_and_run("100 additions: replay again", stream, [&] { graph.replay(stream); });
      queue_and_run("100 additions: cuGraphLaunch again", stream, [&] { launch(exec, native); });
    }
  }

  std::vector<Tensor> gates;
  for (int i = 0; i < 5; ++i) {
    gates.push_back(sconce::full({256}, 0.25, options));
  }
  const Tensor input = sconce::full({8, 256}, 1.5, options);
  const auto step = [&] { (void)decode(input, gates); };
  step();
  make_graphs("decode step: capture and instantiate", step);
  cc::CUDAGraph decoding;
  decoding.capture_begin();
  const Tensor output = decode(input, gates);
  decoding.capture_end();
  print("decode step: nodes", "", static_cast<double>(decoding.node_count()));
  queue_and_run("decode step: eagerly", stream, step);
  queue_and_run("decode step: replay", stream, [&] { decoding.replay(stream); });
  return 0;
}
