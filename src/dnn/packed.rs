//! Filters with gaps, which cuDNN does not take: a packed temporary stands in for them.

use crate::copy::{Axis, copy_strided};
use crate::driver::{ConvolutionTensor, alignment_of};
use crate::error::{Error, Result};
use crate::memory::Temporary;
use crate::stream::Stream;
use crate::types::DevicePtr;

/// A packed filter in place of one with gaps.
pub(super) struct Packed {
    given: (DevicePtr, ConvolutionTensor),
    /// Its dimensions lie in the order of those that were given.
    pub(super) tensor: ConvolutionTensor,
    memory: Temporary,
    element: usize,
}

impl Packed {
    /// A temporary for a filter at an address; nothing is copied yet.
    pub(super) fn new(
        address: DevicePtr,
        filter: &ConvolutionTensor,
        element: usize,
        stream: Stream,
    ) -> Result<Packed> {
        let (strides, bytes) = packed(filter, element).ok_or_else(too_large)?;
        let memory = Temporary::new(bytes, stream)?;
        let alignment = alignment_of(memory.address());
        let tensor = ConvolutionTensor { strides, alignment, ..*filter };
        Ok(Packed { given: (address, *filter), tensor, memory, element })
    }

    pub(super) fn address(&self) -> DevicePtr {
        self.memory.address()
    }

    /// Queues the copy of what was given into the temporary.
    pub(super) fn fill(&self) -> Result<()> {
        let (from, given) = &self.given;
        self.copy((self.address(), &self.tensor), (*from, given))
    }

    /// Queues the copy of the temporary to where the result shall be.
    pub(super) fn read(&self) -> Result<()> {
        let (to, given) = &self.given;
        self.copy((*to, given), (self.address(), &self.tensor))
    }

    fn copy(
        &self,
        (dst, to): (DevicePtr, &ConvolutionTensor),
        (src, from): (DevicePtr, &ConvolutionTensor),
    ) -> Result<()> {
        let axis = |at: usize| Axis {
            size: to.sizes[at] as u64,
            dst_stride: to.strides[at],
            src_stride: from.strides[at],
        };
        let axes: [Axis; 5] = std::array::from_fn(axis);
        copy_strided(dst.into(), src.into(), self.element, &axes, true)
    }
}

/// Strides without gaps in the same order, and the bytes of all elements; `None` where there are more
/// than memory could hold, which strides that overlap make possible.
fn packed(filter: &ConvolutionTensor, element: usize) -> Option<([i64; 5], usize)> {
    let mut order = [4, 3, 2, 1, 0];
    order.sort_by_key(|axis| filter.strides[*axis]);
    let (mut strides, mut next) = ([1; 5], 1_i64);
    for axis in order {
        strides[axis] = next;
        next = next.checked_mul(filter.sizes[axis])?;
    }
    let bytes = next.checked_mul(element as i64)?;
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
