//! Roots of unity.

use super::complex::{Complex, TransformedReal};
use std::f64::consts::FRAC_PI_4;

/// e^(-2πi k / n). The angle is reduced to an eighth of the circle in integers, so that no root is less exact than
/// the first, and those on the axes are exact.
pub(super) fn root<T: TransformedReal>(k: usize, n: usize) -> Complex<T> {
    let (k, n) = (k as u128, n as u128);
    let (octant, rest) = (8 * k / n, 8 * k % n);
    let rest = if octant.is_multiple_of(2) { rest } else { n - rest };
    let (sin, cos) = (FRAC_PI_4 * (rest as f64 / n as f64)).sin_cos();
    let (re, im) = match octant {
        0 => (cos, sin),
        1 => (sin, cos),
        2 => (-sin, cos),
        3 => (-cos, sin),
        4 => (-cos, -sin),
        5 => (-sin, -cos),
        6 => (sin, -cos),
        _ => (cos, -sin),
    };
    Complex::new(T::of(re), T::of(-im))
}

/// All roots of an order.
pub(super) fn roots<T: TransformedReal>(order: usize) -> Vec<Complex<T>> {
    (0..order).map(|k| root(k, order)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_on_the_circle_in_order_and_exact_on_the_axes() {
        for order in [1, 2, 3, 4, 5, 8, 12, 97, 1024] {
            for (k, root) in roots::<f64>(order).into_iter().enumerate() {
                let angle = std::f64::consts::TAU * k as f64 / order as f64;
                assert!((root.re - angle.cos()).abs() < 1e-15, "{k} of {order}");
                assert!((root.im + angle.sin()).abs() < 1e-15, "{k} of {order}");
            }
        }
        let exact: [(f64, f64); 4] = [(1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0)];
        for (k, (re, im)) in exact.into_iter().enumerate() {
            assert_eq!(root(25 * k, 100), Complex::new(re, im));
        }
    }
}
