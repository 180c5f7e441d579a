//! The record of a block, and the table of records.

use super::rounding::PinnedKind;

use crate::caching::BlockId;

/// No block.
pub(crate) const NONE: BlockId = u32::MAX;

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinnedState {
    /// The record stands for no block.
    Unused,
    /// One with its free neighbours, and found by its size.
    Free,
    /// Free and kept whole, on the shelf.
    Shelved,
    /// A caller holds it.
    Held,
    /// Freed, waiting for streams that use it.
    Waiting,
}

/// A piece of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinnedBlock {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    /// What was asked for.
    pub(crate) requested: usize,
    /// Where its segment begins.
    pub(crate) segment: usize,
    pub(crate) kind: PinnedKind,
    pub(crate) state: PinnedState,
    /// Streams use it.
    pub(crate) used: bool,
    /// A captured graph has its address: it is never handed out again.
    pub(crate) captured: bool,
    /// The next on the shelf, or of the unused records.
    pub(crate) next: BlockId,
}

impl PinnedBlock {
    /// A free block.
    pub(crate) fn free(
        address: usize,
        bytes: usize,
        segment: usize,
        kind: PinnedKind,
    ) -> PinnedBlock {
        PinnedBlock {
            address,
            bytes,
            requested: 0,
            segment,
            kind,
            state: PinnedState::Free,
            used: false,
            captured: false,
            next: NONE,
        }
    }

    pub(crate) fn end(&self) -> usize {
        self.address + self.bytes
    }
}

/// All records; numbers are used again.
pub(crate) struct PinnedBlocks {
    records: Vec<PinnedBlock>,
    unused: BlockId,
}

impl PinnedBlocks {
    pub(crate) const fn new() -> PinnedBlocks {
        PinnedBlocks { records: Vec::new(), unused: NONE }
    }

    pub(crate) fn add(&mut self, block: PinnedBlock) -> BlockId {
        let id = self.unused;
        if id == NONE {
            self.records.push(block);
            return (self.records.len() - 1) as BlockId;
        }
        self.unused = self[id].next;
        self[id] = block;
        id
    }

    pub(crate) fn remove(&mut self, id: BlockId) {
        let unused = self.unused;
        let record = &mut self[id];
        record.state = PinnedState::Unused;
        record.next = unused;
        self.unused = id;
    }
}

impl std::ops::Index<BlockId> for PinnedBlocks {
    type Output = PinnedBlock;

    #[inline]
    fn index(&self, id: BlockId) -> &PinnedBlock {
        &self.records[id as usize]
    }
}

impl std::ops::IndexMut<BlockId> for PinnedBlocks {
    #[inline]
    fn index_mut(&mut self, id: BlockId) -> &mut PinnedBlock {
        &mut self.records[id as usize]
    }
}
