//! One device: its streams' caches, its ledger, and what makes a request take the long way.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::lock::{Mutex, MutexGuard, RwLock};
use once_cell::race::OnceRef;

use super::account::Account;
use super::cache::Cache;
use super::figures::MemoryStats;
use super::ledger::{Ledger, Sums};
use super::settings;
use crate::types::{DeviceIndex, MAX_DEVICES};

/// Threads that ask for room within this time of each other get more than they need.
const QUICK_SUCCESSION: Duration = Duration::from_micros(20);

/// The longest that somebody waits who looks at the driver's memory and the allocator's at once.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

static DEVICES: [DeviceCache; MAX_DEVICES] = [const { DeviceCache::new() }; MAX_DEVICES];

/// The caches of a device's streams, and what they have in common.
pub(super) struct DeviceCache {
    /// Blocks waiting for events, on all streams.
    waiting: AtomicUsize,
    /// Whether old blocks are collected.
    collects: AtomicBool,
    /// Requests to the large pool, counted while old blocks are collected.
    requests: AtomicU32,
    /// The device's memory in bytes; 0 while nothing has been allocated on it.
    pub(super) total_bytes: AtomicUsize,
    /// The device's first cache; each leads to the one made after it.
    first: OnceRef<'static, Cache>,
    pub(super) ledger: Mutex<Ledger>,
    /// Shared by those who get memory from the driver, until the ledger has it.
    pub(super) growing: RwLock<()>,
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
            collects: AtomicBool::new(false),
            requests: AtomicU32::new(0),
            total_bytes: AtomicUsize::new(0),
            first: OnceRef::new(),
            ledger: Mutex::new(Ledger::new()),
            growing: RwLock::new(()),
            rescue: Mutex::new(0),
            reading: Mutex::new(()),
        }
    }

    /// The part of a device.
    #[inline]
    pub(super) fn of(device: DeviceIndex) -> &'static DeviceCache {
        &DEVICES[device.as_usize()]
    }

    /// Whether nothing of the device makes requests take the long way.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0 && !self.collects.load(Ordering::Relaxed)
    }

    /// Whether blocks wait for events.
    pub(super) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    pub(super) fn add_waiting(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_waiting(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether old blocks are collected.
    pub(super) fn collects(&self) -> bool {
        self.collects.load(Ordering::Relaxed)
    }

    /// Counts a request to the large pool.
    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests to the large pool so far.
    #[inline]
    pub(super) fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Finds out again whether old blocks are collected: only with a limit and a threshold.
    pub(super) fn review(&self) {
        let ledger = self.ledger.lock();
        let threshold = settings::current().garbage_collection_threshold;
        self.collects.store(ledger.limit.is_some() && threshold > 0.0, Ordering::Relaxed);
    }

    /// Waits until no other thread waits for, or gives back, memory of the device. No cache and no
    /// ledger may be locked. The number tells how often it was done before.
    pub(super) fn rescue(&self) -> MutexGuard<'_, u64> {
        let mut rescues = self.rescue.lock();
        *rescues += 1;
        rescues
    }

    /// How often memory was waited for or given back, unless that is going on.
    pub(super) fn rescues(&self) -> Option<u64> {
        self.rescue.try_lock().map(|rescues| *rescues)
    }

    /// Every cache of the device, in the order they were made. Needs no lock: caches stay.
    pub(super) fn caches(&self) -> impl Iterator<Item = &'static Cache> {
        std::iter::successors(self.first.get(), |cache| cache.next.get())
    }

    /// Adds a cache. One thread at a time.
    pub(super) fn add(&self, cache: &'static Cache) {
        let end = self.caches().last().map_or(&self.first, |last| &last.next);
        let _ = end.set(cache);
    }

    /// Gives an account that has run out of room more of it. The account's cache is locked.
    pub(super) fn settle(&self, asking: &'static Cache, account: &mut Account) {
        super::contention::count_settlement();
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
    pub(super) fn stats(&self) -> MemoryStats {
        let _reading = self.reading.lock();
        let sums = self.sums();
        let max_split = settings::current().max_split_bytes;
        let max_split = (max_split != usize::MAX).then_some(max_split as u64);
        self.ledger.lock().stats(&sums, max_split)
    }

    /// All peaks become the values of now.
    pub(super) fn reset_peaks(&self) {
        for cache in self.caches() {
            let mut inner = cache.visit();
            self.ledger.lock().credit.collect(&mut inner.heap.account);
        }
        let mut ledger = self.ledger.lock();
        ledger.credit.forget_unspent();
        ledger.reset_own_peaks();
    }

    /// All sums of rises and falls begin again.
    pub(super) fn reset_accumulated(&self) {
        let _reading = self.reading.lock();
        let sums = self.sums();
        self.ledger.lock().reset_accumulated(&sums);
    }

    /// Bytes that callers hold, and bytes got from the driver.
    pub(super) fn in_use(&self) -> (u64, u64) {
        let sums = self.sums();
        let allocated = sums.value(super::account::ALL, super::account::ALLOCATED_BYTES);
        (allocated as u64, self.ledger.lock().reserved())
    }
}

/// What the allocator has got from the driver, and what `look` finds at the same moment: none of it is
/// just on its way. Only after a wait of 20 ms it is looked all the same.
pub(crate) fn reserved_as_seen<R>(device: DeviceIndex, look: impl FnOnce() -> R) -> (u64, R) {
    let home = DeviceCache::of(device);
    let _settled = home.growing.try_write_for(LONGEST_WAIT);
    let found = look();
    (home.ledger.lock().reserved(), found)
}
