//! Step 2: collecting old segments. When most of the limit is in use, cached segments that no request has
//! used for long go back to the driver before more is asked of it.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::release;
use super::request::Miss;
use crate::caching::settings;
use crate::caching::size_class::PoolKind;
use crate::memory::streams::cache::StreamCache;
use crate::memory::streams::device::DeviceMemory;

/// The age of a free block: how many requests to the large pool came since it was freed.
fn age(now: u32, freed_at: u32) -> u64 {
    // Another thread may have freed it after `now` was read.
    u64::from((now.wrapping_sub(freed_at) as i32).max(0) as u32)
}

/// Whether more than the threshold's share of the limit is reserved.
pub(super) fn is_due(home: &DeviceMemory) -> bool {
    excess(home) != 0
}

/// The bytes that are reserved beyond the threshold's share of the limit.
fn excess(home: &DeviceMemory) -> u64 {
    let threshold = settings::current().garbage_collection_threshold;
    let (limit, reserved) = {
        let accounting = home.accounting.lock();
        (accounting.limit, accounting.reserved())
    };
    limit.map_or(0, |limit| reserved.saturating_sub((threshold * limit as f64) as u64))
}

/// Gives back the oldest free segments of the large pool until no more than the threshold's share
/// of the limit is reserved, in rounds: each takes those of at least the average age. Nothing can go
/// back while a stream of the device is being captured.
pub(super) fn collect(miss: &Miss<'_>) -> Result<()> {
    let (runtime, home, device) = (miss.runtime, miss.home(), miss.device());
    let Some(begun) = miss.give_back() else { return Ok(()) };
    let _rescue = home.rescue(Some(&begun));
    // Another thread may have collected meanwhile.
    let mut excess = excess(home);
    if excess == 0 {
        return Ok(());
    }
    let now = home.requests();
    loop {
        let ages = ages(device, now);
        if ages.is_empty() {
            return Ok(());
        }
        let average = ages.iter().sum::<u64>() as f64 / ages.len() as f64;
        let given_back = release::segments(runtime, device, |block, segment, pool| {
            pool.number == 0
                && segment.kind == PoolKind::Large
                && age(now, block.freed_at) as f64 >= average
        })?;
        if given_back == 0 || given_back >= excess {
            return Ok(());
        }
        excess -= given_back;
    }
}

/// The ages of the segments that may be collected.
fn ages(device: DeviceIndex, now: u32) -> Vec<u64> {
    let mut ages = Vec::new();
    for cache in StreamCache::all_of(device) {
        let inner = cache.visit();
        let heap = &inner.heap;
        heap.free_blocks(crate::memory::heap::stream_heap::DEFAULT_POOL, PoolKind::Large, |id| {
            let block = &heap.blocks[id];
            if block.is_whole() {
                ages.push(age(now, block.freed_at));
            }
        });
    }
    ages
}
