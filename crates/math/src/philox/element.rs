//! The conversion of four words to the bits of elements.
//!
//! Every step happens in the type the GPU computes in, in its order, with a fused multiply-add
//! where its compiler fuses. Uniform, integer, full-range and Bernoulli elements are therefore
//! exact. The others are close: GPUs take logarithms, exponentials, sines and tangents of singles
//! from a fast unit whose last bits no CPU has, and correctly rounded ones stand in for them here.

use std::f64::consts::PI;

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};

use super::fast_tangent::fast_tangent;
use super::fill::{Distribution, Fill};

/// A fill with its parameters rounded to the type it computes in.
pub(super) struct Elements {
    distribution: Distribution,
    dtype: Dtype,
    wide: bool,
    singles: [f32; 2],
    doubles: [f64; 2],
    range: u64,
    base: i64,
}

impl Elements {
    pub(super) fn new(fill: &Fill) -> Elements {
        let doubles = [f64::from_bits(fill.first), f64::from_bits(fill.second)];
        let mut singles = doubles.map(|parameter| parameter as f32);
        if fill.distribution == Distribution::Uniform {
            singles = singles.map(|bound| rounded(fill.dtype, bound));
        }
        Elements {
            distribution: fill.distribution,
            dtype: fill.dtype,
            wide: fill.is_wide(),
            singles,
            doubles,
            range: fill.first,
            base: fill.second as i64,
        }
    }

    /// The bits of the four (or two) elements of a draw, each in the low bytes of its number.
    #[inline]
    pub(super) fn of(&self, words: [u32; 4]) -> [u64; 4] {
        match (self.distribution, self.dtype) {
            (Distribution::Integers | Distribution::FullRange, _) if self.wide => {
                let [a, b] = wide_integers(words).map(|bits| self.integer(bits));
                [a, b, 0, 0]
            }
            (Distribution::Integers | Distribution::FullRange, _) => {
                words.map(|word| self.integer(u64::from(word)))
            }
            (_, Dtype::F64) => {
                let draws = match self.distribution {
                    Distribution::Normal | Distribution::LogNormal => normal_doubles(words),
                    _ => uniform_doubles(words),
                };
                let [a, b] = draws.map(|draw| self.double(draw).to_bits());
                [a, b, 0, 0]
            }
            _ => {
                let draws = match self.distribution {
                    Distribution::Normal | Distribution::LogNormal => normal_singles(words),
                    _ => words.map(uniform_single),
                };
                draws.map(|draw| self.single(draw))
            }
        }
    }

    fn integer(&self, bits: u64) -> u64 {
        if self.distribution == Distribution::Integers {
            // A range of 0 stands for none that a checked caller can ask for.
            let value = bits.checked_rem(self.range).unwrap_or(0).wrapping_add(self.base as u64);
            return integer_bits(self.dtype, value as i64);
        }
        let values = match self.dtype.integer_range() {
            None => (1 << self.dtype.significand_bits()) + 1,
            Some((_, greatest)) => greatest as u64 + 1,
        };
        integer_bits(self.dtype, (bits % values) as i64)
    }

    /// The bits of an element that is computed in single precision.
    fn single(&self, draw: f32) -> u64 {
        let [first, second] = self.singles;
        let value = match self.distribution {
            Distribution::Uniform => {
                let range = rounded(self.dtype, second - first);
                let value = rounded(self.dtype, draw.mul_add(range, first));
                // Draws include 1 and exclude 0; results include the lower bound, not the upper.
                if value == second { first } else { value }
            }
            Distribution::Normal => draw.mul_add(second, first),
            Distribution::LogNormal => draw.mul_add(second, first).exp(),
            Distribution::Exponential => {
                let tiny = -f32::EPSILON / 2.0;
                let logarithm = if draw >= 1.0 + tiny { tiny } else { draw.ln() };
                -1.0 / first * logarithm
            }
            Distribution::Cauchy => {
                let draw = draw.clamp(f32::EPSILON, 1.0 - f32::EPSILON);
                let angle = std::f32::consts::PI * (draw - 0.5);
                second.mul_add(fast_tangent(angle), first)
            }
            Distribution::Geometric => (draw.ln() / (1.0 - first).ln()).ceil(),
            Distribution::Bernoulli => f32::from(draw < first),
            Distribution::Integers | Distribution::FullRange => draw,
        };
        single_bits(self.dtype, value)
    }

    fn double(&self, draw: f64) -> f64 {
        let [first, second] = self.doubles;
        match self.distribution {
            Distribution::Uniform => {
                let value = draw.mul_add(second - first, first);
                if value == second { first } else { value }
            }
            Distribution::Normal => draw.mul_add(second, first),
            Distribution::LogNormal => draw.mul_add(second, first).exp(),
            Distribution::Exponential => {
                let tiny = -f64::EPSILON / 2.0;
                let logarithm = if draw >= 1.0 + tiny { tiny } else { draw.ln() };
                -1.0 / first * logarithm
            }
            Distribution::Cauchy => second.mul_add((PI * (draw - 0.5)).tan(), first),
            Distribution::Geometric => (draw.ln() / (-first).ln_1p()).ceil(),
            Distribution::Bernoulli => f64::from(draw < first),
            Distribution::Integers | Distribution::FullRange => draw,
        }
    }
}

const TWO_POW_MINUS_32: f32 = 1.0 / 4_294_967_296.0;
const TWO_POW_MINUS_53: f64 = 1.0 / 9_007_199_254_740_992.0;

/// A draw from (0, 1] in single precision.
#[inline]
fn uniform_single(word: u32) -> f32 {
    word as f32 * TWO_POW_MINUS_32 + TWO_POW_MINUS_32 / 2.0
}

/// 53 of the 64 bits of two words.
#[inline]
fn significand(low: u32, high: u32) -> f64 {
    (u64::from(low) ^ u64::from(high) << 21) as f64
}

/// Two draws from (0, 1] in double precision.
#[inline]
fn uniform_doubles([x, y, z, w]: [u32; 4]) -> [f64; 2] {
    [significand(x, y), significand(z, w)]
        .map(|bits| bits * TWO_POW_MINUS_53 + TWO_POW_MINUS_53 / 2.0)
}

/// Two 64-bit integers.
#[inline]
fn wide_integers([x, y, z, w]: [u32; 4]) -> [u64; 2] {
    [u64::from(x) << 32 | u64::from(y), u64::from(z) << 32 | u64::from(w)]
}

/// Four standard normal draws, by Box and Muller: a radius and an angle give two.
fn normal_singles([x, y, z, w]: [u32; 4]) -> [f32; 4] {
    let pair = |radius: u32, angle: u32| {
        const STEP: f32 = TWO_POW_MINUS_32 * (2.0 * std::f32::consts::PI);
        let angle = (angle as f32).mul_add(STEP, STEP / 2.0);
        let radius = (-2.0 * uniform_single(radius).ln()).sqrt();
        let (sine, cosine) = f64::from(angle).sin_cos();
        [sine as f32 * radius, cosine as f32 * radius]
    };
    let ([a, b], [c, d]) = (pair(x, y), pair(z, w));
    [a, b, c, d]
}

/// Two standard normal draws in double precision.
fn normal_doubles(words: [u32; 4]) -> [f64; 2] {
    let [x, y, z, w] = words;
    let radius = significand(x, y) * TWO_POW_MINUS_53 + TWO_POW_MINUS_53 / 2.0;
    let half_turns = significand(z, w) * (TWO_POW_MINUS_53 * 2.0) + TWO_POW_MINUS_53;
    let radius = (-2.0 * radius.ln()).sqrt();
    let (sine, cosine) = sin_cos_of_half_turns(half_turns);
    [sine * radius, cosine * radius]
}

/// Sine and cosine of `x` times pi, for `x` from 0 to 2. The reduction is exact.
fn sin_cos_of_half_turns(x: f64) -> (f64, f64) {
    let quarter = (2.0 * x).round();
    let (sine, cosine) = (PI * (x - quarter / 2.0)).sin_cos();
    match quarter as u32 % 4 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The nearest value of a floating-point type that is computed in single precision.
#[inline]
fn rounded(dtype: Dtype, value: f32) -> f32 {
    match dtype {
        Dtype::F16 => f16_value(f16_bits(value)),
        Dtype::Bf16 => bf16_value(bf16_bits(value)),
        _ => value,
    }
}

/// A single as an element. Integers are cut towards zero, the small ones by way of 32 bits.
#[inline]
fn single_bits(dtype: Dtype, value: f32) -> u64 {
    match dtype {
        Dtype::F32 => u64::from(value.to_bits()),
        Dtype::F16 => u64::from(f16_bits(value)),
        Dtype::Bf16 => u64::from(bf16_bits(value)),
        Dtype::F64 => f64::from(value).to_bits(),
        Dtype::I64 => value as i64 as u64,
        Dtype::U8 => u64::from(value as u32),
        Dtype::Bool => u64::from(value != 0.0),
        _ => u64::from(value as i32 as u32),
    }
}

/// A whole number as an element. The 16-bit floats are reached by way of a single.
#[inline]
fn integer_bits(dtype: Dtype, value: i64) -> u64 {
    match dtype {
        Dtype::F32 => u64::from((value as f32).to_bits()),
        Dtype::F64 => (value as f64).to_bits(),
        Dtype::F16 => u64::from(f16_bits(value as f32)),
        Dtype::Bf16 => u64::from(bf16_bits(value as f32)),
        Dtype::Bool => u64::from(value != 0),
        _ => value as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words whose first two give the largest significand.
    const ALL_53_BITS: [u32; 4] = [u32::MAX, 0xffff_f800, 0, 0];

    #[test]
    fn draws_reach_one_and_never_zero() {
        assert_eq!(uniform_single(u32::MAX), 1.0);
        assert_eq!(uniform_single(0), TWO_POW_MINUS_32 / 2.0);
        let [least, _] = uniform_doubles([0; 4]);
        assert!(least > 0.0);
        let [greatest, _] = uniform_doubles(ALL_53_BITS);
        assert_eq!(greatest, 1.0);
    }

    #[test]
    fn a_uniform_element_never_is_the_upper_bound() {
        for (dtype, bound) in [(Dtype::F32, 1.0), (Dtype::F16, 1.0), (Dtype::Bf16, -3.0)] {
            let (low, high) = (bound - 1.0, bound);
            let elements = Elements::new(&Fill::real(Distribution::Uniform, dtype, low, high));
            let of = |value: f32| single_bits(dtype, value);
            for word in [u32::MAX, u32::MAX - 1, u32::MAX - 0x7f] {
                assert_eq!(elements.of([word; 4])[0], of(low as f32), "{dtype:?} {word:#x}");
            }
            assert_ne!(elements.of([1 << 31; 4])[0], of(low as f32));
        }
        let double = Elements::new(&Fill::real(Distribution::Uniform, Dtype::F64, 2.0, 3.0));
        assert_eq!(double.of(ALL_53_BITS)[0], 2.0_f64.to_bits());
    }

    #[test]
    fn quarter_turns_are_exact_at_the_axes() {
        for (turns, sine, cosine) in
            [(0.0, 0.0, 1.0), (0.5, 1.0, 0.0), (1.0, 0.0, -1.0), (1.5, -1.0, 0.0), (2.0, 0.0, 1.0)]
        {
            assert_eq!(sin_cos_of_half_turns(turns), (sine, cosine), "{turns}");
        }
        for step in 0..200 {
            let x = f64::from(step) / 100.0;
            let (sine, cosine) = sin_cos_of_half_turns(x);
            assert!((sine - (PI * x).sin()).abs() < 1e-15 * 10.0, "{x}");
            assert!((cosine - (PI * x).cos()).abs() < 1e-15 * 10.0, "{x}");
        }
    }

    #[test]
    fn extremes_stay_finite() {
        for distribution in [Distribution::Exponential, Distribution::Cauchy, Distribution::Normal]
        {
            for dtype in [Dtype::F32, Dtype::F64] {
                let second = if distribution == Distribution::Exponential { 0.0 } else { 1.0 };
                let elements = Elements::new(&Fill::real(distribution, dtype, 1.0, second));
                for word in [0, 1, 1 << 31, u32::MAX - 1, u32::MAX] {
                    let bits = elements.of([word; 4])[0];
                    let value = match dtype {
                        Dtype::F64 => f64::from_bits(bits),
                        _ => f64::from(f32::from_bits(bits as u32)),
                    };
                    assert!(value.is_finite(), "{distribution:?} {dtype:?} {word:#x}: {value}");
                    if distribution == Distribution::Exponential {
                        assert!(value > 0.0, "the exponential distribution excludes 0");
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_of_64_bits_wraps_around_its_base() {
        let elements = Elements::new(&Fill::integers(Dtype::I64, u64::MAX, i64::MIN));
        assert_eq!(elements.of([u32::MAX, u32::MAX - 1, 0, 0])[0] as i64, i64::MAX - 1);
        assert_eq!(elements.of([0; 4])[0] as i64, i64::MIN);
        let full = Elements::new(&Fill::full_range(Dtype::I64));
        assert_eq!(full.of([u32::MAX; 4])[0] as i64, i64::MAX);
        let bool = Elements::new(&Fill::full_range(Dtype::Bool));
        assert_eq!(bool.of([1, 2, 3, 4]), [1, 0, 1, 0]);
    }
}
