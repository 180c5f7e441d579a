/// \file
/// Complex numbers as c10 has them, on the host and on the device, with the functions of
/// mathematics that take them. For code written for c10; part of `<sconce/compat/c10.hpp>`.
///
/// The functions (`exp`, `sqrt`, `pow`, …) are found in `std` and in the global namespace, as
/// c10's are. Compiled by nvcc they are those of Thrust, elsewhere those of the standard library.
#ifndef SCONCE_COMPAT_NUMBERS_COMPLEX_HPP
#define SCONCE_COMPAT_NUMBERS_COMPLEX_HPP

#include <complex>
#include <cstddef>
#include <limits>
#include <sconce/compat/numbers/bits.hpp>
#include <sconce/compat/numbers/half.hpp>
#include <sconce/cuda/scalar_type.hpp>
#include <type_traits>

/// \cond
#ifdef __CUDACC__
#include <thrust/complex.h>
#endif
/// \endcond

namespace sconce {
inline namespace v0 {
namespace compat {
namespace detail {

/// The absolute value of a real number; that of the negative zero is the positive one.
template <class T>
SCONCE_COMPAT_BOTH constexpr T magnitude_of(T number) noexcept {
  return number < T(0) ? -number : number + T(0);
}

}  // namespace detail

namespace c10 {

/// A complex number: two real ones, with the layout of `std::complex`, aligned to its size. It is 0
/// unless it is given a value. A product of infinite numbers may be not a number where
/// `std::complex` has an infinite one. Corresponds to `c10::complex`.
template <class T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;  ///< the type of the parts

  T real_ = T(0);  ///< the real part
  T imag_ = T(0);  ///< the imaginary part

  constexpr complex() = default;
  /// A number of its parts.
  SCONCE_COMPAT_BOTH constexpr complex(const T& re, const T& im = T())  // NOLINT: as c10's
      : real_(re), imag_(im) {}
  /// A number of the standard library.
  template <class U>
  SCONCE_COMPAT_BOTH explicit constexpr complex(const std::complex<U>& other)
      : complex(static_cast<T>(other.real()), static_cast<T>(other.imag())) {}
  /// The single that is nearest to a double.
  template <class U = T>
  SCONCE_COMPAT_BOTH explicit constexpr complex(
      const std::enable_if_t<std::is_same_v<U, float>, complex<double>>& other)
      : real_(static_cast<T>(other.real_)), imag_(static_cast<T>(other.imag_)) {}
  /// A single, exactly.
  template <class U = T>
  SCONCE_COMPAT_BOTH constexpr complex(  // NOLINT: as c10's
      const std::enable_if_t<std::is_same_v<U, double>, complex<float>>& other)
      : real_(other.real_), imag_(other.imag_) {}
  /// \cond
#ifdef __CUDACC__
  template <class U>
  SCONCE_COMPAT_BOTH explicit complex(const thrust::complex<U>& other)
      : real_(other.real()), imag_(other.imag()) {}
  template <class U>
  SCONCE_COMPAT_BOTH complex& operator=(const thrust::complex<U>& other) {
    real_ = other.real();
    imag_ = other.imag();
    return *this;
  }
  template <class U>
  SCONCE_COMPAT_BOTH explicit operator thrust::complex<U>() const {
    return thrust::complex<U>(thrust::complex<T>(real_, imag_));
  }
#endif
  /// \endcond

  /// Becomes a real number.
  SCONCE_COMPAT_BOTH constexpr complex& operator=(T other) {
    real_ = other;
    imag_ = T(0);
    return *this;
  }
  /// Becomes a number whose parts may have another type.
  template <class U>
  SCONCE_COMPAT_BOTH constexpr complex& operator=(const complex<U>& other) {
    real_ = static_cast<T>(other.real());
    imag_ = static_cast<T>(other.imag());
    return *this;
  }
  /// Becomes a number of the standard library.
  template <class U>
  SCONCE_COMPAT_BOTH constexpr complex& operator=(const std::complex<U>& other) {
    real_ = static_cast<T>(other.real());
    imag_ = static_cast<T>(other.imag());
    return *this;
  }

  /// Adds a real number.
  SCONCE_COMPAT_BOTH constexpr complex& operator+=(T other) {
    real_ += other;
    return *this;
  }
  /// Subtracts a real number.
  SCONCE_COMPAT_BOTH constexpr complex& operator-=(T other) {
    real_ -= other;
    return *this;
  }
  /// Multiplies by a real number.
  SCONCE_COMPAT_BOTH constexpr complex& operator*=(T other) {
    real_ *= other;
    imag_ *= other;
    return *this;
  }
  /// Divides by a real number.
  SCONCE_COMPAT_BOTH constexpr complex& operator/=(T other) {
    real_ /= other;
    imag_ /= other;
    return *this;
  }
  /// Adds a number.
  template <class U>
  SCONCE_COMPAT_BOTH constexpr complex& operator+=(const complex<U>& other) {
    real_ = static_cast<T>(real_ + other.real());
    imag_ = static_cast<T>(imag_ + other.imag());
    return *this;
  }
  /// Subtracts a number.
  template <class U>
  SCONCE_COMPAT_BOTH constexpr complex& operator-=(const complex<U>& other) {
    real_ = static_cast<T>(real_ - other.real());
    imag_ = static_cast<T>(imag_ - other.imag());
    return *this;
  }
  /// Multiplies by a number, as school teaches it.
  template <class U>
  SCONCE_COMPAT_BOTH constexpr complex& operator*=(const complex<U>& other) {
    const T re = real_;
    const T im = imag_;
    const U other_re = other.real();
    const U other_im = other.imag();
    real_ = static_cast<T>(re * other_re - im * other_im);
    imag_ = static_cast<T>(re * other_im + im * other_re);
    return *this;
  }
  /// Divides by a number, scaled by its larger part so that nothing overflows on the way (Smith's
  /// method, as in NumPy). By 0 the result is infinite or not a number.
  template <class U>
  SCONCE_COMPAT_BOTH constexpr complex& operator/=(const complex<U>& other) {
    const T re = real_;
    const T im = imag_;
    const U c = other.real();
    const U d = other.imag();
    const U size_c = compat::detail::magnitude_of(c);
    const U size_d = compat::detail::magnitude_of(d);
    if (!(size_c >= size_d)) {
      const U ratio = c / d;
      const U scale = U(1) / (d + c * ratio);
      real_ = static_cast<T>((re * ratio + im) * scale);
      imag_ = static_cast<T>((im * ratio - re) * scale);
    } else if (size_c == U(0) && size_d == U(0)) {
      real_ = static_cast<T>(re / size_c);
      imag_ = static_cast<T>(im / size_d);
    } else {
      const U ratio = d / c;
      const U scale = U(1) / (c + d * ratio);
      real_ = static_cast<T>((re + im * ratio) * scale);
      imag_ = static_cast<T>((im - re * ratio) * scale);
    }
    return *this;
  }

  /// The number of the standard library.
  template <class U>
  SCONCE_COMPAT_BOTH explicit constexpr operator std::complex<U>() const {
    return std::complex<U>(static_cast<U>(real_), static_cast<U>(imag_));
  }
  /// Whether the number is not 0.
  SCONCE_COMPAT_BOTH explicit constexpr operator bool() const {
    return real_ != T(0) || imag_ != T(0);
  }
  /// The real part.
  SCONCE_COMPAT_BOTH constexpr T real() const { return real_; }
  /// Sets the real part.
  SCONCE_COMPAT_BOTH constexpr void real(T value) { real_ = value; }
  /// The imaginary part.
  SCONCE_COMPAT_BOTH constexpr T imag() const { return imag_; }
  /// Sets the imaginary part.
  SCONCE_COMPAT_BOTH constexpr void imag(T value) { imag_ = value; }
};

/// A complex number of two halves, which has no value unless it is given one. Has the layout of
/// `__half2`. Corresponds to `c10::complex<c10::Half>`.
template <>
struct alignas(4) complex<Half> {
  using value_type = Half;  ///< the type of the parts

  Half real_;  ///< the real part
  Half imag_;  ///< the imaginary part

  complex() = default;
  /// A number of its parts.
  SCONCE_COMPAT_BOTH explicit complex(const Half& re, const Half& im) : real_(re), imag_(im) {}
  /// The number nearest to one of singles.
  SCONCE_COMPAT_BOTH complex(const complex<float>& value)  // NOLINT: as c10's
      : real_(value.real()), imag_(value.imag()) {}
  /// The number as singles, exactly.
  SCONCE_COMPAT_BOTH operator complex<float>() const {  // NOLINT: as c10's
    return complex<float>(static_cast<float>(real_), static_cast<float>(imag_));
  }
  /// The real part.
  SCONCE_COMPAT_BOTH constexpr Half real() const { return real_; }
  /// The imaginary part.
  SCONCE_COMPAT_BOTH constexpr Half imag() const { return imag_; }
  /// Adds a number.
  SCONCE_COMPAT_BOTH complex& operator+=(const complex& other) {
    real_ += other.real_;
    imag_ += other.imag_;
    return *this;
  }
  /// Subtracts a number.
  SCONCE_COMPAT_BOTH complex& operator-=(const complex& other) {
    real_ -= other.real_;
    imag_ -= other.imag_;
    return *this;
  }
  /// Multiplies by a number: the product of singles, rounded.
  SCONCE_COMPAT_BOTH complex& operator*=(const complex& other) {
    const float re = real_;
    const float im = imag_;
    const float other_re = other.real_;
    const float other_im = other.imag_;
    real_ = Half(re * other_re - im * other_im);
    imag_ = Half(re * other_im + im * other_re);
    return *this;
  }
};

static_assert(sizeof(complex<float>) == 8 && sizeof(complex<double>) == 16 &&
                  sizeof(complex<Half>) == 4,
              "arrays of them are tensors' memory");

/// \cond
// Operators. With an integer, it becomes a number of the type first.
template <class T, class Integer>
using IfComplexAndInteger =
    std::enable_if_t<std::is_floating_point_v<T> && std::is_integral_v<Integer>, int>;

#define SCONCE_COMPAT_COMPLEX_OPERATION(sign)                                                    \
  template <class T>                                                                             \
  SCONCE_COMPAT_BOTH constexpr complex<T> operator sign(const complex<T>& a,                     \
                                                        const complex<T>& b) {                   \
    complex<T> result = a;                                                                       \
    return result sign## = b;                                                                    \
  }                                                                                              \
  template <class T>                                                                             \
  SCONCE_COMPAT_BOTH constexpr complex<T> operator sign(const complex<T>& a, const T& b) {       \
    complex<T> result = a;                                                                       \
    return result sign## = b;                                                                    \
  }                                                                                              \
  template <class T, class Integer, IfComplexAndInteger<T, Integer> = 0>                         \
  SCONCE_COMPAT_BOTH constexpr complex<T> operator sign(const complex<T>& a, const Integer& b) { \
    return a sign static_cast<T>(b);                                                             \
  }                                                                                              \
  template <class T, class Integer, IfComplexAndInteger<T, Integer> = 0>                         \
  SCONCE_COMPAT_BOTH constexpr complex<T> operator sign(const Integer& a, const complex<T>& b) { \
    return static_cast<T>(a) sign b;                                                             \
  }

template <class T>
SCONCE_COMPAT_BOTH constexpr complex<T> operator+(const complex<T>& number) {
  return number;
}
template <class T>
SCONCE_COMPAT_BOTH constexpr complex<T> operator-(const complex<T>& number) {
  return complex<T>(-number.real(), -number.imag());
}
// A real number on the left leaves the imaginary part of a sum as it is.
template <class T>
SCONCE_COMPAT_BOTH constexpr complex<T> operator+(const T& a, const complex<T>& b) {
  return complex<T>(a + b.real(), b.imag());
}
template <class T>
SCONCE_COMPAT_BOTH constexpr complex<T> operator-(const T& a, const complex<T>& b) {
  complex<T> result(-b.real(), -b.imag());
  return result += a;
}
template <class T>
SCONCE_COMPAT_BOTH constexpr complex<T> operator*(const T& a, const complex<T>& b) {
  complex<T> result = b;
  return result *= a;
}
template <class T>
SCONCE_COMPAT_BOTH constexpr complex<T> operator/(const T& a, const complex<T>& b) {
  complex<T> result(a, T());
  return result /= b;
}
SCONCE_COMPAT_COMPLEX_OPERATION(+)
SCONCE_COMPAT_COMPLEX_OPERATION(-)
SCONCE_COMPAT_COMPLEX_OPERATION(*)
SCONCE_COMPAT_COMPLEX_OPERATION(/)
#undef SCONCE_COMPAT_COMPLEX_OPERATION

template <class T>
SCONCE_COMPAT_BOTH constexpr bool operator==(const complex<T>& a, const complex<T>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <class T>
SCONCE_COMPAT_BOTH constexpr bool operator==(const complex<T>& a, const T& b) {
  return a.real() == b && a.imag() == T();
}
template <class T>
SCONCE_COMPAT_BOTH constexpr bool operator==(const T& a, const complex<T>& b) {
  return b == a;
}
template <class T>
SCONCE_COMPAT_BOTH constexpr bool operator!=(const complex<T>& a, const complex<T>& b) {
  return !(a == b);
}
template <class T>
SCONCE_COMPAT_BOTH constexpr bool operator!=(const complex<T>& a, const T& b) {
  return !(a == b);
}
template <class T>
SCONCE_COMPAT_BOTH constexpr bool operator!=(const T& a, const complex<T>& b) {
  return !(b == a);
}

// The text is that of the standard library: (1,2).
template <class T, class Char, class Traits>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                             const complex<T>& number) {
  return out << static_cast<std::complex<T>>(number);
}
template <class T, class Char, class Traits>
std::basic_istream<Char, Traits>& operator>>(std::basic_istream<Char, Traits>& in,
                                             complex<T>& number) {
  std::complex<T> read;
  in >> read;
  number = read;
  return in;
}
/// \endcond

/// A number by its absolute value and its angle, which is 0 unless it is given.
template <class T>
SCONCE_COMPAT_BOTH complex<T> polar(const T& r, const T& theta = T()) {
#ifdef __CUDACC__
  return static_cast<complex<T>>(thrust::polar(r, theta));
#else
  return complex<T>(r * std::cos(theta), r * std::sin(theta));
#endif
}

/// Whether a type is of complex numbers, those of the standard library included. Corresponds to
/// `c10::is_complex`.
template <class T>
struct is_complex : std::false_type {};
/// A complex number.
template <class T>
struct is_complex<complex<T>> : std::true_type {};
/// A complex number.
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};

/// The type of the parts of a complex type, and any other type itself, as `type`. Corresponds to
/// `c10::scalar_value_type`.
template <class T>
struct scalar_value_type {
  using type = T;  ///< the type
};
/// The type of the parts.
template <class T>
struct scalar_value_type<complex<T>> {
  using type = T;  ///< the type
};
/// The type of the parts.
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;  ///< the type
};

/// Imaginary numbers in a program's text: `2.0_id`.
namespace complex_literals {

/// An imaginary number of singles.
constexpr complex<float> operator""_if(long double imaginary) {
  return {0.0F, static_cast<float>(imaginary)};
}
/// An imaginary number of singles.
constexpr complex<float> operator""_if(unsigned long long imaginary) {
  return {0.0F, static_cast<float>(imaginary)};
}
/// An imaginary number of doubles.
constexpr complex<double> operator""_id(long double imaginary) {
  return {0.0, static_cast<double>(imaginary)};
}
/// An imaginary number of doubles.
constexpr complex<double> operator""_id(unsigned long long imaginary) {
  return {0.0, static_cast<double>(imaginary)};
}

}  // namespace complex_literals
}  // namespace c10
}  // namespace compat

namespace cuda {

/// Two halves.
template <>
struct CppTypeToScalarType<compat::c10::complex<compat::c10::Half>>
    : std::integral_constant<ScalarType, ScalarType::ComplexHalf> {};

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

// Doxygen 1.9 cannot place a specialisation of std.
/// \cond
namespace std {

template <class T>
class numeric_limits<sconce::compat::c10::complex<T>> : public numeric_limits<T> {};

template <class T>
struct hash<sconce::compat::c10::complex<T>> {
  size_t operator()(const sconce::compat::c10::complex<T>& number) const noexcept {
    const size_t first = hash<T>()(number.real());
    return first ^ (hash<T>()(number.imag()) + 0x9E3779B9U + (first << 6) + (first >> 2));
  }
};

template <class T>
SCONCE_COMPAT_BOTH constexpr T real(const sconce::compat::c10::complex<T>& number) {
  return number.real();
}
template <class T>
SCONCE_COMPAT_BOTH constexpr T imag(const sconce::compat::c10::complex<T>& number) {
  return number.imag();
}
template <class T>
SCONCE_COMPAT_BOTH T abs(const sconce::compat::c10::complex<T>& number) {
#ifdef __CUDACC__
  return thrust::abs(static_cast<thrust::complex<T>>(number));
#else
  return std::abs(static_cast<std::complex<T>>(number));
#endif
}
template <class T>
SCONCE_COMPAT_BOTH T arg(const sconce::compat::c10::complex<T>& number) {
  return std::atan2(number.imag(), number.real());
}
template <class T>
SCONCE_COMPAT_BOTH constexpr T norm(const sconce::compat::c10::complex<T>& number) {
  return number.real() * number.real() + number.imag() * number.imag();
}
template <class T>
SCONCE_COMPAT_BOTH constexpr sconce::compat::c10::complex<T> conj(
    const sconce::compat::c10::complex<T>& number) {
  return sconce::compat::c10::complex<T>(number.real(), -number.imag());
}
template <class T>
SCONCE_COMPAT_BOTH bool isnan(const sconce::compat::c10::complex<T>& number) {
  return number != number;
}

}  // namespace std
/// \endcond

#include <sconce/compat/numbers/complex_math.hpp>

#endif  // SCONCE_COMPAT_NUMBERS_COMPLEX_HPP
