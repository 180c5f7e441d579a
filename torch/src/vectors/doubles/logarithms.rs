//! Logarithms, and powers, which are made of them.
//!
//! A number is 2^e m, with m between √½ and √2. With s = (m - 1) / (m + 1), ln m = 2 s + ⅔ s³ + s⁵ L(s²). All but the
//! last term are pairs, so that ln m has some 64 digits.

use std::arch::x86_64::*;
use std::f64::consts::{LOG2_E, LOG10_E, SQRT_2};

use super::exponentials::exp_of_pair;
use super::pairs::NumberPair;
use super::{all, is_above, repaired};
use crate::vectors::registers::{absolute, clamped, of_any, polynomial, sign_of};

/// Interpolates (ln((1 + s) / (1 - s)) - 2 s - ⅔ s³) / s⁵ at the Chebyshev nodes of s² up to 0.02945, within 2^-55.
const L: [f64; 8] = [
    0.4,
    0.28571428571429364,
    0.22222222221655885,
    0.18181818335392802,
    0.1538459496251843,
    0.1333480469384731,
    0.11706236339491206,
    0.11723178623876518,
];

/// ⅔, and what it is more.
const TWO_THIRDS: [f64; 2] = [0.6666666666666666, 3.700743415417188e-17];
/// What log₂ e and log₁₀ e are more than their first 53 bits.
const LOG2_E_REST: f64 = 2.0355273740931033e-17;
const LOG10_E_REST: f64 = 1.098319650216765e-17;
/// 42 bits of ln 2 and of log₁₀ 2, of which multiples by exponents are exact, and what they are more.
const LN_2: [f64; 2] = [0.6931471805598903, 5.497923018708371e-14];
const LOG10_2: [f64; 2] = [0.30102999566383914, 1.42050232272661e-13];

/// e and ln m of positive numbers.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn parts(x: __m256d) -> (__m256d, NumberPair) {
    // Subnormal numbers are made normal ones.
    let is_small = _mm256_cmp_pd::<_CMP_LT_OQ>(x, all(f64::MIN_POSITIVE));
    let (larger, steps) = (2.0_f64.powi(54), 54.0);
    let x = _mm256_blendv_pd(x, _mm256_mul_pd(x, all(larger)), is_small);
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
    let e = _mm256_sub_pd(_mm256_castsi256_pd(exponent), all(large + 1023.0));
    let e = _mm256_sub_pd(e, _mm256_and_pd(is_small, all(steps)));

    let over = NumberPair { high: _mm256_sub_pd(m, all(1.0)), low: _mm256_setzero_pd() };
    let s = over.over(NumberPair::of_sum(m, all(1.0)));
    let square = s.times(s);
    let cube = square.times(s);
    let third = cube.times(NumberPair { high: all(TWO_THIRDS[0]), low: all(TWO_THIRDS[1]) });
    let fifth = _mm256_mul_pd(cube.high, square.high);
    let rest = _mm256_fmadd_pd(fifth, polynomial(square.high, &L), third.low);
    let sum = NumberPair::of_ordered_sum(_mm256_add_pd(s.high, s.high), third.high);
    let low = _mm256_add_pd(_mm256_fmadd_pd(s.low, all(2.0), rest), sum.low);
    (e, NumberPair::of_ordered_sum(sum.high, low))
}

/// The sum of a multiple of the exponent and of a logarithm.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn joined(e: __m256d, [step, rest]: [f64; 2], ln: NumberPair) -> NumberPair {
    let sum = NumberPair::of_ordered_sum(_mm256_mul_pd(e, all(step)), ln.high);
    sum.plus(_mm256_fmadd_pd(e, all(rest), ln.low))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn ln(x: __m256d) -> __m256d {
    let (e, ln) = parts(x);
    of_any(joined(e, LN_2, ln).rounded(), x)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn log2(x: __m256d) -> __m256d {
    let (e, ln) = parts(x);
    let log = ln.times(NumberPair { high: all(LOG2_E), low: all(LOG2_E_REST) });
    of_any(joined(e, [1.0, 0.0], log).rounded(), x)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn log10(x: __m256d) -> __m256d {
    let (e, ln) = parts(x);
    let log = ln.times(NumberPair { high: all(LOG10_E), low: all(LOG10_E_REST) });
    of_any(joined(e, LOG10_2, log).rounded(), x)
}

/// What 1 + x loses in the rounding is added to the logarithm, divided by the sum.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn log1p(x: __m256d) -> __m256d {
    let sum = NumberPair::of_sum(all(1.0), x);
    let (e, ln) = parts(sum.high);
    let lost = _mm256_div_pd(sum.low, sum.high);
    let result = of_any(joined(e, LN_2, ln).plus(lost).rounded(), sum.high);
    // The sign of a zero is lost on the way.
    _mm256_or_pd(result, sign_of(x))
}

/// Powers of positive numbers, both finite. Other bases and exponents are left to the C library.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn pow(x: __m256d, y: __m256d) -> __m256d {
    let (zero, infinite) = (_mm256_setzero_pd(), all(f64::INFINITY));
    let is_not_positive = _mm256_cmp_pd::<_CMP_NGT_UQ>(x, zero);
    let is_infinite = _mm256_cmp_pd::<_CMP_NLT_UQ>(x, infinite);
    let is_infinite =
        _mm256_or_pd(is_infinite, _mm256_cmp_pd::<_CMP_NLT_UQ>(absolute(y), infinite));
    let (e, ln) = parts(x);
    let NumberPair { high, low } = joined(e, LN_2, ln);
    let log = NumberPair::of_ordered_sum(high, low);
    let product = NumberPair::of_product(y, log.high).plus(_mm256_mul_pd(y, log.low));
    // Where the result is 0 or infinite, the low part may be anything.
    let is_large = is_above(absolute(product.high), 800.0);
    let exponent = NumberPair {
        high: clamped(product.high, -800.0, 800.0),
        low: _mm256_andnot_pd(is_large, product.low),
    };
    let result = exp_of_pair(exponent);
    repaired(result, _mm256_or_pd(is_not_positive, is_infinite), [x, y], |[x, y]| x.powf(y))
}
