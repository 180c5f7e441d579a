// What special functions need of the compiler: the same source is compiled for devices and for the
// CPU (src/operations/special/loops.cc, which defines SCONCE_SPECIAL_ON_CPU).
#pragma once

#ifdef SCONCE_SPECIAL_ON_CPU
#include <cmath>
typedef long long i64;
typedef unsigned int u32;
#define SCONCE_INLINE static inline
#define SCONCE_CALLED static
#define SCONCE_TABLE static const
#else
#include "types.cuh"
// Functions of several callers, so that an image has them once.
#define SCONCE_CALLED static __device__ __noinline__
#define SCONCE_TABLE static __constant__ const
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#endif

#define INFINITE ((double)INFINITY)
constexpr double PI = 3.14159265358979323846;

// Not a number; a pole of a value without a sign.
SCONCE_INLINE double not_a_number() { return INFINITE - INFINITE; }
SCONCE_INLINE bool is_nan(double x) { return x != x; }

// A polynomial, whose first coefficient is that of the highest power.
template <int COUNT>
SCONCE_INLINE double polynomial(const double (&coefficients)[COUNT], double x) {
  double sum = coefficients[0];
#pragma unroll 1
  for (int at = 1; at < COUNT; at++) sum = sum * x + coefficients[at];
  return sum;
}

// A Chebyshev series in t, whose last coefficient counts half, by Clenshaw's recurrence.
template <int COUNT>
SCONCE_INLINE double chebyshev_series(const double (&coefficients)[COUNT], double t) {
  const double twice = t + t;
  double now = coefficients[0], before = 0;
#pragma unroll 1
  for (int at = 1; at < COUNT - 1; at++) {
    const double next = twice * now - before + coefficients[at];
    before = now;
    now = next;
  }
  return t * now - before + 0.5 * coefficients[COUNT - 1];
}

// The same where x is between two numbers.
template <int COUNT>
SCONCE_INLINE double chebyshev_series(const double (&coefficients)[COUNT], double x, double least,
                                      double most) {
  return chebyshev_series(coefficients, (x - least - (most - x)) / (most - least));
}
