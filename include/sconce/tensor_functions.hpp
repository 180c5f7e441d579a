/// \file
/// Operations on tensors as functions, under torch's names. `log` is a method only: `sconce::log`
/// is the namespace of messages.
#ifndef SCONCE_TENSOR_FUNCTIONS_HPP
#define SCONCE_TENSOR_FUNCTIONS_HPP

#include <cstdint>
#include <optional>
#include <sconce/tensor_body.hpp>
#include <string_view>
#include <tuple>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

inline std::vector<sconce_tensor*> handles_of(const std::vector<Tensor>& tensors) {
  std::vector<sconce_tensor*> handles;
  handles.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    handles.push_back(tensor.get());
  }
  return handles;
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// \name Tensors joined, chosen and compared
/// @{

/// Tensors joined along a dimension: `cat({a, b})`.
[[nodiscard]] inline Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
  const std::vector<sconce_tensor*> handles = detail::handles_of(tensors);
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_cat(handles.data(), handles.size(), dim, out);
  });
}
/// Tensors of one shape joined along a new dimension.
[[nodiscard]] inline Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
  const std::vector<sconce_tensor*> handles = detail::handles_of(tensors);
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_stack(handles.data(), handles.size(), dim, out);
  });
}
/// Elements of `self` where a condition is true, else those of `other`.
[[nodiscard]] inline Tensor where(const TensorBase& condition, const TensorOrScalar& self,
                                  const TensorOrScalar& other) {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_where(condition.get(), self.tensor(), self.number(), other.tensor(),
                                 other.number(), out);
  });
}
/// Whether both have the same shape and equal elements. Waits for the device.
[[nodiscard]] inline bool equal(const Tensor& a, const Tensor& b) { return a.equal(b); }
/// Whether elements differ by at most `atol + rtol * |b|`. Waits for the device.
[[nodiscard]] inline bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5,
                                   double atol = 1e-8, bool equal_nan = false) {
  return a.allclose(b, rtol, atol, equal_nan);
}

/// @}
/// \name Operations on each element
/// @{

/// `-x` of each element.
[[nodiscard]] inline Tensor neg(const Tensor& tensor) { return tensor.neg(); }
/// The absolute value of each element; of complex numbers the real magnitude.
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
/// The greatest integer not above each element.
[[nodiscard]] inline Tensor floor(const Tensor& tensor) { return tensor.floor(); }
/// The least integer not below each element.
[[nodiscard]] inline Tensor ceil(const Tensor& tensor) { return tensor.ceil(); }
/// The nearest integer of each element, of two the even one.
[[nodiscard]] inline Tensor round(const Tensor& tensor) { return tensor.round(); }
/// Each element without its fraction.
[[nodiscard]] inline Tensor trunc(const Tensor& tensor) { return tensor.trunc(); }
/// Whether each element is 0.
[[nodiscard]] inline Tensor logical_not(const Tensor& tensor) { return tensor.logical_not(); }
/// The complement of each element's bits.
[[nodiscard]] inline Tensor bitwise_not(const Tensor& tensor) { return tensor.bitwise_not(); }
/// Whether each element is not a number.
[[nodiscard]] inline Tensor isnan(const Tensor& tensor) { return tensor.isnan(); }
/// Whether each element is neither infinite nor NaN.
[[nodiscard]] inline Tensor isfinite(const Tensor& tensor) { return tensor.isfinite(); }
/// `x + alpha * y` of each pair of elements.
[[nodiscard]] inline Tensor add(const Tensor& tensor, const TensorOrScalar& other,
                                const Scalar& alpha = 1) {
  return tensor.add(other, alpha);
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
/// `x / y` of each pair of elements; of integers a real number.
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
/// The bits that are set in both, of each pair of elements.
[[nodiscard]] inline Tensor bitwise_and(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.bitwise_and(other);
}
/// The bits that are set in one or both, of each pair of elements.
[[nodiscard]] inline Tensor bitwise_or(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.bitwise_or(other);
}
/// The bits that are set in one only, of each pair of elements.
[[nodiscard]] inline Tensor bitwise_xor(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.bitwise_xor(other);
}
/// Whether neither is 0, of each pair of elements.
[[nodiscard]] inline Tensor logical_and(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.logical_and(other);
}
/// Whether one or both are not 0, of each pair of elements.
[[nodiscard]] inline Tensor logical_or(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.logical_or(other);
}
/// Whether one alone is not 0, of each pair of elements.
[[nodiscard]] inline Tensor logical_xor(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.logical_xor(other);
}
/// The lesser of each pair of elements; NaN if one is.
[[nodiscard]] inline Tensor minimum(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.minimum(other);
}
/// The greater of each pair of elements; NaN if one is.
[[nodiscard]] inline Tensor maximum(const Tensor& tensor, const TensorOrScalar& other) {
  return tensor.maximum(other);
}
/// `x` to the power of `y` of each element `y`.
[[nodiscard]] inline Tensor pow(const Scalar& base, const Tensor& exponent) {
  return detail::binary_of(SCONCE_BINARY_POW, base, exponent);
}
/// Each element moved into bounds.
[[nodiscard]] inline Tensor clamp(const Tensor& tensor,
                                  const std::optional<TensorOrScalar>& min = std::nullopt,
                                  const std::optional<TensorOrScalar>& max = std::nullopt) {
  return tensor.clamp(min, max);
}
/// `x / y` of each pair of elements, rounded as `trunc` or `floor` says.
[[nodiscard]] inline Tensor div(const Tensor& tensor, const TensorOrScalar& other,
                                std::string_view rounding_mode) {
  return tensor.div(other, rounding_mode);
}
/// Gaussian error linear units of each element.
[[nodiscard]] inline Tensor gelu(const Tensor& tensor, std::string_view approximate = "none") {
  return tensor.gelu(approximate);
}

/// @}
/// \name Reductions, and what runs along a dimension
/// @{

/// The sum of all elements.
[[nodiscard]] inline Tensor sum(const Tensor& tensor,
                                std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.sum(dtype);
}
/// Sums over dimensions.
[[nodiscard]] inline Tensor sum(const Tensor& tensor, IntArrayRef dim, bool keepdim = false,
                                std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.sum(dim, keepdim, dtype);
}
/// The mean of all elements.
[[nodiscard]] inline Tensor mean(const Tensor& tensor,
                                 std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.mean(dtype);
}
/// Means over dimensions.
[[nodiscard]] inline Tensor mean(const Tensor& tensor, IntArrayRef dim, bool keepdim = false,
                                 std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.mean(dim, keepdim, dtype);
}
/// The product of all elements.
[[nodiscard]] inline Tensor prod(const Tensor& tensor,
                                 std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.prod(dtype);
}
/// Products over a dimension.
[[nodiscard]] inline Tensor prod(const Tensor& tensor, std::int64_t dim, bool keepdim = false,
                                 std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.prod(dim, keepdim, dtype);
}
/// The greatest elements over dimensions; without any, over all.
[[nodiscard]] inline Tensor amax(const Tensor& tensor, IntArrayRef dim = {}, bool keepdim = false) {
  return tensor.amax(dim, keepdim);
}
/// The least elements over dimensions; without any, over all.
[[nodiscard]] inline Tensor amin(const Tensor& tensor, IntArrayRef dim = {}, bool keepdim = false) {
  return tensor.amin(dim, keepdim);
}
/// The index of the greatest element of a dimension, or of all elements.
[[nodiscard]] inline Tensor argmax(const Tensor& tensor,
                                   std::optional<std::int64_t> dim = std::nullopt,
                                   bool keepdim = false) {
  return tensor.argmax(dim, keepdim);
}
/// The index of the least element of a dimension, or of all elements.
[[nodiscard]] inline Tensor argmin(const Tensor& tensor,
                                   std::optional<std::int64_t> dim = std::nullopt,
                                   bool keepdim = false) {
  return tensor.argmin(dim, keepdim);
}
/// Whether no element is 0.
[[nodiscard]] inline Tensor all(const Tensor& tensor) { return tensor.all(); }
/// Whether no element is 0, over dimensions.
[[nodiscard]] inline Tensor all(const Tensor& tensor, IntArrayRef dim, bool keepdim = false) {
  return tensor.all(dim, keepdim);
}
/// Whether an element is not 0.
[[nodiscard]] inline Tensor any(const Tensor& tensor) { return tensor.any(); }
/// Whether an element is not 0, over dimensions.
[[nodiscard]] inline Tensor any(const Tensor& tensor, IntArrayRef dim, bool keepdim = false) {
  return tensor.any(dim, keepdim);
}
/// `exp(x) / sum(exp(x))` along a dimension.
[[nodiscard]] inline Tensor softmax(const Tensor& tensor, std::int64_t dim,
                                    std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.softmax(dim, dtype);
}
/// The logarithm of `softmax`.
[[nodiscard]] inline Tensor log_softmax(const Tensor& tensor, std::int64_t dim,
                                        std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.log_softmax(dim, dtype);
}
/// Running sums along a dimension.
[[nodiscard]] inline Tensor cumsum(const Tensor& tensor, std::int64_t dim,
                                   std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.cumsum(dim, dtype);
}
/// Running products along a dimension.
[[nodiscard]] inline Tensor cumprod(const Tensor& tensor, std::int64_t dim,
                                    std::optional<ScalarType> dtype = std::nullopt) {
  return tensor.cumprod(dim, dtype);
}
/// The elements sorted along a dimension, and where each was.
[[nodiscard]] inline std::tuple<Tensor, Tensor> sort(const Tensor& tensor, std::int64_t dim = -1,
                                                     bool descending = false) {
  return tensor.sort(dim, descending);
}
/// The elements at the indices that a vector of integers lists.
[[nodiscard]] inline Tensor index_select(const Tensor& tensor, std::int64_t dim,
                                         const Tensor& index) {
  return tensor.index_select(dim, index);
}

/// @}
/// \name Products
/// @{

/// The product of vectors, matrices or batches of matrices.
[[nodiscard]] inline Tensor matmul(const Tensor& a, const Tensor& b) { return a.matmul(b); }
/// The product of two matrices.
[[nodiscard]] inline Tensor mm(const Tensor& a, const Tensor& b) { return a.mm(b); }
/// The products of two batches of matrices.
[[nodiscard]] inline Tensor bmm(const Tensor& a, const Tensor& b) { return a.bmm(b); }
/// `beta * self + alpha * (mat1 @ mat2)`.
[[nodiscard]] inline Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                  const Scalar& beta = 1, const Scalar& alpha = 1) {
  return self.addmm(mat1, mat2, beta, alpha);
}

/// @}
/// \name Views
/// @{

/// The elements with other sizes: a view where possible, else a copy.
[[nodiscard]] inline Tensor reshape(const Tensor& tensor, IntArrayRef shape) {
  return tensor.reshape(shape);
}
/// The memory with sizes, strides and offset of the caller's choice.
[[nodiscard]] inline Tensor as_strided(const Tensor& tensor, IntArrayRef size, IntArrayRef stride,
                                       std::optional<std::int64_t> storage_offset = std::nullopt) {
  return tensor.as_strided(size, stride, storage_offset);
}
/// `length` indices of a dimension from `start` on.
[[nodiscard]] inline Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start,
                                   std::int64_t length) {
  return tensor.narrow(dim, start, length);
}
/// One index of a dimension, which goes.
[[nodiscard]] inline Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index) {
  return tensor.select(dim, index);
}
/// Two dimensions exchanged.
[[nodiscard]] inline Tensor transpose(const Tensor& tensor, std::int64_t dim0, std::int64_t dim1) {
  return tensor.transpose(dim0, dim1);
}
/// A matrix transposed.
[[nodiscard]] inline Tensor t(const Tensor& tensor) { return tensor.t(); }
/// The dimensions in another order.
[[nodiscard]] inline Tensor permute(const Tensor& tensor, IntArrayRef dims) {
  return tensor.permute(dims);
}
/// Without the dimensions of one element.
[[nodiscard]] inline Tensor squeeze(const Tensor& tensor) { return tensor.squeeze(); }
/// Without those of the given dimensions that have one element.
[[nodiscard]] inline Tensor squeeze(const Tensor& tensor, IntArrayRef dims) {
  return tensor.squeeze(dims);
}
/// With one more dimension, of one element.
[[nodiscard]] inline Tensor unsqueeze(const Tensor& tensor, std::int64_t dim) {
  return tensor.unsqueeze(dim);
}
/// Dimensions joined to one: a view where possible, else a copy.
[[nodiscard]] inline Tensor flatten(const Tensor& tensor, std::int64_t start_dim = 0,
                                    std::int64_t end_dim = -1) {
  return tensor.flatten(start_dim, end_dim);
}
/// The diagonal of two dimensions, as the last dimension.
[[nodiscard]] inline Tensor diagonal(const Tensor& tensor, std::int64_t offset = 0,
                                     std::int64_t dim1 = 0, std::int64_t dim2 = 1) {
  return tensor.diagonal(offset, dim1, dim2);
}
/// At most `chunks` parts of a dimension, of equal size.
[[nodiscard]] inline std::vector<Tensor> chunk(const Tensor& tensor, std::int64_t chunks,
                                               std::int64_t dim = 0) {
  return tensor.chunk(chunks, dim);
}
/// Parts of a dimension of `split_size` indices each.
[[nodiscard]] inline std::vector<Tensor> split(const Tensor& tensor, std::int64_t split_size,
                                               std::int64_t dim = 0) {
  return tensor.split(split_size, dim);
}
/// A view for each index of a dimension, which goes.
[[nodiscard]] inline std::vector<Tensor> unbind(const Tensor& tensor, std::int64_t dim = 0) {
  return tensor.unbind(dim);
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_FUNCTIONS_HPP
