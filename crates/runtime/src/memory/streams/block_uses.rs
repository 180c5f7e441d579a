//! Noting that other streams and processes use live blocks.

use sconce_base::error::Result;

use super::cache::{StreamCache, StreamMemory};
use super::{deferred, live_blocks, owners};
use crate::caching::BlockId;
use crate::memory::addresses::address_map;
use crate::memory::history;
use crate::stream::Named;

/// A stream uses a block that a caller holds, or that another thread has freed and this cache has not taken up.
pub(super) fn note_stream(
    cache: &StreamCache,
    inner: &mut StreamMemory,
    address: u64,
    id: BlockId,
    by: Named,
) {
    if cache.identity().is_of(by) {
        return;
    }
    if by.is_foreign() {
        deferred::register();
    }
    history::report_use(by.stream, address);
    inner.uses.add_stream(id, by);
    mark(inner, address, id);
}

/// Other processes may hold a live block. Returns the number that distinguishes it from later blocks at its address.
pub(crate) fn share(inner: &mut StreamMemory, address: u64, id: BlockId) -> u64 {
    let number = inner.uses.share(id);
    mark(inner, address, id);
    number
}

fn mark(inner: &mut StreamMemory, address: u64, id: BlockId) {
    inner.heap.block_to_mark(id).used_elsewhere = true;
    address_map::mark_used_elsewhere(address);
}

/// One more process holds a live block; `false` when the block is not shared.
pub(crate) fn hold(inner: &mut StreamMemory, id: BlockId) -> bool {
    inner.uses.hold(id)
}

/// A process no longer holds a block.
pub(crate) fn release_hold(cache: &'static StreamCache, id: BlockId) {
    let mut inner = cache.visit();
    inner.uses.release_hold(id);
    cache.complete_unless_used(&mut inner, id);
}

/// Notes that a stream uses the live block that holds an address; `false` when the address is not in
/// memory of a cache, an error when no live block holds it.
pub(crate) fn record_stream(address: u64, by: Named) -> Result<bool> {
    if note_at_start(address, by) {
        return Ok(true);
    }
    if live_blocks::owner_of(address).is_none() {
        return Ok(false);
    }
    live_blocks::with_live(address as usize, |inner, owner, _, id, block| {
        // Another thread may have freed it, and left it for this cache to take up.
        let is_live = address_map::look_up(block.address).is_some_and(|word| !word.is_claimed());
        if is_live {
            note_stream(owner, inner, block.address, id, by);
        }
        is_live.then_some(true)
    })?
    .ok_or_else(|| live_blocks::freed_already(address as usize))
}

/// Notes a use of the live block that starts at an address, which takes no search; `false` when none
/// does.
fn note_at_start(address: u64, by: Named) -> bool {
    let Some(entry) = address_map::look_up(address) else { return false };
    let number = entry.number();
    let Some((owner, chunk)) = owners::of(number) else { return false };
    let mut inner = owner.visit();
    // It may have been freed since.
    let live = address_map::look_up(address)
        .is_some_and(|now| now.number() == number && !now.is_claimed());
    if live {
        note_stream(owner, &mut inner, address, chunk.block(number), by);
    }
    live
}
