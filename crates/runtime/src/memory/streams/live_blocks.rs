//! Every segment of the process, by address: what addresses inside a block are found by.

use std::collections::BTreeMap;

use sconce_base::error::{Error, Result};
use sconce_base::lock::{RwLock, rank};

use super::cache::{LockedCache, StreamCache};
use crate::caching::BlockId;
use crate::memory::heap::block::{BlockRecord, RecordState};
use crate::memory::heap::runs::RunChange;
use crate::memory::heap::segment::SegmentRecord;
use crate::memory::heap::stream_heap::StreamHeap;

static SEGMENTS: RwLock<rank::Segments, BTreeMap<u64, (u64, &'static StreamCache)>> =
    RwLock::new(BTreeMap::new());

/// Enters a segment.
pub(crate) fn add(address: u64, bytes: u64, owner: &'static StreamCache) {
    SEGMENTS.write().insert(address, (bytes, owner));
}

/// Takes a segment out, before the driver can reuse its addresses for another allocation.
pub(crate) fn remove(address: u64) {
    SEGMENTS.write().remove(&address);
}

/// Puts segments in the place of others of the same cache, at one moment for readers.
pub(crate) fn replace(change: &RunChange, owner: &'static StreamCache) {
    let mut segments = SEGMENTS.write();
    for address in &change.gone {
        segments.remove(address);
    }
    for (address, bytes) in &change.now {
        segments.insert(*address, (*bytes, owner));
    }
}

/// The cache whose segment holds an address.
pub(crate) fn owner_of(address: u64) -> Option<&'static StreamCache> {
    segment_at(address).map(|(_, owner)| owner)
}

/// Where the segment that holds an address begins.
pub(crate) fn segment_of(address: u64) -> Option<u64> {
    segment_at(address).map(|(base, _)| base)
}

fn segment_at(address: u64) -> Option<(u64, &'static StreamCache)> {
    let segments = SEGMENTS.read();
    let (base, (bytes, owner)) = segments.range(..=address).next_back()?;
    (address - base < *bytes).then_some((*base, *owner))
}

/// The segment of a heap that holds an address.
pub(crate) fn segment_in(heap: &StreamHeap, address: u64) -> Option<&SegmentRecord> {
    let mut segments = heap.segments.iter().map(|(_, segment)| segment);
    segments.find(|segment| address.wrapping_sub(segment.address) < segment.bytes)
}

/// The segment and the block of a heap that hold an address.
fn find(heap: &StreamHeap, address: u64) -> Option<(SegmentRecord, BlockId, BlockRecord)> {
    let segment = segment_in(heap, address)?;
    let (id, block) = heap
        .blocks_of(segment)
        .find(|(_, block)| address.wrapping_sub(block.address) < block.bytes)?;
    Some((*segment, id, *block))
}

/// The live block that holds an address, with its segment.
pub(crate) fn live(address: usize) -> Result<(SegmentRecord, BlockRecord, &'static StreamCache)> {
    with_live(address, |_, owner, segment, _, block| (*segment, *block, owner))
}

/// Does something to the live block that holds an address, with its stream's lock held.
pub(crate) fn with_live<T>(
    address: usize,
    act: impl FnOnce(&mut LockedCache, &'static StreamCache, &SegmentRecord, BlockId, &BlockRecord) -> T,
) -> Result<T> {
    if let Some(owner) = owner_of(address as u64) {
        let mut inner = owner.visit();
        match find(&inner.heap, address as u64) {
            Some((segment, id, block)) if block.state == RecordState::Allocated => {
                return Ok(act(&mut inner, owner, &segment, id, &block));
            }
            Some(_) => return Err(freed_already(address)),
            None => {}
        }
    }
    Err(foreign(address))
}

/// Why no block that could be freed starts at the address.
#[cold]
pub(crate) fn refusal(address: usize) -> Error {
    match live(address) {
        Ok((_, block, _)) if block.address == address as u64 => freed_already(address),
        Ok((_, block, _)) => Error::invalid_argument(format!(
            "ptr {address:#x} points {} bytes into the block at {:#x}; pass the address that the \
             allocating function returned",
            address as u64 - block.address,
            block.address
        )),
        Err(error) => error,
    }
}

pub(crate) fn freed_already(address: usize) -> Error {
    Error::invalid_argument(format!(
        "ptr {address:#x} was freed already; free memory only once, and do not use it afterwards"
    ))
}

fn foreign(address: usize) -> Error {
    Error::invalid_argument(format!(
        "ptr {address:#x} is not memory of this allocator; pass an address that sconce_memory_alloc \
         returned, and free it only once"
    ))
}
