//! Exponentials and hyperbolic functions.
//!
//! With n the whole number nearest to x / ln 2 and r = x - n ln 2, the exponential is 2^n e^r, where |r| is at most
//! 0.347. e^r - 1 = r + r² / 2 + r³ Q(r) is calculated as a pair, of which the first two terms are exact.

use std::arch::x86_64::*;
use std::f64::consts::{LN_2, LOG2_E};

use super::pairs::NumberPair;
use super::{all, is_above};
use crate::vectors::registers::{absolute, clamped, integers, nearest, polynomial, sign_of};

/// Interpolates (e^r - 1 - r - r² / 2) / r³ at the Chebyshev nodes of ±0.347, within 2^-55.
const Q: [f64; 10] = [
    0.16666666666666669,
    0.041666666666666664,
    0.008333333333330062,
    0.0013888888888886552,
    0.00019841269863053618,
    2.4801587317144498e-05,
    2.7557268459997064e-06,
    2.755728296954995e-07,
    2.510038549551032e-08,
    2.0911236630261545e-09,
];

/// What ln 2 is more than its first 53 bits.
const LN_2_REST: f64 = 2.3190468138462996e-17;

/// Results beyond these arguments are 0 or infinite; n stays small enough for [`times_power`].
const LEAST: f64 = -746.0;
const MOST: f64 = 711.5;

/// e^r - 1, for |r| up to 0.347.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn less_one(r: NumberPair) -> NumberPair {
    let x = r.high;
    let half = NumberPair::of_product(_mm256_mul_pd(x, all(0.5)), x);
    let cube = _mm256_mul_pd(_mm256_mul_pd(x, x), x);
    let rest = _mm256_fmadd_pd(cube, polynomial(x, &Q), _mm256_fmadd_pd(r.low, x, r.low));
    let sum = NumberPair::of_ordered_sum(x, half.high);
    let low = _mm256_add_pd(sum.low, _mm256_add_pd(half.low, rest));
    NumberPair::of_ordered_sum(sum.high, low)
}

/// n, and e^r - 1, of a number of at most 1200 in magnitude.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn parts(x: NumberPair) -> (__m256d, NumberPair) {
    let n = nearest(_mm256_mul_pd(x.high, all(LOG2_E)));
    // Both have at most 53 bits after the same place, so that nothing is lost.
    let r = _mm256_fnmadd_pd(n, all(LN_2), x.high);
    let rest = _mm256_mul_pd(n, all(-LN_2_REST));
    let sum = NumberPair::of_sum(r, rest).plus(x.low);
    (n, less_one(NumberPair::of_ordered_sum(sum.high, sum.low)))
}

/// 2^n, for |n| up to 1022.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn power(n: __m256d) -> __m256d {
    let biased = _mm256_add_epi64(integers(n), _mm256_set1_epi64x(1023));
    _mm256_castsi256_pd(_mm256_slli_epi64::<52>(biased))
}

/// The number times 2^n, for |n| up to 2000: infinite, subnormal or 0 where it has to be.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn times_power(x: __m256d, n: __m256d) -> __m256d {
    let half = nearest(_mm256_mul_pd(n, all(0.5)));
    _mm256_mul_pd(_mm256_mul_pd(x, power(half)), power(_mm256_sub_pd(n, half)))
}

/// 1 more, rounded.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn one_more(x: NumberPair) -> __m256d {
    let sum = NumberPair::of_ordered_sum(all(1.0), x.high);
    sum.plus(x.low).rounded()
}

/// The exponential of a pair of at most 1200 in magnitude.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn exp_of_pair(x: NumberPair) -> __m256d {
    let (n, rest) = parts(x);
    times_power(one_more(rest), n)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn alone(x: __m256d) -> NumberPair {
    NumberPair { high: x, low: _mm256_setzero_pd() }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn exp(x: __m256d) -> __m256d {
    exp_of_pair(alone(clamped(x, LEAST, MOST)))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn exp2(x: __m256d) -> __m256d {
    let x = clamped(x, -1080.0, 1030.0);
    let n = nearest(x);
    let rest = _mm256_sub_pd(x, n);
    let r = NumberPair::of_product(rest, all(LN_2));
    let r = r.plus(_mm256_mul_pd(rest, all(LN_2_REST)));
    times_power(one_more(less_one(r)), n)
}

/// (e^x - 1) `unit`, which is a power of two.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn expm1_pair(x: __m256d, unit: f64) -> NumberPair {
    let (n, rest) = parts(alone(x));
    let power = power(_mm256_add_pd(n, all(unit.log2())));
    let rest = rest.scaled(power);
    let whole = NumberPair::of_sum(power, all(-unit));
    let sum = NumberPair::of_sum(whole.high, rest.high);
    let low = _mm256_add_pd(sum.low, _mm256_add_pd(whole.low, rest.low));
    NumberPair::of_ordered_sum(sum.high, low)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn expm1(x: __m256d) -> __m256d {
    // Half of the result is never infinite.
    let half = expm1_pair(clamped(x, -60.0, 710.0), 0.5).rounded();
    let result = _mm256_add_pd(half, half);
    // Half of a subnormal number has lost a digit.
    let is_small = _mm256_cmp_pd::<_CMP_LT_OQ>(absolute(x), all(1e-17));
    _mm256_blendv_pd(result, x, is_small)
}

/// With m = e^2|x| - 1 this is m / (m + 2).
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn tanh(x: __m256d) -> __m256d {
    let size = clamped(absolute(x), 0.0, 20.0);
    let more = expm1_pair(_mm256_add_pd(size, size), 1.0);
    let under = NumberPair::of_sum(more.high, all(2.0)).plus(more.low);
    _mm256_xor_pd(more.over(under).rounded(), sign_of(x))
}

/// From here on the smaller one of e^|x| and e^-|x| does not count.
const ONE_SIDED: f64 = 22.0;

/// The result, or e^|x| / 2 where that is large.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn or_half_of_large(result: __m256d, size: __m256d) -> __m256d {
    let is_large = is_above(size, ONE_SIDED);
    if _mm256_movemask_pd(is_large) == 0 {
        return result;
    }
    let (n, rest) = parts(alone(clamped(size, 0.0, MOST)));
    let half = times_power(one_more(rest), _mm256_sub_pd(n, all(1.0)));
    _mm256_blendv_pd(result, half, is_large)
}

/// With m = e^|x| - 1 this is (m + m / (m + 1)) / 2.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn sinh(x: __m256d) -> __m256d {
    let size = absolute(x);
    let more = expm1_pair(clamped(size, 0.0, ONE_SIDED), 1.0);
    let under = NumberPair::of_sum(more.high, all(1.0)).plus(more.low);
    let other = more.over(under);
    let sum = NumberPair::of_ordered_sum(more.high, other.high);
    let sum = sum.plus(_mm256_add_pd(more.low, other.low)).rounded();
    let result = _mm256_mul_pd(sum, all(0.5));
    _mm256_xor_pd(or_half_of_large(result, size), sign_of(x))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn cosh(x: __m256d) -> __m256d {
    let size = absolute(x);
    let more = expm1_pair(clamped(size, 0.0, ONE_SIDED), 1.0);
    let power = NumberPair::of_sum(more.high, all(1.0)).plus(more.low);
    let other = alone(all(1.0)).over(power);
    let sum = NumberPair::of_ordered_sum(power.high, other.high);
    let sum = sum.plus(_mm256_add_pd(power.low, other.low)).rounded();
    or_half_of_large(_mm256_mul_pd(sum, all(0.5)), size)
}
