//! The other streams and the processes that use blocks of a cache.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::caching::BlockId;
use crate::stream::Named;

/// The uses of a cache's blocks. A block that processes may hold stays here after its free, until no
/// process holds it.
pub(crate) struct BlockUses(BTreeMap<BlockId, BlockUse>);

/// The number of the block that was shared last.
static LAST_SHARED: AtomicU64 = AtomicU64::new(0);

/// The uses of a block.
#[derive(Default)]
struct BlockUse {
    /// Streams that use it, while it is live.
    streams: Vec<Named>,
    /// Other processes may ask to hold it: a number that no other block ever has.
    shared: Option<u64>,
    /// How often other processes hold it.
    holds: usize,
}

impl BlockUses {
    pub(super) const fn new() -> BlockUses {
        BlockUses(BTreeMap::new())
    }

    /// Whether no block has a use.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A stream uses a live block.
    pub(super) fn add_stream(&mut self, id: BlockId, by: Named) {
        let streams = &mut self.0.entry(id).or_default().streams;
        if !streams.contains(&by) {
            streams.push(by);
        }
    }

    /// Other processes may hold a live block. Returns its number, which stays the same as long as the block is live.
    pub(super) fn share(&mut self, id: BlockId) -> u64 {
        let shared = &mut self.0.entry(id).or_default().shared;
        *shared.get_or_insert_with(|| LAST_SHARED.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The number of a block that other processes may hold.
    pub(crate) fn shared(&self, id: BlockId) -> Option<u64> {
        self.0.get(&id)?.shared
    }

    /// The blocks that other processes hold.
    pub(crate) fn held(&self) -> impl Iterator<Item = BlockId> {
        self.0.iter().filter(|(_, block)| block.holds != 0).map(|(id, _)| *id)
    }

    /// One more process holds a block; `false` when the block is not shared.
    pub(super) fn hold(&mut self, id: BlockId) -> bool {
        let block = self.0.get_mut(&id).filter(|block| block.shared.is_some());
        block.map(|block| block.holds += 1).is_some()
    }

    /// A process no longer holds a block.
    pub(super) fn release_hold(&mut self, id: BlockId) {
        if let Some(block) = self.0.get_mut(&id) {
            block.holds -= 1;
        }
    }

    /// A block is freed: takes out the streams that use it.
    pub(super) fn take_streams(&mut self, id: BlockId) -> Vec<Named> {
        match self.0.get_mut(&id) {
            Some(block) if block.shared.is_some() => std::mem::take(&mut block.streams),
            Some(_) => self.0.remove(&id).unwrap_or_default().streams,
            None => Vec::new(),
        }
    }

    /// Forgets a block that was freed, unless a process holds it; returns whether none does.
    pub(super) fn forget(&mut self, id: BlockId) -> bool {
        let held = self.0.get(&id).is_some_and(|block| block.holds != 0);
        if !held {
            self.0.remove(&id);
        }
        !held
    }
}
