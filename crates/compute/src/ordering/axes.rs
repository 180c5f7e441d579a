//! The axes that the operands of a call have in common.

use sconce_base::strided::{SharedAxes, SharedAxis, join_axes};

/// The axis with a stride of a third operand.
pub(super) fn with_operand(axis: &SharedAxis<2>, stride: i64) -> SharedAxis<3> {
    let [first, second] = axis.strides;
    SharedAxis { size: axis.size, strides: [first, second, stride] }
}

/// Whether there are no elements.
pub(super) fn is_empty(sizes: &[i64]) -> bool {
    sizes.iter().any(|size| *size <= 0)
}

/// All axes but one of operands, from the innermost to the outermost, given the strides of each and the bytes of
/// its elements. Axes of one element are left out, and neighbours joined.
pub(super) fn shared_axes<const N: usize>(
    sizes: &[i64],
    but: usize,
    operands: [(&[i64], usize); N],
) -> SharedAxes<N> {
    let shared = |(axis, size): (usize, &i64)| SharedAxis {
        size: *size as u64,
        strides: operands.map(|(strides, width)| strides[axis].wrapping_mul(width as i64)),
    };
    let stays = |(axis, size): &(usize, &i64)| *axis != but && **size != 1;
    let mut axes = sizes.iter().enumerate().rev().filter(stays).map(shared).collect();
    join_axes(&mut axes);
    axes
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
}
