/// \file
/// Operations on pairs of elements, with a tensor or a number: methods, functions, and functions
/// with an output. `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_BINARY_HPP
#define SCONCE_TENSOR_BINARY_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstdint>
#include <optional>
#include <sconce/detail/tensor_calls.hpp>
#include <string>
#include <string_view>

namespace sconce {
inline namespace v0 {
namespace detail {

/// An operation on pairs of elements, of which `a` or `b` is a tensor.
inline Tensor binary_of(std::int32_t operation, const TensorOrScalar& a, const TensorOrScalar& b,
                        const Scalar* alpha = nullptr) {
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_binary(operation, a.tensor(), a.number(), b.tensor(), b.number(),
                                  alpha != nullptr ? alpha->get() : nullptr, nullptr, out);
  });
}

inline const Tensor& binary_in_place(std::int32_t operation, const Tensor& tensor,
                                     const TensorOrScalar& other, const Scalar* alpha = nullptr) {
  const TensorOrScalar self(tensor);
  check(::sconce_tensor_binary(operation, self.tensor(), nullptr, other.tensor(), other.number(),
                               alpha != nullptr ? alpha->get() : nullptr, self.tensor(), nullptr));
  return tensor;
}

inline Tensor& binary_out(Tensor& out, std::int32_t operation, const TensorBase& self,
                          const TensorOrScalar& other, const Scalar* alpha = nullptr) {
  const TensorOrScalar first(self);
  return write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_binary(operation, first.tensor(), nullptr, other.tensor(),
                                  other.number(), alpha != nullptr ? alpha->get() : nullptr, into,
                                  nullptr);
  });
}

/// The division with torch's name of a rounding.
inline std::int32_t rounded_division_of(std::string_view rounding_mode) {
  if (rounding_mode != "trunc" && rounding_mode != "floor") {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "div expected rounding_mode to be 'trunc' or 'floor', or left out, but found '" +
                    std::string(rounding_mode) + "'");
  }
  return rounding_mode == "floor" ? SCONCE_BINARY_FLOOR_DIVIDE : SCONCE_BINARY_TRUNC_DIVIDE;
}

}  // namespace detail

inline Tensor Tensor::add(const TensorOrScalar& other, const Scalar& alpha) const {
  return detail::binary_of(SCONCE_BINARY_ADD, *this, other, &alpha);
}
inline const Tensor& Tensor::add_(const TensorOrScalar& other, const Scalar& alpha) const {
  return detail::binary_in_place(SCONCE_BINARY_ADD, *this, other, &alpha);
}
inline Tensor Tensor::sub(const TensorOrScalar& other, const Scalar& alpha) const {
  return detail::binary_of(SCONCE_BINARY_SUB, *this, other, &alpha);
}
inline const Tensor& Tensor::sub_(const TensorOrScalar& other, const Scalar& alpha) const {
  return detail::binary_in_place(SCONCE_BINARY_SUB, *this, other, &alpha);
}
inline Tensor Tensor::mul(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_MUL, *this, other);
}
inline const Tensor& Tensor::mul_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_MUL, *this, other);
}
inline Tensor Tensor::div(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_DIV, *this, other);
}
inline Tensor Tensor::div(const TensorOrScalar& other, std::string_view rounding_mode) const {
  return detail::binary_of(detail::rounded_division_of(rounding_mode), *this, other);
}
inline const Tensor& Tensor::div_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_DIV, *this, other);
}
inline Tensor Tensor::true_divide(const TensorOrScalar& other) const { return div(other); }
inline const Tensor& Tensor::true_divide_(const TensorOrScalar& other) const { return div_(other); }
inline Tensor Tensor::square() const { return mul(*this); }
inline const Tensor& Tensor::div_(const TensorOrScalar& other,
                                  std::string_view rounding_mode) const {
  return detail::binary_in_place(detail::rounded_division_of(rounding_mode), *this, other);
}
inline Tensor Tensor::floor_divide(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_FLOOR_DIVIDE, *this, other);
}
inline const Tensor& Tensor::floor_divide_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_FLOOR_DIVIDE, *this, other);
}
inline Tensor Tensor::remainder(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_REMAINDER, *this, other);
}
inline const Tensor& Tensor::remainder_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_REMAINDER, *this, other);
}
inline Tensor Tensor::pow(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_POW, *this, other);
}
inline const Tensor& Tensor::pow_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_POW, *this, other);
}
inline Tensor Tensor::eq(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_EQ, *this, other);
}
inline const Tensor& Tensor::eq_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_EQ, *this, other);
}
inline Tensor Tensor::ne(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_NE, *this, other);
}
inline const Tensor& Tensor::ne_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_NE, *this, other);
}
inline Tensor Tensor::lt(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_LT, *this, other);
}
inline const Tensor& Tensor::lt_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_LT, *this, other);
}
inline Tensor Tensor::le(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_LE, *this, other);
}
inline const Tensor& Tensor::le_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_LE, *this, other);
}
inline Tensor Tensor::gt(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_GT, *this, other);
}
inline const Tensor& Tensor::gt_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_GT, *this, other);
}
inline Tensor Tensor::ge(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_GE, *this, other);
}
inline const Tensor& Tensor::ge_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_GE, *this, other);
}
inline Tensor Tensor::bitwise_and(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_BITWISE_AND, *this, other);
}
inline const Tensor& Tensor::bitwise_and_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_BITWISE_AND, *this, other);
}
inline Tensor Tensor::bitwise_or(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_BITWISE_OR, *this, other);
}
inline const Tensor& Tensor::bitwise_or_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_BITWISE_OR, *this, other);
}
inline Tensor Tensor::bitwise_xor(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_BITWISE_XOR, *this, other);
}
inline const Tensor& Tensor::bitwise_xor_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_BITWISE_XOR, *this, other);
}
inline Tensor Tensor::logical_and(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_LOGICAL_AND, *this, other);
}
inline const Tensor& Tensor::logical_and_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_LOGICAL_AND, *this, other);
}
inline Tensor Tensor::logical_or(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_LOGICAL_OR, *this, other);
}
inline const Tensor& Tensor::logical_or_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_LOGICAL_OR, *this, other);
}
inline Tensor Tensor::logical_xor(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_LOGICAL_XOR, *this, other);
}
inline const Tensor& Tensor::logical_xor_(const TensorOrScalar& other) const {
  return detail::binary_in_place(SCONCE_BINARY_LOGICAL_XOR, *this, other);
}
inline Tensor Tensor::minimum(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_MINIMUM, *this, other);
}
inline Tensor Tensor::maximum(const TensorOrScalar& other) const {
  return detail::binary_of(SCONCE_BINARY_MAXIMUM, *this, other);
}

/// \name Operations on pairs of elements
/// @{

/// Elements of `self` where a condition is true, else those of `other`.
[[nodiscard]] inline Tensor where(const TensorBase& condition, const TensorOrScalar& self,
                                  const TensorOrScalar& other) {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_where(condition.get(), self.tensor(), self.number(), other.tensor(),
                                 other.number(), out);
  });
}
/// `x + alpha * y` of each pair of elements.
[[nodiscard]] inline Tensor add(const Tensor& tensor, const TensorOrScalar& other,
                                const Scalar& alpha = 1) {
  return tensor.add(other, alpha);
}
/// `x / y` of each pair of elements.
[[nodiscard]] inline Tensor true_divide(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.true_divide(other);
}
/// `x - alpha * y` of each pair of elements.
[[nodiscard]] inline Tensor sub(const Tensor& tensor, const TensorOrScalar& other,
                                const Scalar& alpha = 1) {
  return tensor.sub(other, alpha);
}
/// `x * y` of each pair of elements.
[[nodiscard]] inline Tensor mul(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.mul(other);
}
/// `x / y` of each pair of elements; a real number, also for integers.
[[nodiscard]] inline Tensor div(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.div(other);
}
/// `floor(x / y)` of each pair of elements.
[[nodiscard]] inline Tensor floor_divide(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.floor_divide(other);
}
/// `x - y * floor(x / y)` of each pair of elements.
[[nodiscard]] inline Tensor remainder(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.remainder(other);
}
/// `x` to the power of `y` of each pair of elements.
[[nodiscard]] inline Tensor pow(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.pow(other);
}
/// Whether `x == y`, of each pair of elements.
[[nodiscard]] inline Tensor eq(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.eq(other);
}
/// Whether `x != y`, of each pair of elements.
[[nodiscard]] inline Tensor ne(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.ne(other);
}
/// Whether `x < y`, of each pair of elements.
[[nodiscard]] inline Tensor lt(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.lt(other);
}
/// Whether `x <= y`, of each pair of elements.
[[nodiscard]] inline Tensor le(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.le(other);
}
/// Whether `x > y`, of each pair of elements.
[[nodiscard]] inline Tensor gt(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.gt(other);
}
/// Whether `x >= y`, of each pair of elements.
[[nodiscard]] inline Tensor ge(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.ge(other);
}
/// `x & y` of each pair of elements.
[[nodiscard]] inline Tensor bitwise_and(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.bitwise_and(other);
}
/// `x | y` of each pair of elements.
[[nodiscard]] inline Tensor bitwise_or(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.bitwise_or(other);
}
/// `x ^ y` of each pair of elements.
[[nodiscard]] inline Tensor bitwise_xor(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.bitwise_xor(other);
}
/// Whether both are nonzero, of each pair of elements.
[[nodiscard]] inline Tensor logical_and(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.logical_and(other);
}
/// Whether at least one is nonzero, of each pair of elements.
[[nodiscard]] inline Tensor logical_or(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.logical_or(other);
}
/// Whether exactly one is nonzero, of each pair of elements.
[[nodiscard]] inline Tensor logical_xor(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.logical_xor(other);
}
/// The smaller of each pair of elements; NaN if either is NaN.
[[nodiscard]] inline Tensor minimum(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.minimum(other);
}
/// The larger of each pair of elements; NaN if either is NaN.
[[nodiscard]] inline Tensor maximum(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.maximum(other);
}
/// `x` to the power of `y`, for each element `y`.
[[nodiscard]] inline Tensor pow(const Scalar& base, const Tensor& exponent) {
  return detail::binary_of(SCONCE_BINARY_POW, base, exponent);
}
/// `x / y` of each pair of elements, rounded toward 0 (`trunc`) or down (`floor`).
[[nodiscard]] inline Tensor div(const Tensor& tensor, const TensorOrScalar& other,
                                std::string_view rounding_mode) {
  return tensor.div(other, rounding_mode);
}

/// @}

/// \name Operations on pairs of elements, into a tensor of the caller
/// `out` follows the rules of `<sconce/tensor/outputs.hpp>`.
/// @{

/// `x + alpha * y` of each pair of elements.
inline Tensor& add_out(Tensor& out, const Tensor& self, const TensorOrScalar& other,
                       const Scalar& alpha = 1) {
  return detail::binary_out(out, SCONCE_BINARY_ADD, self, other, &alpha);
}
/// `x - alpha * y` of each pair of elements.
inline Tensor& sub_out(Tensor& out, const Tensor& self, const TensorOrScalar& other,
                       const Scalar& alpha = 1) {
  return detail::binary_out(out, SCONCE_BINARY_SUB, self, other, &alpha);
}
/// `x / y` of each pair of elements; a real number, also for integers.
inline Tensor& div_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_DIV, self, other);
}
/// `x / y` of each pair of elements, rounded toward 0 ("trunc") or down ("floor").
inline Tensor& div_out(Tensor& out, const Tensor& self, const TensorOrScalar& other,
                       std::string_view rounding_mode) {
  return detail::binary_out(out, detail::rounded_division_of(rounding_mode), self, other);
}
/// `x * y` of each pair of elements.
inline Tensor& mul_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_MUL, self, other);
}
/// `floor(x / y)` of each pair of elements.
inline Tensor& floor_divide_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_FLOOR_DIVIDE, self, other);
}
/// `x - y * floor(x / y)` of each pair of elements.
inline Tensor& remainder_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_REMAINDER, self, other);
}
/// `x` to the power of `y` of each pair of elements.
inline Tensor& pow_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_POW, self, other);
}
/// The smaller of each pair of elements; NaN if either is NaN.
inline Tensor& minimum_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_MINIMUM, self, other);
}
/// The larger of each pair of elements; NaN if either is NaN.
inline Tensor& maximum_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_MAXIMUM, self, other);
}
/// Whether `x == y`, of each pair of elements.
inline Tensor& eq_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_EQ, self, other);
}
/// Whether `x != y`, of each pair of elements.
inline Tensor& ne_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_NE, self, other);
}
/// Whether `x < y`, of each pair of elements.
inline Tensor& lt_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LT, self, other);
}
/// Whether `x <= y`, of each pair of elements.
inline Tensor& le_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LE, self, other);
}
/// Whether `x > y`, of each pair of elements.
inline Tensor& gt_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_GT, self, other);
}
/// Whether `x >= y`, of each pair of elements.
inline Tensor& ge_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_GE, self, other);
}
/// `x & y` of each pair of elements.
inline Tensor& bitwise_and_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_BITWISE_AND, self, other);
}
/// `x | y` of each pair of elements.
inline Tensor& bitwise_or_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_BITWISE_OR, self, other);
}
/// `x ^ y` of each pair of elements.
inline Tensor& bitwise_xor_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_BITWISE_XOR, self, other);
}
/// Whether both are nonzero, of each pair of elements.
inline Tensor& logical_and_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LOGICAL_AND, self, other);
}
/// Whether at least one is nonzero, of each pair of elements.
inline Tensor& logical_or_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LOGICAL_OR, self, other);
}
/// Whether exactly one is nonzero, of each pair of elements.
inline Tensor& logical_xor_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LOGICAL_XOR, self, other);
}
/// Elements of `self` where a condition is true, else those of `other`.
inline Tensor& where_out(Tensor& out, const Tensor& condition, const TensorOrScalar& self,
                         const TensorOrScalar& other) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_where_out(condition.get(), self.tensor(), self.number(), other.tensor(),
                                     other.number(), into);
  });
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_BINARY_HPP
