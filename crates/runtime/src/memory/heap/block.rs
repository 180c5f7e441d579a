//! The record of a block, and the table of a stream's records.

use sconce_base::collections::treap::{self, TreapRecord};
use sconce_base::collections::word_hash::scatter;

use super::request::kind_of;
use crate::caching::BlockId;
use crate::caching::size_class::PoolKind;

/// No block. Its record stands for none and is never free, so the neighbour of a block may be looked at, and told of a
/// change, whether or not there is one.
pub(crate) const NONE: BlockId = treap::NONE;

/// What a block is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RecordState {
    /// The record stands for no block.
    #[default]
    Unused,
    /// In a bin.
    Free,
    /// A caller holds it.
    Allocated,
    /// Freed, waiting for events of other streams.
    Pending,
}

/// A piece of a segment. A cache line each.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct BlockRecord {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// What was asked for; a free block keeps what its last owner asked for.
    pub(crate) requested: u64,
    /// Neighbours in the segment.
    pub(crate) previous: BlockId,
    pub(crate) next: BlockId,
    /// Children in the tree of its bin; [`NONE`] while it is in no bin.
    pub(crate) children: [BlockId; 2],
    /// The place of its segment in the heap's table.
    pub(crate) segment: u32,
    /// Its bins: twice the place of its pool in the heap's table, and one more for the large ones.
    pub(crate) bins: u16,
    pub(crate) state: RecordState,
    /// Other streams use it.
    pub(crate) used_elsewhere: bool,
    /// Its segment fills whole windows of the address map.
    pub(crate) fills_windows: bool,
    /// It was counted as oversize when it was handed out.
    pub(crate) oversize: bool,
    /// Its segment is made of pages. As in torch, pieces of such segments do not count as inactive.
    pub(crate) paged: bool,
    /// How many requests its pool had seen when it became free.
    pub(crate) freed_at: u32,
}

impl BlockRecord {
    /// Whether it is a whole segment.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.previous | self.next == NONE
    }

    /// Whether it is in a bin.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.state == RecordState::Free
    }

    /// The pool that it counts in while it is not free: pages have one pool for small and large blocks, and its blocks
    /// count by their size.
    #[inline]
    pub(crate) fn counted_in(&self) -> PoolKind {
        if self.paged { PoolKind::of(self.bytes as usize) } else { kind_of(self.bins) }
    }

    /// The order in which equals are handed out.
    #[inline]
    pub(crate) fn key(&self) -> (u64, u64) {
        (self.bytes, self.address)
    }
}

const UNUSED: BlockRecord = BlockRecord {
    address: 0,
    bytes: 0,
    requested: 0,
    previous: NONE,
    next: NONE,
    children: [NONE; 2],
    segment: 0,
    bins: 0,
    state: RecordState::Unused,
    used_elsewhere: false,
    fills_windows: false,
    oversize: false,
    paged: false,
    freed_at: 0,
};

/// The trees of the bins, over (size, address).
impl TreapRecord for BlockRecord {
    type Key = (u64, u64);

    #[inline]
    fn key(&self) -> (u64, u64) {
        BlockRecord::key(self)
    }

    #[inline]
    fn height(&self) -> u64 {
        // Two rounds, since addresses come in regular steps.
        let mixed = scatter(self.address >> 9);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[inline]
    fn children(&mut self) -> &mut [BlockId; 2] {
        &mut self.children
    }

    #[inline]
    fn children_of(&self) -> [BlockId; 2] {
        self.children
    }
}

/// The records of one stream; numbers are used again. The first is that of [`NONE`].
pub(crate) struct BlockRecords {
    records: Vec<BlockRecord>,
    /// Unused records, linked by `next`; the last one leads to [`NONE`].
    unused: BlockId,
}

impl BlockRecords {
    pub(crate) const fn new() -> BlockRecords {
        BlockRecords { records: Vec::new(), unused: NONE }
    }

    /// How many records there are, used or not.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// All records. Code that changes several takes them as a slice: indexing the table loads its address and length
    /// again after each change.
    #[inline]
    pub(crate) fn all(&mut self) -> &mut [BlockRecord] {
        &mut self.records
    }

    /// All records, to look at.
    pub(crate) fn seen(&self) -> &[BlockRecord] {
        &self.records
    }

    /// A record for `block`; the table may grow.
    pub(crate) fn add(&mut self, block: BlockRecord) -> BlockId {
        let id = self.take_unused();
        self.records[id as usize] = block;
        id
    }

    /// A record that stands for no block, and is in no bin; the table may grow. The caller writes all else.
    #[inline(always)]
    pub(crate) fn take_unused(&mut self) -> BlockId {
        let id = self.unused;
        if id == NONE {
            return self.add_unused();
        }
        self.unused = self.records[id as usize].next;
        id
    }

    #[cold]
    #[inline(never)]
    fn add_unused(&mut self) -> BlockId {
        if self.records.is_empty() {
            self.records.push(UNUSED);
        }
        self.records.push(UNUSED);
        (self.records.len() - 1) as BlockId
    }

    /// The record stands for no block any more.
    #[inline]
    pub(crate) fn remove(&mut self, id: BlockId) {
        let unused = self.unused;
        let record = &mut self.records[id as usize];
        record.state = RecordState::Unused;
        record.next = unused;
        self.unused = id;
    }

    /// The record, if the number has one that stands for a block.
    pub(crate) fn get(&self, id: BlockId) -> Option<&BlockRecord> {
        self.records.get(id as usize).filter(|block| block.state != RecordState::Unused)
    }

    /// A record without a block, for tests and for filling.
    pub(crate) fn blank() -> BlockRecord {
        UNUSED
    }
}

impl std::ops::Index<BlockId> for BlockRecords {
    type Output = BlockRecord;

    #[inline]
    fn index(&self, id: BlockId) -> &BlockRecord {
        &self.records[id as usize]
    }
}

impl std::ops::IndexMut<BlockId> for BlockRecords {
    #[inline]
    fn index_mut(&mut self, id: BlockId) -> &mut BlockRecord {
        &mut self.records[id as usize]
    }
}
