//! Rounding to the 16-bit floating-point types, to nearest with ties to even, as the hardware does.

/// The bits of the nearest IEEE half.
#[inline]
pub fn f16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7fff;
    }
    // From 65520 on the nearest half is infinite.
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    // Below 2^-14 halves are multiples of 2^-24: let a float addition do the rounding.
    if magnitude < 0x3880_0000 {
        let unit = 0.5_f32;
        let rounded = f32::from_bits(magnitude) + unit;
        return sign | (rounded.to_bits() - unit.to_bits()) as u16;
    }
    let odd = (magnitude >> 13) & 1;
    let rounded = magnitude + 0xfff + odd;
    sign | ((rounded - 0x3800_0000) >> 13) as u16
}

/// The value of a half.
pub fn f16_value(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff);
    let value = match magnitude {
        0x7c01.. => f32::NAN,
        0x7c00 => f32::INFINITY,
        0x0400.. => f32::from_bits((magnitude << 13) + 0x3800_0000),
        _ => magnitude as f32 * (1.0 / 16_777_216.0),
    };
    f32::from_bits(value.to_bits() | sign)
}

/// The bits of the nearest bfloat16.
#[inline]
pub fn bf16_bits(value: f32) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    let bits = value.to_bits();
    let odd = (bits >> 16) & 1;
    ((bits + 0x7fff + odd) >> 16) as u16
}

/// The value of a bfloat16.
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
