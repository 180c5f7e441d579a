// A kernel library with an operator whose kernel for every device is registered for BackendSelect,
// as functions that make tensors have it, beside one for the CPU.
#include "abi.hpp"

namespace {

// chosen(Tensor? x=None) -> int: the number of the kernel
template <std::uint64_t Number>
void chosen(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  if (stack[0] != 0) {
    auto* word = reinterpret_cast<std::uint64_t*>(stack[0]);
    const Handle x(*word);
    delete word;
  }
  stack[0] = Number;
}

#ifdef NEWER
// A kernel that replaces one of the library without NEWER.
const Registered cpu("CPU", [](void* library) {
  check(torch_library_impl(library, "plain", chosen<5>, version));
});
#else
const Registered schema(nullptr, [](void* library) {
  check(aoti_torch_library_def(library, "chosen(Tensor? x=None) -> int"));
  check(aoti_torch_library_def(library, "plain(Tensor? x=None) -> int"));
});
const Registered cpu("CPU", [](void* library) {
  check(torch_library_impl(library, "chosen", chosen<1>, version));
  check(torch_library_impl(library, "plain", chosen<1>, version));
});
const Registered any("CompositeExplicitAutograd", [](void* library) {
  check(torch_library_impl(library, "chosen", chosen<2>, version));
  check(torch_library_impl(library, "plain", chosen<2>, version));
});
// Its schema is left to the program.
const Registered undeclared("CPU", [](void* library) {
  check(torch_library_impl(library, "undeclared", chosen<4>, version));
});
const Registered select("BackendSelect", [](void* library) {
  check(torch_library_impl(library, "chosen", chosen<3>, version));
});
#endif

}  // namespace
