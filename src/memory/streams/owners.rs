//! From the number of a block to its cache.

use once_cell::race::OnceRef;

use super::cache::StreamCache;
use crate::memory::addresses::block_numbers::{CHUNKS, NumberOwner, chunk_of};
use crate::types::DeviceIndex;

/// The cache of each chunk of numbers. A chunk belongs to its cache for ever.
static OWNERS: [OnceRef<'static, StreamCache>; CHUNKS] = [const { OnceRef::new() }; CHUNKS];

/// The cache of a block that has the number, if any block ever had it.
#[inline(always)]
pub(crate) fn of(number: u32) -> Option<&'static StreamCache> {
    OWNERS.get(chunk_of(number))?.get()
}

impl NumberOwner for StreamCache {
    fn device(&self) -> DeviceIndex {
        self.stream().device
    }

    fn take_chunk(&'static self, chunk: usize) {
        let _ = OWNERS[chunk].set(self);
    }
}
