//! Segments without live blocks: taking them into a heap and out of it.

use super::block::{Block, BlockId, Blocks, NONE, State};
use super::segment::Segment;
use super::stream_heap::{Heap, Pool};
use crate::caching::size_class::PoolKind;
use crate::memory::addresses::address_map;

/// A segment without live blocks, taken out of its heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: PoolKind,
    /// The number of its pool.
    pub(crate) pool: u64,
    /// Its pool's owner is gone.
    pub(crate) abandoned: bool,
    /// It was counted as oversize.
    pub(crate) oversize: bool,
}

impl Heap {
    /// Takes in a segment. Its one block is free and in no bin: hand it out, or [`Heap::keep`] it.
    pub(crate) fn adopt(&mut self, segment: Whole) -> BlockId {
        self.cool();
        let Whole { address, bytes, kind, oversize, .. } = segment;
        // Its pool's place may have gone to another pool meanwhile.
        let pool = self.pool(segment.pool);
        self.pools[usize::from(pool)].abandoned |= segment.abandoned;
        let first = NONE;
        let place = self.segments.add(Segment { address, bytes, kind, pool, oversize, first });
        let bins = pool << 1 | u16::from(kind == PoolKind::Large);
        let id = self.blocks.add(Block {
            address,
            bytes,
            segment: place,
            bins,
            state: State::Free,
            fills_windows: address_map::fills_windows(address, bytes),
            ..Blocks::blank()
        });
        self.segments.set_first(place, id);
        id
    }

    /// Takes out the segments that have no live block and that `wanted` says yes to.
    pub(crate) fn take_whole(
        &mut self,
        mut wanted: impl FnMut(&Block, &Segment, &Pool) -> bool,
    ) -> Vec<Whole> {
        self.cool();
        let whole: Vec<(u32, Segment)> = self
            .segments
            .iter()
            .filter(|(_, segment)| {
                let block = &self.blocks[segment.first];
                block.state == State::Free
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
            .map(|(_, Segment { address, bytes, kind, pool, oversize, .. })| {
                let Pool { number, abandoned, .. } = self.pools[usize::from(pool)];
                Whole { address, bytes, kind, pool: number, abandoned, oversize }
            })
            .collect()
    }
}
