// The regularized incomplete gamma functions (DLMF 8.7, 8.9, 8.11 and 8.12).
#pragma once

#include "special/tables.cuh"

constexpr double GAMMA_SMALL = 1.1102230246251565e-16;
// No series needs as many terms.
constexpr int GAMMA_TERMS = 20000;

// B(2k) / (2k (2k - 1)) of Stirling's series, the highest first.
SCONCE_TABLE double STIRLING_TERMS[] = {
    -3617. / 122400, 1. / 156, -691. / 360360, 1. / 1188, -1. / 1680, 1. / 1260, -1. / 360, 1. / 12,
};

// log(1 + x) - x
SCONCE_CALLED double log_without_first(double x) {
  if (fabs(x) > 0.35) return log1p(x) - x;
  // 2 atanh(s) - x, where s = x / (2 + x)
  const double s = x / (2 + x), square = s * s;
  double power = s * square, sum = 0;
#pragma unroll 1
  for (int odd = 3; odd < 33; odd += 2) {
    sum += power / odd;
    power *= square;
  }
  return 2 * sum - x * s;
}

// x^a exp(-x) / Gamma(a)
SCONCE_CALLED double gamma_density(double a, double x) {
  if (a < 10) {
    if (x < 700) return pow(x, a) * exp(-x) / tgamma(a);
    return exp(a * log(x) - x - lgamma(a));
  }
  const double inverse = 1 / a;
  const double correction = inverse * polynomial(STIRLING_TERMS, inverse * inverse);
  return sqrt(a / (2 * PI)) * exp(a * log_without_first((x - a) / a) - correction);
}

// The lower function, by its power series.
SCONCE_CALLED double lower_series(double a, double x) {
  const double density = gamma_density(a, x);
  if (density == 0) return 0;
  double sum = 1, term = 1, at = a;
#pragma unroll 1
  for (int k = 0; k < GAMMA_TERMS; k++) {
    at += 1;
    term *= x / at;
    sum += term;
    if (term <= GAMMA_SMALL * sum) break;
  }
  return sum * density / a;
}

// The upper function of small x, without the loss of digits of a difference from 1.
SCONCE_CALLED double upper_series(double a, double x) {
  double sum = 0, power = 1;
#pragma unroll 1
  for (int k = 1; k < GAMMA_TERMS; k++) {
    power *= -x / k;
    const double term = power / (a + k);
    sum += term;
    if (fabs(term) <= GAMMA_SMALL * fabs(sum)) break;
  }
  const double logarithm = a * log(x);
  return -expm1(logarithm - lgamma(1 + a)) - exp(logarithm - lgamma(a)) * sum;
}

// The upper function, by a continued fraction (Lentz).
SCONCE_CALLED double upper_fraction(double a, double x) {
  const double density = gamma_density(a, x);
  if (density == 0) return 0;
  constexpr double TINY = 1e-300;
  double bottom = x + 1 - a, upper = 1 / TINY, lower = 1 / bottom, value = lower;
#pragma unroll 1
  for (int k = 1; k < GAMMA_TERMS; k++) {
    const double top = -k * (k - a);
    bottom += 2;
    lower = top * lower + bottom;
    if (fabs(lower) < TINY) lower = TINY;
    upper = bottom + top / upper;
    if (fabs(upper) < TINY) upper = TINY;
    lower = 1 / lower;
    const double change = lower * upper;
    value *= change;
    if (fabs(change - 1) <= 2 * GAMMA_SMALL) break;
  }
  return value * density;
}

// Temme's expansion for x near a, of the upper function or the lower one.
SCONCE_CALLED double near_expansion(double a, double x, bool is_upper) {
  const double distance = (x - a) / a;
  const double half_square = -log_without_first(distance);
  const double eta = copysign(sqrt(2 * half_square), distance);
  double sum = 0, power = 1;
#pragma unroll 1
  for (int row = 0; row < GAMMA_ROWS; row++) {
    double value = 0;
#pragma unroll 1
    for (int at = GAMMA_BEGINS[row + 1] - 1; at >= GAMMA_BEGINS[row]; at--)
      value = value * eta + GAMMA_NEAR[at];
    sum += value * power;
    power /= a;
    if (power < GAMMA_SMALL * GAMMA_SMALL) break;
  }
  const double sign = is_upper ? 1 : -1;
  const double share = 0.5 * erfc(sign * eta * sqrt(0.5 * a));
  return share + sign * exp(-a * half_square) * sum / sqrt(2 * PI * a);
}

// Whether the expansion for x near a is exact enough.
SCONCE_INLINE bool is_near(double a, double x) { return a > 20 && fabs(x - a) < 0.3 * a; }

// Values where a or x is 0, infinite, outside or not a number; `at_0` is that for x = 0. Numbers at
// an edge count before NaN, as in torch.
SCONCE_INLINE bool gamma_edge(double a, double x, double at_0, double* result) {
  if (a < 0 || x < 0 || (a == 0 && !(x > 0)) || (a == INFINITE && x == INFINITE)) {
    *result = not_a_number();
  } else if (a == 0) {
    *result = 1 - at_0;
  } else if (x == 0 || a == INFINITE) {
    *result = at_0;
  } else if (x == INFINITE) {
    *result = 1 - at_0;
  } else {
    *result = not_a_number();
    return is_nan(a) || is_nan(x);
  }
  return true;
}

// The upper function, where neither a nor x is 0 or infinite.
SCONCE_CALLED double upper_inside(double a, double x) {
  const bool by_lower = x > 1.1 ? x < a : x <= 0.5 ? -0.4 / log(x) < a : x * 1.1 < a;
  if (by_lower) return 1 - lower_series(a, x);
  return x > 1.1 ? upper_fraction(a, x) : upper_series(a, x);
}

// The share of Gamma(a)'s integral above x.
SCONCE_INLINE double igammac(double a, double x) {
  double result;
  if (gamma_edge(a, x, 1, &result)) return result;
  return is_near(a, x) ? near_expansion(a, x, true) : upper_inside(a, x);
}

// The share of Gamma(a)'s integral below x.
SCONCE_INLINE double igamma(double a, double x) {
  double result;
  if (gamma_edge(a, x, 0, &result)) return result;
  if (is_near(a, x)) return near_expansion(a, x, false);
  return x > 1 && x > a ? 1 - upper_inside(a, x) : lower_series(a, x);
}
