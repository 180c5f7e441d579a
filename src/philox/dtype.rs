//! Element types, under the numbers of the C API.

use super::half::{bf16_bits, bf16_value, f16_bits, f16_value};
use crate::error::{Error, Result};

/// The type of an element in device memory.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// IEEE single precision.
    F32 = 0,
    /// IEEE double precision.
    F64 = 1,
    /// IEEE half precision.
    F16 = 2,
    /// The upper half of a single.
    Bf16 = 3,
    /// Signed byte.
    I8 = 4,
    /// Signed 16-bit integer.
    I16 = 5,
    /// Signed 32-bit integer.
    I32 = 6,
    /// Signed 64-bit integer.
    I64 = 7,
    /// Unsigned byte.
    U8 = 8,
    /// One byte, 0 or 1.
    Bool = 9,
    /// Two singles.
    C64 = 10,
    /// Two doubles.
    C128 = 11,
}

impl Dtype {
    /// Every type, in the order of its number.
    pub const ALL: [Dtype; 12] = [
        Dtype::F32,
        Dtype::F64,
        Dtype::F16,
        Dtype::Bf16,
        Dtype::I8,
        Dtype::I16,
        Dtype::I32,
        Dtype::I64,
        Dtype::U8,
        Dtype::Bool,
        Dtype::C64,
        Dtype::C128,
    ];

    /// As kernels spell it.
    pub const fn suffix(self) -> &'static str {
        match self {
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::I8 => "i8",
            Dtype::I16 => "i16",
            Dtype::I32 => "i32",
            Dtype::I64 => "i64",
            Dtype::U8 => "u8",
            Dtype::Bool => "bool",
            Dtype::C64 => "c64",
            Dtype::C128 => "c128",
        }
    }

    /// As the C API spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "SCONCE_DTYPE_F32",
            Dtype::F64 => "SCONCE_DTYPE_F64",
            Dtype::F16 => "SCONCE_DTYPE_F16",
            Dtype::Bf16 => "SCONCE_DTYPE_BF16",
            Dtype::I8 => "SCONCE_DTYPE_I8",
            Dtype::I16 => "SCONCE_DTYPE_I16",
            Dtype::I32 => "SCONCE_DTYPE_I32",
            Dtype::I64 => "SCONCE_DTYPE_I64",
            Dtype::U8 => "SCONCE_DTYPE_U8",
            Dtype::Bool => "SCONCE_DTYPE_BOOL",
            Dtype::C64 => "SCONCE_DTYPE_C64",
            Dtype::C128 => "SCONCE_DTYPE_C128",
        }
    }

    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Dtype::I8 | Dtype::U8 | Dtype::Bool => 1,
            Dtype::F16 | Dtype::Bf16 | Dtype::I16 => 2,
            Dtype::F32 | Dtype::I32 => 4,
            Dtype::F64 | Dtype::I64 | Dtype::C64 => 8,
            Dtype::C128 => 16,
        }
    }

    /// Whether it is a real floating-point type.
    pub const fn is_floating(self) -> bool {
        matches!(self, Dtype::F32 | Dtype::F64 | Dtype::F16 | Dtype::Bf16)
    }

    /// A complex type as its two real parts, any other type as itself; with how many there are.
    pub const fn real(self) -> (Dtype, u64) {
        match self {
            Dtype::C64 => (Dtype::F32, 2),
            Dtype::C128 => (Dtype::F64, 2),
            real => (real, 1),
        }
    }

    /// Bits of the significand of a floating-point type, the hidden one included.
    pub const fn significand_bits(self) -> u32 {
        match self {
            Dtype::F64 | Dtype::C128 => 53,
            Dtype::F16 => 11,
            Dtype::Bf16 => 8,
            _ => 24,
        }
    }

    /// The largest finite value of a floating-point type.
    pub const fn largest_float(self) -> f64 {
        match self {
            Dtype::F64 | Dtype::C128 => f64::MAX,
            Dtype::F16 => 65504.0,
            // 2^128 - 2^120: eight significant bits.
            Dtype::Bf16 => 3.389_531_389_251_535_5e38,
            _ => f32::MAX as f64,
        }
    }

    /// What a floating-point type makes of a whole number; the 16-bit ones by way of a single.
    pub fn nearest(self, value: i64) -> f64 {
        match self {
            Dtype::F64 | Dtype::C128 => value as f64,
            Dtype::F16 => f64::from(f16_value(f16_bits(value as f32))),
            Dtype::Bf16 => f64::from(bf16_value(bf16_bits(value as f32))),
            _ => f64::from(value as f32),
        }
    }

    /// The smallest and largest value of an integer type; for others the whole range.
    pub const fn integer_range(self) -> (i64, i64) {
        match self {
            Dtype::I8 => (i8::MIN as i64, i8::MAX as i64),
            Dtype::I16 => (i16::MIN as i64, i16::MAX as i64),
            Dtype::I32 => (i32::MIN as i64, i32::MAX as i64),
            Dtype::U8 => (0, u8::MAX as i64),
            Dtype::Bool => (0, 1),
            _ => (i64::MIN, i64::MAX),
        }
    }
}

impl TryFrom<i32> for Dtype {
    type Error = Error;

    #[inline]
    fn try_from(value: i32) -> Result<Self> {
        usize::try_from(value).ok().and_then(|index| Dtype::ALL.get(index).copied()).ok_or_else(
            || {
                Error::invalid_argument(format!(
                    "dtype is {value}; it must be one of SCONCE_DTYPE_… (0 to {})",
                    Dtype::ALL.len() - 1
                ))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_list() {
        for (index, dtype) in Dtype::ALL.into_iter().enumerate() {
            assert_eq!(dtype as usize, index);
            assert_eq!(Dtype::try_from(index as i32).unwrap(), dtype);
        }
        assert!(Dtype::try_from(-1).is_err() && Dtype::try_from(12).is_err());
    }

    #[test]
    fn bfloat16_reaches_as_far_as_its_largest_bits() {
        assert_eq!(Dtype::Bf16.largest_float(), f64::from(f32::from_bits(0x7f7f_0000)));
    }
}
