//! Convolutions of packed images on the CPU, in both orders of memory, as pure arithmetic. See `docs/design/dnn.md`.
//!
//! Where an element of the output needs one channel alone, the elements of the filter are few and each is used along a
//! line (`depthwise`). Where it needs one place alone, the convolution is a product of matrices (`single`). All others
//! are sums in place (`direct`). Threads share the images, the groups and the lines of the output, and the addition of
//! a bias.
//!
//! | file | idea |
//! |---|---|
//! | `lines` | which outputs of an axis an element of the filter takes part in |
//! | `depthwise` | a filter for each channel |
//! | `single` | filters of one element |
//! | `direct` | sums of a tile of outputs in registers: a folder |

mod depthwise;
mod direct;
mod lines;
mod single;
#[cfg(test)]
mod tests;

use crate::parallel::{GRAIN, for_lines};
use crate::products::Real;
use crate::unfolding::{Geometry, Uncalculated};

/// Where channels lie in memory; images and spatial dimensions have the usual order. The filter has the same order:
/// its outputs are like images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelOrder {
    First,
    Last,
}

/// Writes the whole output, from all images and the filter. All three are packed, in the same order. A bias has a
/// number for each feature, which is added to its sums.
pub fn convolve<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    input: &[T],
    filter: &[T],
    bias: Option<&[T]>,
    output: &mut [T],
) -> Result<(), Uncalculated> {
    sums(geometry, order, input, filter, output)?;
    let Some(bias) = bias else { return Ok(()) };
    if bias.len() != geometry.features * geometry.groups {
        return Err(Uncalculated::WrongLengths);
    }
    add_bias(order, geometry.positions(), bias, output);
    Ok(())
}

/// The least sums of a part to which a bias is added: the addition takes less than any other operation on elements.
const BIAS_GRAIN: u64 = 4 * GRAIN;

/// Adds the number of its channel to each of the sums.
fn add_bias<T: Real>(order: ChannelOrder, positions: usize, bias: &[T], sums: &mut [T]) {
    match order {
        ChannelOrder::First => for_lines(sums, 1, BIAS_GRAIN, &|first, mut sums| {
            let mut place = first;
            while !sums.is_empty() {
                let rest = (positions - place % positions).min(sums.len());
                let (channel, others) = sums.split_at_mut(rest);
                let bias = bias[place / positions % bias.len()];
                channel.iter_mut().for_each(|value| *value = *value + bias);
                (place, sums) = (place + rest, others);
            }
        }),
        ChannelOrder::Last => {
            let grain = BIAS_GRAIN.div_ceil(bias.len() as u64);
            for_lines(sums, bias.len(), grain, &|_, sums| {
                for place in sums.chunks_exact_mut(bias.len()) {
                    place.iter_mut().zip(bias).for_each(|(value, bias)| *value = *value + *bias);
                }
            });
        }
    }
}

/// [`convolve`] without a bias.
fn sums<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<(), Uncalculated> {
    let features = geometry.features * geometry.groups;
    let fits = input.len() == geometry.images * geometry.input_elements()
        && filter.len() == features * geometry.taps()
        && output.len() == geometry.images * geometry.output_elements();
    if !fits {
        return Err(Uncalculated::WrongLengths);
    }
    if geometry.channels == 1 && geometry.features == 1 {
        return depthwise::convolve(geometry, order, input, filter, output);
    }
    if single::is_single(geometry) {
        return single::convolve(geometry, order, input, filter, output);
    }
    direct::convolve(geometry, order, input, filter, output)
}
