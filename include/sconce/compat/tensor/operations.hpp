/// \file
/// Operations of libsconce_torch on tensors that Sconce's own headers lack. Programs that call one
/// link with libsconce_torch. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_TENSOR_OPERATIONS_HPP
#define SCONCE_COMPAT_TENSOR_OPERATIONS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/compat/core/macros.hpp>
#include <sconce/compat/tensor/indexing.hpp>
#include <sconce/tensor/tensor.hpp>
#include <sconce/torch/op.hpp>
#include <string_view>
#include <tuple>
#include <vector>

namespace sconce {
inline namespace v0 {

inline std::tuple<Tensor, Tensor> Tensor::max(std::int64_t dim, bool keepdim) const {
  static const torch::Operator operation("aten::max.dim");
  const torch::Results found = operation(*this, dim, keepdim);
  return {found.tensor(0), found.tensor(1)};
}
inline std::tuple<Tensor, Tensor> Tensor::min(std::int64_t dim, bool keepdim) const {
  static const torch::Operator operation("aten::min.dim");
  const torch::Results found = operation(*this, dim, keepdim);
  return {found.tensor(0), found.tensor(1)};
}
inline std::tuple<Tensor, Tensor> Tensor::topk(std::int64_t k, std::int64_t dim, bool largest,
                                               bool sorted) const {
  static const torch::Operator operation("aten::topk");
  const torch::Results found = operation(*this, k, dim, largest, sorted);
  return {found.tensor(0), found.tensor(1)};
}
inline Tensor Tensor::argsort(std::int64_t dim, bool descending) const {
  return std::get<1>(sort(dim, descending));
}
inline Tensor Tensor::flip(IntArrayRef dims) const {
  static const torch::Operator operation("aten::flip");
  return operation(*this, dims).tensor();
}
inline Tensor Tensor::roll(IntArrayRef shifts, IntArrayRef dims) const {
  static const torch::Operator operation("aten::roll");
  return operation(*this, shifts, dims).tensor();
}
inline Tensor Tensor::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const {
  static const torch::Operator operation("aten::unfold");
  return operation(*this, dimension, size, step).tensor();
}
inline Tensor Tensor::repeat_interleave(std::int64_t repeats,
                                        std::optional<std::int64_t> dim) const {
  static const torch::Operator operation("aten::repeat_interleave.self_int");
  return operation(*this, repeats, dim).tensor();
}
inline Tensor Tensor::repeat_interleave(const TensorBase& repeats,
                                        std::optional<std::int64_t> dim) const {
  static const torch::Operator operation("aten::repeat_interleave.self_Tensor");
  return operation(*this, repeats, dim).tensor();
}
inline Tensor Tensor::bitwise_left_shift(const TensorOrScalar& other) const {
  static const torch::Operator operation("aten::bitwise_left_shift.Tensor");
  return operation(*this, detail::operand_like(*this, other)).tensor();
}
inline Tensor Tensor::bitwise_right_shift(const TensorOrScalar& other) const {
  static const torch::Operator operation("aten::bitwise_right_shift.Tensor");
  return operation(*this, detail::operand_like(*this, other)).tensor();
}
inline Tensor Tensor::dot(const Tensor& other) const {
  TORCH_CHECK(this->dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", this->dim(),
              "D and ", other.dim(), "D tensors");
  return matmul(other);
}

namespace compat {
namespace at {

/// \name Operations of libsconce_torch
/// @{

/// The largest elements along a dimension, and the index of each.
[[nodiscard]] inline std::tuple<Tensor, Tensor> max(const Tensor& tensor, std::int64_t dim,
                                                    bool keepdim = false) {
  return tensor.max(dim, keepdim);
}
/// The largest element.
[[nodiscard]] inline Tensor max(const Tensor& tensor) { return tensor.max(); }
/// The larger of each pair of elements.
[[nodiscard]] inline Tensor max(const Tensor& tensor, const Tensor& other) {
  return tensor.maximum(other);
}
/// The smallest elements along a dimension, and the index of each.
[[nodiscard]] inline std::tuple<Tensor, Tensor> min(const Tensor& tensor, std::int64_t dim,
                                                    bool keepdim = false) {
  return tensor.min(dim, keepdim);
}
/// The smallest element.
[[nodiscard]] inline Tensor min(const Tensor& tensor) { return tensor.min(); }
/// The smaller of each pair of elements.
[[nodiscard]] inline Tensor min(const Tensor& tensor, const Tensor& other) {
  return tensor.minimum(other);
}
/// The `k` largest or smallest elements along a dimension, and the index of each.
[[nodiscard]] inline std::tuple<Tensor, Tensor> topk(const Tensor& tensor, std::int64_t k,
                                                     std::int64_t dim = -1, bool largest = true,
                                                     bool sorted = true) {
  return tensor.topk(k, dim, largest, sorted);
}
/// The indices that sort the elements along a dimension.
[[nodiscard]] inline Tensor argsort(const Tensor& tensor, std::int64_t dim = -1,
                                    bool descending = false) {
  return tensor.argsort(dim, descending);
}
/// The elements in reverse order along dimensions.
[[nodiscard]] inline Tensor flip(const Tensor& tensor, IntArrayRef dims) {
  return tensor.flip(dims);
}
/// The elements moved along dimensions.
[[nodiscard]] inline Tensor roll(const Tensor& tensor, IntArrayRef shifts, IntArrayRef dims = {}) {
  return tensor.roll(shifts, dims);
}
/// Each index of a dimension repeated.
[[nodiscard]] inline Tensor repeat_interleave(const Tensor& tensor, std::int64_t repeats,
                                              std::optional<std::int64_t> dim = std::nullopt) {
  return tensor.repeat_interleave(repeats, dim);
}
/// Each index of a dimension as often as a vector of integers says.
[[nodiscard]] inline Tensor repeat_interleave(const Tensor& tensor, const Tensor& repeats,
                                              std::optional<std::int64_t> dim = std::nullopt) {
  return tensor.repeat_interleave(repeats, dim);
}
/// The values that differ, in order, and the place of each element among them if `return_inverse`.
[[nodiscard]] inline std::tuple<Tensor, Tensor> _unique(const Tensor& tensor, bool sorted = true,
                                                        bool return_inverse = false) {
  static const ::sconce::torch::Operator operation("aten::_unique");
  const ::sconce::torch::Results found = operation(tensor, sorted, return_inverse);
  return {found.tensor(0), found.tensor(1)};
}
/// The values that differ, in order, the place of each element among them, and how often each is
/// there.
[[nodiscard]] inline std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& tensor,
                                                                 bool sorted = true,
                                                                 bool return_inverse = false,
                                                                 bool return_counts = false) {
  static const ::sconce::torch::Operator operation("aten::_unique2");
  const ::sconce::torch::Results found = operation(tensor, sorted, return_inverse, return_counts);
  return {found.tensor(0), found.tensor(1), found.tensor(2)};
}
/// The parts of a dimension that differ, in order; the place of each part among them, and how often
/// each is there.
[[nodiscard]] inline std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& tensor,
                                                                   std::int64_t dim,
                                                                   bool sorted = true,
                                                                   bool return_inverse = false,
                                                                   bool return_counts = false) {
  static const ::sconce::torch::Operator operation("aten::unique_dim");
  const ::sconce::torch::Results found =
      operation(tensor, dim, sorted, return_inverse, return_counts);
  return {found.tensor(0), found.tensor(1), found.tensor(2)};
}
/// One of each run of equal values, and if asked for the place of each element among them, and the
/// length of each run.
[[nodiscard]] inline std::tuple<Tensor, Tensor, Tensor> unique_consecutive(
    const Tensor& tensor, bool return_inverse = false, bool return_counts = false,
    std::optional<std::int64_t> dim = std::nullopt) {
  static const ::sconce::torch::Operator operation("aten::unique_consecutive");
  const ::sconce::torch::Results found = operation(tensor, return_inverse, return_counts, dim);
  return {found.tensor(0), found.tensor(1), found.tensor(2)};
}
/// How often each of the numbers from 0 on is in a vector, or the sums of weights.
[[nodiscard]] inline Tensor bincount(const Tensor& tensor,
                                     const std::optional<Tensor>& weights = std::nullopt,
                                     std::int64_t minlength = 0) {
  static const ::sconce::torch::Operator operation("aten::bincount");
  return operation(tensor, ::sconce::detail::defined_indices({weights})[0], minlength).tensor();
}
/// The places in sorted lines at which values keep the order.
[[nodiscard]] inline Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values,
                                         bool out_int32 = false, bool right = false) {
  static const ::sconce::torch::Operator operation("aten::searchsorted.Tensor");
  return operation(sorted_sequence, values, out_int32, right).tensor();
}
/// The elements with a border of one value, before and behind each of the last dimensions; the
/// last dimension is first in `pad`. Negative borders cut off elements.
[[nodiscard]] inline Tensor constant_pad_nd(const Tensor& tensor, IntArrayRef pad,
                                            const Scalar& value = 0) {
  static const ::sconce::torch::Operator operation("aten::constant_pad_nd");
  return operation(tensor, pad, value).tensor();
}
/// The inverse of square matrices.
[[nodiscard]] inline Tensor linalg_inv(const Tensor& tensor) {
  static const ::sconce::torch::Operator operation("aten::linalg_inv");
  return operation(tensor).tensor();
}

/// A sparse tensor, which this library does not have.
/// \throws NotSupportedError always
template <class... Arguments>
[[noreturn]] Tensor sparse_coo_tensor(const Arguments&...) {
  throw NotSupportedError(SCONCE_ERROR_NOT_SUPPORTED,
                          "sparse_coo_tensor: all tensors are strided; keep the indices and the "
                          "values in two tensors");
}

/// @}
/// \name Methods of a tensor, as functions
/// @{

/// The number of elements.
[[nodiscard]] inline std::int64_t numel(const Tensor& tensor) { return tensor.numel(); }
/// Every `step`-th index of a dimension from `start` up to, excluding, `end`.
[[nodiscard]] inline Tensor slice(const Tensor& tensor, std::int64_t dim = 0,
                                  std::optional<std::int64_t> start = std::nullopt,
                                  std::optional<std::int64_t> end = std::nullopt,
                                  std::int64_t step = 1) {
  return tensor.slice(dim, start, end, step);
}
/// A copy in new memory.
[[nodiscard]] inline Tensor clone(const Tensor& tensor) { return tensor.clone(); }
/// A view of each vector along a dimension of its own: tensors of one shape, whose elements vary
/// along one dimension each.
/// \param tensors vectors, or tensors without dimensions
/// \param indexing `ij`, or `xy`, which exchanges the first two dimensions
[[nodiscard]] inline std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors,
                                                  std::string_view indexing = "ij") {
  TORCH_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  TORCH_CHECK(indexing == "ij" || indexing == "xy",
              "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  std::vector<Tensor> order = tensors;
  const bool swapped = indexing == "xy" && order.size() >= 2;
  if (swapped) {
    std::swap(order[0], order[1]);
  }
  std::vector<std::int64_t> sizes;
  for (const Tensor& tensor : order) {
    TORCH_CHECK(tensor.dim() <= 1, "meshgrid: Expected 0D or 1D tensor in the tensor list ",
                "but got: ", tensor.dim(), "D");
    TORCH_CHECK(tensor.dtype() == order[0].dtype(),
                "meshgrid expects all tensors to have the same dtype");
    TORCH_CHECK(tensor.device() == order[0].device(),
                "meshgrid expects all tensors to have the same device");
    sizes.push_back(tensor.numel());
  }
  std::vector<Tensor> grids;
  for (std::size_t dim = 0; dim < order.size(); ++dim) {
    std::vector<std::int64_t> single(order.size(), 1);
    single[dim] = -1;
    grids.push_back(order[dim].view(single).expand(sizes));
  }
  if (swapped) {
    std::swap(grids[0], grids[1]);
  }
  return grids;
}

/// @}

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_TENSOR_OPERATIONS_HPP
