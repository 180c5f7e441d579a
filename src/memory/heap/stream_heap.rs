//! One stream's memory: segments cut into blocks, free blocks in bins, and the account of both.
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
use crate::memory::addresses::block_numbers::{BlockNumbers, NumberChunk, NumberOwner};
use crate::memory::addresses::entry::note_bytes;
use crate::memory::figures::account::{self, Account, FIGURES, falls, rises};

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

/// One stream's memory.
pub(crate) struct StreamHeap {
    pub(crate) blocks: BlockRecords,
    pub(crate) segments: SegmentRecords,
    pub(crate) pools: Vec<HeapPool>,
    /// The free blocks, two places for each pool ([`BlockRecord::bins`]): small ones, large ones. `None` until
    /// there is one, and when the heap has become empty.
    pub(super) bins: Vec<Option<Box<Bins>>>,
    pub(crate) account: Account,
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
            account: Account::default(),
            numbers: BlockNumbers::new(),
            last: LastBlock::NOTHING,
        };
        heap.add_pool(0, false);
        heap
    }

    #[inline(always)]
    fn put(&mut self, id: BlockId) {
        let place = self.blocks[id].bins;
        let bins = match &mut self.bins[usize::from(place)] {
            Some(bins) => bins,
            none => none.insert(Bins::new(kind_of(place))),
        };
        bins.insert(&mut self.blocks, id);
    }

    #[inline(always)]
    pub(crate) fn pull(&mut self, id: BlockId) {
        if let Some(bins) = &mut self.bins[usize::from(self.blocks[id].bins)] {
            bins.remove(&mut self.blocks, id);
        }
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
    #[inline]
    pub(crate) fn take(
        &mut self,
        owner: &'static impl NumberOwner,
        request: &BlockRequest,
    ) -> Option<HandedOut> {
        if self.last.serves(request) {
            return Some(self.take_last(request));
        }
        self.finish_last();
        let bins = self.bins.get(usize::from(request.bins()))?.as_ref()?;
        let id = bins.best_fit(&self.blocks, request.rounded)?;
        if !request.fit.allows(request.rounded, self.blocks[id].bytes) {
            return None;
        }
        self.pull(id);
        Some(self.hand_out(owner, id, request))
    }

    /// Hands out again what was handed out and freed last.
    #[inline]
    fn take_last(&mut self, request: &BlockRequest) -> HandedOut {
        let more = self.last.hand_out(request.bytes);
        let LastBlock { id, address, bytes, kind, .. } = self.last;
        let settled = more == 0 || self.account.book_requested(kind, more);
        HandedOut { id, address, bytes, settled }
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
        let found = &mut self.blocks[id];
        let (address, spare) = (found.address, found.bytes - request.rounded);
        let alone = found.fills_windows;
        let (whole, paged) = (found.is_whole(), found.paged);
        let mut handed = id;
        let mut bytes = request.rounded;
        let inactive = if request.fit.cuts(request, spare) {
            handed = self.cut(id, request);
            if whole { (1, spare as i64) } else { (0, -(bytes as i64)) }
        } else {
            bytes = found.bytes;
            found.state = RecordState::Allocated;
            found.requested = request.bytes;
            if whole { (0, 0) } else { (-1, -(bytes as i64)) }
        };
        let inactive = if paged { (0, 0) } else { inactive };
        // Blocks of segments count in the pool of their segment, whatever the settings are now.
        let kind = if paged { request.kind } else { kind_of(request.bins()) };
        let number = self.numbers.of(owner, handed);
        if let Some(chunk) = NumberChunk::of(number) {
            note_bytes(chunk.bytes(number), bytes);
        }
        let word = address_map::publish(address, number, alone);
        self.last = LastBlock {
            // What counts as oversize is counted each time. Where another stream's blocks may be in
            // the window, the word must be found anew each time.
            id: if bytes < request.fit.max_split && alone { handed } else { NONE },
            word: Some(word),
            address,
            bytes,
            requested: request.bytes,
            rounded: request.rounded,
            bins: request.bins(),
            kind,
            inactive,
            ..LastBlock::NOTHING
        };
        let settled = self.account.book_rises(kind, &rises(bytes, request.bytes, inactive));
        HandedOut { id: handed, address, bytes, settled }
    }

    /// Cuts a request's block off a free one that is in no bin; the rest goes to its bin.
    #[inline(always)]
    fn cut(&mut self, id: BlockId, request: &BlockRequest) -> BlockId {
        let bytes = request.rounded;
        let rest = &mut self.blocks[id];
        let (address, previous) = (rest.address, rest.previous);
        let low = BlockRecord {
            address,
            bytes,
            requested: request.bytes,
            previous,
            next: id,
            segment: rest.segment,
            bins: rest.bins,
            state: RecordState::Allocated,
            fills_windows: rest.fills_windows,
            paged: rest.paged,
            ..BlockRecords::blank()
        };
        rest.address += bytes;
        rest.bytes -= bytes;
        let segment = rest.segment;
        let low = self.blocks.add(low);
        self.blocks[id].previous = low;
        match previous {
            NONE => self.segments.set_first(segment, low),
            previous => self.blocks[previous].next = low,
        }
        self.put(id);
        low
    }

    /// Takes back a block that a caller held and nothing uses any more. `false` when the account
    /// must be settled.
    #[inline]
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
        let inactive = self.merge(id, now);
        self.account.book_falls(kind, &falls(bytes, requested, inactive))
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
        changes[account::ALLOCATION] = 0;
        changes[account::ALLOCATED_BYTES] = 0;
        self.account.book_falls(kind, &changes)
    }

    /// Ends the special treatment of the last block: if it was freed, it joins its neighbours, and what was not
    /// booked is booked.
    #[inline]
    pub(crate) fn finish_last(&mut self) {
        if self.last.is_settled() {
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
            self.account.book_repeated(kind, &rises);
        }
        let block = &mut self.blocks[last.id];
        block.requested = last.requested;
        if !last.held {
            let inactive = self.merge(last.id, last.freed_at);
            // The figures go back to what they were, and no other thread takes room from an account
            // without finishing its last block first.
            let falls = falls(last.bytes, last.requested, inactive);
            let settled = self.account.book_falls(kind, &falls);
            debug_assert!(settled, "room was taken from a heap whose last block was not finished");
        }
    }

    /// Makes a block free, as one with its free neighbours. Returns how many more free pieces
    /// there are, and their bytes.
    #[inline]
    fn merge(&mut self, id: BlockId, now: u32) -> (i64, i64) {
        let (mut inactive, mut inactive_bytes) = (0, 0);
        let BlockRecord { mut bytes, previous, next, .. } = self.blocks[id];
        if previous != NONE && self.blocks[previous].state == RecordState::Free {
            self.pull(previous);
            let BlockRecord { address, bytes: more, previous: before, segment, .. } =
                self.blocks[previous];
            self.blocks.remove(previous);
            self.blocks[id].address = address;
            self.blocks[id].previous = before;
            bytes += more;
            match before {
                NONE => self.segments.set_first(segment, id),
                before => self.blocks[before].next = id,
            }
            inactive -= 1;
            inactive_bytes -= more as i64;
        }
        if next != NONE && self.blocks[next].state == RecordState::Free {
            self.pull(next);
            let BlockRecord { bytes: more, next: after, .. } = self.blocks[next];
            self.blocks.remove(next);
            self.blocks[id].next = after;
            bytes += more;
            if after != NONE {
                self.blocks[after].previous = id;
            }
            inactive -= 1;
            inactive_bytes -= more as i64;
        }
        let block = &mut self.blocks[id];
        block.bytes = bytes;
        block.state = RecordState::Free;
        block.used_elsewhere = false;
        block.freed_at = now;
        if !block.is_whole() {
            inactive += 1;
            inactive_bytes += bytes as i64;
        }
        let paged = block.paged;
        self.put(id);
        if paged { (0, 0) } else { (inactive, inactive_bytes) }
    }

    /// A caller has freed a block that other streams still use.
    pub(crate) fn suspend(&mut self, id: BlockId) {
        self.finish_last();
        let block = &mut self.blocks[id];
        block.state = RecordState::Pending;
        let mut falls = [0; FIGURES];
        falls[account::ALLOCATION] = -1;
        falls[account::ALLOCATED_BYTES] = -(block.bytes as i64);
        let kind = block.counted_in();
        // Nothing rises, so no room can run out.
        let _ = self.account.book_falls(kind, &falls);
    }

    /// Puts a free block that is in no bin into its bin.
    pub(crate) fn keep(&mut self, id: BlockId) {
        self.put(id);
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
            bins.visit(&self.blocks, see);
        }
    }
}
