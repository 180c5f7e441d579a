// More operators of the tests' namespace, registered by another unit.
#include <torch/library.h>

namespace {

torch::Tensor negated(const torch::Tensor& tensor) { return -tensor; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(sconce_tests, m) { m.def("negated", &negated); }

TORCH_LIBRARY_IMPL(sconce_tests, CPU, m) {
  m.impl("of_devices", [](const torch::Tensor& tensor) { return tensor + 1; });
}
TORCH_LIBRARY_IMPL(sconce_tests, CUDA, m) {
  m.impl("of_devices", [](const torch::Tensor& tensor) { return tensor + 2; });
}
TORCH_LIBRARY_IMPL(sconce_tests, Autograd, m) {
  m.impl("of_devices", torch::CppFunction::makeFallthrough());
}
