// Functions of single elements that libsconce.so does not have: inverse functions of angles,
// hyperbolic ones, logarithms. For real and complex numbers (`operations/transcendental`).
// Compute capability: 7.5 alone.

#include "solvers/field.cuh"

// These are in `operations/transcendental` too: the elements of a thread, and the functions.
constexpr u32 EACH = 4;
enum Function : u32 {
  ACOS,
  ACOSH,
  ASIN,
  ASINH,
  ATAN,
  ATANH,
  COSH,
  EXPM1,
  LOG10,
  LOG1P,
  LOG2,
  SINH,
  TAN
};

typedef Complex<double> Number;

constexpr double LN_2 = 0.69314718055994530942, LN_10 = 2.30258509299404568402;
constexpr double HALF_PI = 1.57079632679489661923, PI = 3.14159265358979323846;
// Squares of numbers in between neither overflow nor lose digits.
constexpr double LARGE = 1e150, SMALL = 1e-150, MOST = 1.7976931348623157e308;

SCONCE_INLINE double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
SCONCE_INLINE double no_number() { return __longlong_as_double(0x7ff8000000000000ll); }
SCONCE_INLINE bool is_nan(double x) { return x != x; }
SCONCE_INLINE bool is_infinite(double x) { return fabs(x) > MOST; }
SCONCE_INLINE bool is_finite(double x) { return fabs(x) <= MOST; }
SCONCE_INLINE bool is_negative(double x) { return copysign(1.0, x) < 0; }

// The logarithm of the length, exact also where that is close to 1.
SCONCE_INLINE double log_of_length(double x, double y) {
  x = fabs(x), y = fabs(y);
  const double most = x > y ? x : y, least = x > y ? y : x;
  if (is_finite(x) && is_finite(y)) {
    if (most > LARGE) return log(hypot(x * 0.5, y * 0.5)) + LN_2;
    if (most > 0.5 && most < 2) return 0.5 * log1p((most - 1) * (most + 1) + least * least);
  }
  return log(hypot(x, y));
}

SCONCE_INLINE Number logarithm(Number z, double scale) {
  return {log_of_length(z.re, z.im) / scale, atan2(z.im, z.re) / scale};
}

// What the inverse sine and cosine of x + iy, both positive, are made of: their real parts, and
// the size of their imaginary parts. From "Implementing the complex arcsine and arccosine
// functions using exception handling" of Hull, Fairgrieve and Tang.
struct Arcs {
  double sine, cosine, size;
};

SCONCE_INLINE Arcs arcs(double x, double y) {
  if (x > LARGE || y > LARGE) return {atan2(x, y), atan2(y, x), LN_2 + log_of_length(x, y)};
  const double right = hypot(x + 1, y), left = hypot(x - 1, y), a = 0.5 * (right + left);
  const double half = 0.5 * (a + x), far = right + (x + 1);
  const double root = x <= 1 ? sqrt(half * (y * y / far + (left + (1 - x))))
                             : y * sqrt(half / far + half / (left + (x - 1)));
  double size;
  if (y < SMALL && x < 1) {
    size = y / sqrt((1 - x) * (1 + x));
  } else if (a <= 1.5) {
    const double near = x < 1 ? y * y / (left + (1 - x)) : left + (x - 1);
    const double above = 0.5 * (y * y / far + near);
    size = log1p(above + sqrt(above * (a + 1)));
  } else {
    size = log(a + sqrt(a * a - 1));
  }
  return {atan2(x, root), atan2(root, x), size};
}

SCONCE_INLINE Number inverse_sine(Number z) {
  if (is_nan(z.re) || is_nan(z.im)) {
    if (z.re == 0) return z;
    const double y = is_infinite(z.re) ? z.re : z.im;
    return {no_number(), is_infinite(y) ? y : no_number()};
  }
  const Arcs found = arcs(fabs(z.re), fabs(z.im));
  return {copysign(found.sine, z.re), copysign(found.size, z.im)};
}

SCONCE_INLINE Number inverse_cosine(Number z) {
  if (is_nan(z.re) || is_nan(z.im)) {
    if (z.re == 0) return {HALF_PI, no_number()};
    const double y = is_infinite(z.re) ? z.re : -z.im;
    return {no_number(), is_infinite(y) ? y : no_number()};
  }
  const Arcs found = arcs(fabs(z.re), fabs(z.im));
  return {is_negative(z.re) ? PI - found.cosine : found.cosine, copysign(found.size, -z.im)};
}

SCONCE_INLINE Number inverse_hyperbolic_tangent(Number z) {
  const double x = fabs(z.re), y = fabs(z.im);
  if (is_nan(x) || is_nan(y)) {
    if (x == 0) return z;
    return {is_infinite(x) || is_infinite(y) ? copysign(0.0, z.re) : no_number(),
            is_infinite(y) ? copysign(HALF_PI, z.im) : no_number()};
  }
  double re, im = HALF_PI;
  if (is_infinite(x) || is_infinite(y)) {
    re = 0;
  } else if (x > LARGE || y > LARGE) {
    const double length = hypot(x * 0.5, y * 0.5);
    re = x * 0.25 / length / length;
  } else {
    im = 0.5 * atan2(2 * y, (1 - x) * (1 + x) - y * y);
    if (x == 1 && y < SMALL) {
      re = y == 0 ? infinity() : 0.5 * (LN_2 - log(y));
    } else {
      re = 0.25 * log1p(4 * x / ((1 - x) * (1 - x) + y * y));
    }
  }
  return {copysign(re, z.re), copysign(im, z.im)};
}

// The hyperbolic sine and cosine, of which each is made of the other's parts.
SCONCE_INLINE Number hyperbolic(Number z, bool is_sine) {
  const double x = z.re, y = z.im;
  const double sign = is_negative(x) ? -1 : 1;
  if (y == 0) return is_sine ? Number{sinh(x), y} : Number{cosh(x), y * sign};
  if (x == 0) {
    const double sine = is_finite(y) ? sin(y) : no_number();
    const double cosine = is_finite(y) ? cos(y) : no_number();
    if (is_sine) return {is_negative(cosine) ? -x : x, sine};
    return {cosine, is_finite(y) ? x * sine : 0};
  }
  if (is_infinite(x) && !is_finite(y)) return {is_sine ? x : infinity(), no_number()};
  if (fabs(x) > 700) {
    const double half = exp(fabs(x) * 0.5);
    const double across = 0.5 * half * cos(y) * half, up = 0.5 * half * sin(y) * half;
    return is_sine ? Number{sign * across, up} : Number{across, sign * up};
  }
  if (is_sine) return {sinh(x) * cos(y), cosh(x) * sin(y)};
  return {cosh(x) * cos(y), sinh(x) * sin(y)};
}

// By Kahan's formula.
SCONCE_INLINE Number hyperbolic_tangent(Number z) {
  const double x = z.re, y = z.im;
  if (is_infinite(x)) {
    return {copysign(1.0, x), copysign(0.0, is_finite(y) ? sin(y) * cos(y) : y)};
  }
  if (is_nan(x)) return {x, y == 0 ? y : no_number()};
  if (!is_finite(y)) return {x == 0 ? x : no_number(), no_number()};
  if (fabs(x) > 22) {
    const double small = exp(-fabs(x));
    return {copysign(1.0, x), 4 * sin(y) * cos(y) * small * small};
  }
  const double tangent = tan(y), slope = 1 + tangent * tangent, sine = sinh(x);
  const double below = 1 + slope * sine * sine;
  return {slope * sqrt(1 + sine * sine) * sine / below, tangent / below};
}

SCONCE_INLINE Number turned(Number z) { return {z.im, z.re}; }

SCONCE_INLINE Number of_number(u32 function, Number z) {
  switch (function) {
    case ACOS:
      return inverse_cosine(z);
    case ACOSH: {
      const Number found = inverse_cosine(z);
      return {fabs(found.im), copysign(found.re, z.im)};
    }
    case ASIN:
      return inverse_sine(z);
    case ASINH:
      return turned(inverse_sine(turned(z)));
    case ATAN:
      return turned(inverse_hyperbolic_tangent(turned(z)));
    case ATANH:
      return inverse_hyperbolic_tangent(z);
    case COSH:
      return hyperbolic(z, false);
    case EXPM1: {
      const double half = sin(0.5 * z.im);
      return {expm1(z.re) * cos(z.im) - 2 * half * half, exp(z.re) * sin(z.im)};
    }
    case LOG10:
      return logarithm(z, LN_10);
    case LOG1P: {
      const double angle = atan2(z.im, z.re + 1);
      if (hypot(z.re, z.im) < 0.5) {
        const double square = z.re * (2 + z.re) + z.im * z.im;
        return {square == 0 ? z.re : 0.5 * log1p(square), angle};
      }
      return {log_of_length(z.re + 1, z.im), angle};
    }
    case LOG2:
      return logarithm(z, LN_2);
    case SINH:
      return hyperbolic(z, true);
    default:
      return turned(hyperbolic_tangent(turned(z)));
  }
}

SCONCE_INLINE double of_number(u32 function, double x) {
  switch (function) {
    case ACOS:
      return acos(x);
    case ACOSH:
      return acosh(x);
    case ASIN:
      return asin(x);
    case ASINH:
      return asinh(x);
    case ATAN:
      return atan(x);
    case ATANH:
      return atanh(x);
    case COSH:
      return cosh(x);
    case EXPM1:
      return expm1(x);
    case LOG10:
      return log10(x);
    case LOG1P:
      return log1p(x);
    case LOG2:
      return log2(x);
    case SINH:
      return sinh(x);
    default:
      return tan(x);
  }
}

SCONCE_INLINE double widened(float x) { return x; }
SCONCE_INLINE double widened(double x) { return x; }
template <class R>
SCONCE_INLINE Number widened(Complex<R> z) {
  return {z.re, z.im};
}
SCONCE_INLINE void write(float* to, double x) { *to = (float)x; }
SCONCE_INLINE void write(double* to, double x) { *to = x; }
template <class R>
SCONCE_INLINE void write(Complex<R>* to, Number z) {
  *to = {(R)z.re, (R)z.im};
}

// Replaces elements. Calculated in doubles, and rounded once.
#define KERNELS(name, T)                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS)                                  \
      sconce_torch_transcendental_##name(T* data, const i64 count, const u32 function) { \
    const i64 begin = (i64)blockIdx.x * THREADS * EACH + threadIdx.x;                    \
    _Pragma("unroll 1") for (u32 e = 0; e < EACH; ++e) {                                 \
      const i64 at = begin + (i64)e * THREADS;                                           \
      if (at < count) write(data + at, of_number(function, widened(data[at])));          \
    }                                                                                    \
  }

SCONCE_FOR_FIELDS(KERNELS)
