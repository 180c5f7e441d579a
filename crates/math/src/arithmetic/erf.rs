//! The error function of the C library, which the standard library lacks.

// SAFETY: the C library declares them so, and they accept every number.
unsafe extern "C" {
    pub(super) safe fn erf(x: f64) -> f64;
    /// In single precision.
    pub(super) safe fn erff(x: f32) -> f32;
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

    #[test]
    fn single_precision_is_within_one_unit_of_the_last_place() {
        for step in -60_000..60_000 {
            let x = step as f32 / 10_000.0;
            let (found, expected) = (erff(x), erf(x.into()) as f32);
            assert!(found.to_bits().abs_diff(expected.to_bits()) <= 1, "{x}: {found}, {expected}");
        }
        assert!(erff(f32::NAN).is_nan());
    }
}
