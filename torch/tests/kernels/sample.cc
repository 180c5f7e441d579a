// A kernel library as a project would write it, for tests.
#include <string>

#include "abi.hpp"

namespace {

// scaled(Tensor x, float factor=2, str? mode=None) -> Tensor
void scaled(std::uint64_t* stack, std::uint64_t arguments, std::uint64_t results) {
  const Handle x(stack[0]);
  const double factor = real(stack[1]);
  std::string mode;
  if (stack[2] != 0) {
    auto* word = reinterpret_cast<std::uint64_t*>(stack[2]);
    void* text = reinterpret_cast<void*>(*word);
    delete word;
    const char* chars = nullptr;
    check(torch_string_c_str(text, &chars));
    mode = chars;
    check(torch_delete_string(text));
  }
  if (arguments != 3 || results != 1) {
    throw std::runtime_error("wrong counts");
  }
  if (mode == "throw") {
    throw std::invalid_argument("the mode says to throw");
  }
  if (mode == "odd") {
    throw 5;
  }
  std::uint64_t like[6] = {x.word(), 0, 0, 0, 0, 0};
  check(torch_call_dispatcher("aten::empty_like", "", like, version));
  Handle made(like[0]);
  struct Work {
    const float* from;
    float* to;
    double factor;
  } work{x.data(), made.data(), factor};
  check(torch_parallel_for(
      0, x.numel(), 4,
      [](std::int64_t begin, std::int64_t end, void* context) {
        const auto* work = static_cast<const Work*>(context);
        for (std::int64_t at = begin; at < end; ++at) {
          work->to[at] = static_cast<float>(work->from[at] * work->factor);
        }
      },
      &work));
  stack[0] = made.release();
}

// halves(Tensor[] xs, int dim) -> (Tensor[], int)
void halves(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  void* list = reinterpret_cast<void*>(stack[0]);
  std::size_t size = 0;
  check(torch_list_size(list, &size));
  void* made = nullptr;
  check(torch_new_list_reserve_size(size, &made));
  for (std::size_t at = 0; at < size; ++at) {
    std::uint64_t word = 0;
    check(torch_list_get_item(list, at, &word));
    const Handle x(word);
    // slice(self, dim, start, end, step): the begin is left at its default.
    auto* end = new std::uint64_t(static_cast<std::uint64_t>(x.numel() / 2));
    std::uint64_t slice[5] = {x.word(), stack[1], 0, reinterpret_cast<std::uint64_t>(end), 1};
    check(torch_call_dispatcher("aten::slice", "Tensor", slice, version));
    check(torch_list_push_back(made, slice[0]));
  }
  check(torch_delete_list(list));
  stack[0] = reinterpret_cast<std::uint64_t>(made);
  stack[1] = size;
}

// twice(Tensor(a!) x) -> Tensor(a!): calls another operator of the library.
void twice(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  Handle x(stack[0]);
  std::uint64_t inner[3] = {x.word(), 0x4000000000000000, 0};
  check(torch_call_dispatcher("sample::scaled", "", inner, version));
  const Handle product(inner[0]);
  std::uint64_t copy[3] = {x.word(), product.word(), 0};
  check(torch_call_dispatcher("aten::copy_", "", copy, version));
  const Handle same(copy[0]);
  stack[0] = x.release();
}

// unknown(Tensor x) -> Tensor
void unknown(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  const Handle x(stack[0]);
  check(torch_call_dispatcher("aten::spectral_norm", "frobenius", stack, version));
}

// drawn(Tensor(a!) x, Generator? generator=None) -> Tensor(a!): numbers from 0 to 1 of a generator.
void drawn(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  Handle x(stack[0]);
  std::uint64_t passed = 0;
  if (stack[1] != 0) {
    auto* word = reinterpret_cast<std::uint64_t*>(stack[1]);
    void* generator = reinterpret_cast<void*>(*word);
    delete word;
    std::int32_t kind = -1;
    std::int32_t index = -1;
    check(torch_generator_get_device(generator, &kind, &index));
    if (kind != 0) {
      throw std::runtime_error("no generator of the CPU");
    }
    void* second = nullptr;
    check(torch_new_generator_handle(generator, &second));
    check(torch_delete_generator(generator));
    passed =
        reinterpret_cast<std::uint64_t>(new std::uint64_t(reinterpret_cast<std::uint64_t>(second)));
  }
  std::uint64_t uniform[4] = {x.word(), word_of(0), word_of(1), passed};
  check(torch_call_dispatcher("aten::uniform_", "", uniform, version));
  const Handle same(uniform[0]);
  stack[0] = x.release();
}

// number() -> int
void number(std::uint64_t* stack, std::uint64_t, std::uint64_t) { stack[0] = 42; }

// Kernels come before their schemas.
const Registered cpu("CPU", [](void* library) {
  check(torch_library_impl(library, "scaled", scaled, version));
  check(torch_library_impl(library, "sample::halves", halves, version));
  check(torch_library_impl(library, "twice", twice, version));
  check(torch_library_impl(library, "unknown", unknown, version));
  check(torch_library_impl(library, "drawn", drawn, version));
});
const Registered any("CompositeExplicitAutograd", [](void* library) {
  check(torch_library_impl(library, "number", number, version));
});
const Registered ignored("Autograd", [](void* library) {
  check(torch_library_impl(library, "scaled", unknown, version));
});
const Registered schemas(nullptr, [](void* library) {
  check(aoti_torch_library_def(library,
                               "scaled(Tensor x, float factor=2, str? mode=None) -> Tensor"));
  check(aoti_torch_library_def(library, "halves(Tensor[] xs, int dim=0) -> (Tensor[], int)"));
  check(aoti_torch_library_def(library, "twice(Tensor(a!) x) -> Tensor(a!)"));
  check(aoti_torch_library_def(library, "unknown(Tensor x) -> Tensor"));
  check(aoti_torch_library_def(library,
                               "drawn(Tensor(a!) x, Generator? generator=None) -> Tensor(a!)"));
  check(aoti_torch_library_def(library, "number() -> int"));
#ifdef SAMPLE_DEFINES_TWICE
  check(aoti_torch_library_def(library, "number() -> int"));
#endif
#ifdef SAMPLE_HAS_A_WRONG_SCHEMA
  check(aoti_torch_library_def(library, "wrong(Tensor -> ("));
#endif
});

#ifdef SAMPLE_NEEDS_MORE
extern "C" std::int32_t aoti_torch_function_of_a_later_release(void);
const std::int32_t later = aoti_torch_function_of_a_later_release();
#endif

}  // namespace
