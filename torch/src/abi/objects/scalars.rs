//! Numbers as objects: values of the type `Scalar`, which keep whether they are whole, real, complex or truth values.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::errors::not_null;
use crate::error::{Error, Result, shim, write_boxed, write_out};

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
///
/// # Safety
/// The handle is NULL or alive.
unsafe fn scalar_of(handle: *mut Scalar) -> Result<Scalar> {
    // SAFETY: the caller's promise.
    unsafe { handle.as_ref() }.copied().ok_or_else(|| Error::invalid_argument("the scalar is NULL"))
}

/// Functions that make a number.
macro_rules! made {
    ($($name:ident($($value:ident: $kind:ty),*) = $scalar:expr;)*) => {
        $(
            /// Makes a number, which the caller deletes.
            ///
            /// # Safety
            /// The result's place is NULL or valid for a write.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($value: $kind,)* ret: *mut *mut Scalar) -> i32 {
                shim(|| {
                    // SAFETY: the caller's promise.
                    unsafe { write_boxed(ret, "ret", Box::new($scalar)) }
                })
            }
        )*
    };
}

made! {
    torch_new_scalar_int(value: i64) = Scalar::Int(value);
    torch_new_scalar_double(value: f64) = Scalar::Float(value);
    torch_new_scalar_bool(value: bool) = Scalar::Bool(value);
    torch_new_scalar_complex_double(real: f64, imag: f64) = Scalar::Complex(real, imag);
}

/// Functions that return something of a number.
macro_rules! read {
    ($($name:ident -> $kind:ty = $of:expr;)*) => {
        $(
            /// Returns what the function's name says of a number; one that does not fit is an error.
            ///
            /// # Safety
            /// The handle is NULL or alive; the result's place is NULL or valid for a write.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(handle: *mut Scalar, ret: *mut $kind) -> i32 {
                shim(|| {
                    let of: fn(Scalar) -> Result<$kind> = $of;
                    // SAFETY: the caller's promise.
                    let value = of(unsafe { scalar_of(handle) }?)?;
                    // SAFETY: as above.
                    unsafe { write_out(ret, "ret", value) }
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
///
/// # Safety
/// The handle is NULL or alive; the results' places are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_scalar_to_complex_double(
    handle: *mut Scalar,
    ret_real: *mut f64,
    ret_imag: *mut f64,
) -> i32 {
    shim(|| {
        not_null(ret_imag, "ret_imag")?;
        // SAFETY: the caller's promise.
        let (real, imaginary) = unsafe { scalar_of(handle) }?.to_complex();
        // SAFETY: as above.
        unsafe { write_out(ret_real, "ret_real", real) }?;
        // SAFETY: as above.
        unsafe { write_out(ret_imag, "ret_imag", imaginary) }
    })
}

/// Deletes a number.
///
/// # Safety
/// The handle is NULL or alive, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_delete_scalar(handle: *mut Scalar) -> i32 {
    shim(|| {
        not_null(handle, "handle")?;
        // SAFETY: the caller's promise: a handle of a function that makes one.
        drop(unsafe { Box::from_raw(handle) });
        Ok(())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::assert_refused;

    fn read<T: Default>(
        handle: *mut Scalar,
        of: unsafe extern "C" fn(*mut Scalar, *mut T) -> i32,
    ) -> T {
        let mut value = T::default();
        // SAFETY: the handle is alive, the place valid for a write.
        assert_eq!(unsafe { of(handle, &mut value) }, 0);
        value
    }

    #[test]
    fn numbers_keep_their_kind_and_convert() {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the place is valid for a write.
        assert_eq!(unsafe { torch_new_scalar_double(-2.5, &mut handle) }, 0);
        assert!(read(handle, torch_scalar_is_double) && !read(handle, torch_scalar_is_int));
        assert_eq!(read(handle, torch_scalar_to_int), -2);
        assert_eq!(read(handle, torch_scalar_to_double), -2.5);
        assert!(read(handle, torch_scalar_to_bool));
        let (mut real, mut imaginary) = (0.0, 1.0);
        // SAFETY: as above.
        assert_eq!(unsafe { torch_scalar_to_complex_double(handle, &mut real, &mut imaginary) }, 0);
        assert_eq!((real, imaginary), (-2.5, 0.0));
        // SAFETY: the handle is alive, and not used afterwards.
        assert_eq!(unsafe { torch_delete_scalar(handle) }, 0);
        assert_eq!(Scalar::Bool(true).to_int().unwrap(), 1);
        assert_eq!(Scalar::Int(i64::MIN).to_int().unwrap(), i64::MIN);
        assert!(!Scalar::Complex(0.0, 0.0).to_bool() && Scalar::Complex(0.0, 1.0).to_bool());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (mut whole, mut real) = (0_i64, 0.0);
        let complex = Box::into_raw(Box::new(Scalar::Complex(1.0, 2.0)));
        // SAFETY: the handle is alive, the places are valid for writes.
        assert_refused(unsafe { torch_scalar_to_double(complex, &mut real) }, &["1+2i"]);
        // SAFETY: as above.
        assert_refused(unsafe { torch_scalar_to_int(complex, &mut whole) }, &["without overflow"]);
        // SAFETY: as above; the handle is not used afterwards.
        assert_eq!(unsafe { torch_delete_scalar(complex) }, 0);
        let far = Box::into_raw(Box::new(Scalar::Float(9.3e18)));
        // SAFETY: as above.
        assert_refused(unsafe { torch_scalar_to_int(far, &mut whole) }, &["int64_t", "93"]);
        // SAFETY: as above.
        assert_eq!(unsafe { torch_delete_scalar(far) }, 0);
        let null = std::ptr::null_mut();
        // SAFETY: NULL is refused.
        assert_refused(unsafe { torch_scalar_to_int(null, &mut whole) }, &["the scalar is NULL"]);
        // SAFETY: as above.
        assert_refused(unsafe { torch_delete_scalar(null) }, &["NULL"]);
    }
}
