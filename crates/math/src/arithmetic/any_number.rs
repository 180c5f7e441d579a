//! A number of any type, and how CUDA converts it to another type.

use sconce_base::element::round_narrow;
use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};

/// A number that a caller gives: torch's scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer. Of one that is to become a `U64`, the bits.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
}

/// The value of an element, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnyNumber {
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
    ComplexSingle([f32; 2]),
    ComplexDouble([f64; 2]),
}

use AnyNumber::{ComplexDouble, ComplexSingle, Double, Signed, Single, Unsigned};

impl From<Scalar> for AnyNumber {
    fn from(scalar: Scalar) -> AnyNumber {
        match scalar {
            Scalar::Bool(value) => Signed(i64::from(value)),
            Scalar::Int(value) => Signed(value),
            Scalar::Float(value) => Double(value),
            Scalar::Complex(real, imaginary) => ComplexDouble([real, imaginary]),
        }
    }
}

impl AnyNumber {
    /// The nearest single; of a complex number the real part's.
    pub fn to_single(self) -> f32 {
        match self {
            Signed(value) => value as f32,
            Unsigned(value) => value as f32,
            Single(value) | ComplexSingle([value, _]) => value,
            Double(value) | ComplexDouble([value, _]) => value as f32,
        }
    }

    /// The nearest double; of a complex number the real part's.
    pub fn to_double(self) -> f64 {
        match self {
            Signed(value) => value as f64,
            Unsigned(value) => value as f64,
            Single(value) | ComplexSingle([value, _]) => f64::from(value),
            Double(value) | ComplexDouble([value, _]) => value,
        }
    }

    /// Both parts in single precision.
    pub fn to_complex_single(self) -> [f32; 2] {
        match self {
            ComplexSingle(value) => value,
            ComplexDouble(value) => value.map(|part| part as f32),
            real => [real.to_single(), 0.0],
        }
    }

    /// Both parts in double precision.
    pub fn to_complex_double(self) -> [f64; 2] {
        match self {
            ComplexSingle(value) => value.map(f64::from),
            ComplexDouble(value) => value,
            real => [real.to_double(), 0.0],
        }
    }

    /// Whether the number is not 0.
    pub(crate) fn is_nonzero(self) -> bool {
        match self {
            Signed(value) => value != 0,
            Unsigned(value) => value != 0,
            Single(value) => value != 0.0,
            Double(value) => value != 0.0,
            ComplexSingle(value) => value != [0.0, 0.0],
            ComplexDouble(value) => value != [0.0, 0.0],
        }
    }

    /// The integer that a type of integers makes of the number; of a `U64` the bits.
    pub fn to_integer(self, dtype: Dtype) -> i64 {
        match self {
            _ if dtype == Dtype::Bool => i64::from(self.is_nonzero()),
            Signed(value) => wrap(value, dtype),
            Unsigned(value) => wrap(value as i64, dtype),
            Single(value) | ComplexSingle([value, _]) => truncate(f64::from(value), dtype, false),
            Double(value) | ComplexDouble([value, _]) => truncate(value, dtype, true),
        }
    }

    /// The number with the other sign; of integers in two's complement.
    pub fn negated(self) -> AnyNumber {
        match self {
            Signed(value) => Signed(value.wrapping_neg()),
            Unsigned(value) => Signed((value as i64).wrapping_neg()),
            Single(value) => Single(-value),
            Double(value) => Double(-value),
            ComplexSingle(value) => ComplexSingle(value.map(|part| -part)),
            ComplexDouble(value) => ComplexDouble(value.map(|part| -part)),
        }
    }

    /// The number as a floating-point type holds it; other types leave it as it is.
    pub fn round_to(self, dtype: Dtype) -> AnyNumber {
        match dtype {
            Dtype::F32 => Single(self.to_single()),
            Dtype::F16 => Single(f16_value(f16_bits(self.to_single()))),
            Dtype::Bf16 => Single(bf16_value(bf16_bits(self.to_single()))),
            Dtype::F8E4M3Fn
            | Dtype::F8E4M3Fnuz
            | Dtype::F8E5M2
            | Dtype::F8E5M2Fnuz
            | Dtype::F8E8M0Fnu => Single(round_narrow(self.to_single(), dtype)),
            Dtype::C32 => {
                let round = |part: f32| f16_value(f16_bits(part));
                ComplexSingle(self.to_complex_single().map(round))
            }
            _ => self,
        }
    }
}

/// An integer in two's complement, cut to the bits of a type.
pub fn wrap(value: i64, dtype: Dtype) -> i64 {
    match dtype {
        Dtype::I8 => i64::from(value as i8),
        Dtype::I16 => i64::from(value as i16),
        Dtype::I32 => i64::from(value as i32),
        Dtype::U8 => i64::from(value as u8),
        Dtype::U16 => i64::from(value as u16),
        Dtype::U32 => i64::from(value as u32),
        Dtype::Bool => i64::from(value != 0),
        _ => value,
    }
}

/// A real number without its fraction, as the instructions of a GPU convert it: too large a number
/// becomes the nearest that the instruction's type has. NaN becomes 0 in the conversions from
/// singles to 32 bits, and the highest bit alone in all others.
fn truncate(value: f64, dtype: Dtype, is_double: bool) -> i64 {
    let (nan, wide_nan) = (value.is_nan(), 1_u64 << 63);
    let nan_32 = if is_double { 1_u32 << 31 } else { 0 };
    match dtype {
        Dtype::U64 => (if nan { wide_nan } else { value as u64 }) as i64,
        Dtype::U32 => i64::from(if nan { nan_32 } else { value as u32 }),
        // The compiler converts to 32 bits and takes the lower ones.
        Dtype::U16 => wrap(i64::from(if nan { nan_32 } else { value as u32 }), dtype),
        Dtype::I8 | Dtype::I16 | Dtype::I32 => {
            wrap(i64::from(if nan { nan_32 as i32 } else { value as i32 }), dtype)
        }
        // torch converts to bytes by way of 64 bits.
        _ => wrap(if nan { wide_nan as i64 } else { value as i64 }, dtype),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap() {
        for (value, dtype, expected) in [
            (300, Dtype::I8, 44),
            (200, Dtype::I8, -56),
            (-1, Dtype::U8, 255),
            (-1, Dtype::U16, 65_535),
            (-1, Dtype::U32, 0xffff_ffff),
            (1 << 40, Dtype::I32, 0),
            (256, Dtype::Bool, 1),
            (i64::MIN, Dtype::I64, i64::MIN),
        ] {
            assert_eq!(Signed(value).to_integer(dtype), expected, "{value} {dtype:?}");
        }
    }

    #[test]
    fn real_numbers_lose_their_fraction_and_stop_at_the_largest_integer() {
        for (value, dtype, expected) in [
            (2.9, Dtype::I32, 2),
            (-2.9, Dtype::I32, -2),
            (1e20, Dtype::I32, i64::from(i32::MAX)),
            (1e20, Dtype::I64, i64::MAX),
            (-1.0, Dtype::U32, 0),
            (-1.0, Dtype::U8, 255),
            (1e20, Dtype::U64, -1),
            (0.25, Dtype::Bool, 1),
            (0.25, Dtype::U8, 0),
            (f64::NAN, Dtype::I64, i64::MIN),
            (f64::NAN, Dtype::I32, i64::from(i32::MIN)),
            (f64::NAN, Dtype::Bool, 1),
        ] {
            assert_eq!(Double(value).to_integer(dtype), expected, "{value} {dtype:?}");
        }
        assert_eq!(Single(f32::NAN).to_integer(Dtype::I32), 0);
        assert_eq!(Single(f32::NAN).to_integer(Dtype::I64), i64::MIN);
        assert_eq!(ComplexSingle([3.5, 9.0]).to_integer(Dtype::I16), 3);
        assert_eq!(ComplexSingle([0.0, 9.0]).to_integer(Dtype::Bool), 1);
    }

    #[test]
    fn rounding_goes_once_to_the_type() {
        assert_eq!(Double(1.0 + 1e-4).round_to(Dtype::F16), Single(1.0));
        assert_eq!(Double(1.0 + 1e-4).round_to(Dtype::F64), Double(1.0 + 1e-4));
        assert_eq!(Single(257.0).round_to(Dtype::Bf16), Single(256.0));
        assert_eq!(Signed(449).round_to(Dtype::F8E4M3Fn), Single(448.0));
        // From an integer straight to a single: by way of a double it would be rounded twice.
        let value = (1_i64 << 60) + (1 << 36) + 1;
        assert_eq!(Signed(value).to_single(), (1_i64 << 60) as f32 + (1_i64 << 37) as f32);
    }
}
