/// \file
/// Elements that masks choose: methods and functions. `<sconce/tensor/tensor.hpp>` includes all
/// headers of tensors.
#ifndef SCONCE_TENSOR_MASKS_HPP
#define SCONCE_TENSOR_MASKS_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sconce/detail/tensor_calls.hpp>
#include <sconce/tensor/binary.hpp>
#include <sconce/tensor/copies.hpp>
#include <sconce/tensor/ordering.hpp>
#include <sconce/tensor/views.hpp>
#include <string>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The sizes to which tensors of two sizes are broadcast.
inline std::vector<std::int64_t> broadcast_sizes(IntArrayRef a, IntArrayRef b) {
  std::vector<std::int64_t> sizes(std::max(a.size(), b.size()));
  for (std::size_t back = 1; back <= sizes.size(); ++back) {
    const std::int64_t first = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t second = back <= b.size() ? b[b.size() - back] : 1;
    if (first != second && first != 1 && second != 1) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "The size of tensor a (" + std::to_string(first) +
                      ") must match the size of tensor b (" + std::to_string(second) +
                      ") at non-singleton dimension " + std::to_string(sizes.size() - back));
    }
    sizes[sizes.size() - back] = first == 1 ? second : first;
  }
  return sizes;
}

inline std::string text_of_sizes(IntArrayRef sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  }
  return text + "]";
}

inline void check_mask(const TensorBase& mask, const char* function) {
  if (mask.dtype() != ScalarType::Bool) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, std::string(function) +
                                                   " only supports boolean masks, but got mask "
                                                   "with dtype " +
                                                   cuda::toString(mask.dtype()));
  }
}

/// The elements of a tensor, or a value, in the tensor's type.
inline Tensor filled_where(const Tensor& self, const TensorBase& mask, const TensorOrScalar& value,
                           const char* function) {
  check_mask(mask, function);
  if (value.number() == nullptr) {
    Tensor held;
    check(::sconce_tensor_retain(value.tensor()));
    held = Tensor::adopt(value.tensor());
    if (held.dim() != 0) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  std::string(function) +
                      " only supports a 0-dimensional value tensor, but got tensor with " +
                      std::to_string(held.dim()) + " dimension(s).");
    }
    return where(mask, held.to(self.options()), self);
  }
  const Scalar number(*value.number());
  const bool whole = !self.is_floating_point() && !self.is_complex();
  // A fraction is cut off here, because integers do not become real numbers.
  const Scalar fitting = whole && number.isFloatingPoint() ? Scalar(number.toLong()) : number;
  return where(mask, fitting, self).to(self.dtype());
}

}  // namespace detail

inline Tensor Tensor::masked_fill(const TensorBase& mask, const TensorOrScalar& value) const {
  return detail::filled_where(*this, mask, value, "masked_fill");
}
inline const Tensor& Tensor::masked_fill_(const TensorBase& mask,
                                          const TensorOrScalar& value) const {
  const Tensor filled = detail::filled_where(*this, mask, value, "masked_fill_");
  const Tensor& self = *this;
  if (filled.sizes() != self.sizes()) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "output with shape " + detail::text_of_sizes(self.sizes()) +
                    " doesn't match the broadcast shape " + detail::text_of_sizes(filled.sizes()));
  }
  return copy_(filled);
}
inline Tensor Tensor::masked_select(const TensorBase& mask) const {
  if (mask.dtype() != ScalarType::Bool) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "masked_select: expected BoolTensor for mask");
  }
  const Tensor& self = *this;
  const std::vector<std::int64_t> sizes = detail::broadcast_sizes(self.sizes(), mask.sizes());
  const Tensor chosen = Tensor(mask).expand(sizes).reshape(-1).nonzero().view(-1);
  return expand(sizes).reshape(-1).index_select(0, chosen);
}

/// \name Elements that masks choose
/// @{

/// The elements of a tensor, with a value where a mask of truth values is true.
[[nodiscard]] inline Tensor masked_fill(const Tensor& tensor, const TensorBase& mask,
                                        const TensorOrScalar& value) {
  return tensor.masked_fill(mask, value);
}
/// The elements for which a mask of truth values is true, as a vector.
[[nodiscard]] inline Tensor masked_select(const Tensor& tensor, const TensorBase& mask) {
  return tensor.masked_select(mask);
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_MASKS_HPP
