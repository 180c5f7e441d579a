/// \file
/// How a single becomes a number of 8 or 16 bits, and the reverse, on the host and on the device.
/// Not for callers: part of the headers of `compat/numbers`.
#ifndef SCONCE_COMPAT_NUMBERS_BITS_HPP
#define SCONCE_COMPAT_NUMBERS_BITS_HPP

#include <cstdint>
#include <cstring>

/// \cond
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define SCONCE_COMPAT_BOTH __host__ __device__
#else
#define SCONCE_COMPAT_BOTH
#endif
/// \endcond

namespace sconce {
inline namespace v0 {
namespace compat {
namespace detail {

/// The bits of a single.
SCONCE_COMPAT_BOTH inline std::uint32_t bits_of(float value) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
/// The single with these bits.
SCONCE_COMPAT_BOTH inline float single_of(std::uint32_t bits) noexcept {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The half nearest to a single; of two, the even one. On the device, the instruction for it.
SCONCE_COMPAT_BOTH inline std::uint16_t half_of(float value) noexcept {
#ifdef __CUDA_ARCH__
  return __half_as_ushort(__float2half(value));
#else
  const std::uint32_t bits = bits_of(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return static_cast<std::uint16_t>(sign | 0x7E00U);  // not a number
  }
  if (magnitude >= 0x47800000U) {  // 65,536 and above
    return static_cast<std::uint16_t>(sign | 0x7C00U);
  }
  if (magnitude < 0x38800000U) {  // below the least normal half
    // Adding 0.5 leaves the mantissa of the half in the last bits, rounded by the addition.
    const std::uint32_t rounded = bits_of(single_of(magnitude) + 0.5F);
    return static_cast<std::uint16_t>(sign | (rounded - 0x3F000000U));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t rounded = magnitude - 0x38000000U + 0xFFFU + odd;
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
#endif
}
/// A half as a single, exactly. What is not a number becomes a quiet one. On the device, the
/// instruction for it.
SCONCE_COMPAT_BOTH inline float single_of_half(std::uint16_t half) noexcept {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(half));
#else
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) {  // infinite, or not a number
    const std::uint32_t quiet = magnitude > 0x7C00U ? 0x400000U : 0U;
    return single_of(sign | 0x7F800000U | quiet | (magnitude << 13 & 0x7FFFFFU));
  }
  if (magnitude < 0x400U) {  // a multiple of 2^-24
    return single_of(sign | bits_of(static_cast<float>(magnitude) * 5.9604644775390625e-8F));
  }
  return single_of(sign | ((magnitude << 13) + 0x38000000U));
#endif
}

/// The upper half nearest to a single; of two, the even one. On devices from 8.0 on, the
/// instruction for it.
SCONCE_COMPAT_BOTH inline std::uint16_t upper_half_of(float value) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __bfloat16_as_ushort(__float2bfloat16(value));
#else
  const std::uint32_t bits = bits_of(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return 0x7FC0U;
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
#endif
}
/// An upper half as a single, exactly.
SCONCE_COMPAT_BOTH inline float single_of_upper_half(std::uint16_t bits) noexcept {
#ifdef __CUDA_ARCH__
  return __bfloat162float(__ushort_as_bfloat16(bits));
#else
  return single_of(static_cast<std::uint32_t>(bits) << 16);
#endif
}

/// What a format of 8 bits has instead of IEEE 754's special numbers.
enum class Special : std::uint8_t {
  infinities,   ///< infinities and several NaNs, as IEEE 754 has
  one_nan,      ///< no infinities; a NaN of each sign, with all other bits set
  unsigned_nan  ///< no infinities and no negative zero; the NaN has the bits of that
};

/// A format of 8 bits with a sign. A number is `2^(exponent - bias)` times 1 and its mantissa.
/// \tparam mantissa the bits of the mantissa; those of the exponent are 7 less these
/// \tparam bias what is subtracted from the exponent's bits
/// \tparam limit the bits of the least single that is too large even before it is rounded
template <int mantissa, int bias, std::uint32_t limit, Special special>
struct Format8 {
  /// Half of the distance between two numbers, in units of the single's last place, less one.
  static constexpr std::uint32_t below_half = (1U << (22 - mantissa)) - 1U;
  /// Where the mantissa begins in a single.
  static constexpr int shift = 23 - mantissa;

  /// The number nearest to a single; of two, the even one. What is too large becomes infinite, or
  /// not a number.
  SCONCE_COMPAT_BOTH static std::uint8_t from_single(float value) noexcept {
    const std::uint32_t bits = bits_of(value);
    const auto sign = static_cast<std::uint8_t>(bits >> 24 & 0x80U);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude >= limit) {
      if (special == Special::unsigned_nan) {
        return 0x80U;
      }
      const bool infinite = special == Special::infinities && magnitude <= 0x7F800000U;
      return static_cast<std::uint8_t>(sign | (infinite ? 0x7CU : 0x7FU));
    }
    std::uint32_t rounded = 0;
    if (magnitude < static_cast<std::uint32_t>(128 - bias) << 23) {  // below the least normal one
      // The sum's last place is the distance between these numbers, so the addition rounds.
      const std::uint32_t large = static_cast<std::uint32_t>(151 - bias - mantissa) << 23;
      rounded = bits_of(single_of(magnitude) + single_of(large)) - large;
      if (special == Special::unsigned_nan && rounded == 0) {
        return 0;
      }
    } else {
      const std::uint32_t odd = magnitude >> shift & 1U;
      const std::uint32_t moved = magnitude - (static_cast<std::uint32_t>(127 - bias) << 23);
      rounded = (moved + below_half + odd) >> shift;
    }
    return static_cast<std::uint8_t>(sign | rounded);
  }

  /// A number as a single, exactly.
  SCONCE_COMPAT_BOTH static float to_single(std::uint8_t bits) noexcept {
    const std::uint32_t sign = (bits & 0x80U) << 24;
    const std::uint32_t magnitude = bits & 0x7FU;
    if (special == Special::unsigned_nan && bits == 0x80U) {
      return single_of(0x7F800001U);
    }
    if (special == Special::one_nan && magnitude == 0x7FU) {
      return single_of(sign | 0x7FF00000U);
    }
    if (special == Special::infinities && magnitude >= 0x7CU) {
#ifdef __CUDA_ARCH__
      const std::uint32_t payload = 0x7FFFFFU;  // as the device's instructions give it
#else
      const std::uint32_t payload = 0x400000U | (magnitude << shift & 0x7FFFFFU);
#endif
      return single_of(sign | 0x7F800000U | (magnitude > 0x7CU ? payload : 0U));
    }
    if (magnitude >> mantissa == 0) {  // a multiple of the least number
      const float least = single_of(static_cast<std::uint32_t>(128 - bias - mantissa) << 23);
      return single_of(sign | bits_of(static_cast<float>(magnitude) * least));
    }
    return single_of(sign |
                     ((magnitude << shift) + (static_cast<std::uint32_t>(127 - bias) << 23)));
  }
};

}  // namespace detail
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_NUMBERS_BITS_HPP
