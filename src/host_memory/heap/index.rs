//! From an address to its block: at once for where a block that is or was lately held begins, by
//! order for any other.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use crate::caching::BlockId;

/// Blocks by address.
pub(crate) struct PinnedIndex {
    /// Blocks that are held, wait or lie on the shelf.
    whole: HashMap<usize, BlockId, BuildHasherDefault<Spread>>,
    /// Every block.
    all: BTreeMap<usize, BlockId>,
}

/// Addresses are unique and nobody's choice, so one multiplication spreads them well enough.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        let product = (self.0 ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product.rotate_left(26);
    }
}

impl PinnedIndex {
    pub(crate) const fn new() -> PinnedIndex {
        PinnedIndex { whole: HashMap::with_hasher(BuildHasherDefault::new()), all: BTreeMap::new() }
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
