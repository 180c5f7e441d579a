/// \file
/// Fourier transforms, and the cache of their plans.
#ifndef SCONCE_CUDA_FFT_HPP
#define SCONCE_CUDA_FFT_HPP

#include <sconce/c/fft.h>
#include <sconce/c/library.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sconce/cuda/device.hpp>
#include <sconce/cuda/stream.hpp>
#include <sconce/detail/operand.hpp>
#include <string>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Returns batch and dimensions of a side together, as sizes or as strides; no strides if packed.
inline cuda::DimVector with_batch(std::int64_t batch, const cuda::DimVector& numbers) {
  cuda::DimVector all{batch, 0, 0, 0, 0};
  std::copy(numbers.begin(), numbers.end(), &all[1]);
  return cuda::DimVector(cuda::Span<const std::int64_t>(all.data(), 1 + numbers.size()));
}

/// Returns the strides of a packed array.
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

/// The number by which results are divided. Corresponds to `at::native::fft_norm_mode`.
enum class FFTNorm : std::int32_t {
  None = SCONCE_FFT_NORM_NONE,          ///< 1, as in cuFFT; torch's forward transforms
  ByRootN = SCONCE_FFT_NORM_BY_ROOT_N,  ///< the square root of the number of elements ("ortho")
  ByN = SCONCE_FFT_NORM_BY_N,           ///< the number of elements; torch's inverse transforms
};

/// A batch of transforms of 1 to 3 dimensions. Fields have the usual defaults: one transform,
/// packed, in its kind's direction, not normalised. Torch's `ifft` and `irfft` correspond to
/// `FFTNorm::ByN`.
///
/// Strides count elements of their side, real or complex. A side without strides is packed. A side
/// with only the batch's stride consists of packed transforms. An input with strides but without
/// the batch's stride is one transform, which is repeated.
///
/// In place, rows of R2C and C2R have room for both sides, 2 * (n / 2 + 1) reals: that is the real
/// side's stride from row to row, or of the batch.
struct FFT {
  DimVector sizes = {};    ///< of the real side, outermost first; for C2C of both sides
  std::int64_t batch = 1;  ///< number of transforms
  /// If not set, C2C and R2C are forward and C2R is inverse, the only direction of the latter two.
  std::optional<FFTDirection> direction = {};
  FFTNorm normalization = FFTNorm::None;  ///< the number by which results are divided
  DimVector in_strides = {};              ///< distances along each dimension of the input
  std::int64_t in_batch_stride = 0;       ///< distance of transforms in the input
  DimVector out_strides = {};             ///< distances along each dimension of the output
  std::int64_t out_batch_stride = 0;      ///< distance of transforms in the output
  bool may_overwrite_input = false;       ///< whether C2R may overwrite its input

  /// Returns the C API's description of a transform of one of the kinds `SCONCE_FFT_…`.
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
    // A stride of the batch alone: transforms are packed, and this is their distance.
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

  /// Returns the sizes of the complex side of R2C and C2R: n / 2 + 1 along the last dimension.
  [[nodiscard]] DimVector onesided_sizes() const noexcept {
    DimVector onesided = sizes;
    if (!onesided.empty()) {
      std::int64_t& last = onesided[onesided.size() - 1];
      last = last / 2 + 1;
    }
    return onesided;
  }

  /// Returns the sizes of the input of a transform of one of the kinds `SCONCE_FFT_…`.
  [[nodiscard]] DimVector sizes_of_input(std::int32_t kind) const noexcept {
    return kind == SCONCE_FFT_C2R ? onesided_sizes() : sizes;
  }
  /// Returns the sizes of the output of such a transform.
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
                      const void* input, void* output, const cuda::OptionalStream& stream) {
  const sconce_fft_desc desc = what.desc(kind, real);
  call_on(stream, ::sconce_fft, ::sconce_fft_on, &desc, input, output);
}

/// Checks that the types of the sides match, and their sizes if they are known.
template <class Real, class In, class Out>
void transform(const cuda::FFT& what, std::int32_t kind, const Operand<In>& input,
               const Operand<Out>& output, const cuda::OptionalStream& stream) {
  static_assert(!std::is_const_v<Out>, "the destination is const");
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
  call_on(stream, ::sconce_fft, ::sconce_fft_on, &desc, input.data, output.data);
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Transforms complex numbers into complex ones: `std::complex` of float or double, `ComplexHalf`,
/// or a type with a `scalar_value_type`. Each side is a pointer, or a `DeviceSpan`, which must have
/// every element that `what` reaches; both sides may be the same. Runs on `stream`, else on the
/// current stream of their device. Does not block, except that the first transform of a shape makes
/// its plan.
///
/// Corresponds to `at::_fft_c2c`. Sides of other types do not compile, nor does a const `output`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a `DeviceSpan` that is too small
template <class In, class Out>
void fft_c2c(const FFT& what, const In& input, const Out& output,
             const OptionalStream& stream = std::nullopt) {
  using From = typename detail::OperandOf<In>::value;
  using To = typename detail::OperandOf<Out>::value;
  static_assert(detail::is_complex_v<From> && std::is_same_v<From, To>,
                "C2C goes from complex numbers to those of the same type");
  using Real = detail::RealOf<From>;
  detail::transform<Real>(what, SCONCE_FFT_C2C, detail::operand_of(input),
                          detail::operand_of(output), stream);
}

/// Transforms real numbers into the first n / 2 + 1 of the last dimension's n results. Otherwise as
/// `fft_c2c`. Corresponds to `at::_fft_r2c`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for `FFTDirection::Inverse`
template <class In, class Out>
void fft_r2c(const FFT& what, const In& input, const Out& output,
             const OptionalStream& stream = std::nullopt) {
  using Real = typename detail::OperandOf<In>::value;
  using To = typename detail::OperandOf<Out>::value;
  static_assert(detail::is_complex_v<To> && std::is_same_v<Real, detail::RealOf<To>>,
                "R2C goes from real numbers to complex ones of the same type");
  detail::transform<Real>(what, SCONCE_FFT_R2C, detail::operand_of(input),
                          detail::operand_of(output), stream);
}

/// Transforms the first n / 2 + 1 of n complex numbers into real ones; inverse. Otherwise as
/// `fft_c2c`. Corresponds to `at::_fft_c2r`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for `FFTDirection::Forward`
template <class In, class Out>
void fft_c2r(const FFT& what, const In& input, const Out& output,
             const OptionalStream& stream = std::nullopt) {
  using From = typename detail::OperandOf<In>::value;
  using Real = typename detail::OperandOf<Out>::value;
  static_assert(detail::is_complex_v<From> && std::is_same_v<detail::RealOf<From>, Real>,
                "C2R goes from complex numbers to real ones of the same type");
  detail::transform<Real>(what, SCONCE_FFT_C2R, detail::operand_of(input),
                          detail::operand_of(output), stream);
}

/// Computes C2C of a real type that is known at run time: `Half` (powers of two), `Float`,
/// `Double`. Each side is an address, such as `buffer.get()`.
inline void fft_c2c(const FFT& what, ScalarType real, const void* input, void* output,
                    const OptionalStream& stream = std::nullopt) {
  detail::transform(what, SCONCE_FFT_C2C, real, input, output, stream);
}
/// Computes R2C of a real type that is known at run time.
inline void fft_r2c(const FFT& what, ScalarType real, const void* input, void* output,
                    const OptionalStream& stream = std::nullopt) {
  detail::transform(what, SCONCE_FFT_R2C, real, input, output, stream);
}
/// Computes C2R of a real type that is known at run time.
inline void fft_c2r(const FFT& what, ScalarType real, const void* input, void* output,
                    const OptionalStream& stream = std::nullopt) {
  detail::transform(what, SCONCE_FFT_C2R, real, input, output, stream);
}

/// The cache of a device's plans. Objects of this class have no state of their own: all objects for
/// a device refer to the same cache.
///
/// Corresponds to `torch.backends.cuda.cufft_plan_cache[device]`. Any thread may use it.
class CuFFTPlanCache {
 public:
  /// Statistics of a cache, all at one moment.
  using Stats = ::sconce_fft_cache_stats;

  /// The value of `max_bytes` that means no limit.
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

  /// The cache of a device. With -1, each call uses the device that is current at that time. The
  /// first call refuses an index that names no device.
  explicit constexpr CuFFTPlanCache(DeviceIndex device) noexcept : device_(device) {}

  /// The index of the device; -1 is the current one.
  [[nodiscard]] constexpr DeviceIndex device_index() const noexcept { return device_; }

  /// The number of plans.
  [[nodiscard]] std::size_t size() const {
    std::size_t size = 0;
    detail::check(::sconce_fft_cache_get_size(device_, &size));
    return size;
  }

  /// The largest number of plans that are kept; 4096 by default.
  [[nodiscard]] std::size_t max_size() const {
    std::size_t max_size = 0;
    detail::check(::sconce_fft_cache_get_max_size(device_, &max_size));
    return max_size;
  }
  /// Sets `max_size`; plans beyond it are evicted at once, least recently used first. 0 keeps none.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a negative number
  void set_max_size(std::int64_t max_size) const {
    detail::check(::sconce_fft_cache_set_max_size(device_, max_size));
  }

  /// The limit of the device memory that plans may use, in bytes; `no_limit` by default.
  [[nodiscard]] std::int64_t max_bytes() const {
    std::uint64_t max_bytes = 0;
    detail::check(::sconce_fft_cache_get_max_bytes(device_, &max_bytes));
    return static_cast<std::int64_t>(max_bytes);
  }
  /// Sets `max_bytes`; plans beyond it are evicted at once, least recently used first.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for a negative number
  void set_max_bytes(std::int64_t max_bytes) const {
    detail::check(::sconce_fft_cache_set_max_bytes(device_, max_bytes));
  }

  /// Evicts all plans. Limits and counts do not change.
  void clear() const { detail::check(::sconce_fft_cache_clear(device_)); }

  /// Returns plans, bytes, hits, misses and evictions.
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

/// Returns the plan cache of a device. Without a device, each call uses the device that is current
/// at that time. Corresponds to `torch.backends.cuda.cufft_plan_cache`.
[[nodiscard]] constexpr CuFFTPlanCache cufft_plan_cache(DeviceIndex device = -1) noexcept {
  return CuFFTPlanCache(device);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_FFT_HPP
