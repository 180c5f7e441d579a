//! The axes that the operands of a call have in common.

use smallvec::SmallVec;

use crate::error::Result;

/// An axis of `N` operands; strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedAxis<const N: usize> {
    pub(super) size: u64,
    pub(super) strides: [i64; N],
}

impl SharedAxis<2> {
    /// The axis with a stride of a third operand.
    pub(super) fn with_operand(&self, stride: i64) -> SharedAxis<3> {
        let [first, second] = self.strides;
        SharedAxis { size: self.size, strides: [first, second, stride] }
    }
}

/// Axes from the innermost to the outermost, without memory of the heap for up to eight.
pub(super) type SharedAxes<const N: usize> = SmallVec<[SharedAxis<N>; 8]>;

/// Whether there are no elements.
pub(super) fn is_empty(sizes: &[i64]) -> bool {
    sizes.iter().any(|size| *size <= 0)
}

/// All axes but one of operands, given the strides of each and the bytes of its elements. Axes of one
/// element are left out, and neighbours joined wherever the outer one goes on in all operands where the
/// inner one ends.
pub(super) fn shared_axes<const N: usize>(
    sizes: &[i64],
    but: usize,
    operands: [(&[i64], usize); N],
) -> SharedAxes<N> {
    let mut axes = SharedAxes::<N>::new();
    for (axis, size) in sizes.iter().enumerate().rev() {
        if axis == but || *size == 1 {
            continue;
        }
        let strides = operands.map(|(strides, width)| strides[axis].wrapping_mul(width as i64));
        if let Some(inner) = axes.last_mut() {
            let end = inner.strides.map(|stride| i128::from(stride) * i128::from(inner.size));
            if end == strides.map(i128::from) {
                inner.size *= *size as u64;
                continue;
            }
        }
        axes.push(SharedAxis { size: *size as u64, strides });
    }
    axes
}

/// Calls `visit` with the place of each element of the axes in all operands, in bytes from the element
/// whose indices are 0.
pub(super) fn each_place<const N: usize>(
    axes: &[SharedAxis<N>],
    mut visit: impl FnMut([i64; N]) -> Result<()>,
) -> Result<()> {
    let mut indices: SmallVec<[u64; 8]> = SmallVec::from_elem(0, axes.len());
    let mut at = [0_i64; N];
    loop {
        visit(at)?;
        let mut is_done = true;
        for (index, axis) in indices.iter_mut().zip(axes) {
            *index += 1;
            is_done = *index == axis.size;
            let steps = if is_done { 1 - axis.size as i64 } else { 1 };
            for (at, stride) in at.iter_mut().zip(axis.strides) {
                *at = at.wrapping_add(steps.wrapping_mul(stride));
            }
            if !is_done {
                break;
            }
            *index = 0;
        }
        if is_done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_joined_where_all_operands_go_on() {
        let axis = |size, a, b| SharedAxis { size, strides: [a, b] };
        let sizes = [2, 3, 1, 4, 5];
        let packed = [60, 20, 77, 5, 1];
        let wide = [120, 40, 77, 10, 2];
        let axes = shared_axes(&sizes, 4, [(&packed, 4), (&wide, 2)]);
        assert_eq!(axes[..], [axis(24, 20, 20)]);
        let axes = shared_axes(&sizes, 1, [(&packed, 4), (&wide, 2)]);
        assert_eq!(axes[..], [axis(20, 4, 4), axis(2, 240, 240)]);
        let axes = shared_axes(&sizes, 5, [(&packed, 1), (&[60, 20, 0, 6, 1], 1)]);
        assert_eq!(axes[..], [axis(5, 1, 1), axis(4, 5, 6), axis(6, 20, 20)]);
    }

    #[test]
    fn every_place_is_visited_once_in_order() {
        let axes =
            [SharedAxis { size: 3, strides: [1, -10] }, SharedAxis { size: 2, strides: [100, 7] }];
        let mut places = Vec::new();
        let visit = |place| {
            places.push(place);
            Ok(())
        };
        each_place(&axes, visit).unwrap();
        assert_eq!(places, [[0, 0], [1, -10], [2, -20], [100, 7], [101, -3], [102, -13]]);
        let mut count = 0;
        let visit = |_| {
            count += 1;
            Ok(())
        };
        each_place::<2>(&[], visit).unwrap();
        assert_eq!(count, 1);
    }
}
