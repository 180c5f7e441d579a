//! What functions of registers have in common: numbers of 32 bits are calculated with in 64, four in a register.
//!
//! So a function needs a relative accuracy of some 2^-32 alone for results that err by little more than half a unit in
//! the last place. Overflow and subnormal numbers come with the rounding to 32 bits.

#![allow(unsafe_code, reason = "shows registers as elements")]

use std::arch::x86_64::*;

/// Applies a function of four F64 to eight F32, and to the second eight of a function of two.
macro_rules! in_doubles {
    ($function:path, $($x:expr),+) => {{
        let low = $function($(_mm256_cvtps_pd(_mm256_castps256_ps128($x))),+);
        let high = $function($(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>($x))),+);
        _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low))
    }};
}
pub(super) use in_doubles;

/// Functions of eight F32, each with the name of the function of four F64 that it applies.
macro_rules! functions_in_doubles {
    ($($name:ident: $doubles:ident;)*) => {$(
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        pub(super) fn $name(x: __m256) -> __m256 {
            in_doubles!($doubles, x)
        }
    )*};
}
pub(super) use functions_in_doubles;

/// The polynomial with these coefficients, from the constant one on.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn polynomial<const N: usize>(x: __m256d, coefficients: &[f64; N]) -> __m256d {
    let mut sum = _mm256_set1_pd(coefficients[N - 1]);
    for coefficient in coefficients[..N - 1].iter().rev() {
        sum = _mm256_fmadd_pd(sum, x, _mm256_set1_pd(*coefficient));
    }
    sum
}

/// The sign bit alone.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn sign_of(x: __m256d) -> __m256d {
    _mm256_and_pd(x, _mm256_set1_pd(-0.0))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn absolute(x: __m256d) -> __m256d {
    _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
}

/// The number between bounds; a NaN stays one, as `min` and `max` return their second operand for it.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn clamped(x: __m256d, least: f64, most: f64) -> __m256d {
    _mm256_min_pd(_mm256_set1_pd(most), _mm256_max_pd(_mm256_set1_pd(least), x))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn nearest(x: __m256d) -> __m256d {
    _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x)
}

/// The result of a logarithm where x is positive and finite; what it is elsewhere.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn of_any(result: __m256d, x: __m256d) -> __m256d {
    let zero = _mm256_setzero_pd();
    let is_negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, zero);
    let is_zero = _mm256_cmp_pd::<_CMP_EQ_OQ>(x, zero);
    let is_itself = _mm256_cmp_pd::<_CMP_NLT_UQ>(x, _mm256_set1_pd(f64::INFINITY));
    let result = _mm256_blendv_pd(result, _mm256_set1_pd(f64::NAN), is_negative);
    let result = _mm256_blendv_pd(result, _mm256_set1_pd(f64::NEG_INFINITY), is_zero);
    _mm256_blendv_pd(result, x, is_itself)
}

/// Whole numbers below 2^31 in magnitude, as integers of 64 bits.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn integers(whole: __m256d) -> __m256i {
    _mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(whole))
}

/// A function of the C library.
pub(super) type ScalarFunction<const N: usize> = fn([f32; N]) -> f32;

/// The result with elements that `wrong` marks calculated by the C library.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn repaired<const N: usize>(
    result: __m256,
    wrong: __m256,
    arguments: [__m256; N],
    function: ScalarFunction<N>,
) -> __m256 {
    let marks = _mm256_movemask_ps(wrong);
    if marks == 0 { result } else { calculated(result, marks, arguments, function) }
}

#[cold]
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn calculated<const N: usize>(
    result: __m256,
    marks: i32,
    arguments: [__m256; N],
    function: ScalarFunction<N>,
) -> __m256 {
    let arguments = arguments.map(elements);
    let mut results = elements(result);
    for (at, result) in results.iter_mut().enumerate() {
        if marks >> at & 1 == 1 {
            *result = function(arguments.map(|argument| argument[at]));
        }
    }
    register(results)
}

#[inline]
pub(super) fn register(elements: [f32; 8]) -> __m256 {
    // SAFETY: both are eight F32 in the same order.
    unsafe { std::mem::transmute(elements) }
}

#[inline]
pub(super) fn elements(register: __m256) -> [f32; 8] {
    // SAFETY: both are eight F32 in the same order.
    unsafe { std::mem::transmute(register) }
}
