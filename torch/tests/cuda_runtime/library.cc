// A kernel library as nvcc makes it: its initialisers register code and the host's function of a
// kernel, and `<<<...>>>` became the calls in `launch`.
#include "../kernels/abi.hpp"

extern "C" {
struct Extent {
  unsigned x, y, z;
};
void** __cudaRegisterFatBinary(const void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(Extent, Extent, std::size_t, void*);
int __cudaPopCallConfiguration(Extent*, Extent*, std::size_t*, void*);
int __cudaGetKernel(void**, const void*);
int __cudaLaunchKernel(void*, Extent, Extent, void**, std::size_t, void*);
int cudaLaunchKernel(const void*, Extent, Extent, void**, std::size_t, void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaGetLastError();
}

namespace {

const char code[] = "code";

struct Wrapper {
  std::uint32_t magic, version;
  const void* code;
  const void* more;
};
const Wrapper wrapper = {0x466243b1, 1, code, nullptr};

// The function of the host that stands for the kernel `scale`.
int scale(int factor) {
  Extent grid, block;
  std::size_t shared;
  void* stream;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != 0) {
    return -1;
  }
  void* kernel = nullptr;
  void* arguments[] = {&factor};
  const int failure = __cudaGetKernel(&kernel, reinterpret_cast<const void*>(&scale));
  return failure != 0 ? failure
                      : __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
int absent() { return 0; }

struct Code {
  void** handle;
  Code() : handle(__cudaRegisterFatBinary(&wrapper)) {
    char variable = 0;
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&scale), nullptr, "scale", -1,
                           nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&absent), nullptr, "absent", -1,
                           nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, &variable, &variable, "variable", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  ~Code() { __cudaUnregisterFatBinary(handle); }
};
const Code registered;

// launch(int way) -> int: the code that the runtime returned.
void launch(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  int failure = 0;
  int factor = 7;
  void* arguments[] = {&factor};
  void* stream = reinterpret_cast<void*>(0x100);
  switch (stack[0]) {
    case 0:
      failure = static_cast<int>(__cudaPushCallConfiguration({1, 2, 3}, {4, 5, 6}, 64, stream));
      failure = failure != 0 ? failure : scale(factor);
      break;
    case 1:
      failure = cudaLaunchKernel(reinterpret_cast<const void*>(&scale), {8, 1, 1}, {32, 1, 1},
                                 arguments, 0, nullptr);
      break;
    case 2:
      failure = cudaLaunchKernel(reinterpret_cast<const void*>(&absent), {8, 1, 1}, {32, 1, 1},
                                 arguments, 0, nullptr);
      break;
    case 3:
      failure = cudaLaunchKernel(code, {8, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
      break;
    case 4:
      failure = scale(factor);
      break;
    case 5:
      failure = cudaFuncSetAttribute(reinterpret_cast<const void*>(&scale), 8, 99);
      break;
    default:
      int blocks = 0;
      failure = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, reinterpret_cast<const void*>(&scale), 32, 10);
      failure = failure != 0 ? failure : blocks;
  }
  cudaGetLastError();
  stack[0] = static_cast<std::uint64_t>(failure);
}

const Registered kernels("CompositeExplicitAutograd", [](void* library) {
  check(torch_library_impl(library, "launch", launch, version));
});
const Registered schemas(nullptr, [](void* library) {
  check(aoti_torch_library_def(library, "launch(int way) -> int"));
});

}  // namespace
