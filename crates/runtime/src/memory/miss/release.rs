//! Giving cached memory back to the driver.

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};

use super::lent_pages::is_common;
use super::request::Wanted;
use super::{reclaim, release_pages};
use crate::caching::size_class::PoolKind;
use crate::context::Runtime;
use crate::memory::fixed_pools;
use crate::memory::heap::block::BlockRecord;
use crate::memory::heap::heap_records::HeapPool;
use crate::memory::heap::idle_segment::IdleSegment;
use crate::memory::heap::request::BlockRequest;
use crate::memory::heap::segment::SegmentRecord;
use crate::memory::history;
use crate::memory::pool_holds;
use crate::memory::snapshot::Action;
use crate::memory::source;
use crate::memory::streams::cache::{CacheInUse, LockedCache, StreamCache};
use crate::memory::streams::deferred;
use crate::memory::streams::device::DeviceMemory;
use crate::memory::streams::device::gate::Passage;
use crate::memory::streams::live_blocks;
use crate::stream::{self, GivingBack};

/// Begins to give memory back. Refused while a stream of the device is being captured, as far as the
/// running call may ask; `None` if there is no memory.
pub(crate) fn begin(runtime: &Runtime, device: DeviceIndex) -> Result<Option<GivingBack<'static>>> {
    if StreamCache::all_of(device).next().is_none() {
        return Ok(None);
    }
    let begun = stream::give_back(runtime, device, None);
    begun.map(Some).ok_or_else(|| {
        Error::invalid_state(format!(
            "a stream of device {device} is being captured, and memory cannot be returned to the \
             driver until the capture has ended"
        ))
    })
}

/// Waits for pending events and returns to the driver every segment without a live block, except those of
/// private pools in use. Blocks that other modules keep without using them count as free.
pub(crate) fn everything(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    let home = DeviceMemory::of(device);
    let begun = begin(runtime, device)?;
    reclaim::free_idle_blocks(device);
    let _rescue = home.rescue(begun.as_ref());
    home.count_sync();
    deferred::wait_for_all(runtime, device)?;
    let segments = segments(runtime, device, |_, _, pool| is_common(pool)).map(|_| ());
    segments.and(release_pages::of_pools(runtime, device, is_common).map(|_| ()))
}

/// Takes every segment without a live block out of caches that are locked, except those of private pools
/// in use.
pub(crate) fn take_idle(caches: &mut [(&'static StreamCache, LockedCache)]) -> Vec<TakenSegments> {
    let idle = caches.iter_mut().map(|(cache, inner)| TakenSegments {
        of: cache.use_it(),
        whole: inner.heap.finished().take_idle(|_, _, pool| is_common(pool)),
    });
    idle.filter(|idle| !idle.whole.is_empty()).collect()
}

/// Segments that were taken out of a cache, which they may have to go back to.
pub(crate) struct TakenSegments {
    of: CacheInUse,
    whole: Vec<IdleSegment>,
}

/// Returns to the driver the segments without a live block for which `wanted` holds; the result is their
/// bytes. A segment that the driver refuses stays, and the others are still returned.
pub(crate) fn segments(
    runtime: &Runtime,
    device: DeviceIndex,
    mut wanted: impl FnMut(&BlockRecord, &SegmentRecord, &HeapPool) -> bool,
) -> Result<u64> {
    let (mut bytes, mut outcome) = (0, Ok(()));
    for cache in StreamCache::all_of(device) {
        let passage = cache.home.gate.shared();
        let idle = {
            let mut inner = cache.visit();
            TakenSegments {
                of: cache.use_it(),
                whole: inner.heap.finished().take_idle(&mut wanted),
            }
        };
        match to_driver(runtime, vec![idle], &passage) {
            Ok(more) => bytes += more,
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    outcome.map(|()| bytes)
}

/// Returns segments that were taken out of their caches to the driver; the result is their bytes. A segment
/// that the driver refuses goes back to its cache, and the others are still returned.
pub(crate) fn to_driver(
    runtime: &Runtime,
    idle: Vec<TakenSegments>,
    passage: &impl Passage,
) -> Result<u64> {
    let (mut bytes, mut outcome) = (0, Ok(()));
    for TakenSegments { of, mut whole } in idle {
        // As in torch, large ones first.
        whole.sort_by_key(|segment| (segment.kind == PoolKind::Small, segment.bytes));
        for segment in whole {
            match give_back(runtime, of.cache(), &segment, passage) {
                Ok(()) => bytes += segment.bytes,
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
    }
    outcome.map(|()| bytes)
}

/// Gives back a segment that was taken out of its heap; on failure it is put in again.
fn give_back(
    runtime: &Runtime,
    cache: &'static StreamCache,
    segment: &IdleSegment,
    _passage: &impl Passage,
) -> Result<()> {
    live_blocks::remove(segment.address);
    // Noted before the call: the driver may hand the address out again at once.
    cache.note_memory(Action::SegmentFree, segment.address, segment.bytes, segment.pool);
    let device = cache.stream().device;
    match source::plain::give_back(runtime, device, DevicePtr(segment.address)) {
        Ok(()) => {
            let mut accounting = cache.home.accounting.lock();
            accounting.lost(segment.kind, segment.bytes);
            if segment.oversize {
                accounting.oversize_segments.decrease(1);
            }
            Ok(())
        }
        Err(error) => {
            history::retract(device, Action::SegmentFree, segment.address);
            live_blocks::add(segment.address, segment.bytes, cache);
            let mut inner = cache.visit();
            let heap = inner.heap.finished();
            let id = heap.adopt(*segment);
            heap.keep(id);
            Err(error.context("cached memory could not be returned to the driver"))
        }
    }
}

/// Gives back enough blocks of `max_split` and more that the request's segment should fit: one that
/// is large enough alone, or several from the largest down. `false` when there are not enough, or the pool's memory
/// stays with it.
pub(crate) fn oversize(
    runtime: &Runtime,
    cache: &'static StreamCache,
    wanted: Wanted,
    request: &BlockRequest,
) -> Result<bool> {
    let passage = cache.home.gate.shared();
    let mut chosen = Vec::new();
    let (enough, whole) = {
        let mut inner = cache.visit();
        let max_split = request.fit.max_split;
        let stays = pool_holds::is_held(wanted.pool) || fixed_pools::is_fixed(wanted.pool);
        if max_split == u64::MAX || stays {
            return Ok(false);
        }
        let pool = inner.heap.pool(wanted.pool);
        let wanted = request.rounded.max(max_split);
        let mut free = Vec::new();
        let heap = &inner.heap;
        heap.free_blocks(pool, request.kind, |id| {
            let block = &heap.blocks[id];
            if block.is_whole() {
                free.push((block.bytes, block.address));
            }
        });
        let enough = match free.iter().find(|(bytes, _)| *bytes >= wanted) {
            Some(single) => {
                chosen.push(single.1);
                true
            }
            None => {
                let mut sum = 0;
                for (bytes, address) in free.iter().rev() {
                    if sum >= wanted || *bytes < max_split {
                        break;
                    }
                    sum += bytes;
                    chosen.push(*address);
                }
                sum >= wanted
            }
        };
        (enough, inner.heap.finished().take_idle(|block, _, _| chosen.contains(&block.address)))
    };
    let mut outcome = Ok(());
    for segment in &whole {
        outcome = outcome.and(give_back(runtime, cache, segment, &passage));
    }
    outcome.map(|()| enough)
}
