//! Views whose words are written from one place to another, without a layout on the way.

use sconce_base::sync::{Ordering, fence};

use super::place::{HandlePlace, TensorWords};
use crate::tensor::layout::INLINE;

/// The sizes and strides of a view that is being made. They are words of a place that the caller has alone.
pub struct NewExtents<'a>(&'a HandlePlace);

/// What a view has besides sizes and strides.
pub struct ViewPosition {
    pub(crate) rank: usize,
    pub(crate) numel: i64,
    pub(crate) offset: i64,
    /// Of the first element.
    pub(crate) address: usize,
}

impl NewExtents<'_> {
    /// As many dimensions have room.
    pub(crate) const MOST: usize = INLINE;

    /// Writes the size and the stride of a dimension below [`MOST`](Self::MOST).
    #[inline(always)]
    pub(crate) fn set(&self, dim: usize, size: i64, stride: i64) {
        let [sizes, strides] = &self.0.extents;
        if let (Some(to_size), Some(to_stride)) = (sizes.get(dim), strides.get(dim)) {
            to_size.store(size as u64, Ordering::Relaxed);
            to_stride.store(stride as u64, Ordering::Relaxed);
        }
    }
}

impl TensorWords<'_> {
    /// The size and the stride of a dimension below [`NewExtents::MOST`].
    #[inline(always)]
    pub(crate) fn dim(&self, dim: usize) -> Option<(i64, i64)> {
        let [sizes, strides] = &self.place.extents;
        let (size, stride) = (sizes.get(dim)?, strides.get(dim)?);
        Some((size.load(Ordering::Relaxed) as i64, stride.load(Ordering::Relaxed) as i64))
    }
}

impl HandlePlace {
    /// Writes a view of a tensor that is looked at, of the same storage and type, to a place that the caller has taken.
    /// `view` writes sizes and strides; `None`: it cannot make the view. The place may be published if the tensor was
    /// alive behind the look, and its storage is owned for the place.
    #[inline(always)]
    pub(super) fn write_view(
        &self,
        source: &TensorWords<'_>,
        view: impl FnOnce(&TensorWords<'_>, &NewExtents<'_>) -> Option<ViewPosition>,
    ) -> Option<()> {
        // As in `write`.
        fence(Ordering::Release);
        let ViewPosition { rank, numel, offset, address } = view(source, &NewExtents(self))?;
        self.kind.store(source.kind_with_rank(rank), Ordering::Relaxed);
        self.offset.store(offset as u64, Ordering::Relaxed);
        self.numel.store(numel as u64, Ordering::Relaxed);
        self.address.store(address as u64, Ordering::Relaxed);
        self.device.store(source.device() as u64, Ordering::Relaxed);
        Some(())
    }
}
