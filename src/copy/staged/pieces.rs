//! How a range is cut: into equal pieces, small enough that many threads share a small range evenly,
//! and that little remains to be done once the last byte was transferred or moved.

/// The bytes of a piece of a range that threads share.
pub(super) const PIECE: usize = 128 << 10;

/// A range in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    /// The range's bytes.
    pub(super) total: usize,
    /// The bytes of every piece but the last.
    pub(super) each: usize,
}

impl Pieces {
    pub(super) fn count(self) -> usize {
        self.total.div_ceil(self.each)
    }

    /// Where some pieces in a row begin, and their bytes.
    pub(super) fn run(self, first: usize, count: usize) -> (usize, usize) {
        let offset = first * self.each;
        (offset, (count * self.each).min(self.total - offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_tile_the_range() {
        for total in [1, PIECE, PIECE + 1, 1 << 20, (33 << 20) + 7] {
            let pieces = Pieces { total, each: PIECE };
            let mut end = 0;
            for index in 0..pieces.count() {
                let (offset, bytes) = pieces.run(index, 1);
                assert_eq!(offset, end);
                assert!((1..=PIECE).contains(&bytes));
                end += bytes;
            }
            assert_eq!(end, total);
            assert_eq!(pieces.run(0, pieces.count()), (0, total));
        }
    }
}
