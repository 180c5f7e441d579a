// A compiled model, written by hand against PyTorch's ABI: one input of F32 on the CPU, one output
// of twice its values. With WEIGHTS it has a constant of two elements that is not in the library:
// a factor, and what is added. With ROUNDED it counts 64 bytes for them, as models of PyTorch do.
// With CUSTOM it calls the operators of kernels/sample.cc instead. With NAMELESS it cannot be made
// while TMPDIR has files. With INPUTS it takes that many inputs, and uses the first alone.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#ifdef NAMELESS
#include <filesystem>
#endif

#ifdef FLEXIBLE
#include "flexible.hpp"
#endif

struct Opaque;
using Tensor = Opaque*;
extern "C" {
std::int32_t aoti_torch_get_data_ptr(Tensor, void**);
std::int32_t aoti_torch_get_numel(Tensor, std::int64_t*);
std::int32_t aoti_torch_get_dim(Tensor, std::int64_t*);
std::int32_t aoti_torch_get_sizes(Tensor, std::int64_t**);
std::int32_t aoti_torch_get_strides(Tensor, std::int64_t**);
std::int32_t aoti_torch_empty_strided(std::int64_t, const std::int64_t*, const std::int64_t*,
                                      std::int32_t, std::int32_t, std::int32_t, Tensor*);
std::int32_t aoti_torch_delete_tensor_object(Tensor);
std::int32_t aoti_torch_dtype_float32();
std::int32_t aoti_torch_device_type_cpu();
void aoti_torch_check(bool, const char*, const char*, std::uint32_t, const char*);
#ifdef MISSING
std::int32_t aoti_torch_cpu_no_such_operation(Tensor);
#endif
#ifdef MISSING_CPP
}
namespace c10 {
void no_such_function(int);
void no_such_function(long);
}  // namespace c10
extern "C" {
#endif
#ifdef CUSTOM
std::int32_t aoti_torch_new_uninitialized_tensor(Tensor*);
std::int32_t aoti_torch_proxy_executor_call_function(void*, int, int, std::int64_t*, int, Tensor*);
#endif

struct Container {
  std::string name = "x";
  float weight[2] = {2, 0};
};

std::int32_t AOTInductorModelContainerCreateWithDevice(Container** made, std::size_t, const char*,
                                                       const char*) {
#ifdef NAMELESS
  if (!std::filesystem::is_empty(std::getenv("TMPDIR"))) {
    return 1;
  }
#endif
  *made = new Container;
  return 0;
}
std::int32_t AOTInductorModelContainerDelete(Container* container) {
  delete container;
  return 0;
}
#ifndef INPUTS
#define INPUTS 1
#endif
std::int32_t AOTInductorModelContainerGetNumInputs(Container*, std::size_t* number) {
  return *number = INPUTS, 0;
}
std::int32_t AOTInductorModelContainerGetNumOutputs(Container*, std::size_t* number) {
  return *number = 1, 0;
}
#ifdef WEIGHTS
constexpr std::size_t constants = 1;
#else
constexpr std::size_t constants = 0;
#endif
std::int32_t AOTInductorModelContainerGetNumConstants(Container*, std::size_t* number) {
  return *number = constants, 0;
}
std::int32_t AOTInductorModelContainerGetConstantName(Container*, std::size_t, const char** name) {
  return *name = "inner_weight", 0;
}
std::int32_t AOTInductorModelContainerGetConstantOriginalFQN(Container*, std::size_t,
                                                             const char** name) {
  return *name = "inner.weight", 0;
}
std::int32_t AOTInductorModelContainerGetConstantDtype(Container*, std::size_t,
                                                       std::int32_t* dtype) {
  return *dtype = aoti_torch_dtype_float32(), 0;
}
std::int32_t AOTInductorModelContainerGetConstantDataSize(Container*, std::size_t,
                                                          std::size_t* bytes) {
#ifdef ROUNDED
  return *bytes = 64, 0;
#else
  return *bytes = sizeof(Container::weight), 0;
#endif
}
std::int32_t AOTInductorModelContainerGetConstantFromFolded(Container*, std::size_t, bool* folded) {
  return *folded = false, 0;
}
std::int32_t AOTInductorModelUpdateConstantsFromBlob(Container* container,
                                                     const std::uint8_t* blob) {
  std::memcpy(container->weight, blob, sizeof(container->weight));
  return 0;
}
struct Entry {
  const char* name;
  Tensor tensor;
};
std::int32_t AOTInductorModelContainerUpdateUserManagedConstantBufferPairs(Container* container,
                                                                           const Entry* entries,
                                                                           std::size_t count, bool,
                                                                           bool) {
  void* from = nullptr;
  std::int64_t* strides = nullptr;
  if (count != 1 || entries[0].name != std::string("inner_weight") ||
      aoti_torch_get_data_ptr(entries[0].tensor, &from) != 0 ||
      aoti_torch_get_strides(entries[0].tensor, &strides) != 0) {
    return 1;
  }
  for (int at = 0; at < 2; ++at) {
    container->weight[at] = static_cast<float*>(from)[at * strides[0]];
  }
  return 0;
}
std::int32_t AOTInductorModelContainerGetInputName(Container* container, std::size_t,
                                                   const char** name) {
  return *name = container->name.c_str(), 0;
}
std::int32_t AOTInductorModelContainerGetOutputName(Container*, std::size_t, const char** name) {
  return *name = "doubled", 0;
}
std::int32_t AOTInductorModelContainerRunSingleThreaded(Container* container, Tensor* inputs,
                                                        std::size_t, Tensor* outputs, std::size_t,
                                                        void*, [[maybe_unused]] void* operators) {
  struct Input {
    Tensor handle;
    ~Input() { aoti_torch_delete_tensor_object(handle); }
  } input{inputs[0]};
  for (int at = 1; at < INPUTS; ++at) {
    const Input unused{inputs[at]};
  }
#ifdef CUSTOM
  // Results of the calls are not looked at, as in generated code.
  const auto uninitialised = [] {
    Tensor made = nullptr;
    aoti_torch_new_uninitialized_tensor(&made);
    return Input{made};
  };
  Input scaled = uninitialised();
  Tensor first[] = {input.handle, scaled.handle};
  aoti_torch_proxy_executor_call_function(operators, 0, 0, nullptr, 2, first);
  aoti_torch_proxy_executor_call_function(operators, 1, 0, nullptr, 1, &scaled.handle);
  const Input halves[] = {uninitialised(), uninitialised()};
  Tensor third[] = {scaled.handle, input.handle, halves[0].handle, halves[1].handle};
  std::int64_t dim = 0;
  aoti_torch_proxy_executor_call_function(operators, 2, 1, &dim, 4, third);
  // What was scaled, and in its first place how many elements a half has.
  outputs[0] = scaled.handle;
  scaled.handle = nullptr;
  std::int64_t half = 0;
  void* data = nullptr;
  if (aoti_torch_get_numel(halves[0].handle, &half) != 0 ||
      aoti_torch_get_data_ptr(outputs[0], &data) != 0) {
    return 1;
  }
  static_cast<float*>(data)[0] = static_cast<float>(half);
  return 0;
#endif
#ifdef MISSING
  aoti_torch_cpu_no_such_operation(input.handle);
#endif
#ifdef MISSING_CPP
  c10::no_such_function(1);
  c10::no_such_function(2L);
#endif
  std::int64_t rank = 0, numel = 0, *sizes = nullptr, *strides = nullptr;
  if (aoti_torch_get_dim(input.handle, &rank) != 0 ||
      aoti_torch_get_numel(input.handle, &numel) != 0 ||
      aoti_torch_get_sizes(input.handle, &sizes) != 0 ||
      aoti_torch_get_strides(input.handle, &strides) != 0) {
    return 1;
  }
  if (numel == 12) {
    return 0;  // as the generated code of a program that returns None: the output is not set
  }
  aoti_torch_check(numel != 13, __func__, "model.cpp", 1, "thirteen elements bring bad luck");
  if (numel == 14) {
    throw std::runtime_error("thrown by the model");
  }
  if (numel == 15) {
    // A negative size: the function fails with a text, and the model as models do.
    const std::int64_t wrong = -1, stride = 1;
    return aoti_torch_empty_strided(1, &wrong, &stride, aoti_torch_dtype_float32(),
                                    aoti_torch_device_type_cpu(), 0, outputs);
  }
  if (aoti_torch_empty_strided(rank, sizes, strides, aoti_torch_dtype_float32(),
                               aoti_torch_device_type_cpu(), 0, outputs) != 0) {
    return 1;
  }
  void *from = nullptr, *to = nullptr;
  if (aoti_torch_get_data_ptr(input.handle, &from) != 0 ||
      aoti_torch_get_data_ptr(outputs[0], &to) != 0) {
    return 1;
  }
#ifdef FLEXIBLE
  return double_by_blocks(static_cast<float*>(from), static_cast<float*>(to), numel) ? 0 : 1;
#endif
#ifdef _OPENMP
#pragma omp parallel for num_threads(2)
#endif
  for (std::int64_t at = 0; at < numel; ++at) {
    static_cast<float*>(to)[at] =
        container->weight[0] * static_cast<float*>(from)[at] + container->weight[1];
  }
  return 0;
}
}
