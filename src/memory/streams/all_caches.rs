//! What concerns all caches of a device at once: locking them together, and their sums.

use super::cache::{LockedCache, StreamCache};
use super::device::DeviceMemory;
use super::gate::ExclusivePassage;
use crate::caching::settings;
use crate::memory::figures::MemoryStats;
use crate::memory::figures::account::{ALL, ALLOCATED_BYTES, Account};
use crate::memory::figures::ledger::Sums;
use crate::memory::figures::settle::OtherAccounts;
use crate::types::DeviceIndex;

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
    // First one after the other: a cache that takes up frees may need room in the account of others,
    // which it only gets of those that are not locked.
    StreamCache::all_of(device).for_each(|cache| drop(cache.visit()));
    StreamCache::all_of(device).map(|cache| (cache, cache.visit())).collect()
}

/// The sums over all streams of a device.
fn sums(device: DeviceIndex) -> Sums {
    let mut sums = Sums::default();
    for cache in StreamCache::all_of(device) {
        sums.add(&cache.visit().heap.account);
    }
    sums
}

/// All figures of a device.
pub(crate) fn stats(device: DeviceIndex) -> MemoryStats {
    let home = DeviceMemory::of(device);
    let _reading = home.reading();
    let sums = sums(device);
    let max_split = settings::current().max_split_bytes;
    let max_split = (max_split != usize::MAX).then_some(max_split as u64);
    home.ledger.lock().stats(&sums, max_split)
}

/// All peaks of a device become the current values.
pub(crate) fn reset_peaks(device: DeviceIndex) {
    let home = DeviceMemory::of(device);
    for cache in StreamCache::all_of(device) {
        let mut inner = cache.visit();
        home.ledger.lock().credit.collect(&mut inner.heap.account);
    }
    let mut ledger = home.ledger.lock();
    ledger.credit.forget_unspent();
    ledger.reset_own_peaks();
}

/// All sums of rises and falls of a device begin again.
pub(crate) fn reset_accumulated(device: DeviceIndex) {
    let home = DeviceMemory::of(device);
    let _reading = home.reading();
    let sums = sums(device);
    home.ledger.lock().reset_accumulated(&sums);
}

/// Bytes that callers hold, and bytes got from the driver.
pub(crate) fn bytes_in_use(device: DeviceIndex) -> (u64, u64) {
    let allocated = sums(device).value(ALL, ALLOCATED_BYTES);
    (allocated as u64, DeviceMemory::of(device).ledger.lock().reserved())
}

/// The accounts of the other caches of the cache's device. No thread is waited for.
impl OtherAccounts for StreamCache {
    fn book_remote_frees(&self) {
        for cache in StreamCache::all_of(self.device()).filter(|cache| cache.has_remote_frees()) {
            drop(cache.try_visit());
        }
    }

    fn each_idle(&self, mut act: impl FnMut(&mut Account)) {
        for cache in StreamCache::all_of(self.device()).filter(|cache| !std::ptr::eq(*cache, self))
        {
            if let Some(mut inner) = cache.try_lock() {
                inner.heap.finish_last();
                act(&mut inner.heap.account);
            }
        }
    }
}
