//! Blocks that were freed last, kept whole for requests of the same size.
//!
//! A place holds blocks of one size, newest first. Sizes that share a place turn each other out.

use sconce_base::collections::word_hash::scatter;

use super::block::{Blocks, NONE, State};
use super::rounding::UNIT;
use crate::caching::BlockId;

const PLACES: usize = 64;

/// Blocks by size: 4 KB, made with the first of them.
pub(crate) struct Shelf {
    places: [ShelfPlace; PLACES],
    /// A bit for each place that may have blocks.
    filled: [u64; PLACES / 64],
}

#[derive(Clone, Copy)]
struct ShelfPlace {
    bytes: usize,
    newest: BlockId,
}

/// The place of a size: sizes that lie close together get places of their own.
#[inline]
fn place(bytes: usize) -> usize {
    (scatter((bytes / UNIT) as u64) >> (u64::BITS - PLACES.ilog2())) as usize % PLACES
}

impl Shelf {
    #[cold]
    #[inline(never)]
    pub(crate) fn new() -> Box<Shelf> {
        Box::new(Shelf {
            places: [ShelfPlace { bytes: 0, newest: NONE }; PLACES],
            filled: [0; PLACES / 64],
        })
    }

    /// Takes a block of just this size.
    #[inline]
    pub(crate) fn take(&mut self, blocks: &Blocks, bytes: usize) -> Option<BlockId> {
        let place = &mut self.places[place(bytes)];
        if place.bytes != bytes || place.newest == NONE {
            return None;
        }
        let id = place.newest;
        place.newest = blocks[id].next();
        Some(id)
    }

    /// Shelves a block. If blocks of another size had its place, returns the first of those.
    #[inline]
    pub(crate) fn put(&mut self, blocks: &mut Blocks, id: BlockId) -> Option<BlockId> {
        let block = &mut blocks[id];
        let number = place(block.bytes);
        let place = &mut self.places[number];
        let before = *place;
        block.state = State::Shelved;
        place.newest = id;
        if before.bytes == block.bytes {
            block.set_next(before.newest);
            return None;
        }
        block.set_next(NONE);
        place.bytes = block.bytes;
        self.filled[number / 64] |= 1 << (number % 64);
        (before.newest != NONE).then_some(before.newest)
    }

    /// Empties a place that has blocks; returns the first of them. `None` when the shelf is empty.
    pub(crate) fn clear_one(&mut self) -> Option<BlockId> {
        for (word, bits) in self.filled.iter_mut().enumerate() {
            while *bits != 0 {
                let number = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                let empty = ShelfPlace { bytes: 0, newest: NONE };
                let ShelfPlace { newest, .. } = std::mem::replace(&mut self.places[number], empty);
                if newest != NONE {
                    return Some(newest);
                }
            }
        }
        None
    }

    /// The first block of each place.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = BlockId> {
        self.places.iter().map(|place| place.newest).filter(|id| *id != NONE)
    }
}
