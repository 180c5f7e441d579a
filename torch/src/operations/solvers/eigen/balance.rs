//! Rows and columns of about the same size: `d⁻¹ a d` with powers of 2, which have the same eigenvalues, exactly.

use super::super::field::Field;
use super::Square;

/// Scales a matrix, and returns `d`: vectors of the matrix are those of the scaled one, times these.
pub(super) fn balance<T: Field>(a: &mut Square<T>) -> Vec<f64> {
    let order = a.order;
    let mut scales = vec![1.0; order];
    let size = |value: T| value.size_of_parts();
    // A few rounds are enough, as each one makes the sizes nearer to each other.
    for _ in 0..20 {
        let mut is_done = true;
        for (at, scale) in scales.iter_mut().enumerate() {
            let others = (0..order).filter(|other| *other != at);
            let (mut row, mut column) = (0.0, 0.0);
            for other in others {
                row += size(a.get(at, other));
                column += size(a.get(other, at));
            }
            if row == 0.0 || column == 0.0 || !(row + column).is_finite() {
                continue;
            }
            // The power of 2 next to the root of the ratio.
            let factor = f64::exp2((0.5 * (row / column).log2()).round());
            if (column * factor + row / factor) >= 0.95 * (row + column) {
                continue;
            }
            is_done = false;
            *scale *= factor;
            for other in 0..order {
                a.set(at, other, a.get(at, other) * T::of(1.0 / factor, 0.0));
            }
            for other in 0..order {
                a.set(other, at, a.get(other, at) * T::of(factor, 0.0));
            }
        }
        if is_done {
            break;
        }
    }
    scales
}
