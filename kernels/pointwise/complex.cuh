// Arithmetic and functions of complex numbers: `crates/math/src/arithmetic/complex.rs` has the same
// in Rust.
#pragma once

#include "real.cuh"

template <class R>
struct Complex {
  R re, im;
};

template <class R>
SCONCE_INLINE bool is_nonzero(Complex<R> z) {
  return z.re != 0 || z.im != 0;
}

template <class R>
SCONCE_INLINE Complex<R> multiply(Complex<R> a, Complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Smith's way, which scales by the larger part of the divisor, so that nothing overflows on the
// way.
template <class R>
SCONCE_INLINE Complex<R> divide(Complex<R> a, Complex<R> b) {
  if (real_abs(b.re) >= real_abs(b.im)) {
    if (!is_nonzero(b)) return {a.re / real_abs(b.re), a.im / real_abs(b.im)};
    const R ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const R ratio = b.re / b.im, scale = 1 / (b.re * ratio + b.im);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

template <class R>
SCONCE_INLINE Complex<R> complex_exp(Complex<R> z) {
  const R size = real_exp(z.re);
  if (z.im == 0) return {size, z.im};
  if (!is_finite(z.im) && is_infinite(z.re)) {
    if (z.re < 0) return {0, 0};
    return {size, z.im - z.im};
  }
  R sine, cosine;
  real_sincos(z.im, &sine, &cosine);
  return {size * cosine, size * sine};
}

template <class R>
SCONCE_INLINE Complex<R> complex_log(Complex<R> z) {
  const R size = real_hypot(z.re, z.im), angle = real_atan2(z.im, z.re);
  if (!(size > (R)0.5 && size < (R)2)) return {real_log(size), angle};
  // Near 1 the logarithm of the rounded size would lose its digits.
  const R a = real_abs(z.re), b = real_abs(z.im);
  const R large = a < b ? b : a, small = a < b ? a : b;
  return {(R)0.5 * real_log1p((large - 1) * (large + 1) + small * small), angle};
}

template <class R>
SCONCE_INLINE Complex<R> complex_sqrt(Complex<R> z) {
  if (!is_nonzero(z)) return {0, z.im};
  const R a = real_abs(z.re), b = real_abs(z.im);
  if (is_infinite(b)) return {b, z.im};
  if (is_infinite(a)) {
    const R rest = z.im != z.im ? z.im : (R)0;
    if (z.re > 0) return {z.re, real_sign(rest, z.im)};
    return {rest, real_sign(a, z.im)};
  }
  // Of halves, so that nothing overflows on the way.
  const R root = real_sqrt(a * (R)0.5 + real_hypot(a * (R)0.5, b * (R)0.5));
  const R other = b / (root + root);
  if (z.re >= 0) return {root, real_sign(other, z.im)};
  return {other, real_sign(root, z.im)};
}

template <class R>
SCONCE_INLINE Complex<R> complex_tanh(Complex<R> z) {
  R sine, cosine;
  real_sincos(z.im + z.im, &sine, &cosine);
  // From here on the nearest number to the real part is 1.
  if (real_abs(z.re) > 20) return {real_sign((R)1, z.re), real_sign((R)0, sine)};
  const R divisor = real_cosh(z.re + z.re) + cosine;
  return {real_sinh(z.re + z.re) / divisor, sine / divisor};
}

template <class R>
SCONCE_INLINE Complex<R> complex_sin(Complex<R> z) {
  R sine, cosine;
  real_sincos(z.re, &sine, &cosine);
  return {sine * real_cosh(z.im), cosine * real_sinh(z.im)};
}

template <class R>
SCONCE_INLINE Complex<R> complex_cos(Complex<R> z) {
  R sine, cosine;
  real_sincos(z.re, &sine, &cosine);
  return {cosine * real_cosh(z.im), -(sine * real_sinh(z.im))};
}

template <class R>
SCONCE_INLINE Complex<R> complex_sigmoid(Complex<R> z) {
  const Complex<R> power = complex_exp(Complex<R>{-z.re, -z.im});
  return divide(Complex<R>{1, 0}, Complex<R>{1 + power.re, power.im});
}

template <class R>
SCONCE_INLINE Complex<R> complex_sign(Complex<R> z) {
  const R size = real_hypot(z.re, z.im);
  if (!is_nonzero(z)) return z;
  return {z.re / size, z.im / size};
}

// Of a base of 0 the logarithm is infinite: the result is 0, infinite or NaN as the exponent's
// parts say, as in torch.
template <class R>
SCONCE_INLINE Complex<R> complex_pow(Complex<R> base, Complex<R> exponent) {
  return complex_exp(multiply(exponent, complex_log(base)));
}
