//! How a range is cut: small pieces at both ends, so that the transfers begin soon and end soon
//! after the last byte was moved, and full ones between.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The least a piece has, but for the last: enough for a transfer to be worth its launch.
pub(super) const SMALLEST: usize = 128 << 10;

/// The most a piece has, which is what a slot holds.
pub(super) const LARGEST: usize = 1 << 20;

/// A part of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

/// A range of which any thread takes the next piece.
pub(super) struct Pieces {
    taken: AtomicUsize,
    bytes: usize,
    threads: usize,
}

impl Pieces {
    pub(super) fn new(bytes: usize, threads: usize) -> Pieces {
        Pieces { taken: AtomicUsize::new(0), bytes, threads: threads.max(1) }
    }

    /// The next piece; none when all have been taken.
    pub(super) fn take(&self) -> Option<Piece> {
        let mut offset = self.taken.load(Ordering::Relaxed);
        loop {
            let bytes = self.size_at(offset)?;
            // Only the number is shared: what the pieces hold was there before the threads were
            // asked to help.
            match self.taken.compare_exchange_weak(
                offset,
                offset + bytes,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Piece { offset, bytes }),
                Err(now) => offset = now,
            }
        }
    }

    /// What is near an end is shared evenly among the threads.
    fn size_at(&self, offset: usize) -> Option<usize> {
        let left = self.bytes - offset;
        let even = offset.min(left) / self.threads;
        let size = even.clamp(SMALLEST, LARGEST) / SMALLEST * SMALLEST;
        (left > 0).then(|| size.min(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(bytes: usize, threads: usize) -> Vec<Piece> {
        let pieces = Pieces::new(bytes, threads);
        std::iter::from_fn(|| pieces.take()).collect()
    }

    #[test]
    fn pieces_tile_the_range() {
        for bytes in [0, 1, SMALLEST, SMALLEST + 1, 1 << 20, (33 << 20) + 7] {
            for threads in [1, 2, 8] {
                let mut end = 0;
                for piece in cut(bytes, threads) {
                    assert_eq!(piece.offset, end);
                    assert!((1..=LARGEST).contains(&piece.bytes));
                    end += piece.bytes;
                }
                assert_eq!(end, bytes);
            }
        }
    }

    #[test]
    fn both_ends_are_cut_small_and_the_middle_is_not() {
        let sizes: Vec<usize> = cut(64 << 20, 8).iter().map(|piece| piece.bytes).collect();
        assert_eq!(sizes[..8], [SMALLEST; 8]);
        assert_eq!(sizes[sizes.len() - 8..], [SMALLEST; 8]);
        assert_eq!(sizes[sizes.len() / 2], LARGEST);
        assert!(sizes.len() < 110, "{}", sizes.len());
    }

    #[test]
    fn threads_never_take_the_same_piece() {
        let pieces = Pieces::new(1 << 30, 4);
        let mut all: Vec<Piece> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| pieces.take()).collect::<Vec<_>>()))
                .collect();
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
        });
        all.sort_by_key(|piece| piece.offset);
        let end = all.iter().fold(0, |end, piece| {
            assert_eq!(piece.offset, end);
            end + piece.bytes
        });
        assert_eq!(end, 1 << 30);
    }
}
