// Modified Bessel functions, the spherical one of order 0, and Airy's function.
#pragma once

#include "special/tables.cuh"

// exp(-|x|) I0(x)
SCONCE_CALLED double bessel_i0e(double x) {
  const double size = fabs(x);
  if (size <= 8) return chebyshev_series(I0_NEAR, size * 0.25 - 1);
  return chebyshev_series(I0_FAR, 16 / size - 1) / sqrt(size);
}

// exp(-|x|) I1(x)
SCONCE_CALLED double bessel_i1e(double x) {
  const double size = fabs(x);
  if (size <= 8) return chebyshev_series(I1_NEAR, size * 0.25 - 1) * x;
  return copysign(chebyshev_series(I1_FAR, 16 / size - 1) / sqrt(size), x);
}

// K0(x), times exp(x) if it is scaled. Infinite at 0; not defined below.
SCONCE_CALLED double bessel_k0(double x, bool scaled) {
  if (x == 0) return INFINITE;
  if (x < 0) return not_a_number();
  if (x <= 2) {
    const double regular = chebyshev_series(K0_NEAR, x * x * 0.5 - 1);
    const double value = regular - log(0.5 * x) * (bessel_i0e(x) * exp(x));
    return scaled ? value * exp(x) : value;
  }
  const double value = chebyshev_series(K0_FAR, 4 / x - 1) / sqrt(x);
  return scaled ? value : value * exp(-x);
}

// The same of K1(x).
SCONCE_CALLED double bessel_k1(double x, bool scaled) {
  if (x == 0) return INFINITE;
  if (x < 0) return not_a_number();
  if (x <= 2) {
    const double regular = chebyshev_series(K1_NEAR, x * x * 0.5 - 1);
    const double value = regular / x + log(0.5 * x) * (bessel_i1e(x) * exp(x));
    return scaled ? value * exp(x) : value;
  }
  const double value = chebyshev_series(K1_FAR, 4 / x - 1) / sqrt(x);
  return scaled ? value : value * exp(-x);
}

// sin(x) / x
SCONCE_INLINE double spherical_bessel_j0(double x) {
  const double size = fabs(x);
  if (size == INFINITE) return 0;
  return size < 1e-8 ? 1 : sin(x) / x;
}

// Ai(x): Taylor's series around 0, and amplitudes beside it. Not a number at infinities, and 0 from
// 103.892 on, as in torch.
SCONCE_INLINE double airy_ai(double x) {
  constexpr double AT_0 = 0.35502805388781723926, SLOPE_AT_0 = 0.25881940379280679841;
  constexpr double ROOT_OF_PI = 1.77245385090551602730;
  constexpr double NEAR = 2.09;
  const double size = fabs(x);
  if (size == INFINITE) return not_a_number();
  if (x > 103.892) return 0;
  if (size >= NEAR) {
    const double angle = 2 * size * sqrt(size) / 3, inverse = 1 / angle;
    const double factor = 1 / (ROOT_OF_PI * sqrt(sqrt(size)));
    if (x > 0)
      return 0.5 * factor * exp(-angle) * chebyshev_series(AIRY_FALLING, inverse, 0, AIRY_END);
    const double turned = angle + 0.25 * PI;
    return factor * (sin(turned) * chebyshev_series(AIRY_SINE, inverse, 0, AIRY_END) -
                     cos(turned) * inverse * chebyshev_series(AIRY_COSINE, inverse, 0, AIRY_END));
  }
  const double cube = x * x * x;
  double even = 1, odd = x, even_sum = 1, odd_sum = x;
#pragma unroll 1
  for (int k = 3; k < 60; k += 3) {
    even *= cube / (k * (k - 1));
    odd *= cube / (k * (k + 1));
    even_sum += even;
    odd_sum += odd;
    if (fabs(even) < 1e-17 * fabs(even_sum) && fabs(odd) < 1e-17 * fabs(odd_sum)) break;
  }
  return AT_0 * even_sum - SLOPE_AT_0 * odd_sum;
}
