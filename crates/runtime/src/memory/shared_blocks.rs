//! Memory that other processes use: while one holds it, a free of it waits.
//!
//! `ipc` decides which processes may use a block; this file keeps what the allocator needs to know.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;

use super::addresses::address_map;
use super::shared_pages::{self, PagedBlock};
use super::source::{pages, uncached};
use super::streams::block_uses;
use super::streams::cache::StreamCache;
use super::streams::{live_blocks, sleepers};
use crate::context::Runtime;

/// Memory that other processes may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBlock {
    /// A block of a segment, or an allocation of the mode without caching: where the driver's allocation begins.
    Segment(usize),
    /// A block of pages.
    Paged(PagedBlock),
}

/// A process's hold on a block. Dropped, the block can be used again if it was freed meanwhile.
pub struct Hold(HeldMemory);

enum HeldMemory {
    /// A block of a cache, by its number there: while it is held the number stays its own.
    Block(&'static StreamCache, crate::caching::BlockId),
    /// An allocation of the mode without caching, by its address.
    Uncached(usize),
}

/// From now on other processes may ask to hold the live block that holds an address. `None` when it
/// is not memory of this allocator; an error when it was freed, or sleeps.
pub fn share(address: usize) -> Result<Option<SharedBlock>> {
    match uncached::share(address) {
        Some(true) => {
            return Ok(uncached::find(address).map(|(base, ..)| SharedBlock::Segment(base)));
        }
        Some(false) => return Err(live_blocks::freed_already(address)),
        None => {}
    }
    let Some(owner) = live_blocks::owner_of(address as u64) else { return Ok(None) };
    // Before the cache, in the order of locks.
    let pages = pages::lock(owner.device());
    let shared = live_blocks::with_live(address, |inner, owner, segment, id, block| {
        if inner.heap.is_asleep(segment.pool) {
            let pool = inner.heap.pools[usize::from(segment.pool)].number;
            return Err(asleep(address, owner.device(), pool));
        }
        let (start, end) = (block.address, block.address + block.bytes);
        let paged = segment.paged.then(|| shared_pages::extent(&pages, start, end)).flatten();
        let number = block_uses::share(inner, block.address, id);
        let Some((base, bytes)) = paged else {
            return Ok(SharedBlock::Segment(segment.address as usize));
        };
        Ok(SharedBlock::Paged(PagedBlock {
            base,
            bytes,
            device: owner.device(),
            address: start as usize,
            end: end as usize,
            number,
        }))
    });
    shared?.map(Some)
}

#[cold]
fn asleep(address: usize, device: DeviceIndex, pool: u64) -> Error {
    Error::invalid_state(format!(
        "ptr {address:#x} is memory of {}, which is asleep (sconce_memory_pool_sleep); call \
         sconce_memory_pool_wake before the memory is shared",
        sleepers::name(device, pool)
    ))
}

/// Holds the block that holds an address; `None` unless it is live and was lent.
pub fn hold(address: usize) -> Option<Hold> {
    if let Some(base) = uncached::hold(address) {
        return Some(Hold(HeldMemory::Uncached(base)));
    }
    let held = live_blocks::with_live(address, |inner, owner, _, id, block| {
        let free = address_map::look_up(block.address).is_none_or(|word| word.is_claimed());
        (!free && block_uses::hold(inner, id)).then(|| Hold(HeldMemory::Block(owner, id)))
    });
    held.ok().flatten()
}

/// Whether a block of pages is live, and other processes may ask to hold it.
pub fn is_shared(block: &PagedBlock) -> bool {
    let shared = live_blocks::with_live(block.address, |inner, _, _, id, found| {
        let freed = address_map::look_up(found.address).is_none_or(|word| word.is_claimed());
        !freed && inner.uses.shared(id) == Some(block.number)
    });
    shared == Ok(true)
}

/// What came of asking for a hold on a block of pages.
pub enum PagedHold {
    /// The block is live and stays.
    Held(Hold),
    /// Its pool is asleep, so its pages have no memory.
    Asleep,
    /// It was freed.
    Gone,
}

/// Holds a block of pages.
pub fn hold_paged(block: &PagedBlock) -> PagedHold {
    let held = live_blocks::with_live(block.address, |inner, owner, segment, id, found| {
        let freed = address_map::look_up(found.address).is_none_or(|word| word.is_claimed());
        if freed || inner.uses.shared(id) != Some(block.number) {
            PagedHold::Gone
        } else if inner.heap.is_asleep(segment.pool) {
            PagedHold::Asleep
        } else if block_uses::hold(inner, id) {
            PagedHold::Held(Hold(HeldMemory::Block(owner, id)))
        } else {
            PagedHold::Gone
        }
    });
    held.unwrap_or(PagedHold::Gone)
}

impl Drop for Hold {
    fn drop(&mut self) {
        match self.0 {
            HeldMemory::Block(cache, id) => block_uses::release_hold(cache, id),
            HeldMemory::Uncached(base) => uncached::release_hold(base),
        }
    }
}

/// Whether memory waits for [`free_let_go`].
pub(crate) fn has_let_go() -> bool {
    uncached::has_let_go()
}

/// Without caching, returns memory to the driver that was freed while other processes held it, and that no
/// process holds any more. Waits for its device.
pub(crate) fn free_let_go(runtime: &Runtime) -> Result<()> {
    uncached::free_let_go(runtime)
}
