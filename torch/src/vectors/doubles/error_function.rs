//! The error function: a polynomial for each quarter up to 6, from where on the result is 1.

use std::arch::x86_64::*;
use std::f64::consts::FRAC_2_SQRT_PI;

use super::error_table::{AROUND, NUMBERS};
use super::pairs::NumberPair;
use super::{all, is_above};
use crate::vectors::registers::{absolute, polynomial, sign_of};

/// What 2 / √π is more than its first 53 bits.
const FRAC_2_SQRT_PI_REST: f64 = 1.533545961316588e-17;

/// Interpolates (erf(x) / x - 2 / √π) / x² at the Chebyshev nodes of x² up to 1 / 16, within 2^-56.
const NEAR: [f64; 8] = [
    -0.37612638903183754,
    0.11283791670955126,
    -0.026866170645130468,
    0.00522397762534198,
    -0.0008548326960416789,
    0.00012055311440034604,
    -1.4921568288952341e-05,
    1.605841098974962e-06,
];

/// From here on the nearest F64 is 1.
const LARGEST: f64 = 5.99;

/// x (2 / √π + x² P(x²)), of which the first term is a pair.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn near_zero(x: __m256d) -> __m256d {
    let square = _mm256_mul_pd(x, x);
    let most = NumberPair::of_product(x, all(FRAC_2_SQRT_PI));
    let rest = _mm256_fmadd_pd(square, polynomial(square, &NEAR), all(FRAC_2_SQRT_PI_REST));
    most.plus(_mm256_mul_pd(x, rest)).rounded()
}

/// With t the distance from the middle of a quarter this is a pair and t P(t).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn around(x: __m256d) -> __m256d {
    let quarter = _mm256_floor_pd(_mm256_mul_pd(x, all(4.0)));
    let middle = _mm256_fmadd_pd(quarter, all(0.25), all(0.125));
    let t = _mm256_sub_pd(x, middle);
    let row = _mm_mullo_epi32(_mm256_cvtpd_epi32(quarter), _mm_set1_epi32(NUMBERS as i32));
    let column = |at: usize| {
        let first = AROUND.as_flattened()[at..].as_ptr();
        // SAFETY: x is between 0 and LARGEST, so that the quarter is one of the table's.
        unsafe { _mm256_i32gather_pd::<8>(first, row) }
    };
    let mut sum = column(NUMBERS - 1);
    for at in (2..NUMBERS - 1).rev() {
        sum = _mm256_fmadd_pd(sum, t, column(at));
    }
    _mm256_add_pd(column(0), _mm256_fmadd_pd(sum, t, column(1)))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(in crate::vectors) fn erf(x: __m256d) -> __m256d {
    let size = absolute(x);
    // The second operand if the first is a NaN.
    let bounded = _mm256_min_pd(size, all(LARGEST));
    let result = _mm256_blendv_pd(near_zero(bounded), around(bounded), is_above(bounded, 0.25));
    let is_nan = _mm256_cmp_pd::<_CMP_UNORD_Q>(x, x);
    _mm256_blendv_pd(_mm256_or_pd(result, sign_of(x)), x, is_nan)
}
