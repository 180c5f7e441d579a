//! How a range is cut: into equal pieces, small enough that many threads share a small range
//! evenly, and that little remains to be done once the last byte was transferred or moved.

/// The least bytes of a piece of a range that threads share: what one moves while another is woken.
pub(super) const SMALLEST: usize = 128 << 10;

/// The bytes of a piece of a large range: fewer pieces are fewer transfers.
pub(super) const LARGEST: usize = 256 << 10;

/// The number of pieces from which on pieces are large.
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
    /// A range that threads share.
    pub(super) fn shared(total: usize) -> Pieces {
        let each = if total < MANY * SMALLEST { SMALLEST } else { LARGEST };
        Pieces { total, each }
    }

    /// A range that the calling thread moves at once.
    pub(super) fn whole(total: usize) -> Pieces {
        Pieces { total, each: total }
    }

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
        for total in [1, SMALLEST, SMALLEST + 1, 1 << 20, (33 << 20) + 7] {
            let pieces = Pieces::shared(total);
            let mut end = 0;
            for index in 0..pieces.count() {
                let (offset, bytes) = pieces.run(index, 1);
                assert_eq!(offset, end);
                assert!((1..=LARGEST).contains(&bytes));
                end += bytes;
            }
            assert_eq!(end, total);
            assert_eq!(pieces.run(0, pieces.count()), (0, total));
        }
    }
}
