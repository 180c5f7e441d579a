//! The free blocks of one kind, found by size.
//!
//! Bins in the order of sizes, 64 for each power of two. Inside a bin blocks form a treap ordered by size and address,
//! mostly of one node.

use sconce_base::collections::filled_bins::{BINS, FilledBins};
use sconce_base::collections::treap;

use super::block::{Blocks, NONE};
use super::rounding::UNIT;
use crate::caching::BlockId;

/// The number of the last bin. There are 64 bins for each of 58 powers of two, and those of the sizes below.
const MASK: usize = BINS - 1;

/// The free blocks of a kind: 17 KB, made with the first of them.
pub(crate) struct Bins {
    filled: FilledBins,
    roots: [BlockId; BINS],
}

/// The bin of a size: one a size up to 4 KiB.
#[inline]
fn bin(bytes: usize) -> usize {
    let units = bytes / UNIT;
    if units < 64 {
        return units;
    }
    let power = units.ilog2() as usize;
    ((power - 5) * 64 + (units >> (power - 6) & 63)) & MASK
}

impl Bins {
    #[cold]
    #[inline(never)]
    pub(crate) fn new() -> Box<Bins> {
        Box::new(Bins { filled: FilledBins::new(), roots: [NONE; BINS] })
    }

    /// The smallest block of at least `bytes`, of equals the one with the lowest address; it stays where it is.
    #[inline]
    pub(crate) fn best_fit(&self, blocks: &Blocks, bytes: usize) -> Option<BlockId> {
        // This bin has smaller blocks too.
        let from = bin(bytes);
        let root = self.roots[from];
        if root != NONE {
            let id = treap::first_from(blocks, root, &(bytes, 0));
            if id != NONE {
                return Some(id);
            }
        }
        let bin = self.filled.next(from + 1)?;
        Some(treap::first(blocks, self.roots[bin & MASK]))
    }

    /// Adds a free block.
    #[inline]
    pub(crate) fn insert(&mut self, blocks: &mut Blocks, id: BlockId) {
        let bin = bin(blocks[id].bytes);
        blocks[id].leave_shelf();
        treap::insert(blocks, &mut self.roots[bin], id);
        self.filled.set_filled(bin);
    }

    /// Takes a free block out.
    #[inline]
    pub(crate) fn remove(&mut self, blocks: &mut Blocks, id: BlockId) {
        let bin = bin(blocks[id].bytes);
        treap::remove(blocks, &mut self.roots[bin], id);
        self.filled.set_taken(bin, self.roots[bin] == NONE);
    }

    /// Every free block, from the smallest to the largest.
    pub(crate) fn visit(&self, blocks: &Blocks, mut see: impl FnMut(BlockId)) {
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

    use super::super::block::Block;
    use super::super::rounding::Kind;
    use super::*;

    const STEPS: usize = if cfg!(miri) { 30 } else { 300 };

    #[test]
    fn bins_rise_with_sizes_and_cover_everything() {
        let mut before = 0;
        for power in 6..60 {
            for step in 0..64 {
                let bytes = (1_usize << power) + step * ((1 << power) / 64) / UNIT * UNIT;
                let bin = bin(bytes);
                assert!(bin >= before && bin < BINS, "{bytes}");
                before = bin;
            }
        }
        assert_eq!((bin(64), bin(4096), bin(4160)), (1, 64, 65));
    }

    proptest! {
        #[test]
        fn best_fit_is_that_of_an_ordered_map(
            scale in prop_oneof![Just(1_usize), Just(3), Just(64), Just(777)],
            steps in prop::collection::vec((0..3, 1_usize..4096), 1..STEPS)
        ) {
            let mut blocks = Blocks::new();
            let mut bins = Bins::new();
            let mut model = BTreeMap::new();
            for (i, (step, units)) in steps.into_iter().enumerate() {
                let bytes = units * UNIT * scale;
                if step < 2 {
                    let address = (i * 0x9e37 % 100_000 + 1) * UNIT;
                    let block = Block::free(address, bytes, 0, Kind::Small);
                    if model.contains_key(&block.key()) {
                        continue;
                    }
                    let id = blocks.add(block);
                    model.insert(block.key(), id);
                    bins.insert(&mut blocks, id);
                } else if let Some((&key, &id)) = model.range((bytes, 0)..).next() {
                    model.remove(&key);
                    bins.remove(&mut blocks, id);
                }
                let expected = model.range((bytes, 0)..).next().map(|(_, id)| *id);
                prop_assert_eq!(bins.best_fit(&blocks, bytes), expected);
                let mut seen = Vec::new();
                bins.visit(&blocks, |id| seen.push(id));
                prop_assert_eq!(seen, model.values().copied().collect::<Vec<_>>());
            }
        }
    }
}
