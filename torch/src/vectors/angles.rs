//! Functions of angles.
//!
//! With q the whole number nearest to |x| / (π / 2) and r = |x| - q π / 2, at most 0.786 in magnitude, the sine is one of
//! ± sin r and ± cos r. π / 2 has two parts of 53 bits, so that r is exact to all digits, also near multiples of π / 2.

use std::arch::x86_64::*;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::registers::{absolute, in_doubles, integers, nearest, polynomial, repaired, sign_of};

/// Interpolates (sin r / r - 1) / r² at the Chebyshev nodes of r² up to 0.62; sin r errs by 2^-45 of itself.
const S: [f64; 5] = [
    -0.16666666666663815,
    0.008333333331032916,
    -0.00019841266872067172,
    2.7555977373119763e-06,
    -2.480438374989974e-08,
];

/// Interpolates (cos r - 1) / r² at the same nodes; cos r errs by 2^-41 of itself.
const C: [f64; 5] = [
    -0.49999999999962963,
    0.04166666663679492,
    -0.0013888885033088573,
    2.4799844592442985e-05,
    -2.723551457691943e-07,
];

/// What π / 2 is more than its first 53 bits.
const FRAC_PI_2_REST: f64 = 6.123233995736766e-17;

/// Angles up to this size are reduced here, and larger ones by the C library, in 64 bits: q has to fit 31 bits.
const LARGEST: f32 = 1e9;

/// The sine and the cosine of r, and q.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn parts(x: __m256d) -> (__m256d, __m256d, __m256i) {
    let size = absolute(x);
    let q = nearest(_mm256_mul_pd(size, _mm256_set1_pd(FRAC_2_PI)));
    let r = _mm256_fnmadd_pd(q, _mm256_set1_pd(FRAC_PI_2), size);
    let r = _mm256_fnmadd_pd(q, _mm256_set1_pd(FRAC_PI_2_REST), r);
    let square = _mm256_mul_pd(r, r);
    let sine = _mm256_fmadd_pd(_mm256_mul_pd(square, r), polynomial(square, &S), r);
    let cosine = _mm256_fmadd_pd(square, polynomial(square, &C), _mm256_set1_pd(1.0));
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
fn sin_doubles(x: __m256d) -> __m256d {
    let (sine, cosine, q) = parts(x);
    _mm256_xor_pd(chosen(sine, cosine, q), sign_of(x))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn cos_doubles(x: __m256d) -> __m256d {
    let (sine, cosine, q) = parts(x);
    chosen(sine, cosine, _mm256_add_epi64(q, _mm256_set1_epi64x(1)))
}

/// sin r / cos r for even q, else - cos r / sin r.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn tan_doubles(x: __m256d) -> __m256d {
    let (sine, cosine, q) = parts(x);
    let is_odd = _mm256_castsi256_pd(_mm256_slli_epi64::<63>(q));
    let over = _mm256_blendv_pd(sine, cosine, is_odd);
    let under = _mm256_blendv_pd(cosine, sine, is_odd);
    let sign = _mm256_xor_pd(sign_of(is_odd), sign_of(x));
    _mm256_xor_pd(_mm256_div_pd(over, under), sign)
}

macro_rules! functions {
    ($($name:ident: $doubles:ident;)*) => {$(
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        pub(super) fn $name(x: __m256) -> __m256 {
            let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
            let is_large = _mm256_cmp_ps::<_CMP_GT_OQ>(size, _mm256_set1_ps(LARGEST));
            repaired(in_doubles!($doubles, x), is_large, [x], |[x]| f64::from(x).$name() as f32)
        }
    )*};
}

functions! {
    sin: sin_doubles;
    cos: cos_doubles;
    tan: tan_doubles;
}
