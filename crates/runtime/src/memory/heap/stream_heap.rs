//! One stream's heap: its records, and the last block, which is handed out again and again as it is.
//!
//! Nothing here locks or calls a driver. A thread that changes a heap holds its cache's lock.

use std::ops::Deref;

use super::block::{BlockRecord, NONE, RecordState};
use super::heap_records::HeapRecords;
use super::last_block::LastBlock;
use super::request::{BlockRequest, HandedOut, kind_of};
use crate::caching::BlockId;
use crate::memory::addresses::address_map;
use crate::memory::addresses::block_numbers::NumberOwner;
use crate::memory::addresses::entry::note_bytes;
use crate::memory::figures::stream_stats::{StreamStats, falls};

/// The index of the default pool in every heap's table.
pub(crate) const DEFAULT_POOL: u16 = 0;

/// One stream's memory. Its records are changed through [`StreamHeap::finished`], which first ends the special
/// treatment of the last block; they are read as they are.
pub(crate) struct StreamHeap {
    records: HeapRecords,
    last: LastBlock,
}

impl Deref for StreamHeap {
    type Target = HeapRecords;

    #[inline(always)]
    fn deref(&self) -> &HeapRecords {
        &self.records
    }
}

impl StreamHeap {
    pub(crate) fn new() -> StreamHeap {
        StreamHeap { records: HeapRecords::new(), last: LastBlock::NOTHING }
    }

    /// The records, after the last block was finished: whatever changes a heap begins here.
    #[inline]
    pub(crate) fn finished(&mut self) -> &mut HeapRecords {
        self.finish_last();
        &mut self.records
    }

    /// The place of a pool in the heap's table; made if need be. The last block stays.
    pub(crate) fn pool(&mut self, number: u64) -> u16 {
        self.records.pool(number)
    }

    /// A block whose marks change. The last block stays: its marks are read before it is given back.
    #[inline]
    pub(crate) fn block_to_mark(&mut self, id: BlockId) -> &mut BlockRecord {
        &mut self.records.blocks[id]
    }

    /// The statistics of the heap, to refill their quotas. The last block stays.
    pub(crate) fn stats_to_refill(&mut self) -> &mut StreamStats {
        &mut self.records.stats
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
        let records = &mut self.records;
        let bins = records.bins.get_mut(usize::from(request.bins()))?.as_mut()?;
        let blocks = records.blocks.all();
        let found = bins.best_fit(blocks, request.rounded)?;
        if !request.fit.allows(request.rounded, blocks[found.id as usize].bytes) {
            return None;
        }
        bins.remove_found(blocks, found);
        Some(self.hand_out_found(owner, found.id, request))
    }

    /// Hands out again what was handed out and freed last.
    #[inline]
    fn take_last(&mut self, request: &BlockRequest) -> HandedOut {
        let more = self.last.hand_out(request.bytes);
        let LastBlock { id, address, bytes, kind, .. } = self.last;
        let within_quota = more == 0 || self.records.stats.book_requested(kind, more);
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
    pub(crate) fn hand_out(
        &mut self,
        owner: &'static impl NumberOwner,
        id: BlockId,
        request: &BlockRequest,
    ) -> HandedOut {
        self.finish_last();
        self.hand_out_found(owner, id, request)
    }

    /// As [`StreamHeap::hand_out`], when the last block was finished.
    #[inline(always)]
    fn hand_out_found(
        &mut self,
        owner: &'static impl NumberOwner,
        id: BlockId,
        request: &BlockRequest,
    ) -> HandedOut {
        let records = &mut self.records;
        let found = &mut records.blocks[id];
        let BlockRecord { address, bytes: whole_bytes, paged, fills_windows: alone, .. } = *found;
        let (whole, spare) = (found.is_whole(), whole_bytes - request.rounded);
        found.state = RecordState::Allocated;
        let kept_request = std::mem::replace(&mut found.requested, request.bytes);
        let (bytes, inactive) = if request.fit.cuts(request, spare) {
            records.cut(id, request.rounded, kept_request);
            let rest = if whole { (1, spare as i64) } else { (0, -(request.rounded as i64)) };
            (request.rounded, rest)
        } else {
            (whole_bytes, if whole { (0, 0) } else { (-1, -(whole_bytes as i64)) })
        };
        let inactive = if paged { (0, 0) } else { inactive };
        // Blocks of segments count in the pool of their segment, whatever the settings are now.
        let kind = if paged { request.kind } else { kind_of(request.bins()) };
        let number = records.numbers.of(owner, id);
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
        let within_quota = self.records.stats.book_hand_out(kind, bytes, request.bytes, inactive);
        HandedOut { id, address, bytes, within_quota }
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
        let records = self.finished();
        let block = &records.blocks[id];
        let (bytes, requested) = (block.bytes, block.requested);
        let kind = block.counted_in();
        let inactive = records.merge_here(id, now);
        records.stats.book_falls(kind, &falls(bytes, requested, inactive))
    }

    /// Ends the special treatment of the last block: if it was freed, it joins its neighbours, and what was not
    /// booked is booked.
    #[inline]
    fn finish_last(&mut self) {
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
            self.records.stats.book_repeated(kind, &rises);
        }
        let records = &mut self.records;
        let block = &mut records.blocks[last.id];
        block.requested = last.requested;
        if !last.held {
            let inactive = records.merge(last.id, last.freed_at);
            // The figures go back to what they were, and no other thread takes quota from a stream
            // without finishing its last block first.
            let falls = falls(last.bytes, last.requested, inactive);
            let within_quota = records.stats.book_falls(kind, &falls);
            debug_assert!(
                within_quota,
                "quota was taken from a heap whose last block was not finished"
            );
        }
    }
}
