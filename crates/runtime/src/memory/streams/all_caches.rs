//! What concerns all caches of a device at once: locking them together, and their sums.

use sconce_base::thread_state::owner_word;
use sconce_base::types::DeviceIndex;

use super::cache::{LockedCache, StreamCache};
use super::device::DeviceMemory;
use super::device::gate::ExclusivePassage;
use crate::caching::settings;
use crate::memory::figures::MemoryStats;
use crate::memory::figures::device_accounting::Sums;
use crate::memory::figures::last_reading::{LastReading, StateNumbers, max_split};
use crate::memory::figures::refill::OtherStreams;
use crate::memory::figures::stream_stats::{ALLOCATED_BYTES, StreamStats};

/// Whether freed blocks of a device wait for events, or are parked.
pub(crate) fn have_delayed(device: DeviceIndex) -> bool {
    let parked = || StreamCache::all_of(device).any(|cache| cache.delays().has_parked());
    DeviceMemory::of(device).has_waiting() || parked()
}

/// Locks every cache of a device at once, with the frees of other threads taken up. No request gets
/// memory until the result is dropped. One thread at a time can do so, which is what the gate is for: two
/// of them would wait for each other.
pub(crate) fn lock_all(
    device: DeviceIndex,
    _: &ExclusivePassage<'_>,
) -> Vec<(&'static StreamCache, LockedCache)> {
    // First one after the other: a cache that takes up frees may need quota of others,
    // which it only gets of those that are not locked.
    StreamCache::all_of(device).for_each(|cache| drop(cache.visit()));
    StreamCache::all_of(device).map(|cache| (cache, cache.visit())).collect()
}

/// The sums over all streams of a device, and the number of changes to its caches that they include.
fn sums(device: DeviceIndex) -> (Sums, u64) {
    let (mut sums, mut changes) = (Sums::default(), 0);
    for cache in StreamCache::all_of(device) {
        // Without a count, since what is changed here is counted.
        let mut inner = cache.memory().lock_to_read(owner_word());
        cache.take_up(&mut inner);
        sums.add(&inner.heap.finished().stats);
        changes += cache.memory().changes();
    }
    (sums, changes)
}

/// The number of changes to the caches of a device; `None` while frees of other threads are not taken up.
#[inline]
fn changes(device: DeviceIndex) -> Option<u64> {
    let mut changes = 0;
    for cache in StreamCache::all_of(device) {
        if cache.has_remote_frees() {
            return None;
        }
        changes += cache.memory().changes();
    }
    Some(changes)
}

/// Passes all figures of a device to a function that copies them, with a lock held: they are a kilobyte. Figures that
/// were read before are passed again as long as nothing has changed.
#[inline]
pub(crate) fn with_stats<R>(
    device: DeviceIndex,
    sleeping_bytes: i64,
    copy: impl FnOnce(&MemoryStats) -> R,
) -> R {
    let home = DeviceMemory::of(device);
    let mut last = home.reading();
    if let Some(caches) = changes(device) {
        let accounting = home.accounting.changes();
        let state = StateNumbers { caches, accounting, settings: settings::generation() };
        if let Some(stats) = last.of(state) {
            stats.sleeping_bytes = sleeping_bytes;
            return copy(stats);
        }
    }
    let stats = read(device, &mut last);
    stats.sleeping_bytes = sleeping_bytes;
    copy(stats)
}

#[inline(never)]
fn read(device: DeviceIndex, last: &mut LastReading) -> &mut MemoryStats {
    let (settings, max_split) = max_split();
    let (sums, caches) = sums(device);
    DeviceMemory::of(device).accounting.read(|accounting, changes| {
        let state = StateNumbers { caches, accounting: changes, settings };
        last.keep(state, accounting.stats(&sums, max_split))
    })
}

/// For the walker: figures that would be passed without being read are those that would be read.
pub(crate) fn check_last_reading(device: DeviceIndex) -> Result<(), String> {
    let passed = with_stats(device, 0, |stats| *stats);
    let mut none = LastReading::NONE;
    let now = *read(device, &mut none);
    if passed == now {
        return Ok(());
    }
    Err(format!("figures of device {device} are stale: {passed:?}, and now {now:?}"))
}

/// All peaks of a device become the current values.
pub(crate) fn reset_peaks(device: DeviceIndex) {
    let home = DeviceMemory::of(device);
    for cache in StreamCache::all_of(device) {
        let mut inner = cache.visit();
        home.accounting.lock().quotas.collect(&mut inner.heap.finished().stats);
    }
    let mut accounting = home.accounting.lock();
    accounting.quotas.forget_unspent();
    accounting.reset_own_peaks();
}

/// All sums of rises and falls of a device begin again.
pub(crate) fn reset_accumulated(device: DeviceIndex) {
    let home = DeviceMemory::of(device);
    let _reading = home.reading();
    let (sums, _) = sums(device);
    home.accounting.lock().reset_accumulated(&sums);
}

/// Bytes that callers hold, and bytes got from the driver.
pub(crate) fn bytes_in_use(device: DeviceIndex) -> (u64, u64) {
    let allocated = sums(device).0.value(ALLOCATED_BYTES);
    (allocated as u64, DeviceMemory::of(device).accounting.lock().reserved())
}

/// The statistics of the other caches of the cache's device. No thread is waited for.
impl OtherStreams for StreamCache {
    fn book_remote_frees(&self) {
        for cache in StreamCache::all_of(self.device()).filter(|cache| cache.has_remote_frees()) {
            drop(cache.try_visit());
        }
    }

    fn each_idle(&self, mut act: impl FnMut(&mut StreamStats)) {
        for cache in StreamCache::all_of(self.device()).filter(|cache| !std::ptr::eq(*cache, self))
        {
            if let Some(mut inner) = cache.memory().try_lock(owner_word()) {
                act(&mut inner.heap.finished().stats);
            }
        }
    }
}
