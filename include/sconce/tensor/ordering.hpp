/// \file
/// Tensors sorted, selected by index and joined: methods, functions, and functions with an output.
/// `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_ORDERING_HPP
#define SCONCE_TENSOR_ORDERING_HPP

#include <sconce/c/tensor.h>

#include <cstdint>
#include <sconce/detail/tensor_calls.hpp>
#include <tuple>
#include <vector>

namespace sconce {
inline namespace v0 {

inline std::tuple<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const {
  sconce_tensor* values = nullptr;
  sconce_tensor* indices = nullptr;
  detail::check(::sconce_tensor_sort(get(), dim, descending, &values, &indices));
  return {adopt(values), adopt(indices)};
}
inline std::tuple<Tensor, Tensor> Tensor::sort(std::optional<bool>, std::int64_t dim,
                                               bool descending) const {
  return sort(dim, descending);
}
inline Tensor Tensor::index_select(std::int64_t dim, const TensorBase& index) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_index_select(get(), dim, index.get(), out);
  });
}

inline Tensor Tensor::nonzero() const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_nonzero(get(), out); });
}

/// \name Tensors sorted, selected and joined
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
/// The elements sorted along a dimension, and the original index of each.
[[nodiscard]] inline std::tuple<Tensor, Tensor> sort(const Tensor& tensor, std::int64_t dim = -1,
                                                     bool descending = false) {
  return tensor.sort(dim, descending);
}
/// The elements at the indices that a vector of integers lists.
[[nodiscard]] inline Tensor index_select(const Tensor& tensor, std::int64_t dim,
                                         const Tensor& index) {
  return tensor.index_select(dim, index);
}
/// A row of indices for each element that is not 0. Waits for the current stream.
[[nodiscard]] inline Tensor nonzero(const Tensor& tensor) { return tensor.nonzero(); }

/// @}

/// \name Tensors sorted, selected and joined, into tensors of the caller
/// Joined and selected elements share no memory with the operands. Otherwise `out` follows the
/// rules of `<sconce/tensor/outputs.hpp>`.
/// @{

/// The elements sorted along a dimension, and the original index of each, in `indices` of the type
/// kLong. Equal elements keep their order.
inline std::tuple<Tensor&, Tensor&> sort_out(Tensor& values, Tensor& indices, const Tensor& self,
                                             std::int64_t dim = -1, bool descending = false) {
  detail::check(::sconce_tensor_sort_out(self.get(), dim, descending, detail::output_of(values),
                                         detail::output_of(indices)));
  return {values, indices};
}
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
/// The elements at the indices that a vector of integers lists; `out` has the type of `self`.
inline Tensor& index_select_out(Tensor& out, const Tensor& self, std::int64_t dim,
                                const Tensor& index) {
  return detail::write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_index_select_out(self.get(), dim, index.get(), into);
  });
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_ORDERING_HPP
