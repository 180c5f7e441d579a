/// \file
/// Compiled models of PyTorch without PyTorch. Needs libsconce_torch (the CMake target
/// `Sconce::torch`).
/// `<sconce/sconce.hpp>` does not include it.
#ifndef SCONCE_TORCH_HPP
#define SCONCE_TORCH_HPP

#include <sconce/sconce_torch.h>

#include <cstddef>
#include <cstdint>
#include <sconce/tensor.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
/// What libsconce_torch offers: compiled models.
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

}  // namespace detail

/// What an input of a model must be.
struct ModelInput {
  /// The model's name of it.
  std::string name;
  /// `SCONCE_DTYPE_…`, or -1 if that is not known.
  std::int32_t dtype = -1;
  /// The least and the greatest size of each dimension; empty if they are not known.
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
};

/// A compiled model, unloaded at its end. Corresponds to `torch::inductor::AOTIModelPackageLoader`.
///
/// Any number of threads may run one model at the same time, each on its own current stream.
class Model {
 public:
  /// Loads a package (`.pt2`) or the shared library of a model. `device` is the index for a model
  /// of CUDA, -1 for the current one; `name` is that of the model within its package.
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
  /// Takes over a model; `other` is without one.
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

  /// Runs the model on the current stream of its device and returns its outputs.
  [[nodiscard]] std::vector<Tensor> run(const std::vector<Tensor>& inputs) const {
    const std::vector<sconce_tensor*> given = sconce::detail::handles_of(inputs);
    std::vector<sconce_tensor*> results(outputs_, nullptr);
    detail::check(
        ::sconce_model_run(model_, given.data(), given.size(), results.data(), results.size()));
    return detail::adopted(results);
  }

  /// As `run`, of one model for all: `model(inputs)`.
  [[nodiscard]] std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const {
    return run(inputs);
  }

  /// Runs the model and copies its outputs to tensors of the caller.
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

  /// Runs the model as a CUDA graph and copies the outputs to tensors of the caller.
  void run_graph_into(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) const {
    const std::vector<sconce_tensor*> given = sconce::detail::handles_of(inputs);
    std::vector<sconce_tensor*> into = sconce::detail::handles_of(outputs);
    detail::check(
        ::sconce_model_run_graph(model_, given.data(), given.size(), into.data(), into.size()));
  }

  /// Sets how many graphs the model keeps: 8 unless it is set.
  void set_graph_limit(std::size_t limit) const {
    detail::check(::sconce_model_set_graph_limit(model_, limit));
  }

  /// The number of inputs.
  [[nodiscard]] std::size_t num_inputs() const noexcept { return inputs_; }
  /// The number of outputs.
  [[nodiscard]] std::size_t num_outputs() const noexcept { return outputs_; }
  /// The index of the model's device, or `SCONCE_DEVICE_CPU`.
  [[nodiscard]] std::int32_t device() const noexcept { return device_; }

  /// What an input must be.
  [[nodiscard]] ModelInput input(std::size_t index) const {
    sconce_model_input described = SCONCE_MODEL_INPUT_INIT;
    ModelInput input;
    input.name = detail::text_of(
        [&](char** name) { return ::sconce_model_get_input(model_, index, &described, name); });
    input.dtype = described.dtype;
    for (std::int32_t dim = 0; dim < described.rank && dim < 8; ++dim) {
      input.sizes.emplace_back(described.least[dim], described.most[dim]);
    }
    return input;
  }

  /// A text that says what the model takes and returns, its constants, and what it was compiled
  /// for.
  [[nodiscard]] std::string describe() const {
    return detail::text_of([&](char** text) { return ::sconce_model_describe(model_, text); });
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

  /// Makes the inactive set of constants the active one.
  void swap_constants() const { detail::check(::sconce_model_swap_constants(model_)); }

  /// The handle of the C API, which stays this object's.
  [[nodiscard]] sconce_model* get() const noexcept { return model_; }

 private:
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
