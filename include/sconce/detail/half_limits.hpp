/// \file
/// `std::numeric_limits` of the 16-bit types `cuda::Half` and `cuda::BFloat16`, and what other
/// types with the same bits need for theirs. Part of `<sconce/cuda/scalar_type.hpp>`.
#ifndef SCONCE_DETAIL_HALF_LIMITS_HPP
#define SCONCE_DETAIL_HALF_LIMITS_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sconce/cuda/scalar_type.hpp>
#include <string>  // std::hash, at a fraction of what <functional> costs

/// \cond
#if defined(__CUDACC__) || defined(__HIPCC__)
#define SCONCE_LIMITS_OF_BITS __host__ __device__ constexpr
#else
#define SCONCE_LIMITS_OF_BITS constexpr
#endif
/// \endcond

namespace sconce {
inline namespace v0 {
namespace detail {

/// The limits of a type that has the bits of IEEE 754's binary16. `From::bits` makes a number.
/// What is not said here is as for `float`.
template <class T, class From>
struct HalfLimits : std::numeric_limits<float> {
  static constexpr int digits = 11;          ///< bits of the mantissa
  static constexpr int digits10 = 3;         ///< decimal digits that every number keeps
  static constexpr int max_digits10 = 5;     ///< decimal digits that tell numbers apart
  static constexpr int min_exponent = -13;   ///< 2 to the power of one less is the least normal
  static constexpr int min_exponent10 = -4;  ///< the least decimal exponent
  static constexpr int max_exponent = 16;    ///< 2 to this power is beyond the largest
  static constexpr int max_exponent10 = 4;   ///< the largest decimal exponent
  /// The least positive normal number, 2^-14.
  static SCONCE_LIMITS_OF_BITS T min() noexcept { return From::bits(0x0400); }
  /// -65,504.
  static SCONCE_LIMITS_OF_BITS T lowest() noexcept { return From::bits(0xFBFF); }
  /// 65,504.
  static SCONCE_LIMITS_OF_BITS T max() noexcept { return From::bits(0x7BFF); }
  /// The distance from 1 to the next number, 2^-10.
  static SCONCE_LIMITS_OF_BITS T epsilon() noexcept { return From::bits(0x1400); }
  /// The largest error of rounding, in units of the last place: 0.5.
  static SCONCE_LIMITS_OF_BITS T round_error() noexcept { return From::bits(0x3800); }
  /// Infinity.
  static SCONCE_LIMITS_OF_BITS T infinity() noexcept { return From::bits(0x7C00); }
  /// A quiet NaN.
  static SCONCE_LIMITS_OF_BITS T quiet_NaN() noexcept { return From::bits(0x7E00); }
  /// A signalling NaN.
  static SCONCE_LIMITS_OF_BITS T signaling_NaN() noexcept { return From::bits(0x7D00); }
  /// The least positive number, 2^-24.
  static SCONCE_LIMITS_OF_BITS T denorm_min() noexcept { return From::bits(0x0001); }
};

/// The limits of a type that has the upper 16 bits of a single.
template <class T, class From>
struct BFloat16Limits : std::numeric_limits<float> {
  static constexpr bool is_iec559 = false;  ///< IEEE 754 has no such format
  static constexpr int digits = 8;          ///< bits of the mantissa
  static constexpr int digits10 = 2;        ///< decimal digits that every number keeps
  static constexpr int max_digits10 = 4;    ///< decimal digits that tell numbers apart
  /// The least positive normal number, 2^-126.
  static SCONCE_LIMITS_OF_BITS T min() noexcept { return From::bits(0x0080); }
  /// The least number, about -3.39e38.
  static SCONCE_LIMITS_OF_BITS T lowest() noexcept { return From::bits(0xFF7F); }
  /// The largest number, about 3.39e38.
  static SCONCE_LIMITS_OF_BITS T max() noexcept { return From::bits(0x7F7F); }
  /// The distance from 1 to the next number, 2^-7.
  static SCONCE_LIMITS_OF_BITS T epsilon() noexcept { return From::bits(0x3C00); }
  /// The largest error of rounding, in units of the last place: 0.5.
  static SCONCE_LIMITS_OF_BITS T round_error() noexcept { return From::bits(0x3F00); }
  /// Infinity.
  static SCONCE_LIMITS_OF_BITS T infinity() noexcept { return From::bits(0x7F80); }
  /// A quiet NaN.
  static SCONCE_LIMITS_OF_BITS T quiet_NaN() noexcept { return From::bits(0x7FC0); }
  /// A signalling NaN.
  static SCONCE_LIMITS_OF_BITS T signaling_NaN() noexcept { return From::bits(0x7FA0); }
  /// The least positive number, 2^-133.
  static SCONCE_LIMITS_OF_BITS T denorm_min() noexcept { return From::bits(0x0001); }
};

/// Hashes the bits of a number; both zeros, which are equal, alike.
template <class T>
struct HashOfBits {
  /// The hash.
  std::size_t operator()(const T& number) const noexcept {
    return std::hash<std::uint16_t>()(number.x == 0x8000U ? std::uint16_t{0} : number.x);
  }
};

/// Makes an aggregate of its bits.
template <class T>
struct FromBits {
  /// The number with these bits.
  static SCONCE_LIMITS_OF_BITS T bits(std::uint16_t bits) noexcept { return T{bits}; }
};

}  // namespace detail
}  // namespace v0
}  // namespace sconce

// Doxygen 1.9 cannot place a specialisation of std.
/// \cond
template <>
class std::numeric_limits<sconce::cuda::Half>
    : public sconce::detail::HalfLimits<sconce::cuda::Half,
                                        sconce::detail::FromBits<sconce::cuda::Half>> {};
template <>
class std::numeric_limits<sconce::cuda::BFloat16>
    : public sconce::detail::BFloat16Limits<sconce::cuda::BFloat16,
                                            sconce::detail::FromBits<sconce::cuda::BFloat16>> {};
/// \endcond

#undef SCONCE_LIMITS_OF_BITS

#endif  // SCONCE_DETAIL_HALF_LIMITS_HPP
