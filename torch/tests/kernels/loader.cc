// A kernel library whose initialiser loads another one, for tests.
#include "abi.hpp"

extern "C" std::int32_t sconce_torch_load(const char*, void**);

namespace {

// seven() -> int
void seven(std::uint64_t* stack, std::uint64_t, std::uint64_t) { stack[0] = 7; }

const Registered any("CompositeExplicitAutograd", [](void* library) {
  check(torch_library_impl(library, "seven", seven, version));
});
const Registered schema(nullptr, [](void* library) {
  check(aoti_torch_library_def(library, "seven() -> int"));
});
const std::int32_t inner = [] {
  void* library = nullptr;
  return sconce_torch_load(INNER, &library);
}();

}  // namespace
