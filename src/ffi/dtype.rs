//! Element types of the C API.

use crate::element::Dtype;
use crate::error::{Error, Result};

/// Element type.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_dtype {
    /// Single precision.
    SCONCE_DTYPE_F32 = 0,
    /// Double precision.
    SCONCE_DTYPE_F64 = 1,
    /// Half precision.
    SCONCE_DTYPE_F16 = 2,
    /// Bfloat16.
    SCONCE_DTYPE_BF16 = 3,
    /// Signed byte.
    SCONCE_DTYPE_I8 = 4,
    /// Signed 16-bit integer.
    SCONCE_DTYPE_I16 = 5,
    /// Signed 32-bit integer.
    SCONCE_DTYPE_I32 = 6,
    /// Signed 64-bit integer.
    SCONCE_DTYPE_I64 = 7,
    /// Unsigned byte.
    SCONCE_DTYPE_U8 = 8,
    /// One byte, 0 or 1.
    SCONCE_DTYPE_BOOL = 9,
    /// Two singles, real and imaginary.
    SCONCE_DTYPE_C64 = 10,
    /// Two doubles, real and imaginary.
    SCONCE_DTYPE_C128 = 11,
}

numbers_of!(sconce_dtype as i32: SCONCE_DTYPE_F32, SCONCE_DTYPE_F64, SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16, SCONCE_DTYPE_I8, SCONCE_DTYPE_I16, SCONCE_DTYPE_I32, SCONCE_DTYPE_I64, SCONCE_DTYPE_U8, SCONCE_DTYPE_BOOL, SCONCE_DTYPE_C64, SCONCE_DTYPE_C128);

/// The type that a description's `dtype` names.
#[inline]
pub(in crate::ffi) fn dtype_of(value: i32) -> Result<Dtype> {
    Dtype::try_from(value)
        .map_err(|error| Error::invalid_argument(format!("desc.{}", error.message())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_numbers_of_the_types() {
        for (constant, dtype) in [
            (SCONCE_DTYPE_F32, Dtype::F32),
            (SCONCE_DTYPE_F64, Dtype::F64),
            (SCONCE_DTYPE_F16, Dtype::F16),
            (SCONCE_DTYPE_BF16, Dtype::Bf16),
            (SCONCE_DTYPE_I8, Dtype::I8),
            (SCONCE_DTYPE_I16, Dtype::I16),
            (SCONCE_DTYPE_I32, Dtype::I32),
            (SCONCE_DTYPE_I64, Dtype::I64),
            (SCONCE_DTYPE_U8, Dtype::U8),
            (SCONCE_DTYPE_BOOL, Dtype::Bool),
            (SCONCE_DTYPE_C64, Dtype::C64),
            (SCONCE_DTYPE_C128, Dtype::C128),
        ] {
            assert_eq!(constant, dtype as i32);
        }
    }
}
