/// \file
/// Element types under torch's names, and the C++ types that correspond to them.
#ifndef SCONCE_CUDA_SCALAR_TYPE_HPP
#define SCONCE_CUDA_SCALAR_TYPE_HPP

#include <sconce/c/dtype.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <sconce/detail/complex_parts.hpp>
#include <sconce/fwd.hpp>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace cuda {

/// The type of an element, under torch's names. Corresponds to `c10::ScalarType`.
enum class ScalarType : std::int32_t {
  Float = SCONCE_DTYPE_F32,                      ///< single precision
  Double = SCONCE_DTYPE_F64,                     ///< double precision
  Half = SCONCE_DTYPE_F16,                       ///< half precision
  BFloat16 = SCONCE_DTYPE_BF16,                  ///< the upper half of a single
  Char = SCONCE_DTYPE_I8,                        ///< signed byte
  Short = SCONCE_DTYPE_I16,                      ///< signed 16-bit integer
  Int = SCONCE_DTYPE_I32,                        ///< signed 32-bit integer
  Long = SCONCE_DTYPE_I64,                       ///< signed 64-bit integer
  Byte = SCONCE_DTYPE_U8,                        ///< unsigned byte
  Bool = SCONCE_DTYPE_BOOL,                      ///< one byte, 0 or 1
  ComplexFloat = SCONCE_DTYPE_C64,               ///< two singles
  ComplexDouble = SCONCE_DTYPE_C128,             ///< two doubles
  UInt16 = SCONCE_DTYPE_U16,                     ///< unsigned 16-bit integer
  UInt32 = SCONCE_DTYPE_U32,                     ///< unsigned 32-bit integer
  UInt64 = SCONCE_DTYPE_U64,                     ///< unsigned 64-bit integer
  ComplexHalf = SCONCE_DTYPE_C32,                ///< two halves
  Float8_e4m3fn = SCONCE_DTYPE_F8_E4M3FN,        ///< a byte: 4 bits of exponent, 3 of mantissa
  Float8_e4m3fnuz = SCONCE_DTYPE_F8_E4M3FNUZ,    ///< the same without a negative zero
  Float8_e5m2 = SCONCE_DTYPE_F8_E5M2,            ///< a byte: 5 bits of exponent, 2 of mantissa
  Float8_e5m2fnuz = SCONCE_DTYPE_F8_E5M2FNUZ,    ///< the same, without infinities
  Float8_e8m0fnu = SCONCE_DTYPE_F8_E8M0FNU,      ///< a byte: a power of two
  Float4_e2m1fn_x2 = SCONCE_DTYPE_F4_E2M1FN_X2,  ///< a byte: two numbers of 4 bits
};

/// Returns the bytes of an element of a type; 0 for a number that is no type.
///
/// Corresponds to `c10::elementSize`.
[[nodiscard]] constexpr std::size_t elementSize(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::Char:
    case ScalarType::Byte:
    case ScalarType::Bool:
    case ScalarType::Float8_e4m3fn:
    case ScalarType::Float8_e4m3fnuz:
    case ScalarType::Float8_e5m2:
    case ScalarType::Float8_e5m2fnuz:
    case ScalarType::Float8_e8m0fnu:
    case ScalarType::Float4_e2m1fn_x2:
      return 1;
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Short:
    case ScalarType::UInt16:
      return 2;
    case ScalarType::Float:
    case ScalarType::Int:
    case ScalarType::UInt32:
    case ScalarType::ComplexHalf:
      return 4;
    case ScalarType::Double:
    case ScalarType::Long:
    case ScalarType::UInt64:
    case ScalarType::ComplexFloat:
      return 8;
    case ScalarType::ComplexDouble:
      return 16;
  }
  return 0;
}

/// Returns the name of a type, such as `Float`; never null. Corresponds to `c10::toString`.
[[nodiscard]] constexpr const char* toString(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::Float:
      return "Float";
    case ScalarType::Double:
      return "Double";
    case ScalarType::Half:
      return "Half";
    case ScalarType::BFloat16:
      return "BFloat16";
    case ScalarType::Char:
      return "Char";
    case ScalarType::Short:
      return "Short";
    case ScalarType::Int:
      return "Int";
    case ScalarType::Long:
      return "Long";
    case ScalarType::Byte:
      return "Byte";
    case ScalarType::Bool:
      return "Bool";
    case ScalarType::ComplexFloat:
      return "ComplexFloat";
    case ScalarType::ComplexDouble:
      return "ComplexDouble";
    case ScalarType::UInt16:
      return "UInt16";
    case ScalarType::UInt32:
      return "UInt32";
    case ScalarType::UInt64:
      return "UInt64";
    case ScalarType::ComplexHalf:
      return "ComplexHalf";
    case ScalarType::Float8_e4m3fn:
      return "Float8_e4m3fn";
    case ScalarType::Float8_e4m3fnuz:
      return "Float8_e4m3fnuz";
    case ScalarType::Float8_e5m2:
      return "Float8_e5m2";
    case ScalarType::Float8_e5m2fnuz:
      return "Float8_e5m2fnuz";
    case ScalarType::Float8_e8m0fnu:
      return "Float8_e8m0fnu";
    case ScalarType::Float4_e2m1fn_x2:
      return "Float4_e2m1fn_x2";
  }
  return "UNKNOWN_SCALAR";
}

/// Writes the name of a type, such as `Float`.
template <class Char, class Traits>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                             ScalarType type) {
  return out << toString(type);
}

/// Whether a type is of real numbers with fractions. Corresponds to `c10::isFloatingType`.
[[nodiscard]] constexpr bool isFloatingType(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::Float:
    case ScalarType::Double:
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float8_e4m3fn:
    case ScalarType::Float8_e4m3fnuz:
    case ScalarType::Float8_e5m2:
    case ScalarType::Float8_e5m2fnuz:
    case ScalarType::Float8_e8m0fnu:
    case ScalarType::Float4_e2m1fn_x2:
      return true;
    default:
      return false;
  }
}
/// Whether a type is of complex numbers. Corresponds to `c10::isComplexType`.
[[nodiscard]] constexpr bool isComplexType(ScalarType type) noexcept {
  return type == ScalarType::ComplexHalf || type == ScalarType::ComplexFloat ||
         type == ScalarType::ComplexDouble;
}
/// Whether a type is of integers, or also of truth values if `includeBool` is set. Corresponds to
/// `c10::isIntegralType`.
[[nodiscard]] constexpr bool isIntegralType(ScalarType type, bool includeBool) noexcept {
  return type == ScalarType::Bool ? includeBool : !isFloatingType(type) && !isComplexType(type);
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

}  // namespace cuda

namespace detail {

/// The scalar type of a complex type, by the type of its parts; none for any other type.
template <class T, class Part>
struct ComplexScalarType {};
/// Two singles.
template <class T>
struct ComplexScalarType<T, float>
    : std::integral_constant<cuda::ScalarType, cuda::ScalarType::ComplexFloat> {};
/// Two doubles.
template <class T>
struct ComplexScalarType<T, double>
    : std::integral_constant<cuda::ScalarType, cuda::ScalarType::ComplexDouble> {};

}  // namespace detail

namespace cuda {

/// Maps a C++ type to its scalar type, as `value`. Complex types of `float` or `double` are
/// recognised by `value_type`, `real()` and `imag()`: `std::complex`, `cuda::std::complex`,
/// `thrust::complex`. Any other type that is not listed here has no scalar type until a
/// specialisation names one. Typed calls then accept it as they accept `float`. CUDA's own half
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
struct CppTypeToScalarType : detail::ComplexScalarType<T, typename detail::ComplexParts<T>::type> {
};
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
/// Unsigned 16-bit integer.
template <>
struct CppTypeToScalarType<std::uint16_t> : std::integral_constant<ScalarType, ScalarType::UInt16> {
};
/// Unsigned 32-bit integer.
template <>
struct CppTypeToScalarType<std::uint32_t> : std::integral_constant<ScalarType, ScalarType::UInt32> {
};
/// Unsigned 64-bit integer.
template <>
struct CppTypeToScalarType<std::uint64_t> : std::integral_constant<ScalarType, ScalarType::UInt64> {
};
/// One byte, 0 or 1.
template <>
struct CppTypeToScalarType<bool> : std::integral_constant<ScalarType, ScalarType::Bool> {};

/// A complex number of half precision. Has the layout of `half2`. Corresponds to
/// `c10::complex<Half>`.
struct ComplexHalf {
  Half real;  ///< the real part
  Half imag;  ///< the imaginary part
};

/// Maps a complex type to the type of its parts, as `type`, and any other type to itself. Complex
/// types with `value_type`, `real()` and `imag()`, such as `std::complex`, are recognised. For
/// another complex type, such as `half2`, write a specialisation that names its real type.
///
/// Corresponds to `c10::scalar_value_type`.
template <class T>
struct scalar_value_type : detail::ComplexParts<T> {};
/// The type of the parts of a `ComplexHalf`.
template <>
struct scalar_value_type<ComplexHalf> {
  using type = Half;  ///< the real type
};

}  // namespace cuda

using cuda::ScalarType;

inline constexpr ScalarType kFloat32 = ScalarType::Float;            ///< `ScalarType::Float`
inline constexpr ScalarType kFloat = ScalarType::Float;              ///< `ScalarType::Float`
inline constexpr ScalarType kFloat64 = ScalarType::Double;           ///< `ScalarType::Double`
inline constexpr ScalarType kDouble = ScalarType::Double;            ///< `ScalarType::Double`
inline constexpr ScalarType kFloat16 = ScalarType::Half;             ///< `ScalarType::Half`
inline constexpr ScalarType kHalf = ScalarType::Half;                ///< `ScalarType::Half`
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;        ///< `ScalarType::BFloat16`
inline constexpr ScalarType kInt8 = ScalarType::Char;                ///< `ScalarType::Char`
inline constexpr ScalarType kChar = ScalarType::Char;                ///< `ScalarType::Char`
inline constexpr ScalarType kInt16 = ScalarType::Short;              ///< `ScalarType::Short`
inline constexpr ScalarType kShort = ScalarType::Short;              ///< `ScalarType::Short`
inline constexpr ScalarType kInt32 = ScalarType::Int;                ///< `ScalarType::Int`
inline constexpr ScalarType kInt = ScalarType::Int;                  ///< `ScalarType::Int`
inline constexpr ScalarType kInt64 = ScalarType::Long;               ///< `ScalarType::Long`
inline constexpr ScalarType kLong = ScalarType::Long;                ///< `ScalarType::Long`
inline constexpr ScalarType kUInt8 = ScalarType::Byte;               ///< `ScalarType::Byte`
inline constexpr ScalarType kByte = ScalarType::Byte;                ///< `ScalarType::Byte`
inline constexpr ScalarType kUInt16 = ScalarType::UInt16;            ///< `ScalarType::UInt16`
inline constexpr ScalarType kUInt32 = ScalarType::UInt32;            ///< `ScalarType::UInt32`
inline constexpr ScalarType kUInt64 = ScalarType::UInt64;            ///< `ScalarType::UInt64`
inline constexpr ScalarType kBool = ScalarType::Bool;                ///< `ScalarType::Bool`
inline constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf;  ///< `ScalarType::ComplexHalf`
inline constexpr ScalarType kComplexFloat =
    ScalarType::ComplexFloat;  ///< `ScalarType::ComplexFloat`
inline constexpr ScalarType kComplexDouble =
    ScalarType::ComplexDouble;  ///< `ScalarType::ComplexDouble`
inline constexpr ScalarType kFloat8_e4m3fn =
    ScalarType::Float8_e4m3fn;  ///< `ScalarType::Float8_e4m3fn`
inline constexpr ScalarType kFloat8_e4m3fnuz =
    ScalarType::Float8_e4m3fnuz;  ///< `ScalarType::Float8_e4m3fnuz`
inline constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2;  ///< `ScalarType::Float8_e5m2`
inline constexpr ScalarType kFloat8_e5m2fnuz =
    ScalarType::Float8_e5m2fnuz;  ///< `ScalarType::Float8_e5m2fnuz`
inline constexpr ScalarType kFloat8_e8m0fnu =
    ScalarType::Float8_e8m0fnu;  ///< `ScalarType::Float8_e8m0fnu`
inline constexpr ScalarType kFloat4_e2m1fn_x2 =
    ScalarType::Float4_e2m1fn_x2;  ///< `ScalarType::Float4_e2m1fn_x2`

}  // namespace v0
}  // namespace sconce

// Behind the types: without it, the limits of a half would silently be those of the empty template.
#include <sconce/detail/half_limits.hpp>

#endif  // SCONCE_CUDA_SCALAR_TYPE_HPP
