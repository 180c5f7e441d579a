//! The GPU's fast tangent, near enough for the tails of a Cauchy distribution.
//!
//! A GPU divides its fast sine by its fast cosine. Close to a quarter turn the cosine is small, and
//! what the fast unit does to it shows in every large result: the distance to the quarter turn is
//! cut to a multiple of 2^-25 turns, and a parabola stands in for the sine of that distance on each
//! 256th of a turn. Both were found from results of an H200; away from the tails they do not matter,
//! and exact functions are as close as 1e-5 asks for.

use std::f64::consts::TAU;

/// One over two pi, as the hardware multiplies with it.
const TURNS_PER_RADIAN: f32 = std::f32::consts::FRAC_1_PI / 2.0;
/// The finest step of a phase, in turns.
const STEP: f64 = 1.0 / 33_554_432.0;
/// Length of the first piece of the sine that has a parabola of its own, in turns.
const PIECE: f64 = 1.0 / 256.0;
/// Where that parabola meets the sine, beside 0.
const CROSSINGS: [f64; 2] = [0.0018, 0.0036];

/// The tangent of an angle between minus and plus a quarter turn, in radians.
pub(super) fn fast_tangent(angle: f32) -> f32 {
    let turns = f64::from(angle.abs()) * f64::from(TURNS_PER_RADIAN);
    let to_quarter = ((0.25 - turns) / STEP).floor() * STEP;
    let mut cosine = (TAU * to_quarter).sin();
    if to_quarter < PIECE {
        // What a parabola through three points leaves of a sine: its third derivative over six.
        let third = TAU.powi(3) / 6.0;
        cosine += third * to_quarter * (to_quarter - CROSSINGS[0]) * (to_quarter - CROSSINGS[1]);
    }
    ((TAU * to_quarter).cos() / cosine).copysign(f64::from(angle)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_tangent_but_for_the_tails() {
        for step in -1000..=1000 {
            let angle = 1.5 * step as f32 / 1000.0;
            let exact = f64::from(angle).tan();
            let error = (f64::from(fast_tangent(angle)) - exact).abs();
            assert!(error <= 1e-5 * exact.abs().max(1.0), "{angle}: {error}");
        }
    }

    #[test]
    fn a_tail_is_that_of_an_h200() {
        // The draw 4.1420222e-5 gave -7683.6416; the exact tangent is -7684.4556.
        let angle = std::f32::consts::PI * (4.142_022e-5_f32 - 0.5);
        assert!((fast_tangent(angle) + 7683.6416).abs() < 0.01, "{}", fast_tangent(angle));
    }
}
