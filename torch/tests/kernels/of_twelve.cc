// A kernel library for a CUDA runtime of version 12; what it needs of one (-DRUNTIME), a function
// that other versions do not have; and a runtime of another version (-DOTHER).
#include "abi.hpp"

extern "C" int cudaOfVersionTwelve();

#ifdef RUNTIME
int cudaOfVersionTwelve() { return 12; }
#elif defined(OTHER)
extern "C" int cudaGetDevice(int*) { return 999; }
#else
namespace {

// runtime() -> int
void runtime(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  stack[0] = static_cast<std::uint64_t>(cudaOfVersionTwelve());
}

const Registered schema(nullptr, [](void* library) {
  check(aoti_torch_library_def(library, "runtime() -> int"));
});
const Registered any("CompositeExplicitAutograd", [](void* library) {
  check(torch_library_impl(library, "runtime", runtime, version));
});

}  // namespace
#endif
