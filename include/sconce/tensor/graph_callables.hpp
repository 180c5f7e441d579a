/// \file
/// Functions of tensors that run as CUDA graphs.
#ifndef SCONCE_TENSOR_GRAPH_CALLABLES_HPP
#define SCONCE_TENSOR_GRAPH_CALLABLES_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstddef>
#include <memory>
#include <sconce/cuda/graph.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// A function that runs as a graph, from `make_graphed`. Launches that are queued when it is
/// destroyed still run: its static inputs and the memory of its graph are not used again before
/// they are done.
template <class Input, class Result>
class [[nodiscard]] GraphedCallable {
 public:
  /// Copies the inputs into the static inputs on the current stream, and launches the graph there.
  /// \returns the outputs, which the next call overwrites
  const Result& operator()(const std::vector<Input>& inputs) {
    if (inputs.size() != inputs_.size()) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "inputs: there are " + std::to_string(inputs.size()) +
                      ", but the function was captured with " + std::to_string(inputs_.size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) fill(i, inputs[i]);
    graph_.replay();
    return *outputs_;
  }

  /// Launches the graph with the contents that the static inputs have.
  const Result& operator()() {
    graph_.replay();
    return *outputs_;
  }

  /// The tensors that the graph reads.
  [[nodiscard]] const std::vector<Input>& static_inputs() const noexcept { return inputs_; }
  /// The graph.
  [[nodiscard]] const CUDAGraph& graph() const noexcept { return graph_; }

 private:
  template <class Function, class Tensor>
  friend auto make_graphed(Function&& function, std::vector<Tensor> static_inputs, int warmups,
                           MempoolId pool);
  template <class Function, class Tensor>
  friend auto make_graphed_callables(const std::vector<Function>& functions,
                                     std::vector<std::vector<Tensor>> static_inputs, int warmups,
                                     MempoolId pool);

  explicit GraphedCallable(std::vector<Input> inputs) : inputs_(std::move(inputs)) {}

  /// Copies an input into its static input, which it may be broadcast to.
  void fill(std::size_t number, const Input& input) const {
    try {
      inputs_[number].copy_(input, true);
    } catch (const Error& error) {
      sconce::detail::throw_error(error.status(),
                                  "inputs[" + std::to_string(number) + "] does not fit the input " +
                                      "of the capture: " + error.what_without_backtrace(),
                                  error.backend_code());
    }
  }

  /// Calls the function on a stream that the library lends, after the work of the current stream.
  template <class Function>
  void warm_up(Function& function, int times) const {
    graph_warm_up([&] {
      for (int i = 0; i < times; ++i) (void)function(static_inputs());
    });
  }

  /// Captures the function, with memory of a pool or of one of the graph's own. The graph keeps the
  /// static inputs until its launches are done, on whatever streams.
  template <class Function>
  void capture(Function& function, MempoolId pool) {
    GraphGuard capture(graph_, pool);
    for (const Input& input : inputs_) {
      sconce::detail::check(::sconce_graph_keep_tensor(graph_.get(), input.get()));
    }
    outputs_ = std::make_unique<Result>(function(static_inputs()));
    capture.end();
  }

  CUDAGraph graph_;
  std::vector<Input> inputs_;
  std::unique_ptr<Result> outputs_;
};

/// Captures a function of tensors, and returns a callable that runs it as a graph. The function is
/// called `warmups` times first, by `graph_warm_up`, so that its memory is cached and its
/// kernels are loaded, and then once for the capture. It must not wait for the device, and must do
/// the same work for the same shapes. Corresponds to the forward pass of
/// `torch.cuda.make_graphed_callables`.
///
/// - `function`: takes a `const std::vector<Tensor>&` and returns its outputs.
/// - `static_inputs`: tensors with the shapes of the inputs; their memory is the graph's input.
/// - `pool`: a pool that graphs share, under the conditions of `make_graphed_callables`; by default
///   the graph has its own.
template <class Function, class Tensor>
[[nodiscard]] auto make_graphed(Function&& function, std::vector<Tensor> static_inputs,
                                int warmups = 3, MempoolId pool = {}) {
  using Result = std::decay_t<decltype(function(std::as_const(static_inputs)))>;
  static_assert(!std::is_void_v<Result>, "the function returns its outputs");
  GraphedCallable<Tensor, Result> graphed(std::move(static_inputs));
  graphed.warm_up(function, warmups);
  graphed.capture(function, pool);
  return graphed;
}

/// Captures several functions of tensors, as `make_graphed` captures one. Their graphs share a
/// pool, so together they need about as much memory as the largest graph. Corresponds to
/// `torch.cuda.make_graphed_callables` for a tuple, without backward passes.
///
/// Call the results in the order of the list, one after another on the device, as a forward pass
/// does: a call may overwrite the outputs of functions that come later in the list.
///
/// - `functions`: each takes a `const std::vector<Tensor>&` and returns its outputs.
/// - `static_inputs`: the inputs of each.
/// - `pool`: the pool of the graphs; by default the first graph makes one.
/// \returns a `GraphedCallable` for each function, which may be destroyed in any order
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless there are as many functions as inputs
template <class Function, class Tensor>
[[nodiscard]] auto make_graphed_callables(const std::vector<Function>& functions,
                                          std::vector<std::vector<Tensor>> static_inputs,
                                          int warmups = 3, MempoolId pool = {}) {
  using Result =
      std::decay_t<decltype(std::declval<const Function&>()(std::as_const(static_inputs[0])))>;
  static_assert(!std::is_void_v<Result>, "the functions return their outputs");
  if (functions.size() != static_inputs.size()) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "static_inputs: there are " + std::to_string(static_inputs.size()) + ", but " +
                    std::to_string(functions.size()) + " functions; pass the inputs of each");
  }
  std::vector<GraphedCallable<Tensor, Result>> callables;
  callables.reserve(functions.size());
  // All of them first, as in torch: what one captures must not be in the way of another's warm-up.
  for (std::size_t i = 0; i < functions.size(); ++i) {
    callables.push_back(GraphedCallable<Tensor, Result>(std::move(static_inputs[i])));
    callables.back().warm_up(functions[i], warmups);
  }
  for (std::size_t i = 0; i < functions.size(); ++i) {
    callables[i].capture(functions[i], pool);
    pool = callables[i].graph_.pool();
  }
  return callables;
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_GRAPH_CALLABLES_HPP
