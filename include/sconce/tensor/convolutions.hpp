/// \file
/// Convolutions of tensors, under torch's names. `<sconce/tensor/tensor.hpp>` includes all headers
/// of tensors.
#ifndef SCONCE_TENSOR_CONVOLUTIONS_HPP
#define SCONCE_TENSOR_CONVOLUTIONS_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/detail/tensor_calls.hpp>
#include <sconce/tensor/views.hpp>
#include <string>

namespace sconce {
inline namespace v0 {
namespace detail {

/// A number for each spatial dimension, or one number for all.
template <std::size_t Spatial>
std::array<std::int64_t, Spatial> for_each_dimension(IntArrayRef numbers, const char* name) {
  std::array<std::int64_t, Spatial> each{};
  if (numbers.size() != 1 && numbers.size() != Spatial) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, std::string(name) + ": there are " +
                                                   std::to_string(numbers.size()) +
                                                   " numbers; pass one, or one for each of the " +
                                                   std::to_string(Spatial) + " spatial dimensions");
  }
  for (std::size_t dim = 0; dim < Spatial; ++dim) {
    each[dim] = numbers[numbers.size() == 1 ? 0 : dim];
  }
  return each;
}

/// Convolves a batch, or one image without a batch.
template <std::size_t Spatial>
Tensor convolution_of(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      std::int64_t groups) {
  constexpr auto spatial = static_cast<std::int64_t>(Spatial);
  const std::int64_t dim = input.dim();
  if (dim != spatial + 1 && dim != spatial + 2) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "input: expected " + std::to_string(spatial + 1) + " dimensions, or " +
                    std::to_string(spatial + 2) + " with a batch, but it has " +
                    std::to_string(dim));
  }
  const auto strides = for_each_dimension<Spatial>(stride, "stride");
  const auto paddings = for_each_dimension<Spatial>(padding, "padding");
  const auto dilations = for_each_dimension<Spatial>(dilation, "dilation");
  const Tensor batch = dim == spatial + 1 ? input.unsqueeze(0) : input;
  const Tensor result = tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_convolution(batch.get(), weight.get(), bias ? bias->get() : nullptr,
                                       strides.data(), paddings.data(), dilations.data(), Spatial,
                                       groups, out);
  });
  return dim == spatial + 1 ? result.squeeze(0) : result;
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// \name Convolutions
/// Cross-correlations, as in torch. `input` has a batch, channels and the spatial dimensions, or no
/// batch; `weight` has output channels, the input channels of a group, and the spatial dimensions;
/// `bias` has a number for each output channel. `stride`, `padding` and `dilation` have a number
/// for each spatial dimension, or one for all. On devices float may be rounded to TF32, as in
/// torch: `Context::setAllowTF32CuDNN`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the shapes do not fit;
///         `SCONCE_ERROR_CROSS_DEVICE` for tensors of several devices; `SCONCE_ERROR_NOT_SUPPORTED`
///         for other types than `kHalf`, `kBFloat16`, `kFloat` and `kDouble`
/// @{

/// Of one spatial dimension. Corresponds to `torch.conv1d`.
[[nodiscard]] inline Tensor conv1d(const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1,
                                   IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                   std::int64_t groups = 1) {
  return detail::convolution_of<1>(input, weight, bias, stride, padding, dilation, groups);
}
/// Of two spatial dimensions. Corresponds to `torch.conv2d`.
[[nodiscard]] inline Tensor conv2d(const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1,
                                   IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                   std::int64_t groups = 1) {
  return detail::convolution_of<2>(input, weight, bias, stride, padding, dilation, groups);
}
/// Of three spatial dimensions. Corresponds to `torch.conv3d`.
[[nodiscard]] inline Tensor conv3d(const Tensor& input, const Tensor& weight,
                                   const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1,
                                   IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                   std::int64_t groups = 1) {
  return detail::convolution_of<3>(input, weight, bias, stride, padding, dilation, groups);
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_CONVOLUTIONS_HPP
