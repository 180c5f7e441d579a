//! Filters with gaps or in an unusual order of dimensions, with which cuDNN does not calculate: a packed temporary
//! stands in for them.

use sconce_base::error::{Error, Result};
use sconce_base::strided::packed_strides;
use sconce_base::types::DevicePtr;
use sconce_driver::{ConvolutionTensor, alignment_of};
use sconce_runtime::stream::Stream;

use super::shape::has_channels_last;
use crate::copy::PackedOperand;

/// The last dimension innermost; and channels innermost.
const USUAL_ORDERS: [[usize; 5]; 2] = [[4, 3, 2, 1, 0], [1, 4, 3, 2, 0]];

/// Strides without gaps, and the number of elements; `None` where there are more than can be counted, which strides
/// that overlap make possible.
fn packed_in(
    order: [usize; 5],
    filter: &ConvolutionTensor,
    spatial: usize,
) -> Option<([i64; 5], i64)> {
    packed_strides(&filter.sizes, order.into_iter().filter(|axis| *axis < 2 + spatial))
}

/// The strides that say in which of the two orders that cuDNN calculates with a filter lies, without gaps; sizes of 1
/// have none of their own. `None` for other filters: cuDNN makes plans for them, and calculates something else.
pub(super) fn usual_strides(filter: &ConvolutionTensor, spatial: usize) -> Option<[i64; 5]> {
    let lies_so = |strides: &[i64; 5]| {
        (0..5).all(|axis| filter.sizes[axis] == 1 || strides[axis] == filter.strides[axis])
    };
    let known = USUAL_ORDERS.map(|order| packed_in(order, filter, spatial));
    let mut known = known.into_iter().flatten().map(|(strides, _)| strides);
    // Where both say so, the strides of sizes of 1 have been chosen before.
    known.clone().find(|strides| *strides == filter.strides).or_else(|| known.find(lies_so))
}

/// A temporary for a filter that is not usual, and the tensor that the library is given, with channels innermost if
/// they are so in the filter; nothing is copied yet.
pub(super) fn packed_filter(
    address: DevicePtr,
    (filter, spatial): (&ConvolutionTensor, usize),
    element: usize,
    stream: Stream,
) -> Result<(PackedOperand<5>, ConvolutionTensor)> {
    let (strides, bytes) = packed(filter, spatial, element).ok_or_else(too_large)?;
    let given = (address, filter.strides);
    let memory = PackedOperand::new(given, (filter.sizes, strides), element, bytes, stream)?;
    let alignment = alignment_of(memory.address());
    Ok((memory, ConvolutionTensor { strides, alignment, ..*filter }))
}

/// Strides of a packed temporary, and its bytes.
fn packed(filter: &ConvolutionTensor, spatial: usize, element: usize) -> Option<([i64; 5], usize)> {
    let order = USUAL_ORDERS[usize::from(has_channels_last(filter))];
    let (strides, elements) = packed_in(order, filter, spatial)?;
    let bytes = elements.checked_mul(element as i64)?;
    Some((strides, bytes as usize))
}

#[cold]
fn too_large() -> Error {
    Error::invalid_argument("desc: the filter has more elements than memory can hold")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_orders_are_usual() {
        let usual =
            |sizes, strides| usual_strides(&ConvolutionTensor { sizes, strides, alignment: 4 }, 2);
        for strides in [[12, 4, 2, 1, 1], [12, 1, 6, 3, 1]] {
            assert_eq!(usual([4, 3, 2, 2, 1], strides), Some(strides));
        }
        // What sizes of 1 have is corrected where it does not fit the others.
        assert_eq!(usual([2, 2, 3, 1, 1], [6, 3, 1, 6, 1]), Some([6, 3, 1, 1, 1]));
        assert_eq!(usual([4, 3, 1, 1, 1], [3, 1, 3, 3, 1]), Some([3, 1, 3, 3, 1]));
        assert_eq!(usual([4, 3, 1, 1, 1], [3, 1, 1, 1, 1]), Some([3, 1, 1, 1, 1]));
        for strides in [[13, 4, 2, 1, 1], [1, 4, 24, 12, 1], [12, 4, 1, 2, 1], [4, 16, 2, 1, 1]] {
            assert_eq!(usual([4, 3, 2, 2, 1], strides), None, "{strides:?}");
        }
    }

    #[test]
    fn filters_are_packed_in_a_usual_order() {
        let strides =
            |sizes, strides| packed(&ConvolutionTensor { sizes, strides, alignment: 4 }, 2, 4);
        assert_eq!(strides([4, 3, 2, 2, 1], [90, 20, 9, 2, 1]), Some(([12, 4, 2, 1, 1], 192)));
        // Channels last, and sizes of 1 with the strides of packed filters.
        assert_eq!(strides([4, 3, 2, 2, 1], [99, 1, 40, 10, 1]), Some(([12, 1, 6, 3, 1], 192)));
        assert_eq!(strides([4, 3, 1, 2, 1], [90, 20, 10, 5, 1]), Some(([6, 2, 2, 1, 1], 96)));
        // In another order.
        assert_eq!(strides([4, 3, 2, 2, 1], [1, 4, 24, 12, 1]), Some(([12, 1, 6, 3, 1], 192)));
        assert_eq!(strides([4, 3, 2, 2, 1], [12, 4, 1, 2, 1]), Some(([12, 4, 2, 1, 1], 192)));
        // All in one place.
        assert_eq!(strides([2, 2, 2, 2, 1], [1; 5]).map(|(_, bytes)| bytes), Some(64));
        assert_eq!(strides([1 << 40, 1 << 40, 1, 1, 1], [1; 5]), None);
        assert_eq!(strides([1 << 31, 1 << 30, 1, 1, 1], [1; 5]), None);
    }
}
