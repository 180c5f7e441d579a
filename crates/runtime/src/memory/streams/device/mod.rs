//! The state of a device that its caches share: the statistics, the locks, and what makes a request take the
//! slow path. Nothing here knows the caches.
//!
//! | file | idea |
//! |---|---|
//! | `gate` | the lock that every segment passes on its way from or to the driver |
//! | `rescue` | the lock that serialises what is done when memory has run out |

pub(crate) mod gate;
mod rescue;

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use self::gate::{ExclusivePassage, SegmentGate};
pub(crate) use self::rescue::Rescue;
use sconce_base::collections::per_device::PerDevice;
use sconce_base::lock::rank;
use sconce_base::sync::shared_static;
use sconce_base::types::DeviceIndex;

use self::rescue::RescueLock;
use crate::caching::{Guard, Lock, settings};
use crate::memory::figures::device_accounting::DeviceAccountingLock;
use crate::memory::figures::last_reading::LastReading;
use crate::stream::GivingBack;

/// Bits of [`DeviceMemory::detours`]: old blocks are collected; the device is closed to requests; its default pool is
/// asleep.
const COLLECTS: u32 = 1;
const CLOSED: u32 = 2;
const ASLEEP: u32 = 4;

shared_static! {
    static DEVICES: PerDevice<DeviceMemory> = sconce_base::collections::per_device::per_device!(DeviceMemory::new());
}

/// The caches of a device's streams, and what they have in common.
pub(crate) struct DeviceMemory {
    /// Blocks waiting for events, on all streams.
    waiting: AtomicUsize,
    /// Other reasons for requests to take the slow path: [`COLLECTS`], [`CLOSED`], [`ASLEEP`].
    detours: AtomicU32,
    /// Requests to the large pool, counted while old blocks are collected.
    requests: AtomicU32,
    /// The device's memory in bytes; 0 while nothing has been allocated on it.
    pub(crate) total_bytes: AtomicUsize,
    pub(crate) accounting: DeviceAccountingLock,
    /// Passed by every segment that comes from the driver or goes back to it.
    pub(crate) gate: SegmentGate,
    /// Serialises rescues: waiting for deferred frees, and returning segments to the driver.
    rescue: RescueLock,
    reading: Lock<rank::Reading, LastReading>,
}

impl DeviceMemory {
    #[cfg(not(loom))]
    const fn new() -> DeviceMemory {
        DeviceMemory {
            waiting: AtomicUsize::new(0),
            detours: AtomicU32::new(0),
            requests: AtomicU32::new(0),
            total_bytes: AtomicUsize::new(0),
            accounting: DeviceAccountingLock::new(),
            gate: SegmentGate::new(),
            rescue: RescueLock::new(),
            reading: Lock::new(LastReading::NONE),
        }
    }

    /// The part of a device.
    #[inline]
    pub(crate) fn of(device: DeviceIndex) -> &'static DeviceMemory {
        &DEVICES[device]
    }

    /// False while the state of the device makes requests take the slow path.
    #[inline]
    pub(crate) fn allows_fast_path(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0 && self.detours.load(Ordering::Relaxed) == 0
    }

    /// Whether blocks wait for events.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// The number of blocks that wait for events, which the caches of the device count.
    pub(crate) fn waiting(&self) -> &AtomicUsize {
        &self.waiting
    }

    /// Whether old blocks are collected.
    pub(crate) fn collects(&self) -> bool {
        self.detours.load(Ordering::Relaxed) & COLLECTS != 0
    }

    /// Closes the device to requests: those that begin from now on wait until the result is dropped,
    /// even for cached blocks. Frees go on. The gate is held exclusively. No cache and no statistics may
    /// be locked.
    pub(crate) fn close(&self) -> ClosedDevice<'_> {
        let exclusive = self.gate.exclusive();
        self.detours.fetch_or(CLOSED, Ordering::Relaxed);
        ClosedDevice { home: self, exclusive }
    }

    /// Waits while the device is closed to requests.
    #[inline]
    pub(crate) fn wait_until_open(&self) {
        if self.detours.load(Ordering::Relaxed) & CLOSED != 0 {
            drop(self.gate.shared());
        }
    }

    /// Notes whether the default pool is asleep. Requests take the slow path then, and are refused there.
    pub(crate) fn set_asleep(&self, asleep: bool) {
        if asleep {
            self.detours.fetch_or(ASLEEP, Ordering::Relaxed);
        } else {
            self.detours.fetch_and(!ASLEEP, Ordering::Relaxed);
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
        let accounting = self.accounting.lock();
        let threshold = settings::current().garbage_collection_threshold;
        if accounting.limit.is_some() && threshold > 0.0 {
            self.detours.fetch_or(COLLECTS, Ordering::Relaxed);
        } else {
            self.detours.fetch_and(!COLLECTS, Ordering::Relaxed);
        }
    }

    /// Begins a rescue, once no other thread is in one on this device. No cache and no statistics may be
    /// locked, and the thread has asked before whether it may give back.
    pub(crate) fn rescue(&self, asked_before: Option<&GivingBack<'_>>) -> Rescue<'_> {
        self.rescue.begin(asked_before)
    }

    /// The number of rescues so far; `None` while one is going on.
    pub(crate) fn rescues(&self) -> Option<u64> {
        self.rescue.count()
    }

    /// Counts that all streams were waited for.
    pub(crate) fn count_sync(&self) {
        self.accounting.lock().num_sync_all_streams += 1;
    }

    /// Held while sums are read or begin again, so that no reader sees half of a reset.
    #[inline]
    pub(in crate::memory::streams) fn reading(&self) -> Guard<'_, rank::Reading, LastReading> {
        self.reading.lock()
    }
}

/// A device that is closed to requests. Dropped, it opens.
pub(crate) struct ClosedDevice<'a> {
    home: &'a DeviceMemory,
    pub(crate) exclusive: ExclusivePassage<'a>,
}

impl Drop for ClosedDevice<'_> {
    fn drop(&mut self) {
        self.home.detours.fetch_and(!CLOSED, Ordering::Relaxed);
    }
}

/// The bytes that the allocator has got from the driver, and what `look` returns at the same moment, with no
/// segment on its way. Waits for driver allocations in flight. The calling thread must not hold the gate.
pub fn reserved_as_seen<R>(device: DeviceIndex, look: impl FnOnce() -> R) -> (u64, R) {
    let home = DeviceMemory::of(device);
    let _gate = home.gate.exclusive();
    let found = look();
    (home.accounting.lock().reserved(), found)
}
