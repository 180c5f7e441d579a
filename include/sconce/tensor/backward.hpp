/// \file
/// Backward passes: recorded operations whose functions run in reverse order, each on the device
/// and stream of its forward operation, with torch's rules for streams.
#ifndef SCONCE_TENSOR_BACKWARD_HPP
#define SCONCE_TENSOR_BACKWARD_HPP

#include <sconce/c/backward.h>
#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <sconce/tensor/tensor.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {

/// The destination of a gradient: an input of a node. The default is no destination.
struct BackwardEdge {
  std::uint64_t node = 0;   ///< the number of the node; 0: no destination
  std::uint64_t input = 0;  ///< which of its inputs
};

/// An edge with its initial gradient.
struct BackwardRoot {
  BackwardEdge edge;  ///< the destination of the gradient
  Tensor gradient;    ///< the initial gradient
};

/// Computes the gradients of an operation's inputs, one for each edge, from those of its results.
/// An undefined tensor means no gradient. May throw.
using BackwardFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

namespace detail {

/// The exception of a function that failed, on its way to the caller of the pass.
struct BackwardFailure {
  std::mutex mutex;
  std::exception_ptr exception;
};

/// A node's function as the C API calls it.
struct BackwardContext {
  BackwardFunction function;
  std::shared_ptr<BackwardFailure> failure;

  static std::int32_t call(void* context, sconce_tensor* const* gradients, std::size_t count,
                           sconce_tensor** out_gradients, std::size_t out_count) noexcept {
    auto& self = *static_cast<BackwardContext*>(context);
    try {
      std::vector<Tensor> inputs(count);
      for (std::size_t i = 0; i < count; ++i) {
        if (gradients[i] != nullptr) {
          check(::sconce_tensor_retain(gradients[i]));
          inputs[i] = Tensor::adopt(gradients[i]);
        }
      }
      std::vector<Tensor> results = self.function(inputs);
      if (results.size() != out_count) {
        throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                    "a backward function returned " + std::to_string(results.size()) +
                        " gradients; the node has " + std::to_string(out_count) + " edges");
      }
      for (std::size_t i = 0; i < out_count; ++i) {
        out_gradients[i] = results[i].release();
      }
      return SCONCE_OK;
    } catch (...) {
      const std::lock_guard<std::mutex> lock(self.failure->mutex);
      self.failure->exception = std::current_exception();
    }
    return SCONCE_ERROR_INTERNAL;
  }

  static void destroy(void* context) noexcept { delete static_cast<BackwardContext*>(context); }
};

struct BackwardGraphDeleter {
  void operator()(sconce_backward_graph* graph) const noexcept {
    log_failure(::sconce_backward_graph_destroy(graph), "destroying a BackwardGraph");
  }
};

}  // namespace detail

/// Recorded operations and leaves. Owns them; movable, not copyable.
///
/// Threads: several threads may use one graph at the same time.
class [[nodiscard]] BackwardGraph {
 public:
  /// A graph without nodes.
  SCONCE_NODISCARD_CTOR BackwardGraph() : failure_(std::make_shared<detail::BackwardFailure>()) {
    sconce_backward_graph* graph = nullptr;
    detail::check(::sconce_backward_graph_create(&graph));
    graph_.reset(graph);
  }

  /// The C API's handle. This object keeps its ownership.
  [[nodiscard]] sconce_backward_graph* get() const noexcept { return graph_.get(); }

  /// Adds a leaf. Backward passes add to its gradient on the stream that is current on `device`
  /// now.
  [[nodiscard]] BackwardEdge add_leaf(Device device, const std::string& name = "leaf") const {
    BackwardEdge edge;
    detail::check(
        ::sconce_backward_add_leaf(get(), detail::number_of(device), name.c_str(), &edge.node));
    return edge;
  }

  /// Records an operation with the stream that is current on `device` now.
  /// \param device the device of the operation
  /// \param name for messages
  /// \param gradient_count the number of results of the operation; `function` receives a gradient
  ///   for each
  /// \param edges the destinations of the gradients that `function` returns
  /// \param function computes the gradients of the operands from those of the results
  /// \returns the node's number
  [[nodiscard]] std::uint64_t add_node(Device device, const std::string& name,
                                       std::size_t gradient_count,
                                       const std::vector<BackwardEdge>& edges,
                                       BackwardFunction function) const {
    std::vector<sconce_backward_edge> targets;
    targets.reserve(edges.size());
    for (const BackwardEdge& edge : edges) {
      targets.push_back({edge.node, edge.input});
    }
    auto context = std::make_unique<detail::BackwardContext>(
        detail::BackwardContext{std::move(function), failure_});
    std::uint64_t node = 0;
    detail::check(
        ::sconce_backward_add_node(get(), detail::number_of(device), name.c_str(), gradient_count,
                                   targets.data(), targets.size(), &detail::BackwardContext::call,
                                   &detail::BackwardContext::destroy, context.get(), &node));
    static_cast<void>(context.release());
    return node;
  }

  /// The gradient of a leaf; undefined if there is none.
  [[nodiscard]] Tensor gradient(const BackwardEdge& leaf) const {
    sconce_tensor* gradient = nullptr;
    detail::check(::sconce_backward_get_gradient(get(), leaf.node, &gradient));
    return Tensor::adopt(gradient);
  }

  /// Replaces the gradient of a leaf; the undefined tensor removes it.
  void set_gradient(const BackwardEdge& leaf, const Tensor& gradient) const {
    detail::check(::sconce_backward_set_gradient(get(), leaf.node, gradient.get()));
  }

  /// Runs a pass. Afterwards the gradients of leaves may be used on the current streams.
  /// \throws the exception of a function that threw, else Error
  void run(const std::vector<BackwardRoot>& roots, bool keep_graph = false) const {
    std::vector<sconce_backward_root> given;
    given.reserve(roots.size());
    for (const BackwardRoot& root : roots) {
      given.push_back({root.edge.node, root.edge.input, root.gradient.get()});
    }
    const Status status = ::sconce_backward_run(get(), given.data(), given.size(), keep_graph);
    if (status != SCONCE_OK) {
      std::exception_ptr exception;
      {
        const std::lock_guard<std::mutex> lock(failure_->mutex);
        std::swap(exception, failure_->exception);
      }
      if (exception) {
        std::rethrow_exception(exception);
      }
      detail::throw_error(status);
    }
  }

  /// Removes all operations, and keeps leaves and their gradients.
  void clear() const { detail::check(::sconce_backward_graph_clear(get())); }

 private:
  std::shared_ptr<detail::BackwardFailure> failure_;
  std::unique_ptr<sconce_backward_graph, detail::BackwardGraphDeleter> graph_;
};

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_BACKWARD_HPP
