//! Segments that are runs of pages: pages join a run and leave it.
//!
//! A run is a segment like any other. Pages that join next to a run make it longer, and may make one run
//! of two; pages that leave a free block may cut a run in two. No figure of a stream changes.

use super::block::{BlockRecord, NONE, RecordState};
use super::heap_records::HeapRecords;
use super::idle_segment::IdleSegment;
use super::segment::SegmentRecord;
use crate::caching::BlockId;

/// Segments that are no longer there, and the ones in their place: addresses, and addresses with bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RunChange {
    pub(crate) gone: Vec<u64>,
    pub(crate) now: Vec<(u64, u64)>,
}

/// An end of a run, where pages may join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunEnd {
    /// Where the run ends; for its lower end, where it begins.
    pub(crate) at: u64,
    /// The free bytes next to that end.
    pub(crate) free: u64,
    /// Whether it is the lower end.
    pub(crate) is_low: bool,
}

impl HeapRecords {
    /// Takes in pages, as part of the runs next to them. The result is the free block that holds them, which
    /// is in no bin: hand it out, or [`HeapRecords::keep`] it.
    pub(crate) fn adopt_pages(&mut self, pages: IdleSegment) -> (BlockId, RunChange) {
        let id = self.adopt(pages);
        let mut change = RunChange::default();
        let place = self.blocks[id].segment;
        let like = |run: &SegmentRecord, own: &SegmentRecord| {
            run.paged && run.kind == own.kind && run.pool == own.pool
        };
        let Some(own) = self.segments.get(place).copied() else { return (id, change) };
        let end = own.address + own.bytes;
        let find = |wanted: &dyn Fn(&SegmentRecord) -> bool| {
            let found = self.segments.iter().find(|(_, run)| like(run, &own) && wanted(run));
            found.map(|(place, run)| (place, *run))
        };
        let below = find(&|run| run.address + run.bytes == own.address);
        let above = find(&|run| run.address == end);
        let mut kept = (place, own);
        for (low, high) in [(below, None), (None, above)] {
            let (low, high) = match (low, high) {
                (Some(low), _) => (low, kept),
                (_, Some(high)) => (kept, high),
                _ => continue,
            };
            change.gone.extend([low.1.address, high.1.address]);
            kept = self.make_one(low, high);
        }
        change.now.push((kept.1.address, kept.1.bytes));
        self.join_free(id);
        (id, change)
    }

    /// Makes one segment of two neighbours, in the place of the lower one.
    fn make_one(
        &mut self,
        low: (u32, SegmentRecord),
        high: (u32, SegmentRecord),
    ) -> (u32, SegmentRecord) {
        let last = self.blocks_of(&low.1).last().map_or(NONE, |(id, _)| id);
        let first = high.1.first;
        let moved: Vec<BlockId> = self.blocks_of(&high.1).map(|(id, _)| id).collect();
        for id in moved {
            self.blocks[id].segment = low.0;
        }
        self.blocks[last].next = first;
        self.blocks[first].previous = last;
        self.segments.remove(high.0);
        let bytes = low.1.bytes + high.1.bytes;
        self.segments.set_bounds(low.0, low.1.address, bytes);
        (low.0, SegmentRecord { bytes, ..low.1 })
    }

    /// Joins a free block that is in no bin with its free neighbours.
    fn join_free(&mut self, id: BlockId) {
        let BlockRecord { previous, next, segment, .. } = self.blocks[id];
        if previous != NONE && self.blocks[previous].state == RecordState::Free {
            self.pull(previous);
            let BlockRecord { address, bytes, previous: before, .. } = self.blocks[previous];
            self.blocks.remove(previous);
            let block = &mut self.blocks[id];
            block.address = address;
            block.bytes += bytes;
            block.previous = before;
            match before {
                NONE => self.segments.set_first(segment, id),
                before => self.blocks[before].next = id,
            }
        }
        if next != NONE && self.blocks[next].state == RecordState::Free {
            self.pull(next);
            let BlockRecord { bytes, next: after, .. } = self.blocks[next];
            self.blocks.remove(next);
            let block = &mut self.blocks[id];
            block.bytes += bytes;
            block.next = after;
            if after != NONE {
                self.blocks[after].previous = id;
            }
        }
    }

    /// Takes pages out of a free block of a run.
    pub(crate) fn take_pages(&mut self, id: BlockId, from: u64, to: u64) -> RunChange {
        self.pull(id);
        let block = self.blocks[id];
        let (place, end) = (block.segment, block.address + block.bytes);
        debug_assert!(block.paged && block.state == RecordState::Free);
        debug_assert!(block.address <= from && from < to && to <= end);
        let Some(run) = self.segments.get(place).copied() else { return RunChange::default() };
        let run_end = run.address + run.bytes;

        // What is above the pages becomes a segment of its own.
        let above = if to < end {
            let rest = BlockRecord { address: to, bytes: end - to, previous: NONE, ..block };
            let rest = self.blocks.add(rest);
            if block.next != NONE {
                self.blocks[block.next].previous = rest;
            }
            rest
        } else {
            if block.next != NONE {
                self.blocks[block.next].previous = NONE;
            }
            block.next
        };
        // What is below stays in its place.
        let below = if block.address < from {
            let rest = &mut self.blocks[id];
            (rest.bytes, rest.next) = (from - rest.address, NONE);
            true
        } else {
            if block.previous != NONE {
                self.blocks[block.previous].next = NONE;
            }
            self.blocks.remove(id);
            block.previous != NONE
        };
        let mut change = RunChange { gone: vec![run.address], now: Vec::new() };
        if below {
            self.segments.set_bounds(place, run.address, from - run.address);
            change.now.push((run.address, from - run.address));
        } else {
            self.segments.remove(place);
        }
        if above != NONE {
            let bytes = run_end - to;
            let record = SegmentRecord { address: to, bytes, first: above, ..run };
            let upper = self.segments.add(record);
            let moved: Vec<BlockId> = self.blocks_of(&record).map(|(id, _)| id).collect();
            for id in moved {
                self.blocks[id].segment = upper;
            }
            change.now.push((to, bytes));
        }
        if block.address < from {
            self.keep(id);
        }
        if to < end {
            self.keep(above);
        }
        change
    }

    /// The free block of a run that holds a range.
    pub(crate) fn free_block_around(&self, from: u64, to: u64) -> Option<BlockId> {
        let (_, run) = self
            .segments
            .iter()
            .find(|(_, run)| run.paged && from.wrapping_sub(run.address) < run.bytes)?;
        let (id, block) = self
            .blocks_of(run)
            .find(|(_, block)| from.wrapping_sub(block.address) < block.bytes)?;
        let holds = block.state == RecordState::Free && to <= block.address + block.bytes;
        holds.then_some(id)
    }

    /// The ends of the runs of a pool.
    pub(crate) fn run_ends(&self, bins: u16) -> Vec<RunEnd> {
        let mut ends = Vec::new();
        let free = |block: &BlockRecord| match block.state {
            RecordState::Free => block.bytes,
            _ => 0,
        };
        for (_, run) in self.segments.iter().filter(|(_, run)| run.paged) {
            let first = &self.blocks[run.first];
            if first.bins != bins {
                continue;
            }
            ends.push(RunEnd { at: run.address, free: free(first), is_low: true });
            let last = self.blocks_of(run).last().map_or(0, |(_, block)| free(block));
            ends.push(RunEnd { at: run.address + run.bytes, free: last, is_low: false });
        }
        ends
    }

    /// The free blocks of runs whose pool `wanted` holds for, from the smallest to the largest.
    pub(crate) fn free_in_runs(&self, wanted: impl Fn(u16) -> bool) -> Vec<(BlockId, BlockRecord)> {
        let mut free = Vec::new();
        for (_, run) in self.segments.iter().filter(|(_, run)| run.paged && wanted(run.pool)) {
            let blocks = self.blocks_of(run).map(|(id, block)| (id, *block));
            free.extend(blocks.filter(|(_, block)| block.state == RecordState::Free));
        }
        free.sort_unstable_by_key(|(_, block)| block.key());
        free
    }
}
