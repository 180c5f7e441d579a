/// \file
/// Fourier transforms of a dimension of tensors, under ATen's names; `tensor/fftn.hpp` has those of
/// several. `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_FFT_HPP
#define SCONCE_TENSOR_FFT_HPP

#include <sconce/c/fft.h>
#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <cstdint>
#include <optional>
#include <sconce/detail/tensor_calls.hpp>
#include <sconce/tensor/factories.hpp>
#include <sconce/tensor/ordering.hpp>
#include <sconce/tensor/views.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// The number by which a transform with torch's name of a normalization divides. Without a name, or
/// with "backward", only inverse transforms divide.
inline std::int32_t fft_norm_of(std::optional<std::string_view> norm, std::int32_t direction) {
  const std::string_view name = norm.value_or("backward");
  if (name == "ortho") {
    return SCONCE_FFT_NORM_BY_ROOT_N;
  }
  if (name != "backward" && name != "forward") {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "Invalid normalization mode: \"" + std::string(name) +
                    "\"; it is \"backward\", \"forward\" or \"ortho\"");
  }
  const bool divides = (name == "forward") == (direction == SCONCE_FFT_FORWARD);
  return divides ? SCONCE_FFT_NORM_BY_N : SCONCE_FFT_NORM_NONE;
}

/// Transforms up to three dimensions. Corresponds to `at::_fft_c2c`, `at::_fft_r2c` and
/// `at::_fft_c2r`.
inline Tensor fft_of(const TensorBase& self, std::int32_t kind, std::int32_t direction,
                     std::int32_t norm, IntArrayRef dims, std::int64_t length = -1) {
  return tensor_of([&](sconce_tensor** out) {
    return ::sconce_tensor_fft(self.get(), kind, direction, norm, dims.data(), dims.size(), length,
                               out);
  });
}

/// Transforms up to three dimensions into a tensor of the caller.
inline Tensor& fft_out_of(Tensor& out, const TensorBase& self, std::int32_t kind,
                          std::int32_t direction, std::int32_t norm, IntArrayRef dims,
                          std::int64_t length = -1) {
  return write_to(out, [&](sconce_tensor* into) {
    return ::sconce_tensor_fft_out(self.get(), kind, direction, norm, dims.data(), dims.size(),
                                   length, into);
  });
}

/// A tensor with `n` elements along a dimension: elements beyond `n` are cut off, and missing ones
/// are 0.
inline Tensor resized_for_fft(const Tensor& self, std::int64_t n, std::int64_t dim) {
  if (n < 1) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "Invalid number of data points (" + std::to_string(n) + ") specified");
  }
  const std::int64_t size = self.size(dim);
  if (n <= size) {
    return n == size ? self : self.narrow(dim, 0, n);
  }
  std::vector<std::int64_t> missing = self.sizes().vec();
  missing[static_cast<std::size_t>(dim < 0 ? dim + self.dim() : dim)] = n - size;
  return cat({self, zeros(missing, self.options())}, dim);
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// \name Fourier transforms of a dimension
/// `n` sets the size of the dimension, which is cut off or padded with zeros. `norm` is "backward"
/// (inverse transforms divide by the size), "forward" (forward transforms divide by the size) or
/// "ortho" (all divide by the square root of the size). For several dimensions, use `fft_fftn` and
/// the like.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for an unknown `norm`, an `n` below 1 and an empty
/// dimension; `SCONCE_ERROR_NOT_SUPPORTED` for types that are not transformed
/// @{

/// The transform of real or complex numbers to complex ones. Corresponds to `torch.fft.fft`.
[[nodiscard]] inline Tensor fft_fft(const Tensor& self, std::optional<std::int64_t> n = {},
                                    std::int64_t dim = -1,
                                    std::optional<std::string_view> norm = {}) {
  return detail::fft_of(n ? detail::resized_for_fft(self, *n, dim) : self, SCONCE_FFT_C2C,
                        SCONCE_FFT_FORWARD, detail::fft_norm_of(norm, SCONCE_FFT_FORWARD), dim);
}
/// The inverse transform to complex numbers. Corresponds to `torch.fft.ifft`.
[[nodiscard]] inline Tensor fft_ifft(const Tensor& self, std::optional<std::int64_t> n = {},
                                     std::int64_t dim = -1,
                                     std::optional<std::string_view> norm = {}) {
  return detail::fft_of(n ? detail::resized_for_fft(self, *n, dim) : self, SCONCE_FFT_C2C,
                        SCONCE_FFT_INVERSE, detail::fft_norm_of(norm, SCONCE_FFT_INVERSE), dim);
}
/// The first `n / 2 + 1` results of the transform of real numbers; the others are their conjugates.
/// Corresponds to `torch.fft.rfft`.
[[nodiscard]] inline Tensor fft_rfft(const Tensor& self, std::optional<std::int64_t> n = {},
                                     std::int64_t dim = -1,
                                     std::optional<std::string_view> norm = {}) {
  return detail::fft_of(n ? detail::resized_for_fft(self, *n, dim) : self, SCONCE_FFT_R2C,
                        SCONCE_FFT_FORWARD, detail::fft_norm_of(norm, SCONCE_FFT_FORWARD), dim);
}
/// The inverse of `fft_rfft`: `n` real numbers from `n / 2 + 1` complex ones. Without `n`, the size
/// is 2 * (m - 1) for `m` complex numbers. Corresponds to `torch.fft.irfft`.
[[nodiscard]] inline Tensor fft_irfft(const Tensor& self, std::optional<std::int64_t> n = {},
                                      std::int64_t dim = -1,
                                      std::optional<std::string_view> norm = {}) {
  const std::int64_t length = n.value_or(2 * (self.size(dim) - 1));
  return detail::fft_of(detail::resized_for_fft(self, length < 1 ? length : length / 2 + 1, dim),
                        SCONCE_FFT_C2R, SCONCE_FFT_INVERSE,
                        detail::fft_norm_of(norm, SCONCE_FFT_INVERSE), dim, length);
}

/// @}

/// \name Fourier transforms, into a tensor of the caller
/// `out` is complex, or real for `fft_irfft_out`. The result is converted to its precision.
/// Otherwise as `fft_fft`, and `out` follows the rules of `<sconce/tensor/outputs.hpp>`.
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

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_FFT_HPP
