/// \file
/// Fourier transforms on the tape of `<sconce/tensor/tape.hpp>`.
///
/// The gradient of a complex number is the derivative by its real part plus i times that by its
/// imaginary part, as in torch.
#ifndef SCONCE_TENSOR_TAPE_FFT_HPP
#define SCONCE_TENSOR_TAPE_FFT_HPP

#include <sconce/c/fft.h>
#include <sconce/c/library.h>

#include <cstdint>
#include <optional>
#include <sconce/tensor/fft.hpp>
#include <sconce/tensor/tape.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace detail {

/// A transform between complex numbers. Its gradient is transformed in the other direction and
/// divided by the same number.
inline autograd::Variable recorded_fft(const autograd::Variable& a, std::int32_t direction,
                                       std::int64_t dim, std::optional<std::string_view> norm) {
  const std::int32_t by = fft_norm_of(norm, direction);
  const bool is_forward = direction == SCONCE_FFT_FORWARD;
  return autograd::Tape::record(fft_of(a.value(), SCONCE_FFT_C2C, direction, by, dim),
                                is_forward ? "fft" : "ifft", {a},
                                [from = autograd::OperandShape(a.value()),
                                 back = is_forward ? SCONCE_FFT_INVERSE : SCONCE_FFT_FORWARD, by,
                                 dim](const Tensor& gradient) {
                                  return std::vector<Tensor>{autograd::gradient_of(
                                      fft_of(gradient, SCONCE_FFT_C2C, back, by, dim), from)};
                                });
}

}  // namespace detail

namespace autograd {

/// The transform of a dimension to complex numbers; `norm` as `sconce::fft_fft` has it.
[[nodiscard]] inline Variable fft(const Variable& a, std::int64_t dim = -1,
                                  std::optional<std::string_view> norm = {}) {
  return sconce::detail::recorded_fft(a, SCONCE_FFT_FORWARD, dim, norm);
}

/// The inverse transform of a dimension to complex numbers.
[[nodiscard]] inline Variable ifft(const Variable& a, std::int64_t dim = -1,
                                   std::optional<std::string_view> norm = {}) {
  return sconce::detail::recorded_fft(a, SCONCE_FFT_INVERSE, dim, norm);
}

/// The first half of the transform of a dimension of real numbers. Its gradient is padded with
/// zeros and transformed back.
[[nodiscard]] inline Variable rfft(const Variable& a, std::int64_t dim = -1,
                                   std::optional<std::string_view> norm = {}) {
  const std::int32_t by = sconce::detail::fft_norm_of(norm, SCONCE_FFT_FORWARD);
  return Tape::record(
      sconce::detail::fft_of(a.value(), SCONCE_FFT_R2C, SCONCE_FFT_FORWARD, by, dim), "rfft", {a},
      [from = OperandShape(a.value()), size = a.value().size(dim), by,
       dim](const Tensor& gradient) {
        const Tensor whole = sconce::detail::resized_for_fft(gradient, size, dim);
        return std::vector<Tensor>{gradient_of(
            sconce::detail::fft_of(whole, SCONCE_FFT_C2C, SCONCE_FFT_INVERSE, by, dim), from)};
      });
}

/// `n` real numbers from the first half of their transform, which has `n / 2 + 1` numbers. Without
/// `n`, the size is 2 * (m - 1) for `m` complex numbers.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the dimension has another size
[[nodiscard]] inline Variable irfft(const Variable& a, std::optional<std::int64_t> n = {},
                                    std::int64_t dim = -1,
                                    std::optional<std::string_view> norm = {}) {
  const std::int32_t by = sconce::detail::fft_norm_of(norm, SCONCE_FFT_INVERSE);
  const std::int64_t size = a.value().size(dim);
  const std::int64_t length = n.value_or(2 * (size - 1));
  if (length < 1 || length / 2 + 1 != size) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "irfft of a tape: n is " + std::to_string(length) + ", but the dimension has " +
                    std::to_string(size) + " numbers; it must have n / 2 + 1");
  }
  return Tape::record(
      sconce::detail::fft_of(a.value(), SCONCE_FFT_C2R, SCONCE_FFT_INVERSE, by, dim, length),
      "irfft", {a}, [by, dim](const Tensor& gradient) {
        Tensor half = sconce::detail::fft_of(gradient, SCONCE_FFT_R2C, SCONCE_FFT_FORWARD, by, dim);
        // Every number except the first, and the last if the size is even, also stands for its
        // conjugate.
        const std::int64_t twice = gradient.size(dim) - half.size(dim);
        if (twice > 0) {
          half.narrow(dim, 1, twice).mul_(2);
        }
        return std::vector<Tensor>{half};
      });
}

/// The real parts. Corresponds to `torch.real` of a complex tensor.
[[nodiscard]] inline Variable real(const Variable& a) {
  return Tape::record(sconce::detail::real_parts(a.value()), "real", {a},
                      [to = a.value().dtype()](const Tensor& gradient) {
                        return std::vector<Tensor>{gradient.to(to)};
                      });
}

}  // namespace autograd
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_TAPE_FFT_HPP
