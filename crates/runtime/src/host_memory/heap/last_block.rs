//! The block that was handed out last, for programs that free it and ask for the same again: nothing
//! but this record changes then. Any other call on the heap first does what this record has left undone.

use super::block::NONE;
use crate::caching::BlockId;

/// The last block.
pub(crate) struct LastBlock {
    /// [`NONE`] when there is none.
    pub(crate) id: BlockId,
    address: usize,
    requested: usize,
    /// It has been freed, and nothing knows but this.
    free: bool,
    /// How often it was freed and handed out again.
    again: i64,
}

impl LastBlock {
    pub(crate) const NOTHING: LastBlock =
        LastBlock { id: NONE, address: 0, requested: 0, free: false, again: 0 };

    /// A block that has just been handed out.
    #[inline]
    pub(crate) fn held(id: BlockId, address: usize, requested: usize) -> LastBlock {
        LastBlock { id, address, requested, free: false, again: 0 }
    }

    /// Forgets the block. Returns what was left undone: the block, whether it was freed, and how often it was freed
    /// and handed out again. `None` when nothing was.
    #[inline]
    pub(crate) fn forget(&mut self) -> Option<(BlockId, bool, i64)> {
        let LastBlock { id, free, again, .. } = *self;
        self.id = NONE;
        self.free = false;
        (id != NONE && (free || again != 0)).then_some((id, free, again))
    }

    /// Hands it out again, if it is free and just what is asked for.
    #[inline]
    pub(crate) fn take(&mut self, requested: usize) -> Option<usize> {
        let same = self.free && self.requested == requested;
        same.then(|| {
            self.free = false;
            self.again += 1;
            self.address
        })
    }

    /// Takes it back, if it begins at the address and is held.
    #[inline]
    pub(crate) fn give_back(&mut self, address: usize) -> bool {
        let same = !self.free && self.address == address && self.id != NONE;
        self.free |= same;
        same
    }
}
