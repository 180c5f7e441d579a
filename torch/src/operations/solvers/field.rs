//! Real and complex numbers with the same arithmetic, and the choice by a tensor's type.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Numbers that equations have: F32, F64, and complex ones of these.
pub trait Field:
    Copy
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The smallest number whose reciprocal does not overflow.
    const LEAST_DIVISOR: f64;
    /// With the imaginary part negated.
    fn conjugate(self) -> Self;
    /// The real part, exactly.
    fn real(self) -> f64;
    /// The imaginary part, exactly.
    fn imaginary(self) -> f64;
    /// A number of two parts, rounded; a real type has the first one alone.
    fn of(real: f64, imaginary: f64) -> Self;

    /// The sum of the parts' absolute values, by which LAPACK chooses pivots, rounded as LAPACK does.
    fn size_of_parts(self) -> f64 {
        Self::of(self.real().abs() + self.imaginary().abs(), 0.0).real()
    }
}

macro_rules! reals {
    ($($type:ty),*) => {
        $(
            impl Field for $type {
                const ZERO: $type = 0.0;
                const ONE: $type = 1.0;
                const LEAST_DIVISOR: f64 = <$type>::MIN_POSITIVE as f64;
                fn conjugate(self) -> $type { self }
                fn real(self) -> f64 { f64::from(self) }
                fn imaginary(self) -> f64 { 0.0 }
                fn of(real: f64, _imaginary: f64) -> $type { real as $type }
            }

            impl Field for Complex<$type> {
                const ZERO: Self = Complex { re: 0.0, im: 0.0 };
                const ONE: Self = Complex { re: 1.0, im: 0.0 };
                const LEAST_DIVISOR: f64 = <$type>::MIN_POSITIVE as f64;
                fn conjugate(self) -> Self { Complex { re: self.re, im: -self.im } }
                fn real(self) -> f64 { f64::from(self.re) }
                fn imaginary(self) -> f64 { f64::from(self.im) }
                fn of(real: f64, imaginary: f64) -> Self {
                    Complex { re: real as $type, im: imaginary as $type }
                }
            }

            // Scaled by the larger part of the divisor, so that nothing overflows on the way (Smith).
            impl Div for Complex<$type> {
                type Output = Self;
                fn div(self, by: Self) -> Self {
                    if by.re.abs() >= by.im.abs() {
                        let ratio = by.im / by.re;
                        let scale = by.re + by.im * ratio;
                        Complex {
                            re: (self.re + self.im * ratio) / scale,
                            im: (self.im - self.re * ratio) / scale,
                        }
                    } else {
                        let ratio = by.re / by.im;
                        let scale = by.re * ratio + by.im;
                        Complex {
                            re: (self.re * ratio + self.im) / scale,
                            im: (self.im * ratio - self.re) / scale,
                        }
                    }
                }
            }
        )*
    };
}

reals!(f32, f64);

/// A complex number as it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Complex<R> {
    /// The real part.
    pub re: R,
    /// The imaginary part.
    pub im: R,
}

impl<R: Add<Output = R>> Add for Complex<R> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<R: Sub<Output = R>> Sub for Complex<R> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<R: Copy + Add<Output = R> + Sub<Output = R> + Mul<Output = R>> Mul for Complex<R> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

impl<R: Neg<Output = R>> Neg for Complex<R> {
    type Output = Self;
    fn neg(self) -> Self {
        Complex { re: -self.re, im: -self.im }
    }
}

/// Evaluates an expression with `$T` as the type of the numbers: F32, F64, C64 or C128. Other types are an error.
macro_rules! with_field {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::operations::solvers::field::Complex;
        use $crate::sconce::api;
        match $dtype {
            api::SCONCE_DTYPE_F32 => {
                type $T = f32;
                $body
            }
            api::SCONCE_DTYPE_F64 => {
                type $T = f64;
                $body
            }
            api::SCONCE_DTYPE_C64 => {
                type $T = Complex<f32>;
                $body
            }
            api::SCONCE_DTYPE_C128 => {
                type $T = Complex<f64>;
                $body
            }
            dtype => Err($crate::operations::tensors::refused_type(dtype)),
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_of_complex_numbers_undo_products_without_overflow() {
        for (a, b) in
            [((1.0, 2.0), (3.0, -4.0)), ((-0.5, 0.25), (0.0, 2.0)), ((1.0, 0.0), (1e-300, 1e-300))]
        {
            let (a, b) = (Complex::<f64>::of(a.0, a.1), Complex::<f64>::of(b.0, b.1));
            let back = a / b * b;
            assert!((back - a).size_of_parts() < 1e-15, "{back:?} instead of {a:?}");
        }
        let large = Complex::<f32>::of(1e30, 1e30);
        assert_eq!(large / large, Complex::ONE);
        assert_eq!(Complex::<f64>::of(1.0, 2.0).conjugate(), Complex::of(1.0, -2.0));
        assert_eq!(-Complex::<f64>::of(1.0, 2.0), Complex::of(-1.0, -2.0));
    }
}
