//! Conversions between `f32` and the 16-bit floating-point types, to nearest with ties to even, as
//! the hardware rounds.
//!
//! A NaN becomes the one that the hardware makes, whatever its payload was.

use half::bf16;

const F16_SIGN: u16 = 0x8000;
/// The NaN of CUDA's conversions to both types.
const NAN: u16 = 0x7fff;

/// Where the exponent of a single begins.
const EXPONENT: u32 = 23;
/// The bits by which a single's significand is longer than a half's.
const LONGER: u32 = 13;
/// The difference of the two types' exponents.
const BIAS: u32 = 127 - 15;

/// The bits of the nearest IEEE half. Without branches, so that loops over many numbers use vector instructions.
#[inline]
pub fn f16_bits(value: f32) -> u16 {
    let magnitude = value.abs();
    let bits = magnitude.to_bits();
    // Half of an odd last bit is added; what overflows goes to the exponent, up to infinity.
    let is_odd = (bits >> LONGER) & 1;
    let below_half = (1 << (LONGER - 1)) - 1;
    let normal = bits.wrapping_sub(BIAS << EXPONENT).wrapping_add(below_half + is_odd) >> LONGER;
    // The last bit of this sum is the last one of a half without an implicit bit: the addition rounds to it.
    let last_bit = f32::from_bits((BIAS + LONGER + 1) << EXPONENT);
    let subnormal = (magnitude + last_bit).to_bits().wrapping_sub(last_bit.to_bits());
    let first_normal = (BIAS + 1) << EXPONENT;
    let finite = if bits < first_normal { subnormal } else { normal };
    let beyond = if value.is_nan() { u32::from(NAN) } else { 0x7c00 };
    let is_beyond = bits >= (BIAS + 31) << EXPONENT;
    let unsigned = if is_beyond { beyond } else { finite };
    (value.to_bits() >> 16) as u16 & F16_SIGN | unsigned as u16
}

/// The value of an IEEE half. Without branches, as [`f16_bits`].
#[inline]
pub fn f16_value(bits: u16) -> f32 {
    let magnitude = u32::from(bits & !F16_SIGN) << LONGER;
    let exponent = magnitude >> EXPONENT;
    let normal = magnitude + (BIAS << EXPONENT);
    // Without an implicit bit: as if there were one, which is then subtracted.
    let first_normal = (BIAS + 1) << EXPONENT;
    let subnormal = f32::from_bits(magnitude + first_normal) - f32::from_bits(first_normal);
    let is_nan = magnitude > 31 << EXPONENT;
    let beyond = if is_nan { f32::NAN.to_bits() } else { f32::INFINITY.to_bits() };
    let finite = if exponent == 0 { subnormal.to_bits() } else { normal };
    let unsigned = if exponent == 31 { beyond } else { finite };
    f32::from_bits(unsigned | u32::from(bits & F16_SIGN) << 16)
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

    /// The crate computes with branches, or with the processor's own instruction.
    #[test]
    fn halves_are_those_of_the_crate() {
        use half::f16;
        for bits in 0..=u16::MAX {
            let (found, wanted) = (f16_value(bits), f16::from_bits(bits).to_f32());
            assert!(found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan());
        }
        // Every exponent, with significands around each place at which a half ends.
        for high in 0..=0x1ff_u32 {
            for low in (0..1_u32 << EXPONENT).step_by(997).chain((0..EXPONENT).map(|bit| 1 << bit))
            {
                for bits in [low.wrapping_sub(1), low, low + 1] {
                    let value = f32::from_bits(high << EXPONENT | bits & ((1 << EXPONENT) - 1));
                    let wanted = f16::from_f32(value);
                    let is_same = f16_bits(value) == wanted.to_bits();
                    assert!(is_same || value.is_nan() && wanted.is_nan(), "{value:e}");
                }
            }
        }
        assert_eq!(f16_value(0xfe01).to_bits(), 0xffc0_0000);
        assert_eq!(f16_bits(-f32::NAN), 0xffff);
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
