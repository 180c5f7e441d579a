//! Element types of the C API.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};

/// Where a function takes an element type: torch's default for the call, or the tensor's own.
pub const SCONCE_DTYPE_DEFAULT: i32 = -1;

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
    /// Unsigned 16-bit integer.
    SCONCE_DTYPE_U16 = 12,
    /// Unsigned 32-bit integer.
    SCONCE_DTYPE_U32 = 13,
    /// Unsigned 64-bit integer.
    SCONCE_DTYPE_U64 = 14,
    /// Two halves, real and imaginary.
    SCONCE_DTYPE_C32 = 15,
    /// 8-bit float, 4 exponent and 3 fraction bits, without infinities.
    SCONCE_DTYPE_F8_E4M3FN = 16,
    /// 8-bit float, 4 exponent and 3 fraction bits, without infinities and negative zero.
    SCONCE_DTYPE_F8_E4M3FNUZ = 17,
    /// 8-bit float, 5 exponent and 2 fraction bits.
    SCONCE_DTYPE_F8_E5M2 = 18,
    /// 8-bit float, 5 exponent and 2 fraction bits, without infinities and negative zero.
    SCONCE_DTYPE_F8_E5M2FNUZ = 19,
    /// 8-bit power of two without a sign: the scale of a block of narrow floats.
    SCONCE_DTYPE_F8_E8M0FNU = 20,
    /// A byte that holds two 4-bit floats of 2 exponent bits and 1 fraction bit.
    SCONCE_DTYPE_F4_E2M1FN_X2 = 21,
}

numbers_of!(sconce_dtype as i32: SCONCE_DTYPE_F32, SCONCE_DTYPE_F64, SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16, SCONCE_DTYPE_I8, SCONCE_DTYPE_I16, SCONCE_DTYPE_I32, SCONCE_DTYPE_I64, SCONCE_DTYPE_U8, SCONCE_DTYPE_BOOL, SCONCE_DTYPE_C64, SCONCE_DTYPE_C128, SCONCE_DTYPE_U16, SCONCE_DTYPE_U32, SCONCE_DTYPE_U64, SCONCE_DTYPE_C32, SCONCE_DTYPE_F8_E4M3FN, SCONCE_DTYPE_F8_E4M3FNUZ, SCONCE_DTYPE_F8_E5M2, SCONCE_DTYPE_F8_E5M2FNUZ, SCONCE_DTYPE_F8_E8M0FNU, SCONCE_DTYPE_F4_E2M1FN_X2);

/// The type that a description's `dtype` names.
#[inline]
pub(crate) fn dtype_of(value: i32) -> Result<Dtype> {
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
            (SCONCE_DTYPE_U16, Dtype::U16),
            (SCONCE_DTYPE_U32, Dtype::U32),
            (SCONCE_DTYPE_U64, Dtype::U64),
            (SCONCE_DTYPE_C32, Dtype::C32),
            (SCONCE_DTYPE_F8_E4M3FN, Dtype::F8E4M3Fn),
            (SCONCE_DTYPE_F8_E4M3FNUZ, Dtype::F8E4M3Fnuz),
            (SCONCE_DTYPE_F8_E5M2, Dtype::F8E5M2),
            (SCONCE_DTYPE_F8_E5M2FNUZ, Dtype::F8E5M2Fnuz),
            (SCONCE_DTYPE_F8_E8M0FNU, Dtype::F8E8M0Fnu),
            (SCONCE_DTYPE_F4_E2M1FN_X2, Dtype::F4E2M1FnX2),
        ] {
            assert_eq!(constant, dtype as i32);
        }
    }
}
