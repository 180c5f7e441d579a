// Hurwitz's zeta function, and the derivatives of log(Gamma(x)).
#pragma once

#include "special/machine.cuh"

// B(2k) / (2k)! of Euler and Maclaurin's sum, from k = 1 on.
SCONCE_TABLE double ZETA_TERMS[] = {
    1. / 12,
    -1. / 720,
    1. / 30240,
    -1. / 1209600,
    1. / 47900160,
    -691. / 1307674368000.,
    1. / 74724249600.,
    -3617. / 10670622842880000.,
    43867. / 5109094217170944000.,
    -174611. / 802857662698291200000.,
    77683. / 14101100039391805440000.,
    -236364091. / 1693824136731743669452800000.,
};

// B(2k) / 2k, the highest first.
SCONCE_TABLE double DIGAMMA_TERMS[] = {
    1. / 12, -691. / 32760, 1. / 132, -1. / 240, 1. / 252, -1. / 120, 1. / 12,
};

// The sum of (q + k)^-x over k from 0 on, of q that is above -64: terms one after another until
// q + k is large, then Euler and Maclaurin's sum.
SCONCE_CALLED double zeta_sum(double x, double q) {
  constexpr double SMALL = 1.1102230246251565e-16;
  double sum = pow(q, -x), at = q, power = 0;
#pragma unroll 1
  for (int k = 0; k < 9 || at <= 9; k++) {
    at += 1;
    power = pow(at, -x);
    sum += power;
    if (fabs(power) < SMALL * fabs(sum)) return sum;
  }
  sum += power * at / (x - 1) - 0.5 * power;
  double factor = x;
  power /= at;
#pragma unroll 1
  for (int k = 0; k < 12; k++) {
    const double term = factor * power * ZETA_TERMS[k];
    sum += term;
    if (fabs(term) < SMALL * fabs(sum)) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= at * at;
  }
  return sum;
}

// Hurwitz's zeta function; infinite at its poles.
SCONCE_CALLED double zeta(double x, double q) {
  if (x == 1) return INFINITE;
  if (x < 1) return not_a_number();
  if (q <= 0) {
    if (q == floor(q)) return INFINITE;
    if (x != floor(x)) return not_a_number();
    if (q < -64) {
      // Those below 0 are the sum between two numbers above 0, with the sign of (-1)^x.
      const double rest = q - floor(q);
      const double below = zeta_sum(x, 1 - rest) - zeta_sum(x, 1 - q);
      return zeta_sum(x, rest) + (fmod(x, 2) == 0 ? below : -below);
    }
  }
  return zeta_sum(x, q);
}

// The derivative of log(Gamma(x)).
SCONCE_CALLED double digamma(double x) {
  if (x == 0) return copysign(INFINITE, -x);
  double result = 0;
  if (x < 0) {
    const double whole = trunc(x);
    if (x == whole) return not_a_number();
    // The part behind the point has the same tangent, and loses no digits.
    result = -PI / tan(PI * (x - whole));
    x = 1 - x;
  }
  double below = 0;
#pragma unroll 1
  for (; x < 10; x += 1) below -= 1 / x;
  double rest = 0;
  if (x < 1e17) {
    const double inverse = 1 / (x * x);
    rest = inverse * polynomial(DIGAMMA_TERMS, inverse);
  }
  return below + log(x) - 0.5 / x - rest + result;
}

// The derivative of digamma; infinite at 0 and negative whole numbers.
SCONCE_INLINE double trigamma(double x) {
  if (x == INFINITE) return 0;
  if (x > 0) return zeta_sum(2, x);
  if (x == -INFINITE) return not_a_number();
  if (x == floor(x)) return INFINITE;
  const double sine = sin(PI * (x - trunc(x)));
  return PI * PI / (sine * sine) - zeta_sum(2, 1 - x);
}

// The derivative of digamma of an order from 0 on.
SCONCE_INLINE double polygamma(i64 order, double x) {
  if (order == 0) return digamma(x);
  if (order == 1) return trigamma(x);
  const double factorial = order <= 170 ? tgamma((double)order + 1) : INFINITE;
  const double size = factorial * zeta((double)order + 1, x);
  return order % 2 == 0 ? -size : size;
}
