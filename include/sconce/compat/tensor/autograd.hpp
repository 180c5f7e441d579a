/// \file
/// Operations with a forward and a backward function of their own: `torch::autograd::Function`,
/// over the tape of `<sconce/tensor/tape.hpp>`. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_AUTOGRAD_HPP
#define SCONCE_COMPAT_TENSOR_AUTOGRAD_HPP

#include <sconce/c/library.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sconce/compat/tensor/ivalue.hpp>
#include <sconce/tensor/tape.hpp>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace torch {
namespace autograd {

/// A tensor. Gradients are recorded for a `sconce::autograd::Variable` only.
using Variable = Tensor;
/// Tensors.
using variable_list = std::vector<Variable>;

/// \cond
template <class T>
struct Function;
/// \endcond

/// What the forward function keeps for the backward function. Corresponds to
/// `torch::autograd::AutogradContext`.
class AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Values by name.
  std::unordered_map<std::string, c10::IValue> saved_data;

  /// Keeps tensors.
  void save_for_backward(variable_list to_save) { saved_ = std::move(to_save); }
  /// The tensors of `save_for_backward`.
  [[nodiscard]] variable_list get_saved_variables() const { return saved_; }
  /// Names inputs that the forward function changed. There are no views to update here.
  void mark_dirty(const variable_list&) {}
  /// Names results that get no gradient.
  void mark_non_differentiable(const variable_list& outputs) { constants_ = outputs; }
  /// Whether gradients that are missing are zeros in the backward function, which is the default,
  /// or undefined.
  void set_materialize_grads(bool value) { materialize_ = value; }
  /// Whether the backward function has to return the gradient of an argument.
  [[nodiscard]] bool needs_input_grad(std::size_t index) const {
    return index < needed_.size() && needed_[index];
  }

 private:
  template <class T>
  friend struct Function;
  [[nodiscard]] bool is_constant(const Tensor& output) const {
    return std::any_of(constants_.begin(), constants_.end(),
                       [&](const Tensor& other) { return other.is_same(output); });
  }

  variable_list saved_;
  variable_list constants_;
  bool materialize_ = true;
  std::vector<bool> needed_;
};

/// \cond
namespace detail {

using Recorded = ::sconce::autograd::Variable;

template <class T>
inline constexpr bool is_recorded_v = std::is_same_v<std::decay_t<T>, Recorded>;

// What the forward function gets for an argument of apply.
template <class T>
decltype(auto) value_of(T&& argument) {
  if constexpr (is_recorded_v<T>) {
    return argument.value();
  } else {
    return std::forward<T>(argument);
  }
}

inline variable_list listed(const Tensor& output) { return {output}; }
inline variable_list listed(const variable_list& outputs) { return outputs; }

// A result without a gradient: its sizes and type, to make zeros of.
struct Likeness {
  std::vector<std::int64_t> sizes;
  TensorOptions options;
};

}  // namespace detail
/// \endcond

/// The base of an operation: `struct Mine : torch::autograd::Function<Mine>` with static functions
/// `forward(AutogradContext*, …)`, which returns a tensor or tensors, and
/// `backward(AutogradContext*, variable_list)`, which returns a gradient for each argument of
/// `forward`; undefined ones are none. Corresponds to `torch::autograd::Function`.
template <class T>
struct Function {
  /// Calls `forward`. With a `sconce::autograd::Variable` among the arguments it returns variables,
  /// and the operation is recorded on their tape; otherwise it returns what `forward` does.
  ///
  /// Ordering: `backward` runs on the stream that was current on the device of the first result.
  /// \throws what `forward` throws
  template <class Derived = T, class... Arguments>
  static auto apply(Arguments&&... arguments) {
    auto context = std::make_shared<AutogradContext>();
    context->needed_ = {is_needed(arguments)...};
    auto outputs =
        Derived::forward(context.get(), detail::value_of(std::forward<Arguments>(arguments))...);
    if constexpr (!(detail::is_recorded_v<Arguments> || ...)) {
      return outputs;
    } else {
      std::vector<detail::Recorded> inputs;
      std::vector<std::size_t> places;
      std::size_t place = 0;
      (note(arguments, place++, inputs, places), ...);
      std::vector<detail::Recorded> results =
          record<Derived>(context, detail::listed(outputs), inputs, places, sizeof...(Arguments));
      if constexpr (std::is_same_v<decltype(outputs), Tensor>) {
        return results.front();
      } else {
        return results;
      }
    }
  }

 private:
  template <class Argument>
  static bool is_needed(const Argument& argument) {
    if constexpr (detail::is_recorded_v<Argument>) {
      return argument.graph() != nullptr;
    } else {
      return false;
    }
  }
  template <class Argument>
  static void note(const Argument& argument, std::size_t place,
                   std::vector<detail::Recorded>& inputs, std::vector<std::size_t>& places) {
    if constexpr (detail::is_recorded_v<Argument>) {
      inputs.push_back(argument);
      places.push_back(place);
    }
  }

  template <class Derived>
  static std::vector<detail::Recorded> record(const std::shared_ptr<AutogradContext>& context,
                                              const variable_list& outputs,
                                              const std::vector<detail::Recorded>& inputs,
                                              std::vector<std::size_t> places, std::size_t count) {
    std::vector<detail::Likeness> likeness;
    for (const Tensor& output : outputs) {
      likeness.push_back(output.defined() ? detail::Likeness{output.sizes().vec(), output.options()}
                                          : detail::Likeness{});
    }
    auto backward = [context, likeness = std::move(likeness), places = std::move(places),
                     count](const std::vector<Tensor>& given) {
      variable_list gradients = given;
      for (std::size_t i = 0; context->materialize_ && i < gradients.size(); ++i) {
        if (!gradients[i].defined()) {
          gradients[i] = ::sconce::zeros(likeness[i].sizes, likeness[i].options);
        }
      }
      variable_list found = Derived::backward(context.get(), std::move(gradients));
      // Undefined gradients behind those of the arguments are allowed, as in torch.
      while (found.size() > count && !found.back().defined()) {
        found.pop_back();
      }
      TORCH_CHECK(found.size() == count, "function returned an incorrect number of gradients (",
                  "expected ", count, ", got ", found.size(), ")");
      std::vector<Tensor> selected;
      for (const std::size_t place : places) {
        selected.push_back(found[place]);
      }
      return selected;
    };
    std::vector<detail::Recorded> results = ::sconce::autograd::Tape::record_all(
        outputs, "torch::autograd::Function", inputs, std::move(backward));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (context->is_constant(outputs[i])) {
        results[i] = detail::Recorded(outputs[i]);
      }
    }
    return results;
  }
};

/// Whether a gradient of any tensor is recorded: never.
[[nodiscard]] inline bool any_variable_requires_grad(const variable_list&) noexcept {
  return false;
}
/// Does nothing: tensors have no versions.
template <class Tensors>
void increment_version(const Tensors&) noexcept {}

}  // namespace autograd
}  // namespace torch
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_AUTOGRAD_HPP
