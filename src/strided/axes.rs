//! The axes that the operands of a call have in common.

use smallvec::{Array, SmallVec};

/// An axis of `N` operands; the strides are in a unit of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedAxis<const N: usize> {
    pub(crate) size: u64,
    pub(crate) strides: [i64; N],
}

/// Axes from the innermost to the outermost: the eight of a caller, and one for the parts of an element, without
/// memory of the heap.
pub(crate) type SharedAxes<const N: usize> = SmallVec<[SharedAxis<N>; 9]>;

/// An axis of two operands.
pub(crate) type PairAxis = SharedAxis<2>;

/// The axes of two operands.
pub(crate) type PairAxes = SharedAxes<2>;

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

/// Joins neighbouring axes wherever the outer one goes on in all operands where the inner one ends.
pub(crate) fn join_axes<const N: usize>(axes: &mut SmallVec<impl Array<Item = SharedAxis<N>>>) {
    axes.dedup_by(|outer, inner| {
        let goes_on = |side: usize| {
            i128::from(outer.strides[side])
                == i128::from(inner.strides[side]) * i128::from(inner.size)
        };
        let joins = (0..N).all(goes_on);
        if joins {
            inner.size *= outer.size;
        }
        joins
    });
}

/// Calls `visit` with the place of each element in all operands, the innermost axis first. No axis is empty.
pub(crate) fn each_place<const N: usize, E>(
    axes: &[SharedAxis<N>],
    start: [i64; N],
    mut visit: impl FnMut([i64; N]) -> Result<(), E>,
) -> Result<(), E> {
    let mut indices: SmallVec<[u64; 8]> = SmallVec::from_elem(0, axes.len());
    let mut at = start;
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

/// Calls `visit` for each run along the innermost axis, with where it begins in all operands. No axis is empty.
pub(crate) fn each_innermost<const N: usize, E>(
    axes: &[SharedAxis<N>],
    start: [i64; N],
    mut visit: impl FnMut([i64; N], SharedAxis<N>) -> Result<(), E>,
) -> Result<(), E> {
    match axes.split_first() {
        None => visit(start, SharedAxis { size: 1, strides: [0; N] }),
        Some((inner, outer)) => each_place(outer, start, |at| visit(at, *inner)),
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
    fn every_place_is_visited_once_in_order() {
        let axes = [axis(3, 1, -10), axis(2, 100, 7)];
        let mut places = Vec::new();
        let mut visit = |place| {
            places.push(place);
            Ok::<(), ()>(())
        };
        each_place(&axes, [0, 0], &mut visit).unwrap();
        each_place::<2, ()>(&[], [5, 6], visit).unwrap();
        let expected = [[0, 0], [1, -10], [2, -20], [100, 7], [101, -3], [102, -13], [5, 6]];
        assert_eq!(places, expected);
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
