//! Looking after freed blocks that streams use: polling their events, waiting for them, and hearing of
//! streams of the program and of waits for devices.

use sconce_base::lock::{Once, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{RelaxedCapture, StreamRef};

use super::cache::PinnedCache;
use super::heap::block::PinnedState;
use super::{drain, give_back};
use crate::caching::{BlockId, CompleteFree, DeferredFrees, wait_for_devices};
use crate::context::Runtime;
use crate::device::parked::{self, ParkingAllocator};
use crate::stream::{self, Named};

/// Does something to the deferred frees, and takes back the blocks that it completes; whether there were
/// any.
fn change(runtime: &Runtime, cache: &PinnedCache, act: impl FnOnce(&mut DeferredFrees)) -> bool {
    let complete = {
        let mut deferred = cache.deferred.lock();
        act(&mut deferred);
        take_complete(&mut deferred)
    };
    finish(runtime, cache, complete)
}

fn take_complete(deferred: &mut DeferredFrees) -> Vec<CompleteFree> {
    std::iter::from_fn(|| deferred.next_complete()).collect()
}

/// Puts blocks back into the heap and frees those that are not kept. True if there were any.
fn finish(runtime: &Runtime, cache: &PinnedCache, complete: Vec<CompleteFree>) -> bool {
    if complete.is_empty() {
        return false;
    }
    let mut outgoing = Vec::new();
    let mut inner = cache.enter();
    for CompleteFree { id, .. } in &complete {
        debug_assert_eq!(inner.heap.blocks[*id].state, PinnedState::Waiting);
        inner.heap.blocks[*id].used = false;
        outgoing.extend(inner.heap.give_back(*id));
    }
    drop(inner);
    for free in complete {
        DeferredFrees::count_taken_back(&cache.delays, free);
    }
    give_back::give_back(runtime, cache, outgoing);
    true
}

/// Adds a block, with its bytes, that was freed while streams use it.
pub(super) fn add(
    runtime: &Runtime,
    cache: &PinnedCache,
    block: (BlockId, usize),
    streams: Vec<Named>,
) {
    change(runtime, cache, |deferred| deferred.add(runtime, &cache.delays, block, streams));
    drain::wake();
}

/// Takes back what has become free; whether there was anything. If another thread is polling at the
/// moment, this one need not.
pub(super) fn poll(runtime: &Runtime, cache: &PinnedCache) -> bool {
    if !cache.delays.has_waiting() {
        return false;
    }
    let complete = {
        let Some(mut deferred) = cache.deferred.try_lock() else { return false };
        let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return false };
        // Errors stay with the device, and show at the calls that use it.
        let _ = deferred.poll(runtime, &cache.delays);
        take_complete(&mut deferred)
    };
    finish(runtime, cache, complete)
}

/// Waits for every event, and takes back the blocks that waited; whether there were any, which another
/// thread may have taken back meanwhile.
pub(super) fn wait(runtime: &Runtime, cache: &PinnedCache) -> bool {
    if !cache.delays.has_waiting() && !cache.delays.has_parked() {
        return false;
    }
    // What comes back may have to be unpinned, and that is asked for before the turn.
    let _no_capture_begins = stream::hold_back_captures();
    // A second thread finds no events, but must not report failure before the first is done.
    let _turn = cache.turn.lock();
    poll(runtime, cache);
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return false };
    let mut queues = cache.deferred.lock().take_queues();
    // Without the lock: other threads go on freeing meanwhile. Errors stay with the device.
    let _ = queues.synchronize(runtime, |id| {
        change(runtime, cache, |deferred| deferred.event_done(&cache.delays, id));
    });
    change(runtime, cache, |deferred| deferred.put_back(queues));
    wait_for_parked(runtime, cache);
    true
}

/// Waits for the devices whose streams parked blocks wait for, unless one is under capture. What cannot
/// be waited for stays parked.
pub(super) fn wait_for_parked(runtime: &Runtime, cache: &PinnedCache) {
    let devices: Vec<DeviceIndex> = cache.deferred.lock().parked_on().collect();
    if devices.is_empty() {
        return;
    }
    let Ok(_no_capture_begins) = stream::give_back_everywhere(runtime) else { return };
    if let Err(error) = wait_for_devices(runtime, devices) {
        sconce_base::log::debug(format_args!("pinned memory stays parked: {}", error.message()));
    }
}

/// Registers the allocator for the news of named streams and of waits, before the first block that may be
/// parked.
pub(super) fn register() {
    static ONCE: Once<rank::FirstTime> = Once::new();
    ONCE.call_once(|| parked::register(ParkingAllocator { named, waited }));
}

/// The running call names a stream.
fn named(runtime: &Runtime, by: StreamRef) {
    let cache = PinnedCache::get();
    if !cache.deferred.lock().has_parked_for(by) {
        return;
    }
    let named = stream::name(runtime, by);
    change(runtime, cache, |deferred| deferred.named(runtime, &cache.delays, named));
    drain::wake();
}

/// All work queued on a device before a moment has finished.
fn waited(runtime: &Runtime, device: DeviceIndex, moment: u64) {
    let cache = PinnedCache::get();
    change(runtime, cache, |deferred| deferred.waited(&cache.delays, device, moment));
}
