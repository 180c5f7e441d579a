//! Looking after freed blocks of a device that other streams use: deferring them, polling their events, waiting for
//! them, and hearing of streams of the program and of waits for devices.

use sconce_base::error::Result;
use sconce_base::lock::{Once, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{RelaxedCapture, StreamRef};

use super::cache::{StreamCache, StreamMemory};
use super::device::DeviceMemory;
use crate::caching::{BlockId, DeferredFrees, wait_for_devices};
use crate::context::{Runtime, runtime_to_release};
use crate::device::parked::{self, ParkingAllocator};
use crate::memory::heap::block::RecordState;
use crate::memory::heap::stream_heap::DEFAULT_POOL;
use crate::memory::history;
use crate::stream;

impl StreamCache {
    /// A caller has freed a block that other streams or processes use.
    pub(super) fn defer(&'static self, inner: &mut StreamMemory, id: BlockId) {
        inner.heap.finished().suspend(id);
        let streams = inner.uses.take_streams(id);
        // The call that freed the block has found a backend.
        if !streams.is_empty()
            && let Ok(runtime) = runtime_to_release()
        {
            let bytes = inner.heap.blocks[id].bytes as usize;
            inner.deferred.add(runtime, self.delays(), (id, bytes), streams);
        }
        self.take_back_complete(inner);
        self.complete_unless_used(inner, id);
    }

    /// Takes back every block that no stream uses any more. Called after anything that may have completed
    /// deferred frees.
    pub(crate) fn take_back_complete(&'static self, inner: &mut StreamMemory) {
        while let Some(complete) = inner.deferred.next_complete() {
            self.complete_unless_used(inner, complete.id);
            DeferredFrees::count_taken_back(self.delays(), complete);
        }
    }

    /// Makes a block free that a caller has freed, unless streams or processes still use it.
    pub(crate) fn complete_unless_used(&'static self, inner: &mut StreamMemory, id: BlockId) {
        let waits = inner.heap.blocks[id].state == RecordState::Pending;
        let is_kept = inner.deferred.contains(id) || inner.quarantine.contains(id);
        if !waits || is_kept || !inner.uses.forget(id) {
            return;
        }
        // A block that was free when streams began to use it is nobody's any more.
        if inner.heap.blocks[id].requested != 0 {
            self.report_unused(inner, id);
        }
        if self.has_quarantine_for(inner, id) {
            let bytes = inner.heap.blocks[id].bytes as usize;
            inner.quarantine.add(self.delays(), id, bytes);
            self.end_quarantine(inner, history::quarantine_bytes());
        } else {
            self.complete(inner, id, false);
        }
    }

    /// Whether a freed block is kept from being handed out for a while. Blocks of private pools are not: the pool could
    /// not end.
    pub(super) fn has_quarantine_for(&self, inner: &StreamMemory, id: BlockId) -> bool {
        let block = &inner.heap.blocks[id];
        history::quarantine_bytes() != 0 && block.requested != 0 && block.bins >> 1 == DEFAULT_POOL
    }

    /// Frees the blocks that were in quarantine longest, until no more than so many bytes are.
    pub(super) fn end_quarantine(&'static self, inner: &mut StreamMemory, most: usize) {
        while let Some(id) = inner.quarantine.take_oldest(self.delays(), most) {
            // It was used again meanwhile: the end of that use frees it.
            if !inner.deferred.contains(id) {
                history::report_quarantine_ended(self.stream(), inner.heap.blocks[id].address);
                self.complete(inner, id, false);
            }
        }
    }
}

/// Takes back what has become free on any stream of the device. A stream whose cache another thread is in
/// is left to that thread.
pub(crate) fn poll(runtime: &Runtime, own: &'static StreamCache) -> Result<()> {
    poll_device(runtime, own.device(), Some(own))
}

/// Does what [`poll`] does, for a call that uses the cache `own` or none.
pub(crate) fn poll_device(
    runtime: &Runtime,
    device: DeviceIndex,
    own: Option<&'static StreamCache>,
) -> Result<()> {
    if !DeviceMemory::of(device).has_waiting() {
        return Ok(());
    }
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let _asks = runtime.driver().asks_for_itself();
    for cache in StreamCache::all_of(device).filter(|cache| cache.delays().has_waiting()) {
        let inner = match own.is_some_and(|own| std::ptr::eq(cache, own)) {
            true => Some(cache.visit()),
            false => cache.try_visit(),
        };
        if let Some(mut inner) = inner {
            let polled = inner.deferred.poll(runtime, cache.delays());
            cache.take_back_complete(&mut inner);
            polled?;
        }
    }
    Ok(())
}

/// Waits for every event of a device, and for the device itself if blocks are parked, and takes back what
/// waited. Blocks of a stream that is being captured stay.
pub(crate) fn wait_for_all(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    for cache in StreamCache::all_of(device).filter(|cache| cache.delays().has_waiting()) {
        wait_for_one(runtime, cache)?;
    }
    let mut devices = Vec::new();
    for cache in StreamCache::all_of(device).filter(|cache| cache.delays().has_parked()) {
        devices.extend(cache.visit().deferred.parked_on());
    }
    wait_for_devices(runtime, devices)
}

fn wait_for_one(runtime: &Runtime, cache: &'static StreamCache) -> Result<()> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let mut queues = {
        let mut inner = cache.visit();
        cache.end_quarantine(&mut inner, 0);
        inner.deferred.record_put_off(runtime, cache.delays());
        cache.take_back_complete(&mut inner);
        inner.deferred.take_queues()
    };
    // Without the lock: other threads go on meanwhile, and may begin new queues.
    let outcome = queues.synchronize(runtime, |id| {
        let mut inner = cache.visit();
        inner.deferred.event_done(cache.delays(), id);
        cache.take_back_complete(&mut inner);
    });
    cache.visit().deferred.put_back(queues);
    outcome
}

/// Registers the allocator for the news of named streams and of waits, before the first block that may be
/// parked.
pub(super) fn register() {
    static ONCE: Once<rank::FirstTime> = Once::new();
    ONCE.call_once(|| parked::register(ParkingAllocator { named, waited }));
}

/// Every cache that has parked blocks. A stream of one device may use memory of another.
fn with_parked(runtime: &Runtime) -> impl Iterator<Item = &'static StreamCache> {
    let caches = runtime.devices().flat_map(StreamCache::all_of);
    caches.filter(|cache| cache.delays().has_parked())
}

/// The running call names a stream. A cache that another thread is in is left for the next call.
fn named(runtime: &Runtime, by: StreamRef) {
    if with_parked(runtime).next().is_none() {
        return;
    }
    let named = stream::name(runtime, by);
    for cache in with_parked(runtime) {
        if let Some(mut inner) = cache.try_visit() {
            inner.deferred.named(runtime, cache.delays(), named);
            cache.take_back_complete(&mut inner);
        }
    }
}

/// All work queued on a device before a moment has finished.
fn waited(runtime: &Runtime, device: DeviceIndex, moment: u64) {
    for cache in with_parked(runtime) {
        let mut inner = cache.visit();
        inner.deferred.waited(cache.delays(), device, moment);
        cache.take_back_complete(&mut inner);
    }
}
