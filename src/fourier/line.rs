//! One transform of one dimension, of complex numbers.

use super::chirp::ChirpTransform;
use super::complex::{Complex, TransformedReal};
use super::kind::FftDirection;
use super::mixed_radix::MixedRadix;

/// A transform of lines of some length.
pub(super) struct LineTransform<T> {
    length: usize,
    method: LineMethod<T>,
}

enum LineMethod<T> {
    MixedRadix(MixedRadix<T>),
    Chirp(ChirpTransform<T>),
}

impl<T: TransformedReal> LineTransform<T> {
    /// Of a length of at least 1.
    pub(super) fn new(length: usize) -> LineTransform<T> {
        let method = match MixedRadix::new(length) {
            Some(mixed) => LineMethod::MixedRadix(mixed),
            None => LineMethod::Chirp(ChirpTransform::new(length)),
        };
        LineTransform { length, method }
    }

    /// Transforms lines that lie one after the other.
    pub(super) fn run(&self, lines: &mut [Complex<T>], direction: FftDirection) {
        let exchange = |numbers: &mut [Complex<T>]| {
            if direction == FftDirection::Inverse {
                numbers.iter_mut().for_each(|number| *number = number.exchanged());
            }
        };
        exchange(lines);
        let scratch = match &self.method {
            LineMethod::MixedRadix(_) => self.length,
            LineMethod::Chirp(chirp) => chirp.scratch(),
        };
        let mut scratch = vec![Complex::default(); scratch];
        for line in lines.chunks_exact_mut(self.length) {
            match &self.method {
                LineMethod::MixedRadix(mixed) => mixed.run(line, &mut scratch),
                LineMethod::Chirp(chirp) => chirp.run(line, &mut scratch),
            }
        }
        exchange(lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fourier::roots::root;

    /// Numbers without a pattern, of at most 1.
    fn numbers<T: TransformedReal>(length: usize) -> Vec<Complex<T>> {
        let part = |k: usize| T::of(((k * 7919 + 13) % 1009) as f64 / 504.5 - 1.0);
        (0..length).map(|k| Complex::new(part(2 * k), part(2 * k + 1))).collect()
    }

    /// The largest difference from the definition, of `T` from F64, in parts of the root of the length.
    fn error<T: TransformedReal + Into<f64>>(length: usize, direction: FftDirection) -> f64 {
        let wide = |z: &Complex<T>| Complex::<f64>::new(z.re.into(), z.im.into());
        let from = numbers::<T>(length);
        let mut line = from.clone();
        LineTransform::new(length).run(&mut line, direction);
        let mut worst = 0.0_f64;
        for (k, found) in line.iter().enumerate() {
            // What additions lose is added at last: a plain sum is less exact than the transform.
            let (mut expected, mut lost) = (Complex::default(), Complex::default());
            for (j, number) in from.iter().enumerate() {
                let root = root::<f64>(j * k % length, length);
                let forward = direction == FftDirection::Forward;
                let term = wide(number) * if forward { root } else { root.conjugate() } - lost;
                let sum = expected + term;
                lost = sum - expected - term;
                expected = sum;
            }
            let difference = wide(found) - expected;
            worst = worst.max(difference.re.hypot(difference.im) / (length as f64).sqrt());
        }
        worst
    }

    #[test]
    fn transforms_of_every_kind_of_length_are_those_of_the_definition() {
        // All small lengths, products of all factors, powers, and primes that go through a convolution.
        let lengths =
            (1..=70).chain([96, 125, 210, 243, 256, 341, 512, 961, 1000, 1009, 1024, 1369]);
        for length in lengths {
            for direction in [FftDirection::Forward, FftDirection::Inverse] {
                let (single, double) =
                    (error::<f32>(length, direction), error::<f64>(length, direction));
                assert!(single < 4e-7 * (1.0 + (length as f64).log2()), "{length}: {single}");
                assert!(double < 8e-16 * (1.0 + (length as f64).log2()), "{length}: {double}");
            }
        }
    }

    #[test]
    fn lines_are_transformed_one_by_one() {
        let transform = LineTransform::<f64>::new(37);
        let mut lines = numbers(3 * 37);
        let mut alone = lines.clone();
        transform.run(&mut lines, FftDirection::Forward);
        for line in alone.chunks_exact_mut(37) {
            transform.run(line, FftDirection::Forward);
        }
        assert_eq!(lines, alone);
    }
}
