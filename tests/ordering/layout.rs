//! Layouts of operands.

/// Strides for a shape whose axes, from the innermost to the outermost, are in an order, with gaps of so
/// many elements within the innermost; and how many elements such an operand spans.
pub(crate) fn strides(sizes: &[i64], order: &[usize], gap: i64) -> (Vec<i64>, usize) {
    let mut strides = vec![0; sizes.len()];
    let mut next = 1 + gap;
    for axis in order {
        strides[*axis] = next;
        next *= sizes[*axis].max(1);
    }
    (strides, next as usize)
}
