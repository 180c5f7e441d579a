//! What a type can represent.

use super::conversion::{bf16_bits, bf16_value, f16_bits, f16_value};
use super::dtype::Dtype;

impl Dtype {
    /// Bits of the significand of a floating-point type, the hidden one included; of a complex
    /// type, those of its parts. 0 for integers.
    pub const fn significand_bits(self) -> u32 {
        match self.real().0 {
            Dtype::F64 => 53,
            Dtype::F32 => 24,
            Dtype::F16 => 11,
            Dtype::Bf16 => 8,
            Dtype::F8E4M3Fn | Dtype::F8E4M3Fnuz => 4,
            Dtype::F8E5M2 | Dtype::F8E5M2Fnuz => 3,
            Dtype::F4E2M1FnX2 => 2,
            Dtype::F8E8M0Fnu => 1,
            _ => 0,
        }
    }

    /// The largest finite value of a floating-point type; of a complex type, that of its parts. 0
    /// for integers.
    pub const fn largest_float(self) -> f64 {
        match self.real().0 {
            Dtype::F64 => f64::MAX,
            Dtype::F32 => f32::MAX as f64,
            Dtype::F16 => 65504.0,
            // 2^128 - 2^120: eight significant bits.
            Dtype::Bf16 => 3.389_531_389_251_535_5e38,
            Dtype::F8E4M3Fn => 448.0,
            Dtype::F8E4M3Fnuz => 240.0,
            Dtype::F8E5M2 | Dtype::F8E5M2Fnuz => 57344.0,
            // 2^127.
            Dtype::F8E8M0Fnu => 1.701_411_834_604_692_3e38,
            Dtype::F4E2M1FnX2 => 6.0,
            _ => 0.0,
        }
    }

    /// The smallest and the largest value of an integer type or `Bool`; `None` for others.
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        match self {
            Dtype::I8 => Some((i8::MIN as i128, i8::MAX as i128)),
            Dtype::I16 => Some((i16::MIN as i128, i16::MAX as i128)),
            Dtype::I32 => Some((i32::MIN as i128, i32::MAX as i128)),
            Dtype::I64 => Some((i64::MIN as i128, i64::MAX as i128)),
            Dtype::U8 => Some((0, u8::MAX as i128)),
            Dtype::U16 => Some((0, u16::MAX as i128)),
            Dtype::U32 => Some((0, u32::MAX as i128)),
            Dtype::U64 => Some((0, u64::MAX as i128)),
            Dtype::Bool => Some((0, 1)),
            _ => None,
        }
    }

    /// A whole number rounded to F64, F32, F16 or BF16, the last two by way of F32. Other types are
    /// treated as F32.
    pub fn nearest(self, value: i64) -> f64 {
        match self.real().0 {
            Dtype::F64 => value as f64,
            Dtype::F16 => f64::from(f16_value(f16_bits(value as f32))),
            Dtype::Bf16 => f64::from(bf16_value(bf16_bits(value as f32))),
            _ => f64::from(value as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_has_the_bits_of_the_type() {
        assert_eq!(Dtype::Bf16.largest_float(), f64::from(f32::from_bits(0x7f7f_0000)));
        assert_eq!(Dtype::F16.largest_float(), f64::from(f16_value(0x7bff)));
        assert_eq!(Dtype::F8E8M0Fnu.largest_float(), 2.0_f64.powi(127));
        for dtype in Dtype::ALL {
            let (largest, digits) = (dtype.largest_float(), dtype.significand_bits());
            let is_real = dtype.real().0.is_floating();
            assert_eq!((largest > 0.0, digits > 0), (is_real, is_real), "{dtype:?}");
            // E4M3FN uses its largest significand for NaN.
            if is_real && dtype != Dtype::F8E4M3Fn {
                let significand = 2.0 - 2.0_f64.powi(1 - digits as i32);
                assert_eq!((largest / significand).log2().fract(), 0.0, "{dtype:?}");
            }
        }
        assert_eq!(Dtype::F8E4M3Fn.largest_float(), 1.75 * 256.0);
    }

    #[test]
    fn integers_have_as_many_values_as_bits_give() {
        for dtype in Dtype::ALL {
            let values = dtype.integer_range().map(|(least, greatest)| greatest - least + 1);
            let wanted = match dtype.kind() {
                super::super::DtypeKind::Bool => Some(2),
                super::super::DtypeKind::SignedInteger
                | super::super::DtypeKind::UnsignedInteger => Some(1_i128 << (8 * dtype.bytes())),
                _ => None,
            };
            assert_eq!(values, wanted, "{dtype:?}");
        }
    }
}
