/// \file
/// Operators of tensors. Comparisons compare elements, as in torch; `equal` compares tensors.
#ifndef SCONCE_TENSOR_OPERATORS_HPP
#define SCONCE_TENSOR_OPERATORS_HPP

#include <sconce/c/tensor.h>

#include <sconce/tensor/body.hpp>

namespace sconce {
inline namespace v0 {

/// `neg`.
[[nodiscard]] inline Tensor operator-(const Tensor& tensor) { return tensor.neg(); }
/// `bitwise_not`.
[[nodiscard]] inline Tensor operator~(const Tensor& tensor) { return tensor.bitwise_not(); }
/// `logical_not`.
[[nodiscard]] inline Tensor operator!(const Tensor& tensor) { return tensor.logical_not(); }

/// `add`.
[[nodiscard]] inline Tensor operator+(const Tensor& a, const Tensor& b) { return a.add(b); }
/// `add`.
[[nodiscard]] inline Tensor operator+(const Tensor& a, const Scalar& b) { return a.add(b); }
/// `add`.
[[nodiscard]] inline Tensor operator+(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_ADD, a, b);
}
/// `sub`.
[[nodiscard]] inline Tensor operator-(const Tensor& a, const Tensor& b) { return a.sub(b); }
/// `sub`.
[[nodiscard]] inline Tensor operator-(const Tensor& a, const Scalar& b) { return a.sub(b); }
/// `sub`.
[[nodiscard]] inline Tensor operator-(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_SUB, a, b);
}
/// `mul`.
[[nodiscard]] inline Tensor operator*(const Tensor& a, const Tensor& b) { return a.mul(b); }
/// `mul`.
[[nodiscard]] inline Tensor operator*(const Tensor& a, const Scalar& b) { return a.mul(b); }
/// `mul`.
[[nodiscard]] inline Tensor operator*(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_MUL, a, b);
}
/// `div`.
[[nodiscard]] inline Tensor operator/(const Tensor& a, const Tensor& b) { return a.div(b); }
/// `div`.
[[nodiscard]] inline Tensor operator/(const Tensor& a, const Scalar& b) { return a.div(b); }
/// `div`.
[[nodiscard]] inline Tensor operator/(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_DIV, a, b);
}
/// `remainder`.
[[nodiscard]] inline Tensor operator%(const Tensor& a, const Tensor& b) { return a.remainder(b); }
/// `remainder`.
[[nodiscard]] inline Tensor operator%(const Tensor& a, const Scalar& b) { return a.remainder(b); }
/// `remainder`.
[[nodiscard]] inline Tensor operator%(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_REMAINDER, a, b);
}
/// `bitwise_and`.
[[nodiscard]] inline Tensor operator&(const Tensor& a, const Tensor& b) { return a.bitwise_and(b); }
/// `bitwise_and`.
[[nodiscard]] inline Tensor operator&(const Tensor& a, const Scalar& b) { return a.bitwise_and(b); }
/// `bitwise_and`.
[[nodiscard]] inline Tensor operator&(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_BITWISE_AND, a, b);
}
/// `bitwise_or`.
[[nodiscard]] inline Tensor operator|(const Tensor& a, const Tensor& b) { return a.bitwise_or(b); }
/// `bitwise_or`.
[[nodiscard]] inline Tensor operator|(const Tensor& a, const Scalar& b) { return a.bitwise_or(b); }
/// `bitwise_or`.
[[nodiscard]] inline Tensor operator|(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_BITWISE_OR, a, b);
}
/// `bitwise_xor`.
[[nodiscard]] inline Tensor operator^(const Tensor& a, const Tensor& b) { return a.bitwise_xor(b); }
/// `bitwise_xor`.
[[nodiscard]] inline Tensor operator^(const Tensor& a, const Scalar& b) { return a.bitwise_xor(b); }
/// `bitwise_xor`.
[[nodiscard]] inline Tensor operator^(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_BITWISE_XOR, a, b);
}
/// `eq`.
[[nodiscard]] inline Tensor operator==(const Tensor& a, const Tensor& b) { return a.eq(b); }
/// `eq`.
[[nodiscard]] inline Tensor operator==(const Tensor& a, const Scalar& b) { return a.eq(b); }
/// `eq`.
[[nodiscard]] inline Tensor operator==(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_EQ, a, b);
}
/// `ne`.
[[nodiscard]] inline Tensor operator!=(const Tensor& a, const Tensor& b) { return a.ne(b); }
/// `ne`.
[[nodiscard]] inline Tensor operator!=(const Tensor& a, const Scalar& b) { return a.ne(b); }
/// `ne`.
[[nodiscard]] inline Tensor operator!=(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_NE, a, b);
}
/// `lt`.
[[nodiscard]] inline Tensor operator<(const Tensor& a, const Tensor& b) { return a.lt(b); }
/// `lt`.
[[nodiscard]] inline Tensor operator<(const Tensor& a, const Scalar& b) { return a.lt(b); }
/// `lt`.
[[nodiscard]] inline Tensor operator<(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_LT, a, b);
}
/// `le`.
[[nodiscard]] inline Tensor operator<=(const Tensor& a, const Tensor& b) { return a.le(b); }
/// `le`.
[[nodiscard]] inline Tensor operator<=(const Tensor& a, const Scalar& b) { return a.le(b); }
/// `le`.
[[nodiscard]] inline Tensor operator<=(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_LE, a, b);
}
/// `gt`.
[[nodiscard]] inline Tensor operator>(const Tensor& a, const Tensor& b) { return a.gt(b); }
/// `gt`.
[[nodiscard]] inline Tensor operator>(const Tensor& a, const Scalar& b) { return a.gt(b); }
/// `gt`.
[[nodiscard]] inline Tensor operator>(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_GT, a, b);
}
/// `ge`.
[[nodiscard]] inline Tensor operator>=(const Tensor& a, const Tensor& b) { return a.ge(b); }
/// `ge`.
[[nodiscard]] inline Tensor operator>=(const Tensor& a, const Scalar& b) { return a.ge(b); }
/// `ge`.
[[nodiscard]] inline Tensor operator>=(const Scalar& a, const Tensor& b) {
  return detail::binary_of(SCONCE_BINARY_GE, a, b);
}

/// `add_`.
inline const Tensor& operator+=(const Tensor& a, const TensorOrScalar& b) { return a.add_(b); }
/// `sub_`.
inline const Tensor& operator-=(const Tensor& a, const TensorOrScalar& b) { return a.sub_(b); }
/// `mul_`.
inline const Tensor& operator*=(const Tensor& a, const TensorOrScalar& b) { return a.mul_(b); }
/// `div_`.
inline const Tensor& operator/=(const Tensor& a, const TensorOrScalar& b) { return a.div_(b); }
/// `remainder_`.
inline const Tensor& operator%=(const Tensor& a, const TensorOrScalar& b) {
  return a.remainder_(b);
}
/// `bitwise_and_`.
inline const Tensor& operator&=(const Tensor& a, const TensorOrScalar& b) {
  return a.bitwise_and_(b);
}
/// `bitwise_or_`.
inline const Tensor& operator|=(const Tensor& a, const TensorOrScalar& b) {
  return a.bitwise_or_(b);
}
/// `bitwise_xor_`.
inline const Tensor& operator^=(const Tensor& a, const TensorOrScalar& b) {
  return a.bitwise_xor_(b);
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_OPERATORS_HPP
