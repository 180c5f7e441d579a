//! The unfolded input where channels come first.

use std::ops::Range;

use super::lines::FilterAxis;
use crate::unfolding::{Geometry, MOST_SPATIAL};

/// Writes a column for each element of the filter, with an entry for each of the `outputs` of an image. `input` has
/// the channels of a group.
pub(super) fn unfold<T: Copy + Default>(
    geometry: &Geometry,
    outputs: &Range<usize>,
    input: &[T],
    unfolded: &mut [T],
) {
    let axes: [FilterAxis; MOST_SPATIAL] =
        std::array::from_fn(|axis| FilterAxis::of(geometry, axis));
    let [depth, height, width] = geometry.filter;
    let mut columns = unfolded.chunks_exact_mut(outputs.len());
    for channel in input.chunks_exact(geometry.input_area()) {
        for tap in 0..depth * height * width {
            let Some(column) = columns.next() else { return };
            let tap = [tap / width / height, tap / width % height, tap % width];
            fill(geometry, &axes, tap, outputs.start, channel, column);
        }
    }
}

/// Writes a column, line by line of the output.
fn fill<T: Copy + Default>(
    geometry: &Geometry,
    axes: &[FilterAxis; MOST_SPATIAL],
    tap: [usize; MOST_SPATIAL],
    first: usize,
    channel: &[T],
    mut column: &mut [T],
) {
    let [_, rows, width] = geometry.output;
    let [_, input_rows, input_width] = geometry.input;
    let read = axes[2].outputs(tap[2]);
    let (mut line, mut start) = (first / width, first % width);
    while !column.is_empty() {
        let end = width.min(start + column.len());
        let (part, rest) = column.split_at_mut(end - start);
        column = rest;
        let [z, y] = [axes[0].place(line / rows, tap[0]), axes[1].place(line % rows, tap[1])];
        let inside = match (z, y) {
            (Some(_), Some(_)) => read.start.clamp(start, end)..read.end.clamp(start, end),
            _ => start..start,
        };
        let (before, others) = part.split_at_mut(inside.start - start);
        let (middle, after) = others.split_at_mut(inside.len());
        before.fill(T::default());
        after.fill(T::default());
        if let (Some(z), Some(y), Some(x)) = (z, y, axes[2].place(inside.start, tap[2]))
            && !middle.is_empty()
        {
            let from = &channel[(z * input_rows + y) * input_width + x..];
            copy_steps(middle, from, axes[2].stride());
        }
        (line, start) = (line + 1, 0);
    }
}

fn copy_steps<T: Copy>(to: &mut [T], from: &[T], step: usize) {
    if step == 1 {
        to.copy_from_slice(&from[..to.len()]);
        return;
    }
    for (to, from) in to.iter_mut().zip(from.iter().step_by(step)) {
        *to = *from;
    }
}
