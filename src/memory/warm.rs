//! The block that was handed out last, while nothing else has happened to its heap.
//!
//! Programs free what they allocated last, and ask for as much again. Such a free would put the
//! heap back to what it was before the allocation, and the next request of that size would find
//! and cut the same block. So the block is left cut off, and handed out again as it is. Nor are the
//! figures changed: the fall and the rise cancel, and how often they did is counted. Anything else
//! that is asked of the heap, or of its account, cools it first: the block joins its neighbours, the
//! figures are booked, and the heap is what it would have been.

use super::account::Row;
use super::block::{BlockId, NONE};
use super::request::Request;

/// The block that was handed out last.
pub(super) struct Warm {
    /// The block; `NONE` when something else has happened since.
    pub(super) id: BlockId,
    /// Its number outside the heap.
    pub(super) number: u32,
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// What its holder asked for.
    pub(super) requested: u64,
    /// The request it was cut for.
    pub(super) rounded: u64,
    pub(super) bins: u16,
    /// Whether it has not been freed yet.
    pub(super) held: bool,
    /// What handing it out does to the number and bytes of free pieces; freeing it does the reverse.
    pub(super) inactive: (i64, i64),
    /// How often it was freed and handed out again without being booked, and the bytes asked for.
    pub(super) again: i64,
    pub(super) again_requested: i64,
}

impl Warm {
    pub(super) const NOTHING: Warm = Warm {
        id: NONE,
        number: 0,
        address: 0,
        bytes: 0,
        requested: 0,
        rounded: 0,
        bins: 0,
        held: true,
        inactive: (0, 0),
        again: 0,
        again_requested: 0,
    };

    /// Whether it is free and what the request would get.
    #[inline]
    pub(super) fn serves(&self, request: &Request) -> bool {
        !self.held
            && self.rounded == request.rounded
            && self.bins == request.bins()
            && self.id != NONE
    }

    /// Whether this block is it, and has not been freed yet.
    #[inline]
    pub(super) fn is_held(&self, id: BlockId) -> bool {
        self.held && self.id == id
    }

    /// It is handed out again; tells by how much more is asked for than before.
    #[inline]
    pub(super) fn hand_out(&mut self, requested: u64) -> i64 {
        self.held = true;
        self.again += 1;
        self.again_requested += requested as i64;
        let more = requested as i64 - self.requested as i64;
        self.requested = requested;
        more
    }

    /// The rises that have not been booked.
    pub(super) fn unbooked(&self) -> Option<Row> {
        let again = self.again;
        let bytes = again * self.bytes as i64;
        let (pieces, piece_bytes) = (self.inactive.0.abs(), self.inactive.1.abs());
        let requested = self.again_requested;
        (again != 0).then_some([
            again,
            bytes,
            again,
            bytes,
            requested,
            again * pieces,
            again * piece_bytes,
            0,
        ])
    }
}
