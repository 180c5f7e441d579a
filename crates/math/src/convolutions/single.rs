//! Convolutions whose outputs read the one place that they lie at: products of the input as it is and the filter.

use super::ChannelOrder;
use crate::products::{MatrixInSlice, Real, multiply_within};
use crate::unfolding::{Geometry, Uncalculated};

/// Whether the convolution is one of these.
pub(super) fn is_single(geometry: &Geometry) -> bool {
    geometry.filter == [1; 3] && geometry.stride == [1; 3] && geometry.padding == [0; 3]
}

pub(super) fn convolve<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<(), Uncalculated> {
    let Geometry { channels, features, groups, images, .. } = *geometry;
    let filters = filter.chunks_exact(features * channels);
    let filters = filters.map(|values| MatrixInSlice { values, steps: [1, channels] });
    if order == ChannelOrder::Last {
        let positions = images * geometry.positions();
        for (group, filter) in filters.enumerate() {
            let (from, to) = (&input[group * channels..], &mut output[group * features..]);
            let input = MatrixInSlice { values: from, steps: [channels * groups, 1] };
            let output = MatrixInSlice { values: to, steps: [features * groups, 1] };
            multiply_within([positions, features, channels], input, filter, output)?;
        }
        return Ok(());
    }
    let positions = geometry.positions();
    let inputs = input.chunks_exact(channels * positions);
    let outputs = output.chunks_exact_mut(features * positions);
    for ((input, output), filter) in inputs.zip(outputs).zip(filters.cycle()) {
        let input = MatrixInSlice { values: input, steps: [1, positions] };
        let output = MatrixInSlice { values: output, steps: [1, positions] };
        multiply_within([positions, features, channels], input, filter, output)?;
    }
    Ok(())
}
