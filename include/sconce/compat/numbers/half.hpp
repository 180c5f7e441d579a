/// \file
/// `Half` and `BFloat16`, numbers of 16 bits that compute as c10's do, on the host and on the
/// device. For code written for c10; part of `<sconce/compat/c10.hpp>`.
///
/// The sum of two halves is a half: the sum of their singles, rounded once. That of a half and a
/// `float` is a `float`. Compiled by nvcc, the types convert to and from `__half` and
/// `__nv_bfloat16`, and the device's instructions convert to and from `float`; the bits are those
/// of the host, except of what is not a number.
#ifndef SCONCE_COMPAT_NUMBERS_HALF_HPP
#define SCONCE_COMPAT_NUMBERS_HALF_HPP

#include <cstdint>
#include <limits>
#include <sconce/compat/numbers/bits.hpp>
#include <sconce/compat/numbers/operators.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/detail/half_limits.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace c10 {

/// A number of half precision. Has the layout of `__half`, and no value unless it is given one.
/// Corresponds to `c10::Half`.
struct alignas(2) Half {
  std::uint16_t x;  ///< the bits

  /// Selects the constructor from bits.
  struct from_bits_t {};
  /// Selects the constructor from bits.
  SCONCE_COMPAT_BOTH static constexpr from_bits_t from_bits() noexcept { return {}; }

  Half() = default;
  /// The half with these bits.
  SCONCE_COMPAT_BOTH constexpr Half(std::uint16_t bits, from_bits_t) noexcept : x(bits) {}
  /// The nearest half; of two, the even one. Above 65,519 it is infinite.
  SCONCE_COMPAT_BOTH Half(float value) noexcept : x(compat::detail::half_of(value)) {}  // NOLINT
  /// The half nearest to the single that is nearest to a number of another type.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  SCONCE_COMPAT_BOTH Half(Number value) noexcept : Half(static_cast<float>(value)) {}  // NOLINT
  /// The bits of the library's own type.
  SCONCE_COMPAT_BOTH constexpr Half(::sconce::cuda::Half half) noexcept : x(half.x) {}  // NOLINT
  /// The number as a single, exactly.
  SCONCE_COMPAT_BOTH operator float() const noexcept {  // NOLINT: as c10::Half
    return compat::detail::single_of_half(x);
  }
  /// \cond
#ifdef __CUDACC__
  SCONCE_COMPAT_BOTH Half(const __half& half) noexcept  // NOLINT: as c10::Half
      : x(static_cast<__half_raw>(half).x) {}
  SCONCE_COMPAT_BOTH operator __half() const noexcept {  // NOLINT: as c10::Half
    __half_raw raw;
    raw.x = x;
    return __half(raw);
  }
#endif
  /// \endcond
};

/// The upper half of a single. Has the layout of `__nv_bfloat16`, and no value unless it is given
/// one. Corresponds to `c10::BFloat16`.
struct alignas(2) BFloat16 {
  std::uint16_t x;  ///< the bits

  /// Selects the constructor from bits.
  struct from_bits_t {};
  /// Selects the constructor from bits.
  SCONCE_COMPAT_BOTH static constexpr from_bits_t from_bits() noexcept { return {}; }

  BFloat16() = default;
  /// The number with these bits.
  SCONCE_COMPAT_BOTH constexpr BFloat16(std::uint16_t bits, from_bits_t) noexcept : x(bits) {}
  /// The nearest number; of two, the even one.
  SCONCE_COMPAT_BOTH BFloat16(float value) noexcept  // NOLINT: as c10::BFloat16
      : x(compat::detail::upper_half_of(value)) {}
  /// The number nearest to the single that is nearest to a number of another type.
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  SCONCE_COMPAT_BOTH BFloat16(Number value) noexcept  // NOLINT: as c10::BFloat16
      : BFloat16(static_cast<float>(value)) {}
  /// The bits of the library's own type.
  SCONCE_COMPAT_BOTH constexpr BFloat16(::sconce::cuda::BFloat16 number) noexcept  // NOLINT
      : x(number.x) {}
  /// The number as a single, exactly.
  SCONCE_COMPAT_BOTH operator float() const noexcept {  // NOLINT: as c10::BFloat16
    return compat::detail::single_of_upper_half(x);
  }
  /// \cond
#ifdef __CUDACC__
  SCONCE_COMPAT_BOTH BFloat16(const __nv_bfloat16& number) noexcept  // NOLINT: as c10::BFloat16
      : x(static_cast<__nv_bfloat16_raw>(number).x) {}
  SCONCE_COMPAT_BOTH explicit operator __nv_bfloat16() const noexcept {
    __nv_bfloat16_raw raw;
    raw.x = x;
    return __nv_bfloat16(raw);
  }
#endif
  /// \endcond
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2, "arrays of them are tensors' memory");

/// \cond
SCONCE_COMPAT_OPERATIONS(Half)
SCONCE_COMPAT_OPERATIONS(BFloat16)
SCONCE_COMPAT_TEXT(Half)
SCONCE_COMPAT_TEXT(BFloat16)

SCONCE_COMPAT_BOTH inline Half operator-(const Half& a) noexcept {
#ifdef __CUDA_ARCH__
  return __hneg(a);
#else
  return Half(-static_cast<float>(a));
#endif
}
SCONCE_COMPAT_BOTH inline BFloat16 operator-(const BFloat16& a) noexcept {
  return BFloat16(-static_cast<float>(a));
}
// Without these, nvcc finds the comparison of singles as good as that of `__half`. They take halves
// alone: a half and a number of another type are compared as singles.
#define SCONCE_COMPAT_COMPARISON(sign)                                            \
  template <class T, std::enable_if_t<std::is_same_v<T, Half>, int> = 0>          \
  SCONCE_COMPAT_BOTH inline bool operator sign(const T& a, const T& b) noexcept { \
    return static_cast<float>(a) sign static_cast<float>(b);                      \
  }
SCONCE_COMPAT_COMPARISON(==)
SCONCE_COMPAT_COMPARISON(!=)
SCONCE_COMPAT_COMPARISON(<)
SCONCE_COMPAT_COMPARISON(<=)
SCONCE_COMPAT_COMPARISON(>)
SCONCE_COMPAT_COMPARISON(>=)
#undef SCONCE_COMPAT_COMPARISON
// Like c10's, these change their left side.
SCONCE_COMPAT_BOTH inline BFloat16& operator|(BFloat16& a, const BFloat16& b) noexcept {
  a.x = static_cast<std::uint16_t>(a.x | b.x);
  return a;
}
SCONCE_COMPAT_BOTH inline BFloat16& operator^(BFloat16& a, const BFloat16& b) noexcept {
  a.x = static_cast<std::uint16_t>(a.x ^ b.x);
  return a;
}
SCONCE_COMPAT_BOTH inline BFloat16& operator&(BFloat16& a, const BFloat16& b) noexcept {
  a.x = static_cast<std::uint16_t>(a.x & b.x);
  return a;
}

#ifdef __CUDACC__
// Reads through the cache for data that no kernel changes meanwhile.
__device__ inline Half __ldg(const Half* number) {
#ifdef __CUDA_ARCH__
  return Half(::__ldg(reinterpret_cast<const unsigned short*>(number)), Half::from_bits());
#else
  return *number;
#endif
}
__device__ inline BFloat16 __ldg(const BFloat16* number) {
#ifdef __CUDA_ARCH__
  return BFloat16(::__ldg(reinterpret_cast<const unsigned short*>(number)), BFloat16::from_bits());
#else
  return *number;
#endif
}
#endif
/// \endcond

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
  SCONCE_COMPAT_BOTH static constexpr T bits(std::uint16_t bits) noexcept {
    return T(bits, T::from_bits());
  }
};

}  // namespace detail
}  // namespace compat

namespace cuda {

/// The type that computes.
template <>
struct CppTypeToScalarType<compat::c10::Half>
    : std::integral_constant<ScalarType, ScalarType::Half> {};
/// The type that computes.
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
