//! Logarithm, sine and cosine in single precision, by the polynomials of the Cephes library.
//!
//! torch's CPU fills take them for blocks of normal numbers. Where a product and a sum are rounded once, as a
//! processor with fused multiply-add rounds them, was found by comparing with torch 2.11.

/// The powers of `x` with coefficients from the highest on, each step rounded once.
fn polynomial(x: f32, coefficients: &[f32]) -> f32 {
    coefficients.iter().skip(1).fold(coefficients[0], |sum, next| sum.mul_add(x, *next))
}

/// The natural logarithm of a number above 0.
pub(super) fn logarithm(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 9] = [
        7.037_683_6e-2,
        -1.151_461e-1,
        1.167_699_9e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_4e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ];
    // The logarithm of 2 in two parts, the first of which has few digits.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let bits = x.max(f32::MIN_POSITIVE).to_bits();
    let mut exponent = (bits >> 23) as f32 - 126.0;
    let mut significand = f32::from_bits(bits & 0x007f_ffff | 0x3f00_0000);
    if significand < std::f32::consts::FRAC_1_SQRT_2 {
        exponent -= 1.0;
        significand = significand - 1.0 + significand;
    } else {
        significand -= 1.0;
    }
    let square = significand * significand;
    let series = polynomial(significand, &COEFFICIENTS) * significand;
    let low = series.mul_add(square, exponent * LN_2[1]);
    let low = (-square).mul_add(0.5, low);
    exponent.mul_add(LN_2[0], significand + low)
}

/// Sine and cosine of an angle from 0 to a full turn.
pub(super) fn sine_and_cosine(angle: f32) -> [f32; 2] {
    const SINE: [f32; 3] = [-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1];
    const COSINE: [f32; 3] = [2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2];
    // An eighth of a turn in three parts, of which the first two have few digits.
    const EIGHTH: [f32; 3] = [0.785_156_25, 2.418_756_5e-4, 3.774_895e-8];
    // The even multiple of an eighth of a turn that is nearest.
    let eighths = ((angle * (4.0 / std::f32::consts::PI)) as u32 + 1) & !1;
    let rest = EIGHTH.iter().fold(angle, |rest, part| (-(eighths as f32)).mul_add(*part, rest));
    let square = rest * rest;
    let sine = (polynomial(square, &SINE) * square).mul_add(rest, rest);
    let cosine = (polynomial(square, &COSINE) * square).mul_add(square, -(square * 0.5)) + 1.0;
    match eighths / 2 % 4 {
        0 => [sine, cosine],
        1 => [cosine, -sine],
        2 => [-sine, -cosine],
        _ => [-cosine, sine],
    }
}
