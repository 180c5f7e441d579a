//! What happens when no free block fits: one rung after the other until memory is found or refused.

use std::sync::atomic::Ordering;

use super::collect;
use super::out_of_memory;
use super::reclaim;
use super::release;
use crate::caching::settings;
use crate::caching::size_class::{TOO_LARGE, segment_bytes};
use crate::context::Runtime;
use crate::driver::RelaxedCapture;
use crate::error::{Error, Result, Status};
use crate::memory::addresses::address_map;
use crate::memory::heap::idle_segment::IdleSegment;
use crate::memory::heap::request::BlockRequest;
use crate::memory::snapshot::Action;
use crate::memory::streams::cache::{StreamCache, StreamMemory};
use crate::memory::streams::device::Rescue;
use crate::memory::streams::gate::Passage;
use crate::memory::streams::live_blocks;
use crate::memory::streams::{all_caches, deferred};
use crate::stream::is_under_capture_beside;

/// What is wanted, from which pool.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// The number of the pool; 0 is the default one.
    pub(crate) pool: u64,
    /// As asked for.
    pub(crate) bytes: usize,
}

impl Wanted {
    fn request(&self, inner: &mut StreamMemory) -> BlockRequest {
        if inner.policy.refresh() {
            inner.heap.cool();
        }
        let pool = inner.heap.pool(self.pool);
        inner.policy.request(pool, self.bytes)
    }
}

/// Refuses sizes that no device has, before rounding could overflow.
pub(crate) fn check_size(bytes: usize) -> Result<()> {
    if bytes < TOO_LARGE {
        return Ok(());
    }
    Err(Error::new(
        Status::OutOfMemory,
        format!("CUDA out of memory. Tried to allocate more than 1EB memory. (bytes is {bytes})"),
    ))
}

/// A block of a cache's free ones, if one fits.
pub(crate) fn search(cache: &'static StreamCache, wanted: Wanted) -> Option<u64> {
    search_in(cache, &mut cache.enter(), wanted)
}

/// The same in a cache that is locked.
fn search_in(cache: &'static StreamCache, inner: &mut StreamMemory, wanted: Wanted) -> Option<u64> {
    let request = wanted.request(inner);
    if cache.home.collects()
        && wanted.pool == 0
        && request.kind == crate::caching::size_class::PoolKind::Large
    {
        cache.home.count_request();
    }
    let handed = inner.heap.take(cache, &request)?;
    cache.handed_out(inner, &request, &handed);
    note_alloc(cache, handed.address, wanted);
    Some(handed.address)
}

fn note_alloc(cache: &StreamCache, address: u64, wanted: Wanted) {
    cache.note_memory(Action::Alloc, address, wanted.bytes as u64, wanted.pool);
}

/// Finds memory for a request that no free block fits.
#[cold]
#[inline(never)]
pub(crate) fn climb(runtime: &Runtime, cache: &'static StreamCache, wanted: Wanted) -> Result<u64> {
    let home = cache.home;
    if home.collects() {
        let _rescue = home.rescue();
        collect::collect(runtime, home, cache.stream())?;
    }
    let rescues = home.rescues();
    if let Some(address) = from_driver_shared(runtime, cache, wanted)? {
        return Ok(address);
    }
    // Blocks that other rooms keep for reuse become free ones. They may fit, or their segments may go.
    if reclaim::free_idle_blocks(cache.stream().device) > 0
        && let Some(address) = search(cache, wanted)
    {
        return Ok(address);
    }
    if let Some(address) = rescued(runtime, cache, wanted, rescues)? {
        return Ok(address);
    }
    let rounded = wanted.request(&mut cache.visit()).rounded;
    let segment = segment_bytes(rounded as usize, settings::current().large_segment_bytes);
    if let Some(address) = reclaimed(runtime, cache, wanted, segment)? {
        return Ok(address);
    }
    home.ledger.lock().num_ooms += 1;
    Err(out_of_memory::report(runtime, cache, segment, wanted, rounded))
}

/// The rungs after the driver has refused. `before` is how many rescues there had been.
fn rescued(
    runtime: &Runtime,
    cache: &'static StreamCache,
    wanted: Wanted,
    before: Option<u64>,
) -> Result<Option<u64>> {
    let home = cache.home;
    let rescue = home.rescue();
    if before.is_none_or(|before| *rescue != before + 1) {
        // Another thread has been here meanwhile, and may have left enough.
        if let Some(address) = search(cache, wanted) {
            return Ok(Some(address));
        }
        if let Some(address) = from_driver_shared(runtime, cache, wanted)? {
            return Ok(Some(address));
        }
    }
    // Nothing can go back while a stream of the device is being captured.
    if is_under_capture_beside(runtime, cache.stream().device, Some(cache.stream())) {
        return as_it_is(runtime, cache, wanted);
    }
    // As in torch, a failing request counts as one wait for all streams, however often it looks.
    let waited = all_caches::have_delayed(cache.device());
    if waited {
        home.count_sync();
        deferred::wait_for_all(runtime, cache.device())?;
        if let Some(address) = search(cache, wanted) {
            return Ok(Some(address));
        }
    }
    let request = wanted.request(&mut cache.visit());
    if release::oversize(runtime, cache, request.pool, request.kind, request.rounded)?
        && let Some(address) = from_driver_shared(runtime, cache, wanted)?
    {
        return Ok(Some(address));
    }
    if !waited {
        home.count_sync();
    }
    home.ledger.lock().num_alloc_retries += 1;
    all_given_back(runtime, cache, wanted, &rescue)
}

/// Searches and asks the driver once more, with nothing given back, while the device is closed to other
/// requests: no segment is on its way, and none is set aside.
fn as_it_is(runtime: &Runtime, cache: &'static StreamCache, wanted: Wanted) -> Result<Option<u64>> {
    let closed = cache.home.close();
    match search(cache, wanted) {
        Some(address) => Ok(Some(address)),
        None => from_driver(runtime, cache, wanted, &closed.exclusive),
    }
}

/// Gives back every segment without live blocks and asks the driver, while the device is closed to
/// other requests.
///
/// When this returns `None` there was a moment, with all caches locked, at which the segments with
/// live blocks and the segment wanted did not fit: from that moment until the driver was asked, no other
/// thread got memory from it or took a segment out of a cache. While the rescue is held, no other thread
/// has taken events out of a cache to wait for them.
fn all_given_back(
    runtime: &Runtime,
    cache: &'static StreamCache,
    wanted: Wanted,
    _rescue: &Rescue<'_>,
) -> Result<Option<u64>> {
    let home = cache.home;
    let closed = home.close();
    loop {
        deferred::wait_for_all(runtime, cache.device())?;
        let mut caches = all_caches::lock_all(cache.device(), &closed.exclusive);
        // Blocks freed since then are waited for too. They are ever fewer: nobody gets new ones.
        if caches.iter().any(|(_, inner)| inner.deferred.has_delayed()) {
            continue;
        }
        let own = caches.iter_mut().find(|(other, _)| std::ptr::eq(*other, cache));
        if let Some((_, inner)) = own
            && let Some(address) = search_in(cache, inner, wanted)
        {
            return Ok(Some(address));
        }
        let idle = release::take_idle(&mut caches);
        drop(caches);
        release::to_driver(runtime, idle, &closed.exclusive)?;
        if let Some(address) = from_driver(runtime, cache, wanted, &closed.exclusive)? {
            drop(closed);
            crate::memory::check::in_debug(cache);
            return Ok(Some(address));
        }
        // Blocks that other rooms have stopped using since. They are ever fewer, too.
        if reclaim::free_idle_blocks(cache.stream().device) == 0 {
            return Ok(None);
        }
    }
}

/// The last rung: other parts of the library give up what they keep of the device, twice as much each
/// time.
fn reclaimed(
    runtime: &Runtime,
    cache: &'static StreamCache,
    wanted: Wanted,
    segment: usize,
) -> Result<Option<u64>> {
    let (home, device) = (cache.home, cache.stream().device);
    // It is not theirs to give if the limit or the device's size is in the way.
    if segment > home.total_bytes.load(Ordering::Acquire)
        || !home.ledger.lock().would_allow(segment as u64)
    {
        return Ok(None);
    }
    let mut most = 1_usize;
    while reclaim::give_back(device, most) {
        let found = if is_under_capture_beside(runtime, device, Some(cache.stream())) {
            as_it_is(runtime, cache, wanted)?
        } else {
            all_given_back(runtime, cache, wanted, &home.rescue())?
        };
        if found.is_some() {
            return Ok(found);
        }
        most = most.saturating_mul(2);
    }
    Ok(None)
}

/// [`from_driver`] beside other threads.
fn from_driver_shared(
    runtime: &Runtime,
    cache: &'static StreamCache,
    wanted: Wanted,
) -> Result<Option<u64>> {
    let address = from_driver(runtime, cache, wanted, &cache.home.gate.shared())?;
    crate::memory::check::in_debug(cache);
    Ok(address)
}

/// A block of a segment got from the driver for this request; `None` when there is no memory.
fn from_driver(
    runtime: &Runtime,
    cache: &'static StreamCache,
    wanted: Wanted,
    _passage: &impl Passage,
) -> Result<Option<u64>> {
    let request = wanted.request(&mut cache.visit());
    let bytes = segment_bytes(request.rounded as usize, settings::current().large_segment_bytes);
    if !cache.home.ledger.lock().set_aside(bytes as u64) {
        return Ok(None);
    }
    let address = match get(runtime, cache, bytes) {
        Ok(address) => address,
        Err(error) => {
            cache.home.ledger.lock().cancel(bytes as u64);
            return match error.status() {
                Status::OutOfMemory => Ok(None),
                _ => Err(error),
            };
        }
    };
    let mut inner = cache.enter();
    cache.note_memory(Action::SegmentAlloc, address, bytes as u64, wanted.pool);
    // Asked again, under the same lock as the segment is used: pools and settings may have changed.
    let pool = inner.heap.pool(wanted.pool);
    let request = BlockRequest { pool, ..request };
    let (kind, bytes) = (request.kind, bytes as u64);
    let oversize = bytes >= request.fit.max_split;
    {
        let mut ledger = cache.home.ledger.lock();
        ledger.gained(kind, bytes);
        if oversize {
            ledger.oversize_segments.increase(1);
        }
    }
    live_blocks::add(address, bytes, cache);
    let id = inner.heap.adopt(IdleSegment {
        address,
        bytes,
        kind,
        pool: wanted.pool,
        abandoned: false,
        oversize,
    });
    let handed = inner.heap.hand_out(cache, id, &request);
    cache.handed_out(&mut inner, &request, &handed);
    note_alloc(cache, handed.address, wanted);
    Ok(Some(handed.address))
}

/// Memory from the driver, at an address that the map can hold.
fn get(runtime: &Runtime, cache: &StreamCache, bytes: usize) -> Result<u64> {
    let driver = runtime.driver();
    let device = cache.stream().device;
    let address = {
        let _relaxed = RelaxedCapture::enter(driver)?;
        driver.memory_alloc(device, bytes)?
    };
    if address_map::covers(address.0, bytes as u64) {
        return Ok(address.0);
    }
    driver.memory_free(device, address)?;
    Err(Error::new(
        Status::NotSupported,
        format!("the driver gave memory at {address}, beyond the 52 bits that are supported"),
    ))
}
