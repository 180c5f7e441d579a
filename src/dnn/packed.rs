//! Filters with gaps, which cuDNN does not take: a packed temporary stands in for them.

use crate::copy::PackedOperand;
use crate::driver::{ConvolutionTensor, alignment_of};
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::strided::{in_order_of, packed_strides};
use crate::types::DevicePtr;

/// A temporary for a filter with gaps, and the tensor that the library is given. Its dimensions lie in the
/// order of those of the filter; nothing is copied yet.
pub(super) fn packed_filter(
    address: DevicePtr,
    filter: &ConvolutionTensor,
    element: usize,
    stream: Stream,
) -> Result<(PackedOperand<5>, ConvolutionTensor)> {
    let (strides, bytes) = packed(filter, element).ok_or_else(too_large)?;
    let given = (address, filter.strides);
    let memory = PackedOperand::new(given, (filter.sizes, strides), element, bytes, stream)?;
    let alignment = alignment_of(memory.address());
    Ok((memory, ConvolutionTensor { strides, alignment, ..*filter }))
}

/// Strides without gaps in the same order, and the bytes of all elements; `None` where there are more
/// than memory could hold, which strides that overlap make possible.
fn packed(filter: &ConvolutionTensor, element: usize) -> Option<([i64; 5], usize)> {
    let (strides, elements) = packed_strides(&filter.sizes, in_order_of(&filter.strides))?;
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
    fn dimensions_keep_their_order() {
        let strides =
            |sizes, strides| packed(&ConvolutionTensor { sizes, strides, alignment: 4 }, 4);
        assert_eq!(strides([4, 3, 2, 2, 1], [90, 20, 9, 2, 1]), Some(([12, 4, 2, 1, 1], 192)));
        // Channels last, and sizes of 1 as they are settled for packed filters.
        assert_eq!(strides([4, 3, 2, 2, 1], [99, 1, 40, 10, 1]), Some(([12, 1, 6, 3, 1], 192)));
        assert_eq!(strides([4, 3, 1, 2, 1], [90, 20, 10, 5, 1]), Some(([6, 2, 2, 1, 1], 96)));
        // All in one place.
        assert_eq!(strides([2, 2, 2, 2, 1], [1; 5]).map(|(_, bytes)| bytes), Some(64));
        assert_eq!(strides([1 << 40, 1 << 40, 1, 1, 1], [1; 5]), None);
        assert_eq!(strides([1 << 31, 1 << 30, 1, 1, 1], [1; 5]), None);
    }
}
