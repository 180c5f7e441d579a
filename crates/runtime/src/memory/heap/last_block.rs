//! The block that was handed out last, while nothing else has happened to its heap.
//!
//! Programs free what they allocated last, and ask for as much again. Such a free would put the
//! heap back to what it was before the allocation, and the next request of that size would find
//! and cut the same block. So the block is left cut off, and handed out again as it is. Nor are the
//! figures changed: the fall and the rise cancel, and how often they did is counted. Anything else
//! that is asked of the heap, or of its statistics, first ends this ([`super::stream_heap::StreamHeap::finished`]):
//! the block joins its neighbours, the figures are booked, and the heap is what it would have been.

use super::block::NONE;
use super::request::BlockRequest;
use crate::caching::BlockId;
use crate::caching::size_class::PoolKind;
use crate::memory::addresses::entry::{EntryContent, MapEntry};
use crate::memory::figures::stream_stats::Row;

/// The block that was handed out last.
pub(crate) struct LastBlock {
    /// The block; `NONE` when something else has happened since.
    pub(crate) id: BlockId,
    /// Whether it has not been freed yet.
    pub(crate) held: bool,
    pub(crate) bins: u16,
    /// The pool that it counts in.
    pub(crate) kind: PoolKind,
    /// The request that would get it as it is: its bytes, while it is free and of the default pool,
    /// else 0.
    pub(crate) ready: u64,
    /// What its holder asked for.
    pub(crate) requested: u64,
    pub(crate) address: u64,
    /// Where the address map names it, and how.
    pub(crate) word: Option<(&'static MapEntry, EntryContent)>,
    /// How often it was freed and handed out again without being booked, and the bytes asked for.
    pub(crate) again: i64,
    pub(crate) again_requested: i64,
    /// How many requests its pool had seen when it was freed.
    pub(crate) freed_at: u32,
    pub(crate) bytes: u64,
    /// The request it was cut for.
    pub(crate) rounded: u64,
    /// What handing it out does to the number and bytes of free pieces; freeing it does the reverse.
    pub(crate) inactive: (i64, i64),
}

impl LastBlock {
    pub(crate) const NOTHING: LastBlock = LastBlock {
        id: NONE,
        held: true,
        bins: 0,
        kind: PoolKind::Small,
        ready: 0,
        requested: 0,
        address: 0,
        word: None,
        again: 0,
        again_requested: 0,
        freed_at: 0,
        bytes: 0,
        rounded: 0,
        inactive: (0, 0),
    };

    /// Another block was handed out, and this one was finished.
    #[inline(always)]
    pub(crate) fn is_now(&mut self, block: LastBlock) {
        // What counts is 0 when a block is finished, and stays as it is.
        debug_assert!(self.is_finished() && self.again_requested == 0);
        self.id = block.id;
        self.bins = block.bins;
        self.kind = block.kind;
        self.ready = block.ready;
        self.requested = block.requested;
        self.address = block.address;
        self.word = block.word;
        self.bytes = block.bytes;
        self.rounded = block.rounded;
        self.inactive = block.inactive;
    }

    /// Whether it is free and what the request would get.
    #[inline]
    pub(crate) fn serves(&self, request: &BlockRequest) -> bool {
        !self.held
            && self.rounded == request.rounded
            && self.bins == request.bins()
            && self.id != NONE
    }

    /// True if no free and no reuse of this block is still to be booked.
    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.held && self.again == 0
    }

    /// Notes that the block was freed.
    #[inline]
    pub(crate) fn give_back(&mut self, now: u32) {
        self.held = false;
        self.freed_at = now;
        self.ready = if self.bins >> 1 == 0 { self.requested } else { 0 };
    }

    /// Whether this block is it, and has not been freed yet.
    #[inline]
    pub(crate) fn is_held(&self, id: BlockId) -> bool {
        self.held && self.id == id
    }

    /// Hands the block out again; returns how many bytes more are asked for than before.
    #[inline]
    pub(crate) fn hand_out(&mut self, requested: u64) -> i64 {
        self.held = true;
        self.ready = 0;
        self.again += 1;
        self.again_requested += requested as i64;
        let more = requested as i64 - self.requested as i64;
        self.requested = requested;
        if let Some((word, content)) = self.word {
            word.store(content);
        }
        more
    }

    /// The rises that have not been booked.
    pub(crate) fn unbooked(&self) -> Option<Row> {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::types::DeviceIndex;

    use super::super::idle_segment::IdleSegment;
    use super::super::request::{BlockFit, BlockRequest};
    use super::super::stream_heap::{DEFAULT_POOL, StreamHeap};
    use crate::caching::size_class::PoolKind;
    use crate::memory::addresses::block_numbers::{NumberChunk, NumberOwner};

    /// The owner of the numbers.
    struct Owner;

    impl NumberOwner for Owner {
        fn device(&self) -> DeviceIndex {
            DeviceIndex::ZERO
        }

        fn keep(&'static self, _: usize, chunk: NumberChunk) -> &'static NumberChunk {
            Box::leak(Box::new(chunk))
        }
    }

    /// Whether a block is handed out again as it is, in a segment at an address that no test's
    /// device has.
    fn is_kept_warm(address: u64) -> bool {
        let mut heap = StreamHeap::new();
        let (kind, bytes) = (PoolKind::Small, 2 << 20);
        let whole = IdleSegment {
            address,
            bytes,
            kind,
            pool: 0,
            abandoned: false,
            oversize: false,
            paged: false,
        };
        let id = heap.finished().adopt(whole);
        let fit = BlockFit {
            max_split: u64::MAX,
            max_rounding: 0,
            large_spare: 1 << 20,
            small_from: kind,
        };
        let request = BlockRequest { pool: DEFAULT_POOL, kind, rounded: 512, bytes: 512, fit };
        let handed = heap.hand_out(&Owner, id, &request);
        let _ = heap.give_back(handed.id, 0);
        heap.take_same(512).is_some()
    }

    #[test]
    fn where_other_streams_may_be_in_the_window_the_word_is_not_kept() {
        assert!(is_kept_warm(0x000e_0000_0000_0000));
        assert!(!is_kept_warm(0x000e_0000_1000_0200));
    }
}
