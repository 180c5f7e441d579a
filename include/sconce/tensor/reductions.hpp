/// \file
/// Reductions, softmax, running sums, and comparisons of whole tensors: methods, functions, and
/// functions with an output. `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_REDUCTIONS_HPP
#define SCONCE_TENSOR_REDUCTIONS_HPP

#include <sconce/c/tensor.h>

#include <cstdint>
#include <optional>
#include <sconce/detail/tensor_calls.hpp>

namespace sconce {
inline namespace v0 {
namespace detail {

inline Tensor reduce_of(std::int32_t operation, const TensorBase& self, IntArrayRef dims,
                        bool keepdim, std::optional<ScalarType> dtype = std::nullopt) {
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_reduce(operation, self.get(), dims.empty() ? nullptr : dims.data(),
                                  dims.size(), keepdim, number_of(dtype), out);
  });
}

inline Tensor along_of(std::int32_t operation, const TensorBase& self, std::int64_t dim,
                       std::optional<ScalarType> dtype) {
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_along(operation, self.get(), dim, number_of(dtype), out);
  });
}

inline Tensor& reduce_out(Tensor& out, std::int32_t operation, const TensorBase& self,
                          IntArrayRef dims, bool keepdim,
                          std::optional<ScalarType> dtype = std::nullopt) {
  return write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_reduce_out(operation, self.get(), dims.empty() ? nullptr : dims.data(),
                                      dims.size(), keepdim, number_of(dtype), into);
  });
}

inline Tensor& along_out(Tensor& out, std::int32_t operation, const TensorBase& self,
                         std::int64_t dim, std::optional<ScalarType> dtype) {
  return write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_along_out(operation, self.get(), dim, number_of(dtype), into);
  });
}

}  // namespace detail

inline Tensor Tensor::sum(std::optional<ScalarType> dtype) const {
  return detail::reduce_of(SCONCE_REDUCE_SUM, *this, {}, false, dtype);
}
inline Tensor Tensor::sum(IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const {
  return detail::reduce_of(SCONCE_REDUCE_SUM, *this, dim, keepdim, dtype);
}
inline Tensor Tensor::mean(std::optional<ScalarType> dtype) const {
  return detail::reduce_of(SCONCE_REDUCE_MEAN, *this, {}, false, dtype);
}
inline Tensor Tensor::mean(IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) const {
  return detail::reduce_of(SCONCE_REDUCE_MEAN, *this, dim, keepdim, dtype);
}
inline Tensor Tensor::prod(std::optional<ScalarType> dtype) const {
  return detail::reduce_of(SCONCE_REDUCE_PROD, *this, {}, false, dtype);
}
inline Tensor Tensor::prod(std::int64_t dim, bool keepdim, std::optional<ScalarType> dtype) const {
  return detail::reduce_of(SCONCE_REDUCE_PROD, *this, dim, keepdim, dtype);
}
inline Tensor Tensor::amax(IntArrayRef dim, bool keepdim) const {
  return detail::reduce_of(SCONCE_REDUCE_AMAX, *this, dim, keepdim);
}
inline Tensor Tensor::amin(IntArrayRef dim, bool keepdim) const {
  return detail::reduce_of(SCONCE_REDUCE_AMIN, *this, dim, keepdim);
}
inline Tensor Tensor::max() const { return amax(); }
inline Tensor Tensor::min() const { return amin(); }
inline Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
  return detail::reduce_of(SCONCE_REDUCE_ARGMAX, *this, dim ? IntArrayRef(*dim) : IntArrayRef(),
                           keepdim);
}
inline Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
  return detail::reduce_of(SCONCE_REDUCE_ARGMIN, *this, dim ? IntArrayRef(*dim) : IntArrayRef(),
                           keepdim);
}
inline Tensor Tensor::all() const { return detail::reduce_of(SCONCE_REDUCE_ALL, *this, {}, false); }
inline Tensor Tensor::all(IntArrayRef dim, bool keepdim) const {
  return detail::reduce_of(SCONCE_REDUCE_ALL, *this, dim, keepdim);
}
inline Tensor Tensor::any() const { return detail::reduce_of(SCONCE_REDUCE_ANY, *this, {}, false); }
inline Tensor Tensor::any(IntArrayRef dim, bool keepdim) const {
  return detail::reduce_of(SCONCE_REDUCE_ANY, *this, dim, keepdim);
}
inline Tensor Tensor::softmax(std::int64_t dim, std::optional<ScalarType> dtype) const {
  return detail::along_of(SCONCE_LINE_SOFTMAX, *this, dim, dtype);
}
inline Tensor Tensor::log_softmax(std::int64_t dim, std::optional<ScalarType> dtype) const {
  return detail::along_of(SCONCE_LINE_LOG_SOFTMAX, *this, dim, dtype);
}
inline Tensor Tensor::cumsum(std::int64_t dim, std::optional<ScalarType> dtype) const {
  return detail::along_of(SCONCE_LINE_CUMSUM, *this, dim, dtype);
}
inline Tensor Tensor::cumprod(std::int64_t dim, std::optional<ScalarType> dtype) const {
  return detail::along_of(SCONCE_LINE_CUMPROD, *this, dim, dtype);
}
inline bool Tensor::equal(const TensorBase& other) const {
  bool equal = false;
  detail::check(::sconce_tensor_equal(get(), other.get(), &equal));
  return equal;
}
inline bool Tensor::allclose(const TensorBase& other, double rtol, double atol,
                             bool equal_nan) const {
  bool close = false;
  detail::check(::sconce_tensor_allclose(get(), other.get(), rtol, atol, equal_nan, &close));
  return close;
}

/// \name Reductions, softmax and running sums
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
/// The largest elements over dimensions, or over all without any.
[[nodiscard]] inline Tensor amax(const Tensor& tensor, IntArrayRef dim = {}, bool keepdim = false) {
  return tensor.amax(dim, keepdim);
}
/// The smallest elements over dimensions, or over all without any.
[[nodiscard]] inline Tensor amin(const Tensor& tensor, IntArrayRef dim = {}, bool keepdim = false) {
  return tensor.amin(dim, keepdim);
}
/// The index of the largest element of a dimension, or of all elements.
[[nodiscard]] inline Tensor argmax(const Tensor& tensor,
                                   std::optional<std::int64_t> dim = std::nullopt,
                                   bool keepdim = false) {
  return tensor.argmax(dim, keepdim);
}
/// The index of the smallest element of a dimension, or of all elements.
[[nodiscard]] inline Tensor argmin(const Tensor& tensor,
                                   std::optional<std::int64_t> dim = std::nullopt,
                                   bool keepdim = false) {
  return tensor.argmin(dim, keepdim);
}
/// Whether all elements are nonzero.
[[nodiscard]] inline Tensor all(const Tensor& tensor) { return tensor.all(); }
/// Whether all elements are nonzero, over dimensions.
[[nodiscard]] inline Tensor all(const Tensor& tensor, IntArrayRef dim, bool keepdim = false) {
  return tensor.all(dim, keepdim);
}
/// Whether any element is nonzero.
[[nodiscard]] inline Tensor any(const Tensor& tensor) { return tensor.any(); }
/// Whether any element is nonzero, over dimensions.
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

/// @}

/// \name Comparisons of whole tensors
/// @{

/// Whether both have the same shape and equal elements. Waits for the current stream.
[[nodiscard]] inline bool equal(const Tensor& a, const Tensor& b) { return a.equal(b); }
/// Whether elements differ by at most `atol + rtol * |b|`. Waits for the current stream.
[[nodiscard]] inline bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5,
                                   double atol = 1e-8, bool equal_nan = false) {
  return a.allclose(b, rtol, atol, equal_nan);
}

/// @}

/// \name Reductions, softmax and running sums, into a tensor of the caller
/// Sums, products, means and running sums without a `dtype` are computed in the type of `out`. For
/// the others, `out` must have the type of the result. Otherwise `out` follows the rules of
/// `<sconce/tensor/outputs.hpp>`.
/// @{

/// Sums over dimensions; without any, over all.
inline Tensor& sum_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false,
                       std::optional<ScalarType> dtype = std::nullopt) {
  return detail::reduce_out(out, SCONCE_REDUCE_SUM, self, dim, keepdim, dtype);
}
/// Means over dimensions; without any, over all.
inline Tensor& mean_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false,
                        std::optional<ScalarType> dtype = std::nullopt) {
  return detail::reduce_out(out, SCONCE_REDUCE_MEAN, self, dim, keepdim, dtype);
}
/// Products over a dimension.
inline Tensor& prod_out(Tensor& out, const Tensor& self, std::int64_t dim, bool keepdim = false,
                        std::optional<ScalarType> dtype = std::nullopt) {
  return detail::reduce_out(out, SCONCE_REDUCE_PROD, self, dim, keepdim, dtype);
}
/// The largest elements over dimensions, or over all without any.
inline Tensor& amax_out(Tensor& out, const Tensor& self, IntArrayRef dim = {},
                        bool keepdim = false) {
  return detail::reduce_out(out, SCONCE_REDUCE_AMAX, self, dim, keepdim);
}
/// The smallest elements over dimensions, or over all without any.
inline Tensor& amin_out(Tensor& out, const Tensor& self, IntArrayRef dim = {},
                        bool keepdim = false) {
  return detail::reduce_out(out, SCONCE_REDUCE_AMIN, self, dim, keepdim);
}
/// The index of the largest element of a dimension, or of all elements; `out` has the type kLong.
inline Tensor& argmax_out(Tensor& out, const Tensor& self,
                          std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) {
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return detail::reduce_out(out, SCONCE_REDUCE_ARGMAX, self, dims, keepdim);
}
/// The index of the smallest element of a dimension, or of all elements; `out` has the type kLong.
inline Tensor& argmin_out(Tensor& out, const Tensor& self,
                          std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) {
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return detail::reduce_out(out, SCONCE_REDUCE_ARGMIN, self, dims, keepdim);
}
/// Whether all elements are nonzero, over dimensions or, without any, over all. `out` has the type
/// kBool or kByte.
inline Tensor& all_out(Tensor& out, const Tensor& self, IntArrayRef dim = {},
                       bool keepdim = false) {
  return detail::reduce_out(out, SCONCE_REDUCE_ALL, self, dim, keepdim);
}
/// Whether any element is nonzero, over dimensions or, without any, over all. `out` has the type
/// kBool or kByte.
inline Tensor& any_out(Tensor& out, const Tensor& self, IntArrayRef dim = {},
                       bool keepdim = false) {
  return detail::reduce_out(out, SCONCE_REDUCE_ANY, self, dim, keepdim);
}
/// `exp(x) / sum(exp(x))` along a dimension.
inline Tensor& softmax_out(Tensor& out, const Tensor& self, std::int64_t dim,
                           std::optional<ScalarType> dtype = std::nullopt) {
  return detail::along_out(out, SCONCE_LINE_SOFTMAX, self, dim, dtype);
}
/// The logarithm of `softmax`.
inline Tensor& log_softmax_out(Tensor& out, const Tensor& self, std::int64_t dim,
                               std::optional<ScalarType> dtype = std::nullopt) {
  return detail::along_out(out, SCONCE_LINE_LOG_SOFTMAX, self, dim, dtype);
}
/// Running sums along a dimension.
inline Tensor& cumsum_out(Tensor& out, const Tensor& self, std::int64_t dim,
                          std::optional<ScalarType> dtype = std::nullopt) {
  return detail::along_out(out, SCONCE_LINE_CUMSUM, self, dim, dtype);
}
/// Running products along a dimension.
inline Tensor& cumprod_out(Tensor& out, const Tensor& self, std::int64_t dim,
                           std::optional<ScalarType> dtype = std::nullopt) {
  return detail::along_out(out, SCONCE_LINE_CUMPROD, self, dim, dtype);
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_REDUCTIONS_HPP
