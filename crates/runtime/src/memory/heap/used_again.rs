//! The blocks of a pool that streams begin to use while nobody holds them: launches of a graph name any address of the
//! pool, free or not.

use super::block::RecordState;
use super::heap_records::HeapRecords;
use super::request::kind_of;
use crate::caching::BlockId;
use crate::memory::figures::stream_stats::{self, FIGURES};

impl HeapRecords {
    /// All blocks of a pool that is awake, in whatever state.
    pub(crate) fn blocks_in(&mut self, number: u64) -> Vec<BlockId> {
        let of = |pool: u16| {
            let pool = &self.pools[usize::from(pool)];
            pool.number == number && !pool.asleep
        };
        let segments = self.segments.iter().filter(|(_, segment)| of(segment.pool));
        segments.flat_map(|(_, segment)| self.blocks_of(segment).map(|(id, _)| id)).collect()
    }

    /// Takes a free block out of its bin, since streams use it. It waits like a block that was freed while streams use
    /// it, and counts as one, for which nothing was asked. `false` when a quota must be refilled.
    #[must_use]
    pub(crate) fn suspend_free(&mut self, id: BlockId) -> bool {
        self.pull(id);
        let block = &mut self.blocks[id];
        debug_assert!(block.state == RecordState::Free);
        block.state = RecordState::Pending;
        block.requested = 0;
        let bytes = block.bytes as i64;
        let mut changes = [0; FIGURES];
        changes[stream_stats::ACTIVE] = 1;
        changes[stream_stats::ACTIVE_BYTES] = bytes;
        // Free pieces of pages do not count as inactive, nor do whole segments.
        if !block.paged && !block.is_whole() {
            changes[stream_stats::INACTIVE_SPLIT] = -1;
            changes[stream_stats::INACTIVE_SPLIT_BYTES] = -bytes;
        }
        let kind = if block.paged { block.counted_in() } else { kind_of(block.bins) };
        self.stats.book_rises(kind, &changes)
    }
}
