//! The unfolded input where channels come last.

use std::ops::Range;

use super::lines::FilterAxis;
use crate::unfolding::{Geometry, MOST_SPATIAL};

/// Writes a row for each of the `outputs`, which go on from image to image, with an entry for each element of the
/// filter. `input` has all images; a group's channels are at `channels` of each place.
pub(super) fn unfold<T: Copy + Default>(
    geometry: &Geometry,
    outputs: &Range<usize>,
    channels: &Range<usize>,
    input: &[T],
    unfolded: &mut [T],
) {
    let axes: [FilterAxis; MOST_SPATIAL] =
        std::array::from_fn(|axis| FilterAxis::of(geometry, axis));
    let [_, rows, columns] = geometry.output;
    for (output, row) in outputs.clone().zip(unfolded.chunks_exact_mut(geometry.taps())) {
        let (image, position) = (output / geometry.positions(), output % geometry.positions());
        let place = [position / columns / rows, position / columns % rows, position % columns];
        let image = &input[image * geometry.input_elements()..][..geometry.input_elements()];
        fill(geometry, &axes, place, channels, image, row);
    }
}

/// Writes a row, line by line of the filter.
fn fill<T: Copy + Default>(
    geometry: &Geometry,
    axes: &[FilterAxis; MOST_SPATIAL],
    output: [usize; MOST_SPATIAL],
    channels: &Range<usize>,
    image: &[T],
    row: &mut [T],
) {
    let [_, height, width] = geometry.filter;
    let [_, input_rows, input_width] = geometry.input;
    let all_channels = geometry.channels * geometry.groups;
    let read = axes[2].taps(output[2], width);
    for (line, part) in row.chunks_exact_mut(width * channels.len()).enumerate() {
        let z = axes[0].place(output[0], line / height);
        let y = axes[1].place(output[1], line % height);
        let (Some(z), Some(y), Some(x)) = (z, y, axes[2].place(output[2], read.start)) else {
            part.fill(T::default());
            continue;
        };
        let (before, others) = part.split_at_mut(read.start * channels.len());
        let (middle, after) = others.split_at_mut(read.len() * channels.len());
        before.fill(T::default());
        after.fill(T::default());
        let from = &image[((z * input_rows + y) * input_width + x) * all_channels..];
        let step = axes[2].dilation() * all_channels;
        if step == channels.len() {
            middle.copy_from_slice(&from[..middle.len()]);
            continue;
        }
        for (to, from) in middle.chunks_exact_mut(channels.len()).zip(from.chunks(step)) {
            to.copy_from_slice(&from[channels.clone()]);
        }
    }
}
