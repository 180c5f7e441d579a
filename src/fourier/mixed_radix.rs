//! Transforms of lengths without a large prime factor: Stockham's form of the fast Fourier transform.
//!
//! A pass takes out one factor of the length. It reads a line and writes another, so that the results are in order
//! after the last pass.

use super::complex::{Complex, TransformedReal};
use super::roots::roots;

/// The largest prime factor of a length. A pass of a factor costs as many products for each number.
const MOST_FACTOR: usize = 31;

/// A forward transform.
pub(super) struct MixedRadix<T> {
    /// As many as the line has numbers.
    roots: Vec<Complex<T>>,
    factors: Vec<usize>,
}

impl<T: TransformedReal> MixedRadix<T> {
    /// `None` if a prime factor of the length is too large.
    pub(super) fn new(length: usize) -> Option<MixedRadix<T>> {
        let (factors, rest) = factors_of(length);
        (rest == 1).then(|| MixedRadix { roots: roots(length), factors })
    }

    /// Of a power of two.
    pub(super) fn of_power_of_two(length: usize) -> MixedRadix<T> {
        debug_assert!(length.is_power_of_two());
        MixedRadix { roots: roots(length), factors: factors_of(length).0 }
    }

    /// Transforms a line; `other` is as long.
    pub(super) fn run(&self, line: &mut [Complex<T>], other: &mut [Complex<T>]) {
        let mut stride = 1;
        let (mut from, mut into) = (&mut *line, other);
        for factor in &self.factors {
            match factor {
                2 => self.pass(stride, from, into, |[a, b]| [a + b, a - b]),
                3 => self.pass(stride, from, into, three),
                4 => self.pass(stride, from, into, four),
                5 => self.pass(stride, from, into, five),
                _ => self.long_pass(*factor, stride, from, into),
            }
            stride *= factor;
            std::mem::swap(&mut from, &mut into);
        }
        if !self.factors.len().is_multiple_of(2) {
            into.copy_from_slice(from);
        }
    }

    /// Takes out the factor `N`, of which `transform` is the transform. `stride` is the product of the factors before.
    fn pass<const N: usize>(
        &self,
        stride: usize,
        from: &[Complex<T>],
        into: &mut [Complex<T>],
        transform: impl Fn([Complex<T>; N]) -> [Complex<T>; N],
    ) {
        let part = from.len() / N;
        for (group, into) in into.chunks_exact_mut(N * stride).enumerate() {
            let start = group * stride;
            let twiddles: [Complex<T>; N] = std::array::from_fn(|k| self.roots[k * start]);
            for place in 0..stride {
                let results = transform(std::array::from_fn(|k| from[start + place + k * part]));
                into[place] = results[0];
                for k in 1..N {
                    into[place + k * stride] = results[k] * twiddles[k];
                }
            }
        }
    }

    /// Takes out any factor.
    fn long_pass(
        &self,
        factor: usize,
        stride: usize,
        from: &[Complex<T>],
        into: &mut [Complex<T>],
    ) {
        let part = from.len() / factor;
        for (group, into) in into.chunks_exact_mut(factor * stride).enumerate() {
            let start = group * stride;
            for place in 0..stride {
                for k in 0..factor {
                    let mut sum = from[start + place];
                    for j in 1..factor {
                        let root = self.roots[j * k % factor * part];
                        sum = sum + from[start + place + j * part] * root;
                    }
                    into[place + k * stride] = sum * self.roots[k * start];
                }
            }
        }
    }
}

/// The factors that passes take out, and what is left of the length.
fn factors_of(length: usize) -> (Vec<usize>, usize) {
    let (mut factors, mut rest) = (Vec::new(), length);
    for factor in [4].into_iter().chain(2..=MOST_FACTOR) {
        while rest.is_multiple_of(factor) {
            factors.push(factor);
            rest /= factor;
        }
    }
    (factors, rest)
}

fn three<T: TransformedReal>([a, b, c]: [Complex<T>; 3]) -> [Complex<T>; 3] {
    let (sum, difference) = (b + c, (b - c).times_i().scale(T::of(0.75_f64.sqrt())));
    let middle = a + sum.scale(T::of(-0.5));
    [a + sum, middle - difference, middle + difference]
}

fn four<T: TransformedReal>([a, b, c, d]: [Complex<T>; 4]) -> [Complex<T>; 4] {
    let (even, odd) = ([a + c, a - c], [b + d, (b - d).times_i()]);
    [even[0] + odd[0], even[1] - odd[1], even[0] - odd[0], even[1] + odd[1]]
}

fn five<T: TransformedReal>([a, b, c, d, e]: [Complex<T>; 5]) -> [Complex<T>; 5] {
    // Cosine and sine of a fifth and of two fifths of the circle.
    let (cosines, sines) = (
        [T::of(0.309_016_994_374_947_45), T::of(-0.809_016_994_374_947_5)],
        [T::of(0.951_056_516_295_153_5), T::of(0.587_785_252_292_473_1)],
    );
    let (outer, inner) = (b + e, c + d);
    let (left, right) = ((b - e).times_i(), (c - d).times_i());
    let first = a + outer.scale(cosines[0]) + inner.scale(cosines[1]);
    let second = a + outer.scale(cosines[1]) + inner.scale(cosines[0]);
    let to_first = left.scale(sines[0]) + right.scale(sines[1]);
    let to_second = left.scale(sines[1]) - right.scale(sines[0]);
    [a + outer + inner, first - to_first, second - to_second, second + to_second, first + to_first]
}
