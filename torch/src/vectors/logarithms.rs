//! Logarithms, and powers, which are made of them.
//!
//! A number is 2^e m, with m between √½ and √2. With s = (m - 1) / (m + 1), ln m = 2 s + s³ L(s²), which is exact to all
//! digits near 1, where e is 0.

use std::arch::x86_64::*;
use std::f64::consts::{LN_2, LOG2_E, LOG10_2, LOG10_E, SQRT_2};

use super::exponentials::exp2_doubles;
use super::registers::{functions_in_doubles, in_doubles, of_any, polynomial, repaired, sign_of};

/// Interpolates (ln((1 + s) / (1 - s)) / s - 2) / s² at the Chebyshev nodes of s² up to 0.02945; ln m errs by 2^-53.
const L: [f64; 7] = [
    0.666666666666667,
    0.3999999999989924,
    0.2857142862609589,
    0.2222221111514416,
    0.18182890556695602,
    0.1533167403016786,
    0.1461703754879165,
];

/// e and ln m of positive numbers that are normal in 64 bits, as all of 32 bits are.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn parts(x: __m256d) -> [__m256d; 2] {
    let (one, half) = (1.0_f64.to_bits() as i64, (SQRT_2 / 2.0).to_bits() as i64);
    let fraction = _mm256_set1_epi64x((1 << 52) - 1);
    // Below √½ of a power of two the exponent is that of the power before.
    let shifted = _mm256_add_epi64(_mm256_castpd_si256(x), _mm256_set1_epi64x(one - half));
    let m = _mm256_add_epi64(_mm256_and_si256(shifted, fraction), _mm256_set1_epi64x(half));
    let m = _mm256_castsi256_pd(m);
    // A small integer below the exponent of 2^52 is that much more than 2^52.
    let large = 2.0_f64.powi(52);
    let exponent = _mm256_srli_epi64::<52>(shifted);
    let exponent = _mm256_or_si256(exponent, _mm256_set1_epi64x(large.to_bits() as i64));
    let e = _mm256_sub_pd(_mm256_castsi256_pd(exponent), _mm256_set1_pd(large + 1023.0));
    let one = _mm256_set1_pd(1.0);
    let s = _mm256_div_pd(_mm256_sub_pd(m, one), _mm256_add_pd(m, one));
    let square = _mm256_mul_pd(s, s);
    let rest = _mm256_mul_pd(_mm256_mul_pd(s, square), polynomial(square, &L));
    [e, _mm256_add_pd(_mm256_add_pd(s, s), rest)]
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn ln_doubles(x: __m256d) -> __m256d {
    let [e, ln] = parts(x);
    of_any(_mm256_fmadd_pd(e, _mm256_set1_pd(LN_2), ln), x)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn log2_doubles(x: __m256d) -> __m256d {
    let [e, ln] = parts(x);
    of_any(_mm256_fmadd_pd(ln, _mm256_set1_pd(LOG2_E), e), x)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn log10_doubles(x: __m256d) -> __m256d {
    let [e, ln] = parts(x);
    let of_power = _mm256_mul_pd(e, _mm256_set1_pd(LOG10_2));
    of_any(_mm256_fmadd_pd(ln, _mm256_set1_pd(LOG10_E), of_power), x)
}

/// What 1 + x loses in the rounding is added to the logarithm, divided by the sum.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn log1p_doubles(x: __m256d) -> __m256d {
    let one = _mm256_set1_pd(1.0);
    let sum = _mm256_add_pd(one, x);
    let lost = _mm256_sub_pd(x, _mm256_sub_pd(sum, one));
    let [e, ln] = parts(sum);
    let result = _mm256_fmadd_pd(e, _mm256_set1_pd(LN_2), ln);
    let result = of_any(_mm256_add_pd(result, _mm256_div_pd(lost, sum)), sum);
    // The sign of a zero is lost on the way.
    _mm256_or_pd(result, sign_of(x))
}

/// Powers of positive numbers, both finite.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn pow_doubles(x: __m256d, y: __m256d) -> __m256d {
    let [e, ln] = parts(x);
    let log2 = _mm256_fmadd_pd(ln, _mm256_set1_pd(LOG2_E), e);
    exp2_doubles(_mm256_mul_pd(y, log2))
}

/// Other bases and exponents are left to the C library.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn pow(x: __m256, y: __m256) -> __m256 {
    let (zero, infinite) = (_mm256_setzero_ps(), _mm256_set1_ps(f32::INFINITY));
    let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), y);
    let is_not_positive = _mm256_cmp_ps::<_CMP_NGT_UQ>(x, zero);
    let is_infinite = _mm256_cmp_ps::<_CMP_NLT_UQ>(x, infinite);
    let is_infinite = _mm256_or_ps(is_infinite, _mm256_cmp_ps::<_CMP_NLT_UQ>(size, infinite));
    let result = in_doubles!(pow_doubles, x, y);
    repaired(result, _mm256_or_ps(is_not_positive, is_infinite), [x, y], |[x, y]| x.powf(y))
}

/// Squares of 32 bits neither overflow nor lose digits in 64.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn hypot_doubles(x: __m256d, y: __m256d) -> __m256d {
    _mm256_sqrt_pd(_mm256_fmadd_pd(x, x, _mm256_mul_pd(y, y)))
}

/// An infinite side makes an infinite result, whatever the other is.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn hypot(x: __m256, y: __m256) -> __m256 {
    let infinite = _mm256_set1_ps(f32::INFINITY);
    let size = |side| _mm256_andnot_ps(_mm256_set1_ps(-0.0), side);
    let is_infinite = _mm256_or_ps(
        _mm256_cmp_ps::<_CMP_EQ_OQ>(size(x), infinite),
        _mm256_cmp_ps::<_CMP_EQ_OQ>(size(y), infinite),
    );
    _mm256_blendv_ps(in_doubles!(hypot_doubles, x, y), infinite, is_infinite)
}

functions_in_doubles! {
    ln: ln_doubles;
    log2: log2_doubles;
    log10: log10_doubles;
    log1p: log1p_doubles;
}
