//! Copies between places in host memory, by the calling thread and those that share large copies with it.

use sconce_base::error::Result;
use sconce_base::strided::{PairAxes, PairAxis, are_independent, each_run};
use sconce_driver::RawAddress;
use sconce_math::parallel::for_elements;
use smallvec::SmallVec;

use super::host_copy;
use super::layout::{CopyLayout, DST, SRC};

/// Bytes of a part of a copy: some 30 µs.
pub(super) const PART: u64 = 1 << 18;
/// Elements that a part of a copy of single elements has at least.
const ELEMENTS: u64 = 1 << 14;
/// The sides of a square of elements that are copied together where rows become columns: their cache lines stay.
const SQUARE: u64 = 32;

/// Copies bytes that follow each other; the ranges may overlap.
pub(super) fn copy_packed(dst: RawAddress, src: RawAddress, bytes: usize) -> Result<()> {
    let (to, from) = (dst.host(bytes)?, src.host(bytes)?);
    let is_apart = dst.get().abs_diff(src.get()) >= bytes;
    if !is_apart {
        host_copy::copy(to, from);
        return Ok(());
    }
    for_elements(bytes as u64, PART, &|part| {
        let (first, bytes) = (part.start as usize, (part.end - part.start) as usize);
        host_copy::copy(to.part(first, bytes), from.part(first, bytes));
        Ok(())
    })
}

/// Copies runs of bytes, from the second address to the first.
pub(super) fn copy(addresses: [RawAddress; 2], layout: &CopyLayout) -> Result<()> {
    let [dst, src] = [DST, SRC].map(|side| addresses[side].offset(layout.start[side] as usize));
    let width = layout.width as usize;
    if layout.axes.is_empty() {
        return copy_packed(dst, src, width);
    }
    let read = [(SRC, (src.get(), width))];
    let has_order = !are_independent(&layout.axes, (dst.get(), width), read);
    let along = |axes: &[PairAxis], [dst, src]: [RawAddress; 2], part| {
        let strides = axes.first().map_or([0; 2], |inner| inner.strides);
        each_run(axes, part, |_, at, count| {
            let [dst, src] = [(dst, at[DST]), (src, at[SRC])]
                .map(|(address, distance)| address.offset(distance as usize));
            host_copy::copy_each(dst, src, strides, width, count)
        })
    };
    let count = |axes: &[PairAxis]| axes.iter().map(|axis| axis.size).product::<u64>();
    if has_order {
        return along(&layout.axes, [dst, src], 0..count(&layout.axes));
    }
    for (axes, start) in in_squares(&layout.axes, layout.width) {
        let addresses = [(dst, start[DST]), (src, start[SRC])]
            .map(|(address, distance)| address.offset(distance as usize));
        let grain = (PART / layout.width).clamp(1, ELEMENTS);
        for_elements(count(&axes), grain, &|part| along(&axes, addresses, part))?;
    }
    Ok(())
}

/// The axes in parts that together are all elements, with where each begins. If the elements of one side lie side by
/// side along another axis than those of the other side, the inner axes of a part are those of a square.
fn in_squares(axes: &PairAxes, width: u64) -> SmallVec<[(PairAxes, [i64; 2]); 4]> {
    let along = |side: usize| {
        axes.iter()
            .position(|axis| axis.strides[side].unsigned_abs() == width && axis.size >= SQUARE)
    };
    let (Some(first), Some(second)) = (along(DST), along(SRC)) else {
        return SmallVec::from_iter([(axes.clone(), [0; 2])]);
    };
    if first == second {
        return SmallVec::from_iter([(axes.clone(), [0; 2])]);
    }
    let mut parts = SmallVec::new();
    for (one, one_start) in in_steps(&axes[first]) {
        for (other, other_start) in in_steps(&axes[second]) {
            let mut own: PairAxes = [one[0], other[0], one[1], other[1]].into_iter().collect();
            let others = axes.iter().enumerate().filter(|(at, _)| *at != first && *at != second);
            own.extend(others.map(|(_, axis)| *axis));
            let start = [DST, SRC].map(|side| one_start[side].wrapping_add(other_start[side]));
            own.retain(|axis| axis.size != 1);
            parts.push((own, start));
        }
    }
    parts
}

/// An axis as steps of [`SQUARE`] elements, and what is left; each as the elements of a step and the steps, with where
/// it begins.
fn in_steps(axis: &PairAxis) -> impl Iterator<Item = ([PairAxis; 2], [i64; 2])> {
    let PairAxis { size, strides } = *axis;
    let (steps, rest) = (size / SQUARE, size % SQUARE);
    let after = |count: u64| strides.map(|stride| stride.wrapping_mul(count as i64));
    let whole =
        [PairAxis { size: SQUARE, strides }, PairAxis { size: steps, strides: after(SQUARE) }];
    let left = [PairAxis { size: rest, strides }, PairAxis { size: 1, strides: [0; 2] }];
    let parts = [(whole, [0; 2]), (left, after(steps * SQUARE))];
    parts.into_iter().filter(|(axes, _)| axes[0].size * axes[1].size != 0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::copy::Axis;
    use crate::copy::host_copy::of_test;

    /// Copies of several shapes on one thread and on several, against a loop over all elements.
    #[test]
    fn every_element_arrives_on_any_number_of_threads() {
        type Case = (usize, &'static [(u64, i64, i64)]);
        let cases: [Case; 6] = [
            (4, &[(300, 1000, 1), (1000, 1, 300)]),
            (2, &[(3, 70_000, 64), (70, 1000, 200), (1000, 1, 14_000)]),
            (1, &[(100, 3001, 3000), (3000, 1, 1)]),
            (8, &[(33, 33, 1), (33, 1, 33)]),
            (16, &[(500, 1, 2), (50, 500, 1000)]),
            (6, &[(100, 120, 1), (120, 1, 100)]),
        ];
        for (width, shape) in cases {
            let axes: Vec<Axis> = shape
                .iter()
                .map(|(size, dst_stride, src_stride)| Axis {
                    size: *size,
                    dst_stride: *dst_stride,
                    src_stride: *src_stride,
                })
                .collect();
            let end = |stride: fn(&Axis) -> i64| {
                axes.iter().map(|axis| (axis.size as i64 - 1) * stride(axis)).sum::<i64>() as usize
                    + 1
            };
            let ends = [end(|axis| axis.dst_stride), end(|axis| axis.src_stride)];
            let mut source: Vec<u8> =
                (0..ends[1] * width).map(|at| (at * 31 + at / 251) as u8).collect();
            let mut expected = vec![0xee_u8; ends[0] * width];
            let count: u64 = axes.iter().map(|axis| axis.size).product();
            for number in 0..count {
                let (mut rest, mut places) = (number, [0_usize; 2]);
                for axis in &axes {
                    let index = (rest % axis.size) as usize;
                    places[0] += index * axis.dst_stride as usize * width;
                    places[1] += index * axis.src_stride as usize * width;
                    rest /= axis.size;
                }
                expected[places[0]..][..width].copy_from_slice(&source[places[1]..][..width]);
            }
            for threads in [1, 2, 5] {
                sconce_math::parallel::set_count(threads).unwrap();
                let mut found = vec![0xee_u8; ends[0] * width];
                let [dst, src] = [&mut found, &mut source]
                    .map(|bytes| of_test(bytes.as_mut_ptr() as usize, bytes.len()).raw());
                let layout = CopyLayout::of(width, &axes).unwrap().unwrap();
                copy([dst, src], &layout).unwrap();
                assert!(found == expected, "{shape:?} on {threads} threads");
            }
        }
    }

    #[test]
    fn overlapping_ranges_are_moved() {
        sconce_math::parallel::set_count(4).unwrap();
        for (to, from) in [(0, 777), (777, 0)] {
            let mut bytes: Vec<u8> = (0..3_000_000_usize).map(|at| (at / 97) as u8).collect();
            let mut expected = bytes.clone();
            expected.copy_within(from..from + 2_000_000, to);
            let all = of_test(bytes.as_mut_ptr() as usize, bytes.len());
            let [dst, src] = [to, from].map(|at| all.part(at, 2_000_000).raw());
            copy_packed(dst, src, 2_000_000).unwrap();
            assert!(bytes == expected, "from {from} to {to}");
        }
    }
}
