//! The shape of a strided copy, in its simplest form: runs of bytes along as few axes as possible.

use super::Axis;
use crate::error::{Error, Result};

/// Which side of a copy; an index of [`Line::strides`].
pub(super) const DST: usize = 0;
/// The other one.
pub(super) const SRC: usize = 1;

/// An axis; strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) size: u64,
    pub(super) strides: [i64; 2],
}

/// Runs of `width` bytes, one at each index of `lines`, which go from the innermost to the outermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) width: u64,
    /// Where the run whose indices are all 0 begins, from the address that the caller gave.
    pub(super) start: [i64; 2],
    pub(super) lines: Vec<Line>,
}

impl Layout {
    /// The layout of elements along axes, by the destination's strides; `None` when there are none.
    pub(super) fn of(element: usize, axes: &[Axis]) -> Result<Option<Layout>> {
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
        let mut lines = Vec::with_capacity(axes.len());
        for axis in axes.iter().filter(|axis| axis.size > 1) {
            let strides = [in_bytes(axis.dst_stride)?, in_bytes(axis.src_stride)?];
            lines.push(Line { size: axis.size, strides });
        }
        let layout = Layout { width: width as u64, start: [0, 0], lines };
        layout.check()?;
        Ok(Some(layout.arranged(DST)))
    }

    /// Refuses what reaches further than addresses do, and destinations that overlap. From here on
    /// sums of sizes and strides do not overflow.
    fn check(&self) -> Result<()> {
        for side in [DST, SRC] {
            let reach = |line: &Line| {
                i128::from(line.size - 1) * i128::from(line.strides[side].unsigned_abs())
            };
            let reach = i128::from(self.width) + self.lines.iter().map(reach).sum::<i128>();
            if reach > i128::from(isize::MAX as i64) {
                return Err(too_large());
            }
        }
        let mut sorted: Vec<&Line> = self.lines.iter().collect();
        sorted.sort_unstable_by_key(|line| line.strides[DST].unsigned_abs());
        let mut extent = self.width;
        for line in sorted {
            let stride = line.strides[DST].unsigned_abs();
            if stride < extent {
                return Err(overlap(line.size, stride / self.width, extent / self.width));
            }
            extent += (line.size - 1) * stride;
        }
        Ok(())
    }

    /// The same copy with its axes from the smallest stride of one side to the largest, none of them
    /// negative there, and joined where both sides allow.
    pub(super) fn arranged(&self, side: usize) -> Layout {
        let mut start = self.start;
        let mut lines = self.lines.clone();
        for line in lines.iter_mut().filter(|line| line.strides[side] < 0) {
            for (start, stride) in start.iter_mut().zip(&mut line.strides) {
                *start += (line.size - 1) as i64 * *stride;
                *stride = -*stride;
            }
        }
        lines.sort_by_key(|line| (line.strides[side], line.strides[1 - side].unsigned_abs()));
        lines.dedup_by(|outer, inner| {
            let joins = (0..2).all(|side| {
                i128::from(outer.strides[side])
                    == i128::from(inner.strides[side]) * i128::from(inner.size)
            });
            if joins {
                inner.size *= outer.size;
            }
            joins
        });
        let mut width = self.width;
        while let Some(at) = lines.iter().position(|line| line.strides == [width as i64; 2]) {
            width *= lines.remove(at).size;
        }
        Layout { width, start, lines }
    }

    /// How many bytes are copied.
    pub(super) fn bytes(&self) -> u64 {
        self.width * self.lines.iter().map(|line| line.size).product::<u64>()
    }

    /// Where the lowest byte of a side lies, from the address that the caller gave, and how many
    /// bytes there are from it to the highest.
    pub(super) fn span(&self, side: usize) -> (i64, u64) {
        let (mut low, mut bytes) = (self.start[side], self.width);
        for line in &self.lines {
            let reach = (line.size - 1) as i64 * line.strides[side];
            low += reach.min(0);
            bytes += reach.unsigned_abs();
        }
        (low, bytes)
    }

    /// Whether a side's runs follow each other without gaps, in the order of the axes.
    pub(super) fn is_packed(&self, side: usize) -> bool {
        let mut next = self.width;
        self.lines.iter().all(|line| {
            let follows = line.strides[side] == next as i64;
            next *= line.size;
            follows
        })
    }

    /// The copy between the other side and packed memory, whose order is that of the axes.
    pub(super) fn with_packed(&self, side: usize) -> Layout {
        let mut packed = self.clone();
        packed.start[side] = 0;
        let mut next = self.width as i64;
        for line in &mut packed.lines {
            line.strides[side] = next;
            next *= line.size as i64;
        }
        packed.arranged(DST)
    }

    /// The pitches and the number of rows, if that is all there is.
    pub(super) fn as_rows(&self) -> Option<([u64; 2], u64)> {
        let [line] = self.lines[..] else { return None };
        let pitches = line.strides.map(|stride| u64::try_from(stride).unwrap_or(0));
        pitches.iter().all(|pitch| *pitch >= self.width).then_some((pitches, line.size))
    }

    /// Calls `visit` for all lines but the innermost, with where it begins on both sides.
    pub(super) fn each_innermost(&self, mut visit: impl FnMut([i64; 2], Line)) {
        let (inner, outer) = match self.lines.split_first() {
            Some((inner, outer)) => (*inner, outer),
            None => (Line { size: 1, strides: [0, 0] }, &[][..]),
        };
        let mut indices = vec![0; outer.len()];
        let mut at = self.start;
        'all: loop {
            visit(at, inner);
            for (index, line) in indices.iter_mut().zip(outer) {
                *index += 1;
                let back = if *index == line.size { line.size as i64 - 1 } else { -1 };
                for (at, stride) in at.iter_mut().zip(line.strides) {
                    *at -= back * stride;
                }
                if back == -1 {
                    continue 'all;
                }
                *index = 0;
            }
            return;
        }
    }
}

#[cold]
fn too_large() -> Error {
    Error::invalid_argument("shape: its sizes and strides reach further than addresses do")
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

    fn layout(element: usize, axes: &[Axis]) -> Layout {
        Layout::of(element, axes).unwrap().unwrap()
    }

    #[test]
    fn packed_shapes_of_any_rank_are_one_run() {
        let nothing = Layout { width: 12, start: [0, 0], lines: Vec::new() };
        assert_eq!(layout(12, &[]), nothing);
        assert_eq!(layout(4, &[axis(1, 77, -5), axis(3, 1, 1)]), nothing);
        let permuted = [axis(5, 3, 3), axis(3, 1, 1), axis(7, 15, 15)];
        assert_eq!(layout(2, &permuted), Layout { width: 210, ..nothing.clone() });
        let backwards = layout(2, &[axis(5, -3, -3), axis(3, 1, 1)]);
        assert_eq!(backwards, Layout { width: 30, start: [-24, -24], lines: Vec::new() });
        assert_eq!(Layout::of(4, &[axis(3, 1, 1), axis(0, 1, 1)]), Ok(None));
    }

    #[test]
    fn axes_are_sorted_by_the_destination_and_joined_where_both_sides_allow() {
        let transposed = layout(4, &[axis(8, 5, 1), axis(5, 1, 8)]);
        let line = |size, dst, src| Line { size, strides: [dst, src] };
        assert_eq!(transposed.lines, [line(5, 4, 32), line(8, 20, 4)]);
        assert_eq!(transposed.arranged(SRC).lines, [line(8, 20, 4), line(5, 4, 32)]);
        assert!(transposed.is_packed(DST) && !transposed.is_packed(SRC));
        assert!(transposed.arranged(SRC).is_packed(SRC));
        let columns = layout(4, &[axis(10, 6, 9), axis(2, 3, 3), axis(3, 1, 1)]);
        assert_eq!((columns.width, columns.as_rows()), (24, Some(([24, 36], 10))));
        let repeated = layout(1, &[axis(4, 6, 0), axis(2, 3, 0), axis(3, 1, 0)]);
        assert_eq!(repeated.lines, [line(24, 1, 0)]);
        assert_eq!(repeated.as_rows(), None);
        let mirrored = layout(1, &[axis(4, -1, 1)]);
        assert_eq!((mirrored.start, mirrored.lines.clone()), ([-3, 3], vec![line(4, 1, -1)]));
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
            let error = Layout::of(4, axes).unwrap_err();
            assert!(error.message().contains("overlap"), "{error}");
        }
        for axes in [
            &[axis(u64::MAX / 2, 1, 1)][..],
            &[axis(2, i64::MAX, 1)],
            &[axis(3, i64::MIN / 8, 1)],
            &[axis(1 << 31, 1 << 31, 1), axis(1 << 31, 1, 1 << 40)],
            &[axis(1 << 40, 1 << 40, 0)],
        ] {
            let error = Layout::of(4, axes).unwrap_err();
            assert!(error.message().contains("further"), "{error}");
        }
        assert!(Layout::of(0, &[]).is_err());
    }

    #[test]
    fn every_run_is_visited_once() {
        let layout = layout(1, &[axis(3, 100, 7), axis(2, -20, 0), axis(4, 3, 50)]);
        let mut seen = Vec::new();
        layout.each_innermost(|[dst, src], line| {
            for i in 0..line.size as i64 {
                seen.push((dst + i * line.strides[DST], src + i * line.strides[SRC]));
            }
        });
        let mut expected = Vec::new();
        for a in 0..3 {
            for b in 0..2 {
                expected.extend((0..4).map(|c| (100 * a - 20 * b + 3 * c, 7 * a + 50 * c)));
            }
        }
        seen.sort_unstable();
        expected.sort_unstable();
        assert_eq!(seen, expected);
    }
}
