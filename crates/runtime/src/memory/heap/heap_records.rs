//! The records of one stream's memory: segments cut into blocks, free blocks in bins, and the statistics of both.
//! Cutting and merging.

use super::bins::Bins;
use super::block::{BlockRecord, BlockRecords, NONE, RecordState};
use super::request::kind_of;
use super::segment::{SegmentRecord, SegmentRecords};
use crate::caching::BlockId;
use crate::caching::size_class::PoolKind;
use crate::memory::addresses::block_numbers::BlockNumbers;
use crate::memory::figures::stream_stats::{self, FIGURES, StreamStats, falls};

/// A pool on one stream.
pub(crate) struct HeapPool {
    /// 0 is the default pool.
    pub(crate) number: u64,
    /// The pool was destroyed: its free segments may be released like those of the default pool.
    pub(crate) abandoned: bool,
    /// The runs at this place are asleep, and no request names it.
    pub(crate) asleep: bool,
}

/// The bins at a place of a heap's table; made if need be.
#[inline(always)]
fn bins_of(bins: &mut [Option<Box<Bins>>], place: u16) -> &mut Bins {
    let bins = &mut bins[usize::from(place)];
    match bins {
        Some(bins) => bins,
        none => none.insert(Bins::new(kind_of(place))),
    }
}

/// One stream's memory, apart from the last block: [`StreamHeap`](super::stream_heap::StreamHeap) hands it out.
pub(crate) struct HeapRecords {
    pub(crate) blocks: BlockRecords,
    pub(crate) segments: SegmentRecords,
    pub(crate) pools: Vec<HeapPool>,
    /// The free blocks, two places for each pool ([`BlockRecord::bins`]): small ones, large ones. `None` until
    /// there is one, and when the heap has become empty.
    pub(super) bins: Vec<Option<Box<Bins>>>,
    pub(crate) stats: StreamStats,
    pub(crate) numbers: BlockNumbers,
}

impl HeapRecords {
    pub(crate) fn new() -> HeapRecords {
        let mut heap = HeapRecords {
            blocks: BlockRecords::new(),
            segments: SegmentRecords::new(),
            pools: Vec::new(),
            bins: Vec::new(),
            stats: StreamStats::default(),
            numbers: BlockNumbers::new(),
        };
        heap.add_pool(0, false);
        heap
    }

    pub(crate) fn pull(&mut self, id: BlockId) {
        let place = self.blocks[id].bins;
        bins_of(&mut self.bins, place).remove(self.blocks.all(), id);
    }

    /// Whether it has no memory.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.iter().next().is_none()
    }

    /// Gives back what the heap itself takes, if it has no memory. Its pools stay.
    pub(crate) fn shrink_if_empty(&mut self) {
        if self.is_empty() {
            self.blocks = BlockRecords::new();
            self.segments = SegmentRecords::new();
            self.bins.fill_with(|| None);
        }
    }

    /// Cuts off what is above the first `bytes` of a block that is in no bin, and puts it into its bin. It keeps what
    /// its last owner asked for.
    #[inline(always)]
    pub(super) fn cut(&mut self, id: BlockId, bytes: u64, kept_request: u64) {
        let above = self.blocks.take_unused();
        let blocks = self.blocks.all();
        let low = &mut blocks[id as usize];
        let (next, whole) = (std::mem::replace(&mut low.next, above), *low);
        low.bytes = bytes;
        blocks[next as usize].previous = above;
        // Field by field: a record that is put together elsewhere is stored in small parts and loaded in large ones.
        let rest = &mut blocks[above as usize];
        rest.address = whole.address + bytes;
        rest.bytes = whole.bytes - bytes;
        rest.requested = kept_request;
        rest.previous = id;
        rest.next = next;
        rest.segment = whole.segment;
        rest.bins = whole.bins;
        rest.state = RecordState::Free;
        rest.used_elsewhere = false;
        rest.fills_windows = whole.fills_windows;
        rest.oversize = false;
        rest.paged = whole.paged;
        rest.freed_at = whole.freed_at;
        bins_of(&mut self.bins, whole.bins).insert(blocks, above);
    }

    /// Takes back a block that has waited for events.
    #[must_use]
    pub(crate) fn give_back_late(&mut self, id: BlockId, now: u32) -> bool {
        let block = &self.blocks[id];
        let (bytes, requested) = (block.bytes, block.requested);
        let kind = block.counted_in();
        let inactive = self.merge(id, now);
        let mut changes = falls(bytes, requested, inactive);
        changes[stream_stats::ALLOCATION] = 0;
        changes[stream_stats::ALLOCATED_BYTES] = 0;
        self.stats.book_falls(kind, &changes)
    }

    /// [`HeapRecords::merge_here`] for callers that are not on the fast path.
    #[inline(never)]
    pub(super) fn merge(&mut self, id: BlockId, now: u32) -> (i64, i64) {
        self.merge_here(id, now)
    }

    /// Makes a block free, as one with its free neighbours. Returns how many more free pieces
    /// there are, and their bytes.
    #[inline(always)]
    pub(super) fn merge_here(&mut self, id: BlockId, now: u32) -> (i64, i64) {
        let BlockRecord { mut bytes, requested, previous, mut next, bins, paged, .. } =
            self.blocks[id];
        let bins = bins_of(&mut self.bins, bins);
        let (mut kept, mut inactive, own_bytes) = (id, 1, bytes);
        let blocks = self.blocks.all();
        if blocks[next as usize].is_free() {
            bins.remove(blocks, next);
            let BlockRecord { bytes: more, next: after, .. } = blocks[next as usize];
            self.blocks.remove(next);
            bytes += more;
            next = after;
            inactive -= 1;
        }
        let blocks = self.blocks.all();
        if blocks[previous as usize].is_free() {
            bins.remove(blocks, previous);
            bytes += blocks[previous as usize].bytes;
            self.blocks.remove(id);
            kept = previous;
            inactive -= 1;
        }
        let blocks = self.blocks.all();
        blocks[next as usize].previous = kept;
        let block = &mut blocks[kept as usize];
        block.bytes = bytes;
        block.next = next;
        block.requested = requested;
        block.state = RecordState::Free;
        block.used_elsewhere = false;
        block.freed_at = now;
        let whole = block.is_whole();
        bins.insert(blocks, kept);
        match (paged, whole) {
            (true, _) => (0, 0),
            (_, true) => (inactive - 1, own_bytes as i64 - bytes as i64),
            _ => (inactive, own_bytes as i64),
        }
    }

    /// A caller has freed a block that other streams still use.
    pub(crate) fn suspend(&mut self, id: BlockId) {
        let block = &mut self.blocks[id];
        block.state = RecordState::Pending;
        let mut falls = [0; FIGURES];
        falls[stream_stats::ALLOCATION] = -1;
        falls[stream_stats::ALLOCATED_BYTES] = -(block.bytes as i64);
        let kind = block.counted_in();
        // Nothing rises, so no quota can run out.
        let _ = self.stats.book_falls(kind, &falls);
    }

    /// Puts a free block that is in no bin into its bin.
    pub(crate) fn keep(&mut self, id: BlockId) {
        let place = self.blocks[id].bins;
        bins_of(&mut self.bins, place).insert(self.blocks.all(), id);
    }

    /// The blocks of a segment, in the order of addresses.
    pub(crate) fn blocks_of(
        &self,
        segment: &SegmentRecord,
    ) -> impl Iterator<Item = (BlockId, &BlockRecord)> {
        let first = Some(segment.first).filter(|id| *id != NONE);
        std::iter::successors(first, |id| Some(self.blocks[*id].next).filter(|id| *id != NONE))
            .map(|id| (id, &self.blocks[id]))
    }

    /// The free blocks of a pool, from the smallest to the largest.
    pub(crate) fn free_blocks(&self, pool: u16, kind: PoolKind, see: impl FnMut(BlockId)) {
        let place = usize::from(pool << 1 | u16::from(kind == PoolKind::Large));
        if let Some(Some(bins)) = self.bins.get(place) {
            bins.visit(self.blocks.seen(), see);
        }
    }
}
