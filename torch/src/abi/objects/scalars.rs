//! Numbers as objects: values of the type `Scalar`, which keep whether they are whole, real, complex or truth values.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::{Out, object};
use crate::abi::bits::CBool;
use crate::error::{Error, Result, shim};

/// A number. Its handle is the address of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// The real and the imaginary part.
    Complex(f64, f64),
}

impl Scalar {
    fn to_complex(self) -> (f64, f64) {
        match self {
            Scalar::Int(value) => (value as f64, 0.0),
            Scalar::Float(value) => (value, 0.0),
            Scalar::Bool(value) => (f64::from(u8::from(value)), 0.0),
            Scalar::Complex(real, imaginary) => (real, imaginary),
        }
    }

    fn to_float(self) -> Result<f64> {
        match self.to_complex() {
            (real, 0.0) => Ok(real),
            (real, imaginary) => Err(Error::invalid_argument(format!(
                "value cannot be converted to type double without overflow: {real}{imaginary:+}i"
            ))),
        }
    }

    fn to_int(self) -> Result<i64> {
        let value = match self {
            Scalar::Int(value) => return Ok(value),
            other => other.to_float()?,
        };
        // The ends of the range as doubles; the upper one is beyond it.
        if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) {
            return Err(Error::invalid_argument(format!(
                "value cannot be converted to type int64_t without overflow: {value}"
            )));
        }
        Ok(value as i64)
    }

    fn to_bool(self) -> bool {
        match self {
            Scalar::Int(value) => value != 0,
            other => other.to_complex() != (0.0, 0.0),
        }
    }
}

/// A handle's number.
fn scalar_of(handle: Option<&Scalar>) -> Result<Scalar> {
    object(handle, "the scalar").copied()
}

/// Functions that make a number.
macro_rules! made {
    ($($name:ident($($value:ident: $kind:ty),*) = $scalar:expr;)*) => {
        $(
            /// Makes a number, which the caller deletes.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($value: $kind,)* ret: Out<'_, Box<Scalar>>) -> i32 {
                shim(|| ret.write("ret", Box::new($scalar)))
            }
        )*
    };
}

made! {
    torch_new_scalar_int(value: i64) = Scalar::Int(value);
    torch_new_scalar_double(value: f64) = Scalar::Float(value);
    torch_new_scalar_bool(value: CBool) = Scalar::Bool(value.is_true());
    torch_new_scalar_complex_double(real: f64, imag: f64) = Scalar::Complex(real, imag);
}

/// Functions that return something of a number.
macro_rules! read {
    ($($name:ident -> $kind:ty = $of:expr;)*) => {
        $(
            /// Returns what the function's name says of a number; one that does not fit is an error.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(handle: Option<&Scalar>, ret: Out<'_, $kind>) -> i32 {
                shim(|| {
                    let of: fn(Scalar) -> Result<$kind> = $of;
                    ret.write("ret", of(scalar_of(handle)?)?)
                })
            }
        )*
    };
}

read! {
    torch_scalar_is_int -> bool = |scalar| Ok(matches!(scalar, Scalar::Int(_)));
    torch_scalar_is_double -> bool = |scalar| Ok(matches!(scalar, Scalar::Float(_)));
    torch_scalar_is_bool -> bool = |scalar| Ok(matches!(scalar, Scalar::Bool(_)));
    torch_scalar_is_complex_double -> bool = |scalar| Ok(matches!(scalar, Scalar::Complex(..)));
    torch_scalar_to_int -> i64 = Scalar::to_int;
    torch_scalar_to_double -> f64 = Scalar::to_float;
    torch_scalar_to_bool -> bool = |scalar| Ok(scalar.to_bool());
}

/// Returns both parts of a number.
#[unsafe(no_mangle)]
pub extern "C" fn torch_scalar_to_complex_double(
    handle: Option<&Scalar>,
    ret_real: Out<'_, f64>,
    ret_imag: Out<'_, f64>,
) -> i32 {
    shim(|| {
        ret_imag.check("ret_imag")?;
        let (real, imaginary) = scalar_of(handle)?.to_complex();
        ret_real.write("ret_real", real)?;
        ret_imag.write("ret_imag", imaginary)
    })
}

/// Deletes a number.
#[unsafe(no_mangle)]
pub extern "C" fn torch_delete_scalar(handle: Option<Box<Scalar>>) -> i32 {
    shim(|| object(handle, "handle").map(drop))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::assert_refused;

    fn read<T: Default>(
        handle: &Scalar,
        of: extern "C" fn(Option<&Scalar>, Out<'_, T>) -> i32,
    ) -> T {
        let mut value = T::default();
        assert_eq!(of(Some(handle), Out::from(&mut value)), 0);
        value
    }

    #[test]
    fn numbers_keep_their_kind_and_convert() {
        let mut made = None;
        assert_eq!(torch_new_scalar_double(-2.5, Out::of_box(&mut made)), 0);
        let handle = made.as_deref().unwrap();
        assert!(read(handle, torch_scalar_is_double) && !read(handle, torch_scalar_is_int));
        assert_eq!(read(handle, torch_scalar_to_int), -2);
        assert_eq!(read(handle, torch_scalar_to_double), -2.5);
        assert!(read(handle, torch_scalar_to_bool));
        let (mut real, mut imaginary) = (0.0, 1.0);
        let places = (Out::from(&mut real), Out::from(&mut imaginary));
        assert_eq!(torch_scalar_to_complex_double(Some(handle), places.0, places.1), 0);
        assert_eq!((real, imaginary), (-2.5, 0.0));
        assert_eq!(torch_delete_scalar(made), 0);
        assert_eq!(Scalar::Bool(true).to_int().unwrap(), 1);
        assert_eq!(Scalar::Int(i64::MIN).to_int().unwrap(), i64::MIN);
        assert!(!Scalar::Complex(0.0, 0.0).to_bool() && Scalar::Complex(0.0, 1.0).to_bool());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (mut whole, mut real) = (0_i64, 0.0);
        let complex = Scalar::Complex(1.0, 2.0);
        let refused = torch_scalar_to_double(Some(&complex), Out::from(&mut real));
        assert_refused(refused, &["1+2i"]);
        let mut to_int =
            |scalar: Option<&Scalar>| torch_scalar_to_int(scalar, Out::from(&mut whole));
        assert_refused(to_int(Some(&complex)), &["without overflow"]);
        assert_refused(to_int(Some(&Scalar::Float(9.3e18))), &["int64_t", "93"]);
        assert_refused(to_int(None), &["the scalar is NULL"]);
        assert_refused(torch_delete_scalar(None), &["NULL"]);
    }
}
