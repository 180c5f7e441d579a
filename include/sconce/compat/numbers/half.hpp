/// \file
/// Numbers of 16 bits that convert to and from `float`, and the types in which kernels accumulate,
/// for code written for c10. Part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_NUMBERS_HALF_HPP
#define SCONCE_COMPAT_NUMBERS_HALF_HPP

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sconce/compat/core/macros.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/detail/half_limits.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace detail {

/// The bits of a single.
C10_HOST_DEVICE inline std::uint32_t bits_of(float value) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
/// The single with these bits.
C10_HOST_DEVICE inline float single_of(std::uint32_t bits) noexcept {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The half nearest to a single; of two, the even one.
C10_HOST_DEVICE inline std::uint16_t half_of(float value) noexcept {
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
}
/// A half as a single, exactly.
C10_HOST_DEVICE inline float single_of_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) {  // infinite, or not a number
    return single_of(sign | 0x7F800000U | (magnitude << 13 & 0x7FFFFFU));
  }
  if (magnitude < 0x400U) {  // a multiple of 2^-24
    return single_of(sign | bits_of(static_cast<float>(magnitude) * 5.9604644775390625e-8F));
  }
  return single_of(sign | ((magnitude << 13) + 0x38000000U));
}
/// The upper half nearest to a single; of two, the even one.
C10_HOST_DEVICE inline std::uint16_t upper_half_of(float value) noexcept {
  const std::uint32_t bits = bits_of(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return 0x7FC0U;
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace detail

namespace c10 {

/// A half-precision number that converts to and from `float`, in which it computes. Has the layout
/// of `__half`. Corresponds to `c10::Half`.
struct alignas(2) Half {
  std::uint16_t x;  ///< the bits

  /// Selects the constructor from bits.
  struct from_bits_t {};
  /// Selects the constructor from bits.
  static constexpr from_bits_t from_bits() noexcept { return {}; }

  Half() = default;
  /// The half with these bits.
  C10_HOST_DEVICE constexpr Half(std::uint16_t bits, from_bits_t) noexcept : x(bits) {}
  /// The nearest half.
  C10_HOST_DEVICE Half(float value) noexcept : x(compat::detail::half_of(value)) {}  // NOLINT
  /// The number nearest to the single that is nearest to a number of another type.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  C10_HOST_DEVICE Half(Number value) noexcept : Half(static_cast<float>(value)) {}  // NOLINT
  /// The bits of the library's own type.
  C10_HOST_DEVICE constexpr Half(::sconce::cuda::Half half) noexcept : x(half.x) {}  // NOLINT
  /// The number as a single.
  C10_HOST_DEVICE operator float() const noexcept {  // NOLINT: as c10::Half
    return compat::detail::single_of_half(x);
  }
  /// Adds a number, as singles.
  C10_HOST_DEVICE Half& operator+=(float other) noexcept { return *this = Half(*this + other); }
  /// Subtracts a number, as singles.
  C10_HOST_DEVICE Half& operator-=(float other) noexcept { return *this = Half(*this - other); }
  /// Multiplies by a number, as singles.
  C10_HOST_DEVICE Half& operator*=(float other) noexcept { return *this = Half(*this * other); }
  /// Divides by a number, as singles.
  C10_HOST_DEVICE Half& operator/=(float other) noexcept { return *this = Half(*this / other); }
};

/// The upper half of a single, which converts to and from `float`. Has the layout of
/// `__nv_bfloat16`. Corresponds to `c10::BFloat16`.
struct alignas(2) BFloat16 {
  std::uint16_t x;  ///< the bits

  /// Selects the constructor from bits.
  struct from_bits_t {};
  /// Selects the constructor from bits.
  static constexpr from_bits_t from_bits() noexcept { return {}; }

  BFloat16() = default;
  /// The number with these bits.
  C10_HOST_DEVICE constexpr BFloat16(std::uint16_t bits, from_bits_t) noexcept : x(bits) {}
  /// The nearest number.
  C10_HOST_DEVICE BFloat16(float value) noexcept  // NOLINT: as c10::BFloat16
      : x(compat::detail::upper_half_of(value)) {}
  /// The number nearest to the single that is nearest to a number of another type.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  C10_HOST_DEVICE BFloat16(Number value) noexcept
      : BFloat16(static_cast<float>(value)) {}  // NOLINT
  /// The bits of the library's own type.
  C10_HOST_DEVICE constexpr BFloat16(::sconce::cuda::BFloat16 number) noexcept  // NOLINT
      : x(number.x) {}
  /// The number as a single.
  C10_HOST_DEVICE operator float() const noexcept {  // NOLINT: as c10::BFloat16
    return compat::detail::single_of(static_cast<std::uint32_t>(x) << 16);
  }
  /// Adds a number, as singles.
  C10_HOST_DEVICE BFloat16& operator+=(float other) noexcept { return *this = *this + other; }
  /// Subtracts a number, as singles.
  C10_HOST_DEVICE BFloat16& operator-=(float other) noexcept { return *this = *this - other; }
  /// Multiplies by a number, as singles.
  C10_HOST_DEVICE BFloat16& operator*=(float other) noexcept { return *this = *this * other; }
  /// Divides by a number, as singles.
  C10_HOST_DEVICE BFloat16& operator/=(float other) noexcept { return *this = *this / other; }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2, "arrays of them are tensors' memory");

/// Whether a type is a floating-point type of 16 bits. Corresponds to
/// `c10::is_reduced_floating_point`.
template <class T>
struct is_reduced_floating_point
    : std::bool_constant<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>> {};
/// `is_reduced_floating_point<T>::value`.
template <class T>
inline constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;

}  // namespace c10

namespace detail {

/// Makes a number that converts to `float` of its bits.
template <class T>
struct FromBits {
  /// The number with these bits.
  C10_HOST_DEVICE static constexpr T bits(std::uint16_t bits) noexcept {
    return T(bits, T::from_bits());
  }
};

}  // namespace detail

namespace at {

/// \cond
template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
template <class T, bool is_cuda>
struct AccumulateType {
  using type = T;
};
template <bool is_cuda>
struct AccumulateType<c10::Half, is_cuda> {
  using type = float;
};
template <bool is_cuda>
struct AccumulateType<c10::BFloat16, is_cuda> {
  using type = float;
};
template <>
struct AccumulateType<float, false> {
  using type = double;
};
template <>
struct AccumulateType<std::int8_t, true> {
  using type = std::int64_t;
};
template <>
struct AccumulateType<std::int8_t, false> : AccumulateType<std::int8_t, true> {};
template <bool is_cuda>
struct AccumulateType<std::uint8_t, is_cuda> : AccumulateType<std::int8_t, is_cuda> {};
template <bool is_cuda>
struct AccumulateType<std::int16_t, is_cuda> : AccumulateType<std::int8_t, is_cuda> {};
template <bool is_cuda>
struct AccumulateType<std::int32_t, is_cuda> : AccumulateType<std::int8_t, is_cuda> {};
template <bool is_cuda>
struct AccumulateType<std::complex<float>, is_cuda> {
  using type = std::complex<typename AccumulateType<float, is_cuda>::type>;
};
/// \endcond

/// The type in which a kernel computes with elements of `T`. Corresponds to `at::opmath_type`.
template <class T>
using opmath_type = typename OpMathType<T>::type;
/// The type in which a kernel adds up elements of `T`. Corresponds to `at::acc_type`.
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

}  // namespace at
}  // namespace compat

namespace cuda {

/// The type with conversions.
template <>
struct CppTypeToScalarType<compat::c10::Half>
    : std::integral_constant<ScalarType, ScalarType::Half> {};
/// The type with conversions.
template <>
struct CppTypeToScalarType<compat::c10::BFloat16>
    : std::integral_constant<ScalarType, ScalarType::BFloat16> {};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

// Doxygen 1.9 cannot place a specialisation of std.
/// \cond
template <>
class std::numeric_limits<sconce::compat::c10::Half>
    : public sconce::detail::HalfLimits<
          sconce::compat::c10::Half, sconce::compat::detail::FromBits<sconce::compat::c10::Half>> {
};
template <>
class std::numeric_limits<sconce::compat::c10::BFloat16>
    : public sconce::detail::BFloat16Limits<
          sconce::compat::c10::BFloat16,
          sconce::compat::detail::FromBits<sconce::compat::c10::BFloat16>> {};
template <>
struct std::hash<sconce::compat::c10::Half>
    : sconce::detail::HashOfBits<sconce::compat::c10::Half> {};
template <>
struct std::hash<sconce::compat::c10::BFloat16>
    : sconce::detail::HashOfBits<sconce::compat::c10::BFloat16> {};
/// \endcond

#endif  // SCONCE_COMPAT_NUMBERS_HALF_HPP
