/// \file
/// Exponentials, logarithms, roots, powers, trigonometric and hyperbolic functions of complex
/// numbers. Included by `<sconce/compat/numbers/complex.hpp>`, which programs include.
#ifndef SCONCE_COMPAT_NUMBERS_COMPLEX_MATH_HPP
#define SCONCE_COMPAT_NUMBERS_COMPLEX_MATH_HPP

#include <cmath>
#include <complex>
#include <sconce/compat/numbers/complex.hpp>

/// \cond
namespace sconce {
inline namespace v0 {
namespace compat {
namespace complex_math {

#ifdef __CUDACC__
#define SCONCE_COMPAT_LIBRARY thrust
#else
#define SCONCE_COMPAT_LIBRARY std
#endif

/// The number as the library that computes has it.
template <class T>
SCONCE_COMPAT_BOTH SCONCE_COMPAT_LIBRARY::complex<T> foreign(const c10::complex<T>& x) {
  return static_cast<SCONCE_COMPAT_LIBRARY::complex<T>>(x);
}

#define SCONCE_COMPAT_FUNCTION(name)                                              \
  template <class T>                                                              \
  SCONCE_COMPAT_BOTH inline c10::complex<T> name(const c10::complex<T>& x) {      \
    return static_cast<c10::complex<T>>(SCONCE_COMPAT_LIBRARY::name(foreign(x))); \
  }
SCONCE_COMPAT_FUNCTION(exp)
SCONCE_COMPAT_FUNCTION(log)
SCONCE_COMPAT_FUNCTION(log10)
SCONCE_COMPAT_FUNCTION(sqrt)
SCONCE_COMPAT_FUNCTION(sin)
SCONCE_COMPAT_FUNCTION(cos)
SCONCE_COMPAT_FUNCTION(tan)
SCONCE_COMPAT_FUNCTION(asin)
SCONCE_COMPAT_FUNCTION(acos)
SCONCE_COMPAT_FUNCTION(atan)
SCONCE_COMPAT_FUNCTION(sinh)
SCONCE_COMPAT_FUNCTION(cosh)
SCONCE_COMPAT_FUNCTION(tanh)
SCONCE_COMPAT_FUNCTION(asinh)
SCONCE_COMPAT_FUNCTION(acosh)
SCONCE_COMPAT_FUNCTION(atanh)
#undef SCONCE_COMPAT_FUNCTION

template <class T>
SCONCE_COMPAT_BOTH inline c10::complex<T> log2(const c10::complex<T>& x) {
  return complex_math::log(x) / c10::complex<T>(static_cast<T>(::log(2.0)), T(0));
}

// Powers: both sides complex, or one; of one type, or of two, where the result has the larger one.
template <class T>
SCONCE_COMPAT_BOTH inline c10::complex<T> pow(const c10::complex<T>& x, const c10::complex<T>& y) {
  return static_cast<c10::complex<T>>(SCONCE_COMPAT_LIBRARY::pow(foreign(x), foreign(y)));
}
template <class T>
SCONCE_COMPAT_BOTH inline c10::complex<T> pow(const c10::complex<T>& x, const T& y) {
  return static_cast<c10::complex<T>>(SCONCE_COMPAT_LIBRARY::pow(foreign(x), y));
}
template <class T>
SCONCE_COMPAT_BOTH inline c10::complex<T> pow(const T& x, const c10::complex<T>& y) {
  return static_cast<c10::complex<T>>(SCONCE_COMPAT_LIBRARY::pow(x, foreign(y)));
}
template <class T, class U>
SCONCE_COMPAT_BOTH inline c10::complex<decltype(T() * U())> pow(const c10::complex<T>& x,
                                                                const c10::complex<U>& y) {
  return static_cast<c10::complex<T>>(SCONCE_COMPAT_LIBRARY::pow(foreign(x), foreign(y)));
}
template <class T, class U>
SCONCE_COMPAT_BOTH inline c10::complex<decltype(T() * U())> pow(const c10::complex<T>& x,
                                                                const U& y) {
  return static_cast<c10::complex<T>>(SCONCE_COMPAT_LIBRARY::pow(foreign(x), y));
}
template <class T, class U>
SCONCE_COMPAT_BOTH inline c10::complex<decltype(T() * U())> pow(const T& x,
                                                                const c10::complex<U>& y) {
  return static_cast<c10::complex<T>>(SCONCE_COMPAT_LIBRARY::pow(x, foreign(y)));
}

// The logarithm of 1 + z, exact also for a small z.
template <class T>
SCONCE_COMPAT_BOTH inline c10::complex<T> log1p(const c10::complex<T>& z) {
#ifdef __CUDACC__
  // By the absolute value of 1 + z and its angle: Thrust's log takes long to compile.
  const T x = z.real();
  const T y = z.imag();
  const T angle = std::atan2(y, x + T(1));
  if (std::abs(z) < 0.5) {
    const T squared = x * (T(2) + x) + y * y;  // of the absolute value, less 1
    return {squared == 0 ? x : T(0.5) * std::log1p(squared), angle};
  }
  return {std::log(std::hypot(x + 1, y)), angle};
#else
  // The error of 1 + z also makes the quotient of the logarithm and of what it is taken of.
  const c10::complex<T> u = z + T(1);
  if (u == T(1)) {
    return z;
  }
  const c10::complex<T> log_u = complex_math::log(u);
  const c10::complex<T> rounded = u - T(1);
  return rounded == z ? log_u : log_u * (z / rounded);
#endif
}
// The exponential less 1, exact also for a small z.
template <class T>
SCONCE_COMPAT_BOTH inline c10::complex<T> expm1(const c10::complex<T>& z) {
  const T x = z.real();
  const T y = z.imag();
  const T half_sine = std::sin(y / 2);  // cos(y) = 1 - 2 sin(y/2)^2
  const T re = std::expm1(x) * std::cos(y) - T(2) * half_sine * half_sine;
  return {re, std::exp(x) * std::sin(y)};
}
#undef SCONCE_COMPAT_LIBRARY

}  // namespace complex_math
}  // namespace compat
}  // namespace v0
}  // namespace sconce

#define SCONCE_COMPAT_NAMES                    \
  using ::sconce::compat::complex_math::acos;  \
  using ::sconce::compat::complex_math::acosh; \
  using ::sconce::compat::complex_math::asin;  \
  using ::sconce::compat::complex_math::asinh; \
  using ::sconce::compat::complex_math::atan;  \
  using ::sconce::compat::complex_math::atanh; \
  using ::sconce::compat::complex_math::cos;   \
  using ::sconce::compat::complex_math::cosh;  \
  using ::sconce::compat::complex_math::exp;   \
  using ::sconce::compat::complex_math::expm1; \
  using ::sconce::compat::complex_math::log;   \
  using ::sconce::compat::complex_math::log10; \
  using ::sconce::compat::complex_math::log1p; \
  using ::sconce::compat::complex_math::log2;  \
  using ::sconce::compat::complex_math::pow;   \
  using ::sconce::compat::complex_math::sin;   \
  using ::sconce::compat::complex_math::sinh;  \
  using ::sconce::compat::complex_math::sqrt;  \
  using ::sconce::compat::complex_math::tan;   \
  using ::sconce::compat::complex_math::tanh;
// As c10's, they are found without a namespace and in std.
SCONCE_COMPAT_NAMES
namespace std {
SCONCE_COMPAT_NAMES
}
#undef SCONCE_COMPAT_NAMES
/// \endcond

#endif  // SCONCE_COMPAT_NUMBERS_COMPLEX_MATH_HPP
