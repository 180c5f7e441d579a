//! The error function.

/// From here on the nearest double to `erf` is 1.
const NEARLY_ONE: f64 = 6.0;

/// From here on what is missing to 1 is calculated: it is so small that its rounding errors do not count.
const NEAR_ONE: f64 = 2.0;

/// Levels of the continued fraction, which then is exact to 1e-15 from [`NEAR_ONE`] on.
const LEVELS: u32 = 64;

/// `erf(x)`, by a series of positive terms, so that nothing cancels:
/// `2 / sqrt(pi) * exp(-x^2) * (x + 2 x^3 / 3 + 4 x^5 / (3 * 5) + …)`.
pub(super) fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() >= NEARLY_ONE {
        return 1.0_f64.copysign(x);
    }
    if x.abs() >= NEAR_ONE {
        return (1.0 - missing_to_one(x.abs())).copysign(x);
    }
    let (square, mut term, mut sum) = (x * x, x, x);
    let mut odd = 1.0;
    loop {
        odd += 2.0;
        term *= 2.0 * square / odd;
        let next = sum + term;
        if next == sum {
            return std::f64::consts::FRAC_2_SQRT_PI * (-square).exp() * sum;
        }
        sum = next;
    }
}

/// `1 - erf(x)`, by the continued fraction `exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + …)))`.
fn missing_to_one(x: f64) -> f64 {
    let below = |rest: f64, level: u32| x + f64::from(level) / 2.0 / rest;
    let fraction = (1..=LEVELS).rev().fold(x, below);
    std::f64::consts::FRAC_2_SQRT_PI / 2.0 * (-x * x).exp() / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_tables() {
        for (x, expected) in [
            (0.0, 0.0),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
            (1.9375, 0.993_856_806_395_213_2),
            (2.5, 0.999_593_047_982_555),
            (3.65625, 0.999_999_766_804_168_8),
            (4.5, 0.999_999_999_803_383_9),
            (5.5, 0.999_999_999_999_992_6),
            (7.0, 1.0),
            (1e-300, 1.128_379_167_095_512_6e-300),
        ] {
            assert!((erf(x) - expected).abs() <= 4e-16 * expected, "{x}: {}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
        assert!(erf(f64::NAN).is_nan());
        assert_eq!(erf(f64::NEG_INFINITY), -1.0);
    }
}
