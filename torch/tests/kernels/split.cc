// A kernel library of two files: kernels, and functions that take tensors, in a library of their
// own
// (-DCORE). The name of such a function contains that of the tensor's class.
#include "abi.hpp"

namespace torch::stable {
// The name of the class in PyTorch's headers.
struct Tensor {
  void* handle;
};
}  // namespace torch::stable

namespace example {
std::int64_t elements(const torch::stable::Tensor& tensor);
}  // namespace example

#ifdef CORE
std::int64_t example::elements(const torch::stable::Tensor& tensor) {
  std::int64_t numel = 0;
  check(aoti_torch_get_numel(tensor.handle, &numel));
  return numel;
}
#else
namespace {

// elements(Tensor x) -> int
void elements(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  const Handle x(stack[0]);
  stack[0] = static_cast<std::uint64_t>(example::elements({x.get()}));
}

const Registered schema(nullptr, [](void* library) {
  check(aoti_torch_library_def(library, "elements(Tensor x) -> int"));
});
const Registered cpu("CPU", [](void* library) {
  check(torch_library_impl(library, "elements", elements, version));
});

}  // namespace
#endif
