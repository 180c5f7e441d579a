//! The numbers that are calculated with.

use std::ops::{Add, Mul, Neg, Sub};

/// A real number: F32 or F64.
pub(crate) trait TransformedReal:
    Copy
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// The nearest number.
    fn of(value: f64) -> Self;
}

impl TransformedReal for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
}

impl TransformedReal for f64 {
    fn of(value: f64) -> f64 {
        value
    }
}

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Complex<T> {
    pub(crate) re: T,
    pub(crate) im: T,
}

impl<T: TransformedReal> Complex<T> {
    pub(super) fn new(re: T, im: T) -> Complex<T> {
        Complex { re, im }
    }

    pub(super) fn conjugate(self) -> Complex<T> {
        Complex::new(self.re, -self.im)
    }

    /// Times a real number.
    pub(super) fn scale(self, factor: T) -> Complex<T> {
        Complex::new(self.re * factor, self.im * factor)
    }

    /// Times the imaginary unit.
    pub(super) fn times_i(self) -> Complex<T> {
        Complex::new(-self.im, self.re)
    }

    /// Both parts exchanged: a forward transform between two of these is the inverse one.
    pub(super) fn exchanged(self) -> Complex<T> {
        Complex::new(self.im, self.re)
    }
}

impl<T: TransformedReal> Add for Complex<T> {
    type Output = Complex<T>;

    fn add(self, other: Complex<T>) -> Complex<T> {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl<T: TransformedReal> Sub for Complex<T> {
    type Output = Complex<T>;

    fn sub(self, other: Complex<T>) -> Complex<T> {
        Complex::new(self.re - other.re, self.im - other.im)
    }
}

impl<T: TransformedReal> Mul for Complex<T> {
    type Output = Complex<T>;

    fn mul(self, other: Complex<T>) -> Complex<T> {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}
