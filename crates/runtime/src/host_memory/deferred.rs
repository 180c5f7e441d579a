//! Looking after freed blocks that streams use: polling their events, waiting for them, and hearing of
//! streams of the program and of waits for devices.

use sconce_base::lock::{Once, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{RelaxedCapture, StreamRef};

use super::cache::PinnedCache;
use super::heap::block::State;
use super::heap::rounding::Kind;
use super::{drain, give_back};
use crate::caching::{BlockId, CompleteFree, DeferredFrees, wait_for_devices};
use crate::context::Runtime;
use crate::device::parked::{self, ParkingAllocator};
use crate::stream::{self, Named};

/// Does something to the deferred frees, and takes back the blocks that it completes; whether there were
/// any.
fn change(
    runtime: &Runtime,
    cache: &PinnedCache,
    may_unpin: MayUnpin,
    act: impl FnOnce(&mut DeferredFrees),
) -> bool {
    let complete = {
        let mut deferred = cache.deferred.lock();
        act(&mut deferred);
        take_complete(&mut deferred)
    };
    finish(runtime, cache, complete, may_unpin)
}

/// Whether blocks that are alone in their segments may be unpinned, which waits for the devices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MayUnpin {
    Yes,
    No,
}

fn take_complete(deferred: &mut DeferredFrees) -> Vec<CompleteFree> {
    std::iter::from_fn(|| deferred.next_complete()).collect()
}

/// Puts blocks back into the heap and unpins those that are not kept, or leaves them to a later call that may. True if
/// there were any.
fn finish(
    runtime: &Runtime,
    cache: &PinnedCache,
    mut complete: Vec<CompleteFree>,
    may_unpin: MayUnpin,
) -> bool {
    if complete.is_empty() && may_unpin == MayUnpin::No {
        return false;
    }
    let mut outgoing = Vec::new();
    let mut inner = cache.enter();
    if may_unpin == MayUnpin::Yes {
        complete.append(&mut inner.to_unpin);
    } else {
        let is_alone = |free: &mut CompleteFree| inner.heap.blocks[free.id].kind == Kind::Alone;
        let alone: Vec<_> = complete.extract_if(.., is_alone).collect();
        inner.to_unpin.extend(alone);
    }
    if complete.is_empty() {
        return false;
    }
    for CompleteFree { id, .. } in &complete {
        debug_assert_eq!(inner.heap.blocks[*id].state, State::Waiting);
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
    change(runtime, cache, MayUnpin::Yes, |deferred| {
        deferred.add(runtime, &cache.delays, block, streams);
    });
    drain::wake();
}

/// Takes back what has become free, for a call that may wait for the devices; whether there was anything. If another
/// thread is polling at the moment, this one need not.
pub(super) fn poll(runtime: &Runtime, cache: &PinnedCache) -> bool {
    poll_and(runtime, cache, MayUnpin::Yes)
}

/// [`poll`] for an allocation, which waits for the devices only if that wait ends for sure.
pub(super) fn poll_to_allocate(runtime: &Runtime, cache: &PinnedCache) -> bool {
    let may_unpin = if stream::work_may_need_threads() { MayUnpin::No } else { MayUnpin::Yes };
    poll_and(runtime, cache, may_unpin)
}

fn poll_and(runtime: &Runtime, cache: &PinnedCache, may_unpin: MayUnpin) -> bool {
    if !cache.delays.has_waiting() {
        return false;
    }
    let complete = {
        let Some(mut deferred) = cache.deferred.try_lock() else { return false };
        let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return false };
        let _asks = runtime.driver().asks_for_itself();
        // Errors stay with the device, and show at the calls that use it.
        let _ = deferred.poll(runtime, &cache.delays);
        take_complete(&mut deferred)
    };
    finish(runtime, cache, complete, may_unpin)
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
        change(runtime, cache, MayUnpin::No, |deferred| deferred.event_done(&cache.delays, id));
    });
    change(runtime, cache, MayUnpin::No, |deferred| deferred.put_back(queues));
    wait_for_parked(runtime, cache);
    poll(runtime, cache);
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
    change(runtime, cache, MayUnpin::No, |deferred| deferred.named(runtime, &cache.delays, named));
    drain::wake();
}

/// All work queued on a device before a moment has finished.
fn waited(runtime: &Runtime, device: DeviceIndex, moment: u64) {
    let cache = PinnedCache::get();
    change(runtime, cache, MayUnpin::No, |deferred| deferred.waited(&cache.delays, device, moment));
}
