//! Convolutions of packed images on the CPU, in both orders of memory, as pure arithmetic. See `docs/design/dnn.md`.
//!
//! Most are products of the filter with the unfolded input (`unfolded`). Where an element of the output needs one
//! channel alone, nothing is shared among columns of such a product, and sums are made in place (`depthwise`).
//!
//! | file | idea |
//! |---|---|
//! | `lines` | which outputs of an axis an element of the filter takes part in |
//! | `columns` | the unfolded input where channels come first: a column for each element of the filter |
//! | `rows` | the unfolded input where channels come last: a row for each output |
//! | `unfolded` | products with the unfolded input, a block of outputs at a time |
//! | `depthwise` | a filter for each channel |

mod columns;
mod depthwise;
mod lines;
mod rows;
#[cfg(test)]
mod tests;
mod unfolded;

use crate::products::Real;
use crate::unfolding::{Geometry, Uncalculated};

/// Where channels lie in memory; images and spatial dimensions have the usual order. The filter has the same order:
/// its outputs are like images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelOrder {
    First,
    Last,
}

/// Writes the whole output, from all images and the filter. All three are packed, in the same order.
pub(crate) fn convolve<T: Real>(
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
    unfolded::convolve(geometry, order, input, filter, output)
}
