//! The walker: checks the invariants of the allocator. Tests call it after every step, debug builds when a
//! segment comes or goes.

use sconce_base::sync::Ordering;
use sconce_base::types::DeviceIndex;

use super::addresses::address_map;
use super::addresses::block_numbers::NumberChunk;
use super::figures::stream_stats::{ALL, FIGURES, ROWS, Row, row_of};
use super::heap::block::RecordState;
use super::heap::request::kind_of;
use super::heap::stream_heap::StreamHeap;
use super::source::pages::{self, DevicePages, MappingUse};
use super::streams::all_caches;
use super::streams::cache::{StreamCache, StreamMemory};
use super::streams::device::DeviceMemory;
use super::streams::owners;

/// Walks all memory of all devices. Only sure to pass while no other thread allocates or frees.
pub fn walk() -> Result<(), String> {
    for index in 0..sconce_base::types::MAX_DEVICES as i32 {
        if let Some(device) = DeviceIndex::new(index) {
            all_caches::check_last_reading(device)?;
            device_caches(device)?;
            device_pages(device)?;
            // What the next walk compares, if nothing happens until then that changes figures.
            all_caches::with_stats(device, 0, |_| ());
        }
    }
    Ok(())
}

/// How many caches a device has.
pub fn cache_count(device: DeviceIndex) -> usize {
    StreamCache::all_of(device).count()
}

/// In debug builds, walks the memory of one stream.
pub(super) fn in_debug(cache: &'static StreamCache) {
    if cfg!(debug_assertions) {
        let inner = cache.visit();
        // A thousand blocks take a moment; more would make debug builds useless.
        if inner.heap.blocks.len() <= 1000
            && let Err(what) = stream(cache, &inner)
        {
            drop(inner);
            debug_assert!(false, "{what}");
        }
    }
}

fn device_caches(device: DeviceIndex) -> Result<(), String> {
    let home = DeviceMemory::of(device);
    let mut granted = [[0; FIGURES]; ROWS];
    let mut waiting = false;
    for cache in StreamCache::all_of(device) {
        let inner = cache.visit();
        stream(cache, &inner)?;
        waiting |= cache.delays().has_waiting();
        for (row, sums) in granted.iter_mut().enumerate() {
            for (figure, sum) in sums.iter_mut().enumerate() {
                *sum += inner.heap.stats.granted(row, figure);
            }
        }
    }
    if waiting != home.has_waiting() {
        return Err(format!("blocks wait for events: {waiting}; the device counts otherwise"));
    }
    let accounting = home.accounting.lock();
    for (row, sums) in granted.iter().enumerate() {
        for (figure, sum) in sums.iter().enumerate() {
            let known = accounting.quotas.granted(row, figure);
            if *sum != known {
                return Err(format!("figure {figure} of row {row}: {sum} granted, {known} known"));
            }
        }
    }
    Ok(())
}

/// The runs of a device are tiled by present mappings, or by mappings and pages without memory that are asleep. Every
/// page is present once, except those that the driver did not take back, and no present mapping lies elsewhere.
fn device_pages(device: DeviceIndex) -> Result<(), String> {
    let pages = pages::lock(device);
    let mut runs: Vec<(u64, u64, bool)> = Vec::new();
    for cache in StreamCache::all_of(device) {
        let inner = cache.visit();
        let paged = inner.heap.segments.iter().filter(|(_, segment)| segment.paged);
        runs.extend(paged.map(|(_, segment)| {
            (segment.address, segment.bytes, inner.heap.is_asleep(segment.pool))
        }));
    }
    for cache in StreamCache::all_of(device) {
        held_blocks(&pages, &cache.visit())?;
    }
    let holds = |address: u64, bytes: u64, asleep: bool| {
        let end = address + bytes;
        runs.iter().any(|run| run.0 <= address && end <= run.0 + run.1 && run.2 == asleep)
    };
    let mut present = std::collections::BTreeSet::new();
    let mut bytes = 0;
    for (address, mapping) in pages.table.all() {
        let asleep = match mapping.used {
            MappingUse::Present => false,
            MappingUse::Asleep => true,
            _ => continue,
        };
        if !present.insert(mapping.page) {
            return Err(format!("page {} is present twice, at {address:#x} too", mapping.page));
        }
        bytes += mapping.bytes;
        if !holds(address, mapping.bytes, asleep) {
            return Err(format!("the page at {address:#x} is {:?} and in no run", mapping.used));
        }
    }
    let mut sleeping = 0;
    for (address, bytes) in pages.without_memory(0, u64::MAX) {
        sleeping += bytes;
        if !holds(address, bytes, true) || pages.table.mapping(address).is_some() {
            return Err(format!("a page without memory at {address:#x} is in no run that sleeps"));
        }
    }
    if let Some(lost) =
        pages.table.all_pages().find(|id| !present.contains(id) && !pages.is_kept(*id))
    {
        return Err(format!("page {lost} is in no run"));
    }
    let of_runs: u64 = runs.iter().map(|run| run.1).sum();
    if bytes + sleeping != of_runs || bytes != pages.bytes() {
        let known = pages.bytes();
        return Err(format!(
            "runs have {of_runs} bytes, pages {bytes}, {sleeping} sleep, counted were {known}"
        ));
    }
    Ok(())
}

/// The blocks that other processes hold are not free, and their pages are present, side by side.
fn held_blocks(pages: &DevicePages, inner: &StreamMemory) -> Result<(), String> {
    let heap = &inner.heap;
    for block in inner.uses.held().filter_map(|id| heap.blocks.get(id)) {
        let what = format!("block {:#x}, which another process holds,", block.address);
        if !matches!(block.state, RecordState::Allocated | RecordState::Pending) {
            return Err(format!("{what} is {:?}", block.state));
        }
        if !heap.segments.iter().any(|(place, it)| place == block.segment && it.paged) {
            continue;
        }
        if heap.is_asleep(block.bins >> 1) {
            return Err(format!("{what} is asleep"));
        }
        let end = block.address + block.bytes;
        let mut covered = block.address;
        for page in pages.table.covering(block.address, end) {
            if page.address <= covered {
                covered = covered.max(page.address + page.bytes);
            }
        }
        if covered < end {
            return Err(format!("{what} has no page at {covered:#x}"));
        }
    }
    Ok(())
}

fn stream(cache: &StreamCache, inner: &StreamMemory) -> Result<(), String> {
    let heap = &inner.heap;
    let mut counted = [[0_i64; FIGURES]; ROWS];
    let mut free = 0;
    for (place, segment) in heap.segments.iter() {
        let mut at = segment.address;
        let mut previous = super::heap::block::NONE;
        let mut was_free = false;
        for (id, block) in heap.blocks_of(segment) {
            let what = format!("block {:#x} of segment {:#x}", block.address, segment.address);
            if block.address != at || block.previous != previous || block.segment != place {
                return Err(format!("{what} does not follow the one before"));
            }
            if kind_of(block.bins) != segment.kind || block.bins >> 1 != segment.pool {
                return Err(format!("{what} is of another pool"));
            }
            if was_free && block.state == RecordState::Free {
                return Err(format!("{what} and the one before are both free"));
            }
            let entry = address_map::look_up(block.address);
            let named = entry.and_then(|entry| {
                let (owner, chunk) = owners::of(entry.number())?;
                Some(std::ptr::eq(owner, cache) && chunk.block(entry.number()) == id)
            });
            if (block.state == RecordState::Allocated) != (named == Some(true)) {
                return Err(format!("{what} is {:?}, and the map says {entry:?}", block.state));
            }
            let noted = entry.and_then(|entry| {
                let chunk = NumberChunk::of(entry.number())?;
                Some(chunk.bytes(entry.number()).load(Ordering::Acquire))
            });
            let expected = if heap.is_asleep(segment.pool) { 0 } else { block.bytes };
            if block.state == RecordState::Allocated && noted != Some(expected) {
                return Err(format!("{what} has {} bytes, noted are {noted:?}", block.bytes));
            }
            let whole = block.is_whole();
            let bytes = block.bytes as i64;
            let counts: Row = match block.state {
                RecordState::Allocated => [1, bytes, 1, bytes, block.requested as i64, 0, 0, 0],
                RecordState::Pending => [0, 0, 1, bytes, block.requested as i64, 0, 0, 0],
                RecordState::Free if whole || segment.paged => [0; FIGURES],
                RecordState::Free => [0, 0, 0, 0, 0, 1, bytes, 0],
                RecordState::Unused => return Err(format!("{what} is unused")),
            };
            for (figure, count) in counts.iter().enumerate() {
                let row = row_of(if block.state == RecordState::Free {
                    segment.kind
                } else {
                    block.counted_in()
                });
                counted[row][figure] += count;
                counted[ALL][figure] += count;
            }
            free += usize::from(block.state == RecordState::Free);
            (at, previous, was_free) = (at + block.bytes, id, block.state == RecordState::Free);
        }
        if at != segment.address + segment.bytes {
            return Err(format!("the blocks of segment {:#x} do not fill it", segment.address));
        }
    }
    for (row, counts) in counted.iter().enumerate() {
        for (figure, count) in counts.iter().enumerate() {
            let value = heap.stats.value(row, figure);
            if value != *count || heap.stats.remaining(row, figure) < 0 {
                return Err(format!("figure {figure} of row {row} is {value}, counted {count}"));
            }
        }
    }
    bins(heap, free)?;
    let waits = |id| heap.blocks.get(id).is_some_and(|block| block.state == RecordState::Pending);
    if !inner.deferred.waiting().all(waits) {
        return Err("an event waits for a block that does not wait".into());
    }
    Ok(())
}

fn bins(heap: &StreamHeap, free: usize) -> Result<(), String> {
    let mut found = 0;
    for place in 0..heap.pools.len() as u16 {
        for kind in [
            crate::caching::size_class::PoolKind::Small,
            crate::caching::size_class::PoolKind::Large,
        ] {
            let mut wrong = None;
            let mut before = (0, 0);
            heap.free_blocks(place, kind, |id| {
                let block = &heap.blocks[id];
                found += 1;
                let here = block.bins >> 1 == place && kind_of(block.bins) == kind;
                if block.state != RecordState::Free || !here || block.key() < before {
                    wrong = Some(block.address);
                }
                before = block.key();
            });
            if let Some(address) = wrong {
                return Err(format!("block {address:#x} is in a bin where it should not be"));
            }
        }
    }
    if found != free {
        return Err(format!("{free} blocks are free, {found} are in bins"));
    }
    Ok(())
}
