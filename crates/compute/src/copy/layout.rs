//! The shape of a strided copy, in its simplest form: runs of bytes along as few axes as possible.

use sconce_base::error::{Error, Result};
use sconce_base::strided::{PairAxes, PairAxis, join_axes, turn_forwards};

use super::Axis;

/// The destination, as an index of [`PairAxis::strides`].
pub(super) const DST: usize = 0;
/// The source.
pub(super) const SRC: usize = 1;

/// Runs of `width` bytes, one at each index of `axes`, which go from the innermost to the
/// outermost. Strides are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyLayout {
    pub(super) width: u64,
    /// Where the run whose indices are all 0 begins, from the address that the caller gave.
    pub(super) start: [i64; 2],
    pub(super) axes: PairAxes,
}

impl CopyLayout {
    /// The layout of elements along axes, by the destination's strides; `None` when there are none.
    pub(super) fn of(element: usize, axes: &[Axis]) -> Result<Option<CopyLayout>> {
        if element == 0 {
            return Err(Error::invalid_argument(
                "shape.element_bytes is 0; an element has at least one byte",
            ));
        }
        if axes.iter().any(|axis| axis.size == 0) {
            return Ok(None);
        }
        let width = i64::try_from(element).map_err(|_| too_large())?;
        let in_bytes = |stride: i64| stride.checked_mul(width).ok_or_else(too_large);
        let mut pairs = PairAxes::new();
        for axis in axes.iter().filter(|axis| axis.size > 1) {
            let strides = [in_bytes(axis.dst_stride)?, in_bytes(axis.src_stride)?];
            pairs.push(PairAxis { size: axis.size, strides });
        }
        let layout = CopyLayout { width: width as u64, start: [0, 0], axes: pairs };
        layout.check()?;
        Ok(Some(layout.arranged(DST)))
    }

    /// Refuses what reaches further than addresses do, and destinations that overlap. From here on
    /// sums of sizes and strides do not overflow.
    fn check(&self) -> Result<()> {
        for side in [DST, SRC] {
            let reach = |axis: &PairAxis| {
                i128::from(axis.size - 1) * i128::from(axis.strides[side].unsigned_abs())
            };
            let reach = i128::from(self.width) + self.axes.iter().map(reach).sum::<i128>();
            if reach > i128::from(isize::MAX as i64) {
                return Err(too_large());
            }
        }
        let mut sorted: Vec<&PairAxis> = self.axes.iter().collect();
        sorted.sort_unstable_by_key(|axis| axis.strides[DST].unsigned_abs());
        let mut extent = self.width;
        for axis in sorted {
            let stride = axis.strides[DST].unsigned_abs();
            if stride < extent {
                return Err(overlap(axis.size, stride / self.width, extent / self.width));
            }
            extent += (axis.size - 1) * stride;
        }
        Ok(())
    }

    /// This copy with its axes from the smallest stride of one side to the largest, none of them
    /// negative there, and joined where both sides allow.
    pub(super) fn arranged(&self, side: usize) -> CopyLayout {
        let (mut start, mut axes) = (self.start, self.axes.clone());
        turn_forwards(&mut axes, &mut start, side);
        axes.sort_by_key(|axis| (axis.strides[side], axis.strides[1 - side].unsigned_abs()));
        join_axes(&mut axes);
        let mut width = self.width;
        while let Some(at) = axes.iter().position(|axis| axis.strides == [width as i64; 2]) {
            width *= axes.remove(at).size;
        }
        CopyLayout { width, start, axes }
    }

    /// How many bytes are copied.
    pub(super) fn bytes(&self) -> u64 {
        self.width * self.axes.iter().map(|axis| axis.size).product::<u64>()
    }

    /// Where the lowest byte of a side lies, from the address that the caller gave, and how many
    /// bytes there are from it to the highest.
    pub(super) fn span(&self, side: usize) -> (i64, u64) {
        let (mut low, mut bytes) = (self.start[side], self.width);
        for axis in &self.axes {
            let reach = (axis.size - 1) as i64 * axis.strides[side];
            low += reach.min(0);
            bytes += reach.unsigned_abs();
        }
        (low, bytes)
    }

    /// Whether a side's runs follow each other without gaps, in the order of the axes. It may repeat them.
    pub(super) fn is_packed(&self, side: usize) -> bool {
        let mut next = self.width;
        self.axes.iter().filter(|axis| axis.strides[side] != 0).all(|axis| {
            let follows = axis.strides[side] == next as i64;
            next *= axis.size;
            follows
        })
    }

    /// The copy without the axes along which a side repeats its runs.
    pub(super) fn distinct(&self, side: usize) -> CopyLayout {
        let mut distinct = self.clone();
        distinct.axes.retain(|axis| axis.strides[side] != 0);
        distinct
    }

    /// The copy between the other side and packed memory, whose order is that of the axes. Runs that the side repeats
    /// are there once.
    pub(super) fn with_packed(&self, side: usize) -> CopyLayout {
        let mut packed = self.clone();
        packed.start[side] = 0;
        let mut next = self.width as i64;
        for axis in packed.axes.iter_mut().filter(|axis| axis.strides[side] != 0) {
            axis.strides[side] = next;
            next *= axis.size as i64;
        }
        packed.arranged(DST)
    }

    /// The pitches and the number of rows, if that is all there is.
    pub(super) fn as_rows(&self) -> Option<([u64; 2], u64)> {
        let [axis] = self.axes[..] else { return None };
        let pitches = axis.strides.map(|stride| u64::try_from(stride).unwrap_or(0));
        pitches.iter().all(|pitch| *pitch >= self.width).then_some((pitches, axis.size))
    }
}

#[cold]
fn too_large() -> Error {
    Error::invalid_argument("shape: its sizes and strides reach beyond the address space")
}

#[cold]
fn overlap(size: u64, stride: u64, extent: u64) -> Error {
    Error::invalid_argument(format!(
        "shape.dst_strides: the axis of {size} elements has a stride of {stride}, but the axes with \
         smaller strides span {extent} elements, so that elements of the destination overlap or \
         interleave; copy to a destination where each stride is at least that, and expand later"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(size: u64, dst_stride: i64, src_stride: i64) -> Axis {
        Axis { size, dst_stride, src_stride }
    }

    fn layout(element: usize, axes: &[Axis]) -> CopyLayout {
        CopyLayout::of(element, axes).unwrap().unwrap()
    }

    #[test]
    fn packed_shapes_of_any_rank_are_one_run() {
        let nothing = CopyLayout { width: 12, start: [0, 0], axes: PairAxes::new() };
        assert_eq!(layout(12, &[]), nothing);
        assert_eq!(layout(4, &[axis(1, 77, -5), axis(3, 1, 1)]), nothing);
        let permuted = [axis(5, 3, 3), axis(3, 1, 1), axis(7, 15, 15)];
        assert_eq!(layout(2, &permuted), CopyLayout { width: 210, ..nothing.clone() });
        let backwards = layout(2, &[axis(5, -3, -3), axis(3, 1, 1)]);
        assert_eq!(backwards, CopyLayout { width: 30, start: [-24, -24], axes: PairAxes::new() });
        assert_eq!(CopyLayout::of(4, &[axis(3, 1, 1), axis(0, 1, 1)]), Ok(None));
    }

    #[test]
    fn axes_are_sorted_by_the_destination_and_joined_where_both_sides_allow() {
        let transposed = layout(4, &[axis(8, 5, 1), axis(5, 1, 8)]);
        let line = |size, dst, src| PairAxis { size, strides: [dst, src] };
        assert_eq!(transposed.axes[..], [line(5, 4, 32), line(8, 20, 4)]);
        assert_eq!(transposed.arranged(SRC).axes[..], [line(8, 20, 4), line(5, 4, 32)]);
        assert!(transposed.is_packed(DST) && !transposed.is_packed(SRC));
        assert!(transposed.arranged(SRC).is_packed(SRC));
        let columns = layout(4, &[axis(10, 6, 9), axis(2, 3, 3), axis(3, 1, 1)]);
        assert_eq!((columns.width, columns.as_rows()), (24, Some(([24, 36], 10))));
        let repeated = layout(1, &[axis(4, 6, 0), axis(2, 3, 0), axis(3, 1, 0)]);
        assert_eq!(repeated.axes[..], [line(24, 1, 0)]);
        assert_eq!(repeated.as_rows(), None);
        let mirrored = layout(1, &[axis(4, -1, 1)]);
        assert_eq!((mirrored.start, mirrored.axes.to_vec()), ([-3, 3], vec![line(4, 1, -1)]));
        assert_eq!((mirrored.span(DST), mirrored.span(SRC)), ((-3, 4), (0, 4)));
    }

    #[test]
    fn destinations_that_overlap_and_shapes_without_end_are_refused() {
        for axes in [
            &[axis(2, 0, 1)][..],
            &[axis(3, 1, 1), axis(2, 2, 3)],
            &[axis(3, -1, 1), axis(2, 2, 3)],
            &[axis(3, 2, 1), axis(2, 3, 1)],
            &[axis(2, 1, 1), axis(2, 1, 1)],
        ] {
            let error = CopyLayout::of(4, axes).unwrap_err();
            assert!(error.message().contains("overlap"), "{error}");
        }
        for axes in [
            &[axis(u64::MAX / 2, 1, 1)][..],
            &[axis(2, i64::MAX, 1)],
            &[axis(3, i64::MIN / 8, 1)],
            &[axis(1 << 31, 1 << 31, 1), axis(1 << 31, 1, 1 << 40)],
            &[axis(1 << 40, 1 << 40, 0)],
        ] {
            let error = CopyLayout::of(4, axes).unwrap_err();
            assert!(error.message().contains("address space"), "{error}");
        }
        assert!(CopyLayout::of(0, &[]).is_err());
    }
}
