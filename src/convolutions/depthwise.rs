//! Convolutions in which every channel has a filter of its own.

use super::ChannelOrder;
use super::lines::FilterAxis;
use crate::products::Real;
use crate::unfolding::{Geometry, MOST_SPATIAL, Uncalculated, zeros};

/// Channels whose sums are kept while the filter is walked, as many as fit into registers.
const LANES: usize = 16;

pub(super) fn convolve<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<(), Uncalculated> {
    let axes = std::array::from_fn(|axis| FilterAxis::of(geometry, axis));
    let taps = geometry.taps();
    match order {
        ChannelOrder::First => {
            let planes = input.chunks_exact(geometry.input_area());
            let results = output.chunks_exact_mut(geometry.positions());
            for (index, (plane, result)) in planes.zip(results).enumerate() {
                let filter = &filter[index % geometry.groups * taps..][..taps];
                channel(geometry, &axes, plane, filter, result);
            }
        }
        ChannelOrder::Last => {
            // Channels come last in the input, and first in the filter.
            let mut turned = zeros::<T>(filter.len())?;
            for (index, value) in filter.iter().enumerate() {
                turned[index % taps * geometry.groups + index / taps] = *value;
            }
            let images = input.chunks_exact(geometry.input_elements());
            let results = output.chunks_exact_mut(geometry.output_elements());
            for (image, result) in images.zip(results) {
                all_channels(geometry, &axes, image, &turned, result);
            }
        }
    }
    Ok(())
}

/// One channel of an image: each element of the filter adds a line of the input to a line of the output.
fn channel<T: Real>(
    geometry: &Geometry,
    axes: &[FilterAxis; MOST_SPATIAL],
    input: &[T],
    filter: &[T],
    output: &mut [T],
) {
    let [_, height, width] = geometry.filter;
    let [_, input_rows, input_width] = geometry.input;
    let [_, rows, columns] = geometry.output;
    output.fill(T::default());
    for (line, output) in output.chunks_exact_mut(columns).enumerate() {
        for (tap, factor) in filter.iter().enumerate() {
            let z = axes[0].place(line / rows, tap / width / height);
            let y = axes[1].place(line % rows, tap / width % height);
            let reached = axes[2].outputs(tap % width);
            let x = axes[2].place(reached.start, tap % width);
            let (Some(z), Some(y), Some(x)) = (z, y, x) else { continue };
            let from = &input[(z * input_rows + y) * input_width + x..];
            add_line(&mut output[reached], from, axes[2].stride(), *factor);
        }
    }
}

fn add_line<T: Real>(to: &mut [T], from: &[T], step: usize, factor: T) {
    if step == 1 {
        for (to, from) in to.iter_mut().zip(from) {
            *to = *to + *from * factor;
        }
        return;
    }
    for (to, from) in to.iter_mut().zip(from.iter().step_by(step)) {
        *to = *to + *from * factor;
    }
}

/// All channels of an image: each output is a sum over the filter, of some channels at a time.
fn all_channels<T: Real>(
    geometry: &Geometry,
    axes: &[FilterAxis; MOST_SPATIAL],
    input: &[T],
    filter: &[T],
    output: &mut [T],
) {
    let channels = geometry.groups;
    let [_, height, width] = geometry.filter;
    let [_, input_rows, input_width] = geometry.input;
    let [_, rows, columns] = geometry.output;
    let mut read = Vec::with_capacity(geometry.taps());
    for (position, output) in output.chunks_exact_mut(channels).enumerate() {
        let place = [position / columns / rows, position / columns % rows, position % columns];
        read.clear();
        for tap in 0..geometry.taps() {
            let at = [tap / width / height, tap / width % height, tap % width];
            let [z, y, x] = std::array::from_fn(|axis| axes[axis].place(place[axis], at[axis]));
            let (Some(z), Some(y), Some(x)) = (z, y, x) else { continue };
            let from = ((z * input_rows + y) * input_width + x) * channels;
            read.push((&input[from..][..channels], &filter[tap * channels..][..channels]));
        }
        sums(&read, output);
    }
}

/// Writes, for each channel, the sum of products of values and factors.
fn sums<T: Real>(read: &[(&[T], &[T])], output: &mut [T]) {
    let whole = output.len() / LANES * LANES;
    let (blocks, rest) = output.split_at_mut(whole);
    for (index, output) in blocks.chunks_exact_mut(LANES).enumerate() {
        let own = index * LANES..(index + 1) * LANES;
        let mut sums = [T::default(); LANES];
        for (values, factors) in read {
            let products = values[own.clone()].iter().zip(&factors[own.clone()]);
            for (sum, (value, factor)) in sums.iter_mut().zip(products) {
                *sum = *sum + *value * *factor;
            }
        }
        output.copy_from_slice(&sums);
    }
    for (channel, output) in rest.iter_mut().enumerate() {
        let channel = whole + channel;
        *output = read
            .iter()
            .fold(T::default(), |sum, (values, factors)| sum + values[channel] * factors[channel]);
    }
}
