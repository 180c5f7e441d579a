//! Pinned segments cut into blocks, and the figures of both.
//!
//! Nothing here locks or calls a driver. A thread that changes the heap holds its lock.

use super::address_table::AddressTable;
use super::bins::Bins;
use super::block::{Block, Blocks, NONE, State};
use super::figures::HeapFigures;
use super::last_block::LastBlock;
use super::rounding::{Kind, SMALL_MOST, is_close, round};
use super::segments::{Segment, Segments};
use super::shelf::Shelf;
use crate::caching::BlockId;

/// All pinned memory of the process.
pub(crate) struct PinnedHeap {
    pub(crate) blocks: Blocks,
    /// Every block, by the address at which it begins.
    pub(crate) addresses: AddressTable,
    pub(crate) segments: Segments,
    /// Blocks freed last; `None` before the first.
    pub(crate) shelf: Option<Box<Shelf>>,
    /// Free blocks of each kind by size; `None` before the first.
    pub(crate) free: [Option<Box<Bins>>; Kind::KEPT],
    pub(crate) figures: HeapFigures,
    pub(crate) last: LastBlock,
    /// For small and for large segments.
    pub(super) used: [KindUse; 2],
}

/// Bytes of blocks in use.
#[derive(Clone, Copy)]
pub(super) struct KindUse {
    pub(super) now: usize,
    /// At most, since the cache was last emptied.
    pub(super) most: usize,
}

impl PinnedHeap {
    pub(crate) const fn new() -> PinnedHeap {
        PinnedHeap {
            blocks: Blocks::new(),
            addresses: AddressTable::new(),
            segments: Segments::new(),
            shelf: None,
            free: [const { None }; Kind::KEPT],
            figures: HeapFigures::NONE,
            last: LastBlock::NOTHING,
            used: [KindUse { now: 0, most: 0 }; 2],
        }
    }

    /// Hands out a block that was freed before with the same size, else the free block that fits best, cutting off
    /// what is too much.
    #[inline]
    pub(crate) fn take(&mut self, requested: usize) -> Option<usize> {
        let rounded = round(requested)?;
        if let Some(shelf) = &mut self.shelf
            && let Some(id) = shelf.take(&self.blocks, rounded)
        {
            return Some(self.hand_out(id, requested));
        }
        self.find(rounded, requested)
    }

    #[inline(never)]
    fn find(&mut self, rounded: usize, requested: usize) -> Option<usize> {
        let mut found = self.best_fit(rounded);
        // Merging for a small request ends at the first piece that fits: what is left stays for requests of its size.
        // A large one is worth the search for the best of all.
        let all = rounded > SMALL_MOST;
        while !found.is_some_and(|id| is_close(self.blocks[id].bytes, rounded))
            && self.clear_shelf(all)
        {
            found = self.best_fit(rounded);
        }
        Some(self.cut_out(found?, rounded, requested))
    }

    /// The smallest free block that is large enough: of the reserve, else of the request's kind.
    #[inline]
    fn best_fit(&self, rounded: usize) -> Option<BlockId> {
        [Kind::Reserve, Kind::of(rounded)]
            .into_iter()
            .find_map(|kind| self.free[kind as usize].as_ref()?.best_fit(&self.blocks, rounded))
    }

    /// Hands out the beginning of a free block.
    #[inline]
    pub(super) fn cut_out(&mut self, id: BlockId, rounded: usize, requested: usize) -> usize {
        self.pull(id);
        let Block { address, bytes, segment, kind, after, .. } = self.blocks[id];
        if bytes > rounded {
            let start = address + rounded;
            let mut rest = Block::free(start, bytes - rounded, segment, kind);
            (rest.before, rest.after) = (id, after);
            let rest = self.add_free(rest);
            if after != NONE {
                self.blocks[after].before = rest;
            }
            let block = &mut self.blocks[id];
            block.bytes = rounded;
            block.after = rest;
        }
        self.hand_out(id, requested)
    }

    /// A new free block, which begins where none did.
    #[inline]
    pub(super) fn add_free(&mut self, block: Block) -> BlockId {
        let Block { address, segment, .. } = block;
        let id = self.blocks.add(block);
        self.addresses.insert(address, id);
        self.segments.begins(segment, address);
        self.push(id);
        id
    }

    /// The block begins there no more.
    #[inline]
    pub(super) fn remove(&mut self, id: BlockId) {
        let Block { address, segment, .. } = self.blocks[id];
        self.addresses.remove(address);
        self.segments.ends(segment, address);
        self.blocks.remove(id);
    }

    /// A block can be found by its size.
    #[inline]
    fn push(&mut self, id: BlockId) {
        let kind = self.blocks[id].kind;
        if let Some(bins) = self.free.get_mut(kind as usize) {
            bins.get_or_insert_with(Bins::new).insert(&mut self.blocks, id);
        }
    }

    /// Undoes [`PinnedHeap::push`].
    #[inline]
    pub(super) fn pull(&mut self, id: BlockId) {
        let kind = self.blocks[id].kind;
        if let Some(Some(bins)) = self.free.get_mut(kind as usize) {
            bins.remove(&mut self.blocks, id);
        }
    }

    #[inline]
    pub(super) fn hand_out(&mut self, id: BlockId, requested: usize) -> usize {
        let block = &mut self.blocks[id];
        block.state = State::Held;
        block.requested = requested;
        let Block { address, bytes, kind, .. } = *block;
        self.figures.hand_out(bytes, requested);
        if let Some(used) = self.used.get_mut(kind as usize) {
            used.now += bytes;
            used.most = used.most.max(used.now);
        }
        if kind != Kind::Alone {
            self.last = LastBlock::held(id, address, requested);
        }
        address
    }

    /// Does what the last block has left undone; anything but its own ways begins with this.
    #[inline]
    pub(crate) fn finish_last(&mut self) {
        if let Some((id, freed, again)) = self.last.forget() {
            self.finish(id, freed, again);
        }
    }

    #[inline]
    fn finish(&mut self, id: BlockId, freed: bool, again: i64) {
        if again != 0 {
            let Block { bytes, requested, .. } = self.blocks[id];
            self.figures.repeat(bytes, requested, again);
        }
        if freed {
            // Blocks that are alone in their segments are never the last block, so nothing comes out.
            let outgoing = self.give_back(id);
            debug_assert_eq!(outgoing, None);
        }
    }

    /// Takes back a block that nothing uses any more. A segment that is not to be kept comes out.
    #[inline]
    pub(crate) fn give_back(&mut self, id: BlockId) -> Option<Segment> {
        let Block { bytes, requested, kind, .. } = self.blocks[id];
        self.figures.take_back(bytes, requested);
        if let Some(used) = self.used.get_mut(kind as usize) {
            used.now -= bytes;
        }
        if kind == Kind::Alone {
            return self.take_alone(id);
        }
        let turned_out = self.shelf.get_or_insert_with(Shelf::new).put(&mut self.blocks, id);
        if let Some(first) = turned_out {
            self.merge_all(first);
        }
        None
    }

    #[cold]
    fn take_alone(&mut self, id: BlockId) -> Option<Segment> {
        let segment = self.blocks[id].segment;
        self.remove(id);
        self.remove_segment(segment)
    }

    /// Merges the blocks of one place of the shelf, or of all; whether there were any.
    pub(super) fn clear_shelf(&mut self, all: bool) -> bool {
        let mut any = false;
        while (all || !any)
            && let Some(shelf) = &mut self.shelf
            && let Some(first) = shelf.clear_one()
        {
            self.merge_all(first);
            any = true;
        }
        any
    }

    /// Merges the blocks of a list that is off the shelf.
    #[inline(never)]
    fn merge_all(&mut self, first: BlockId) {
        let mut id = first;
        while id != NONE {
            let next = self.blocks[id].next();
            self.merge(id);
            id = next;
        }
    }

    /// Makes a block one with its free neighbours.
    fn merge(&mut self, id: BlockId) {
        let Block { before, after, .. } = self.blocks[id];
        if self.is_free(after) {
            self.pull(after);
            self.absorb(id, after);
        }
        let mut whole = id;
        if self.is_free(before) {
            self.pull(before);
            self.absorb(before, id);
            whole = before;
        }
        self.blocks[whole].state = State::Free;
        self.push(whole);
    }

    #[inline]
    pub(super) fn is_free(&self, id: BlockId) -> bool {
        id != NONE && self.blocks[id].state == State::Free
    }

    /// Adds a block, which no bin has, to the one that ends where it begins.
    #[inline]
    fn absorb(&mut self, id: BlockId, gone: BlockId) {
        let Block { bytes, after, .. } = self.blocks[gone];
        self.remove(gone);
        let block = &mut self.blocks[id];
        block.bytes += bytes;
        block.after = after;
        if after != NONE {
            self.blocks[after].before = id;
        }
    }

    /// The bytes that are pinned.
    pub(crate) fn pinned(&self) -> usize {
        self.figures.pinned()
    }

    /// What is kept from now on follows the use from now on.
    pub(crate) fn forget_most_used(&mut self) {
        for used in &mut self.used {
            used.most = used.now;
        }
    }

    /// The block that holds an address.
    pub(crate) fn block_at(&self, address: usize) -> Option<BlockId> {
        // Most addresses that are looked up are those that allocations gave.
        self.addresses.get(address).or_else(|| self.addresses.get(self.segments.start_of(address)?))
    }

    /// The block that begins at an address, if a caller holds it.
    #[inline]
    pub(crate) fn held_at(&self, address: usize) -> Option<BlockId> {
        self.addresses.get(address).filter(|id| self.blocks[*id].state == State::Held)
    }
}
