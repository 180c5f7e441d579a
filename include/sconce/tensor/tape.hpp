/// \file
/// A small tape: values that record how they were computed, and gradients by a backward pass. It
/// has a few operations; `Tape::record` adds others.
#ifndef SCONCE_TENSOR_TAPE_HPP
#define SCONCE_TENSOR_TAPE_HPP

#include <sconce/c/library.h>

#include <cstdint>
#include <memory>
#include <sconce/tensor/backward.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

inline bool is_complex(const TensorBase& tensor) {
  const ScalarType dtype = tensor.dtype();
  return dtype == ScalarType::ComplexHalf || dtype == ScalarType::ComplexFloat ||
         dtype == ScalarType::ComplexDouble;
}

/// The real parts of complex numbers; the tensor itself if they are real.
inline Tensor real_parts(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case ScalarType::ComplexHalf:
      return tensor.to(TensorOptions(ScalarType::Half));
    case ScalarType::ComplexFloat:
      return tensor.to(TensorOptions(ScalarType::Float));
    case ScalarType::ComplexDouble:
      return tensor.to(TensorOptions(ScalarType::Double));
    default:
      return tensor;
  }
}

/// The conjugates of finite complex numbers; the tensor itself if they are real.
inline Tensor conjugate(const Tensor& tensor) {
  if (!is_complex(tensor)) {
    return tensor;
  }
  const Tensor real = real_parts(tensor);
  return real.sub(tensor.sub(real));
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace autograd {

class Tape;

/// A tensor whose gradient a tape can compute, or a constant. Copies are the same value.
class Variable {
 public:
  /// A constant.
  Variable(Tensor value) : value_(std::move(value)) {}

  /// The tensor.
  [[nodiscard]] const Tensor& value() const noexcept { return value_; }
  /// The edge to which the gradient of the tensor goes.
  [[nodiscard]] const BackwardEdge& edge() const noexcept { return edge_; }
  /// The tape's graph; null for a constant.
  [[nodiscard]] const std::shared_ptr<BackwardGraph>& graph() const noexcept { return graph_; }

  /// The gradient of a variable of `Tape::variable`; undefined before the first pass.
  [[nodiscard]] Tensor grad() const { return owner().gradient(edge_); }
  /// Removes the gradient of a variable of `Tape::variable`.
  void zero_grad() const { owner().set_gradient(edge_, Tensor()); }
  /// Runs a backward pass from this value, with an initial gradient of ones.
  void backward(bool keep_graph = false) const {
    owner().run({{edge_, ones_like(value_)}}, keep_graph);
  }

 private:
  friend class Tape;
  Variable(Tensor value, BackwardEdge edge, std::shared_ptr<BackwardGraph> graph)
      : value_(std::move(value)), edge_(edge), graph_(std::move(graph)) {}

  [[nodiscard]] const BackwardGraph& owner() const {
    if (graph_ == nullptr) {
      throw Error(SCONCE_ERROR_INVALID_STATE,
                  "element 0 of tensors does not require grad and does not have a grad_fn; make it "
                  "with Tape::variable, or compute it from such a variable");
    }
    return *graph_;
  }

  Tensor value_;
  BackwardEdge edge_;
  std::shared_ptr<BackwardGraph> graph_;
};

/// Records operations on variables.
class Tape {
 public:
  /// A variable whose gradient backward passes compute.
  [[nodiscard]] Variable variable(Tensor value, const std::string& name = "variable") const {
    const BackwardEdge leaf = graph_->add_leaf(value.device(), name);
    return {std::move(value), leaf, graph_};
  }

  /// Removes all operations, and keeps variables and their gradients. For the next training step.
  void clear() const { graph_->clear(); }

  /// Records an operation that computed `value` from `inputs`, and returns its result. The result
  /// is a constant if all inputs are constants.
  /// \param value the result
  /// \param name for messages
  /// \param inputs the operands
  /// \param backward computes the gradients of `inputs` from that of `value`
  [[nodiscard]] static Variable record(Tensor value, const std::string& name,
                                       const std::vector<Variable>& inputs,
                                       std::function<std::vector<Tensor>(const Tensor&)> backward) {
    const std::size_t count = inputs.size();
    auto function = [backward = std::move(backward), count](const std::vector<Tensor>& gradients) {
      return gradients[0].defined() ? backward(gradients[0]) : std::vector<Tensor>(count);
    };
    return record_all({std::move(value)}, name, inputs, std::move(function)).front();
  }

  /// Records an operation that computed several `values` from `inputs`, and returns its results,
  /// which are constants if all inputs are constants.
  /// \param values the results; at least one
  /// \param name for messages
  /// \param inputs the operands
  /// \param backward computes the gradients of `inputs` from those of `values`, of which some may be
  ///        undefined
  [[nodiscard]] static std::vector<Variable> record_all(std::vector<Tensor> values,
                                                        const std::string& name,
                                                        const std::vector<Variable>& inputs,
                                                        BackwardFunction backward) {
    std::shared_ptr<BackwardGraph> graph;
    std::vector<BackwardEdge> edges;
    edges.reserve(inputs.size());
    for (const Variable& input : inputs) {
      edges.push_back(input.edge());
      if (input.graph() == nullptr) {
        continue;
      }
      if (graph != nullptr && graph != input.graph()) {
        throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                    name + ": variables of two tapes; compute them with one tape");
      }
      graph = input.graph();
    }
    std::vector<Variable> results;
    results.reserve(values.size());
    if (graph == nullptr) {
      for (Tensor& value : values) {
        results.emplace_back(std::move(value));
      }
      return results;
    }
    const std::uint64_t node =
        graph->add_node(values.at(0).device(), name, values.size(), edges, std::move(backward));
    for (Tensor& value : values) {
      results.push_back(Variable(std::move(value), {node, results.size()}, graph));
    }
    return results;
  }

 private:
  std::shared_ptr<BackwardGraph> graph_ = std::make_shared<BackwardGraph>();
};

/// The sum of a gradient over the dimensions in which an operand was broadcast: it has the
/// operand's sizes.
[[nodiscard]] inline Tensor sum_to_size(const Tensor& gradient,
                                        const std::vector<std::int64_t>& sizes) {
  const IntArrayRef from = gradient.sizes();
  if (from == sizes) {
    return gradient;
  }
  const std::size_t added = from.size() - sizes.size();
  std::vector<std::int64_t> dims;
  for (std::size_t dim = 0; dim < from.size(); ++dim) {
    if (dim < added || sizes[dim - added] != from[dim]) {
      dims.push_back(static_cast<std::int64_t>(dim));
    }
  }
  return gradient.sum(dims, true).view(sizes);
}

/// The sizes of an operand, and whether its elements are complex. A gradient must have the same.
struct OperandShape {
  /// The sizes and kind of a tensor.
  explicit OperandShape(const Tensor& operand)
      : sizes(operand.sizes().vec()), is_complex(sconce::detail::is_complex(operand)) {}

  std::vector<std::int64_t> sizes;  ///< the sizes
  bool is_complex;                  ///< whether the elements are complex
};

/// The gradient of an operand that was broadcast, and converted to complex because of the other
/// operand.
[[nodiscard]] inline Tensor gradient_of(const Tensor& gradient, const OperandShape& operand) {
  const Tensor sum = sum_to_size(gradient, operand.sizes);
  return operand.is_complex ? sum : sconce::detail::real_parts(sum);
}

/// `a + b`, broadcast to a common shape.
[[nodiscard]] inline Variable operator+(const Variable& a, const Variable& b) {
  return Tape::record(
      a.value().add(b.value()), "add", {a, b},
      [a = OperandShape(a.value()), b = OperandShape(b.value())](const Tensor& gradient) {
        return std::vector<Tensor>{gradient_of(gradient, a), gradient_of(gradient, b)};
      });
}

/// `a - b`, broadcast to a common shape.
[[nodiscard]] inline Variable operator-(const Variable& a, const Variable& b) {
  return Tape::record(
      a.value().sub(b.value()), "sub", {a, b},
      [a = OperandShape(a.value()), b = OperandShape(b.value())](const Tensor& gradient) {
        return std::vector<Tensor>{gradient_of(gradient, a), gradient_of(gradient.neg(), b)};
      });
}

/// `a * b` of elements, broadcast to a common shape.
[[nodiscard]] inline Variable operator*(const Variable& a, const Variable& b) {
  return Tape::record(a.value().mul(b.value()), "mul", {a, b},
                      [a = a.value(), b = b.value()](const Tensor& gradient) {
                        const auto by = [&](const Tensor& other) {
                          return gradient.mul(sconce::detail::conjugate(other));
                        };
                        return std::vector<Tensor>{gradient_of(by(b), OperandShape(a)),
                                                   gradient_of(by(a), OperandShape(b))};
                      });
}

/// The product of two matrices.
[[nodiscard]] inline Variable matmul(const Variable& a, const Variable& b) {
  if (a.value().dim() != 2 || b.value().dim() != 2) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "matmul of a tape takes two matrices");
  }
  return Tape::record(a.value().matmul(b.value()), "matmul", {a, b},
                      [a = a.value(), b = b.value()](const Tensor& gradient) {
                        return std::vector<Tensor>{gradient.matmul(b.t()), a.t().matmul(gradient)};
                      });
}

/// `max(a, 0)` of each element.
[[nodiscard]] inline Variable relu(const Variable& a) {
  Tensor result = a.value().relu();
  return Tape::record(result, "relu", {a}, [result](const Tensor& gradient) {
    return std::vector<Tensor>{gradient.mul(result.gt(0))};
  });
}

/// The sum of all elements.
[[nodiscard]] inline Variable sum(const Variable& a) {
  return Tape::record(a.value().sum(), "sum", {a},
                      [sizes = a.value().sizes().vec()](const Tensor& gradient) {
                        return std::vector<Tensor>{gradient.expand(sizes)};
                      });
}

/// The value on another device. Its gradient is copied back.
[[nodiscard]] inline Variable to(const Variable& a, Device device) {
  return Tape::record(a.value().to(device), "to", {a},
                      [from = a.value().device()](const Tensor& gradient) {
                        return std::vector<Tensor>{gradient.to(from)};
                      });
}

}  // namespace autograd
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_TAPE_HPP
