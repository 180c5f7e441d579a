/// \file
/// Fourier transforms of several dimensions of tensors, under ATen's names.
/// `<sconce/tensor/tensor.hpp>` includes all headers of tensors.
#ifndef SCONCE_TENSOR_FFTN_HPP
#define SCONCE_TENSOR_FFTN_HPP

#include <sconce/c/fft.h>
#include <sconce/c/library.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sconce/tensor/fft.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// A transform of several dimensions, as its arguments describe it.
struct FftOfDims {
  Tensor self;                     ///< cut off or padded with zeros
  std::vector<std::int64_t> dims;  ///< what is transformed
  std::int32_t kind;
  std::int32_t direction;
  std::int32_t norm;
  std::int64_t length = -1;  ///< of C2R
};

/// The dimensions that are transformed: those of `dim`, else the last ones, as many as `s` has,
/// else all.
inline std::vector<std::int64_t> fft_dims_of(std::int64_t rank, const std::optional<IntArrayRef>& s,
                                             const std::optional<IntArrayRef>& dim) {
  std::vector<std::int64_t> dims;
  if (dim) {
    dims = dim->vec();
    if (s && s->size() != dims.size()) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "s has " + std::to_string(s->size()) +
                                                     " sizes, but dim has " +
                                                     std::to_string(dims.size()) + " dimensions");
    }
  } else {
    const std::int64_t count = s ? static_cast<std::int64_t>(s->size()) : rank;
    if (count > rank) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "s has " + std::to_string(count) +
                                                     " sizes, but the tensor has only " +
                                                     std::to_string(rank) + " dimensions");
    }
    for (std::int64_t at = rank - count; at < rank; ++at) dims.push_back(at);
  }
  if (dims.empty()) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "dim: a transform needs at least one dimension");
  }
  for (std::int64_t& at : dims) {
    if (at < -rank || at >= rank) throw_no_such_dim(at, static_cast<std::size_t>(rank));
    if (at < 0) at += rank;
  }
  std::vector<std::int64_t> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "dim: FFT dims must be unique");
  }
  return dims;
}

/// Checks the arguments of a transform, and cuts off and fills up its dimensions.
inline FftOfDims fft_plan(const Tensor& self, std::int32_t kind, std::int32_t direction,
                          const std::optional<IntArrayRef>& s,
                          const std::optional<IntArrayRef>& dim,
                          std::optional<std::string_view> norm) {
  FftOfDims plan{self, fft_dims_of(self.dim(), s, dim), kind, direction,
                 fft_norm_of(norm, direction)};
  const std::size_t last = plan.dims.size() - 1;
  for (std::size_t at = 0; at <= last; ++at) {
    std::int64_t size = s ? (*s)[at] : -1;
    if (kind == SCONCE_FFT_C2R && at == last) {
      plan.length = size == -1 ? 2 * (self.size(plan.dims[at]) - 1) : size;
      size = plan.length < 1 ? plan.length : plan.length / 2 + 1;
    } else if (size == -1) {
      continue;
    }
    plan.self = resized_for_fft(plan.self, size, plan.dims[at]);
  }
  return plan;
}

/// How many dimensions one call transforms.
inline constexpr std::size_t fft_most_dims = 3;

/// Transforms the first `count` dimensions of a plan, between complex numbers.
inline Tensor fft_first_dims(const Tensor& self, const FftOfDims& plan, std::size_t count) {
  Tensor result = self;
  for (std::size_t at = 0; at < count; at += fft_most_dims) {
    const IntArrayRef dims = IntArrayRef(plan.dims).slice(at, std::min(fft_most_dims, count - at));
    result = fft_of(result, SCONCE_FFT_C2C, plan.direction, plan.norm, dims);
  }
  return result;
}

/// Transforms the dimensions of a plan. A call transforms three; more dimensions take several.
inline Tensor fft_run(const FftOfDims& plan) {
  const std::size_t count = plan.dims.size();
  const std::size_t before = count - std::min(count, fft_most_dims);
  const IntArrayRef last = IntArrayRef(plan.dims).slice(before);
  if (plan.kind == SCONCE_FFT_R2C) {  // the other dimensions are complex only behind it
    return fft_first_dims(fft_of(plan.self, plan.kind, plan.direction, plan.norm, last), plan,
                          before);
  }
  return fft_of(fft_first_dims(plan.self, plan, before), plan.kind, plan.direction, plan.norm, last,
                plan.length);
}

/// Transforms the dimensions of a plan into a tensor of the caller.
inline Tensor& fft_run_out(Tensor& out, const FftOfDims& plan) {
  const std::size_t count = plan.dims.size();
  if (plan.kind == SCONCE_FFT_R2C && count > fft_most_dims) {
    // The last call transforms the dimensions in front, which are complex by then.
    const std::size_t before = count - fft_most_dims;
    const Tensor half = fft_of(plan.self, plan.kind, plan.direction, plan.norm,
                               IntArrayRef(plan.dims).slice(before));
    const std::size_t rest = std::min(before, fft_most_dims);
    const FftOfDims others{half, plan.dims, SCONCE_FFT_C2C, plan.direction, plan.norm};
    return fft_out_of(out, fft_first_dims(half, others, before - rest), SCONCE_FFT_C2C,
                      plan.direction, plan.norm, IntArrayRef(plan.dims).slice(before - rest, rest));
  }
  const std::size_t before = count - std::min(count, fft_most_dims);
  return fft_out_of(out, fft_first_dims(plan.self, plan, before), plan.kind, plan.direction,
                    plan.norm, IntArrayRef(plan.dims).slice(before), plan.length);
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {

/// \name Fourier transforms of several dimensions
/// `s` has a size for each dimension, which is cut off or padded with zeros; -1 keeps the size.
/// Without `dim`, the last dimensions are transformed, as many as `s` has sizes, or all dimensions
/// without `s`. The functions of two dimensions transform the last two. Otherwise as `fft_fft`. One
/// call of the C API transforms up to three dimensions.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` as `fft_fft`, for a dimension that is named twice,
///         and for none
/// @{

/// The transform of real or complex numbers to complex ones. Corresponds to `torch.fft.fftn`.
[[nodiscard]] inline Tensor fft_fftn(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                     const std::optional<IntArrayRef>& dim = {},
                                     std::optional<std::string_view> norm = {}) {
  return detail::fft_run(detail::fft_plan(self, SCONCE_FFT_C2C, SCONCE_FFT_FORWARD, s, dim, norm));
}
/// The inverse transform to complex numbers. Corresponds to `torch.fft.ifftn`.
[[nodiscard]] inline Tensor fft_ifftn(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                      const std::optional<IntArrayRef>& dim = {},
                                      std::optional<std::string_view> norm = {}) {
  return detail::fft_run(detail::fft_plan(self, SCONCE_FFT_C2C, SCONCE_FFT_INVERSE, s, dim, norm));
}
/// The transform of real numbers; of the last of `dim` only the first half is left, as in
/// `fft_rfft`. Corresponds to `torch.fft.rfftn`.
[[nodiscard]] inline Tensor fft_rfftn(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                      const std::optional<IntArrayRef>& dim = {},
                                      std::optional<std::string_view> norm = {}) {
  return detail::fft_run(detail::fft_plan(self, SCONCE_FFT_R2C, SCONCE_FFT_FORWARD, s, dim, norm));
}
/// The inverse of `fft_rfftn`, to real numbers; `s` has the sizes of the result. Corresponds to
/// `torch.fft.irfftn`.
[[nodiscard]] inline Tensor fft_irfftn(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                       const std::optional<IntArrayRef>& dim = {},
                                       std::optional<std::string_view> norm = {}) {
  return detail::fft_run(detail::fft_plan(self, SCONCE_FFT_C2R, SCONCE_FFT_INVERSE, s, dim, norm));
}
/// `fft_fftn` of two dimensions. Corresponds to `torch.fft.fft2`.
[[nodiscard]] inline Tensor fft_fft2(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                     IntArrayRef dim = {-2, -1},
                                     std::optional<std::string_view> norm = {}) {
  return fft_fftn(self, s, dim, norm);
}
/// `fft_ifftn` of two dimensions. Corresponds to `torch.fft.ifft2`.
[[nodiscard]] inline Tensor fft_ifft2(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                      IntArrayRef dim = {-2, -1},
                                      std::optional<std::string_view> norm = {}) {
  return fft_ifftn(self, s, dim, norm);
}
/// `fft_rfftn` of two dimensions. Corresponds to `torch.fft.rfft2`.
[[nodiscard]] inline Tensor fft_rfft2(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                      IntArrayRef dim = {-2, -1},
                                      std::optional<std::string_view> norm = {}) {
  return fft_rfftn(self, s, dim, norm);
}
/// `fft_irfftn` of two dimensions. Corresponds to `torch.fft.irfft2`.
[[nodiscard]] inline Tensor fft_irfft2(const Tensor& self, const std::optional<IntArrayRef>& s = {},
                                       IntArrayRef dim = {-2, -1},
                                       std::optional<std::string_view> norm = {}) {
  return fft_irfftn(self, s, dim, norm);
}

/// @}

/// \name Fourier transforms of several dimensions, into a tensor of the caller
/// As `fft_fft_out`.
/// @{

/// The transform of real or complex numbers to complex ones.
inline Tensor& fft_fftn_out(Tensor& out, const Tensor& self,
                            const std::optional<IntArrayRef>& s = {},
                            const std::optional<IntArrayRef>& dim = {},
                            std::optional<std::string_view> norm = {}) {
  return detail::fft_run_out(
      out, detail::fft_plan(self, SCONCE_FFT_C2C, SCONCE_FFT_FORWARD, s, dim, norm));
}
/// The inverse transform to complex numbers.
inline Tensor& fft_ifftn_out(Tensor& out, const Tensor& self,
                             const std::optional<IntArrayRef>& s = {},
                             const std::optional<IntArrayRef>& dim = {},
                             std::optional<std::string_view> norm = {}) {
  return detail::fft_run_out(
      out, detail::fft_plan(self, SCONCE_FFT_C2C, SCONCE_FFT_INVERSE, s, dim, norm));
}
/// The transform of real numbers. It returns only the first half of the last dimension, as
/// `fft_rfft` does.
inline Tensor& fft_rfftn_out(Tensor& out, const Tensor& self,
                             const std::optional<IntArrayRef>& s = {},
                             const std::optional<IntArrayRef>& dim = {},
                             std::optional<std::string_view> norm = {}) {
  return detail::fft_run_out(
      out, detail::fft_plan(self, SCONCE_FFT_R2C, SCONCE_FFT_FORWARD, s, dim, norm));
}
/// The inverse of `fft_rfftn`, to real numbers; `s` has the sizes of the result.
inline Tensor& fft_irfftn_out(Tensor& out, const Tensor& self,
                              const std::optional<IntArrayRef>& s = {},
                              const std::optional<IntArrayRef>& dim = {},
                              std::optional<std::string_view> norm = {}) {
  return detail::fft_run_out(
      out, detail::fft_plan(self, SCONCE_FFT_C2R, SCONCE_FFT_INVERSE, s, dim, norm));
}
/// `fft_fftn_out` of two dimensions.
inline Tensor& fft_fft2_out(Tensor& out, const Tensor& self,
                            const std::optional<IntArrayRef>& s = {}, IntArrayRef dim = {-2, -1},
                            std::optional<std::string_view> norm = {}) {
  return fft_fftn_out(out, self, s, dim, norm);
}
/// `fft_ifftn_out` of two dimensions.
inline Tensor& fft_ifft2_out(Tensor& out, const Tensor& self,
                             const std::optional<IntArrayRef>& s = {}, IntArrayRef dim = {-2, -1},
                             std::optional<std::string_view> norm = {}) {
  return fft_ifftn_out(out, self, s, dim, norm);
}
/// `fft_rfftn_out` of two dimensions.
inline Tensor& fft_rfft2_out(Tensor& out, const Tensor& self,
                             const std::optional<IntArrayRef>& s = {}, IntArrayRef dim = {-2, -1},
                             std::optional<std::string_view> norm = {}) {
  return fft_rfftn_out(out, self, s, dim, norm);
}
/// `fft_irfftn_out` of two dimensions.
inline Tensor& fft_irfft2_out(Tensor& out, const Tensor& self,
                              const std::optional<IntArrayRef>& s = {}, IntArrayRef dim = {-2, -1},
                              std::optional<std::string_view> norm = {}) {
  return fft_irfftn_out(out, self, s, dim, norm);
}

/// @}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_FFTN_HPP
