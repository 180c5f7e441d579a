// A kernel library whose kernels use memory without any call of the two libraries, as device code
// does. So all that anybody knows of them is in their schemas.
#include "abi.hpp"

namespace {

// read(Tensor x, Tensor? y=None) -> (); list(Tensor[] xs) -> ()
template <std::uint64_t Lists>
void consumed(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  if (Lists != 0) {
    void* list = reinterpret_cast<void*>(stack[0]);
    std::size_t size = 0;
    check(torch_list_size(list, &size));
    for (std::size_t at = 0; at < size; ++at) {
      std::uint64_t word = 0;
      check(torch_list_get_item(list, at, &word));
      const Handle x(word);
    }
    check(torch_delete_list(list));
    return;
  }
  const Handle x(stack[0]);
  if (stack[1] != 0) {
    auto* word = reinterpret_cast<std::uint64_t*>(stack[1]);
    const Handle y(*word);
    delete word;
  }
}

// written(Tensor(a!) x) -> Tensor(a!); seen(Tensor(a) x) -> Tensor(a)
void kept(std::uint64_t*, std::uint64_t, std::uint64_t) {}

// made(Tensor x) -> Tensor; outer(Tensor x) -> Tensor: calls it.
template <std::uint64_t Nested>
void made(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  const Handle x(stack[0]);
  if (Nested != 0) {
    std::uint64_t inner[1] = {x.word()};
    check(torch_call_dispatcher("sample::made", "", inner, version));
    stack[0] = inner[0];
    return;
  }
  std::uint64_t like[6] = {x.word(), 0, 0, 0, 0, 0};
  check(torch_call_dispatcher("aten::empty_like", "", like, version));
  stack[0] = like[0];
}

void add_kernels(void* library) {
  check(torch_library_impl(library, "read", consumed<0>, version));
  check(torch_library_impl(library, "list", consumed<1>, version));
  check(torch_library_impl(library, "written", kept, version));
  check(torch_library_impl(library, "seen", kept, version));
  check(torch_library_impl(library, "made", made<0>, version));
  check(torch_library_impl(library, "outer", made<1>, version));
}

const Registered cuda("CUDA", add_kernels);
const Registered cpu("CPU", add_kernels);
const Registered schemas(nullptr, [](void* library) {
  check(aoti_torch_library_def(library, "read(Tensor x, Tensor? y=None) -> ()"));
  check(aoti_torch_library_def(library, "list(Tensor[] xs) -> ()"));
  check(aoti_torch_library_def(library, "written(Tensor(a!) x) -> Tensor(a!)"));
  check(aoti_torch_library_def(library, "seen(Tensor(a) x) -> Tensor(a)"));
  check(aoti_torch_library_def(library, "made(Tensor x) -> Tensor"));
  check(aoti_torch_library_def(library, "outer(Tensor x) -> Tensor"));
});

}  // namespace
