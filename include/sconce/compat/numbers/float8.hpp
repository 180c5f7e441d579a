/// \file
/// Numbers of 8 bits that compute as c10's do, on the host and on the device, and pairs of numbers
/// of 4 bits. For code written for c10; part of `<sconce/compat/c10.hpp>`.
///
/// All conversions round to the nearest number, and of two to the even one. What is too large
/// becomes infinite where the format has infinities and a NaN elsewhere: nothing saturates, which
/// is what `__nv_fp8_e4m3` does.
#ifndef SCONCE_COMPAT_NUMBERS_FLOAT8_HPP
#define SCONCE_COMPAT_NUMBERS_FLOAT8_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sconce/compat/numbers/bits.hpp>
#include <sconce/compat/numbers/operators.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <string>  // std::hash, at a fraction of what <functional> costs
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// \cond
// What the types with a sign share. `Format` converts, `nans` tells what is not a number.
#define SCONCE_COMPAT_FLOAT8(T, Format, nans)                                                      \
  std::uint8_t x; /* the bits */                                                                   \
  struct from_bits_t {};                                                                           \
  SCONCE_COMPAT_BOTH static constexpr from_bits_t from_bits() noexcept { return {}; }              \
  T() = default;                                                                                   \
  SCONCE_COMPAT_BOTH constexpr T(std::uint8_t bits, from_bits_t) noexcept : x(bits) {}             \
  SCONCE_COMPAT_BOTH T(float value) noexcept : x(Format::from_single(value)) {} /* NOLINT */       \
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>                 \
  SCONCE_COMPAT_BOTH T(Number value) noexcept : T(static_cast<float>(value)) {}       /* NOLINT */ \
  SCONCE_COMPAT_BOTH operator float() const noexcept { return Format::to_single(x); } /* NOLINT */ \
  SCONCE_COMPAT_BOTH constexpr bool isnan() const noexcept { return nans; }
/// \endcond

/// 4 bits of exponent, 3 of mantissa, a NaN of each sign, and no infinities. The largest is 448;
/// what is nearer to 480 becomes a NaN. Converts from numbers and to `float` by itself, from bits
/// with `from_bits()`. Corresponds to `c10::Float8_e4m3fn`.
struct alignas(1) Float8_e4m3fn {
  /// \cond
  using Format = compat::detail::Format8<3, 7, 0x43F00000U, compat::detail::Special::one_nan>;
  SCONCE_COMPAT_FLOAT8(Float8_e4m3fn, Format, (x & 0x7FU) == 0x7FU)
  /// \endcond
};
/// 5 bits of exponent, 2 of mantissa: the upper half of a half. The largest is 57,344; what is
/// nearer to 65,536 becomes infinite. Corresponds to `c10::Float8_e5m2`.
struct alignas(1) Float8_e5m2 {
  /// \cond
  using Format = compat::detail::Format8<2, 15, 0x47800000U, compat::detail::Special::infinities>;
  SCONCE_COMPAT_FLOAT8(Float8_e5m2, Format, (x & 0x7FU) > 0x7CU)
  /// \endcond
  /// Whether the number is infinite.
  SCONCE_COMPAT_BOTH constexpr bool isinf() const noexcept { return (x & 0x7FU) == 0x7CU; }
};
/// 4 bits of exponent, 3 of mantissa, one NaN, and neither infinities nor a negative zero. The
/// largest is 240. Corresponds to `c10::Float8_e4m3fnuz`.
struct alignas(1) Float8_e4m3fnuz {
  /// \cond
  using Format = compat::detail::Format8<3, 8, 0x43800000U, compat::detail::Special::unsigned_nan>;
  SCONCE_COMPAT_FLOAT8(Float8_e4m3fnuz, Format, x == 0x80U)
  /// \endcond
};
/// 5 bits of exponent, 2 of mantissa, one NaN, and neither infinities nor a negative zero. The
/// largest is 57,344. Corresponds to `c10::Float8_e5m2fnuz`.
struct alignas(1) Float8_e5m2fnuz {
  /// \cond
  using Format = compat::detail::Format8<2, 16, 0x47800000U, compat::detail::Special::unsigned_nan>;
  SCONCE_COMPAT_FLOAT8(Float8_e5m2fnuz, Format, x == 0x80U)
  /// \endcond
  /// Whether the number is infinite: never.
  SCONCE_COMPAT_BOTH constexpr bool isinf() const noexcept { return false; }
};
/// \cond
#undef SCONCE_COMPAT_FLOAT8
/// \endcond

/// A power of two from 2^-127 to 2^127, or a NaN: 8 bits of exponent, and no sign. It has no
/// arithmetic of its own: its `float` computes. Corresponds to `c10::Float8_e8m0fnu`.
struct alignas(1) Float8_e8m0fnu {
  std::uint8_t x;  ///< the bits

  /// Selects the constructor from bits.
  struct from_bits_t {};
  /// Selects the constructor from bits.
  SCONCE_COMPAT_BOTH static constexpr from_bits_t from_bits() noexcept { return {}; }

  Float8_e8m0fnu() = default;
  /// The number with these bits.
  SCONCE_COMPAT_BOTH constexpr Float8_e8m0fnu(std::uint8_t bits, from_bits_t) noexcept : x(bits) {}
  /// The exponent of a single whose sign is left out; one more from 1.5 times the power on, and
  /// from above 2^-127 on as in c10. What is infinite or not a number becomes a NaN.
  SCONCE_COMPAT_BOTH Float8_e8m0fnu(float value) noexcept : x(0) {  // NOLINT
    const std::uint32_t magnitude = compat::detail::bits_of(value) & 0x7FFFFFFFU;
    const std::uint32_t exponent = magnitude >> 23;
    const std::uint32_t mantissa = magnitude & 0x7FFFFFU;
    // 2^-127 lies in the middle between 0 and 2^-126 in a single's bits, and is the least number.
    const std::uint32_t up = exponent > 0 ? mantissa >= 0x400000U : mantissa > 0x400000U;
    x = static_cast<std::uint8_t>(exponent == 0xFFU ? exponent : exponent + up);
  }
  /// The number nearest to the single that is nearest to a number of another type.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  SCONCE_COMPAT_BOTH Float8_e8m0fnu(Number value) noexcept  // NOLINT: as c10::Float8_e8m0fnu
      : Float8_e8m0fnu(static_cast<float>(value)) {}
  /// The number as a single, exactly.
  SCONCE_COMPAT_BOTH operator float() const noexcept {  // NOLINT: as c10::Float8_e8m0fnu
    if (isnan()) {
      return compat::detail::single_of(0x7F800001U);
    }
    return compat::detail::single_of(x == 0 ? 0x00400000U : static_cast<std::uint32_t>(x) << 23);
  }
  /// Whether it is not a number.
  SCONCE_COMPAT_BOTH constexpr bool isnan() const noexcept { return x == 0xFFU; }
};

/// Two numbers of 4 bits in a byte: 2 bits of exponent, 1 of mantissa, and a sign. It only carries
/// them. Corresponds to `c10::Float4_e2m1fn_x2`.
struct alignas(1) Float4_e2m1fn_x2 {
  std::uint8_t val_;  ///< the first number in the lower bits

  Float4_e2m1fn_x2() = default;
  /// The two numbers with these bits.
  SCONCE_COMPAT_BOTH explicit Float4_e2m1fn_x2(std::uint8_t bits) noexcept : val_(bits) {}
};
/// Whether both numbers of two pairs have the same bits.
SCONCE_COMPAT_BOTH inline bool operator==(const Float4_e2m1fn_x2& a,
                                          const Float4_e2m1fn_x2& b) noexcept {
  return a.val_ == b.val_;
}
/// Whether two pairs differ in a bit.
SCONCE_COMPAT_BOTH inline bool operator!=(const Float4_e2m1fn_x2& a,
                                          const Float4_e2m1fn_x2& b) noexcept {
  return a.val_ != b.val_;
}

/// \cond
#define SCONCE_COMPAT_FLOAT8(T) \
  SCONCE_COMPAT_OPERATIONS(T)   \
  SCONCE_COMPAT_TEXT(T)         \
  SCONCE_COMPAT_BOTH inline T operator-(const T& a) noexcept { return T(-static_cast<float>(a)); }
SCONCE_COMPAT_FLOAT8(Float8_e4m3fn)
SCONCE_COMPAT_FLOAT8(Float8_e5m2)
SCONCE_COMPAT_FLOAT8(Float8_e4m3fnuz)
SCONCE_COMPAT_FLOAT8(Float8_e5m2fnuz)
#undef SCONCE_COMPAT_FLOAT8
SCONCE_COMPAT_TEXT(Float8_e8m0fnu)
/// \endcond

}  // namespace c10

namespace detail {

/// The limits that the numbers of 8 bits share; the digits and exponents are those of c10.
template <class T, int digits_, int decimal, int least, int least10, int most, int most10>
struct LimitsOf8 {
  /// \cond
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr bool has_denorm = true;
  static constexpr bool has_denorm_loss = true;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr bool is_iec559 = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr int digits = digits_;
  static constexpr int digits10 = 0;
  static constexpr int max_digits10 = decimal;
  static constexpr int radix = 2;
  static constexpr int min_exponent = least;
  static constexpr int min_exponent10 = least10;
  static constexpr int max_exponent = most;
  static constexpr int max_exponent10 = most10;
  SCONCE_COMPAT_BOTH static constexpr T bits(unsigned number) noexcept {
    return T(static_cast<std::uint8_t>(number), T::from_bits());
  }
  SCONCE_COMPAT_BOTH static constexpr T denorm_min() noexcept { return bits(1); }
  /// \endcond
};

/// Hashes the bits of a number; zeros, which are equal, alike.
/// \tparam zero the bits of the negative zero, or of 0 where there is none
template <class T, std::uint8_t zero>
struct HashOf8 {
  /// The hash.
  std::size_t operator()(const T& number) const noexcept {
    return std::hash<std::uint8_t>()(number.x == zero ? std::uint8_t{0} : number.x);
  }
};

}  // namespace detail
}  // namespace compat

namespace cuda {

/// The type that computes.
template <>
struct CppTypeToScalarType<compat::c10::Float8_e4m3fn>
    : std::integral_constant<ScalarType, ScalarType::Float8_e4m3fn> {};
/// The type that computes.
template <>
struct CppTypeToScalarType<compat::c10::Float8_e5m2>
    : std::integral_constant<ScalarType, ScalarType::Float8_e5m2> {};
/// The type that computes.
template <>
struct CppTypeToScalarType<compat::c10::Float8_e4m3fnuz>
    : std::integral_constant<ScalarType, ScalarType::Float8_e4m3fnuz> {};
/// The type that computes.
template <>
struct CppTypeToScalarType<compat::c10::Float8_e5m2fnuz>
    : std::integral_constant<ScalarType, ScalarType::Float8_e5m2fnuz> {};
/// Powers of two.
template <>
struct CppTypeToScalarType<compat::c10::Float8_e8m0fnu>
    : std::integral_constant<ScalarType, ScalarType::Float8_e8m0fnu> {};
/// Pairs of numbers of 4 bits.
template <>
struct CppTypeToScalarType<compat::c10::Float4_e2m1fn_x2>
    : std::integral_constant<ScalarType, ScalarType::Float4_e2m1fn_x2> {};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

// Doxygen 1.9 cannot place a specialisation of std.
/// \cond
#define SCONCE_COMPAT_LIMIT(name, number) \
  SCONCE_COMPAT_BOTH static constexpr Type name() noexcept { return bits(number); }
template <>
class std::numeric_limits<sconce::compat::c10::Float8_e4m3fn>
    : public sconce::compat::detail::LimitsOf8<sconce::compat::c10::Float8_e4m3fn, 4, 3, -5, -1, 8,
                                               2> {
  using Type = sconce::compat::c10::Float8_e4m3fn;

 public:
  SCONCE_COMPAT_LIMIT(min, 0x08)
  SCONCE_COMPAT_LIMIT(max, 0x7E)
  SCONCE_COMPAT_LIMIT(lowest, 0xFE)
  SCONCE_COMPAT_LIMIT(epsilon, 0x20)
  SCONCE_COMPAT_LIMIT(round_error, 0x30)
  SCONCE_COMPAT_LIMIT(infinity, 0x7F)
  SCONCE_COMPAT_LIMIT(quiet_NaN, 0x7F)
  SCONCE_COMPAT_LIMIT(signaling_NaN, 0x7F)
};
template <>
class std::numeric_limits<sconce::compat::c10::Float8_e5m2>
    : public sconce::compat::detail::LimitsOf8<sconce::compat::c10::Float8_e5m2, 3, 2, -13, -4, 16,
                                               4> {
  using Type = sconce::compat::c10::Float8_e5m2;

 public:
  static constexpr bool has_infinity = true;
  SCONCE_COMPAT_LIMIT(min, 0x04)
  SCONCE_COMPAT_LIMIT(max, 0x7B)
  SCONCE_COMPAT_LIMIT(lowest, 0xFB)
  SCONCE_COMPAT_LIMIT(epsilon, 0x34)
  SCONCE_COMPAT_LIMIT(round_error, 0x38)
  SCONCE_COMPAT_LIMIT(infinity, 0x7C)
  SCONCE_COMPAT_LIMIT(quiet_NaN, 0x7F)
  SCONCE_COMPAT_LIMIT(signaling_NaN, 0x7D)
};
template <>
class std::numeric_limits<sconce::compat::c10::Float8_e4m3fnuz>
    : public sconce::compat::detail::LimitsOf8<sconce::compat::c10::Float8_e4m3fnuz, 4, 3, -6, -1,
                                               8, 2> {
  using Type = sconce::compat::c10::Float8_e4m3fnuz;

 public:
  SCONCE_COMPAT_LIMIT(min, 0x08)
  SCONCE_COMPAT_LIMIT(max, 0x7F)
  SCONCE_COMPAT_LIMIT(lowest, 0xFF)
  SCONCE_COMPAT_LIMIT(epsilon, 0x28)
  SCONCE_COMPAT_LIMIT(round_error, 0x38)
  SCONCE_COMPAT_LIMIT(infinity, 0x80)
  SCONCE_COMPAT_LIMIT(quiet_NaN, 0x80)
  SCONCE_COMPAT_LIMIT(signaling_NaN, 0x80)
};
template <>
class std::numeric_limits<sconce::compat::c10::Float8_e5m2fnuz>
    : public sconce::compat::detail::LimitsOf8<sconce::compat::c10::Float8_e5m2fnuz, 3, 2, -14, -4,
                                               16, 4> {
  using Type = sconce::compat::c10::Float8_e5m2fnuz;

 public:
  SCONCE_COMPAT_LIMIT(min, 0x04)
  SCONCE_COMPAT_LIMIT(max, 0x7F)
  SCONCE_COMPAT_LIMIT(lowest, 0xFF)
  SCONCE_COMPAT_LIMIT(epsilon, 0x34)
  SCONCE_COMPAT_LIMIT(round_error, 0x38)
  SCONCE_COMPAT_LIMIT(infinity, 0x80)
  SCONCE_COMPAT_LIMIT(quiet_NaN, 0x80)
  SCONCE_COMPAT_LIMIT(signaling_NaN, 0x80)
};
template <>
class std::numeric_limits<sconce::compat::c10::Float8_e8m0fnu>
    : public sconce::compat::detail::LimitsOf8<sconce::compat::c10::Float8_e8m0fnu, 1, 1, -126, -38,
                                               128, 38> {
  using Type = sconce::compat::c10::Float8_e8m0fnu;

 public:
  static constexpr bool is_signed = false;
  static constexpr bool has_denorm = false;
  static constexpr bool has_denorm_loss = false;
  SCONCE_COMPAT_LIMIT(min, 0x00)
  SCONCE_COMPAT_LIMIT(max, 0xFE)
  SCONCE_COMPAT_LIMIT(lowest, 0x00)
  SCONCE_COMPAT_LIMIT(epsilon, 0x7F)
  SCONCE_COMPAT_LIMIT(round_error, 0x7E)
  SCONCE_COMPAT_LIMIT(infinity, 0xFF)
  SCONCE_COMPAT_LIMIT(quiet_NaN, 0xFF)
  SCONCE_COMPAT_LIMIT(signaling_NaN, 0xFF)
  SCONCE_COMPAT_LIMIT(denorm_min, 0x00)
};
#undef SCONCE_COMPAT_LIMIT

template <>
struct std::hash<sconce::compat::c10::Float8_e4m3fn>
    : sconce::compat::detail::HashOf8<sconce::compat::c10::Float8_e4m3fn, 0x80> {};
template <>
struct std::hash<sconce::compat::c10::Float8_e5m2>
    : sconce::compat::detail::HashOf8<sconce::compat::c10::Float8_e5m2, 0x80> {};
template <>
struct std::hash<sconce::compat::c10::Float8_e4m3fnuz>
    : sconce::compat::detail::HashOf8<sconce::compat::c10::Float8_e4m3fnuz, 0> {};
template <>
struct std::hash<sconce::compat::c10::Float8_e5m2fnuz>
    : sconce::compat::detail::HashOf8<sconce::compat::c10::Float8_e5m2fnuz, 0> {};
template <>
struct std::hash<sconce::compat::c10::Float8_e8m0fnu>
    : sconce::compat::detail::HashOf8<sconce::compat::c10::Float8_e8m0fnu, 0> {};
/// \endcond

#endif  // SCONCE_COMPAT_NUMBERS_FLOAT8_HPP
