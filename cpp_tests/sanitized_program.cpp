// Compiled with AddressSanitizer and warnings as errors: compilers then warn about more in inlined
// functions.
#include <sconce/sconce_all.hpp>

double of_tensors();

double of_tensors() {
  const sconce::TensorOptions on_cpu = sconce::device(sconce::kCPU).dtype(sconce::kFloat);
  const sconce::Tensor a = sconce::arange(6, sconce::kFloat).view({2, 3});
  const sconce::Tensor b = sconce::tensor({1.0F, 2.0F, 3.0F});
  const sconce::Tensor c = sconce::full({2, 3}, 2.0, sconce::dtype(sconce::kFloat));
  const sconce::Tensor d = sconce::randn({2, 3}, sconce::device(sconce::kCPU));
  const sconce::Tensor e = sconce::zeros_like(a, sconce::kDouble) + sconce::empty_like(a);
  return (a + b + c + d.to(on_cpu) + e.to(sconce::kDouble)).sum().item<double>();
}
