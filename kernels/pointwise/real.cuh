// Operations on real numbers, in single or in double precision.
#pragma once

#include "element.cuh"
#include "operations.cuh"

SCONCE_INLINE float real_exp(float a) { return expf(a); }
SCONCE_INLINE double real_exp(double a) { return exp(a); }
SCONCE_INLINE float real_log(float a) { return logf(a); }
SCONCE_INLINE double real_log(double a) { return log(a); }
SCONCE_INLINE float real_log1p(float a) { return log1pf(a); }
SCONCE_INLINE double real_log1p(double a) { return log1p(a); }
SCONCE_INLINE float real_sin(float a) { return sinf(a); }
SCONCE_INLINE double real_sin(double a) { return sin(a); }
SCONCE_INLINE float real_cos(float a) { return cosf(a); }
SCONCE_INLINE double real_cos(double a) { return cos(a); }
SCONCE_INLINE void real_sincos(float a, float* s, float* c) { sincosf(a, s, c); }
SCONCE_INLINE void real_sincos(double a, double* s, double* c) { sincos(a, s, c); }
SCONCE_INLINE float real_sinh(float a) { return sinhf(a); }
SCONCE_INLINE double real_sinh(double a) { return sinh(a); }
SCONCE_INLINE float real_cosh(float a) { return coshf(a); }
SCONCE_INLINE double real_cosh(double a) { return cosh(a); }
SCONCE_INLINE float real_tanh(float a) { return tanhf(a); }
SCONCE_INLINE double real_tanh(double a) { return tanh(a); }
SCONCE_INLINE float real_erf(float a) { return erff(a); }
SCONCE_INLINE double real_erf(double a) { return erf(a); }
SCONCE_INLINE float real_sqrt(float a) { return sqrtf(a); }
SCONCE_INLINE double real_sqrt(double a) { return sqrt(a); }
SCONCE_INLINE float real_rsqrt(float a) { return rsqrtf(a); }
SCONCE_INLINE double real_rsqrt(double a) { return rsqrt(a); }
SCONCE_INLINE float real_pow(float a, float b) { return powf(a, b); }
SCONCE_INLINE double real_pow(double a, double b) { return pow(a, b); }
SCONCE_INLINE float real_mod(float a, float b) { return fmodf(a, b); }
SCONCE_INLINE double real_mod(double a, double b) { return fmod(a, b); }
SCONCE_INLINE float real_floor(float a) { return floorf(a); }
SCONCE_INLINE double real_floor(double a) { return floor(a); }
SCONCE_INLINE float real_ceil(float a) { return ceilf(a); }
SCONCE_INLINE double real_ceil(double a) { return ceil(a); }
SCONCE_INLINE float real_round(float a) { return rintf(a); }
SCONCE_INLINE double real_round(double a) { return rint(a); }
SCONCE_INLINE float real_trunc(float a) { return truncf(a); }
SCONCE_INLINE double real_trunc(double a) { return trunc(a); }
SCONCE_INLINE float real_abs(float a) { return fabsf(a); }
SCONCE_INLINE double real_abs(double a) { return fabs(a); }
SCONCE_INLINE float real_fma(float a, float b, float c) { return fmaf(a, b, c); }
SCONCE_INLINE double real_fma(double a, double b, double c) { return fma(a, b, c); }
SCONCE_INLINE float real_sign(float a, float sign) { return copysignf(a, sign); }
SCONCE_INLINE double real_sign(double a, double sign) { return copysign(a, sign); }
SCONCE_INLINE float real_hypot(float a, float b) { return hypotf(a, b); }
SCONCE_INLINE double real_hypot(double a, double b) { return hypot(a, b); }
SCONCE_INLINE float real_atan2(float a, float b) { return atan2f(a, b); }
SCONCE_INLINE double real_atan2(double a, double b) { return atan2(a, b); }

template <class R>
SCONCE_INLINE bool is_finite(R a) {
  return a - a == 0;
}

template <class R>
SCONCE_INLINE bool is_infinite(R a) {
  return a != 0 && a == a + a;
}

// Quotients of integers, rounded down exactly where `a / b` would round up to the next integer.
template <class R>
SCONCE_INLINE R floor_divide(R a, R b) {
  if (b == 0) return a / b;
  const R rest = real_mod(a, b);
  R quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return real_sign((R)0, a / b);
  const R floor = real_floor(quotient);
  return quotient - floor > (R)0.5 ? floor + 1 : floor;
}

template <class R>
SCONCE_INLINE R remainder_of(R a, R b) {
  const R rest = real_mod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

template <class R>
SCONCE_INLINE R relu(R a) {
  return a <= 0 ? (R)0 : a;
}

template <class R>
SCONCE_INLINE R sigmoid(R a) {
  return (R)1 / ((R)1 + real_exp(-a));
}

template <class R>
SCONCE_INLINE R silu(R a) {
  return a / ((R)1 + real_exp(-a));
}

template <class R>
SCONCE_INLINE R gelu_erf(R a) {
  return a * (R)0.5 * ((R)1 + real_erf(a * (R)0.70710678118654752440));
}

template <class R>
SCONCE_INLINE R gelu_tanh(R a) {
  const R inner = (R)0.79788456080286535588 * (a + (R)0.044715 * (a * a * a));
  return (R)0.5 * a * ((R)1 + real_tanh(inner));
}

template <class R>
SCONCE_INLINE R minimum(R a, R b) {
  return a != a || a < b ? a : b;
}

template <class R>
SCONCE_INLINE R maximum(R a, R b) {
  return a != a || a > b ? a : b;
}

template <class R>
SCONCE_INLINE R clamp(R a, R low, R high) {
  if (a != a) return a;
  if (low != low) return low;
  if (high != high) return high;
  const R raised = a < low ? low : a;
  return raised > high ? high : raised;
}

// A number rounded to the type of the computation, where that is narrower.
SCONCE_INLINE float round_to(float value, u32 type) {
  if (type == F32) return value;
  if (type == F16) return half_float(half_bits(value));
  if (type == BF16) return brain_float(brain_bits(value));
  return narrow_float(narrow_bits(value, type), type);
}
SCONCE_INLINE double round_to(double value, u32) { return value; }

template <class R>
SCONCE_INLINE R linspace(u64 index, u64 n, const R* parameters, u32 type) {
  const bool is_first_half = index < n / 2;
  const R steps = (R)(is_first_half ? index : n - 1 - index);
  if (type == F32 || type == F64)
    return is_first_half ? real_fma(parameters[2], steps, parameters[0])
                         : real_fma(-parameters[2], steps, parameters[1]);
  // torch rounds each step of this one to the type.
  const R distance = round_to(parameters[2] * round_to(steps, type), type);
  return is_first_half ? parameters[0] + distance : parameters[1] - distance;
}
