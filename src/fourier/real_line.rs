//! Transforms of one dimension between real numbers and the first half of their frequencies.
//!
//! A line of an even length is transformed as one of half as many complex numbers, whose parts are its even and its
//! odd places.

use super::complex::{Complex, TransformedReal};
use super::kind::FftDirection;
use super::line::LineTransform;
use super::roots::root;

/// A transform of lines of real numbers, forward or back.
pub(super) struct RealLineTransform<T> {
    length: usize,
    /// Of half the length if that is even, else of the length.
    line: LineTransform<T>,
    /// e^(-2πi k / length) for the frequencies of an even length.
    roots: Vec<Complex<T>>,
}

impl<T: TransformedReal> RealLineTransform<T> {
    /// Of a length of at least 1.
    pub(super) fn new(length: usize) -> RealLineTransform<T> {
        if length.is_multiple_of(2) {
            let roots = (0..=length / 2).map(|k| root(k, length)).collect();
            RealLineTransform { length, line: LineTransform::new(length / 2), roots }
        } else {
            RealLineTransform { length, line: LineTransform::new(length), roots: Vec::new() }
        }
    }

    fn halves(&self) -> bool {
        !self.roots.is_empty()
    }

    /// The first `length / 2 + 1` frequencies of each line.
    pub(super) fn forward(&self, reals: &[T], frequencies: &mut [Complex<T>]) {
        let lines = frequencies.chunks_exact_mut(self.length / 2 + 1);
        for (into, from) in lines.zip(reals.chunks_exact(self.length)) {
            if self.halves() {
                self.forward_even(from, into);
            } else {
                let mut numbers: Vec<Complex<T>> =
                    from.iter().map(|re| Complex::new(*re, T::default())).collect();
                self.line.run(&mut numbers, FftDirection::Forward);
                into.copy_from_slice(&numbers[..into.len()]);
            }
        }
    }

    fn forward_even(&self, from: &[T], into: &mut [Complex<T>]) {
        let half = self.length / 2;
        for (number, pair) in into.iter_mut().zip(from.chunks_exact(2)) {
            *number = Complex::new(pair[0], pair[1]);
        }
        self.line.run(&mut into[..half], FftDirection::Forward);
        into[half] = into[0];
        for low in 0..=half / 2 {
            let high = half - low;
            let (a, b) = (into[low], into[high]);
            into[low] = self.of_parts(a, b, low);
            into[high] = self.of_parts(b, a, high);
        }
    }

    /// A frequency, from that of the complex numbers and the one at the mirrored place.
    fn of_parts(&self, own: Complex<T>, mirrored: Complex<T>, k: usize) -> Complex<T> {
        let mirrored = mirrored.conjugate();
        let (even, odd) = (own + mirrored, (own - mirrored) * self.roots[k]);
        (even - odd.times_i()).scale(T::of(0.5))
    }

    /// The real numbers, times the length, of which each line of `frequencies` has the first half. Frequencies that are
    /// real for real numbers are taken as real. Overwrites the frequencies.
    pub(super) fn inverse(&self, frequencies: &mut [Complex<T>], reals: &mut [T]) {
        let lines = frequencies.chunks_exact_mut(self.length / 2 + 1);
        for (from, into) in lines.zip(reals.chunks_exact_mut(self.length)) {
            from[0].im = T::default();
            if self.halves() {
                self.inverse_even(from, into);
            } else {
                self.inverse_odd(from, into);
            }
        }
    }

    fn inverse_even(&self, from: &mut [Complex<T>], into: &mut [T]) {
        let half = self.length / 2;
        from[half].im = T::default();
        for low in 0..=half / 2 {
            let high = half - low;
            let (a, b) = (from[low], from[high]);
            from[low] = self.parts_of(a, b, low);
            from[high] = self.parts_of(b, a, high);
        }
        self.line.run(&mut from[..half], FftDirection::Inverse);
        for (pair, number) in into.chunks_exact_mut(2).zip(from) {
            (pair[0], pair[1]) = (number.re, number.im);
        }
    }

    /// The frequency of the complex numbers, twice.
    fn parts_of(&self, own: Complex<T>, mirrored: Complex<T>, k: usize) -> Complex<T> {
        let mirrored = mirrored.conjugate();
        let (even, odd) = (own + mirrored, (own - mirrored) * self.roots[k].conjugate());
        even + odd.times_i()
    }

    fn inverse_odd(&self, from: &[Complex<T>], into: &mut [T]) {
        let mut numbers = from.to_vec();
        numbers.extend(from[1..].iter().rev().map(|number| number.conjugate()));
        self.line.run(&mut numbers, FftDirection::Inverse);
        for (real, number) in into.iter_mut().zip(numbers) {
            *real = number.re;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_those_of_the_complex_transform_and_lead_back() {
        for length in (1..40).chain([64, 74, 97, 100, 1009, 1024]) {
            let reals: Vec<f64> =
                (0..2 * length).map(|k| ((k * 37 + 5) % 101) as f64 - 50.0).collect();
            let half = length / 2 + 1;
            let transform = RealLineTransform::new(length);
            let mut found = vec![Complex::default(); 2 * half];
            transform.forward(&reals, &mut found);
            for (reals, found) in reals.chunks(length).zip(found.chunks(half)) {
                let mut whole: Vec<_> = reals.iter().map(|re| Complex::new(*re, 0.0)).collect();
                LineTransform::new(length).run(&mut whole, FftDirection::Forward);
                for (found, expected) in found.iter().zip(whole) {
                    let difference = *found - expected;
                    assert!(difference.re.hypot(difference.im) < 1e-10, "{length}");
                }
            }
            // Parts that no real line has are ignored.
            found[0].im = 7.0;
            if length.is_multiple_of(2) {
                found[half - 1].im = 7.0;
            }
            let mut back = vec![0.0; 2 * length];
            transform.inverse(&mut found, &mut back);
            for (back, real) in back.iter().zip(&reals) {
                assert!(
                    (back / length as f64 - real).abs() < 1e-12 * length as f64 + 1e-12,
                    "{length}"
                );
            }
        }
    }
}
