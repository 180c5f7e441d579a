// A decode step of 40 small operations, queued one by one and as a CUDA graph.
//
// Small operations take longer to queue than to run. A graph queues all of them at once. The
// example compares the results and prints how long a step takes; on simulated devices the times say
// nothing about a GPU.
#include <chrono>
#include <cstdio>
#include <sconce/sconce_all.hpp>
#include <vector>

#include "decode_step.hpp"

namespace cc = sconce::cuda;
using sconce::Tensor;

namespace {

/// Microseconds that a call of `work` takes, queued many times and waited for once.
template <class Work>
double microseconds(int times, Work&& work) {
  cc::device_synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work();
  cc::device_synchronize();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / times;
}

}  // namespace

int main() {
  const sconce::TensorOptions options = sconce::TensorOptions(sconce::kCUDA).dtype(sconce::kFloat);
  cc::manual_seed(1);
  std::vector<Tensor> gates;
  for (int i = 0; i < decode::kLayers; ++i) {
    gates.push_back(sconce::randn({decode::kWidth}, options));
  }
  const Tensor start = sconce::randn({decode::kBatch, decode::kWidth}, options);

  // The function is called a few times to warm up, and once for the capture.
  auto graphed = cc::make_graphed(
      [&](const std::vector<Tensor>& inputs) { return decode::step(inputs[0], gates); },
      std::vector<Tensor>{start.clone()});
  std::printf("the graph has %zu nodes\n", graphed.graph().node_count());

  bool same = true;
  Tensor x = start;
  for (int token = 0; token < 4; ++token) {
    const Tensor expected = decode::step(x, gates);
    const Tensor& replayed = graphed({x});
    same = same && expected.equal(replayed);
    x = expected;
  }
  std::printf("four steps of the graph %s those of the operations\n",
              same ? "equal" : "DIFFER FROM");

  const int times = sconce::active_backend() == sconce::Backend::Sim ? 20 : 2000;
  const double eager = microseconds(times, [&] { (void)decode::step(start, gates); });
  const double replay = microseconds(times, [&] { (void)graphed(); });
  std::printf("a step of operations: %8.1f us\na step as a graph:    %8.1f us\n", eager, replay);
  return same ? 0 : 1;
}
