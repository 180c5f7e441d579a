//! The places along axes, in row-major order.

use smallvec::SmallVec;

/// Calls `visit` with how far each place is from the first one, by each of `N` strides; the last axis is
/// the fastest. Without axes there is one place.
pub(super) fn each_place<Axis, const N: usize, Failure>(
    axes: &[Axis],
    size: impl Fn(&Axis) -> i64,
    strides: impl Fn(&Axis) -> [i64; N],
    visit: &mut dyn FnMut([i64; N]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if axes.iter().any(|axis| size(axis) <= 0) {
        return Ok(());
    }
    let mut index: SmallVec<[i64; 8]> = axes.iter().map(|_| 0).collect();
    let mut at = [0_i64; N];
    loop {
        visit(at)?;
        let Some(axis) = (0..axes.len()).rev().find(|axis| index[*axis] + 1 < size(&axes[*axis]))
        else {
            return Ok(());
        };
        index[axis] += 1;
        let mut step = strides(&axes[axis]);
        // The faster axes begin again.
        for faster in axis + 1..axes.len() {
            for (step, stride) in step.iter_mut().zip(strides(&axes[faster])) {
                *step = step.wrapping_sub(index[faster].wrapping_mul(stride));
            }
            index[faster] = 0;
        }
        for (at, step) in at.iter_mut().zip(step) {
            *at = at.wrapping_add(step);
        }
    }
}
