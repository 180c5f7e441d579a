/// \file
/// Products of matrices and vectors: methods, functions, and functions with an output.
/// `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_PRODUCTS_HPP
#define SCONCE_TENSOR_PRODUCTS_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <sconce/detail/tensor_calls.hpp>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Refuses factors that are not matrices.
inline void check_matrices(const TensorBase& self, const TensorBase& mat2) {
  if (self.dim() != 2 || mat2.dim() != 2) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                self.dim() != 2 ? "self must be a matrix" : "mat2 must be a matrix");
  }
}

}  // namespace detail

inline Tensor Tensor::matmul(const TensorBase& other) const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_matmul(get(), other.get(), out); });
}
inline Tensor Tensor::mm(const TensorBase& mat2) const {
  detail::check_matrices(*this, mat2);
  return matmul(mat2);
}
inline Tensor Tensor::bmm(const TensorBase& mat2) const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_bmm(get(), mat2.get(), out); });
}
inline Tensor Tensor::addmm(const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta,
                            const Scalar& alpha) const {
  const double first = beta.toDouble();
  const double second = alpha.toDouble();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_addmm(get(), mat1.get(), mat2.get(), first, second, out);
  });
}

inline const Tensor& Tensor::addmm_(const TensorBase& mat1, const TensorBase& mat2,
                                    const Scalar& beta, const Scalar& alpha) const {
  return copy_(addmm(mat1, mat2, beta, alpha));
}

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

/// \name Products, into a tensor of the caller
/// `out` has the type of the factors. Otherwise it follows the rules of
/// `<sconce/tensor/outputs.hpp>`.
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

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_PRODUCTS_HPP
