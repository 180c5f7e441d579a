//! Blocks that were freed last, kept whole for requests of the same size.
//!
//! A place holds blocks of one size, newest first. Sizes that share a place turn each other out.

use super::block::{NONE, PinnedBlocks, PinnedState};
use crate::caching::BlockId;
use crate::collections::word_hash::scatter;

const PLACES: usize = 64;

/// Blocks by size.
pub(crate) struct Shelf {
    places: [ShelfPlace; PLACES],
    /// How many blocks there are.
    count: usize,
}

#[derive(Clone, Copy)]
struct ShelfPlace {
    bytes: usize,
    newest: BlockId,
}

/// The place of a size: sizes that lie close together get places of their own.
#[inline]
fn place(bytes: usize) -> usize {
    (scatter(bytes as u64) >> 58) as usize % PLACES
}

impl Shelf {
    pub(crate) const fn new() -> Shelf {
        Shelf { places: [ShelfPlace { bytes: 0, newest: NONE }; PLACES], count: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes a block of just this size.
    #[inline]
    pub(crate) fn take(&mut self, blocks: &mut PinnedBlocks, bytes: usize) -> Option<BlockId> {
        let place = &mut self.places[place(bytes)];
        if place.bytes != bytes || place.newest == NONE {
            return None;
        }
        let id = place.newest;
        place.newest = blocks[id].next;
        self.count -= 1;
        Some(id)
    }

    /// Shelves a block. If blocks of another size had its place, returns the first of those.
    #[inline]
    pub(crate) fn put(&mut self, blocks: &mut PinnedBlocks, id: BlockId) -> Option<BlockId> {
        let bytes = blocks[id].bytes;
        let place = &mut self.places[place(bytes)];
        let turned_out = if place.bytes == bytes { NONE } else { place.newest };
        if place.bytes != bytes {
            *place = ShelfPlace { bytes, newest: NONE };
        }
        let block = &mut blocks[id];
        block.state = PinnedState::Shelved;
        block.next = place.newest;
        place.newest = id;
        self.count += 1;
        (turned_out != NONE).then_some(turned_out)
    }

    /// Counts that one block of a list that [`Shelf::put`] returned is off the shelf.
    pub(crate) fn taken_down(&mut self) {
        self.count -= 1;
    }

    /// Empties the shelf; returns the first block of each place.
    pub(crate) fn clear(&mut self) -> [BlockId; PLACES] {
        self.count = 0;
        std::mem::replace(&mut self.places, [ShelfPlace { bytes: 0, newest: NONE }; PLACES])
            .map(|place| place.newest)
    }

    /// The first block of each place.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = BlockId> {
        self.places.iter().map(|place| place.newest).filter(|id| *id != NONE)
    }
}
