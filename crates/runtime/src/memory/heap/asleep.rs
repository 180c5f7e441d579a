//! Runs of a pool that is asleep. They stay in the heap with their blocks, at a place of the table of pools that no
//! request names, so that their free blocks serve nobody. A free of a live block works as always.
//!
//! The bytes that the address map notes of a live block are 0 while it is asleep, so a check how far an address
//! reaches finds that it does not.

use super::block::{BlockRecord, NONE, RecordState};
use super::heap_records::HeapRecords;
use super::segment::SegmentRecord;
use crate::caching::BlockId;
use crate::memory::addresses::address_map;
use crate::memory::addresses::block_numbers::NumberChunk;
use crate::memory::addresses::entry::note_bytes;

impl HeapRecords {
    /// Whether the pool at a place of the table is one of runs that are asleep.
    pub(crate) fn is_asleep(&self, place: u16) -> bool {
        self.pools.get(usize::from(place)).is_some_and(|pool| pool.asleep)
    }

    /// The runs of a pool that are asleep.
    pub(crate) fn sleeping_runs(&self, number: u64) -> Vec<SegmentRecord> {
        let of = |run: &SegmentRecord| {
            self.is_asleep(run.pool) && self.pools[usize::from(run.pool)].number == number
        };
        self.segments.iter().map(|(_, run)| *run).filter(|run| of(run)).collect()
    }

    /// Sets the runs of a pool apart (`asleep`), or brings back those that are apart.
    pub(crate) fn set_asleep(&mut self, number: u64, asleep: bool) {
        let is_from = |heap: &HeapRecords, run: &SegmentRecord| {
            let pool = &heap.pools[usize::from(run.pool)];
            run.paged && pool.number == number && pool.asleep != asleep
        };
        let runs: Vec<(u32, SegmentRecord)> = self
            .segments
            .iter()
            .filter(|(_, run)| is_from(self, run))
            .map(|(place, run)| (place, *run))
            .collect();
        let Some(from) = runs.first().map(|(_, run)| usize::from(run.pool)) else { return };
        let to = if asleep { self.place_apart(number) } else { self.pool(number) };
        let kept = !asleep && self.pools[usize::from(to)].abandoned;
        self.pools[usize::from(to)].abandoned = kept | self.pools[from].abandoned;
        for (place, run) in runs {
            self.segments.set_pool(place, to);
            let blocks: Vec<BlockId> = self.blocks_of(&run).map(|(id, _)| id).collect();
            for id in blocks {
                self.move_block(id, to, asleep);
            }
        }
        if !asleep {
            // The place serves the next pool that needs one.
            self.pools[from].abandoned = true;
        }
    }

    fn move_block(&mut self, id: BlockId, to: u16, asleep: bool) {
        let BlockRecord { state, bins, address, bytes, .. } = self.blocks[id];
        let bins = to << 1 | (bins & 1);
        if state == RecordState::Free {
            self.pull(id);
            self.blocks[id].bins = bins;
            self.keep(id);
            return;
        }
        self.blocks[id].bins = bins;
        if state == RecordState::Allocated
            && let Some(entry) = address_map::look_up(address)
            && let Some(chunk) = NumberChunk::of(entry.number())
        {
            note_bytes(chunk.bytes(entry.number()), if asleep { 0 } else { bytes });
        }
    }

    /// The free blocks of a pool's runs that are asleep.
    pub(crate) fn free_asleep(&self, number: u64) -> Vec<BlockRecord> {
        let runs = self.sleeping_runs(number);
        let blocks = runs.iter().flat_map(|run| self.blocks_of(run).map(|(_, block)| *block));
        blocks.filter(|block| block.state == RecordState::Free).collect()
    }

    /// Whether a run has a block that a caller holds, or that waits for events.
    pub(crate) fn is_in_use(&self, run: &SegmentRecord) -> bool {
        run.first != NONE && self.blocks_of(run).any(|(_, block)| block.state != RecordState::Free)
    }
}
