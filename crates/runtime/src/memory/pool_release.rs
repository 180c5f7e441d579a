//! Giving the memory of pools back to the driver.
//!
//! The memory of a pool that is destroyed goes back at once, unless that would wait for launches of graphs, or a stream
//! is being captured. Then the pool is *late*: its memory goes back when the launches are done and the program captures
//! another graph, destroys one, or waits for a device. A driver that frees a segment waits for all work of the device,
//! which may wait for what the calling thread does next; so segments of a graph are late while the device is busy.
//! Emptied caches and requests that find no memory take it, too, since the pool is gone.

use std::collections::BTreeSet;

use sconce_base::error::{Result, Status};
use sconce_base::lock::{Mutex, Once, rank};
use sconce_base::log;
use sconce_base::types::DeviceIndex;

use super::fixed_pools;
use super::heap::heap_records::HeapPool;
use super::heap::segment::SegmentRecord;
use super::miss::{release, release_pages};
use super::sleep;
use super::streams::cache::StreamCache;
use super::streams::deferred;
use super::streams::device::DeviceMemory;
use super::streams::launch_uses;
use crate::context::{Runtime, opened, runtime};
use crate::device::parked;
use crate::stream::{self, Named};

/// The numbers of pools of which a graph has let go while launches of it were queued.
static LAUNCHED: Mutex<rank::LaunchedPools, BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// The numbers of pools that are late.
static LATE: Mutex<rank::LatePools, Vec<u64>> = Mutex::new(Vec::new());

/// Whether a pool has a segment on a device that is as `is_meant` says.
fn has_segment(
    device: DeviceIndex,
    number: u64,
    is_meant: impl Fn(&SegmentRecord) -> bool,
) -> bool {
    StreamCache::all_of(device).any(|cache| {
        let heap = &cache.visit().heap;
        let is_its = |it: &SegmentRecord| heap.pools[usize::from(it.pool)].number == number;
        heap.segments.iter().any(|(_, segment)| is_its(segment) && is_meant(segment))
    })
}

/// Whether the driver would wait for work before it frees memory of a pool. It unmaps pages without a wait.
fn would_wait(runtime: &Runtime, number: u64) -> bool {
    let mut devices = runtime
        .devices()
        .filter(|device| has_segment(*device, number, |segment| !segment.paged))
        .peekable();
    devices.peek().is_some() && !stream::may_give_back_unasked(runtime, devices)
}

/// Gives the memory of a pool back that has no live block; returns its bytes. Waits for blocks that wait for streams.
pub(super) fn trim(runtime: &Runtime, number: u64) -> Result<usize> {
    give_back(runtime, number, |device| deferred::wait_for_all(runtime, device))
}

/// Gives the memory of a pool back that is free after `prepare` was called for the device.
fn give_back(
    runtime: &Runtime,
    number: u64,
    prepare: impl Fn(DeviceIndex) -> Result<()>,
) -> Result<usize> {
    let mut bytes = 0;
    for device in runtime.devices() {
        let home = DeviceMemory::of(device);
        if !has_segment(device, number, |_| true) {
            continue;
        }
        let begun = release::begin(runtime, device)?;
        let _rescue = home.rescue(begun.as_ref());
        home.count_sync();
        prepare(device)?;
        // Asked behind the gate: the pool may be fixed meanwhile.
        let is_it = |pool: &HeapPool| pool.number == number && !fixed_pools::is_fixed(number);
        bytes += release::segments(runtime, device, |_, _, pool| is_it(pool))?;
        bytes += release_pages::of_pools(runtime, device, is_it)?;
    }
    Ok(bytes as usize)
}

/// A graph lets go of a pool. Launches of it may be queued on the streams `users`, which use all memory of the pool
/// until they have done the work that is queued now.
pub(super) fn let_go(number: u64, users: &[Named]) {
    if let Some(runtime) = opened().filter(|_| !users.is_empty()) {
        LAUNCHED.lock().insert(number);
        launch_uses::add(runtime, number, users);
    }
}

/// The program has destroyed a pool that no graph holds. If a graph had let go of it with launches queued, the pool may
/// be late; otherwise streams that use its memory are waited for, as in torch.
pub(super) fn destroyed(number: u64) -> Result<()> {
    let was_launched = LAUNCHED.lock().remove(&number);
    end(number, !was_launched)
}

/// The last graph has let go of a pool that was destroyed before. No call that concerns a graph waits for work.
pub(super) fn let_go_last(number: u64) -> Result<()> {
    LAUNCHED.lock().remove(&number);
    end(number, false)
}

fn end(number: u64, waits: bool) -> Result<()> {
    // Without a backend no memory can be in it.
    let Ok(runtime) = runtime() else { return Ok(()) };
    for cache in runtime.devices().flat_map(StreamCache::all_of) {
        cache.visit().heap.finished().abandon(number);
    }
    let outcome = if waits {
        trim(runtime, number).map(|_| true)
    } else {
        launch_uses::add_own_streams(runtime, number);
        give_back_unused(runtime, number)
    };
    sleep::pool_destroyed(runtime, number);
    if !went_back(outcome)? {
        be_late(number);
    }
    Ok(())
}

/// Gives the memory of a pool back, unless that would wait. Whether it did.
fn give_back_unused(runtime: &Runtime, number: u64) -> Result<bool> {
    if is_busy(runtime, number) || would_wait(runtime, number) {
        return Ok(false);
    }
    // The driver may wait for the device. The program has not asked for that.
    let _asks = runtime.driver().asks_for_itself();
    give_back(runtime, number, |_| Ok(())).map(|_| true)
}

/// Whether memory went back. A stream that is being captured only puts that off.
fn went_back(outcome: Result<bool>) -> Result<bool> {
    match outcome {
        Err(error) if error.status() == Status::InvalidState => Ok(false),
        outcome => outcome,
    }
}

fn be_late(number: u64) {
    static ONCE: Once<rank::FirstTime> = Once::new();
    ONCE.call_once(|| parked::give_back_at_rest(give_back_late));
    LATE.lock().push(number);
}

/// Gives the memory of pools back that are late, if no launch uses it any more. Called with no lock held.
pub fn give_back_late(runtime: &Runtime) {
    let numbers = std::mem::take(&mut *LATE.lock());
    for number in numbers {
        match went_back(give_back_unused(runtime, number)) {
            Ok(true) => {}
            Ok(false) => be_late(number),
            Err(error) => {
                log::debug(format_args!(
                    "memory of a pool that was destroyed: {}",
                    error.message()
                ));
            }
        }
    }
}

/// Whether blocks of a pool wait for streams.
fn is_busy(runtime: &Runtime, number: u64) -> bool {
    for device in runtime.devices() {
        // What fails stays with the device.
        let _ = deferred::poll_device(runtime, device, None);
    }
    launch_uses::has_waiting(runtime, number)
}
