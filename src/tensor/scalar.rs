//! Numbers of any kind.

use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::Scalar;

use crate::misaligned;

/// What a `sconce_scalar` is.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_scalar_kind {
    /// An integer, in `integer`.
    SCONCE_SCALAR_INTEGER = 0,
    /// A real number, in `real`.
    SCONCE_SCALAR_REAL = 1,
    /// A truth value: whether `integer` is not 0.
    SCONCE_SCALAR_BOOL = 2,
    /// A complex number, in `real` and `imaginary`.
    SCONCE_SCALAR_COMPLEX = 3,
}

numbers_of!(sconce_scalar_kind as i32: SCONCE_SCALAR_INTEGER, SCONCE_SCALAR_REAL, SCONCE_SCALAR_BOOL, SCONCE_SCALAR_COMPLEX);

/// A number. Its kind affects the type of results, as the kind of a Python number does in torch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct sconce_scalar {
    /// `SCONCE_SCALAR_…`.
    pub kind: i32,
    /// 0.
    pub reserved: i32,
    /// The value of an integer or a truth value.
    pub integer: i64,
    /// The value of a real number, or the real part of a complex number.
    pub real: f64,
    /// The imaginary part of a complex number.
    pub imaginary: f64,
}

impl sconce_scalar {
    /// The number; `name` is the argument's.
    #[inline]
    pub(super) fn value(&self, name: &str) -> Result<Scalar> {
        match self.kind {
            SCONCE_SCALAR_INTEGER => Ok(Scalar::Int(self.integer)),
            SCONCE_SCALAR_REAL => Ok(Scalar::Float(self.real)),
            SCONCE_SCALAR_BOOL => Ok(Scalar::Bool(self.integer != 0)),
            SCONCE_SCALAR_COMPLEX => Ok(Scalar::Complex(self.real, self.imaginary)),
            kind => Err(no_kind(kind, name)),
        }
    }
}

#[cold]
#[inline(never)]
fn no_kind(kind: i32, name: &str) -> Error {
    Error::invalid_argument(format!(
        "{name}.kind is {kind}; it must be one of SCONCE_SCALAR_… (0 to 3)"
    ))
}

impl From<Scalar> for sconce_scalar {
    fn from(value: Scalar) -> sconce_scalar {
        let zero = sconce_scalar::default();
        match value {
            Scalar::Int(integer) => sconce_scalar { kind: SCONCE_SCALAR_INTEGER, integer, ..zero },
            Scalar::Float(real) => sconce_scalar { kind: SCONCE_SCALAR_REAL, real, ..zero },
            Scalar::Bool(value) => {
                sconce_scalar { kind: SCONCE_SCALAR_BOOL, integer: i64::from(value), ..zero }
            }
            Scalar::Complex(real, imaginary) => {
                sconce_scalar { kind: SCONCE_SCALAR_COMPLEX, real, imaginary, ..zero }
            }
        }
    }
}

/// Reads a number; `None` for NULL.
///
/// # Safety
/// If `scalar` is neither NULL nor misaligned, it points to a readable number.
#[inline]
pub(super) unsafe fn optional_scalar(
    scalar: *const sconce_scalar,
    name: &str,
) -> Result<Option<Scalar>> {
    if scalar.is_null() {
        return Ok(None);
    }
    if !scalar.is_aligned() {
        return Err(misaligned(name));
    }
    // SAFETY: neither NULL nor misaligned, so it points to a number, as this function demands; any bytes are one.
    unsafe { scalar.read() }.value(name).map(Some)
}
