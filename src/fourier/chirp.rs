//! Transforms of any length, as convolutions (Bluestein's algorithm): jk is (j² + k² - (j - k)²) / 2.

use super::complex::{Complex, TransformedReal};
use super::mixed_radix::MixedRadix;
use super::roots::root;

/// A forward transform.
pub(super) struct ChirpTransform<T> {
    /// e^(-πi k² / n).
    chirp: Vec<Complex<T>>,
    /// The transform of the conjugate chirp, over the length of the convolution, divided by that length.
    kernel: Vec<Complex<T>>,
    convolution: MixedRadix<T>,
}

impl<T: TransformedReal> ChirpTransform<T> {
    pub(super) fn new(length: usize) -> ChirpTransform<T> {
        let circle = (2 * length).next_power_of_two();
        let convolution = MixedRadix::of_power_of_two(circle);
        let squared = |k: usize| (k as u128 * k as u128 % (2 * length as u128)) as usize;
        let chirp: Vec<Complex<T>> = (0..length).map(|k| root(squared(k), 2 * length)).collect();
        let mut kernel = vec![Complex::default(); circle];
        for (k, number) in chirp.iter().enumerate() {
            let number = number.conjugate().scale(T::of(1.0 / circle as f64));
            kernel[k] = number;
            kernel[(circle - k) % circle] = number;
        }
        convolution.run(&mut kernel, &mut vec![Complex::default(); circle]);
        ChirpTransform { chirp, kernel, convolution }
    }

    /// Numbers that `run` needs for itself.
    pub(super) fn scratch(&self) -> usize {
        2 * self.kernel.len()
    }

    /// Transforms a line.
    pub(super) fn run(&self, line: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        let (circle, other) = scratch.split_at_mut(self.kernel.len());
        circle.fill(Complex::default());
        for ((into, from), chirp) in circle.iter_mut().zip(&*line).zip(&self.chirp) {
            *into = *from * *chirp;
        }
        self.convolution.run(circle, other);
        for (number, kernel) in circle.iter_mut().zip(&self.kernel) {
            *number = (*number * *kernel).exchanged();
        }
        self.convolution.run(circle, other);
        for ((into, from), chirp) in line.iter_mut().zip(circle).zip(&self.chirp) {
            *into = from.exchanged() * *chirp;
        }
    }
}
