//! A request to a heap, which block may serve it, and the result.

use crate::caching::BlockId;
use crate::caching::size_class::{BLOCK_UNIT, PoolKind};

/// Which blocks serve a request, and which are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockFit {
    /// From this size on blocks are not cut.
    pub(crate) max_split: u64,
    /// How much larger than such a request its block may be.
    pub(crate) max_rounding: u64,
    /// Blocks of the large pool are cut if more than this would be left over.
    pub(crate) large_spare: u64,
    /// The pool whose blocks serve small requests.
    pub(crate) small_from: PoolKind,
}

/// What a request asks of a heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRequest {
    /// The place of the pool.
    pub(crate) pool: u16,
    /// Whether it counts as small or large.
    pub(crate) kind: PoolKind,
    /// The size of the block.
    pub(crate) rounded: u64,
    /// The size asked for.
    pub(crate) bytes: u64,
    pub(crate) fit: BlockFit,
}

impl BlockRequest {
    /// The bins that serve it.
    #[inline]
    pub(crate) fn bins(&self) -> u16 {
        self.pool << 1 | self.kind as u16 | self.fit.small_from as u16
    }
}

/// A block that was handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandedOut {
    pub(crate) id: BlockId,
    pub(crate) address: u64,
    /// The size of the block.
    pub(crate) bytes: u64,
    /// False if a quota must be refilled.
    pub(crate) within_quota: bool,
}

impl BlockFit {
    /// Whether a block of `block` bytes may serve a request of `rounded`.
    #[inline]
    pub(crate) fn allows(&self, rounded: u64, block: u64) -> bool {
        if rounded < self.max_split {
            block < self.max_split
        } else {
            block < rounded.saturating_add(self.max_rounding)
        }
    }

    /// Whether a block is cut when `spare` bytes of it are not needed.
    #[inline]
    pub(crate) fn cuts(&self, request: &BlockRequest, spare: u64) -> bool {
        match request.kind {
            PoolKind::Small => spare >= BLOCK_UNIT as u64,
            PoolKind::Large => request.rounded < self.max_split && spare > self.large_spare,
        }
    }
}

/// The kind of the pool whose bins these are.
#[inline]
pub(crate) fn kind_of(bins: u16) -> PoolKind {
    if bins & 1 == 0 { PoolKind::Small } else { PoolKind::Large }
}
