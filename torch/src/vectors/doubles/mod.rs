//! Functions of four F64 in a register, with less than 1.0 units in the last place of error.
//!
//! Where the last digits matter, numbers are pairs: a number and what it has lost in rounding (`pairs`).
//!
//! | file | idea |
//! |---|---|
//! | `pairs` | sums, products and quotients with what they lose |
//! | `exponentials` | exponentials and hyperbolic functions |
//! | `logarithms` | logarithms, powers |
//! | `angles` | sine, cosine, tangent |
//! | `error_function`, `error_table` | the error function, its polynomials |

#![allow(unsafe_code, reason = "shows registers as elements")]

mod angles;
mod error_function;
mod error_table;
mod exponentials;
mod logarithms;
mod pairs;
#[cfg(test)]
mod tests;

pub(super) use angles::{cos, sin, tan};
pub(super) use error_function::erf;
pub(super) use exponentials::{cosh, exp, exp2, expm1, sinh, tanh};
pub(super) use logarithms::{ln, log1p, log2, log10, pow};

use std::arch::x86_64::*;

/// The result with elements that `wrong` marks calculated by the C library.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn repaired<const N: usize>(
    result: __m256d,
    wrong: __m256d,
    arguments: [__m256d; N],
    function: fn([f64; N]) -> f64,
) -> __m256d {
    let marks = _mm256_movemask_pd(wrong);
    if marks == 0 { result } else { calculated(result, marks, arguments, function) }
}

#[cold]
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn calculated<const N: usize>(
    result: __m256d,
    marks: i32,
    arguments: [__m256d; N],
    function: fn([f64; N]) -> f64,
) -> __m256d {
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
pub(super) fn register(elements: [f64; 4]) -> __m256d {
    // SAFETY: both are four F64 in the same order.
    unsafe { std::mem::transmute(elements) }
}

#[inline]
pub(super) fn elements(register: __m256d) -> [f64; 4] {
    // SAFETY: both are four F64 in the same order.
    unsafe { std::mem::transmute(register) }
}

/// The same number in all elements.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn all(number: f64) -> __m256d {
    _mm256_set1_pd(number)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn is_above(x: __m256d, bound: f64) -> __m256d {
    _mm256_cmp_pd::<_CMP_GT_OQ>(x, all(bound))
}
