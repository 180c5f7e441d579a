//! Convolutions as products of the unfolded input and the filter.

use super::{ChannelOrder, columns, rows};
use crate::products::{MatrixInSlice, Real, multiply_within};
use crate::unfolding::{Geometry, Uncalculated, zeros};

/// Elements of a block of the unfolded input, unless that were fewer outputs than [`FEWEST_OUTPUTS`].
const BLOCK: usize = 1 << 17;

/// Outputs of a block for which reading the filter, once a block, is little beside the product.
const FEWEST_OUTPUTS: usize = 256;

pub(super) fn convolve<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<(), Uncalculated> {
    let mut unfolded = Vec::new();
    match order {
        ChannelOrder::First => {
            let images = input.chunks_exact(geometry.input_elements());
            let results = output.chunks_exact_mut(geometry.output_elements());
            for (input, output) in images.zip(results) {
                channels_first(geometry, input, filter, output, &mut unfolded)?;
            }
            Ok(())
        }
        ChannelOrder::Last => channels_last(geometry, input, filter, output, &mut unfolded),
    }
}

/// One image. Columns of the unfolded input, and of the result, lie one after another.
fn channels_first<T: Real>(
    geometry: &Geometry,
    input: &[T],
    filter: &[T],
    output: &mut [T],
    unfolded: &mut Vec<T>,
) -> Result<(), Uncalculated> {
    let (taps, features, positions) = (geometry.taps(), geometry.features, geometry.positions());
    let inputs = input.chunks_exact(geometry.channels * geometry.input_area());
    let outputs = output.chunks_exact_mut(features * positions);
    let filters = filter.chunks_exact(features * taps);
    for ((input, filter), output) in inputs.zip(filters).zip(outputs) {
        let filter = MatrixInSlice { values: filter, steps: [1, taps] };
        if is_unfolded(geometry) {
            let input = MatrixInSlice { values: input, steps: [1, positions] };
            let output = MatrixInSlice { values: output, steps: [1, positions] };
            multiply_within([positions, features, taps], input, filter, output)?;
            continue;
        }
        let step = outputs_of_block(taps, positions);
        for first in (0..positions).step_by(step) {
            let block = first..positions.min(first + step);
            let values = room(unfolded, block.len() * taps)?;
            columns::unfold(geometry, &block, input, values);
            let input = MatrixInSlice { values: &*values, steps: [1, block.len()] };
            let output = MatrixInSlice { values: &mut output[first..], steps: [1, positions] };
            multiply_within([block.len(), features, taps], input, filter, output)?;
        }
    }
    Ok(())
}

/// All images. Rows of the unfolded input, and of the result, lie one after another.
fn channels_last<T: Real>(
    geometry: &Geometry,
    input: &[T],
    filter: &[T],
    output: &mut [T],
    unfolded: &mut Vec<T>,
) -> Result<(), Uncalculated> {
    let Geometry { channels, features, groups, images, .. } = *geometry;
    let (taps, outputs) = (geometry.taps(), images * geometry.positions());
    for (group, filter) in filter.chunks_exact(features * taps).enumerate() {
        let filter = MatrixInSlice { values: filter, steps: [1, taps] };
        let own = group * channels..(group + 1) * channels;
        let results = &mut output[group * features..];
        if is_unfolded(geometry) {
            let input =
                MatrixInSlice { values: &input[own.start..], steps: [channels * groups, 1] };
            let output = MatrixInSlice { values: results, steps: [features * groups, 1] };
            multiply_within([outputs, features, taps], input, filter, output)?;
            continue;
        }
        let step = outputs_of_block(taps, outputs);
        for first in (0..outputs).step_by(step) {
            let block = first..outputs.min(first + step);
            let values = room(unfolded, block.len() * taps)?;
            rows::unfold(geometry, &block, &own, input, values);
            let input = MatrixInSlice { values: &*values, steps: [taps, 1] };
            let results = &mut results[first * features * groups..];
            let output = MatrixInSlice { values: results, steps: [features * groups, 1] };
            multiply_within([block.len(), features, taps], input, filter, output)?;
        }
    }
    Ok(())
}

/// Whether each output reads the one place that it lies at, so that the input is unfolded as it is.
fn is_unfolded(geometry: &Geometry) -> bool {
    geometry.filter == [1; 3] && geometry.stride == [1; 3] && geometry.padding == [0; 3]
}

fn outputs_of_block(taps: usize, outputs: usize) -> usize {
    (BLOCK / taps).max(FEWEST_OUTPUTS).min(outputs)
}

/// The beginning of a list, which grows as it must.
fn room<T: Real>(list: &mut Vec<T>, count: usize) -> Result<&mut [T], Uncalculated> {
    if list.len() < count {
        *list = zeros(count)?;
    }
    Ok(&mut list[..count])
}
