//! The walker: checks the invariants of the allocator.

use super::cache::{PinnedCache, PinnedMemory};
use super::heap::block::PinnedState;
use super::heap::rounding::PinnedKind;
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
        if inner.heap.blocks[id].state != PinnedState::Waiting {
            return Err(format!("block {id} waits for events but is not waiting"));
        }
    }
    Ok(())
}

/// Blocks tile their segments, free ones are found by size, and no two free neighbours are apart.
fn tiles(inner: &PinnedMemory) -> Result<(), String> {
    let heap = &inner.heap;
    let mut blocks = heap.index.all().peekable();
    let (mut free, mut whole) = (0, 0);
    for segment in heap.segments.values() {
        let mut at = segment.address;
        let mut after_free = false;
        while let Some(id) = blocks.next_if(|id| heap.blocks[*id].segment == segment.address) {
            let block = &heap.blocks[id];
            if block.address != at || block.bytes == 0 {
                return Err(format!("block {id} begins at {:#x}, not {at:#x}", block.address));
            }
            at = block.end();
            let is_free = block.state == PinnedState::Free;
            if is_free && after_free {
                return Err(format!("free neighbours at {:#x}", block.address));
            }
            after_free = is_free;
            let listed = heap
                .free
                .get(block.kind as usize)
                .is_some_and(|free| free.contains(&(block.bytes, block.address)));
            if listed != is_free {
                return Err(format!("block {id} is {:?}, listed: {listed}", block.state));
            }
            free += usize::from(is_free);
            whole += usize::from(!is_free);
            if !is_free && heap.index.whole_at(block.address) != Some(id) {
                return Err(format!("block {id} is not found by its address"));
            }
        }
        if at != segment.address + segment.bytes {
            return Err(format!("the blocks of {:#x} end at {at:#x}", segment.address));
        }
    }
    if blocks.next().is_some() {
        return Err("a block of no segment".to_owned());
    }
    let listed: usize = heap.free.iter().map(std::collections::BTreeSet::len).sum();
    if listed != free || heap.index.count_whole() != whole {
        return Err(format!(
            "{free} free and {whole} other blocks, but {listed} and {} are listed",
            heap.index.count_whole()
        ));
    }
    Ok(())
}

fn shelf(inner: &PinnedMemory) -> Result<(), String> {
    let heap = &inner.heap;
    let mut count = 0;
    for first in heap.shelf.firsts() {
        let mut id = first;
        while id != super::heap::block::NONE {
            let block = &heap.blocks[id];
            if block.state != PinnedState::Shelved || block.bytes != heap.blocks[first].bytes {
                return Err(format!("block {id} is on the shelf as {:?}", block.state));
            }
            count += 1;
            id = block.next;
        }
    }
    let shelved =
        heap.index.all().filter(|id| heap.blocks[*id].state == PinnedState::Shelved).count();
    if count != shelved || (count == 0) != heap.shelf.is_empty() {
        return Err(format!("{count} blocks on the shelf, {shelved} say they are"));
    }
    Ok(())
}

fn figures(inner: &PinnedMemory) -> Result<(), String> {
    let heap = &inner.heap;
    let in_use = heap.index.all().map(|id| heap.blocks[id]);
    let in_use: Vec<_> =
        in_use.filter(|b| matches!(b.state, PinnedState::Held | PinnedState::Waiting)).collect();
    let expect = |name: &str, stat: &Stat, value: usize| {
        if stat.current == value as i64 && stat.peak >= stat.current {
            return Ok(());
        }
        Err(format!("{name} is {stat:?}, recounted {value}"))
    };
    expect("active_requests", &heap.figures.active_requests, in_use.len())?;
    let bytes = in_use.iter().map(|block| block.bytes).sum();
    expect("active_bytes", &heap.figures.active_bytes, bytes)?;
    let requested = in_use.iter().map(|block| block.requested).sum();
    expect("requested_bytes", &heap.figures.requested_bytes, requested)?;
    expect("allocations", &heap.figures.allocations, heap.segments.len())?;
    let pinned = heap.segments.values().map(|segment| segment.bytes).sum();
    expect("allocated_bytes", &heap.figures.allocated_bytes, pinned)?;
    let alone = in_use.iter().filter(|block| block.kind == PinnedKind::Alone);
    for block in alone {
        if block.segment != block.address {
            return Err(format!("the block at {:#x} is not alone", block.address));
        }
    }
    Ok(())
}
