//! The walker: checks the invariants of the allocator.

use std::collections::BTreeSet;

use super::cache::{PinnedCache, PinnedMemory};
use super::heap::block::{Block, NONE, State};
use super::heap::pinned_heap::PinnedHeap;
use super::heap::rounding::Kind;
use super::heap::segments::Segment;
use crate::caching::BlockId;
use crate::memory::Stat;

/// Walks all pinned memory. Only sure to pass while no other thread allocates or frees.
pub fn walk() -> Result<(), String> {
    let cache = PinnedCache::get();
    let queues = cache.deferred.lock();
    let inner = cache.enter();
    tiles(&inner)?;
    shelf(&inner)?;
    figures(&inner)?;
    for id in queues.waiting() {
        if inner.heap.blocks[id].state != State::Waiting {
            return Err(format!("block {id} waits for events but is not waiting"));
        }
    }
    Ok(())
}

/// The blocks of a segment, in order.
fn blocks_of(heap: &PinnedHeap, segment: Segment) -> impl Iterator<Item = BlockId> {
    let first = heap.addresses.get(segment.address);
    std::iter::successors(first, |id| {
        let after = heap.blocks[*id].after;
        (after != NONE).then_some(after)
    })
}

fn all_blocks(heap: &PinnedHeap) -> impl Iterator<Item = Block> {
    heap.segments.all().flat_map(|(_, segment)| blocks_of(heap, segment)).map(|id| heap.blocks[id])
}

/// Blocks tile their segments, all are found by address and free ones by size, and no two free neighbours are apart.
fn tiles(inner: &PinnedMemory) -> Result<(), String> {
    let heap = &inner.heap;
    let mut listed = BTreeSet::new();
    for bins in heap.free.iter().flatten() {
        let mut before = (0, 0);
        let mut in_order = true;
        bins.visit(&heap.blocks, |id| {
            let key = heap.blocks[id].key();
            in_order &= before < key;
            before = key;
            listed.insert(id);
        });
        if !in_order {
            return Err("free blocks are not in the order of their sizes".to_owned());
        }
    }
    let (mut free, mut all) = (0, 0);
    for (number, segment) in heap.segments.all() {
        let mut at = segment.address;
        let mut before = NONE;
        let mut after_free = false;
        for id in blocks_of(heap, segment) {
            let block = &heap.blocks[id];
            if block.address != at || block.bytes == 0 || block.before != before {
                return Err(format!("block {id} begins at {:#x}, not {at:#x}", block.address));
            }
            if block.segment != number || block.kind != segment.kind {
                return Err(format!("block {id} is not of the segment that it lies in"));
            }
            (at, before) = (block.end(), id);
            let is_free = block.state == State::Free;
            if is_free && after_free {
                return Err(format!("free neighbours at {:#x}", block.address));
            }
            after_free = is_free;
            if listed.contains(&id) != is_free {
                return Err(format!("block {id} is {:?}, listed: {}", block.state, !is_free));
            }
            free += usize::from(is_free);
            all += 1;
            let inside = [block.address, block.address + block.bytes / 2, block.end() - 1];
            for address in inside {
                if heap.segments.start_of(address) != Some(block.address)
                    || heap.block_at(address) != Some(id)
                {
                    return Err(format!("block {id} is not found at {address:#x}"));
                }
            }
        }
        if at != segment.address + segment.bytes {
            return Err(format!("the blocks of {:#x} end at {at:#x}", segment.address));
        }
    }
    if listed.len() != free || heap.addresses.len() != all {
        return Err(format!(
            "{free} of {all} blocks are free, but {} and {} are listed",
            listed.len(),
            heap.addresses.len()
        ));
    }
    Ok(())
}

fn shelf(inner: &PinnedMemory) -> Result<(), String> {
    let heap = &inner.heap;
    let mut count = 0;
    for first in heap.shelf.iter().flat_map(|shelf| shelf.firsts()) {
        let mut id = first;
        while id != NONE {
            let block = &heap.blocks[id];
            if block.state != State::Shelved || block.bytes != heap.blocks[first].bytes {
                return Err(format!("block {id} is on the shelf as {:?}", block.state));
            }
            count += 1;
            id = block.next();
        }
    }
    let shelved = all_blocks(heap).filter(|block| block.state == State::Shelved).count();
    if count != shelved {
        return Err(format!("{count} blocks on the shelf, {shelved} say they are"));
    }
    Ok(())
}

fn figures(inner: &PinnedMemory) -> Result<(), String> {
    let heap = &inner.heap;
    let in_use: Vec<_> = all_blocks(heap)
        .filter(|block| matches!(block.state, State::Held | State::Waiting))
        .collect();
    let expect = |name: &str, stat: &Stat, value: usize| {
        if stat.current == value as i64 && stat.peak >= stat.current {
            return Ok(());
        }
        Err(format!("{name} is {stat:?}, recounted {value}"))
    };
    let stats = heap.figures.stats();
    expect("active_requests", &stats.active_requests, in_use.len())?;
    let bytes = in_use.iter().map(|block| block.bytes).sum();
    expect("active_bytes", &stats.active_bytes, bytes)?;
    let requested = in_use.iter().map(|block| block.requested).sum();
    expect("requested_bytes", &stats.requested_bytes, requested)?;
    expect("allocations", &stats.allocations, heap.segments.len())?;
    let pinned = heap.segments.all().map(|(_, segment)| segment.bytes).sum();
    expect("allocated_bytes", &stats.allocated_bytes, pinned)?;
    let mut alone = in_use.iter().filter(|block| block.kind == Kind::Alone);
    if let Some(block) = alone.find(|block| !block.is_whole()) {
        return Err(format!("the block at {:#x} is not alone", block.address));
    }
    Ok(())
}
