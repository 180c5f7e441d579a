//! Segments without live blocks: taking them into a heap and out of it.

use super::block::{BlockRecord, BlockRecords, NONE, RecordState};
use super::heap_records::{HeapPool, HeapRecords};
use super::segment::SegmentRecord;
use crate::caching::BlockId;
use crate::caching::size_class::PoolKind;
use crate::memory::addresses::address_map;

/// A segment without live blocks, taken out of its heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdleSegment {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: PoolKind,
    /// The number of its pool.
    pub(crate) pool: u64,
    /// Its pool's owner is gone.
    pub(crate) abandoned: bool,
    /// It was counted as oversize.
    pub(crate) oversize: bool,
    /// It is made of pages.
    pub(crate) paged: bool,
}

impl HeapRecords {
    /// Takes in a segment. Its one block is free and in no bin: hand it out, or [`HeapRecords::keep`] it.
    pub(crate) fn adopt(&mut self, segment: IdleSegment) -> BlockId {
        let IdleSegment { address, bytes, kind, oversize, paged, .. } = segment;
        // Its pool's place may have gone to another pool meanwhile.
        let pool = self.pool(segment.pool);
        self.pools[usize::from(pool)].abandoned |= segment.abandoned;
        let first = NONE;
        let record = SegmentRecord { address, bytes, kind, pool, oversize, paged, first };
        let place = self.segments.add(record);
        let bins = pool << 1 | u16::from(kind == PoolKind::Large);
        let id = self.blocks.add(BlockRecord {
            address,
            bytes,
            segment: place,
            bins,
            state: RecordState::Free,
            paged,
            fills_windows: address_map::fills_windows(address, bytes),
            ..BlockRecords::blank()
        });
        self.segments.set_first(place, id);
        id
    }

    /// Takes out the segments of the plain source that have no live block and that `wanted` says yes to.
    pub(crate) fn take_idle(
        &mut self,
        mut wanted: impl FnMut(&BlockRecord, &SegmentRecord, &HeapPool) -> bool,
    ) -> Vec<IdleSegment> {
        let whole: Vec<(u32, SegmentRecord)> = self
            .segments
            .iter()
            .filter(|(_, segment)| {
                let block = &self.blocks[segment.first];
                block.state == RecordState::Free
                    && !segment.paged
                    && block.is_whole()
                    && wanted(block, segment, &self.pools[usize::from(segment.pool)])
            })
            .map(|(place, segment)| (place, *segment))
            .collect();
        for (place, segment) in &whole {
            self.pull(segment.first);
            self.blocks.remove(segment.first);
            self.segments.remove(*place);
        }
        if !whole.is_empty() {
            self.shrink_if_empty();
        }
        whole
            .into_iter()
            .map(|(_, SegmentRecord { address, bytes, kind, pool, oversize, .. })| {
                let HeapPool { number, abandoned, .. } = self.pools[usize::from(pool)];
                IdleSegment {
                    address,
                    bytes,
                    kind,
                    pool: number,
                    abandoned,
                    oversize,
                    paged: false,
                }
            })
            .collect()
    }
}
