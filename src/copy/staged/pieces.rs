//! How a range is cut: into equal pieces, small enough that the first transfer begins soon and the
//! last one ends soon after its bytes were moved.

/// A piece has at least so much: enough for a transfer to be worth its launch.
pub(super) const SMALLEST: usize = 128 << 10;

/// A piece has at most so much: the transfers of all slots together stay in the processor's cache.
pub(super) const LARGEST: usize = 512 << 10;

/// How many pieces a range has before they grow.
const MANY: usize = 64;

/// A range in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    /// The range's bytes.
    pub(super) total: usize,
    /// The bytes of every piece but the last.
    pub(super) each: usize,
}

impl Pieces {
    pub(super) fn of(total: usize) -> Pieces {
        let each = (total / MANY).clamp(SMALLEST, LARGEST).next_multiple_of(SMALLEST);
        Pieces { total, each }
    }

    pub(super) fn count(self) -> usize {
        self.total.div_ceil(self.each)
    }

    /// Where a piece begins, and its bytes.
    pub(super) fn piece(self, index: usize) -> (usize, usize) {
        let offset = index * self.each;
        (offset, self.each.min(self.total - offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_tile_the_range() {
        for total in [1, SMALLEST, SMALLEST + 1, 1 << 20, (33 << 20) + 7, 1 << 30] {
            let pieces = Pieces::of(total);
            let mut end = 0;
            for index in 0..pieces.count() {
                let (offset, bytes) = pieces.piece(index);
                assert_eq!(offset, end);
                assert!((1..=LARGEST).contains(&bytes));
                end += bytes;
            }
            assert_eq!(end, total);
        }
    }

    #[test]
    fn pieces_grow_with_the_range() {
        assert_eq!(Pieces::of(1 << 20).count(), 8);
        assert_eq!(Pieces::of(16 << 20).each, 256 << 10);
        assert_eq!(Pieces::of(1 << 30).each, LARGEST);
    }
}
