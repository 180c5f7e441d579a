/// \file
/// The types that go with element types: in which kernels compute and add up, and conversions. For
/// code written for c10; part of `<sconce/compat/c10.hpp>`.
#ifndef SCONCE_COMPAT_NUMBERS_TYPES_HPP
#define SCONCE_COMPAT_NUMBERS_TYPES_HPP

#include <cstdint>
#include <limits>
#include <sconce/compat/numbers/complex.hpp>
#include <sconce/compat/numbers/float8.hpp>
#include <sconce/compat/numbers/half.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace compat {
namespace detail {

/// Whether a type converts to `float` because it is a rounded single.
template <class T>
inline constexpr bool is_rounded_single_v =
    c10::is_reduced_floating_point_v<T> || std::is_same_v<T, c10::Float8_e4m3fn> ||
    std::is_same_v<T, c10::Float8_e5m2> || std::is_same_v<T, c10::Float8_e4m3fnuz> ||
    std::is_same_v<T, c10::Float8_e5m2fnuz> || std::is_same_v<T, c10::Float8_e8m0fnu>;

/// The C++ type of a ScalarType, as `type`.
template <cuda::ScalarType type>
struct CppTypeOf;
/// \cond
#define SCONCE_COMPAT_TYPE(scalar, cpp)        \
  template <>                                  \
  struct CppTypeOf<cuda::ScalarType::scalar> { \
    using type = cpp;                          \
  };
SCONCE_COMPAT_TYPE(Float, float)
SCONCE_COMPAT_TYPE(Double, double)
SCONCE_COMPAT_TYPE(Half, c10::Half)
SCONCE_COMPAT_TYPE(BFloat16, c10::BFloat16)
SCONCE_COMPAT_TYPE(Byte, std::uint8_t)
SCONCE_COMPAT_TYPE(Char, std::int8_t)
SCONCE_COMPAT_TYPE(Short, std::int16_t)
SCONCE_COMPAT_TYPE(Int, std::int32_t)
SCONCE_COMPAT_TYPE(Long, std::int64_t)
SCONCE_COMPAT_TYPE(UInt16, std::uint16_t)
SCONCE_COMPAT_TYPE(UInt32, std::uint32_t)
SCONCE_COMPAT_TYPE(UInt64, std::uint64_t)
SCONCE_COMPAT_TYPE(Bool, bool)
SCONCE_COMPAT_TYPE(ComplexHalf, c10::complex<c10::Half>)
SCONCE_COMPAT_TYPE(ComplexFloat, c10::complex<float>)
SCONCE_COMPAT_TYPE(ComplexDouble, c10::complex<double>)
SCONCE_COMPAT_TYPE(Float8_e4m3fn, c10::Float8_e4m3fn)
SCONCE_COMPAT_TYPE(Float8_e5m2, c10::Float8_e5m2)
SCONCE_COMPAT_TYPE(Float8_e4m3fnuz, c10::Float8_e4m3fnuz)
SCONCE_COMPAT_TYPE(Float8_e5m2fnuz, c10::Float8_e5m2fnuz)
SCONCE_COMPAT_TYPE(Float8_e8m0fnu, c10::Float8_e8m0fnu)
SCONCE_COMPAT_TYPE(Float4_e2m1fn_x2, c10::Float4_e2m1fn_x2)
#undef SCONCE_COMPAT_TYPE
/// \endcond

/// The C++ type of a ScalarType.
template <cuda::ScalarType type>
using CppType = typename CppTypeOf<type>::type;

}  // namespace detail

namespace c10 {

/// The conversions themselves, of bits: code calls them where it has no numbers of the type.
namespace detail {

/// A half's bits as a single. Corresponds to `c10::detail::fp16_ieee_to_fp32_value`.
SCONCE_COMPAT_BOTH inline float fp16_ieee_to_fp32_value(std::uint16_t half) noexcept {
  return compat::detail::single_of_half(half);
}
/// A half's bits as those of a single.
SCONCE_COMPAT_BOTH inline std::uint32_t fp16_ieee_to_fp32_bits(std::uint16_t half) noexcept {
  return compat::detail::bits_of(compat::detail::single_of_half(half));
}
/// The bits of the nearest half.
SCONCE_COMPAT_BOTH inline std::uint16_t fp16_ieee_from_fp32_value(float value) noexcept {
  return compat::detail::half_of(value);
}
/// An upper half's bits as a single.
SCONCE_COMPAT_BOTH inline float f32_from_bits(std::uint16_t bits) noexcept {
  return compat::detail::single_of_upper_half(bits);
}
/// The upper half of a single's bits, which is not rounded.
SCONCE_COMPAT_BOTH inline std::uint16_t bits_from_f32(float value) noexcept {
  return static_cast<std::uint16_t>(compat::detail::bits_of(value) >> 16);
}
/// The bits of the nearest upper half; of two, the even one.
SCONCE_COMPAT_BOTH inline std::uint16_t round_to_nearest_even(float value) noexcept {
  return compat::detail::upper_half_of(value);
}
/// The single with these bits.
SCONCE_COMPAT_BOTH inline float fp32_from_bits(std::uint32_t bits) noexcept {
  return compat::detail::single_of(bits);
}
/// The bits of a single.
SCONCE_COMPAT_BOTH inline std::uint32_t fp32_to_bits(float value) noexcept {
  return compat::detail::bits_of(value);
}
/// The bits of the nearest `Float8_e4m3fn`.
SCONCE_COMPAT_BOTH inline std::uint8_t fp8e4m3fn_from_fp32_value(float value) noexcept {
  return Float8_e4m3fn(value).x;
}
/// The bits of a `Float8_e4m3fn` as a single.
SCONCE_COMPAT_BOTH inline float fp8e4m3fn_to_fp32_value(std::uint8_t bits) noexcept {
  return Float8_e4m3fn(bits, Float8_e4m3fn::from_bits());
}
/// The bits of the nearest `Float8_e5m2`.
SCONCE_COMPAT_BOTH inline std::uint8_t fp8e5m2_from_fp32_value(float value) noexcept {
  return Float8_e5m2(value).x;
}
/// The bits of a `Float8_e5m2` as a single.
SCONCE_COMPAT_BOTH inline float fp8e5m2_to_fp32_value(std::uint8_t bits) noexcept {
  return Float8_e5m2(bits, Float8_e5m2::from_bits());
}

}  // namespace detail

namespace impl {

/// The C++ type of a ScalarType, as `type`. Corresponds to `c10::impl::ScalarTypeToCPPType`.
template <::sconce::cuda::ScalarType type>
using ScalarTypeToCPPType = compat::detail::CppTypeOf<type>;
/// The C++ type of a ScalarType.
template <::sconce::cuda::ScalarType type>
using ScalarTypeToCPPTypeT = compat::detail::CppType<type>;

}  // namespace impl

/// A number as another type: of a complex number the real part, and of a fraction the whole part.
/// To `bool` it is whether the number is not 0, and a negative number becomes a `uint8_t` by the
/// bits of an `int64_t`. Corresponds to `c10::convert`.
template <class To, class From>
SCONCE_COMPAT_BOTH To convert(From number) {
  if constexpr (is_complex<From>::value && !is_complex<To>::value) {
    if constexpr (std::is_same_v<To, bool>) {
      return static_cast<bool>(number.real()) || static_cast<bool>(number.imag());
    } else {
      return convert<To>(number.real());
    }
  } else if constexpr (std::is_same_v<To, std::uint8_t>) {
    return static_cast<std::uint8_t>(static_cast<std::int64_t>(number));
  } else if constexpr (std::is_same_v<To, complex<Half>>) {
    return To(convert<complex<float>>(number));
  } else if constexpr (is_complex<To>::value && !is_complex<From>::value) {
    return To(static_cast<typename scalar_value_type<To>::type>(number));
  } else {
    return static_cast<To>(number);
  }
}

}  // namespace c10

namespace at {

/// \cond
template <class T>
struct OpMathType {
  using type = std::conditional_t<compat::detail::is_rounded_single_v<T>, float, T>;
};
template <>
struct OpMathType<c10::complex<c10::Half>> {
  using type = c10::complex<float>;
};

// Integers add up as int64_t, truth values as themselves; on the CPU singles as doubles.
template <class T, bool is_cuda>
struct AccumulateType {
  using type = std::conditional_t<
      compat::detail::is_rounded_single_v<T>, float,
      std::conditional_t<std::is_integral_v<T> && std::is_signed_v<T>, std::int64_t, T>>;
};
template <bool is_cuda>
struct AccumulateType<char, is_cuda> {
  using type = std::int64_t;
};
template <bool is_cuda>
struct AccumulateType<std::uint8_t, is_cuda> {
  using type = std::int64_t;
};
template <>
struct AccumulateType<float, false> {
  using type = double;
};
template <bool is_cuda>
struct AccumulateType<c10::complex<c10::Half>, is_cuda> {
  using type = c10::complex<float>;
};
template <>
struct AccumulateType<c10::complex<float>, false> {
  using type = c10::complex<double>;
};
#ifdef __CUDACC__
template <bool is_cuda>
struct AccumulateType<__half, is_cuda> {
  using type = float;
};
#endif
/// \endcond

/// The type in which a kernel computes with elements of `T`. Corresponds to `at::opmath_type`.
template <class T>
using opmath_type = typename OpMathType<T>::type;
/// The type in which a kernel adds up elements of `T`. Corresponds to `at::acc_type`.
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

/// The least and the largest number of a type for kernels that look for a largest or a least one.
/// Corresponds to `at::numeric_limits`.
template <class T>
struct numeric_limits {
  /// The least finite number.
  SCONCE_COMPAT_BOTH static constexpr T lowest() { return std::numeric_limits<T>::lowest(); }
  /// The largest finite number.
  SCONCE_COMPAT_BOTH static constexpr T max() { return std::numeric_limits<T>::max(); }
  /// Minus infinity, or the least number of a type that has none.
  SCONCE_COMPAT_BOTH static T lower_bound() {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      return -std::numeric_limits<T>::infinity();
    } else {
      return lowest();
    }
  }
  /// Infinity, or the largest number of a type that has none.
  SCONCE_COMPAT_BOTH static T upper_bound() {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      return std::numeric_limits<T>::infinity();
    } else {
      return max();
    }
  }
};

/// Whether a number of any element type is not a number. Corresponds to `at::_isnan`.
template <class T>
SCONCE_COMPAT_BOTH bool _isnan(T number) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return number != number;
  }
}
/// Whether a real number of any element type is infinite. Corresponds to `at::_isinf`.
template <class T>
SCONCE_COMPAT_BOTH bool _isinf(T number) {
  using Math = opmath_type<T>;
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    const Math most = std::numeric_limits<Math>::max();
    return static_cast<Math>(number) > most || static_cast<Math>(number) < -most;
  }
}

}  // namespace at
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMPAT_NUMBERS_TYPES_HPP
