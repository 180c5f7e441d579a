//! Free pages that a run gives to another run: which there are, taking them out, and putting them back.
//!
//! A *run* is a range of addresses that is made of pages. While a page moves, it belongs to no run and is *lent*: if
//! the driver refuses the new mapping, the page goes back to where it was.

use sconce_driver::StreamRef;

use crate::memory::heap::block::BlockRecord;
use crate::memory::heap::heap_records::HeapPool;
use crate::memory::heap::idle_segment::IdleSegment;
use crate::memory::heap::request::kind_of;
use crate::memory::snapshot::Action;
use crate::memory::source::pages::{DevicePages, FreePage, MappingUse, PageId};
use crate::memory::streams::cache::{CacheInUse, StreamCache, StreamMemory};
use crate::memory::streams::live_blocks;
use crate::stream::Maker;

/// Pages side by side that were taken out of a run.
pub(crate) struct LentPages {
    /// The cache that they were taken from, and may have to go back to.
    pub(super) of: CacheInUse,
    /// The range where they were.
    pub(super) was: IdleSegment,
    pub(super) pages: Vec<FreePage>,
}

/// Whether free memory of a pool may be given up for a request of any pool: that of the default pool, and that of pools
/// whose owner has gone.
pub(in crate::memory::miss) fn is_common(pool: &HeapPool) -> bool {
    pool.number == 0 || pool.abandoned
}

/// The stream of a cache, if the library owns it: no other stream will ever have its handle.
pub(in crate::memory) fn own_stream(cache: &StreamCache) -> Option<StreamRef> {
    (cache.identity().maker() == Maker::LIBRARY).then(|| cache.stream())
}

/// The whole free pages of a cache in pools that `wanted` holds for, a list for each free block, from the smallest
/// block to the largest.
pub(super) fn free_pages(
    pages: &DevicePages,
    inner: &mut StreamMemory,
    wanted: impl Fn(&HeapPool) -> bool,
) -> Vec<(BlockRecord, Vec<FreePage>)> {
    let heap = inner.heap.finished();
    let blocks = heap.free_in_runs(|pool| wanted(&heap.pools[usize::from(pool)]));
    let whole = blocks.into_iter().map(|(_, block)| {
        (block, pages.table.whole_pages(block.address, block.address + block.bytes).collect())
    });
    whole.filter(|(_, pages): &(BlockRecord, Vec<FreePage>)| !pages.is_empty()).collect()
}

/// Chooses among free pages so that the chosen ones have `need` bytes, if there are enough: pages in their order as
/// long as the sum does not exceed `need`, and then at most one more page, the smallest that covers what is missing.
pub(super) fn choose(free: &[FreePage], need: u64) -> Vec<FreePage> {
    let mut chosen = Vec::new();
    let mut sum = 0;
    for page in free {
        if sum + page.bytes <= need {
            sum += page.bytes;
            chosen.push(*page);
        }
    }
    if sum < need {
        let missing = need - sum;
        let taken: Vec<PageId> = chosen.iter().map(|page| page.page).collect();
        let rest = free.iter().filter(|page| page.bytes >= missing && !taken.contains(&page.page));
        if let Some(page) = rest.min_by_key(|page| page.bytes) {
            chosen.push(*page);
        }
    }
    chosen.sort_unstable_by_key(|page| page.address);
    chosen
}

/// Takes free pages of a cache that is locked out of their runs. `chosen` is in the order of addresses.
pub(super) fn take(
    pages: &mut DevicePages,
    cache: &'static StreamCache,
    inner: &mut StreamMemory,
    chosen: &[FreePage],
) -> Vec<LentPages> {
    let mut lent = Vec::new();
    let mut rest = chosen;
    while let Some(first) = rest.first() {
        let Some(block) = inner.heap.free_block_around(first.address, first.address + first.bytes)
        else {
            rest = &rest[1..];
            continue;
        };
        let record = inner.heap.blocks[block];
        let (block_end, mut end) = (record.address + record.bytes, first.address);
        let count = rest
            .iter()
            .take_while(|page| {
                let follows = page.address == end && end + page.bytes <= block_end;
                end += if follows { page.bytes } else { 0 };
                follows
            })
            .count();
        let (these, later) = rest.split_at(count);
        rest = later;
        let pool = &inner.heap.pools[usize::from(record.bins >> 1)];
        let was = IdleSegment {
            address: first.address,
            bytes: end - first.address,
            kind: kind_of(record.bins),
            pool: pool.number,
            abandoned: pool.abandoned,
            oversize: false,
            paged: true,
        };
        let change = inner.heap.finished().take_pages(block, was.address, end);
        live_blocks::replace(&change, cache);
        cache.note_memory(Action::SegmentUnmap, was.address, was.bytes, was.pool);
        for page in these {
            pages.table.set_used(page.address, MappingUse::Lent, own_stream(cache));
        }
        lent.push(LentPages { of: cache.use_it(), was, pages: these.to_vec() });
    }
    lent
}

/// Puts pages back where they were; their mappings are still there.
pub(super) fn put_back(pages: &mut DevicePages, lent: Vec<LentPages>) {
    for LentPages { of, was, pages: these } in lent {
        let cache = of.cache();
        for page in &these {
            pages.table.set_used(page.address, MappingUse::Present, own_stream(cache));
        }
        let mut inner = cache.visit();
        adopt(cache, &mut inner, was);
    }
}

/// Puts pages into a run of a cache that is locked, as free memory.
pub(super) fn adopt(cache: &'static StreamCache, inner: &mut StreamMemory, run: IdleSegment) {
    let heap = inner.heap.finished();
    let (id, change) = heap.adopt_pages(run);
    heap.keep(id);
    live_blocks::replace(&change, cache);
    cache.note_memory(Action::SegmentMap, run.address, run.bytes, run.pool);
}
