//! A reference to a live block that was found at an address. Checking that the block is still live takes
//! three loads.

use sconce_base::sync::AtomicU64;
use sconce_base::types::DeviceIndex;

use super::address_map;
use super::block_numbers::NumberChunk;
use super::entry::{EntryContent, MapEntry};

/// A live block that was found at an address.
#[derive(Clone, Copy)]
pub struct BlockRef {
    address: usize,
    word: &'static MapEntry,
    content: EntryContent,
    bytes: &'static AtomicU64,
}

impl BlockRef {
    /// The live block that begins at an address, with its device and bytes; found without search or
    /// lock.
    #[inline(always)]
    pub fn of(address: usize) -> Option<(BlockRef, DeviceIndex, usize)> {
        let (word, content) = address_map::find(address as u64)?;
        let chunk = NumberChunk::of(content.number())?;
        if content.is_claimed() {
            return None;
        }
        let sighting = BlockRef { address, word, content, bytes: chunk.bytes(content.number()) };
        Some((sighting, chunk.device, sighting.bytes()?))
    }

    #[inline(always)]
    fn bytes(&self) -> Option<usize> {
        self.word.bytes_of(self.content, self.bytes).map(|bytes| bytes as usize)
    }

    /// Whether the block still begins at this address and has so many bytes: it, or one that is like
    /// it in all that was asked.
    #[inline(always)]
    pub fn is_still(&self, address: usize, bytes: usize) -> bool {
        address == self.address && self.bytes().is_some_and(|all| bytes <= all)
    }
}
