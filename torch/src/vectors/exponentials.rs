//! Exponentials, and what is made of them: hyperbolic functions and the error function.
//!
//! With n the whole number nearest to x / ln 2 and r = x - n ln 2, the exponential is 2^n e^r, where |r| is at most
//! 0.347. e^r - 1 = r + r² Q(r), so that it is exact to all digits near 0, and e^x - 1 = 2^n (e^r - 1) + (2^n - 1) is.

use std::arch::x86_64::*;
use std::f64::consts::{LN_2, LOG2_E};

use super::registers::{
    absolute, clamped, functions_in_doubles, in_doubles, integers, nearest, polynomial, sign_of,
};

/// Interpolates (e^r - 1 - r) / r² at the Chebyshev nodes of ±0.347; e^r - 1 errs by 2^-36 of itself.
const Q: [f64; 7] = [
    0.5,
    0.16666666719385262,
    0.04166666671936843,
    0.008333298311775194,
    0.0013888853877711469,
    0.00019899416973640703,
    2.4859721172504347e-05,
];

/// G(x) = -ln(erfc(x)) / x up to 4, which is smooth: fitted so that erf(x) = 1 - e^(-x G(x)) errs by 2^-35 of itself.
const G: [f64; 13] = [
    1.12837916707014,
    0.6366197765018119,
    0.10277249466808537,
    -0.0191273550758272,
    -0.00021474284166260717,
    0.0017124843809232897,
    -0.0006196512904251285,
    5.978641429108797e-05,
    4.0698348786847374e-05,
    -2.1747326556468238e-05,
    5.229566901099553e-06,
    -6.669239597646659e-07,
    3.6333170237023396e-08,
];

/// 2^n, and e^r - 1.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn parts(n: __m256d, r: __m256d) -> [__m256d; 2] {
    let power = _mm256_slli_epi64::<52>(_mm256_add_epi64(integers(n), _mm256_set1_epi64x(1023)));
    let less_one = _mm256_fmadd_pd(_mm256_mul_pd(r, r), polynomial(r, &Q), r);
    [_mm256_castsi256_pd(power), less_one]
}

/// The parts of e^x, where x is at most 700 in magnitude.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn parts_of(x: __m256d) -> [__m256d; 2] {
    let n = nearest(_mm256_mul_pd(x, _mm256_set1_pd(LOG2_E)));
    parts(n, _mm256_fnmadd_pd(n, _mm256_set1_pd(LN_2), x))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn joined([power, less_one]: [__m256d; 2]) -> __m256d {
    _mm256_fmadd_pd(power, less_one, power)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn joined_less_one([power, less_one]: [__m256d; 2]) -> __m256d {
    _mm256_fmadd_pd(power, less_one, _mm256_sub_pd(power, _mm256_set1_pd(1.0)))
}

/// 2^x. Beyond the bounds results are 0 or infinite in 32 bits.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn exp2_doubles(x: __m256d) -> __m256d {
    let x = clamped(x, -160.0, 130.0);
    let n = nearest(x);
    joined(parts(n, _mm256_mul_pd(_mm256_sub_pd(x, n), _mm256_set1_pd(LN_2))))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn exp_doubles(x: __m256d) -> __m256d {
    joined(parts_of(clamped(x, -110.0, 90.0)))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn expm1_doubles(x: __m256d) -> __m256d {
    // The sign of a zero is lost on the way.
    _mm256_or_pd(joined_less_one(parts_of(clamped(x, -110.0, 90.0))), sign_of(x))
}

/// With m = e^2|x| - 1 this is m / (m + 2).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn tanh_doubles(x: __m256d) -> __m256d {
    let size = clamped(absolute(x), 0.0, 20.0);
    let more = joined_less_one(parts_of(_mm256_add_pd(size, size)));
    let result = _mm256_div_pd(more, _mm256_add_pd(more, _mm256_set1_pd(2.0)));
    _mm256_xor_pd(result, sign_of(x))
}

/// With m = e^|x| - 1 this is (m + m / (m + 1)) / 2.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn sinh_doubles(x: __m256d) -> __m256d {
    let more = joined_less_one(parts_of(clamped(absolute(x), 0.0, 100.0)));
    let other = _mm256_div_pd(more, _mm256_add_pd(more, _mm256_set1_pd(1.0)));
    let result = _mm256_mul_pd(_mm256_add_pd(more, other), _mm256_set1_pd(0.5));
    _mm256_xor_pd(result, sign_of(x))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn cosh_doubles(x: __m256d) -> __m256d {
    let power = joined(parts_of(clamped(absolute(x), 0.0, 100.0)));
    let other = _mm256_div_pd(_mm256_set1_pd(1.0), power);
    _mm256_mul_pd(_mm256_add_pd(power, other), _mm256_set1_pd(0.5))
}

/// From 4 on the result is 1 in 32 bits.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn erf_doubles(x: __m256d) -> __m256d {
    let size = clamped(absolute(x), 0.0, 4.0);
    let exponent = _mm256_mul_pd(_mm256_xor_pd(size, _mm256_set1_pd(-0.0)), polynomial(size, &G));
    let less = joined_less_one(parts_of(exponent));
    _mm256_or_pd(absolute(less), sign_of(x))
}

functions_in_doubles! {
    exp: exp_doubles;
    exp2: exp2_doubles;
    expm1: expm1_doubles;
    tanh: tanh_doubles;
    sinh: sinh_doubles;
    cosh: cosh_doubles;
    erf: erf_doubles;
}
