//! Convolutions in which every channel has a filter of its own.

use sconce_driver::MOST_SPATIAL;

use super::ChannelOrder;
use super::lines::FilterAxis;
use crate::parallel::for_lines;
use crate::products::Real;
use crate::unfolding::{Geometry, Uncalculated, zeros};

/// Channels whose sums are kept while the filter is walked, as many as fit into registers.
const LANES: usize = 16;

/// The least multiplications of a part, some 30 µs.
const LEAST: usize = 1 << 17;

pub(super) fn convolve<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<(), Uncalculated> {
    let axes = std::array::from_fn(|axis| FilterAxis::of(geometry, axis));
    let taps = geometry.taps();
    let width = match order {
        ChannelOrder::First => geometry.output[2],
        ChannelOrder::Last => geometry.groups,
    };
    let grain = LEAST.div_ceil((width * taps).max(1)) as u64;
    match order {
        ChannelOrder::First => {
            let lines = geometry.output[0] * geometry.output[1];
            for_lines(output, width, grain, &|first, output| {
                for (index, output) in output.chunks_exact_mut(width).enumerate() {
                    let (plane, at) = ((first + index) / lines, (first + index) % lines);
                    let input = &input[plane * geometry.input_area()..][..geometry.input_area()];
                    let filter = &filter[plane % geometry.groups * taps..][..taps];
                    line(geometry, &axes, input, filter, at, output);
                }
            });
        }
        ChannelOrder::Last => {
            // Channels come last in the input, and first in the filter.
            let mut turned = zeros::<T>(filter.len())?;
            for (index, value) in filter.iter().enumerate() {
                turned[index % taps * geometry.groups + index / taps] = *value;
            }
            for_lines(output, width, grain, &|first, output| {
                let mut read = Vec::with_capacity(taps);
                for (index, output) in output.chunks_exact_mut(width).enumerate() {
                    let place = first + index;
                    let (image, at) = (place / geometry.positions(), place % geometry.positions());
                    let input = &input[image * geometry.input_elements()..];
                    all_channels(geometry, &axes, (input, at), &turned, &mut read);
                    sums(&read, output);
                }
            });
        }
    }
    Ok(())
}

/// A line of a channel's output: each element of the filter adds a line of the input.
fn line<T: Real>(
    geometry: &Geometry,
    axes: &[FilterAxis; MOST_SPATIAL],
    input: &[T],
    filter: &[T],
    line: usize,
    output: &mut [T],
) {
    let [_, height, width] = geometry.filter;
    let [_, input_rows, input_width] = geometry.input;
    let [_, rows, _] = geometry.output;
    output.fill(T::default());
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

/// What the channels of a position are summed of: the values that each element of the filter meets, and its factors.
fn all_channels<'a, T: Real>(
    geometry: &Geometry,
    axes: &[FilterAxis; MOST_SPATIAL],
    (input, position): (&'a [T], usize),
    filter: &'a [T],
    read: &mut Vec<(&'a [T], &'a [T])>,
) {
    let channels = geometry.groups;
    let [_, height, width] = geometry.filter;
    let [_, input_rows, input_width] = geometry.input;
    let [_, rows, columns] = geometry.output;
    let place = [position / columns / rows, position / columns % rows, position % columns];
    read.clear();
    for tap in 0..geometry.taps() {
        let at = [tap / width / height, tap / width % height, tap % width];
        let [z, y, x] = std::array::from_fn(|axis| axes[axis].place(place[axis], at[axis]));
        let (Some(z), Some(y), Some(x)) = (z, y, x) else { continue };
        let from = ((z * input_rows + y) * input_width + x) * channels;
        read.push((&input[from..][..channels], &filter[tap * channels..][..channels]));
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
