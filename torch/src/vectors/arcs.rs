//! Inverse functions: of angles, and of hyperbolic functions.
//!
//! An angle is that of a fraction t from 0 to 1, plus a multiple of π / 2 or subtracted from one. Above tan(π / 8) it is
//! π / 4 and that of (t - 1) / (t + 1), so that t is at most 0.4143 in magnitude.

use std::arch::x86_64::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

use super::doubles::log1p as log1p_doubles;
use super::registers::{absolute, functions_in_doubles, in_doubles, polynomial, sign_of};

/// Interpolates (atan(t) / t - 1) / t² at the Chebyshev nodes of t² up to 0.1716; atan t errs by 2^-43 of itself.
const A: [f64; 9] = [
    -0.3333333333333092,
    0.1999999999772153,
    -0.14285713929925073,
    0.11111089626077861,
    -0.09090255377464372,
    0.07681037484051574,
    -0.0655085023854286,
    0.051686162502498884,
    -0.027229493655218973,
];

/// The angle of two sides of any signs.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn atan2_doubles(y: __m256d, x: __m256d) -> __m256d {
    let (up, along) = (absolute(y), absolute(x));
    let is_steep = _mm256_cmp_pd::<_CMP_GT_OQ>(up, along);
    let (least, most) = (_mm256_min_pd(up, along), _mm256_max_pd(up, along));
    // The angle of two zeros is that of 0 / 1, and that of two infinities that of 1 / 1.
    let one = _mm256_set1_pd(1.0);
    let is_nothing = _mm256_cmp_pd::<_CMP_EQ_OQ>(most, _mm256_setzero_pd());
    let is_infinite = _mm256_cmp_pd::<_CMP_EQ_OQ>(least, _mm256_set1_pd(f64::INFINITY));
    let most = _mm256_blendv_pd(most, one, _mm256_or_pd(is_nothing, is_infinite));
    let least = _mm256_blendv_pd(least, one, is_infinite);

    let bound = _mm256_mul_pd(most, _mm256_set1_pd(SQRT_2 - 1.0));
    let is_large = _mm256_cmp_pd::<_CMP_GT_OQ>(least, bound);
    let over = _mm256_blendv_pd(least, _mm256_sub_pd(least, most), is_large);
    let under = _mm256_blendv_pd(most, _mm256_add_pd(least, most), is_large);
    let t = _mm256_div_pd(over, under);
    let square = _mm256_mul_pd(t, t);
    let angle = _mm256_fmadd_pd(_mm256_mul_pd(square, t), polynomial(square, &A), t);
    let angle = _mm256_add_pd(angle, _mm256_and_pd(is_large, _mm256_set1_pd(FRAC_PI_4)));

    let less = |from: f64| _mm256_sub_pd(_mm256_set1_pd(from), angle);
    let angle = _mm256_blendv_pd(angle, less(FRAC_PI_2), is_steep);
    let back = _mm256_sub_pd(_mm256_set1_pd(PI), angle);
    let angle = _mm256_or_pd(_mm256_blendv_pd(angle, back, x), sign_of(y));
    let is_nan = _mm256_cmp_pd::<_CMP_UNORD_Q>(x, y);
    _mm256_blendv_pd(angle, _mm256_add_pd(x, y), is_nan)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn atan_doubles(x: __m256d) -> __m256d {
    atan2_doubles(x, _mm256_set1_pd(1.0))
}

/// The other side of a right triangle with a side x and the longest side 1; NaN if x is longer.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn other_side(x: __m256d) -> __m256d {
    let one = _mm256_set1_pd(1.0);
    _mm256_sqrt_pd(_mm256_mul_pd(_mm256_sub_pd(one, x), _mm256_add_pd(one, x)))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn asin_doubles(x: __m256d) -> __m256d {
    atan2_doubles(x, other_side(x))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn acos_doubles(x: __m256d) -> __m256d {
    atan2_doubles(other_side(x), x)
}

/// With the square root r of x² + 1 this is ln(1 + |x| + x² / (1 + r)).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn asinh_doubles(x: __m256d) -> __m256d {
    let (one, size) = (_mm256_set1_pd(1.0), absolute(x));
    let square = _mm256_mul_pd(size, size);
    let root = _mm256_sqrt_pd(_mm256_add_pd(square, one));
    let more = _mm256_div_pd(square, _mm256_add_pd(one, root));
    // Of an infinite number that quotient is none.
    let is_infinite = _mm256_cmp_pd::<_CMP_EQ_OQ>(size, _mm256_set1_pd(f64::INFINITY));
    let more = _mm256_andnot_pd(is_infinite, more);
    _mm256_or_pd(absolute(log1p_doubles(_mm256_add_pd(size, more))), sign_of(x))
}

/// With t = x - 1 this is ln(1 + t + √(t² + 2 t)), of numbers from 1 on.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn acosh_doubles(x: __m256d) -> __m256d {
    let t = _mm256_sub_pd(x, _mm256_set1_pd(1.0));
    let root = _mm256_sqrt_pd(_mm256_mul_pd(t, _mm256_add_pd(t, _mm256_set1_pd(2.0))));
    let is_below = _mm256_cmp_pd::<_CMP_LT_OQ>(t, _mm256_setzero_pd());
    // All bits are those of a NaN.
    _mm256_or_pd(log1p_doubles(_mm256_add_pd(t, root)), is_below)
}

/// Half of ln(1 + 2 x / (1 - x)).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn atanh_doubles(x: __m256d) -> __m256d {
    let under = _mm256_sub_pd(_mm256_set1_pd(1.0), x);
    let ln = log1p_doubles(_mm256_div_pd(_mm256_add_pd(x, x), under));
    _mm256_mul_pd(ln, _mm256_set1_pd(0.5))
}

/// The angle of pairs of numbers.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn atan2(y: __m256, x: __m256) -> __m256 {
    in_doubles!(atan2_doubles, y, x)
}

functions_in_doubles! {
    acos: acos_doubles;
    acosh: acosh_doubles;
    asin: asin_doubles;
    asinh: asinh_doubles;
    atan: atan_doubles;
    atanh: atanh_doubles;
}
