/// \file
/// Operations on each element of a tensor: methods, functions, and functions with an output.
/// `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_UNARY_HPP
#define SCONCE_TENSOR_UNARY_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstdint>
#include <optional>
#include <sconce/detail/tensor_calls.hpp>
#include <string_view>

namespace sconce {
inline namespace v0 {
namespace detail {

inline Tensor unary_of(std::int32_t operation, const TensorBase& self) {
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_unary(operation, self.get(), nullptr, out);
  });
}

inline const Tensor& unary_in_place(std::int32_t operation, const Tensor& self) {
  check(::sconce_tensor_unary(operation, self.get(), self.get(), nullptr));
  return self;
}

inline Tensor& unary_out(Tensor& out, std::int32_t operation, const TensorBase& self) {
  return write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_unary(operation, self.get(), into, nullptr);
  });
}

/// The operation of GELU with torch's name of an approximation.
inline std::int32_t gelu_of(std::string_view approximate) {
  if (approximate != "none" && approximate != "tanh") {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "approximate argument must be either none or tanh.");
  }
  return approximate == "none" ? SCONCE_UNARY_GELU : SCONCE_UNARY_GELU_TANH;
}

}  // namespace detail

inline Tensor Tensor::neg() const { return detail::unary_of(SCONCE_UNARY_NEG, *this); }
inline const Tensor& Tensor::neg_() const {
  return detail::unary_in_place(SCONCE_UNARY_NEG, *this);
}
inline Tensor Tensor::abs() const { return detail::unary_of(SCONCE_UNARY_ABS, *this); }
inline const Tensor& Tensor::abs_() const {
  return detail::unary_in_place(SCONCE_UNARY_ABS, *this);
}
inline Tensor Tensor::sign() const { return detail::unary_of(SCONCE_UNARY_SIGN, *this); }
inline const Tensor& Tensor::sign_() const {
  return detail::unary_in_place(SCONCE_UNARY_SIGN, *this);
}
inline Tensor Tensor::exp() const { return detail::unary_of(SCONCE_UNARY_EXP, *this); }
inline const Tensor& Tensor::exp_() const {
  return detail::unary_in_place(SCONCE_UNARY_EXP, *this);
}
inline Tensor Tensor::log() const { return detail::unary_of(SCONCE_UNARY_LOG, *this); }
inline const Tensor& Tensor::log_() const {
  return detail::unary_in_place(SCONCE_UNARY_LOG, *this);
}
inline Tensor Tensor::sqrt() const { return detail::unary_of(SCONCE_UNARY_SQRT, *this); }
inline const Tensor& Tensor::sqrt_() const {
  return detail::unary_in_place(SCONCE_UNARY_SQRT, *this);
}
inline Tensor Tensor::rsqrt() const { return detail::unary_of(SCONCE_UNARY_RSQRT, *this); }
inline const Tensor& Tensor::rsqrt_() const {
  return detail::unary_in_place(SCONCE_UNARY_RSQRT, *this);
}
inline Tensor Tensor::reciprocal() const {
  return detail::unary_of(SCONCE_UNARY_RECIPROCAL, *this);
}
inline const Tensor& Tensor::reciprocal_() const {
  return detail::unary_in_place(SCONCE_UNARY_RECIPROCAL, *this);
}
inline Tensor Tensor::sin() const { return detail::unary_of(SCONCE_UNARY_SIN, *this); }
inline const Tensor& Tensor::sin_() const {
  return detail::unary_in_place(SCONCE_UNARY_SIN, *this);
}
inline Tensor Tensor::cos() const { return detail::unary_of(SCONCE_UNARY_COS, *this); }
inline const Tensor& Tensor::cos_() const {
  return detail::unary_in_place(SCONCE_UNARY_COS, *this);
}
inline Tensor Tensor::tanh() const { return detail::unary_of(SCONCE_UNARY_TANH, *this); }
inline const Tensor& Tensor::tanh_() const {
  return detail::unary_in_place(SCONCE_UNARY_TANH, *this);
}
inline Tensor Tensor::sigmoid() const { return detail::unary_of(SCONCE_UNARY_SIGMOID, *this); }
inline const Tensor& Tensor::sigmoid_() const {
  return detail::unary_in_place(SCONCE_UNARY_SIGMOID, *this);
}
inline Tensor Tensor::relu() const { return detail::unary_of(SCONCE_UNARY_RELU, *this); }
inline const Tensor& Tensor::relu_() const {
  return detail::unary_in_place(SCONCE_UNARY_RELU, *this);
}
inline Tensor Tensor::silu() const { return detail::unary_of(SCONCE_UNARY_SILU, *this); }
inline const Tensor& Tensor::silu_() const {
  return detail::unary_in_place(SCONCE_UNARY_SILU, *this);
}
inline Tensor Tensor::erf() const { return detail::unary_of(SCONCE_UNARY_ERF, *this); }
inline const Tensor& Tensor::erf_() const {
  return detail::unary_in_place(SCONCE_UNARY_ERF, *this);
}
inline Tensor Tensor::floor() const { return detail::unary_of(SCONCE_UNARY_FLOOR, *this); }
inline const Tensor& Tensor::floor_() const {
  return detail::unary_in_place(SCONCE_UNARY_FLOOR, *this);
}
inline Tensor Tensor::ceil() const { return detail::unary_of(SCONCE_UNARY_CEIL, *this); }
inline const Tensor& Tensor::ceil_() const {
  return detail::unary_in_place(SCONCE_UNARY_CEIL, *this);
}
inline Tensor Tensor::round() const { return detail::unary_of(SCONCE_UNARY_ROUND, *this); }
inline const Tensor& Tensor::round_() const {
  return detail::unary_in_place(SCONCE_UNARY_ROUND, *this);
}
inline Tensor Tensor::trunc() const { return detail::unary_of(SCONCE_UNARY_TRUNC, *this); }
inline const Tensor& Tensor::trunc_() const {
  return detail::unary_in_place(SCONCE_UNARY_TRUNC, *this);
}
inline Tensor Tensor::logical_not() const {
  return detail::unary_of(SCONCE_UNARY_LOGICAL_NOT, *this);
}
inline const Tensor& Tensor::logical_not_() const {
  return detail::unary_in_place(SCONCE_UNARY_LOGICAL_NOT, *this);
}
inline Tensor Tensor::bitwise_not() const {
  return detail::unary_of(SCONCE_UNARY_BITWISE_NOT, *this);
}
inline const Tensor& Tensor::bitwise_not_() const {
  return detail::unary_in_place(SCONCE_UNARY_BITWISE_NOT, *this);
}
inline Tensor Tensor::isnan() const { return detail::unary_of(SCONCE_UNARY_IS_NAN, *this); }
inline Tensor Tensor::isfinite() const { return detail::unary_of(SCONCE_UNARY_IS_FINITE, *this); }
inline Tensor Tensor::gelu(std::string_view approximate) const {
  return detail::unary_of(detail::gelu_of(approximate), *this);
}
inline Tensor Tensor::clamp(const std::optional<TensorOrScalar>& min,
                            const std::optional<TensorOrScalar>& max) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_clamp(get(), min ? min->tensor() : nullptr,
                                 min ? min->number() : nullptr, max ? max->tensor() : nullptr,
                                 max ? max->number() : nullptr, out);
  });
}
inline const Tensor& Tensor::clamp_(const std::optional<TensorOrScalar>& min,
                                    const std::optional<TensorOrScalar>& max) const {
  detail::check(::sconce_tensor_clamp_out(
      get(), min ? min->tensor() : nullptr, min ? min->number() : nullptr,
      max ? max->tensor() : nullptr, max ? max->number() : nullptr, get()));
  return *this;
}
inline Tensor Tensor::clamp_min(const TensorOrScalar& min) const { return clamp(min); }
inline const Tensor& Tensor::clamp_min_(const TensorOrScalar& min) const { return clamp_(min); }
inline Tensor Tensor::clamp_max(const TensorOrScalar& max) const {
  return clamp(std::nullopt, max);
}
inline const Tensor& Tensor::clamp_max_(const TensorOrScalar& max) const {
  return clamp_(std::nullopt, max);
}

/// \name Operations on each element
/// @{

/// Each element clamped to a lower bound.
[[nodiscard]] inline Tensor clamp_min(const Tensor& tensor, const TensorOrScalar& min) {
  return tensor.clamp_min(min);
}
/// Each element clamped to an upper bound.
[[nodiscard]] inline Tensor clamp_max(const Tensor& tensor, const TensorOrScalar& max) {
  return tensor.clamp_max(max);
}
/// `-x` of each element.
[[nodiscard]] inline Tensor neg(const Tensor& tensor) { return tensor.neg(); }
/// The absolute value of each element; a real number, also for complex elements.
[[nodiscard]] inline Tensor abs(const Tensor& tensor) { return tensor.abs(); }
/// -1, 0 or 1 of each element.
[[nodiscard]] inline Tensor sign(const Tensor& tensor) { return tensor.sign(); }
/// The exponential function of each element.
[[nodiscard]] inline Tensor exp(const Tensor& tensor) { return tensor.exp(); }
/// The square root of each element.
[[nodiscard]] inline Tensor sqrt(const Tensor& tensor) { return tensor.sqrt(); }
/// The reciprocal of the square root of each element.
[[nodiscard]] inline Tensor rsqrt(const Tensor& tensor) { return tensor.rsqrt(); }
/// `1 / x` of each element.
[[nodiscard]] inline Tensor reciprocal(const Tensor& tensor) { return tensor.reciprocal(); }
/// The sine of each element.
[[nodiscard]] inline Tensor sin(const Tensor& tensor) { return tensor.sin(); }
/// The cosine of each element.
[[nodiscard]] inline Tensor cos(const Tensor& tensor) { return tensor.cos(); }
/// The hyperbolic tangent of each element.
[[nodiscard]] inline Tensor tanh(const Tensor& tensor) { return tensor.tanh(); }
/// `1 / (1 + exp(-x))` of each element.
[[nodiscard]] inline Tensor sigmoid(const Tensor& tensor) { return tensor.sigmoid(); }
/// `max(x, 0)` of each element.
[[nodiscard]] inline Tensor relu(const Tensor& tensor) { return tensor.relu(); }
/// `x * sigmoid(x)` of each element.
[[nodiscard]] inline Tensor silu(const Tensor& tensor) { return tensor.silu(); }
/// The error function of each element.
[[nodiscard]] inline Tensor erf(const Tensor& tensor) { return tensor.erf(); }
/// Each element rounded down.
[[nodiscard]] inline Tensor floor(const Tensor& tensor) { return tensor.floor(); }
/// Each element rounded up.
[[nodiscard]] inline Tensor ceil(const Tensor& tensor) { return tensor.ceil(); }
/// Each element rounded to the nearest integer, ties to even.
[[nodiscard]] inline Tensor round(const Tensor& tensor) { return tensor.round(); }
/// Each element rounded toward 0.
[[nodiscard]] inline Tensor trunc(const Tensor& tensor) { return tensor.trunc(); }
/// Whether each element is 0.
[[nodiscard]] inline Tensor logical_not(const Tensor& tensor) { return tensor.logical_not(); }
/// The complement of each element's bits.
[[nodiscard]] inline Tensor bitwise_not(const Tensor& tensor) { return tensor.bitwise_not(); }
/// Whether each element is not a number.
[[nodiscard]] inline Tensor isnan(const Tensor& tensor) { return tensor.isnan(); }
/// Whether each element is neither infinite nor NaN.
[[nodiscard]] inline Tensor isfinite(const Tensor& tensor) { return tensor.isfinite(); }
/// Each element clamped to bounds.
[[nodiscard]] inline Tensor clamp(const Tensor& tensor,
                                  const std::optional<TensorOrScalar>& min = std::nullopt,
                                  const std::optional<TensorOrScalar>& max = std::nullopt) {
  return tensor.clamp(min, max);
}
/// Gaussian error linear units of each element.
[[nodiscard]] inline Tensor gelu(const Tensor& tensor, std::string_view approximate = "none") {
  return tensor.gelu(approximate);
}

/// @}

/// \name Operations on each element, into a tensor of the caller
/// `out` follows the rules of `<sconce/tensor/outputs.hpp>`.
/// @{

/// `-x` of each element.
inline Tensor& neg_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_NEG, self);
}
/// The absolute value of each element.
inline Tensor& abs_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_ABS, self);
}
/// -1, 0 or 1 of each element.
inline Tensor& sign_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_SIGN, self);
}
/// The exponential function of each element.
inline Tensor& exp_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_EXP, self);
}
/// The natural logarithm of each element.
inline Tensor& log_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_LOG, self);
}
/// The square root of each element.
inline Tensor& sqrt_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_SQRT, self);
}
/// The reciprocal of the square root of each element.
inline Tensor& rsqrt_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_RSQRT, self);
}
/// `1 / x` of each element.
inline Tensor& reciprocal_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_RECIPROCAL, self);
}
/// The sine of each element.
inline Tensor& sin_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_SIN, self);
}
/// The cosine of each element.
inline Tensor& cos_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_COS, self);
}
/// The hyperbolic tangent of each element.
inline Tensor& tanh_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_TANH, self);
}
/// `max(x, 0)` of each element.
inline Tensor& relu_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_RELU, self);
}
/// `1 / (1 + exp(-x))` of each element.
inline Tensor& sigmoid_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_SIGMOID, self);
}
/// `x * sigmoid(x)` of each element.
inline Tensor& silu_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_SILU, self);
}
/// The error function of each element.
inline Tensor& erf_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_ERF, self);
}
/// Each element rounded down.
inline Tensor& floor_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_FLOOR, self);
}
/// Each element rounded up.
inline Tensor& ceil_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_CEIL, self);
}
/// Each element rounded to the nearest integer, ties to even.
inline Tensor& round_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_ROUND, self);
}
/// Each element rounded toward 0.
inline Tensor& trunc_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_TRUNC, self);
}
/// Whether each element is 0.
inline Tensor& logical_not_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_LOGICAL_NOT, self);
}
/// The complement of each element's bits.
inline Tensor& bitwise_not_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_BITWISE_NOT, self);
}
/// Gaussian error linear units of each element; `approximate` is "none" or "tanh".
inline Tensor& gelu_out(Tensor& out, const Tensor& self, std::string_view approximate = "none") {
  return detail::unary_out(out, detail::gelu_of(approximate), self);
}
/// Each element clamped to bounds.
inline Tensor& clamp_out(Tensor& out, const Tensor& self,
                         const std::optional<TensorOrScalar>& min = std::nullopt,
                         const std::optional<TensorOrScalar>& max = std::nullopt) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_clamp_out(self.get(), min ? min->tensor() : nullptr,
                                     min ? min->number() : nullptr, max ? max->tensor() : nullptr,
                                     max ? max->number() : nullptr, into);
  });
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_UNARY_HPP
