/// \file
/// Element types under torch's names, and the C++ types that correspond to them.
#ifndef SCONCE_SCALAR_TYPE_HPP
#define SCONCE_SCALAR_TYPE_HPP

#include <sconce/sconce.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <sconce/fwd.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The type of an element, under torch's names. Corresponds to `c10::ScalarType`.
enum class ScalarType : std::int32_t {
  Float = SCONCE_DTYPE_F32,           ///< single precision
  Double = SCONCE_DTYPE_F64,          ///< double precision
  Half = SCONCE_DTYPE_F16,            ///< half precision
  BFloat16 = SCONCE_DTYPE_BF16,       ///< the upper half of a single
  Char = SCONCE_DTYPE_I8,             ///< signed byte
  Short = SCONCE_DTYPE_I16,           ///< signed 16-bit integer
  Int = SCONCE_DTYPE_I32,             ///< signed 32-bit integer
  Long = SCONCE_DTYPE_I64,            ///< signed 64-bit integer
  Byte = SCONCE_DTYPE_U8,             ///< unsigned byte
  Bool = SCONCE_DTYPE_BOOL,           ///< one byte, 0 or 1
  ComplexFloat = SCONCE_DTYPE_C64,    ///< two singles
  ComplexDouble = SCONCE_DTYPE_C128,  ///< two doubles
};

/// Returns the bytes of an element of a type; 0 for a number that is no type.
///
/// Corresponds to `c10::elementSize`.
[[nodiscard]] constexpr std::size_t elementSize(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::Char:
    case ScalarType::Byte:
    case ScalarType::Bool:
      return 1;
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Short:
      return 2;
    case ScalarType::Float:
    case ScalarType::Int:
      return 4;
    case ScalarType::Double:
    case ScalarType::Long:
    case ScalarType::ComplexFloat:
      return 8;
    case ScalarType::ComplexDouble:
      return 16;
  }
  return 0;
}

/// A half-precision number: its bits, and no arithmetic. Has the layout of `__half` and of
/// `c10::Half`. Corresponds to `c10::Half`.
struct Half {
  std::uint16_t x;  ///< sign, 5 bits of exponent, 10 of mantissa
};

/// The upper half of a single: its bits, and no arithmetic. Has the layout of `__nv_bfloat16` and
/// of `c10::BFloat16`. Corresponds to `c10::BFloat16`.
struct BFloat16 {
  std::uint16_t x;  ///< sign, 8 bits of exponent, 7 of mantissa
};

/// Maps a C++ type to its scalar type, as `value`. A type that is not listed here has none until a
/// specialisation names one; typed calls then accept it as they accept `float`. CUDA's own half
/// types need a line each:
///
/// \code
/// namespace cc = sconce::cuda;
/// template <> struct cc::CppTypeToScalarType<__half> : cc::CppTypeToScalarType<cc::Half> {};
/// template <>
/// struct cc::CppTypeToScalarType<__nv_bfloat16> : cc::CppTypeToScalarType<cc::BFloat16> {};
/// \endcode
///
/// Corresponds to `c10::CppTypeToScalarType`.
template <class T>
struct CppTypeToScalarType {};
/// Single precision.
template <>
struct CppTypeToScalarType<float> : std::integral_constant<ScalarType, ScalarType::Float> {};
/// Double precision.
template <>
struct CppTypeToScalarType<double> : std::integral_constant<ScalarType, ScalarType::Double> {};
/// Half precision.
template <>
struct CppTypeToScalarType<Half> : std::integral_constant<ScalarType, ScalarType::Half> {};
/// The upper half of a single.
template <>
struct CppTypeToScalarType<BFloat16> : std::integral_constant<ScalarType, ScalarType::BFloat16> {};
/// Signed byte.
template <>
struct CppTypeToScalarType<std::int8_t> : std::integral_constant<ScalarType, ScalarType::Char> {};
/// Signed 16-bit integer.
template <>
struct CppTypeToScalarType<std::int16_t> : std::integral_constant<ScalarType, ScalarType::Short> {};
/// Signed 32-bit integer.
template <>
struct CppTypeToScalarType<std::int32_t> : std::integral_constant<ScalarType, ScalarType::Int> {};
/// Signed 64-bit integer.
template <>
struct CppTypeToScalarType<std::int64_t> : std::integral_constant<ScalarType, ScalarType::Long> {};
/// Unsigned byte.
template <>
struct CppTypeToScalarType<std::uint8_t> : std::integral_constant<ScalarType, ScalarType::Byte> {};
/// One byte, 0 or 1.
template <>
struct CppTypeToScalarType<bool> : std::integral_constant<ScalarType, ScalarType::Bool> {};
/// Two singles.
template <>
struct CppTypeToScalarType<std::complex<float>>
    : std::integral_constant<ScalarType, ScalarType::ComplexFloat> {};
/// Two doubles.
template <>
struct CppTypeToScalarType<std::complex<double>>
    : std::integral_constant<ScalarType, ScalarType::ComplexDouble> {};

/// A complex number of half precision. Has the layout of `half2`. Corresponds to
/// `c10::complex<Half>`.
struct ComplexHalf {
  Half real;  ///< the real part
  Half imag;  ///< the imaginary part
};

/// Maps a complex type to the type of its parts, as `type`, and any other type to itself. For a
/// complex type that is not listed here, such as `half2`, write a specialisation that names its
/// real type.
/// type.
///
/// Corresponds to `c10::scalar_value_type`.
template <class T>
struct scalar_value_type {
  using type = T;  ///< the real type
};
/// The type of the parts of a `std::complex`.
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;  ///< the real type
};
/// The type of the parts of a `ComplexHalf`.
template <>
struct scalar_value_type<ComplexHalf> {
  using type = Half;  ///< the real type
};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_SCALAR_TYPE_HPP
