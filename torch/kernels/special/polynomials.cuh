// Orthogonal polynomials, by their recurrences. The order is cut to a whole number; below 0, and of
// a NaN or a number beyond 64 bits, the polynomial is 0, as in torch.
#pragma once

#include "special/machine.cuh"

// The order as a whole number; -1 of those without a polynomial.
SCONCE_INLINE i64 whole_order(double n) { return n > -1 && n < 9223372036854775808. ? (i64)n : -1; }

// Chebyshev's polynomials.
enum Kind { FIRST, SECOND, THIRD, FOURTH };

// Above the order `explicit_from` they are computed by angles, as in torch.
SCONCE_CALLED double chebyshev_polynomial(Kind kind, double x, double order, i64 explicit_from) {
  const i64 n = whole_order(order);
  if (n < 0) return 0;
  if (fabs(x) == 1) {
    const double sign = x < 0 && n % 2 != 0 ? -1 : 1;
    if (kind == FIRST) return sign;
    if (kind == SECOND) return sign * ((double)n + 1);
    const bool is_one = (kind == THIRD) == (x > 0);
    return sign * (is_one ? 1 : 2 * (double)n + 1);
  }
  if (n > explicit_from && fabs(x) < 1) {
    const double angle = acos(x);
    if (kind == FIRST) return cos((double)n * angle);
    if (kind == SECOND) return sin(((double)n + 1) * angle) / sin(angle);
    const double turned = ((double)n + 0.5) * angle;
    return kind == THIRD ? cos(turned) / cos(0.5 * angle) : sin(turned) / sin(0.5 * angle);
  }
  if (n == 0) return 1;
  const double twice = x + x;
  double before = 1;
  double now = kind == FIRST ? x : kind == SECOND ? twice : kind == THIRD ? twice - 1 : twice + 1;
#pragma unroll 1
  for (i64 k = 2; k <= n && !is_nan(now); k++) {
    const double next = twice * now - before;
    before = now;
    now = next;
  }
  return now;
}

// Beyond these orders torch returns no number, in F32 and in F64.
SCONCE_INLINE i64 hermite_limit(bool is_f64) { return is_f64 ? 512 : 128; }

// Hermite's polynomials of physics (`slope` is 2) and of probability (1).
SCONCE_INLINE double hermite_polynomial(double x, double order, double slope, bool is_f64) {
  const i64 n = whole_order(order);
  if (n < 0) return 0;
  if (n > hermite_limit(is_f64)) return not_a_number();
  double before = 0, now = 1;
#pragma unroll 1
  for (i64 k = 0; k < n; k++) {
    const double next = slope * x * now - slope * (double)k * before;
    before = now;
    now = next;
  }
  return now;
}

SCONCE_INLINE double laguerre_polynomial(double x, double order) {
  const i64 n = whole_order(order);
  if (n < 0) return 0;
  if (n == 0 || x == 0) return 1;
  double before = 1, now = 1 - x;
#pragma unroll 1
  for (i64 k = 1; k < n && !is_nan(now); k++) {
    const double next = ((2 * (double)k + (1 - x)) * now - (double)k * before) / ((double)k + 1);
    before = now;
    now = next;
  }
  return now;
}

SCONCE_INLINE double legendre_polynomial(double x, double order) {
  const i64 n = whole_order(order);
  if (n < 0) return 0;
  if (fabs(x) == 1) return x < 0 && n % 2 != 0 ? -1 : 1;
  if (n == 0) return 1;
  double before = 1, now = x;
#pragma unroll 1
  for (i64 k = 1; k < n && !is_nan(now); k++) {
    const double next = ((2 * (double)k + 1) * x * now - (double)k * before) / ((double)k + 1);
    before = now;
    now = next;
  }
  return now;
}
