/// \file
/// Views, which share the memory of their tensor: methods and functions.
/// `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_VIEWS_HPP
#define SCONCE_TENSOR_VIEWS_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sconce/detail/tensor_calls.hpp>
#include <string>
#include <vector>

namespace sconce {
inline namespace v0 {

inline Tensor Tensor::operator[](std::int64_t index) const { return select(0, index); }
inline Tensor Tensor::operator[](const Scalar& index) const {
  if (!index.isIntegral(false)) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "Can only index tensors with integral scalars");
  }
  return select(0, index.toLong());
}
inline Tensor Tensor::operator[](const TensorBase& index) const {
  if (index.dim() != 0) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "Can only index with tensors that are scalars (zero-dim); index_select takes more");
  }
  return (*this)[Tensor(index).item()];
}
inline Tensor Tensor::view(IntArrayRef size) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_view(get(), size.data(), size.size(), out);
  });
}
inline Tensor Tensor::view_as(const TensorBase& other) const { return view(other.sizes()); }
inline Tensor Tensor::reshape(IntArrayRef shape) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_reshape(get(), shape.data(), shape.size(), out);
  });
}
inline Tensor Tensor::as_strided(IntArrayRef size, IntArrayRef stride,
                                 std::optional<std::int64_t> storage_offset) const {
  if (size.size() != stride.size()) {
    detail::throw_other_rank(size.size(), stride.size());
  }
  // The C API takes -1 for the tensor's own offset; here that is no offset.
  if (storage_offset.value_or(0) < 0) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "Tensor: invalid storage offset " +
                                                   std::to_string(*storage_offset) +
                                                   "; it must be at least 0");
  }
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_as_strided(get(), size.data(), stride.data(), size.size(),
                                      storage_offset.value_or(-1), out);
  });
}
inline Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_narrow(get(), dim, start, length, out); });
}
inline Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start,
                            std::optional<std::int64_t> end, std::int64_t step) const {
  const std::int64_t all = std::numeric_limits<std::int64_t>::max();
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_slice(get(), dim, start.value_or(0), end.value_or(all), step, out);
  });
}
inline Tensor Tensor::select(std::int64_t dim, std::int64_t index) const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_select(get(), dim, index, out); });
}
inline Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_transpose(get(), dim0, dim1, out); });
}
inline Tensor Tensor::t() const {
  const std::int64_t rank = dim();
  if (rank > 2) {
    throw Error(
        SCONCE_ERROR_INVALID_ARGUMENT,
        "t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(rank) + "D");
  }
  return transpose(0, rank < 2 ? 0 : 1);
}
inline Tensor Tensor::permute(IntArrayRef dims) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_permute(get(), dims.data(), dims.size(), out);
  });
}
inline Tensor Tensor::expand(IntArrayRef size) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_expand(get(), size.data(), size.size(), out);
  });
}
inline Tensor Tensor::expand_as(const TensorBase& other) const { return expand(other.sizes()); }
inline Tensor Tensor::squeeze() const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_squeeze(get(), nullptr, 0, out); });
}
inline Tensor Tensor::squeeze(IntArrayRef dims) const {
  const std::int64_t none = 0;
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_squeeze(get(), dims.empty() ? &none : dims.data(), dims.size(), out);
  });
}
inline Tensor Tensor::unsqueeze(std::int64_t dim) const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_unsqueeze(get(), dim, out); });
}
inline const Tensor& Tensor::unsqueeze_(std::int64_t dim) const {
  detail::check(::sconce_tensor_assign(get(), unsqueeze(dim).get()));
  return *this;
}
inline const Tensor& Tensor::squeeze_() const {
  detail::check(::sconce_tensor_assign(get(), squeeze().get()));
  return *this;
}
inline const Tensor& Tensor::transpose_(std::int64_t dim0, std::int64_t dim1) const {
  detail::check(::sconce_tensor_assign(get(), transpose(dim0, dim1).get()));
  return *this;
}
inline const Tensor& Tensor::t_() const {
  detail::check(::sconce_tensor_assign(get(), t().get()));
  return *this;
}
inline Tensor Tensor::detach() const {
  const Tensor& self = *this;
  return as_strided(self.sizes(), self.strides(), storage_offset());
}
inline Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
  return detail::tensor_of(
      [&](sconce_tensor** out) { return ::sconce_tensor_flatten(get(), start_dim, end_dim, out); });
}
inline Tensor Tensor::unflatten(std::int64_t dim, IntArrayRef sizes) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_unflatten(get(), dim, sizes.data(), sizes.size(), out);
  });
}
inline Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
  return detail::tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_diagonal(get(), offset, dim1, dim2, out);
  });
}
inline std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t dim) const {
  // A dimension without elements has as many empty parts as were requested.
  const std::int64_t all = size(dim);
  const std::int64_t most = all == 0 ? std::max<std::int64_t>(chunks, 1) : all;
  const auto capacity = static_cast<std::size_t>(std::clamp<std::int64_t>(chunks, 1, most));
  return detail::tensors_of(capacity, [&](sconce_tensor** out, std::size_t* count) {
    return ::sconce_tensor_chunk(get(), chunks, dim, out, capacity, count);
  });
}
inline std::vector<Tensor> Tensor::split(std::int64_t split_size, std::int64_t dim) const {
  const std::int64_t all = size(dim);
  const std::int64_t parts = split_size > 0 ? all / split_size + (all % split_size != 0) : 1;
  const auto capacity = static_cast<std::size_t>(std::max<std::int64_t>(parts, 1));
  return detail::tensors_of(capacity, [&](sconce_tensor** out, std::size_t* count) {
    return ::sconce_tensor_split(get(), split_size, dim, out, capacity, count);
  });
}
inline std::vector<Tensor> Tensor::split(IntArrayRef split_sizes, std::int64_t dim) const {
  return split_with_sizes(split_sizes, dim);
}
inline std::vector<Tensor> Tensor::split_with_sizes(IntArrayRef split_sizes,
                                                    std::int64_t dim) const {
  const std::size_t capacity = split_sizes.size();
  return detail::tensors_of(capacity, [&](sconce_tensor** out, std::size_t* count) {
    return ::sconce_tensor_split_with_sizes(get(), split_sizes.data(), split_sizes.size(), dim, out,
                                            capacity, count);
  });
}
inline std::vector<Tensor> Tensor::unbind(std::int64_t dim) const {
  const auto capacity = static_cast<std::size_t>(size(dim));
  return detail::tensors_of(capacity, [&](sconce_tensor** out, std::size_t* count) {
    return ::sconce_tensor_unbind(get(), dim, out, capacity, count);
  });
}

/// \name Views
/// @{

/// The elements with other sizes: a view where possible, else a copy.
[[nodiscard]] inline Tensor reshape(const Tensor& tensor, IntArrayRef shape) {
  return tensor.reshape(shape);
}
/// The memory with the given sizes, strides and offset.
[[nodiscard]] inline Tensor as_strided(const Tensor& tensor, IntArrayRef size, IntArrayRef stride,
                                       std::optional<std::int64_t> storage_offset = std::nullopt) {
  return tensor.as_strided(size, stride, storage_offset);
}
/// `length` indices of a dimension from `start` on.
[[nodiscard]] inline Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start,
                                   std::int64_t length) {
  return tensor.narrow(dim, start, length);
}
/// One index of a dimension, without that dimension.
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
/// A view for each index of a dimension, without that dimension.
[[nodiscard]] inline std::vector<Tensor> unbind(const Tensor& tensor, std::int64_t dim = 0) {
  return tensor.unbind(dim);
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_VIEWS_HPP
