//! Blocks that were freed while their pool slept. Their pages have nothing to come back for, so they leave the runs
//! when caches are emptied, pools are trimmed, destroyed or woken.

use sconce_base::types::DeviceIndex;
use sconce_driver::Driver;

use super::{SAVED, SavedPools, lock, mark};
use crate::context::Runtime;
use crate::memory::heap::block::BlockRecord;
use crate::memory::pool_holds;
use crate::memory::snapshot::Action;
use crate::memory::source::pages::{self, DevicePages};
use crate::memory::streams::cache::{LockedCache, StreamCache};
use crate::memory::streams::device::DeviceMemory;
use crate::memory::streams::live_blocks;
use crate::memory::streams::sleepers::{self, SleepingPool};

/// Drops what was freed in pools of a device that are asleep. Nothing happens while another thread puts a pool to sleep
/// or wakes it.
pub(crate) fn drop_free(runtime: &Runtime, device: DeviceIndex) {
    if !sleepers::any() {
        return;
    }
    let Some(mut saved) = SAVED[device].try_lock() else { return };
    let numbers: Vec<u64> = saved.keys().copied().collect();
    for number in numbers {
        of_pool(runtime, device, number);
        forget_if_gone(device, number, &mut saved);
    }
}

/// A pool was destroyed, and no graph holds it: it is forgotten once it has no live block.
pub(crate) fn pool_destroyed(runtime: &Runtime, number: u64) {
    for device in runtime.devices() {
        // Also if it is awake: a thread may be about to put it to sleep.
        let mut saved = lock(device);
        if let Some(pool) = saved.get_mut(&number) {
            pool.is_destroyed = true;
            of_pool(runtime, device, number);
            forget_if_gone(device, number, &mut saved);
        }
    }
}

/// Drops the saved bytes of a pool that has no memory left, and forgets the pool if it was destroyed.
fn forget_if_gone(device: DeviceIndex, number: u64, saved: &mut SavedPools) {
    let Some(pool) = saved.get_mut(&number) else { return };
    if !mark::survey(device, number).runs.is_empty() {
        return;
    }
    pool.bytes = None;
    if pool.is_destroyed {
        saved.remove(&number);
        pool_holds::allow_launches(number, device);
        sleepers::leave(device, number);
    } else if let Some(state) = sleepers::of(device, number) {
        sleepers::enter(device, number, SleepingPool { saved_bytes: 0, ..state });
    }
}

/// Takes the free pages of a pool that sleeps out of its runs, unless graphs may name them.
pub(super) fn of_pool(runtime: &Runtime, device: DeviceIndex, number: u64) {
    if pool_holds::is_held(number) {
        return;
    }
    let _passage = DeviceMemory::of(device).gate.shared();
    let mut pages = pages::lock(device);
    for cache in StreamCache::all_of(device) {
        let mut inner = cache.visit();
        for block in inner.heap.free_asleep(number) {
            take(runtime.driver(), &mut pages, cache, &mut inner, &block, number);
        }
        inner.heap.finished().shrink_if_empty();
    }
}

/// Takes the pages without memory that lie whole in a free block. Those that have memory stay.
fn take(
    driver: &dyn Driver,
    pages: &mut DevicePages,
    cache: &'static StreamCache,
    inner: &mut LockedCache,
    block: &BlockRecord,
    number: u64,
) {
    let end = block.address + block.bytes;
    let mut whole = pages.without_memory(block.address, end);
    whole.retain(|(address, bytes)| address + bytes <= end);
    for row in whole.chunk_by(|one, next| one.0 + one.1 == next.0) {
        let (Some(first), Some(last)) = (row.first(), row.last()) else { continue };
        let (from, to) = (first.0, last.0 + last.1);
        let Some(id) = inner.heap.free_block_around(from, to) else { continue };
        let change = inner.heap.finished().take_pages(id, from, to);
        live_blocks::replace(&change, cache);
        cache.note_memory(Action::SegmentUnmap, from, to - from, number);
        for (address, _) in row {
            pages.forget_asleep(driver, *address);
        }
    }
}
