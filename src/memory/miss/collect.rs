//! Step 2: collecting old segments. When most of the limit is in use, cached segments that no request has
//! used for long go back to the driver before more is asked of it.

use super::release;
use crate::caching::settings;
use crate::caching::size_class::PoolKind;
use crate::context::Runtime;
use crate::driver::StreamRef;
use crate::error::Result;
use crate::memory::streams::cache::StreamCache;
use crate::memory::streams::device::DeviceMemory;
use crate::stream;
use crate::types::DeviceIndex;

/// The age of a free block: how many requests to the large pool came since it was freed.
fn age(now: u32, freed_at: u32) -> u64 {
    // Another thread may have freed it after `now` was read.
    u64::from((now.wrapping_sub(freed_at) as i32).max(0) as u32)
}

/// Gives back the oldest free segments of the large pool until no more than the threshold's share
/// of the limit is reserved, in rounds: each takes those of at least the average age. Nothing can go
/// back while a stream of the device is being captured; `stream` is the one that the call names.
pub(crate) fn collect(runtime: &Runtime, home: &DeviceMemory, stream: StreamRef) -> Result<()> {
    let threshold = settings::current().garbage_collection_threshold;
    let (limit, reserved) = {
        let ledger = home.ledger.lock();
        (ledger.limit, ledger.reserved())
    };
    let Some(limit) = limit else { return Ok(()) };
    let allowed = (threshold * limit as f64) as u64;
    if reserved <= allowed {
        return Ok(());
    }
    let Some(_no_capture_begins) = stream::give_back(runtime, stream.device, Some(stream)) else {
        return Ok(());
    };
    let mut excess = reserved - allowed;
    let now = home.requests();
    loop {
        let ages = ages(stream.device, now);
        if ages.is_empty() {
            return Ok(());
        }
        let average = ages.iter().sum::<u64>() as f64 / ages.len() as f64;
        let given_back = release::segments(runtime, stream.device, |block, segment, pool| {
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
