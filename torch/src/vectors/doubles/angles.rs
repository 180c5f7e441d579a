//! Functions of angles.
//!
//! With q the whole number nearest to |x| / (π / 2) and r = |x| - q π / 2, at most 0.786 in magnitude, the sine is one of
//! ± sin r and ± cos r. π / 2 has three parts of 53 bits, and r is a pair, so that it is exact to all digits also near
//! multiples of π / 2.

use std::arch::x86_64::*;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::pairs::NumberPair;
use super::{all, is_above, repaired};
use crate::vectors::registers::{absolute, integers, nearest, polynomial, sign_of};

/// Interpolates (sin r / r - 1) / r² at the Chebyshev nodes of r² up to 0.618, within 2^-56.
const S: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333331,
    -0.00019841269841265017,
    2.755731921930192e-06,
    -2.5052106219521895e-08,
    1.6058529572267877e-10,
    -7.586576588171073e-13,
];

/// Interpolates (cos r - 1 + r² / 2) / r⁴ at the same nodes, within 2^-58.
const C: [f64; 7] = [
    0.041666666666666664,
    -0.0013888888888888887,
    2.4801587301584618e-05,
    -2.7557319221382114e-07,
    2.087675578389404e-09,
    -1.1470459749675607e-11,
    4.745804889760674e-14,
];

/// What π / 2 is more than its first 53 bits, and than its first 106.
const FRAC_PI_2_REST: [f64; 2] = [6.123233995736766e-17, -1.4973849048591698e-33];

/// Angles up to this size are reduced here, and larger ones by the C library: q has to fit 31 bits.
const LARGEST: f64 = 1e9;

/// The sine and the cosine of r, and q.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn parts(x: __m256d) -> (NumberPair, NumberPair, __m256i) {
    let size = absolute(x);
    let q = nearest(_mm256_mul_pd(size, all(FRAC_2_PI)));
    // Both have at most 53 bits after the same place, so that nothing is lost.
    let first = _mm256_fnmadd_pd(q, all(FRAC_PI_2), size);
    let rest = NumberPair::of_product(q, all(-FRAC_PI_2_REST[0]));
    let rest = rest.plus(_mm256_mul_pd(q, all(-FRAC_PI_2_REST[1])));
    let sum = NumberPair::of_sum(first, rest.high).plus(rest.low);
    let r = NumberPair::of_ordered_sum(sum.high, sum.low);

    let x = r.high;
    let square = NumberPair::of_product(x, x);
    let z = square.high;
    // The derivative of the sine, 1 - r² / 2, times the low part.
    let half = _mm256_mul_pd(z, all(0.5));
    let low = _mm256_fnmadd_pd(half, r.low, r.low);
    let cube = _mm256_mul_pd(z, x);
    let sine = NumberPair::of_ordered_sum(x, _mm256_fmadd_pd(cube, polynomial(z, &S), low));
    // 1 - r² / 2, whose low part has what the square has lost, and the derivative, -r, times the low part of r.
    let most = NumberPair::of_ordered_sum(all(1.0), _mm256_xor_pd(half, all(-0.0)));
    let lost = _mm256_fnmadd_pd(square.low, all(0.5), most.low);
    let lost = _mm256_fnmadd_pd(x, r.low, lost);
    let rest = _mm256_fmadd_pd(_mm256_mul_pd(z, z), polynomial(z, &C), lost);
    let cosine = NumberPair::of_ordered_sum(most.high, rest);
    (sine, cosine, integers(q))
}

/// The sine of r for even q, else the cosine; negative if q has its second bit.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn chosen(sine: __m256d, cosine: __m256d, q: __m256i) -> __m256d {
    let is_odd = _mm256_castsi256_pd(_mm256_slli_epi64::<63>(q));
    let second = _mm256_castsi256_pd(_mm256_slli_epi64::<62>(q));
    _mm256_xor_pd(_mm256_blendv_pd(sine, cosine, is_odd), sign_of(second))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn is_large(x: __m256d) -> __m256d {
    is_above(absolute(x), LARGEST)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn sin(x: __m256d) -> __m256d {
    let (sine, cosine, q) = parts(x);
    let result = _mm256_xor_pd(chosen(sine.high, cosine.high, q), sign_of(x));
    repaired(result, is_large(x), [x], |[x]| x.sin())
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn cos(x: __m256d) -> __m256d {
    let (sine, cosine, q) = parts(x);
    let next = _mm256_add_epi64(q, _mm256_set1_epi64x(1));
    let result = chosen(sine.high, cosine.high, next);
    repaired(result, is_large(x), [x], |[x]| x.cos())
}

/// sin r / cos r for even q, else - cos r / sin r.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn tan(x: __m256d) -> __m256d {
    let (sine, cosine, q) = parts(x);
    let is_odd = _mm256_castsi256_pd(_mm256_slli_epi64::<63>(q));
    let either = |even: NumberPair, odd: NumberPair| NumberPair {
        high: _mm256_blendv_pd(even.high, odd.high, is_odd),
        low: _mm256_blendv_pd(even.low, odd.low, is_odd),
    };
    let result = either(sine, cosine).over(either(cosine, sine)).rounded();
    let result = _mm256_xor_pd(result, _mm256_xor_pd(sign_of(is_odd), sign_of(x)));
    repaired(result, is_large(x), [x], |[x]| x.tan())
}
