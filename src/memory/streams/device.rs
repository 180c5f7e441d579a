//! One device: its streams' caches, its ledger, and what makes a request take the long way.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use once_cell::race::OnceRef;

use super::cache::{Cache, Entered};
use super::gate::{Exclusive, Gate};
use crate::caching::settings;
use crate::lock::{Mutex, MutexGuard};
use crate::memory::figures::MemoryStats;
use crate::memory::figures::account::Account;
use crate::memory::figures::ledger::{Ledger, Sums};
use crate::per_device::{PerDevice, per_device};
use crate::types::DeviceIndex;

/// Threads that ask for room within this time of each other get more than they need.
const QUICK_SUCCESSION: Duration = Duration::from_micros(20);

/// Bits of [`DeviceCache::detours`]: old blocks are collected; the device is closed to requests.
const COLLECTS: u32 = 1;
const CLOSED: u32 = 2;

static DEVICES: PerDevice<DeviceCache> = per_device!(DeviceCache::new());

/// The right to wait for the device's pending blocks and to give its memory back. The number says how
/// often a thread has had it.
pub(crate) type Rescue<'a> = MutexGuard<'a, u64>;

/// The caches of a device's streams, and what they have in common.
pub(crate) struct DeviceCache {
    /// Blocks waiting for events, on all streams.
    waiting: AtomicUsize,
    /// Other reasons for requests to take the long way: [`COLLECTS`], [`CLOSED`].
    detours: AtomicU32,
    /// Requests to the large pool, counted while old blocks are collected.
    requests: AtomicU32,
    /// The device's memory in bytes; 0 while nothing has been allocated on it.
    pub(crate) total_bytes: AtomicUsize,
    /// The device's first cache; each leads to the one made after it.
    first: OnceRef<'static, Cache>,
    pub(crate) ledger: Mutex<Ledger>,
    /// Passed by every segment that comes from the driver or goes back to it.
    pub(crate) gate: Gate,
    /// Held by the thread that waits for, or gives back, the device's memory: who looks meanwhile
    /// would find neither the memory nor the driver's. How often that was done.
    rescue: Mutex<u64>,
    /// Held while sums are read or begin again, so that neither sees half of the other.
    reading: Mutex<()>,
}

impl DeviceCache {
    const fn new() -> DeviceCache {
        DeviceCache {
            waiting: AtomicUsize::new(0),
            detours: AtomicU32::new(0),
            requests: AtomicU32::new(0),
            total_bytes: AtomicUsize::new(0),
            first: OnceRef::new(),
            ledger: Mutex::new(Ledger::new()),
            gate: Gate::new(),
            rescue: Mutex::new(0),
            reading: Mutex::new(()),
        }
    }

    /// The part of a device.
    #[inline]
    pub(crate) fn of(device: DeviceIndex) -> &'static DeviceCache {
        &DEVICES[device]
    }

    /// Whether nothing of the device makes requests take the long way.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0 && self.detours.load(Ordering::Relaxed) == 0
    }

    /// Whether blocks wait for events.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Whether blocks wait for events, or are parked.
    pub(crate) fn has_delayed(&self) -> bool {
        self.has_waiting() || self.caches().any(Cache::has_parked)
    }

    pub(crate) fn add_waiting(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove_waiting(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether old blocks are collected.
    pub(crate) fn collects(&self) -> bool {
        self.detours.load(Ordering::Relaxed) & COLLECTS != 0
    }

    /// Closes the device to requests: those that begin from now on wait until the result is dropped,
    /// even for cached blocks. Frees go on. The gate is held exclusively. No cache and no ledger may
    /// be locked.
    pub(crate) fn close(&self) -> Closed<'_> {
        let exclusive = self.gate.exclusive();
        self.detours.fetch_or(CLOSED, Ordering::Relaxed);
        Closed { home: self, exclusive }
    }

    /// Waits while the device is closed to requests.
    #[inline]
    pub(crate) fn wait_until_open(&self) {
        if self.detours.load(Ordering::Relaxed) & CLOSED != 0 {
            drop(self.gate.shared());
        }
    }

    /// Counts a request to the large pool.
    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests to the large pool so far.
    #[inline]
    pub(crate) fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Finds out again whether old blocks are collected: only with a limit and a threshold.
    pub(crate) fn review(&self) {
        let ledger = self.ledger.lock();
        let threshold = settings::current().garbage_collection_threshold;
        if ledger.limit.is_some() && threshold > 0.0 {
            self.detours.fetch_or(COLLECTS, Ordering::Relaxed);
        } else {
            self.detours.fetch_and(!COLLECTS, Ordering::Relaxed);
        }
    }

    /// Waits until no other thread waits for, or gives back, memory of the device. No cache and no
    /// ledger may be locked. The number tells how often it was done before.
    pub(crate) fn rescue(&self) -> Rescue<'_> {
        let mut rescues = self.rescue.lock();
        *rescues += 1;
        rescues
    }

    /// How often memory was waited for or given back, unless that is going on.
    pub(crate) fn rescues(&self) -> Option<u64> {
        self.rescue.try_lock().map(|rescues| *rescues)
    }

    /// Every cache of the device, in the order they were made. Needs no lock: caches stay.
    pub(crate) fn caches(&self) -> impl Iterator<Item = &'static Cache> {
        std::iter::successors(self.first.get(), |cache| cache.next.get())
    }

    /// Locks every cache of the device at once, with the frees of other threads taken up. No request
    /// gets memory until the result is dropped. One thread at a time can do so, which is what the
    /// gate is for: two of them would wait for each other.
    pub(crate) fn lock_all(&self, _: &Exclusive<'_>) -> Vec<(&'static Cache, Entered)> {
        // First one after the other: a cache that takes up frees may need room in the account of
        // others, which it only gets of those that are not locked.
        self.caches().for_each(|cache| drop(cache.visit()));
        self.caches().map(|cache| (cache, cache.visit())).collect()
    }

    /// Counts that all streams were waited for.
    pub(crate) fn count_sync(&self) {
        self.ledger.lock().num_sync_all_streams += 1;
    }

    /// Adds a cache. One thread at a time.
    pub(crate) fn add(&self, cache: &'static Cache) {
        let end = self.caches().last().map_or(&self.first, |last| &last.next);
        let _ = end.set(cache);
    }

    /// Gives an account that has run out of room more of it. The account's cache is locked.
    pub(crate) fn settle(&self, asking: &'static Cache, account: &mut Account) {
        crate::caching::count_settlement();
        if self.ledger.lock().credit.grant(account) {
            return;
        }
        // What was freed on other streams counts as freed, whoever freed it.
        for cache in self.caches().filter(|cache| cache.has_remote_frees()) {
            drop(cache.try_visit());
        }
        let mut ledger = self.ledger.lock();
        if ledger.credit.grant(account) {
            return;
        }
        let (token, now) = (crate::thread_state::token(), Instant::now());
        let hurried = ledger
            .last_settled
            .is_some_and(|(other, when)| other != token && now - when < QUICK_SUCCESSION);
        if !hurried {
            for cache in self.caches().filter(|cache| !std::ptr::eq(*cache, asking)) {
                if let Some(mut inner) = cache.try_lock() {
                    inner.heap.cool();
                    ledger.credit.take_back(&mut inner.heap.account, account);
                }
            }
        }
        ledger.credit.raise(account, hurried);
        ledger.last_settled = Some((token, now));
    }

    /// The sums over all streams.
    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for cache in self.caches() {
            sums.add(&cache.visit().heap.account);
        }
        sums
    }

    /// All figures.
    pub(crate) fn stats(&self) -> MemoryStats {
        let _reading = self.reading.lock();
        let sums = self.sums();
        let max_split = settings::current().max_split_bytes;
        let max_split = (max_split != usize::MAX).then_some(max_split as u64);
        self.ledger.lock().stats(&sums, max_split)
    }

    /// All peaks become the values of now.
    pub(crate) fn reset_peaks(&self) {
        for cache in self.caches() {
            let mut inner = cache.visit();
            self.ledger.lock().credit.collect(&mut inner.heap.account);
        }
        let mut ledger = self.ledger.lock();
        ledger.credit.forget_unspent();
        ledger.reset_own_peaks();
    }

    /// All sums of rises and falls begin again.
    pub(crate) fn reset_accumulated(&self) {
        let _reading = self.reading.lock();
        let sums = self.sums();
        self.ledger.lock().reset_accumulated(&sums);
    }

    /// Bytes that callers hold, and bytes got from the driver.
    pub(crate) fn in_use(&self) -> (u64, u64) {
        let sums = self.sums();
        let allocated = sums.value(
            crate::memory::figures::account::ALL,
            crate::memory::figures::account::ALLOCATED_BYTES,
        );
        (allocated as u64, self.ledger.lock().reserved())
    }
}

/// A device that is closed to requests. Dropped, it opens.
pub(crate) struct Closed<'a> {
    home: &'a DeviceCache,
    pub(crate) exclusive: Exclusive<'a>,
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.home.detours.fetch_and(!CLOSED, Ordering::Relaxed);
    }
}

/// The bytes that the allocator has got from the driver, and what `look` finds at the same moment, with no
/// segment on its way. Waits for driver allocations in flight. The calling thread must not hold the gate.
pub(crate) fn reserved_as_seen<R>(device: DeviceIndex, look: impl FnOnce() -> R) -> (u64, R) {
    let home = DeviceCache::of(device);
    let _settled = home.gate.exclusive();
    let found = look();
    (home.ledger.lock().reserved(), found)
}
