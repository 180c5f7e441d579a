//! A packed temporary in place of elements of a device that lie with gaps.

use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_driver::RawAddress;
use sconce_runtime::memory::Temporary;
use sconce_runtime::stream::Stream;

use super::Axis;
use super::strided::copy_strided;

/// Memory of a device, for work of one stream, to which strided elements are copied and from which they
/// are copied back.
pub(crate) struct PackedOperand<const N: usize> {
    memory: Temporary,
    given: DevicePtr,
    element: usize,
    sizes: [i64; N],
    given_strides: [i64; N],
    packed_strides: [i64; N],
}

impl<const N: usize> PackedOperand<N> {
    /// A temporary of `bytes` bytes for elements of `element` bytes at `given`; nothing is copied yet.
    /// Sizes and strides are in elements.
    #[inline]
    pub(crate) fn new(
        (given, given_strides): (DevicePtr, [i64; N]),
        (sizes, packed_strides): ([i64; N], [i64; N]),
        element: usize,
        bytes: usize,
        stream: Stream,
    ) -> Result<PackedOperand<N>> {
        let memory = Temporary::new(bytes, stream)?;
        Ok(PackedOperand { memory, given, element, sizes, given_strides, packed_strides })
    }

    /// Where the temporary begins.
    pub(crate) fn address(&self) -> DevicePtr {
        self.memory.address()
    }

    /// Queues the copy of the given elements into the temporary.
    pub(crate) fn load(&self) -> Result<()> {
        let (packed, given) = (self.packed_strides, self.given_strides);
        self.copy((self.address(), packed), (self.given, given))
    }

    /// Queues the copy of the temporary to where the given elements lie.
    pub(crate) fn store(&self) -> Result<()> {
        let (packed, given) = (self.packed_strides, self.given_strides);
        self.copy((self.given, given), (self.address(), packed))
    }

    fn copy(
        &self,
        (dst, dst_strides): (DevicePtr, [i64; N]),
        (src, src_strides): (DevicePtr, [i64; N]),
    ) -> Result<()> {
        let axes: [Axis; N] = std::array::from_fn(|at| Axis {
            size: self.sizes[at].unsigned_abs(),
            dst_stride: dst_strides[at],
            src_stride: src_strides[at],
        });
        copy_strided(RawAddress::from(dst), RawAddress::from(src), self.element, &axes, true)
    }
}
