//! From an address to its block: at once for where a block that is or was lately held begins, by
//! order for any other.

use std::collections::{BTreeMap, HashMap};

use crate::caching::BlockId;
use crate::collections::word_hash::WordHash;

/// Blocks by address.
pub(crate) struct PinnedIndex {
    /// Blocks that are held, wait or lie on the shelf.
    whole: HashMap<usize, BlockId, WordHash>,
    /// Every block.
    all: BTreeMap<usize, BlockId>,
}

impl PinnedIndex {
    pub(crate) const fn new() -> PinnedIndex {
        PinnedIndex { whole: HashMap::with_hasher(WordHash::new()), all: BTreeMap::new() }
    }

    /// The block that is or was lately held and begins at the address.
    #[inline]
    pub(crate) fn whole_at(&self, address: usize) -> Option<BlockId> {
        self.whole.get(&address).copied()
    }

    /// The block that begins at the address is held.
    pub(crate) fn hold(&mut self, address: usize, id: BlockId) {
        self.whole.insert(address, id);
    }

    /// The block that begins at the address is one with its neighbours.
    pub(crate) fn let_go(&mut self, address: usize) {
        self.whole.remove(&address);
    }

    pub(crate) fn add(&mut self, address: usize, id: BlockId) {
        self.all.insert(address, id);
    }

    pub(crate) fn remove(&mut self, address: usize) {
        self.all.remove(&address);
    }

    /// The block with the highest beginning that is not above the address.
    pub(crate) fn at_or_below(&self, address: usize) -> Option<BlockId> {
        self.all.range(..=address).next_back().map(|(_, id)| *id)
    }

    /// The block with the highest beginning below the address.
    pub(crate) fn below(&self, address: usize) -> Option<BlockId> {
        self.all.range(..address).next_back().map(|(_, id)| *id)
    }

    /// The block that begins at the address.
    pub(crate) fn at(&self, address: usize) -> Option<BlockId> {
        self.all.get(&address).copied()
    }

    /// Every block, by address.
    pub(crate) fn all(&self) -> impl Iterator<Item = BlockId> {
        self.all.values().copied()
    }

    /// How many blocks are known to be held, waiting or on the shelf.
    pub(crate) fn count_whole(&self) -> usize {
        self.whole.len()
    }
}
