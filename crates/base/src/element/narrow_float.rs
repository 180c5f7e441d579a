//! The 8-bit floating-point types, converted as torch does.

use crate::element::Dtype;

/// How a type with a sign lays out its bits.
struct NarrowFormat {
    fraction_bits: i32,
    bias: i32,
    /// The code, without the sign, from which on there is no finite value.
    past_finite: u32,
    /// What becomes of a value that is too large, and of NaN.
    overflow: u32,
    nan: u32,
    /// NaN has the code of a negative zero, which does not exist.
    nan_is_negative_zero: bool,
}

fn format_of(dtype: Dtype) -> NarrowFormat {
    let fnuz = |fraction_bits, bias| NarrowFormat {
        fraction_bits,
        bias,
        past_finite: 0x80,
        overflow: 0x80,
        nan: 0x80,
        nan_is_negative_zero: true,
    };
    let signed = |fraction_bits, bias, past_finite| NarrowFormat {
        fraction_bits,
        bias,
        past_finite,
        overflow: past_finite,
        nan: 0x7f,
        nan_is_negative_zero: false,
    };
    match dtype {
        Dtype::F8E4M3Fnuz => fnuz(3, 8),
        Dtype::F8E5M2Fnuz => fnuz(2, 16),
        Dtype::F8E5M2 => signed(2, 15, 0x7c),
        _ => signed(3, 7, 0x7f),
    }
}

/// The bits of the nearest value of a type, ties to even.
pub fn narrow_bits(value: f32, dtype: Dtype) -> u8 {
    if dtype == Dtype::F8E8M0Fnu {
        return power_bits(value);
    }
    let format = format_of(dtype);
    let sign = value.to_bits() >> 24 & 0x80;
    let magnitude = f64::from(value.abs());
    let code = if value.is_nan() {
        format.nan
    } else if value.is_infinite() {
        format.overflow
    } else {
        let own = (value.abs().to_bits() >> 23) as i32 - 127;
        let exponent = own.max(1 - format.bias);
        let steps = magnitude * 2.0_f64.powi(format.fraction_bits - exponent);
        let normal = (exponent + format.bias - 1) as u32;
        let code = (normal << format.fraction_bits) + steps.round_ties_even() as u32;
        if code >= format.past_finite { format.overflow } else { code }
    };
    let is_unsigned = format.nan_is_negative_zero && (code == 0 || code == 0x80);
    if is_unsigned { code as u8 } else { (sign | code) as u8 }
}

/// The value of bits of a type.
pub fn narrow_value(bits: u8, dtype: Dtype) -> f32 {
    if dtype == Dtype::F8E8M0Fnu {
        return match bits {
            0xff => f32::NAN,
            _ => 2.0_f64.powi(i32::from(bits) - 127) as f32,
        };
    }
    let format = format_of(dtype);
    let code = u32::from(bits & 0x7f);
    let magnitude = if format.nan_is_negative_zero && bits == 0x80 {
        f32::NAN
    } else if code >= format.past_finite {
        if code == 0x7c { f32::INFINITY } else { f32::NAN }
    } else {
        let exponent = (code >> format.fraction_bits) as i32;
        let hidden = u32::from(exponent > 0) << format.fraction_bits;
        let steps = code & ((1 << format.fraction_bits) - 1) | hidden;
        let scale = exponent.max(1) - format.bias - format.fraction_bits;
        (f64::from(steps) * 2.0_f64.powi(scale)) as f32
    };
    if bits & 0x80 != 0 { -magnitude } else { magnitude }
}

/// As `narrow_bits`, of a signed type with both zeros; what is too large becomes the largest finite value, as in CUDA's
/// own conversions.
pub fn saturated_bits(value: f32, dtype: Dtype) -> u8 {
    let bits = narrow_bits(value, dtype);
    let past_finite = format_of(dtype).past_finite as u8;
    if value.is_nan() || bits & 0x7f < past_finite { bits } else { bits & 0x80 | (past_finite - 1) }
}

/// A value as a type holds it.
pub fn round_narrow(value: f32, dtype: Dtype) -> f32 {
    narrow_value(narrow_bits(value, dtype), dtype)
}

/// The nearest power of two, ties upward but below the smallest normal single; the sign is lost.
fn power_bits(value: f32) -> u8 {
    let bits = value.to_bits();
    let exponent = (bits >> 23) as u8;
    if exponent == 0xff {
        return exponent;
    }
    let (half, rest) = (bits & 0x40_0000 != 0, bits & 0x3f_ffff != 0);
    exponent + u8::from(half && (rest || exponent > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [Dtype; 5] =
        [Dtype::F8E4M3Fn, Dtype::F8E4M3Fnuz, Dtype::F8E5M2, Dtype::F8E5M2Fnuz, Dtype::F8E8M0Fnu];

    #[test]
    fn every_code_goes_there_and_back_and_the_largest_is_the_types() {
        for dtype in TYPES {
            let mut largest = 0.0_f32;
            for bits in 0..=255 {
                let value = narrow_value(bits, dtype);
                if value.is_finite() {
                    assert_eq!(narrow_bits(value, dtype), bits, "{dtype:?} {value}");
                    largest = largest.max(value);
                } else {
                    assert!(!round_narrow(value, dtype).is_finite(), "{dtype:?} {bits}");
                }
            }
            assert_eq!(f64::from(largest), dtype.largest_float(), "{dtype:?}");
        }
    }

    #[test]
    fn between_two_neighbours_the_nearer_or_the_even_one_is_taken() {
        for dtype in &TYPES[..4] {
            for bits in 0..0x77 {
                let [low, high] = [bits, bits + 1].map(|bits| narrow_value(bits, *dtype));
                let middle = (low + high) / 2.0;
                let even = bits + (bits & 1);
                assert_eq!(narrow_bits(middle, *dtype), even, "{dtype:?} {middle}");
                assert_eq!(narrow_bits(middle * 1.001, *dtype), bits + 1, "{dtype:?} {middle}");
                assert_eq!(narrow_bits(middle * 0.999, *dtype), bits, "{dtype:?} {middle}");
            }
        }
    }

    #[test]
    fn what_is_too_large_becomes_what_torch_makes_of_it() {
        for (value, codes) in [
            (464.0, [0x7e, 0x80, 0x5f, 0x63, 136]),
            (465.0, [0x7f, 0x80, 0x5f, 0x63, 136]),
            (1e9, [0x7f, 0x80, 0x7c, 0x80, 157]),
            (f32::INFINITY, [0x7f, 0x80, 0x7c, 0x80, 255]),
            (-f32::INFINITY, [0xff, 0x80, 0xfc, 0x80, 255]),
            (-0.0, [0x80, 0x00, 0x80, 0x00, 0]),
            (f32::NAN, [0x7f, 0x80, 0x7f, 0x80, 255]),
        ] {
            assert_eq!(TYPES.map(|dtype| narrow_bits(value, dtype)), codes, "{value}");
        }
    }
}
