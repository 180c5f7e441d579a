//! Numbers of some 106 bits: a number and what it has lost in rounding.

use std::arch::x86_64::*;

/// The sum of two numbers, of which the second is at most half a unit in the last place of the first, or little more.
#[derive(Clone, Copy)]
pub(super) struct NumberPair {
    pub(super) high: __m256d,
    pub(super) low: __m256d,
}

impl NumberPair {
    /// The sum of two numbers, of which the first is the larger one in magnitude, or 0.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn of_ordered_sum(larger: __m256d, smaller: __m256d) -> NumberPair {
        let high = _mm256_add_pd(larger, smaller);
        NumberPair { high, low: _mm256_sub_pd(smaller, _mm256_sub_pd(high, larger)) }
    }

    /// The sum of two numbers.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn of_sum(first: __m256d, second: __m256d) -> NumberPair {
        let high = _mm256_add_pd(first, second);
        let of_second = _mm256_sub_pd(high, first);
        let of_first = _mm256_sub_pd(high, of_second);
        let low = _mm256_add_pd(_mm256_sub_pd(first, of_first), _mm256_sub_pd(second, of_second));
        NumberPair { high, low }
    }

    /// The product of two numbers.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn of_product(first: __m256d, second: __m256d) -> NumberPair {
        let high = _mm256_mul_pd(first, second);
        NumberPair { high, low: _mm256_fmsub_pd(first, second, high) }
    }

    /// The product of two pairs.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn times(self, other: NumberPair) -> NumberPair {
        let NumberPair { high, low } = NumberPair::of_product(self.high, other.high);
        let low = _mm256_fmadd_pd(self.high, other.low, low);
        NumberPair { high, low: _mm256_fmadd_pd(self.low, other.high, low) }
    }

    /// The quotient of two pairs.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn over(self, other: NumberPair) -> NumberPair {
        let high = _mm256_div_pd(self.high, other.high);
        let rest = _mm256_fnmadd_pd(high, other.high, self.high);
        let rest = _mm256_add_pd(rest, _mm256_fnmadd_pd(high, other.low, self.low));
        NumberPair { high, low: _mm256_div_pd(rest, other.high) }
    }

    /// The pair with a small number added.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn plus(self, small: __m256d) -> NumberPair {
        NumberPair { high: self.high, low: _mm256_add_pd(self.low, small) }
    }

    /// The pair with both parts multiplied by a power of two.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn scaled(self, power: __m256d) -> NumberPair {
        let [high, low] = [self.high, self.low].map(|part| _mm256_mul_pd(part, power));
        NumberPair { high, low }
    }

    /// Rounded to one number.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn rounded(self) -> __m256d {
        _mm256_add_pd(self.high, self.low)
    }
}
