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
struct Config {
  Extent grid, block;
  std::size_t shared;
  void* stream;
  const int* attributes;
  unsigned count;
};
struct KernelProperties {
  std::size_t shared, constant, local;
  int others[13];
  int reserved[16];
};
struct MemoryHandle {
  char bytes[64];
};
char __cudaInitModule(void**);
int cudaLaunchKernelExC(const Config*, const void*, void**);
int cudaLaunchCooperativeKernel(const void*, Extent, Extent, void**, std::size_t, void*);
int cudaFuncGetAttributes(KernelProperties*, const void*);
int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int);
int cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int,
                      void*);
int cudaIpcGetMemHandle(MemoryHandle*, void*);
int cudaIpcOpenMemHandle(void**, MemoryHandle, unsigned);
int cudaIpcCloseMemHandle(void*);
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
// The variable of the host that stands for one of kernels.
char variable;

struct Code {
  void** handle;
  Code() : handle(__cudaRegisterFatBinary(&wrapper)) {
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&scale), nullptr, "scale", -1,
                           nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&absent), nullptr, "absent", -1,
                           nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, &variable, &variable, "variable", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    __cudaInitModule(handle);
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
    case 7: {
      const int attribute = 77;
      const Config config = {{1, 2, 3}, {4, 5, 6}, 64, stream, &attribute, 1};
      failure = cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&scale), arguments);
      break;
    }
    case 8:
      failure = cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&scale), {1, 2, 3},
                                            {4, 5, 6}, arguments, 64, stream);
      break;
    case 9: {
      KernelProperties found;
      std::memset(&found, 1, sizeof(found));
      failure = cudaFuncGetAttributes(&found, reinterpret_cast<const void*>(&scale));
      // In the order of the struct; the last one is one that the driver does not know.
      const int wanted[] = {1000, 1004, 1005, 1006, 1007, 1008, 1009,
                            1010, 1011, 1012, 1013, 1015, 0};
      const bool right = found.shared == 1001 && found.constant == 1002 && found.local == 1003 &&
                         std::memcmp(found.others, wanted, sizeof(wanted)) == 0;
      failure = failure != 0 || right ? failure : -2;
      break;
    }
    case 10: {
      const char bytes[] = {1, 2, 3, 4};
      failure = cudaMemcpyToSymbol(&variable, bytes, 3, 1, 1);
      // Past its end, and of no kernel.
      failure = failure != 0 ? failure : cudaMemcpyToSymbol(&variable, bytes, 4, 1, 1) - 1;
      failure = failure != 0 ? failure : cudaMemcpyToSymbol(bytes, bytes, 4, 0, 1) - 13;
      break;
    }
    case 11: {
      MemoryHandle handle;
      void* address = nullptr;
      failure = cudaIpcGetMemHandle(&handle, &variable);
      failure = failure != 0 ? failure : cudaIpcOpenMemHandle(&address, handle, 1);
      failure = failure != 0 || address == &variable ? failure : -2;
      failure = failure != 0 ? failure : cudaIpcCloseMemHandle(nullptr);
      break;
    }
    case 12: {
      const char from[] = "ab..cd..";
      char into[] = "------";
      failure = cudaMemcpy2DAsync(into, 3, from, 4, 2, 2, 1, stream);
      failure = failure != 0 || std::memcmp(into, "ab-cd-", 6) == 0 ? failure : -2;
      // Rows that are wider than their distance.
      failure = failure != 0 ? failure : cudaMemcpy2DAsync(into, 1, from, 4, 2, 2, 4, stream) - 12;
      break;
    }
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
