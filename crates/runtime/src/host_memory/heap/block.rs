//! The record of a block, and the table of records.

use sconce_base::collections::treap::{self, TreapTable};
use sconce_base::collections::word_hash::scatter;

use super::rounding::{Kind, UNIT};
use crate::caching::BlockId;

/// No block. Its record stands for none.
pub(crate) const NONE: BlockId = treap::NONE;

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
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

/// A piece of a segment. A cache line each.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Block {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    /// What was asked for.
    pub(crate) requested: usize,
    /// The place of its segment in the table of segments.
    pub(crate) segment: u32,
    /// Neighbours in the segment.
    pub(crate) before: BlockId,
    pub(crate) after: BlockId,
    /// Children in the tree of its bin; the first one is also the next on the shelf, or of the unused records.
    links: [BlockId; 2],
    pub(crate) kind: Kind,
    pub(crate) state: State,
    /// Streams use it.
    pub(crate) used: bool,
    /// A captured graph has its address: it is never handed out again.
    pub(crate) captured: bool,
}

const _: () = assert!(size_of::<Block>() == 64);

impl Block {
    /// A free block without neighbours.
    pub(crate) fn free(address: usize, bytes: usize, segment: u32, kind: Kind) -> Block {
        Block {
            address,
            bytes,
            requested: 0,
            segment,
            before: NONE,
            after: NONE,
            links: [NONE; 2],
            kind,
            state: State::Free,
            used: false,
            captured: false,
        }
    }

    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.address + self.bytes
    }

    /// Whether it is a whole segment.
    pub(crate) fn is_whole(&self) -> bool {
        self.before == NONE && self.after == NONE
    }

    /// The next on the shelf.
    #[inline]
    pub(crate) fn next(&self) -> BlockId {
        self.links[0]
    }

    #[inline]
    pub(crate) fn set_next(&mut self, next: BlockId) {
        self.links[0] = next;
    }

    /// Forgets the next on the shelf: in a bin the links are those of a tree.
    #[inline]
    pub(crate) fn leave_shelf(&mut self) {
        self.links = [NONE; 2];
    }

    /// The order in which free blocks are handed out.
    #[inline]
    pub(crate) fn key(&self) -> (usize, usize) {
        (self.bytes, self.address)
    }
}

/// All records; numbers are used again.
pub(crate) struct Blocks {
    records: Vec<Block>,
    unused: BlockId,
}

impl Blocks {
    pub(crate) const fn new() -> Blocks {
        Blocks { records: Vec::new(), unused: NONE }
    }

    #[inline]
    pub(crate) fn add(&mut self, block: Block) -> BlockId {
        let id = self.unused;
        if id == NONE {
            return self.push(block);
        }
        self.unused = self[id].next();
        self[id] = block;
        id
    }

    #[cold]
    #[inline(never)]
    fn push(&mut self, block: Block) -> BlockId {
        if self.records.is_empty() {
            // That of `NONE`.
            let nowhere = Block::free(0, 0, 0, block.kind);
            self.records.push(Block { state: State::Unused, ..nowhere });
        }
        self.records.push(block);
        (self.records.len() - 1) as BlockId
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: BlockId) {
        let unused = self.unused;
        let record = &mut self[id];
        record.state = State::Unused;
        record.set_next(unused);
        self.unused = id;
    }
}

impl std::ops::Index<BlockId> for Blocks {
    type Output = Block;

    #[inline]
    fn index(&self, id: BlockId) -> &Block {
        &self.records[id as usize]
    }
}

impl std::ops::IndexMut<BlockId> for Blocks {
    #[inline]
    fn index_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.records[id as usize]
    }
}

/// The trees of the bins.
impl TreapTable for Blocks {
    type Key = (usize, usize);

    #[inline]
    fn key(&self, id: u32) -> (usize, usize) {
        self[id].key()
    }

    #[inline]
    fn height(&self, id: u32) -> u64 {
        // Twice, since addresses come in regular steps.
        let mixed = scatter((self[id].address / UNIT) as u64);
        scatter(mixed ^ mixed >> 29)
    }

    #[inline]
    fn children(&mut self, id: u32) -> &mut [u32; 2] {
        &mut self[id].links
    }

    #[inline]
    fn children_of(&self, id: u32) -> [u32; 2] {
        self[id].links
    }
}
