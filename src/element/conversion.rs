//! Conversions between `f32` and the 16-bit floating-point types, to nearest with ties to even, as
//! the hardware rounds.
//!
//! A NaN becomes the one that the hardware makes, whatever its payload was.

use half::{bf16, f16};

const F16_SIGN: u16 = 0x8000;
/// The NaN of CUDA's conversions to both types.
const NAN: u16 = 0x7fff;

/// The bits of the nearest IEEE half.
#[inline]
pub fn f16_bits(value: f32) -> u16 {
    if value.is_nan() {
        return (value.to_bits() >> 16) as u16 & F16_SIGN | NAN;
    }
    f16::from_f32(value).to_bits()
}

/// The value of an IEEE half.
#[inline]
pub fn f16_value(bits: u16) -> f32 {
    let half = f16::from_bits(bits);
    if half.is_nan() {
        return f32::from_bits(f32::NAN.to_bits() | u32::from(bits & F16_SIGN) << 16);
    }
    half.to_f32()
}

/// The bits of the nearest bfloat16.
#[inline]
pub fn bf16_bits(value: f32) -> u16 {
    if value.is_nan() { NAN } else { bf16::from_f32(value).to_bits() }
}

/// The value of a bfloat16, whose bits are the upper half of a single's.
#[inline]
pub fn bf16_value(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_goes_there_and_back() {
        for bits in 0..=u16::MAX {
            let half = f16_value(bits);
            if !half.is_nan() {
                assert_eq!(f16_bits(half), bits, "{half}");
            }
            let brain = bf16_value(bits);
            if !brain.is_nan() {
                assert_eq!(bf16_bits(brain), bits, "{brain}");
            }
        }
        assert!(f16_value(f16_bits(f32::NAN)).is_nan() && bf16_value(bf16_bits(f32::NAN)).is_nan());
    }

    #[test]
    fn between_two_neighbours_the_nearer_or_the_even_one_is_taken() {
        for low in (0..0x7bff_u16).chain(0x8000..0xfbff) {
            let (a, b) = (f64::from(f16_value(low)), f64::from(f16_value(low + 1)));
            let middle = ((a + b) / 2.0) as f32;
            let even = if low & 1 == 0 { low } else { low + 1 };
            assert_eq!(f16_bits(middle), even, "{a} {b}");
            let inward = f32::from_bits(middle.to_bits() - 1);
            let outward = f32::from_bits(middle.to_bits() + 1);
            assert_eq!((f16_bits(inward), f16_bits(outward)), (low, low + 1), "{a} {b}");
        }
        assert_eq!(f16_bits(65519.99), 0x7bff);
        assert_eq!(f16_bits(65520.0), 0x7c00);
        for low in 0x3f00..0x3f80_u16 {
            let middle = f32::from_bits(u32::from(low) << 16 | 0x8000);
            assert_eq!(bf16_bits(middle), if low & 1 == 0 { low } else { low + 1 });
            assert_eq!(bf16_bits(f32::from_bits(middle.to_bits() - 1)), low);
            assert_eq!(bf16_bits(f32::from_bits(middle.to_bits() + 1)), low + 1);
        }
    }
}
