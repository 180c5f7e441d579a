/// \file
/// Operations whose results go to tensors of the caller's choice, under ATen's names:
/// `add_out(out, a, b)`. `<sconce/tensor.hpp>` has all of tensors.
#ifndef SCONCE_TENSOR_OUTPUTS_HPP
#define SCONCE_TENSOR_OUTPUTS_HPP

#include <cstdint>
#include <optional>
#include <sconce/tensor_body.hpp>
#include <sconce/tensor_factories.hpp>
#include <sconce/tensor_fft.hpp>
#include <sconce/tensor_functions.hpp>
#include <string_view>
#include <tuple>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The handle of an output: that of an undefined tensor is made now.
inline sconce_tensor* output_of(Tensor& out) {
  if (out.get() == nullptr) {
    out = tensor_of([](sconce_tensor** made) { return ::sconce_tensor_undefined(made); });
  }
  return out.get();
}

/// Calls a function with the handle of an output, and returns the output.
template <class Call>
Tensor& write_to(Tensor& out, Call&& call) {
  check(call(output_of(out)));
  return out;
}

inline Tensor& unary_out(Tensor& out, std::int32_t operation, const TensorBase& self) {
  return write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_unary(operation, self.get(), into, nullptr);
  });
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

inline Tensor& fft_out_of(Tensor& out, const TensorBase& self, std::int32_t kind,
                          std::int32_t direction, std::int32_t norm, std::int64_t dim,
                          std::int64_t length = -1) {
  return write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_fft_out(self.get(), kind, direction, norm, &dim, 1, length, into);
  });
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// \name Operations on each element, into a tensor of the caller's
/// `out` keeps its memory and strides if it has the result's shape. Otherwise it is resized, with a
/// warning if it has elements; an undefined one becomes a new tensor. It may be an operand, which
/// is not resized. The result is converted to its type. Each function returns `out`, and
/// corresponds to `at::` with the same name, and to `torch.` with `out=`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the result cannot be converted to the type of
/// `out`, if `out` shares a part of its memory with an operand, or has several elements in one
/// place; `SCONCE_ERROR_CROSS_DEVICE` if it is on another device
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
/// The greatest integer not above each element.
inline Tensor& floor_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_FLOOR, self);
}
/// The least integer not below each element.
inline Tensor& ceil_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_CEIL, self);
}
/// The nearest integer of each element, of two the even one.
inline Tensor& round_out(Tensor& out, const Tensor& self) {
  return detail::unary_out(out, SCONCE_UNARY_ROUND, self);
}
/// Each element without its fraction.
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
/// `x / y` of each pair of elements; of integers a real number.
inline Tensor& div_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_DIV, self, other);
}
/// `x / y` of each pair of elements, rounded as "trunc" or "floor" says.
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
/// The lesser of each pair of elements; NaN if one is.
inline Tensor& minimum_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_MINIMUM, self, other);
}
/// The greater of each pair of elements; NaN if one is.
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
/// The bits that are set in both, of each pair of elements.
inline Tensor& bitwise_and_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_BITWISE_AND, self, other);
}
/// The bits that are set in one or both, of each pair of elements.
inline Tensor& bitwise_or_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_BITWISE_OR, self, other);
}
/// The bits that are set in one only, of each pair of elements.
inline Tensor& bitwise_xor_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_BITWISE_XOR, self, other);
}
/// Whether neither is 0, of each pair of elements.
inline Tensor& logical_and_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LOGICAL_AND, self, other);
}
/// Whether one or both are not 0, of each pair of elements.
inline Tensor& logical_or_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LOGICAL_OR, self, other);
}
/// Whether one alone is not 0, of each pair of elements.
inline Tensor& logical_xor_out(Tensor& out, const Tensor& self, const TensorOrScalar& other) {
  return detail::binary_out(out, SCONCE_BINARY_LOGICAL_XOR, self, other);
}
/// Each element moved into bounds.
inline Tensor& clamp_out(Tensor& out, const Tensor& self,
                         const std::optional<TensorOrScalar>& min = std::nullopt,
                         const std::optional<TensorOrScalar>& max = std::nullopt) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_clamp_out(self.get(), min ? min->tensor() : nullptr,
                                     min ? min->number() : nullptr, max ? max->tensor() : nullptr,
                                     max ? max->number() : nullptr, into);
  });
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
/// \name Reductions, and what runs along a dimension, into a tensor of the caller's
/// Sums, products, means and running sums without a `dtype` are calculated in the type of `out`;
/// the others need `out` to have the result's type. Otherwise as `add_out`.
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
/// The greatest elements over dimensions; without any, over all.
inline Tensor& amax_out(Tensor& out, const Tensor& self, IntArrayRef dim = {},
                        bool keepdim = false) {
  return detail::reduce_out(out, SCONCE_REDUCE_AMAX, self, dim, keepdim);
}
/// The least elements over dimensions; without any, over all.
inline Tensor& amin_out(Tensor& out, const Tensor& self, IntArrayRef dim = {},
                        bool keepdim = false) {
  return detail::reduce_out(out, SCONCE_REDUCE_AMIN, self, dim, keepdim);
}
/// The index of the greatest element of a dimension, or of all elements; `out` is of kLong.
inline Tensor& argmax_out(Tensor& out, const Tensor& self,
                          std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) {
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return detail::reduce_out(out, SCONCE_REDUCE_ARGMAX, self, dims, keepdim);
}
/// The index of the least element of a dimension, or of all elements; `out` is of kLong.
inline Tensor& argmin_out(Tensor& out, const Tensor& self,
                          std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false) {
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return detail::reduce_out(out, SCONCE_REDUCE_ARGMIN, self, dims, keepdim);
}
/// Whether no element is 0, over dimensions; without any, over all. `out` is of kBool or kByte.
inline Tensor& all_out(Tensor& out, const Tensor& self, IntArrayRef dim = {},
                       bool keepdim = false) {
  return detail::reduce_out(out, SCONCE_REDUCE_ALL, self, dim, keepdim);
}
/// Whether an element is not 0, over dimensions; without any, over all. `out` is of kBool or kByte.
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
/// The elements sorted along a dimension, and where each was, in `indices` of kLong. Equal elements
/// keep their order.
inline std::tuple<Tensor&, Tensor&> sort_out(Tensor& values, Tensor& indices, const Tensor& self,
                                             std::int64_t dim = -1, bool descending = false) {
  detail::check(::sconce_tensor_sort_out(self.get(), dim, descending, detail::output_of(values),
                                         detail::output_of(indices)));
  return {values, indices};
}

/// @}
/// \name Tensors joined and selected, into a tensor of the caller's
/// `out` shares no memory with the operands. Otherwise as `add_out`.
/// @{

/// Tensors joined along a dimension.
inline Tensor& cat_out(Tensor& out, const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
  const std::vector<sconce_tensor*> handles = detail::handles_of(tensors);
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_cat_out(handles.data(), handles.size(), dim, into);
  });
}
/// Tensors of one shape joined along a new dimension.
inline Tensor& stack_out(Tensor& out, const std::vector<Tensor>& tensors, std::int64_t dim = 0) {
  const std::vector<sconce_tensor*> handles = detail::handles_of(tensors);
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_stack_out(handles.data(), handles.size(), dim, into);
  });
}
/// The elements at the indices that a vector of integers lists; `out` is of the type of `self`.
inline Tensor& index_select_out(Tensor& out, const Tensor& self, std::int64_t dim,
                                const Tensor& index) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_index_select_out(self.get(), dim, index.get(), into);
  });
}

/// @}
/// \name Products, into a tensor of the caller's
/// `out` is of the type of the factors. Otherwise as `add_out`.
/// @{

/// The product of vectors, matrices or batches of matrices.
inline Tensor& matmul_out(Tensor& out, const Tensor& a, const Tensor& b) {
  return detail::write_to(
      out, [&](sconce_tensor* into) { return ::sconce_tensor_matmul_out(a.get(), b.get(), into); });
}
/// The product of two matrices.
inline Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  detail::check_matrices(self, mat2);
  return matmul_out(out, self, mat2);
}
/// The products of two batches of matrices.
inline Tensor& bmm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_bmm_out(self.get(), mat2.get(), into);
  });
}
/// `beta * self + alpha * (mat1 @ mat2)`.
inline Tensor& addmm_out(Tensor& out, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                         const Scalar& beta = 1, const Scalar& alpha = 1) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_addmm_out(self.get(), mat1.get(), mat2.get(), beta.toDouble(),
                                     alpha.toDouble(), into);
  });
}

/// @}
/// \name Fourier transforms, into a tensor of the caller's
/// `out` is complex, that of `fft_irfft_out` real; the result is converted to its precision.
/// Otherwise as `fft_fft` and `add_out`.
/// @{

/// The transform of real or complex numbers to complex ones.
inline Tensor& fft_fft_out(Tensor& out, const Tensor& self, std::optional<std::int64_t> n = {},
                           std::int64_t dim = -1, std::optional<std::string_view> norm = {}) {
  return detail::fft_out_of(out, n ? detail::resized_for_fft(self, *n, dim) : self, SCONCE_FFT_C2C,
                            SCONCE_FFT_FORWARD, detail::fft_norm_of(norm, SCONCE_FFT_FORWARD), dim);
}
/// The inverse transform to complex numbers.
inline Tensor& fft_ifft_out(Tensor& out, const Tensor& self, std::optional<std::int64_t> n = {},
                            std::int64_t dim = -1, std::optional<std::string_view> norm = {}) {
  return detail::fft_out_of(out, n ? detail::resized_for_fft(self, *n, dim) : self, SCONCE_FFT_C2C,
                            SCONCE_FFT_INVERSE, detail::fft_norm_of(norm, SCONCE_FFT_INVERSE), dim);
}
/// The first `n / 2 + 1` results of the transform of real numbers.
inline Tensor& fft_rfft_out(Tensor& out, const Tensor& self, std::optional<std::int64_t> n = {},
                            std::int64_t dim = -1, std::optional<std::string_view> norm = {}) {
  return detail::fft_out_of(out, n ? detail::resized_for_fft(self, *n, dim) : self, SCONCE_FFT_R2C,
                            SCONCE_FFT_FORWARD, detail::fft_norm_of(norm, SCONCE_FFT_FORWARD), dim);
}
/// The inverse of `fft_rfft`.
inline Tensor& fft_irfft_out(Tensor& out, const Tensor& self, std::optional<std::int64_t> n = {},
                             std::int64_t dim = -1, std::optional<std::string_view> norm = {}) {
  const std::int64_t length = n.value_or(2 * (self.size(dim) - 1));
  const std::int64_t frequencies = length < 1 ? length : length / 2 + 1;
  return detail::fft_out_of(out, detail::resized_for_fft(self, frequencies, dim), SCONCE_FFT_C2R,
                            SCONCE_FFT_INVERSE, detail::fft_norm_of(norm, SCONCE_FFT_INVERSE), dim,
                            length);
}

/// @}
/// \name Values in a tensor of the caller's
/// `out` has the type of the values. `arange_out`, `linspace_out` and `randperm_out` keep the shape
/// of an `out` with as many elements; the others resize it without a warning. An undefined `out`
/// becomes a tensor of the current device.
/// @{

/// Any values, of the given size.
inline Tensor& empty_out(Tensor& out, IntArrayRef size) {
  if (!out.defined()) {
    return out = empty(size);
  }
  out.resize_(size);
  return out;
}
/// One value.
inline Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& fill_value) {
  empty_out(out, size).fill_(fill_value);
  return out;
}
/// Zeros.
inline Tensor& zeros_out(Tensor& out, IntArrayRef size) { return full_out(out, size, 0); }
/// Ones.
inline Tensor& ones_out(Tensor& out, IntArrayRef size) { return full_out(out, size, 1); }
/// Numbers from `start` up to, but without `end`, each `step` further.
inline Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end,
                          const Scalar& step = 1) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_arange_out(start.get(), end.get(), step.get(), into);
  });
}
/// The numbers from 0 up to, but without `end`.
inline Tensor& arange_out(Tensor& out, const Scalar& end) { return arange_out(out, 0, end); }
/// `steps` numbers at equal distances from `start` to `end`, both included.
inline Tensor& linspace_out(Tensor& out, const Scalar& start, const Scalar& end,
                            std::int64_t steps) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_linspace_out(start.get(), end.get(), steps, into);
  });
}
/// A matrix with ones on the main diagonal, and zeros elsewhere.
inline Tensor& eye_out(Tensor& out, std::int64_t n, std::int64_t m) {
  return detail::write_to(out,
                          [&](sconce_tensor* into) { return ::sconce_tensor_eye_out(n, m, into); });
}
/// A square matrix with ones on the main diagonal, and zeros elsewhere.
inline Tensor& eye_out(Tensor& out, std::int64_t n) { return eye_out(out, n, n); }
/// Random numbers from 0 to 1, excluding 1.
inline Tensor& rand_out(Tensor& out, IntArrayRef size,
                        const cuda::OptionalGenerator& generator = std::nullopt) {
  empty_out(out, size).uniform_(0, 1, generator);
  return out;
}
/// Normally distributed random numbers.
inline Tensor& randn_out(Tensor& out, IntArrayRef size,
                         const cuda::OptionalGenerator& generator = std::nullopt) {
  empty_out(out, size).normal_(0, 1, generator);
  return out;
}
/// Random whole numbers from `low` to `high`, excluding `high`.
inline Tensor& randint_out(Tensor& out, std::int64_t low, std::int64_t high, IntArrayRef size,
                           const cuda::OptionalGenerator& generator = std::nullopt) {
  empty_out(out, size).random_(low, high, generator);
  return out;
}
/// Random whole numbers from 0 to `high`, excluding `high`.
inline Tensor& randint_out(Tensor& out, std::int64_t high, IntArrayRef size,
                           const cuda::OptionalGenerator& generator = std::nullopt) {
  return randint_out(out, 0, high, size, generator);
}
/// The numbers from 0 to `n - 1` in a random order.
inline Tensor& randperm_out(Tensor& out, std::int64_t n,
                            const cuda::OptionalGenerator& generator = std::nullopt) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_randperm_out(n, detail::handle(generator), into);
  });
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_OUTPUTS_HPP
