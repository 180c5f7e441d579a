// A compiled model, written by hand against PyTorch's ABI in the form that PyTorch generates:
//
//   rows(values: F32 [2..64, 3], picks: I64 [any]) -> (scaled: F32 [n, 3], picked: F32 [m, 3])
//
// `scaled` is `values * factor + shift`; `picked` are the rows of it that `picks` names. The
// constants are layer.factor, F32 [1], and layer.shift, F32 [3], in two sets. With WITHOUT_WEIGHTS
// they have no values until the program passes some.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

struct Opaque;
using Tensor = Opaque*;

extern "C" {
std::int32_t aoti_torch_get_data_ptr(Tensor, void**);
std::int32_t aoti_torch_get_sizes(Tensor, std::int64_t**);
std::int32_t aoti_torch_get_strides(Tensor, std::int64_t**);
std::int32_t aoti_torch_get_dtype(Tensor, std::int32_t*);
std::int32_t aoti_torch_get_device_type(Tensor, std::int32_t*);
std::int32_t aoti_torch_empty_strided(std::int64_t, const std::int64_t*, const std::int64_t*,
                                      std::int32_t, std::int32_t, std::int32_t, Tensor*);
std::int32_t aoti_torch_delete_tensor_object(Tensor);
std::int32_t aoti_torch_dtype_float32();
std::int32_t aoti_torch_dtype_int64();
std::int32_t aoti_torch_device_type_cpu();
std::int32_t aoti_torch_create_tensor_from_blob(void*, std::int64_t, const std::int64_t*,
                                                const std::int64_t*, std::int64_t, std::int32_t,
                                                std::int32_t, std::int32_t, Tensor*);
void aoti_torch_check(bool, const char*, const char*, std::uint32_t, const char*);
}

namespace {

constexpr std::int64_t columns = 3;

void check(std::int32_t status) {
  if (status != 0) {
    throw std::runtime_error("a function of the ABI failed");
  }
}

// A handle that is deleted at its end.
class Owned {
 public:
  explicit Owned(Tensor handle) : handle_(handle) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != nullptr) {
      aoti_torch_delete_tensor_object(handle_);
    }
  }
  [[nodiscard]] Tensor get() const { return handle_; }
  Tensor release() { return std::exchange(handle_, nullptr); }

 private:
  Tensor handle_;
};

template <class Element>
Element* data(Tensor tensor) {
  void* address = nullptr;
  check(aoti_torch_get_data_ptr(tensor, &address));
  return static_cast<Element*>(address);
}

std::int64_t* sizes(Tensor tensor) {
  std::int64_t* sizes = nullptr;
  check(aoti_torch_get_sizes(tensor, &sizes));
  return sizes;
}

std::int64_t* strides(Tensor tensor) {
  std::int64_t* strides = nullptr;
  check(aoti_torch_get_strides(tensor, &strides));
  return strides;
}

Tensor rows_of(std::int64_t count) {
  const std::array<std::int64_t, 2> shape = {count, columns};
  const std::array<std::int64_t, 2> steps = {columns, 1};
  Tensor made = nullptr;
  check(aoti_torch_empty_strided(2, shape.data(), steps.data(), aoti_torch_dtype_float32(),
                                 aoti_torch_device_type_cpu(), 0, &made));
  return made;
}

void refuse() { throw std::runtime_error("an input was not checked before the run"); }

}  // namespace

// What the inputs are is read in the text of these functions.
static void check_input_0(Tensor arg0_1) {
  std::int32_t arg0_1_dtype = 0;
  check(aoti_torch_get_dtype(arg0_1, &arg0_1_dtype));

  int32_t arg0_1_expected_dtype = aoti_torch_dtype_float32();
  if (arg0_1_expected_dtype != arg0_1_dtype) {
    refuse();
  }
  const std::int64_t* arg0_1_size = sizes(arg0_1);

  if (arg0_1_size[0] < 2) {
    // Accepted: the compiler assumes two, and its code refuses fewer only on request.
  }

  if (arg0_1_size[0] > 64) {
    refuse();
  }

  if (3 != arg0_1_size[1]) {
    refuse();
  }
  const std::int64_t* arg0_1_stride = strides(arg0_1);

  if (3 != arg0_1_stride[0]) {
    refuse();
  }

  if (1 != arg0_1_stride[1]) {
    refuse();
  }
  std::int32_t arg0_1_device_type = 0;
  check(aoti_torch_get_device_type(arg0_1, &arg0_1_device_type));

  int32_t arg0_1_expected_device_type = 0;
  if (arg0_1_expected_device_type != arg0_1_device_type) {
    refuse();
  }
}

static void check_input_1(Tensor arg1_1) {
  std::int32_t arg1_1_dtype = 0;
  check(aoti_torch_get_dtype(arg1_1, &arg1_1_dtype));

  int32_t arg1_1_expected_dtype = aoti_torch_dtype_int64();
  if (arg1_1_expected_dtype != arg1_1_dtype) {
    refuse();
  }
  const std::int64_t* arg1_1_stride = strides(arg1_1);

  if (1 != arg1_1_stride[0]) {
    refuse();
  }
}

namespace {

struct Constants {
  std::array<float, 1> factor = {2};
  std::array<float, columns> shift = {0, 10, 20};
};

#ifndef WITHOUT_WEIGHTS
// Constants that are in the library are tensors over its memory.
Tensor over(float* values, std::size_t count) {
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t step = 1;
  Tensor made = nullptr;
  check(aoti_torch_create_tensor_from_blob(values, 1, &size, &step, 0, aoti_torch_dtype_float32(),
                                           aoti_torch_device_type_cpu(), 0, &made));
  return made;
}
#endif

struct Container {
  std::array<Constants, 2> sets;
  std::size_t active = 0;
#ifndef WITHOUT_WEIGHTS
  Owned factor{over(sets[0].factor.data(), sets[0].factor.size())};
  Owned shift{over(sets[0].shift.data(), sets[0].shift.size())};
#endif
};

// A constant and its text in the ABI.
struct Constant {
  const char* name;
  const char* original;
  std::size_t bytes;
};
constexpr std::array<Constant, 2> constants = {
    {{"layer_factor", "layer.factor", 4}, {"layer_shift", "layer.shift", 12}}};

float* constant(Constants& set, const std::string& name) {
  if (name == constants[0].name) {
    return set.factor.data();
  }
  if (name == constants[1].name) {
    return set.shift.data();
  }
  throw std::runtime_error("there is no constant " + name);
}

// A text that outlives the call, by an index.
const char* named(std::size_t index, const char* first, const char* second) {
  return index == 0 ? first : second;
}

// Runs the body of a function of the ABI, as PyTorch's macro does.
template <class Body>
std::int32_t status_of(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

void run(const Constants& set, Tensor values, Tensor picks, Tensor scaled, Tensor picked) {
  const std::int64_t rows = sizes(values)[0];
  const auto* from = data<float>(values);
  auto* to = data<float>(scaled);
  for (std::int64_t at = 0; at < rows * columns; ++at) {
    to[at] = from[at] * set.factor[0] + set.shift[static_cast<std::size_t>(at % columns)];
  }
  auto* row = data<float>(picked);
  const auto* pick = data<std::int64_t>(picks);
  for (std::int64_t at = 0; at < sizes(picks)[0]; ++at, row += columns) {
    aoti_torch_check(pick[at] >= 0 && pick[at] < rows, "run", "rows.cpp", 1,
                     "a pick is no row of the values");
    std::memcpy(row, to + pick[at] * columns, sizeof(float) * columns);
  }
}

}  // namespace

extern "C" {

std::int32_t AOTInductorModelContainerCreateWithDevice(Container** made, std::size_t, const char*,
                                                       const char*) {
  return status_of([&] { *made = new Container; });
}

std::int32_t AOTInductorModelContainerDelete(Container* container) {
  delete container;
  return 0;
}

std::int32_t AOTInductorModelContainerGetNumInputs(Container*, std::size_t* number) {
  *number = 2;
  return 0;
}

std::int32_t AOTInductorModelContainerGetInputName(Container*, std::size_t index,
                                                   const char** name) {
  *name = named(index, "values", "picks");
  return 0;
}

std::int32_t AOTInductorModelContainerGetNumOutputs(Container*, std::size_t* number) {
  *number = 2;
  return 0;
}

std::int32_t AOTInductorModelContainerGetOutputName(Container*, std::size_t index,
                                                    const char** name) {
  *name = named(index, "scaled", "picked");
  return 0;
}

std::int32_t AOTInductorModelContainerGetNumConstants(Container*, std::size_t* number) {
  *number = constants.size();
  return 0;
}

std::int32_t AOTInductorModelContainerGetConstantName(Container*, std::size_t index,
                                                      const char** name) {
  *name = constants.at(index).name;
  return 0;
}

std::int32_t AOTInductorModelContainerGetConstantOriginalFQN(Container*, std::size_t index,
                                                             const char** name) {
  *name = constants.at(index).original;
  return 0;
}

std::int32_t AOTInductorModelContainerGetConstantDtype(Container*, std::size_t,
                                                       std::int32_t* dtype) {
  *dtype = aoti_torch_dtype_float32();
  return 0;
}

std::int32_t AOTInductorModelContainerGetConstantDataSize(Container*, std::size_t index,
                                                          std::size_t* bytes) {
  *bytes = constants.at(index).bytes;
  return 0;
}

std::int32_t AOTInductorModelContainerGetConstantFromFolded(Container*, std::size_t, bool* folded) {
  *folded = false;
  return 0;
}

struct Entry {
  const char* name;
  Tensor tensor;
};

// Values are copied, so the container needs no handle of its own.
std::int32_t AOTInductorModelContainerUpdateUserManagedConstantBufferPairs(Container* container,
                                                                           const Entry* entries,
                                                                           std::size_t count,
                                                                           bool inactive, bool) {
  return status_of([&] {
    Constants& set = container->sets.at(inactive ? 1 - container->active : container->active);
    for (std::size_t at = 0; at < count; ++at) {
      const std::string name = entries[at].name;
      const std::size_t bytes = constants.at(name == constants[0].name ? 0 : 1).bytes;
      std::memcpy(constant(set, name), data<float>(entries[at].tensor), bytes);
    }
  });
}

std::int32_t AOTInductorModelContainerSwapConstantBuffer(Container* container) {
  container->active = 1 - container->active;
  return 0;
}

std::int32_t AOTInductorModelContainerRunSingleThreaded(Container* container, Tensor* inputs,
                                                        std::size_t, Tensor* outputs, std::size_t,
                                                        void*, void*) {
  const Owned values(inputs[0]);
  const Owned picks(inputs[1]);
  return status_of([&] {
    check_input_0(values.get());
    check_input_1(picks.get());
    Owned scaled(rows_of(sizes(values.get())[0]));
    Owned picked(rows_of(sizes(picks.get())[0]));
    run(container->sets.at(container->active), values.get(), picks.get(), scaled.get(),
        picked.get());
    outputs[0] = scaled.release();
    outputs[1] = picked.release();
  });
}

}  // extern "C"
