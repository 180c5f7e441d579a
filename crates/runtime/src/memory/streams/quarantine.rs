//! Freed blocks of a cache that nothing uses and that are kept from being handed out again, so that a late use of one is
//! not taken for a use of the next block there. Only with a driver that asks for it (`Observe::quarantine_bytes`).

use std::collections::VecDeque;

use crate::caching::{BlockId, DelayCounters};

/// The most blocks: whether a block is here is looked up one by one.
const MOST_BLOCKS: usize = 256;

/// The blocks, oldest first. They count as waiting.
pub(crate) struct Quarantine {
    blocks: VecDeque<(BlockId, usize)>,
    bytes: usize,
}

impl Quarantine {
    pub(crate) const fn new() -> Quarantine {
        Quarantine { blocks: VecDeque::new(), bytes: 0 }
    }

    pub(super) fn add(&mut self, counters: &DelayCounters, id: BlockId, bytes: usize) {
        counters.begin_wait(bytes);
        self.bytes += bytes;
        self.blocks.push_back((id, bytes));
    }

    /// Takes out the block that has been here longest, if the blocks have more than `most` bytes.
    pub(super) fn take_oldest(&mut self, counters: &DelayCounters, most: usize) -> Option<BlockId> {
        if self.bytes <= most && self.blocks.len() <= MOST_BLOCKS {
            return None;
        }
        let (id, bytes) = self.blocks.pop_front()?;
        self.bytes -= bytes;
        counters.end_wait(bytes);
        Some(id)
    }

    pub(super) fn contains(&self, id: BlockId) -> bool {
        self.blocks.iter().any(|(block, _)| *block == id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}
