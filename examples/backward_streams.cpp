// The four patterns of torch's notes on streams of backward passes: where gradients may be used,
// and where initial gradients may come from. On a simulated device, which does nothing unless it is
// stepped, the program also shows what the wrong patterns read. Without a GPU: set
// SCONCE_BACKEND=sim.
#include <cstdio>
#include <sconce/sconce_all.hpp>

namespace cc = sconce::cuda;

namespace {

/// What a pattern does beside the pass itself.
struct Pattern {
  const char* name;
  bool initial_on_side;       // the initial gradient is made on the side stream
  bool wait_for_initial;      // and the caller's stream waits for it
  bool used_on_side;          // the gradient is used on the side stream
  bool wait_for_gradient;     // which waits for the caller's
  bool called_under_a_guard;  // the pass is called on another stream than that of the operation
  bool right;
};

constexpr Pattern kPatterns[] = {
    {"1. gradients used on the stream of the call", false, false, false, false, false, true},
    {"2. gradients used on another stream, which waits", false, false, true, true, false, true},
    {"   without the wait", false, false, true, false, false, false},
    {"3. initial gradients of another stream, with a wait", true, true, false, false, false, true},
    {"   without the wait", true, false, false, false, false, false},
    {"4. the pass under a stream guard", false, false, false, false, true, true},
};

/// y = 2 x, with dy/dx = 2; what the user of the gradient reads should be `2 * seed`.
float run(const Pattern& pattern, float seed, bool simulated) {
  const auto work = cc::getStreamFromPool();
  const auto side = cc::getStreamFromPool();
  const auto caller = pattern.called_under_a_guard ? cc::getStreamFromPool() : work;
  const auto options = sconce::device(cc::current_device());
  const auto source = sconce::full({256}, seed, options);
  const auto initial = sconce::zeros({256}, options);
  const auto used = sconce::zeros({256}, options);
  cc::device_synchronize();

  const sconce::BackwardGraph graph;
  sconce::BackwardEdge leaf;
  std::uint64_t doubled = 0;
  {
    const cc::CUDAStreamGuard guard(work);
    leaf = graph.add_leaf(source.device(), "x");
    doubled = graph.add_node(source.device(), "doubled", 1, {leaf}, [](const auto& gradients) {
      return std::vector<sconce::Tensor>{gradients[0] * 2.0};
    });
  }
  if (simulated) {
    sconce::simulator::set_manual(true);
  }
  {
    const cc::CUDAStreamGuard guard(pattern.initial_on_side ? side : caller);
    initial.copy_(source, true);
  }
  if (pattern.wait_for_initial) {
    caller.wait_stream(side);
  }
  {
    const cc::CUDAStreamGuard guard(caller);
    graph.run({{{doubled, 0}, initial}});
  }
  const auto& user = pattern.used_on_side ? side : caller;
  if (pattern.wait_for_gradient) {
    side.wait_stream(caller);
  }
  {
    const cc::CUDAStreamGuard guard(user);
    const auto gradient = graph.gradient(leaf);
    gradient.record_stream(user);
    used.copy_(gradient, true);
  }
  if (simulated) {
    // The order that hurts most: the user's stream goes as far as it can, then the caller's.
    while (sconce::simulator::step(user) || sconce::simulator::step(caller) ||
           sconce::simulator::step(work) || sconce::simulator::step(side)) {
    }
    sconce::simulator::set_manual(false);
  }
  cc::device_synchronize();
  return used[0].item<float>();
}

}  // namespace

int main() {
  try {
    const bool simulated = sconce::active_backend() == sconce::Backend::Sim;
    int wrong = 0;
    float seed = 1.0F;
    for (const Pattern& pattern : kPatterns) {
      if (!pattern.right && !simulated) {
        continue;  // what a real device reads is left to chance
      }
      seed += 1.0F;
      const float value = run(pattern, seed, simulated);
      const bool fresh = value == 2.0F * seed;
      std::printf("%-52s reads %4.1f of %4.1f: %s\n", pattern.name, static_cast<double>(value),
                  static_cast<double>(2.0F * seed), fresh ? "fresh" : "STALE");
      wrong += fresh == pattern.right ? 0 : 1;
    }
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
