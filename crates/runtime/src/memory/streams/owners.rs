//! From the number of a block to its cache.

use once_cell::race::OnceBox;
use sconce_base::types::DeviceIndex;

use super::cache::StreamCache;
use crate::memory::addresses::block_numbers::{CHUNKS, NumberChunk, NumberOwner, chunk_of};

/// A chunk of numbers beside its cache: a free needs both, and finds them with one load.
struct OwnedChunk {
    cache: &'static StreamCache,
    chunk: NumberChunk,
}

/// The chunks of all numbers. A chunk belongs to its cache for ever.
static OWNED: [OnceBox<OwnedChunk>; CHUNKS] = [const { OnceBox::new() }; CHUNKS];

/// The cache and the chunk of a number, if any block ever had it.
#[inline(always)]
pub(crate) fn of(number: u32) -> Option<(&'static StreamCache, &'static NumberChunk)> {
    let owned = OWNED.get(chunk_of(number))?.get()?;
    Some((owned.cache, &owned.chunk))
}

impl NumberOwner for StreamCache {
    fn device(&self) -> DeviceIndex {
        self.stream().device
    }

    fn keep(&'static self, place: usize, chunk: NumberChunk) -> &'static NumberChunk {
        &OWNED[place].get_or_init(|| Box::new(OwnedChunk { cache: self, chunk })).chunk
    }
}
