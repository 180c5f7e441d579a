//! The axes that the operands of a call have in common.

use std::ops::Range;

use smallvec::{Array, SmallVec};

/// An axis of `N` operands; the strides are in a unit of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAxis<const N: usize> {
    pub size: u64,
    pub strides: [i64; N],
}

/// Axes from the innermost to the outermost: the eight of a caller, and one for the parts of an element, without
/// memory of the heap.
pub type SharedAxes<const N: usize> = SmallVec<[SharedAxis<N>; 9]>;

/// An axis of two operands.
pub type PairAxis = SharedAxis<2>;

/// The axes of two operands.
pub type PairAxes = SharedAxes<2>;

/// Turns the axes whose stride is negative in the operand `side` round, so that the element whose
/// indices are 0 is that operand's lowest. Moves `start`, its place in both operands.
pub fn turn_forwards(axes: &mut PairAxes, start: &mut [i64; 2], side: usize) {
    for axis in axes.iter_mut().filter(|axis| axis.strides[side] < 0) {
        for (start, stride) in start.iter_mut().zip(&mut axis.strides) {
            *start += (axis.size - 1) as i64 * *stride;
            *stride = -*stride;
        }
    }
}

/// Joins neighbouring axes wherever the outer one goes on in all operands where the inner one ends.
pub fn join_axes<const N: usize>(axes: &mut SmallVec<impl Array<Item = SharedAxis<N>>>) {
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
pub fn each_place<const N: usize, E>(
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

/// Calls `visit` for runs along the innermost axis that together are some of the elements: with the number of a run's
/// first element, where that is from the first of all in each operand, and how many elements there are. Elements are
/// numbered along the axes, the innermost first.
pub fn each_run<const N: usize, E>(
    axes: &[SharedAxis<N>],
    elements: Range<u64>,
    mut visit: impl FnMut(u64, [i64; N], u64) -> Result<(), E>,
) -> Result<(), E> {
    let Range { start: mut number, end } = elements;
    if number >= end {
        return Ok(());
    }
    let only = SharedAxis { size: 1, strides: [0; N] };
    let (inner, outer) = axes.split_first().unwrap_or((&only, &[]));
    let mut indices: SmallVec<[u64; 8]> = SmallVec::from_elem(0, outer.len());
    let mut begin = [0_i64; N];
    let (mut along, mut rest) = (number % inner.size, number / inner.size);
    for (index, axis) in indices.iter_mut().zip(outer) {
        (*index, rest) = (rest % axis.size, rest / axis.size);
        step(&mut begin, *index as i64, axis);
    }
    while number < end {
        let count = (inner.size - along).min(end - number);
        let mut at = begin;
        step(&mut at, along as i64, inner);
        visit(number, at, count)?;
        number += count;
        along = 0;
        for (index, axis) in indices.iter_mut().zip(outer) {
            *index += 1;
            let is_over = *index == axis.size;
            step(&mut begin, if is_over { 1 - axis.size as i64 } else { 1 }, axis);
            if !is_over {
                break;
            }
            *index = 0;
        }
    }
    Ok(())
}

/// Moves a place some steps along an axis.
fn step<const N: usize>(place: &mut [i64; N], steps: i64, axis: &SharedAxis<N>) {
    for (place, stride) in place.iter_mut().zip(axis.strides) {
        *place = place.wrapping_add(steps.wrapping_mul(stride));
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
        each_place(axes, start, |place| {
            places.push(place);
            Ok::<(), ()>(())
        })
        .unwrap();
        places.sort_unstable();
        places
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
    fn runs_of_any_part_are_the_elements_in_order() {
        let axes = [axis(3, 1, -10), axis(2, 100, 7), axis(4, 1000, 0)];
        let mut all = Vec::new();
        each_place(&axes, [0, 0], |place| {
            all.push(place);
            Ok::<(), ()>(())
        })
        .unwrap();
        for start in 0..=24 {
            for end in start..=24 {
                let mut found = Vec::new();
                each_run(&axes, start..end, |number, [one, two], count| {
                    assert_eq!(number, start + found.len() as u64);
                    found.extend((0..count as i64).map(|at| [one + at, two - 10 * at]));
                    Ok::<(), ()>(())
                })
                .unwrap();
                assert_eq!(found, all[start as usize..end as usize]);
            }
        }
        each_run::<2, ()>(&[], 0..1, |number, place, count| {
            assert_eq!((number, place, count), (0, [0, 0], 1));
            Ok(())
        })
        .unwrap();
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
