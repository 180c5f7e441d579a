//! The free blocks of one pool of one stream, found by size.
//!
//! Bins in the order of sizes. The small pool has one bin a size, and its last bin also holds what is larger; the large
//! pool has 64 a power of two. Inside a bin blocks form a treap ordered by size and address, mostly of one node.

use sconce_base::collections::filled_bins::{BINS, FilledBins};
use sconce_base::collections::treap;

use super::block::{BlockRecord, NONE};
use crate::caching::BlockId;
use crate::caching::size_class::{BLOCK_UNIT, PoolKind};

/// The number of the last bin. The bins are all sizes of a small segment, or 64 for each of some 60 powers of two.
const MASK: usize = BINS - 1;

/// The free blocks of a pool: 17 KB, made with the pool's first free block.
pub(crate) struct Bins {
    kind: PoolKind,
    filled: FilledBins,
    roots: [BlockId; BINS],
}

/// A free block in its bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundBlock {
    pub(crate) id: BlockId,
    bin: usize,
}

/// The bin of a size.
#[inline(always)]
fn bin(kind: PoolKind, bytes: u64) -> usize {
    let units = bytes / BLOCK_UNIT as u64;
    let bin = match kind {
        // Free pages side by side may be larger than a segment of this pool.
        PoolKind::Small => (units - 1).min(MASK as u64),
        // Below 128 units each number has its bin.
        PoolKind::Large => {
            let halvings = u64::from((units | 64).ilog2()) - 6;
            (units >> halvings) + halvings * 64
        }
    };
    bin as usize & MASK
}

impl Bins {
    #[cold]
    #[inline(never)]
    pub(crate) fn new(kind: PoolKind) -> Box<Bins> {
        Box::new(Bins { kind, filled: FilledBins::new(), roots: [NONE; BINS] })
    }

    /// The block that best fits `bytes`; it stays where it is.
    #[inline(always)]
    pub(crate) fn best_fit(&self, blocks: &[BlockRecord], bytes: u64) -> Option<FoundBlock> {
        let mut from = bin(self.kind, bytes);
        if self.kind == PoolKind::Large {
            // This bin has smaller blocks too.
            let id = treap::first_from(blocks, self.roots[from & MASK], &(bytes, 0));
            if id != NONE {
                return Some(FoundBlock { id, bin: from });
            }
            from += 1;
        }
        let bin = self.filled.next(from)?;
        Some(FoundBlock { id: treap::first(blocks, self.roots[bin & MASK]), bin })
    }

    /// Adds a free block.
    #[inline(always)]
    pub(crate) fn insert(&mut self, blocks: &mut [BlockRecord], id: BlockId) {
        let bin = bin(self.kind, blocks[id as usize].bytes);
        treap::insert(blocks, &mut self.roots[bin], id);
        self.filled.set_filled(bin);
    }

    /// Takes a free block out.
    #[inline(always)]
    pub(crate) fn remove(&mut self, blocks: &mut [BlockRecord], id: BlockId) {
        let bin = bin(self.kind, blocks[id as usize].bytes);
        self.remove_found(blocks, FoundBlock { id, bin });
    }

    /// Takes out a free block that was found, with nothing changed since.
    #[inline(always)]
    pub(crate) fn remove_found(&mut self, blocks: &mut [BlockRecord], found: FoundBlock) {
        let FoundBlock { id, bin } = found;
        let root = &mut self.roots[bin & MASK];
        treap::remove(blocks, root, id);
        self.filled.set_taken(bin, *root == NONE);
    }

    /// Every free block, from the smallest to the largest.
    pub(crate) fn visit(&self, blocks: &[BlockRecord], mut see: impl FnMut(BlockId)) {
        let mut from = 0;
        while from < BINS
            && let Some(bin) = self.filled.next(from)
        {
            treap::visit(blocks, self.roots[bin], &mut see);
            from = bin + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::block::BlockRecords;
    use super::*;

    const STEPS: usize = if cfg!(miri) { 30 } else { 300 };

    #[test]
    fn bins_rise_with_sizes_and_cover_everything() {
        let mut before = 0;
        for power in 9..60 {
            for step in 0..64 {
                let bytes = (1_u64 << power) + step * ((1 << power) / 64) / 512 * 512;
                let bin = bin(PoolKind::Large, bytes);
                assert!(bin >= before && bin < BINS, "{bytes}");
                before = bin;
            }
        }
        let small = |bytes| bin(PoolKind::Small, bytes);
        assert_eq!([512, 2 << 20, 5 << 20].map(small), [0, BINS - 1, BINS - 1]);
    }

    proptest! {
        #[test]
        fn best_fit_is_that_of_an_ordered_set(
            kind in prop_oneof![Just(PoolKind::Small), Just(PoolKind::Large)],
            steps in prop::collection::vec((0..3, 1_u64..4096), 1..STEPS)
        ) {
            let mut blocks = BlockRecords::new();
            let mut bins = Bins::new(kind);
            let mut model = BTreeMap::new();
            for (i, (step, units)) in steps.into_iter().enumerate() {
                let scale = if kind == PoolKind::Large { 777 } else { 3 };
                let bytes = units * 512 * scale;
                if step < 2 {
                    let address = (i as u64 * 0x9e37) % 100_000 * 512;
                    let id = blocks.add(BlockRecord { bytes, address, ..BlockRecords::blank() });
                    if model.contains_key(&blocks[id].key()) {
                        continue;
                    }
                    model.insert(blocks[id].key(), id);
                    bins.insert(blocks.all(), id);
                } else if let Some((&key, &id)) = model.range((bytes, 0)..).next() {
                    model.remove(&key);
                    bins.remove(blocks.all(), id);
                }
                // Requests to the small pool have at most 1 MiB.
                let asked = if kind == PoolKind::Large { bytes } else { bytes.min(1 << 20) };
                let expected = model.range((asked, 0)..).next().map(|(_, id)| *id);
                let found = bins.best_fit(blocks.all(), asked).map(|found| found.id);
                prop_assert_eq!(found, expected);
                let mut seen = Vec::new();
                bins.visit(blocks.all(), |id| seen.push(id));
                prop_assert_eq!(seen, model.values().copied().collect::<Vec<_>>());
            }
        }
    }
}
