/// \file
/// Arithmetic of numbers that are rounded singles. Not for callers: part of the headers of
/// `compat/numbers`.
///
/// Two numbers of such a type give one of it: the operation is that of singles, and its result is
/// rounded once. With a `float` or a `double` the result has that type and is not rounded; an
/// integer becomes a number of the type first. Comparisons are those of singles, by conversion.
#ifndef SCONCE_COMPAT_NUMBERS_OPERATORS_HPP
#define SCONCE_COMPAT_NUMBERS_OPERATORS_HPP

#include <cstdint>
#include <iosfwd>
#include <sconce/compat/numbers/bits.hpp>

/// \cond
// The forms of one operation. As in c10 they are functions and not templates, so that operands
// convert to the type.
#define SCONCE_COMPAT_OPERATION(T, sign)                                                          \
  SCONCE_COMPAT_BOTH inline T operator sign(const T& a, const T& b) noexcept {                    \
    return T(static_cast<float>(a) sign static_cast<float>(b));                                   \
  }                                                                                               \
  SCONCE_COMPAT_BOTH inline T& operator sign##=(T& a, const T& b) noexcept {                      \
    return a = a sign b;                                                                          \
  }                                                                                               \
  SCONCE_COMPAT_BOTH inline float operator sign(T a, float b) noexcept {                          \
    return static_cast<float>(a) sign b;                                                          \
  }                                                                                               \
  SCONCE_COMPAT_BOTH inline float operator sign(float a, T b) noexcept {                          \
    return a sign static_cast<float>(b);                                                          \
  }                                                                                               \
  SCONCE_COMPAT_BOTH inline float& operator sign##=(float& a, const T& b) noexcept {              \
    return a = a sign static_cast<float>(b);                                                      \
  }                                                                                               \
  SCONCE_COMPAT_BOTH inline double operator sign(T a, double b) noexcept {                        \
    return static_cast<double>(a) sign b;                                                         \
  }                                                                                               \
  SCONCE_COMPAT_BOTH inline double operator sign(double a, T b) noexcept {                        \
    return a sign static_cast<double>(b);                                                         \
  }                                                                                               \
  SCONCE_COMPAT_BOTH inline T operator sign(T a, int b) noexcept { return a sign T(b); }          \
  SCONCE_COMPAT_BOTH inline T operator sign(int a, T b) noexcept { return T(a) sign b; }          \
  SCONCE_COMPAT_BOTH inline T operator sign(T a, std::int64_t b) noexcept { return a sign T(b); } \
  SCONCE_COMPAT_BOTH inline T operator sign(std::int64_t a, T b) noexcept { return T(a) sign b; }

#define SCONCE_COMPAT_OPERATIONS(T) \
  SCONCE_COMPAT_OPERATION(T, +)     \
  SCONCE_COMPAT_OPERATION(T, -)     \
  SCONCE_COMPAT_OPERATION(T, *)     \
  SCONCE_COMPAT_OPERATION(T, /)

// The text of a number is that of its single.
#define SCONCE_COMPAT_TEXT(T)                                                         \
  template <class Char, class Traits>                                                 \
  std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, \
                                               const T& number) {                     \
    return out << static_cast<float>(number);                                         \
  }
/// \endcond

#endif  // SCONCE_COMPAT_NUMBERS_OPERATORS_HPP
