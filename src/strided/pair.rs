//! The axes that the two operands of a copy have in common.

use smallvec::SmallVec;

/// An axis of two operands; the strides are in a unit of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairAxis {
    pub(crate) size: u64,
    pub(crate) strides: [i64; 2],
}

/// Axes from the innermost to the outermost: the eight of a caller, and one for the parts of an
/// element, without memory of the heap.
pub(crate) type PairAxes = SmallVec<[PairAxis; 9]>;

/// Turns the axes whose stride is negative in the operand `side` round, so that the element whose
/// indices are 0 is that operand's lowest. Moves `start`, its place in both operands.
pub(crate) fn turn_forwards(axes: &mut PairAxes, start: &mut [i64; 2], side: usize) {
    for axis in axes.iter_mut().filter(|axis| axis.strides[side] < 0) {
        for (start, stride) in start.iter_mut().zip(&mut axis.strides) {
            *start += (axis.size - 1) as i64 * *stride;
            *stride = -*stride;
        }
    }
}

/// Joins neighbouring axes wherever the outer one goes on in both operands where the inner one ends.
pub(crate) fn join_axes(axes: &mut PairAxes) {
    axes.dedup_by(|outer, inner| {
        let goes_on = |side: usize| {
            i128::from(outer.strides[side])
                == i128::from(inner.strides[side]) * i128::from(inner.size)
        };
        let joins = goes_on(0) && goes_on(1);
        if joins {
            inner.size *= outer.size;
        }
        joins
    });
}

/// Calls `visit` for each run along the innermost axis, with where it begins in both operands.
pub(crate) fn each_innermost<E>(
    axes: &[PairAxis],
    start: [i64; 2],
    mut visit: impl FnMut([i64; 2], PairAxis) -> Result<(), E>,
) -> Result<(), E> {
    let Some((inner, outer)) = axes.split_first() else {
        return visit(start, PairAxis { size: 1, strides: [0, 0] });
    };
    let mut indices: SmallVec<[u64; 8]> = SmallVec::from_elem(0, outer.len());
    let mut at = start;
    loop {
        visit(at, *inner)?;
        let mut is_done = true;
        for (index, axis) in indices.iter_mut().zip(outer) {
            *index += 1;
            is_done = *index == axis.size;
            let steps = if is_done { 1 - axis.size as i64 } else { 1 };
            for (at, stride) in at.iter_mut().zip(axis.strides) {
                *at += steps * stride;
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

    fn axis(size: u64, one: i64, two: i64) -> PairAxis {
        PairAxis { size, strides: [one, two] }
    }

    /// The places of all elements in both operands, sorted.
    fn places(axes: &[PairAxis], start: [i64; 2]) -> Vec<[i64; 2]> {
        let mut places = Vec::new();
        each_innermost(axes, start, |at, inner| {
            for index in 0..inner.size as i64 {
                places.push([0, 1].map(|side: usize| at[side] + index * inner.strides[side]));
            }
            Ok::<(), ()>(())
        })
        .unwrap();
        places.sort_unstable();
        places
    }

    #[test]
    fn every_run_is_visited_once() {
        let axes = [axis(3, 100, 7), axis(2, -20, 0), axis(4, 3, 50)];
        let mut expected = Vec::new();
        for a in 0..3 {
            for b in 0..2 {
                expected.extend((0..4).map(|c| [100 * a - 20 * b + 3 * c, 7 * a + 50 * c]));
            }
        }
        expected.sort_unstable();
        assert_eq!(places(&axes, [0, 0]), expected);
        assert_eq!(places(&[], [5, 6]), [[5, 6]]);
        let stopped = each_innermost(&axes, [0, 0], |at, _| Err(at));
        assert_eq!(stopped, Err([0, 0]));
    }

    #[test]
    fn turned_and_joined_axes_have_the_same_places() {
        let given = PairAxes::from_slice(&[axis(3, -4, 4), axis(5, -12, 12), axis(2, 60, 0)]);
        let (mut axes, mut start) = (given.clone(), [100, 200]);
        turn_forwards(&mut axes, &mut start, 0);
        assert_eq!((axes[0], axes[1], start), (axis(3, 4, -4), axis(5, 12, -12), [44, 256]));
        join_axes(&mut axes);
        assert_eq!(axes[..], [axis(15, 4, -4), axis(2, 60, 0)]);
        assert_eq!(places(&axes, start), places(&given, [100, 200]));
    }
}
