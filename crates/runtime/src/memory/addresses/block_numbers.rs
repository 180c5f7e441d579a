//! The numbers by which blocks are known outside their stream, and the sizes of live blocks, which can be
//! read without the lock.
//!
//! Records are numbered per stream; 256 of them at a time get a chunk of numbers that no other
//! stream has. A chunk belongs to its stream for ever, so a number leads to the stream without a
//! lock and without touching the record.

use std::sync::atomic::{AtomicU32 as Counter, Ordering};

use once_cell::race::OnceRef;
use sconce_base::sync::AtomicU64;
use sconce_base::types::DeviceIndex;

use crate::caching::BlockId;

/// Blocks a chunk numbers.
const CHUNK: usize = 256;
/// Chunks there can be: 33 million blocks.
pub(crate) const CHUNKS: usize = 1 << 17;

/// The bits of a block number: two numbers stand in a word of the address map.
pub(crate) const NUMBER_BITS: u32 = 25;
const _: () = assert!(CHUNK * CHUNKS == 1 << NUMBER_BITS);

static TABLE: [OnceRef<'static, NumberChunk>; CHUNKS] = [const { OnceRef::new() }; CHUNKS];
static NEXT: Counter = Counter::new(0);

/// A stream's cache, to which chunks of numbers belong.
pub(crate) trait NumberOwner {
    /// The device of the stream.
    fn device(&self) -> DeviceIndex;

    /// Keeps a chunk for ever, before any of its numbers is used, and returns where it lies. The owner can so have its
    /// own data beside the chunk, and find both in one step.
    fn keep(&'static self, place: usize, chunk: NumberChunk) -> &'static NumberChunk;
}

/// The chunk of a number.
#[inline]
pub(crate) fn chunk_of(number: u32) -> usize {
    number as usize / CHUNK
}

/// 256 numbers of one stream. What frees of other threads read lies apart from what the stream writes.
#[repr(align(64))]
pub(crate) struct NumberChunk {
    /// The device of the stream.
    pub(crate) device: DeviceIndex,
    /// The record that the first number stands for.
    first: BlockId,
    /// For each number: the bytes of its block while that is live.
    bytes: NotedBytes,
}

/// The bytes of the blocks of a chunk.
#[repr(align(64))]
struct NotedBytes([AtomicU64; CHUNK]);

impl NumberChunk {
    /// The chunk of a number.
    #[inline]
    pub(crate) fn of(number: u32) -> Option<&'static NumberChunk> {
        TABLE.get(chunk_of(number))?.get()
    }

    /// The record that a number of this chunk stands for.
    #[inline]
    pub(crate) fn block(&self, number: u32) -> BlockId {
        self.first + number % CHUNK as u32
    }

    /// The bytes of the block of a number of this chunk; see [`MapEntry::bytes_of`](super::entry::MapEntry::bytes_of).
    #[inline]
    pub(crate) fn bytes(&self, number: u32) -> &AtomicU64 {
        &self.bytes.0[number as usize % CHUNK]
    }
}

/// The number of a record, with its chunk.
#[derive(Clone, Copy)]
pub(crate) struct BlockNumber {
    pub(crate) number: u32,
    chunk: &'static NumberChunk,
}

impl BlockNumber {
    /// The bytes of the block of the number.
    #[inline]
    pub(crate) fn bytes(&self) -> &'static AtomicU64 {
        self.chunk.bytes(self.number)
    }
}

/// The numbers of one stream's records: each chunk, and its first number.
pub(crate) struct BlockNumbers(Vec<BlockNumber>);

impl BlockNumbers {
    pub(crate) const fn new() -> BlockNumbers {
        BlockNumbers(Vec::new())
    }

    /// The number of a record.
    #[inline]
    pub(crate) fn of(&mut self, owner: &'static impl NumberOwner, id: BlockId) -> BlockNumber {
        let chunk = id as usize / CHUNK;
        let BlockNumber { number, chunk } = match self.0.get(chunk) {
            Some(first) => *first,
            None => self.grow(owner, chunk),
        };
        BlockNumber { number: number + id % CHUNK as u32, chunk }
    }

    #[cold]
    #[inline(never)]
    #[allow(clippy::panic, reason = "33 million blocks are more than any device holds")]
    fn grow(&mut self, owner: &'static impl NumberOwner, chunk: usize) -> BlockNumber {
        while self.0.len() <= chunk {
            let place = NEXT.fetch_add(1, Ordering::Relaxed) as usize;
            assert!(place < CHUNKS, "more than 33 million blocks");
            let first = (self.0.len() * CHUNK) as BlockId;
            let device = owner.device();
            let bytes = NotedBytes(std::array::from_fn(|_| AtomicU64::new(0)));
            let chunk = owner.keep(place, NumberChunk { device, first, bytes });
            let _ = TABLE[place].set(chunk);
            self.0.push(BlockNumber { number: (place * CHUNK) as u32, chunk });
        }
        self.0[chunk]
    }
}
