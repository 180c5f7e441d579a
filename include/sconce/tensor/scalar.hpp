/// \file
/// A number of any kind, where an operation on tensors takes one.
#ifndef SCONCE_TENSOR_SCALAR_HPP
#define SCONCE_TENSOR_SCALAR_HPP

#include <sconce/c/library.h>
#include <sconce/c/tensor.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sconce/cuda/error.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <sconce/detail/complex_parts.hpp>
#include <string>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace detail {

/// Whether a class is of real numbers that are rounded singles: it converts to `float` and has the
/// `ScalarType` of a floating-point type, as the halves of `compat/c10.hpp` do.
template <class T, class = void>
inline constexpr bool is_rounded_single_v = false;
template <class T>
inline constexpr bool is_rounded_single_v<
    T, std::enable_if_t<std::is_class_v<T> && std::is_convertible_v<const T&, float> &&
                        cuda::isFloatingType(cuda::CppTypeToScalarType<T>::value)>> = true;
/// Whether a type is of complex numbers.
template <class T>
inline constexpr bool has_complex_parts_v = !std::is_same_v<typename ComplexParts<T>::type, T>;

}  // namespace detail

/// An integer, a real number, a truth value or a complex number. Its kind affects the type of
/// results, as the kind of a Python number does in torch. Corresponds to `c10::Scalar`.
class Scalar {
 public:
  /// The integer 0.
  constexpr Scalar() noexcept : value_{SCONCE_SCALAR_INTEGER, 0, 0, 0.0, 0.0} {}

  /// Any number; a `bool` is a truth value.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` for an integer above the largest `int64_t`
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  constexpr Scalar(Number number) : Scalar() {  // NOLINT: as c10::Scalar
    if constexpr (std::is_same_v<Number, bool>) {
      value_.kind = SCONCE_SCALAR_BOOL;
      value_.integer = number ? 1 : 0;
    } else if constexpr (std::is_integral_v<Number>) {
      if constexpr (std::is_unsigned_v<Number> && sizeof(Number) >= sizeof(std::int64_t)) {
        if (number > static_cast<Number>(std::numeric_limits<std::int64_t>::max())) {
          throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                      std::to_string(number) + " is too large for a Scalar; the greatest is " +
                          std::to_string(std::numeric_limits<std::int64_t>::max()));
        }
      }
      value_.integer = static_cast<std::int64_t>(number);
    } else {
      value_.kind = SCONCE_SCALAR_REAL;
      value_.real = static_cast<double>(number);
    }
  }

  /// A number of 8 or 16 bits of a class that computes, such as `c10::Half` of `compat/c10.hpp`.
  template <class Number,
            std::enable_if_t<detail::is_rounded_single_v<Number>, std::nullptr_t> = nullptr>
  constexpr Scalar(const Number& number)  // NOLINT: as c10::Scalar
      : value_{SCONCE_SCALAR_REAL, 0, 0, static_cast<double>(static_cast<float>(number)), 0.0} {}

  /// A complex number.
  template <class Number, std::enable_if_t<detail::has_complex_parts_v<Number>, char> = 0>
  constexpr Scalar(const Number& number)  // NOLINT: as c10::Scalar
      : value_{SCONCE_SCALAR_COMPLEX, 0, 0, static_cast<double>(number.real()),
               static_cast<double>(number.imag())} {}

  /// The number of the C API.
  explicit constexpr Scalar(const sconce_scalar& value) noexcept : value_(value) {}

  /// The C API's number; valid while this object is.
  [[nodiscard]] constexpr const sconce_scalar* get() const noexcept { return &value_; }

  /// Whether it is a truth value.
  [[nodiscard]] constexpr bool isBoolean() const noexcept {
    return value_.kind == SCONCE_SCALAR_BOOL;
  }
  /// Whether it is an integer.
  /// \param includeBool whether a truth value counts as one
  [[nodiscard]] constexpr bool isIntegral(bool includeBool) const noexcept {
    return value_.kind == SCONCE_SCALAR_INTEGER || (includeBool && isBoolean());
  }
  /// Whether it is a real number.
  [[nodiscard]] constexpr bool isFloatingPoint() const noexcept {
    return value_.kind == SCONCE_SCALAR_REAL;
  }
  /// Whether it is a complex number.
  [[nodiscard]] constexpr bool isComplex() const noexcept {
    return value_.kind == SCONCE_SCALAR_COMPLEX;
  }

  /// The number as another type; fractions are cut off.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if an integer type, or one of 8 or 16 bits that
  ///         computes, cannot hold it, or a real type its imaginary part
  template <class T>
  [[nodiscard]] T to() const {
    if constexpr (detail::has_complex_parts_v<T>) {
      using Real = typename T::value_type;
      const bool real = isFloatingPoint() || isComplex();
      return real ? T(static_cast<Real>(value_.real), static_cast<Real>(value_.imaginary))
                  : T(static_cast<Real>(value_.integer), static_cast<Real>(0));
    } else {
      static_assert(std::is_arithmetic_v<T> || detail::is_rounded_single_v<T>,
                    "a Scalar is an arithmetic or a complex number");
      if (isComplex() && value_.imaginary != 0.0) {
        refuse("without losing its imaginary part");
      }
      const bool real = isFloatingPoint() || isComplex();
      if constexpr (std::is_same_v<T, bool>) {
        return real ? value_.real != 0.0 : value_.integer != 0;
      } else if constexpr (detail::is_rounded_single_v<T>) {
        return rounded<T>(real ? value_.real : static_cast<double>(value_.integer));
      } else if constexpr (std::is_floating_point_v<T>) {
        return real ? static_cast<T>(value_.real) : static_cast<T>(value_.integer);
      } else {
        return real ? whole<T>() : narrow<T>();
      }
    }
  }

  /// The number as a `double`.
  [[nodiscard]] double toDouble() const { return to<double>(); }
  /// The number as a `float`.
  [[nodiscard]] float toFloat() const { return to<float>(); }
  /// The number as an `int`.
  [[nodiscard]] int toInt() const { return to<int>(); }
  /// The number as an `int64_t`.
  [[nodiscard]] std::int64_t toLong() const { return to<std::int64_t>(); }
  /// Whether the number is not 0.
  [[nodiscard]] bool toBool() const { return to<bool>(); }

 private:
  [[noreturn]] static void refuse(const char* how) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                std::string("value cannot be converted to the type ") + how);
  }

  template <class T>
  [[nodiscard]] static T rounded(double number) {
    using limits = std::numeric_limits<T>;
    if constexpr (limits::is_specialized) {
      const double most = static_cast<float>(limits::max());
      const double least = static_cast<float>(limits::lowest());
      constexpr double endless = std::numeric_limits<double>::infinity();
      if (number == endless || number == -endless ? !limits::has_infinity
                                                  : number > most || number < least) {
        refuse("without overflow");
      }
    }
    return T(static_cast<float>(number));
  }

  template <class T>
  [[nodiscard]] T narrow() const {
    const T narrowed = static_cast<T>(value_.integer);
    // The C API returns integers from 2^63 on with their bits.
    const bool same_bits = sizeof(T) == sizeof(std::int64_t);
    if (!same_bits && static_cast<std::int64_t>(narrowed) != value_.integer) {
      refuse("without overflow");
    }
    return narrowed;
  }

  template <class T>
  [[nodiscard]] T whole() const {
    constexpr int digits = std::numeric_limits<T>::digits;
    double end = 1.0;  // the first power of two above the type's numbers
    for (int digit = 0; digit < digits; ++digit) {
      end *= 2.0;
    }
    const double least = std::is_signed_v<T> ? -end : 0.0;
    const bool fits = value_.real >= least && value_.real < end;
    if (!fits) {
      refuse("without overflow");
    }
    return static_cast<T>(value_.real);
  }

  sconce_scalar value_;
};

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_TENSOR_SCALAR_HPP
