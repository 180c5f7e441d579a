//! The places along axes, in row-major order.

use sconce_base::strided::{self, SharedAxes, SharedAxis};

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
    let shared = |axis: &Axis| SharedAxis { size: size(axis) as u64, strides: strides(axis) };
    let innermost_first: SharedAxes<N> = axes.iter().rev().map(shared).collect();
    strided::each_place(&innermost_first, [0; N], visit)
}
