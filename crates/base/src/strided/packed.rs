//! Strides without gaps.

/// The strides of elements without gaps, with the axes in an order that goes from the innermost to the
/// outermost, and how many elements there are. `None` if the number does not fit.
pub fn packed_strides<const N: usize>(
    sizes: &[i64; N],
    inner_first: impl IntoIterator<Item = usize>,
) -> Option<([i64; N], i64)> {
    let (mut strides, mut next) = ([1; N], 1_i64);
    for axis in inner_first {
        strides[axis] = next;
        next = next.checked_mul(sizes[axis])?;
    }
    Some((strides, next))
}

/// The strides of elements without gaps, the last axis innermost, and how many elements there are.
#[inline]
pub fn row_major<const N: usize>(sizes: &[i64; N]) -> Option<([i64; N], i64)> {
    packed_strides(sizes, (0..N).rev())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_strides_follow_the_order() {
        assert_eq!(row_major(&[4, 3, 2]), Some(([6, 2, 1], 24)));
        assert_eq!(packed_strides(&[4, 3, 2], [0, 2, 1]), Some(([1, 8, 4], 24)));
        assert_eq!(row_major(&[1 << 40, 1 << 40]), None);
        assert_eq!(row_major(&[1 << 40, 0]), Some(([0, 1], 0)));
        assert_eq!(row_major::<0>(&[]), Some(([], 1)));
    }
}
