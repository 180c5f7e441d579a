//! What is asked of a heap, which block may serve it, and what it gives.

use super::block::BlockId;
use super::size_class::{BLOCK_UNIT, PoolKind, SMALL_LIMIT};

/// Which blocks serve a request, and which are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// From this size on blocks are not cut.
    pub(super) max_split: u64,
    /// How much larger than such a request its block may be.
    pub(super) max_rounding: u64,
}

/// What a request asks of a heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// The place of the pool.
    pub(super) pool: u16,
    pub(super) kind: PoolKind,
    /// The size of the block.
    pub(super) rounded: u64,
    /// The size asked for.
    pub(super) bytes: u64,
    pub(super) fit: Fit,
}

impl Request {
    /// The bins that serve it.
    #[inline]
    pub(super) fn bins(&self) -> u16 {
        self.pool << 1 | self.kind as u16
    }
}

/// A block that was handed out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handed {
    pub(super) id: BlockId,
    pub(super) address: u64,
    /// The size of the block.
    pub(super) bytes: u64,
    /// Whether the account still has room; if not, it must be settled.
    pub(super) settled: bool,
}

impl Fit {
    /// Whether a block of `block` bytes may serve a request of `rounded`.
    #[inline]
    pub(super) fn allows(&self, rounded: u64, block: u64) -> bool {
        if rounded < self.max_split {
            block < self.max_split
        } else {
            block < rounded.saturating_add(self.max_rounding)
        }
    }

    /// Whether a block is cut when `spare` bytes of it are not needed.
    #[inline]
    pub(super) fn cuts(&self, request: &Request, spare: u64) -> bool {
        match request.kind {
            PoolKind::Small => spare >= BLOCK_UNIT as u64,
            PoolKind::Large => request.rounded < self.max_split && spare > SMALL_LIMIT as u64,
        }
    }
}
