//! Whether elements may be written in any order, and by several threads.

use super::axes::SharedAxis;

/// An operand of a loop: the address of its first element, and the bytes of each.
pub(crate) type LoopOperand = (usize, usize);

/// Whether the elements of the first operand, which are written, lie apart from each other, and from those of the
/// others unless these are at the same places. Strides are in bytes. False, too, for rare layouts that are not decided.
pub fn are_independent<const N: usize>(
    axes: &[SharedAxis<N>],
    written: LoopOperand,
    read: impl IntoIterator<Item = (usize, LoopOperand)>,
) -> bool {
    lie_apart(axes, written.1) && {
        let [begin, end] = reach(axes, 0, written);
        read.into_iter().all(|(operand, place)| {
            let is_same = place == written
                && axes
                    .iter()
                    .all(|axis| axis.size <= 1 || axis.strides[operand] == axis.strides[0]);
            let [other_begin, other_end] = reach(axes, operand, place);
            is_same || other_end <= begin || end <= other_begin
        })
    }
}

/// Whether each stride of the first operand steps over all that smaller strides reach.
fn lie_apart<const N: usize>(axes: &[SharedAxis<N>], width: usize) -> bool {
    let mut least = width as u128;
    let mut steps: super::SharedAxes<1> = axes
        .iter()
        .filter(|axis| axis.size > 1)
        .map(|axis| SharedAxis { size: axis.size, strides: [axis.strides[0]] })
        .collect();
    steps.sort_unstable_by_key(|step| step.strides[0].unsigned_abs());
    steps.iter().all(|step| {
        let stride = u128::from(step.strides[0].unsigned_abs());
        let is_apart = stride >= least;
        least += stride * u128::from(step.size - 1);
        is_apart
    })
}

/// Where the lowest byte of an operand lies, and the first one behind the highest.
fn reach<const N: usize>(
    axes: &[SharedAxis<N>],
    operand: usize,
    (address, width): LoopOperand,
) -> [i128; 2] {
    let mut ends = [address as i128, address as i128 + width as i128];
    for axis in axes.iter().filter(|axis| axis.size > 1) {
        let stride = axis.strides[operand];
        ends[usize::from(stride > 0)] += i128::from(stride) * i128::from(axis.size - 1);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(size: u64, written: i64, read: i64) -> SharedAxis<2> {
        SharedAxis { size, strides: [written, read] }
    }

    #[test]
    fn what_is_written_twice_or_read_elsewhere_has_an_order() {
        let apart = |axes: &[SharedAxis<2>], written, read| {
            are_independent(axes, (written, 4), [(1, (read, 4))])
        };
        let matrix = [axis(10, 4, 4), axis(5, 40, 40)];
        assert!(apart(&matrix, 1000, 1000), "in place");
        assert!(apart(&matrix, 1000, 1200) && apart(&matrix, 1200, 1000), "one behind the other");
        assert!(!apart(&matrix, 1000, 1004) && !apart(&matrix, 1000, 801), "shifted");
        assert!(!apart(&[axis(10, 4, 4), axis(5, 40, 80)], 1000, 1000), "other strides");
        assert!(!apart(&[axis(10, 4, 4), axis(5, 0, 40)], 1000, 5000), "repeated");
        assert!(!apart(&[axis(10, 4, 4), axis(5, 36, 40)], 1000, 5000), "overlapping");
        assert!(!apart(&[axis(10, 3, 4)], 1000, 5000), "overlapping elements");
        assert!(apart(&[axis(5, -40, 8), axis(10, 4, 40), axis(1, 0, 0)], 1000, 1040), "backwards");
        assert!(!apart(&[axis(5, -40, 40), axis(10, 4, 4)], 1000, 1000), "turned round");
        assert!(apart(&[], 1000, 1000) && !apart(&[], 1000, 1002), "one element");
        assert!(apart(&[axis(1 << 62, 4, 0)], 1 << 40, 5000), "large");
    }
}
