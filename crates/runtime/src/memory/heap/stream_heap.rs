//! One stream's memory: segments cut into blocks, free blocks in bins, and the statistics of both.
//!
//! Nothing here locks or calls a driver. A thread that changes a heap holds its cache's lock.

use super::bins::Bins;
use super::block::{BlockRecord, BlockRecords, NONE, RecordState};
use super::last_block::LastBlock;
use super::request::{BlockRequest, HandedOut, kind_of};
use super::segment::{SegmentRecord, SegmentRecords};
use crate::caching::BlockId;
use crate::caching::size_class::PoolKind;
use crate::memory::addresses::address_map;
use crate::memory::addresses::block_numbers::{BlockNumbers, NumberOwner};
use crate::memory::addresses::entry::note_bytes;
use crate::memory::figures::stream_stats::{self, FIGURES, StreamStats, falls};

/// The index of the default pool in every heap's table.
pub(crate) const DEFAULT_POOL: u16 = 0;

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

/// One stream's memory.
pub(crate) struct StreamHeap {
    pub(crate) blocks: BlockRecords,
    pub(crate) segments: SegmentRecords,
    pub(crate) pools: Vec<HeapPool>,
    /// The free blocks, two places for each pool ([`BlockRecord::bins`]): small ones, large ones. `None` until
    /// there is one, and when the heap has become empty.
    pub(super) bins: Vec<Option<Box<Bins>>>,
    pub(crate) stats: StreamStats,
    pub(crate) numbers: BlockNumbers,
    last: LastBlock,
}

impl StreamHeap {
    pub(crate) fn new() -> StreamHeap {
        let mut heap = StreamHeap {
            blocks: BlockRecords::new(),
            segments: SegmentRecords::new(),
            pools: Vec::new(),
            bins: Vec::new(),
            stats: StreamStats::default(),
            numbers: BlockNumbers::new(),
            last: LastBlock::NOTHING,
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
            self.finish_last();
            self.blocks = BlockRecords::new();
            self.segments = SegmentRecords::new();
            self.bins.fill_with(|| None);
        }
    }

    /// Hands out the free block that fits best, if one may serve the request.
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        owner: &'static impl NumberOwner,
        request: &BlockRequest,
    ) -> Option<HandedOut> {
        if self.last.serves(request) {
            return Some(self.take_last(request));
        }
        self.finish_last();
        let bins = self.bins.get_mut(usize::from(request.bins()))?.as_mut()?;
        let blocks = self.blocks.all();
        let found = bins.best_fit(blocks, request.rounded)?;
        if !request.fit.allows(request.rounded, blocks[found.id as usize].bytes) {
            return None;
        }
        bins.remove_found(blocks, found);
        Some(self.hand_out(owner, found.id, request))
    }

    /// Hands out again what was handed out and freed last.
    #[inline]
    fn take_last(&mut self, request: &BlockRequest) -> HandedOut {
        let more = self.last.hand_out(request.bytes);
        let LastBlock { id, address, bytes, kind, .. } = self.last;
        let within_quota = more == 0 || self.stats.book_requested(kind, more);
        HandedOut { id, address, bytes, within_quota }
    }

    /// Hands out the last block again for a request of the same bytes. The settings have not changed.
    #[inline]
    pub(crate) fn take_same(&mut self, bytes: usize) -> Option<u64> {
        if self.last.ready != bytes as u64 || bytes == 0 {
            return None;
        }
        self.last.hand_out(bytes as u64);
        Some(self.last.address)
    }

    /// Takes back what was handed out last; `false` when this is another block.
    #[inline]
    pub(crate) fn give_back_same(&mut self, id: BlockId, now: u32) -> bool {
        let same = self.last.is_held(id);
        if same {
            self.last.give_back(now);
        }
        same
    }

    /// Hands out a free block that is in no bin, cutting off what is too much.
    #[inline(always)]
    pub(crate) fn hand_out(
        &mut self,
        owner: &'static impl NumberOwner,
        id: BlockId,
        request: &BlockRequest,
    ) -> HandedOut {
        debug_assert!(self.last.is_finished(), "a heap changes before its last block was finished");
        let found = &mut self.blocks[id];
        let BlockRecord { address, bytes: whole_bytes, paged, fills_windows: alone, .. } = *found;
        let (whole, spare) = (found.is_whole(), whole_bytes - request.rounded);
        found.state = RecordState::Allocated;
        let kept_request = std::mem::replace(&mut found.requested, request.bytes);
        let (bytes, inactive) = if request.fit.cuts(request, spare) {
            self.cut(id, request.rounded, kept_request);
            let rest = if whole { (1, spare as i64) } else { (0, -(request.rounded as i64)) };
            (request.rounded, rest)
        } else {
            (whole_bytes, if whole { (0, 0) } else { (-1, -(whole_bytes as i64)) })
        };
        let inactive = if paged { (0, 0) } else { inactive };
        // Blocks of segments count in the pool of their segment, whatever the settings are now.
        let kind = if paged { request.kind } else { kind_of(request.bins()) };
        let number = self.numbers.of(owner, id);
        note_bytes(number.bytes(), bytes);
        let (word, content) = address_map::publish(address, number.number, alone);
        self.last.is_now(LastBlock {
            // What counts as oversize is counted each time. Where another stream's blocks may be in
            // the window, the word must be found anew each time.
            id: if bytes < request.fit.max_split && alone { id } else { NONE },
            word: Some((word, content)),
            address,
            bytes,
            requested: request.bytes,
            rounded: request.rounded,
            bins: request.bins(),
            kind,
            inactive,
            ..LastBlock::NOTHING
        });
        let within_quota = self.stats.book_hand_out(kind, bytes, request.bytes, inactive);
        HandedOut { id, address, bytes, within_quota }
    }

    /// Cuts off what is above the first `bytes` of a block that is in no bin, and puts it into its bin. It keeps what
    /// its last owner asked for.
    #[inline(always)]
    fn cut(&mut self, id: BlockId, bytes: u64, kept_request: u64) {
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

    /// Takes back a block that a caller held and nothing uses any more. `false` when a quota
    /// must be refilled.
    #[inline(always)]
    #[must_use]
    pub(crate) fn give_back(&mut self, id: BlockId, now: u32) -> bool {
        // It stays cut off, for the next request of its size.
        if self.give_back_same(id, now) {
            return true;
        }
        self.finish_last();
        let block = &self.blocks[id];
        let (bytes, requested) = (block.bytes, block.requested);
        let kind = block.counted_in();
        let inactive = self.merge_here(id, now);
        self.stats.book_falls(kind, &falls(bytes, requested, inactive))
    }

    /// Takes back a block that has waited for events.
    #[must_use]
    pub(crate) fn give_back_late(&mut self, id: BlockId, now: u32) -> bool {
        self.finish_last();
        let block = &self.blocks[id];
        let (bytes, requested) = (block.bytes, block.requested);
        let kind = block.counted_in();
        let inactive = self.merge(id, now);
        let mut changes = falls(bytes, requested, inactive);
        changes[stream_stats::ALLOCATION] = 0;
        changes[stream_stats::ALLOCATED_BYTES] = 0;
        self.stats.book_falls(kind, &changes)
    }

    /// Ends the special treatment of the last block: if it was freed, it joins its neighbours, and what was not
    /// booked is booked.
    #[inline]
    pub(crate) fn finish_last(&mut self) {
        if self.last.is_finished() {
            self.last.id = NONE;
        } else {
            self.finish_last_slowly();
        }
    }

    #[inline(never)]
    fn finish_last_slowly(&mut self) {
        let last = std::mem::replace(&mut self.last, LastBlock::NOTHING);
        let kind = last.kind;
        if let Some(rises) = last.unbooked() {
            self.stats.book_repeated(kind, &rises);
        }
        let block = &mut self.blocks[last.id];
        block.requested = last.requested;
        if !last.held {
            let inactive = self.merge(last.id, last.freed_at);
            // The figures go back to what they were, and no other thread takes quota from a stream
            // without finishing its last block first.
            let falls = falls(last.bytes, last.requested, inactive);
            let within_quota = self.stats.book_falls(kind, &falls);
            debug_assert!(
                within_quota,
                "quota was taken from a heap whose last block was not finished"
            );
        }
    }

    /// [`StreamHeap::merge_here`] for callers that are not on the fast path.
    #[inline(never)]
    fn merge(&mut self, id: BlockId, now: u32) -> (i64, i64) {
        self.merge_here(id, now)
    }

    /// Makes a block free, as one with its free neighbours. Returns how many more free pieces
    /// there are, and their bytes.
    #[inline(always)]
    fn merge_here(&mut self, id: BlockId, now: u32) -> (i64, i64) {
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
        self.finish_last();
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
