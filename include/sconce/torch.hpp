/// \file
/// Compiled models of PyTorch without PyTorch. Needs libsconce_torch (the CMake target
/// `Sconce::torch`).
/// `<sconce/sconce_all.hpp>` does not include it.
#ifndef SCONCE_TORCH_HPP
#define SCONCE_TORCH_HPP

#include <sconce/sconce_torch.h>

#include <cstddef>
#include <cstdint>
#include <sconce/tensor/tensor.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
/// Compiled models, from libsconce_torch.
namespace torch {

/// Helpers of this header; not for callers.
namespace detail {

/// Turns a status of libsconce_torch that is not `SCONCE_OK` into an exception.
inline void check(Status status) {
  if (status != SCONCE_OK) {
    sconce::detail::throw_error(status, ::sconce_torch_last_error_message());
  }
}

/// Returns the text that `call` returns through its `char**`, and frees the original.
template <class Call>
std::string text_of(Call&& call) {
  return sconce::detail::text_of(std::forward<Call>(call), check, ::sconce_torch_string_free);
}

/// Tensors that own the handles.
inline std::vector<Tensor> adopted(const std::vector<sconce_tensor*>& handles) {
  std::vector<Tensor> tensors;
  tensors.reserve(handles.size());
  for (sconce_tensor* handle : handles) {
    tensors.push_back(Tensor::adopt(handle));
  }
  return tensors;
}

/// The smallest and the largest size of each dimension, from a function that returns one at a time.
template <class Size>
std::vector<std::pair<std::int64_t, std::int64_t>> sizes_of(std::int32_t rank, Size&& size) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
  for (std::int32_t dim = 0; dim < rank; ++dim) {
    sizes.emplace_back();
    check(size(static_cast<std::size_t>(dim), &sizes.back().first, &sizes.back().second));
  }
  return sizes;
}

}  // namespace detail

/// The properties that an input of a model must have.
struct ModelInput {
  /// Its name in the model.
  std::string name;
  /// `SCONCE_DTYPE_…`, or -1 if that is not known.
  std::int32_t dtype = -1;
  /// The smallest and the largest size of each dimension; empty if they are not known.
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
};

/// The properties of an output of a model.
struct ModelOutput {
  /// Its name in the model.
  std::string name;
  /// `SCONCE_DTYPE_…`, or -1 if that is not known.
  std::int32_t dtype = -1;
  /// The smallest and the largest size of each dimension; empty if they are not known.
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
};

/// A constant of a model: a parameter or a buffer.
struct ModelConstant {
  /// Its name in the program that was compiled, such as `layers.0.weight`.
  std::string name;
  /// `SCONCE_DTYPE_…`, or -1 for a type that Sconce does not have.
  std::int32_t dtype = -1;
  /// Bytes of the elements.
  std::uint64_t bytes = 0;
  /// Whether the model computes it from other constants.
  bool folded = false;
};

/// Memory of a model; `sconce_model_memory` describes the figures.
using ModelMemory = sconce_model_memory;

/// Sets whether products of float32 matrices use TF32, in compiled models, in kernel libraries and
/// in libsconce: `globalContext().setAllowTF32CuBLAS`. Corresponds to
/// `torch.backends.cuda.matmul.allow_tf32`.
inline void set_allow_tf32_cublas(bool allow) noexcept {
  ::sconce_torch_set_allow_tf32_cublas(allow);
}

/// Whether products of float32 matrices in compiled models and kernel libraries use TF32; false
/// unless it was set, for them or for libsconce.
[[nodiscard]] inline bool allow_tf32_cublas() noexcept {
  return ::sconce_torch_get_allow_tf32_cublas();
}

/// A text that describes a model and what it needs, without loading it; see `sconce_model_inspect`.
/// \throws Error IO if the file cannot be read.
[[nodiscard]] inline std::string inspect(const std::string& path,
                                         const std::string& name = std::string()) {
  return detail::text_of([&](char** text) {
    return ::sconce_model_inspect(path.c_str(), name.empty() ? nullptr : name.c_str(), text);
  });
}

/// A compiled model, unloaded at its end. Corresponds to `torch::inductor::AOTIModelPackageLoader`.
///
/// Any number of threads may run one model at the same time, each on its own current stream. The
/// first run after the model was loaded or its constants were changed blocks other runs until it is
/// queued, and so does the first run with each set of shapes of a CUDA model. Calls that change
/// constants wait for runs under way and for the model's device. Objects of this class may be used
/// by several threads at once, except to move or destroy them.
class Model {
 public:
  /// Loads a package (`.pt2`) or the shared library of a model. `device` is the index of the device
  /// for a CUDA model, -1 for the current one; `name` is the name of the model within its package.
  explicit Model(const std::string& path, std::int32_t device = -1,
                 const std::string& name = std::string()) {
    sconce_model_options options = SCONCE_MODEL_OPTIONS_INIT;
    options.device = device;
    options.name = name.empty() ? nullptr : name.c_str();
    detail::check(::sconce_model_load(path.c_str(), &options, &model_));
    const Status status = ::sconce_model_get_shape(model_, &inputs_, &outputs_, &device_);
    if (status != SCONCE_OK) {
      unload();
      detail::check(status);
    }
  }

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  /// Takes over a model; `other` has none afterwards.
  Model(Model&& other) noexcept
      : model_(std::exchange(other.model_, nullptr)),
        inputs_(other.inputs_),
        outputs_(other.outputs_),
        device_(other.device_) {}
  /// Unloads the model and takes over another.
  Model& operator=(Model&& other) noexcept {
    if (this != &other) {
      unload();
      model_ = std::exchange(other.model_, nullptr);
      inputs_ = other.inputs_;
      outputs_ = other.outputs_;
      device_ = other.device_;
    }
    return *this;
  }
  ~Model() { unload(); }

  /// Runs the model on the current stream of its device and returns its outputs. An output is
  /// undefined where the program that was compiled returned None. Each output has a handle of its
  /// own; outputs may share their memory with each other and with inputs, as in PyTorch.
  [[nodiscard]] std::vector<Tensor> run(const std::vector<Tensor>& inputs) const {
    const std::vector<sconce_tensor*> given = sconce::detail::handles_of(inputs);
    std::vector<sconce_tensor*> results(outputs_, nullptr);
    detail::check(
        ::sconce_model_run(model_, given.data(), given.size(), results.data(), results.size()));
    return detail::adopted(results);
  }

  /// As `run`: `model(inputs)`.
  [[nodiscard]] std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const {
    return run(inputs);
  }

  /// Inputs as the model takes them: on its device, in the order of elements that it was compiled
  /// for, such as transposed or with channels last. Those that are so already stay as they are;
  /// others are copied. Types are not converted.
  [[nodiscard]] std::vector<Tensor> arranged(const std::vector<Tensor>& inputs) const {
    const std::vector<sconce_tensor*> given = sconce::detail::handles_of(inputs);
    std::vector<sconce_tensor*> results(given.size(), nullptr);
    detail::check(
        ::sconce_model_arrange_inputs(model_, given.data(), given.size(), results.data()));
    return detail::adopted(results);
  }

  /// Runs the model with inputs by name, in any order. \throws Error INVALID_ARGUMENT for a name
  /// that the model does not have, a name that is passed twice, and a missing input.
  [[nodiscard]] std::vector<Tensor> run_named(
      const std::vector<std::pair<std::string, Tensor>>& inputs) const {
    return run(in_order(inputs));
  }

  /// Runs the model and copies its outputs to tensors of the caller. \throws Error INVALID_ARGUMENT
  /// if one has other sizes than its output; none is written then.
  void run_into(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) const {
    const std::vector<sconce_tensor*> given = sconce::detail::handles_of(inputs);
    const std::vector<sconce_tensor*> into = sconce::detail::handles_of(outputs);
    detail::check(
        ::sconce_model_run_into(model_, given.data(), given.size(), into.data(), into.size()));
  }

  /// Runs the model as a CUDA graph, which the first run with each set of shapes captures. The
  /// outputs are the graph's: its next run overwrites them.
  [[nodiscard]] std::vector<Tensor> run_graph(const std::vector<Tensor>& inputs) const {
    const std::vector<sconce_tensor*> given = sconce::detail::handles_of(inputs);
    std::vector<sconce_tensor*> results(outputs_, nullptr);
    detail::check(::sconce_model_run_graph(model_, given.data(), given.size(), results.data(),
                                           results.size()));
    return detail::adopted(results);
  }

  /// Runs the model as a CUDA graph and copies the outputs to tensors of the caller, whose sizes
  /// are checked as those of run_into().
  void run_graph_into(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) const {
    const std::vector<sconce_tensor*> given = sconce::detail::handles_of(inputs);
    std::vector<sconce_tensor*> into = sconce::detail::handles_of(outputs);
    detail::check(
        ::sconce_model_run_graph(model_, given.data(), given.size(), into.data(), into.size()));
    for (std::size_t at = 0; at < into.size(); ++at) {
      if (outputs[at].get() == nullptr) {
        const Tensor unwanted = Tensor::adopt(into[at]);
      }
    }
  }

  /// Sets how many graphs the model keeps; 8 by default.
  void set_graph_limit(std::size_t limit) const {
    detail::check(::sconce_model_set_graph_limit(model_, limit));
  }

  /// The number of inputs.
  [[nodiscard]] std::size_t num_inputs() const noexcept { return inputs_; }
  /// The number of outputs.
  [[nodiscard]] std::size_t num_outputs() const noexcept { return outputs_; }
  /// The index of the model's device, or `SCONCE_DEVICE_CPU`.
  [[nodiscard]] std::int32_t device() const noexcept { return device_; }

  /// The properties that an input must have.
  [[nodiscard]] ModelInput input(std::size_t index) const {
    sconce_model_input described = SCONCE_MODEL_INPUT_INIT;
    ModelInput input;
    input.name = detail::text_of(
        [&](char** name) { return ::sconce_model_get_input(model_, index, &described, name); });
    input.dtype = described.dtype;
    input.sizes = detail::sizes_of(
        described.rank, [&](std::size_t dim, std::int64_t* least, std::int64_t* most) {
          return ::sconce_model_get_input_size(model_, index, dim, least, most);
        });
    return input;
  }

  /// The properties of an output.
  [[nodiscard]] ModelOutput output(std::size_t index) const {
    sconce_model_output described = SCONCE_MODEL_OUTPUT_INIT;
    ModelOutput output;
    output.name = detail::text_of(
        [&](char** name) { return ::sconce_model_get_output(model_, index, &described, name); });
    output.dtype = described.dtype;
    output.sizes = detail::sizes_of(
        described.rank, [&](std::size_t dim, std::int64_t* least, std::int64_t* most) {
          return ::sconce_model_get_output_size(model_, index, dim, least, most);
        });
    return output;
  }

  /// The index of the input with the given name. \throws Error INVALID_ARGUMENT if there is none.
  [[nodiscard]] std::size_t input_index(const std::string& name) const {
    std::size_t index = 0;
    detail::check(::sconce_model_find_input(model_, name.c_str(), &index));
    return index;
  }

  /// The index of the output with the given name. \throws Error INVALID_ARGUMENT if there is none.
  [[nodiscard]] std::size_t output_index(const std::string& name) const {
    std::size_t index = 0;
    detail::check(::sconce_model_find_output(model_, name.c_str(), &index));
    return index;
  }

  /// A text that describes the model's inputs and outputs, its constants, its memory, and what it
  /// was compiled for.
  [[nodiscard]] std::string describe() const {
    return detail::text_of([&](char** text) { return ::sconce_model_describe(model_, text); });
  }

  /// How much memory the model takes now.
  [[nodiscard]] ModelMemory memory() const {
    ModelMemory memory = SCONCE_MODEL_MEMORY_INIT;
    detail::check(::sconce_model_get_memory(model_, &memory));
    return memory;
  }

  /// All constants, in the model's order. Corresponds to `AOTICompiledModel.get_constant_fqns`.
  [[nodiscard]] std::vector<ModelConstant> constants() const {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    detail::check(::sconce_model_get_constants(model_, &count, &bytes));
    std::vector<ModelConstant> constants;
    constants.reserve(count);
    for (std::size_t index = 0; index < count; ++index) {
      constants.push_back(constant(index));
    }
    return constants;
  }

  /// A constant. \throws Error INVALID_ARGUMENT if there is none of that index.
  [[nodiscard]] ModelConstant constant(std::size_t index) const {
    sconce_model_constant described = SCONCE_MODEL_CONSTANT_INIT;
    ModelConstant constant;
    constant.name = detail::text_of(
        [&](char** name) { return ::sconce_model_get_constant(model_, index, &described, name); });
    constant.dtype = described.dtype;
    constant.bytes = described.bytes;
    constant.folded = described.folded;
    return constant;
  }

  /// Replaces constants, of the active or of the inactive set. Corresponds to
  /// `AOTIModelPackageLoader::load_constants` with tensors that the caller manages.
  void update_constants(const std::vector<std::pair<std::string, Tensor>>& constants,
                        bool inactive = false) const {
    std::vector<const char*> names;
    std::vector<sconce_tensor*> tensors;
    for (const auto& [name, tensor] : constants) {
      names.push_back(name.c_str());
      tensors.push_back(tensor.get());
    }
    detail::check(::sconce_model_update_constants(model_, names.data(), tensors.data(),
                                                  names.size(), inactive));
  }

  /// Makes the inactive set of constants the active one. \throws Error INVALID_STATE if a constant
  /// of the inactive set has no value.
  void swap_constants() const { detail::check(::sconce_model_swap_constants(model_)); }

  /// Takes all values from the inactive set of constants and frees their memory. Corresponds to
  /// `AOTIModelContainerRunner::free_inactive_constant_buffer`.
  void free_inactive_constants() const {
    detail::check(::sconce_model_free_inactive_constants(model_));
  }

  /// The handle of the C API. This object keeps its ownership.
  [[nodiscard]] sconce_model* get() const noexcept { return model_; }

 private:
  /// Inputs that are passed by name, in the model's order.
  [[nodiscard]] std::vector<Tensor> in_order(
      const std::vector<std::pair<std::string, Tensor>>& inputs) const {
    std::vector<Tensor> ordered(inputs_);
    std::vector<bool> passed(inputs_, false);
    for (const auto& [name, tensor] : inputs) {
      const std::size_t index = input_index(name);
      if (passed[index]) {
        sconce::detail::throw_error(SCONCE_ERROR_INVALID_ARGUMENT,
                                    "the input " + name + " is passed twice");
      }
      passed[index] = true;
      ordered[index] = tensor;
    }
    for (std::size_t index = 0; index < inputs_; ++index) {
      if (!passed[index]) {
        sconce::detail::throw_error(
            SCONCE_ERROR_INVALID_ARGUMENT,
            "the input " + input(index).name + " of the model is not passed");
      }
    }
    return ordered;
  }

  void unload() noexcept {
    // Only a handle that is none can fail here.
    static_cast<void>(::sconce_model_unload(std::exchange(model_, nullptr)));
  }

  sconce_model* model_ = nullptr;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::int32_t device_ = SCONCE_DEVICE_CPU;
};

}  // namespace torch
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TORCH_HPP
