// A compiled model with two sets of constants, written by hand after PyTorch's container: it copies
// buffers of the inactive set from the active one without asking whether they are there, swaps in a
// set without values, and then fails or reads no memory. Two constants: a parameter of 2 by 3
// elements that lies column by column, and a buffer of 3. With EMPTY the library has no values;
// with LEAKS it never deletes handles of the program's tensors, as models before PyTorch 2.15.
//
// One input of F32. Outputs: a sum of both constants and the first element of the input, the same
// tensor once more, the input, a view of the parameter, and none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

struct Opaque;
using Tensor = Opaque*;
extern "C" {
std::int32_t aoti_torch_get_data_ptr(Tensor, void**);
std::int32_t aoti_torch_get_numel(Tensor, std::int64_t*);
std::int32_t aoti_torch_empty_strided(std::int64_t, const std::int64_t*, const std::int64_t*,
                                      std::int32_t, std::int32_t, std::int32_t, Tensor*);
std::int32_t aoti_torch_create_tensor_from_blob(void*, std::int64_t, const std::int64_t*,
                                                const std::int64_t*, std::int64_t, std::int32_t,
                                                std::int32_t, std::int32_t, Tensor*);
std::int32_t aoti_torch__reinterpret_tensor(Tensor, std::int64_t, const std::int64_t*,
                                            const std::int64_t*, std::int64_t, Tensor*);
std::int32_t aoti_torch_new_tensor_handle(Tensor, Tensor*);
std::int32_t aoti_torch_delete_tensor_object(Tensor);
std::int32_t aoti_torch_dtype_float32();
std::int32_t aoti_torch_device_type_cpu();

constexpr std::size_t number = 2;
const char* const names[number] = {"w", "b"};
const char* const originals[number] = {"layer.weight", "layer.shift"};
const std::size_t counts[number] = {6, 3};
const std::int64_t sizes[number][2] = {{2, 3}, {3, 0}};
const std::int64_t strides[number][2] = {{1, 2}, {1, 0}};

thread_local std::string last_error;

struct Held {
  Tensor handle = nullptr;
  bool is_own = false;  // made by the model, of no tensor of the program

  void reset() {
#ifdef LEAKS
    if (!is_own) {
      return;
    }
#endif
    if (handle != nullptr) {
      aoti_torch_delete_tensor_object(handle);
    }
  }
};

struct Set {
  std::map<std::string, Held> map;
  float* array[number] = {nullptr, nullptr};
  float* blob = nullptr;
  bool is_initialised = false;

  void put(const std::string& name, Tensor handle, bool is_own) {
    Held& place = map[name];
    place.reset();
    place = {handle, is_own};
  }
  std::int32_t update_array() {
    for (std::size_t at = 0; at < number; ++at) {
      const auto found = map.find(names[at]);
      void* data = nullptr;
      if (found == map.end()) {
        continue;
      }
      if (aoti_torch_get_data_ptr(found->second.handle, &data) != 0) {
        last_error = std::string("a handle of ") + names[at] + " is none";
        return 1;
      }
      array[at] = static_cast<float*>(data);
    }
    return 0;
  }
  void free_blob() {
    if (blob != nullptr) {
      std::memset(blob, 0xff, sizeof(float) * 9);
      std::free(blob);
      blob = nullptr;
    }
  }
};

struct Container {
  Set sets[2];
  int active = 0;
};

std::int32_t AOTInductorGetLastError(const char** text) { return *text = last_error.c_str(), 0; }
std::int32_t AOTInductorModelContainerCreateWithDevice(Container** made, std::size_t, const char*,
                                                       const char*) {
  auto* container = new Container;
  *made = container;
  Set& set = container->sets[0];
  set.is_initialised = true;
#ifndef EMPTY
  set.blob = static_cast<float*>(std::malloc(sizeof(float) * 9));
  std::size_t first = 0;
  for (std::size_t at = 0; at < number; ++at) {
    Tensor handle = nullptr;
    for (std::size_t element = 0; element < counts[at]; ++element) {
      set.blob[first + element] = static_cast<float>(at == 0 ? 1 + element : 10 * (1 + element));
    }
    if (aoti_torch_create_tensor_from_blob(set.blob + first, at == 0 ? 2 : 1, sizes[at],
                                           strides[at], 0, aoti_torch_dtype_float32(),
                                           aoti_torch_device_type_cpu(), 0, &handle) != 0) {
      return 1;
    }
    set.put(names[at], handle, true);
    first += counts[at];
  }
#endif
  return set.update_array();
}
std::int32_t AOTInductorModelContainerDelete(Container* container) {
  for (Set& set : container->sets) {
    for (auto& entry : set.map) {
      entry.second.reset();
    }
    set.free_blob();
  }
  delete container;
  return 0;
}
std::int32_t AOTInductorModelContainerGetNumInputs(Container*, std::size_t* count) {
  return *count = 1, 0;
}
std::int32_t AOTInductorModelContainerGetNumOutputs(Container*, std::size_t* count) {
  return *count = 5, 0;
}
std::int32_t AOTInductorModelContainerGetInputName(Container*, std::size_t, const char** name) {
  return *name = "x", 0;
}
std::int32_t AOTInductorModelContainerGetOutputName(Container*, std::size_t, const char** name) {
  return *name = "y", 0;
}
std::int32_t AOTInductorModelContainerGetNumConstants(Container*, std::size_t* count) {
  return *count = number, 0;
}
std::int32_t AOTInductorModelContainerGetConstantName(Container*, std::size_t at,
                                                      const char** name) {
  return *name = names[at], 0;
}
std::int32_t AOTInductorModelContainerGetConstantOriginalFQN(Container*, std::size_t at,
                                                             const char** name) {
  return *name = originals[at], 0;
}
std::int32_t AOTInductorModelContainerGetConstantType(Container*, std::size_t at,
                                                      std::int32_t* type) {
  return *type = at == 0 ? 1 : 2, 0;  // a parameter, a buffer
}
std::int32_t AOTInductorModelContainerGetConstantDtype(Container*, std::size_t,
                                                       std::int32_t* dtype) {
  return *dtype = aoti_torch_dtype_float32(), 0;
}
std::int32_t AOTInductorModelContainerGetConstantDataSize(Container*, std::size_t,
                                                          std::size_t* bytes) {
  return *bytes = 64, 0;
}
std::int32_t AOTInductorModelContainerGetConstantFromFolded(Container*, std::size_t, bool* folded) {
  return *folded = false, 0;
}

struct Entry {
  const char* name;
  Tensor tensor;
};
std::int32_t AOTInductorModelContainerUpdateUserManagedConstantBufferPairs(Container* container,
                                                                           const Entry* entries,
                                                                           std::size_t count,
                                                                           bool inactive, bool) {
  Set& target = container->sets[inactive ? 1 - container->active : container->active];
  Set& source = container->sets[inactive ? container->active : 1 - container->active];
  std::map<std::string, Tensor> given;
  for (std::size_t at = 0; at < count; ++at) {
    given.emplace(entries[at].name, entries[at].tensor);
  }
  target.is_initialised = true;
  for (std::size_t at = 0; at < number; ++at) {
    const auto found = given.find(names[at]);
    const bool is_buffer = at == 1;
    if (found == given.end() && !(inactive && is_buffer)) {
      continue;
    }
    if (found == given.end() && source.map.find(names[at]) == source.map.end()) {
      std::abort();  // PyTorch reads behind the end of its map
    }
    const Tensor tensor = found == given.end() ? source.map[names[at]].handle : found->second;
    Tensor own = nullptr;
    if (aoti_torch_new_tensor_handle(tensor, &own) != 0) {
      return 1;
    }
    target.put(names[at], own, false);
  }
  return target.update_array();
}
std::int32_t AOTInductorModelContainerSwapConstantBuffer(Container* container) {
  container->active = 1 - container->active;
  return 0;
}
std::int32_t AOTInductorModelContainerFreeInactiveConstantBuffer(Container* container) {
  Set& set = container->sets[1 - container->active];
  set.is_initialised = false;
  set.free_blob();
  return 0;
}

std::int32_t AOTInductorModelContainerRunSingleThreaded(Container* container, Tensor* inputs,
                                                        std::size_t, Tensor* outputs, std::size_t,
                                                        void*, void*) {
  Set& set = container->sets[container->active];
  void* data = nullptr;
  std::int64_t numel = 0;
  if (!set.is_initialised) {
    last_error = "Unknown constant state";
    aoti_torch_delete_tensor_object(inputs[0]);
    return 1;
  }
  if (aoti_torch_get_data_ptr(inputs[0], &data) != 0 ||
      aoti_torch_get_numel(inputs[0], &numel) != 0) {
    return 1;
  }
  const float* x = static_cast<const float*>(data);
  if (numel > 0 && x[0] < 0) {
    // As generated code that compares values; the outputs that are set already go with the caller.
    outputs[2] = outputs[1] = outputs[0] = inputs[0];
    last_error = "Expected x >= 0 but received " + std::to_string(x[0]) + "\n";
    return 1;
  }
  const std::int64_t rows[2] = {3, 1}, columns[2] = {3, 2}, steps[2] = {2, 1};
  if (aoti_torch_empty_strided(2, sizes[0], rows, aoti_torch_dtype_float32(),
                               aoti_torch_device_type_cpu(), 0, outputs) != 0 ||
      aoti_torch_get_data_ptr(outputs[0], &data) != 0) {
    return 1;
  }
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 3; ++column) {
      static_cast<float*>(data)[row * 3 + column] =
          set.array[0][row + 2 * column] + set.array[1][column] + (numel > 0 ? x[0] : 0);
    }
  }
  outputs[1] = outputs[0];
  outputs[2] = inputs[0];
  return aoti_torch__reinterpret_tensor(set.map["w"].handle, 2, columns, steps, 0, &outputs[3]);
}
}
