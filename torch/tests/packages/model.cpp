// A compiled model, written by hand against PyTorch's ABI: one input of F32 on the CPU, one output
// of twice its values.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

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

struct Container {
  std::string name = "x";
};

std::int32_t AOTInductorModelContainerCreateWithDevice(Container** made, std::size_t, const char*,
                                                       const char*) {
  *made = new Container;
  return 0;
}
std::int32_t AOTInductorModelContainerDelete(Container* container) {
  delete container;
  return 0;
}
std::int32_t AOTInductorModelContainerGetNumInputs(Container*, std::size_t* number) {
  return *number = 1, 0;
}
std::int32_t AOTInductorModelContainerGetNumOutputs(Container*, std::size_t* number) {
  return *number = 1, 0;
}
std::int32_t AOTInductorModelContainerGetNumConstants(Container*, std::size_t* number) {
  return *number = 0, 0;
}
std::int32_t AOTInductorModelContainerGetInputName(Container* container, std::size_t,
                                                   const char** name) {
  return *name = container->name.c_str(), 0;
}
std::int32_t AOTInductorModelContainerGetOutputName(Container*, std::size_t, const char** name) {
  return *name = "doubled", 0;
}
std::int32_t AOTInductorModelContainerRunSingleThreaded(Container*, Tensor* inputs, std::size_t,
                                                        Tensor* outputs, std::size_t, void*,
                                                        void*) {
  struct Input {
    Tensor handle;
    ~Input() { aoti_torch_delete_tensor_object(handle); }
  } input{inputs[0]};
#ifdef MISSING
  aoti_torch_cpu_no_such_operation(input.handle);
#endif
  std::int64_t rank = 0, numel = 0, *sizes = nullptr, *strides = nullptr;
  if (aoti_torch_get_dim(input.handle, &rank) != 0 ||
      aoti_torch_get_numel(input.handle, &numel) != 0 ||
      aoti_torch_get_sizes(input.handle, &sizes) != 0 ||
      aoti_torch_get_strides(input.handle, &strides) != 0) {
    return 1;
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
  for (std::int64_t at = 0; at < numel; ++at) {
    static_cast<float*>(to)[at] = 2 * static_cast<float*>(from)[at];
  }
  return 0;
}
}
