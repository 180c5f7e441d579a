/// \file
/// Fourier transforms, and the cache of their plans.
#ifndef SCONCE_FFT_HPP
#define SCONCE_FFT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sconce/device.hpp>
#include <sconce/operand.hpp>
#include <string>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Batch and dimensions of a side together, as sizes or as strides; no strides where packed.
inline cuda::DimVector with_batch(std::int64_t batch, const cuda::DimVector& numbers) {
  cuda::DimVector all{batch, 0, 0, 0, 0};
  std::copy(numbers.begin(), numbers.end(), &all[1]);
  return cuda::DimVector(cuda::Span<const std::int64_t>(all.data(), 1 + numbers.size()));
}

/// Strides of a packed array.
inline cuda::DimVector packed_strides(const cuda::DimVector& sizes) {
  constexpr std::size_t largest = std::numeric_limits<std::int64_t>::max();
  cuda::DimVector strides = sizes;
  std::size_t next = 1;
  for (std::size_t i = sizes.size(); i > 0; --i) {
    strides[i - 1] = static_cast<std::int64_t>(std::min(next, largest));
    next = times(next, static_cast<std::size_t>(sizes[i - 1]));
  }
  return strides;
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The sign of the exponent.
enum class FFTDirection : std::int32_t {
  Forward = SCONCE_FFT_FORWARD,  ///< minus
  Inverse = SCONCE_FFT_INVERSE,  ///< plus
};

/// What results are divided by. Corresponds to `at::native::fft_norm_mode`.
enum class FFTNorm : std::int32_t {
  None = SCONCE_FFT_NORM_NONE,          ///< nothing, as cuFFT; torch's forward transforms
  ByRootN = SCONCE_FFT_NORM_BY_ROOT_N,  ///< the root of the number of elements ("ortho")
  ByN = SCONCE_FFT_NORM_BY_N,           ///< the number of elements; torch's inverse transforms
};

/// A batch of transforms of 1 to 3 dimensions. What is not said is as usual: one transform, packed,
/// in its kind's direction, not normalised: for what torch's `ifft` and `irfft` give say
/// `FFTNorm::ByN`.
///
/// Strides count elements of their side, real or complex. A side without any is packed; with the
/// batch's alone each of its transforms is. An input with strides but without the batch's is one
/// transform, repeated.
///
/// In place, rows of R2C and C2R have room for both sides, 2 * (n / 2 + 1) reals: that is the real
/// side's stride from row to row, or of the batch.
struct FFT {
  DimVector sizes = {};    ///< of the real side, outermost first; of C2C of both sides
  std::int64_t batch = 1;  ///< how many transforms
  /// Where it is not said, C2C and R2C are forward and C2R is inverse, the only way for either.
  std::optional<FFTDirection> direction = {};
  FFTNorm normalization = FFTNorm::None;  ///< what results are divided by
  DimVector in_strides = {};              ///< along each dimension of the input
  std::int64_t in_batch_stride = 0;       ///< from transform to transform of the input
  DimVector out_strides = {};             ///< along each dimension of the output
  std::int64_t out_batch_stride = 0;      ///< from transform to transform of the output
  bool may_overwrite_input = false;       ///< whether C2R may leave anything in its input

  /// The C API's description of a transform of one of the kinds `SCONCE_FFT_…`.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless sizes and strides are of 1 to 3
  /// dimensions
  [[nodiscard]] sconce_fft_desc desc(std::int32_t kind, ScalarType real) const {
    if (sizes.empty() || sizes.size() > SCONCE_FFT_MOST_RANK) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "sizes has " + std::to_string(sizes.size()) +
                                                     " numbers; a transform has 1 to 3 dimensions");
    }
    sconce_fft_desc desc{};
    desc.struct_size = static_cast<std::uint32_t>(sizeof(desc));
    desc.kind = kind;
    desc.dtype = static_cast<std::int32_t>(real);
    desc.direction = static_cast<std::int32_t>(
        direction.value_or(kind == SCONCE_FFT_C2R ? FFTDirection::Inverse : FFTDirection::Forward));
    desc.normalization = static_cast<std::int32_t>(normalization);
    desc.rank = static_cast<std::int32_t>(sizes.size());
    detail::store(sizes, sizes.size(), "sizes", desc.sizes);
    desc.batch = batch;
    // A stride of the batch alone: each transform is packed, they are that far apart.
    const auto strides_of = [](const DimVector& strides, std::int64_t batch_stride,
                               const DimVector& side) {
      return strides.empty() && batch_stride != 0 ? detail::packed_strides(side) : strides;
    };
    desc.in_batch_stride = in_batch_stride;
    detail::store(strides_of(in_strides, in_batch_stride, sizes_of_input(kind)), sizes.size(),
                  "in_strides", desc.in_strides);
    desc.out_batch_stride = out_batch_stride;
    detail::store(strides_of(out_strides, out_batch_stride, sizes_of_output(kind)), sizes.size(),
                  "out_strides", desc.out_strides);
    desc.may_overwrite_input = may_overwrite_input;
    return desc;
  }

  /// Sizes of the complex side of R2C and C2R: of the last dimension n / 2 + 1.
  [[nodiscard]] DimVector onesided_sizes() const noexcept {
    DimVector onesided = sizes;
    if (!onesided.empty()) {
      std::int64_t& last = onesided[onesided.size() - 1];
      last = last / 2 + 1;
    }
    return onesided;
  }

  /// Sizes of the input of a transform of one of the kinds `SCONCE_FFT_…`.
  [[nodiscard]] DimVector sizes_of_input(std::int32_t kind) const noexcept {
    return kind == SCONCE_FFT_C2R ? onesided_sizes() : sizes;
  }
  /// Sizes of its output.
  [[nodiscard]] DimVector sizes_of_output(std::int32_t kind) const noexcept {
    return kind == SCONCE_FFT_R2C ? onesided_sizes() : sizes;
  }
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace detail {

inline void transform(const cuda::FFT& what, std::int32_t kind, cuda::ScalarType real,
                      const void* input, void* output) {
  const sconce_fft_desc desc = what.desc(kind, real);
  check(::sconce_fft(&desc, input, output));
}

/// Checks the sides' types against each other, and their sizes where they tell them.
template <class Real, class In, class Out>
void transform(const cuda::FFT& what, std::int32_t kind, const Operand<In>& input,
               const Operand<Out>& output) {
  static_assert(!std::is_const_v<Out>, "what is written is const");
  static_assert(scalar_type_v<Real> != cuda::ScalarType::BFloat16,
                "cuFFT does not transform bfloat16: convert the numbers");
  const sconce_fft_desc desc =
      what.desc(kind, scalar_type_v<Real>.value_or(cuda::ScalarType::Float));
  const auto reach = [&](const cuda::DimVector& sizes, std::int64_t batch_stride,
                         const std::int64_t* strides) {
    const cuda::Span<const std::int64_t> given(strides, sizes.size());
    return extent_of(with_batch(what.batch, sizes),
                     with_batch(batch_stride, cuda::DimVector(given)));
  };
  check_size(input, "input",
             reach(what.sizes_of_input(kind), desc.in_batch_stride, desc.in_strides));
  check_size(output, "output",
             reach(what.sizes_of_output(kind), desc.out_batch_stride, desc.out_strides));
  check(::sconce_fft(&desc, input.data, output.data));
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Transforms complex numbers into complex ones: `std::complex` of float or double, `ComplexHalf`,
/// or a type with a `scalar_value_type`. Each side is a pointer, or a `DeviceSpan`, which must have
/// every element that `what` reaches; they may be the same. On the current stream of their device;
/// does not block, but a shape's first transform makes its plan.
///
/// Corresponds to `at::_fft_c2c`. Sides of other types do not compile, nor does a const `output`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a `DeviceSpan` that is too small
template <class In, class Out>
void fft_c2c(const FFT& what, const In& input, const Out& output) {
  using From = typename detail::OperandOf<In>::value;
  using To = typename detail::OperandOf<Out>::value;
  static_assert(detail::is_complex_v<From> && std::is_same_v<From, To>,
                "C2C goes from complex numbers to those of the same type");
  using Real = detail::RealOf<From>;
  detail::transform<Real>(what, SCONCE_FFT_C2C, detail::operand_of(input),
                          detail::operand_of(output));
}

/// Transforms real numbers; of the last dimension's n results the first n / 2 + 1. Otherwise as
/// `fft_c2c`. Corresponds to `at::_fft_r2c`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for `FFTDirection::Inverse`
template <class In, class Out>
void fft_r2c(const FFT& what, const In& input, const Out& output) {
  using Real = typename detail::OperandOf<In>::value;
  using To = typename detail::OperandOf<Out>::value;
  static_assert(detail::is_complex_v<To> && std::is_same_v<Real, detail::RealOf<To>>,
                "R2C goes from real numbers to complex ones of the same type");
  detail::transform<Real>(what, SCONCE_FFT_R2C, detail::operand_of(input),
                          detail::operand_of(output));
}

/// Transforms the first n / 2 + 1 of n complex numbers to real ones; inverse. Otherwise as
/// `fft_c2c`. Corresponds to `at::_fft_c2r`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for `FFTDirection::Forward`
template <class In, class Out>
void fft_c2r(const FFT& what, const In& input, const Out& output) {
  using From = typename detail::OperandOf<In>::value;
  using Real = typename detail::OperandOf<Out>::value;
  static_assert(detail::is_complex_v<From> && std::is_same_v<detail::RealOf<From>, Real>,
                "C2R goes from complex numbers to real ones of the same type");
  detail::transform<Real>(what, SCONCE_FFT_C2R, detail::operand_of(input),
                          detail::operand_of(output));
}

/// C2C of a real type that is known at run time: `Half` (powers of two), `Float`, `Double`. Each
/// side is an address, such as `buffer.get()`.
inline void fft_c2c(const FFT& what, ScalarType real, const void* input, void* output) {
  detail::transform(what, SCONCE_FFT_C2C, real, input, output);
}
/// R2C of a real type that is known at run time.
inline void fft_r2c(const FFT& what, ScalarType real, const void* input, void* output) {
  detail::transform(what, SCONCE_FFT_R2C, real, input, output);
}
/// C2R of a real type that is known at run time.
inline void fft_c2r(const FFT& what, ScalarType real, const void* input, void* output) {
  detail::transform(what, SCONCE_FFT_C2R, real, input, output);
}

/// The plans that a device keeps for transforms. Holds nothing itself; every object for a device is
/// the same cache.
///
/// Corresponds to `torch.backends.cuda.cufft_plan_cache[device]`. Threads: any.
class CuFFTPlanCache {
 public:
  /// Figures of a cache, all of one moment.
  using Stats = ::sconce_fft_cache_stats;

  /// As `max_bytes`: no limit.
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

  /// The cache of a device. With -1 each call is about the device that is current then. An index
  /// that is no device's is refused at the first call.
  explicit constexpr CuFFTPlanCache(DeviceIndex device) noexcept : device_(device) {}

  /// The index of the device; -1 is the current one.
  [[nodiscard]] constexpr DeviceIndex device_index() const noexcept { return device_; }

  /// How many plans there are.
  [[nodiscard]] std::size_t size() const {
    std::size_t size = 0;
    detail::check(::sconce_fft_cache_get_size(device_, &size));
    return size;
  }

  /// The most plans that are kept; 4096 at first.
  [[nodiscard]] std::size_t max_size() const {
    std::size_t max_size = 0;
    detail::check(::sconce_fft_cache_get_max_size(device_, &max_size));
    return max_size;
  }
  /// Sets `max_size`; plans beyond it go at once, the longest unused first. 0 keeps none.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a negative number
  void set_max_size(std::int64_t max_size) const {
    detail::check(::sconce_fft_cache_set_max_size(device_, max_size));
  }

  /// The most bytes that plans may make the device hold; `no_limit` at first.
  [[nodiscard]] std::int64_t max_bytes() const {
    std::uint64_t max_bytes = 0;
    detail::check(::sconce_fft_cache_get_max_bytes(device_, &max_bytes));
    return static_cast<std::int64_t>(max_bytes);
  }
  /// Sets `max_bytes`; plans beyond it go at once, the longest unused first.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a negative number
  void set_max_bytes(std::int64_t max_bytes) const {
    detail::check(::sconce_fft_cache_set_max_bytes(device_, max_bytes));
  }

  /// Lets all plans go. Limits and counts stay.
  void clear() const { detail::check(::sconce_fft_cache_clear(device_)); }

  /// Plans, bytes, hits, misses, evictions.
  [[nodiscard]] Stats stats() const {
    Stats stats{};
    stats.struct_size = static_cast<std::uint32_t>(sizeof(stats));
    detail::check(::sconce_fft_cache_get_stats(device_, &stats));
    return stats;
  }

  /// Sets the counts of hits, misses and evictions to 0.
  void reset_stats() const { detail::check(::sconce_fft_cache_reset_stats(device_)); }

 private:
  DeviceIndex device_;
};

/// The cache of plans of a device. Without a device each call is about the one that is current
/// then. Corresponds to `torch.backends.cuda.cufft_plan_cache`.
[[nodiscard]] constexpr CuFFTPlanCache cufft_plan_cache(DeviceIndex device = -1) noexcept {
  return CuFFTPlanCache(device);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_FFT_HPP
