/// \file
/// The functions of mathematics in `std` for numbers of 16 bits, which round their results. Opt-in,
/// as `<c10/util/BFloat16-math.h>` is: without it `std::exp` of a half gives a `float` that is not
/// rounded.
#ifndef SCONCE_COMPAT_NUMBERS_HALF_MATH_HPP
#define SCONCE_COMPAT_NUMBERS_HALF_MATH_HPP

#include <cmath>
#include <cstdint>
#include <sconce/compat/numbers/half.hpp>
#include <type_traits>

// Doxygen 1.9 cannot place a specialisation of std.
/// \cond
namespace std {

using sconce::compat::c10::is_reduced_floating_point;
using sconce::compat::c10::is_reduced_floating_point_v;

#define SCONCE_COMPAT_ROUNDED \
  template <class T, enable_if_t<sconce::compat::c10::is_reduced_floating_point_v<T>, int> = 0>
#define SCONCE_COMPAT_FUNCTION(name)                            \
  SCONCE_COMPAT_ROUNDED SCONCE_COMPAT_BOTH inline T name(T a) { \
    return T(std::name(static_cast<float>(a)));                 \
  }
SCONCE_COMPAT_FUNCTION(acos)
SCONCE_COMPAT_FUNCTION(asin)
SCONCE_COMPAT_FUNCTION(atan)
SCONCE_COMPAT_FUNCTION(atanh)
SCONCE_COMPAT_FUNCTION(erf)
SCONCE_COMPAT_FUNCTION(erfc)
SCONCE_COMPAT_FUNCTION(exp)
SCONCE_COMPAT_FUNCTION(expm1)
SCONCE_COMPAT_FUNCTION(log)
SCONCE_COMPAT_FUNCTION(log10)
SCONCE_COMPAT_FUNCTION(log1p)
SCONCE_COMPAT_FUNCTION(log2)
SCONCE_COMPAT_FUNCTION(ceil)
SCONCE_COMPAT_FUNCTION(cos)
SCONCE_COMPAT_FUNCTION(floor)
SCONCE_COMPAT_FUNCTION(nearbyint)
SCONCE_COMPAT_FUNCTION(sin)
SCONCE_COMPAT_FUNCTION(tan)
SCONCE_COMPAT_FUNCTION(sinh)
SCONCE_COMPAT_FUNCTION(cosh)
SCONCE_COMPAT_FUNCTION(tanh)
SCONCE_COMPAT_FUNCTION(trunc)
SCONCE_COMPAT_FUNCTION(lgamma)
SCONCE_COMPAT_FUNCTION(sqrt)
SCONCE_COMPAT_FUNCTION(abs)
#undef SCONCE_COMPAT_FUNCTION

SCONCE_COMPAT_ROUNDED SCONCE_COMPAT_BOTH inline bool isfinite(T a) {
  return std::isfinite(static_cast<float>(a));
}
// The reciprocal of the square root, which the standard library lacks.
SCONCE_COMPAT_ROUNDED SCONCE_COMPAT_BOTH inline T rsqrt(T a) {
  return T(1.0 / std::sqrt(static_cast<float>(a)));
}
SCONCE_COMPAT_ROUNDED SCONCE_COMPAT_BOTH inline T pow(T a, double b) {
  return T(std::pow(static_cast<float>(a), b));
}
SCONCE_COMPAT_ROUNDED SCONCE_COMPAT_BOTH inline T pow(T a, T b) {
  return T(std::pow(static_cast<float>(a), static_cast<float>(b)));
}
SCONCE_COMPAT_ROUNDED SCONCE_COMPAT_BOTH inline T fmod(T a, T b) {
  return T(std::fmod(static_cast<float>(a), static_cast<float>(b)));
}
// The next number of the type on the way to another one.
SCONCE_COMPAT_ROUNDED SCONCE_COMPAT_BOTH inline T nextafter(T from, T to) {
  const float start = from;
  const float end = to;
  if (start != start || end != end) {
    return T(start + end);
  }
  if (start == end) {
    return to;
  }
  if (start == 0.0F) {
    return T(static_cast<uint16_t>((to.x & 0x8000U) | 1U), T::from_bits());
  }
  // In both halves of the bits the magnitudes are in order.
  const bool grows = (start < end) == (start > 0.0F);
  return T(static_cast<uint16_t>(grows ? from.x + 1U : from.x - 1U), T::from_bits());
}
#undef SCONCE_COMPAT_ROUNDED

}  // namespace std
/// \endcond

#endif  // SCONCE_COMPAT_NUMBERS_HALF_MATH_HPP
