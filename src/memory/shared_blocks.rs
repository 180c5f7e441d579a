//! Memory that other processes use: while one holds it, a free of it waits.
//!
//! `ipc` decides which processes may use a block; this file keeps what the allocator needs to know.

use super::addresses::address_map;
use super::source::uncached;
use super::streams::block_uses;
use super::streams::cache::StreamCache;
use super::streams::live_blocks;
use crate::context::Runtime;
use crate::error::{Error, Result, Status};
use crate::types::DeviceIndex;

/// The driver's allocation that memory lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBlock {
    /// Where it begins.
    pub base: usize,
    /// Its bytes.
    pub bytes: usize,
    /// Its device.
    pub device: DeviceIndex,
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
/// is not memory of this allocator; an error when it was freed.
pub fn share(address: usize) -> Result<Option<SharedBlock>> {
    match uncached::share(address) {
        Some(true) => {
            let found = uncached::find(address);
            return Ok(found.map(|(base, bytes, device)| SharedBlock { base, bytes, device }));
        }
        Some(false) => return Err(live_blocks::freed_already(address)),
        None => {}
    }
    if live_blocks::owner_of(address as u64).is_none() {
        return Ok(None);
    }
    let lent = live_blocks::with_live(address, |inner, owner, segment, id, block| {
        if segment.paged {
            return Err(of_pages(address));
        }
        block_uses::share(inner, block.address, id);
        let (base, bytes) = (segment.address as usize, segment.bytes as usize);
        Ok(SharedBlock { base, bytes, device: owner.stream().device })
    });
    lent?.map(Some)
}

#[cold]
fn of_pages(address: usize) -> Error {
    Error::new(
        Status::NotSupported,
        format!(
            "ptr {address:#x} is memory of pages (policy:pages, expandable_segments:True), which \
             other processes cannot open; allocate it with policy:segments"
        ),
    )
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

impl Drop for Hold {
    fn drop(&mut self) {
        match self.0 {
            HeldMemory::Block(cache, id) => block_uses::release_hold(cache, id),
            HeldMemory::Uncached(base) => uncached::release_hold(base),
        }
    }
}

/// Whether memory waits for [`free_let_go`].
pub fn has_let_go() -> bool {
    uncached::has_let_go()
}

/// Without caching, returns memory to the driver that was freed while other processes held it, and that no
/// process holds any more. Waits for its device.
pub fn free_let_go(runtime: &Runtime) -> Result<()> {
    uncached::free_let_go(runtime)
}
