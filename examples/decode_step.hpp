// A decode step of 40 small operations, as the examples and the benchmarks of graphs run it.
#ifndef SCONCE_EXAMPLES_DECODE_STEP_HPP
#define SCONCE_EXAMPLES_DECODE_STEP_HPP

#include <cstdint>
#include <vector>

namespace decode {

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kWidth = 256;
constexpr int kLayers = 5;

/// One step through all layers, one for each of `gates`: eight operations each, on `kBatch` rows of
/// `kWidth` numbers. `Tensor` is this library's or PyTorch's.
template <class Tensor>
Tensor step(const Tensor& input, const std::vector<Tensor>& gates) {
  Tensor x = input;
  for (const Tensor& gate : gates) {
    const Tensor mean = (x * x).mean({-1}, true);
    const Tensor normal = x * (mean + 1e-5).rsqrt();
    const Tensor gated = silu(normal * gate);
    x = x + gated;
  }
  return x;
}

}  // namespace decode

#endif  // SCONCE_EXAMPLES_DECODE_STEP_HPP
