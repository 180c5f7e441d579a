//! The recorded history: what happened to the memory of each device, in a ring that forgets the
//! oldest.
//!
//! Off at first. As in torch, turning it on again keeps what was recorded, and turning it off
//! clears it; turned on with fewer entries, the oldest are forgotten at once. Every device has its
//! own ring and lock: nothing else is taken while one is held.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Driver, StreamRef};

use super::nvtx_regions;
use super::snapshot::{Action, TraceEntry};
use crate::context::{Runtime, opened, refuse_forked_child};

/// What one device remembers.
struct HistoryRing {
    /// How many entries there may be; 0 while history is off.
    most: usize,
    entries: VecDeque<TraceEntry>,
}

impl HistoryRing {
    const fn new() -> HistoryRing {
        HistoryRing { most: 0, entries: VecDeque::new() }
    }

    fn push(&mut self, entry: TraceEntry) {
        if self.most == 0 {
            return; // Turned off after the caller asked.
        }
        if self.entries.len() == self.most {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    fn resize(&mut self, most: usize) {
        self.most = most;
        if most == 0 {
            self.entries = VecDeque::new(); // Gives the memory back, too.
        } else {
            let surplus = self.entries.len().saturating_sub(most);
            self.entries.drain(..surplus);
        }
    }
}

/// The rings of all devices.
struct History {
    /// Whether anything is recorded, or the driver or a tool observes the blocks.
    on: AtomicBool,
    observed: AtomicBool,
    /// What the driver wants behind each block, and kept of freed blocks of each stream.
    guard_bytes: AtomicUsize,
    quarantine_bytes: AtomicUsize,
    /// Held while it is turned on or off.
    setting: Mutex<rank::HistorySetting, ()>,
    rings: PerDevice<Mutex<rank::History, HistoryRing>>,
}

impl History {
    const fn new() -> History {
        History {
            on: AtomicBool::new(false),
            observed: AtomicBool::new(false),
            guard_bytes: AtomicUsize::new(0),
            quarantine_bytes: AtomicUsize::new(0),
            setting: Mutex::new(()),
            rings: per_device!(Mutex::new(HistoryRing::new())),
        }
    }

    fn set(&self, most: usize) {
        let _setting = self.setting.lock();
        for (_, ring) in self.rings.iter() {
            ring.lock().resize(most);
        }
        let is_followed = self.observed.load(Ordering::Relaxed) || nvtx_regions::are_wanted();
        let on = most != 0 || is_followed;
        self.on.store(on, Ordering::Relaxed);
    }

    fn observe(&self, driver: &dyn Driver) {
        let (observed, registered) = (driver.observes_blocks(), nvtx_regions::are_wanted());
        if !observed && !registered {
            return;
        }
        let gap = if registered { nvtx_regions::GAP } else { 0 };
        let _setting = self.setting.lock();
        if observed {
            self.quarantine_bytes.store(driver.quarantine_bytes(), Ordering::Relaxed);
        }
        let guard = if observed { driver.guard_bytes() } else { 0 };
        self.guard_bytes.store(guard.max(gap), Ordering::Relaxed);
        self.observed.store(observed, Ordering::Relaxed);
        self.on.store(true, Ordering::Relaxed);
    }

    fn record(&self, device: DeviceIndex, mut entry: TraceEntry) {
        let mut ring = self.rings[device].lock();
        // Under the lock, and also when the clock is set back: the times of one device never fall.
        let last = ring.entries.back().map_or(i64::MIN, |last| last.time_us);
        entry.time_us = now_us().max(last);
        ring.push(entry);
    }

    fn retract(&self, device: DeviceIndex, action: Action, address: u64) {
        let mut ring = self.rings[device].lock();
        let same = |entry: &TraceEntry| (entry.action, entry.address) == (action, address);
        if let Some(place) = ring.entries.iter().rposition(same) {
            ring.entries.remove(place);
        }
    }

    fn trace(&self, device: DeviceIndex) -> Vec<TraceEntry> {
        self.rings[device].lock().entries.iter().copied().collect()
    }
}

static HISTORY: History = History::new();

/// Microseconds since 1970.
fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Whether anything is recorded. One relaxed load: a thread that sees an old value records an entry
/// that is dropped, or misses one that happened at the same time.
#[inline]
pub(crate) fn is_on() -> bool {
    HISTORY.on.load(Ordering::Relaxed)
}

/// Reports blocks to the driver and to a tool of NVTX from now on, if they observe them. Called when a stream gets its
/// cache.
pub(crate) fn observe() {
    if let Some(driver) = opened().map(Runtime::driver) {
        HISTORY.observe(driver);
    }
}

/// How many bytes follow each block that are nobody's.
pub(crate) fn guard_bytes() -> usize {
    HISTORY.guard_bytes.load(Ordering::Relaxed)
}

/// How many bytes of freed blocks of each stream are kept from being handed out again.
pub(crate) fn quarantine_bytes() -> usize {
    HISTORY.quarantine_bytes.load(Ordering::Relaxed)
}

/// Reports that nothing uses a freed block any more.
pub(crate) fn report_unused(stream: StreamRef, address: u64, bytes: u64) {
    if let Some(driver) = observer() {
        driver.block_unused(stream, DevicePtr(address), bytes as usize);
    }
    nvtx_regions::unused(stream, address);
}

/// Reports that a freed block may be handed out again.
pub(crate) fn report_quarantine_ended(stream: StreamRef, address: u64) {
    if let Some(driver) = observer() {
        driver.quarantine_ended(stream, DevicePtr(address));
    }
}

/// The driver, if it observes the blocks.
fn observer() -> Option<&'static dyn Driver> {
    let observed = HISTORY.observed.load(Ordering::Relaxed);
    opened().filter(|_| observed).map(Runtime::driver)
}

/// Records an action on a stream's memory, and reports it to a driver that observes the blocks.
#[cold]
pub(crate) fn note(stream: StreamRef, action: Action, address: u64, bytes: u64, pool: u64) {
    if let Some(driver) = observer() {
        match action {
            Action::Alloc => driver.block_handed_out(stream, DevicePtr(address), bytes as usize),
            Action::FreeRequested => driver.block_taken_back(stream, DevicePtr(address)),
            _ => {}
        }
    }
    nvtx_regions::note(stream, action, address, bytes);
    record(stream.device, action, address, bytes, stream.handle.native() as u64, (0, pool));
}

/// Reports a use of a live block by another stream than its own.
pub(crate) fn report_use(stream: StreamRef, address: u64) {
    if let Some(driver) = observer() {
        driver.block_used(stream, DevicePtr(address));
    }
}

/// Turns the history of every device on, with the newest `max_entries` of each device kept, or off.
///
/// Turning on again keeps what was recorded; turning off clears it and ignores `max_entries`.
pub fn record_history(enabled: bool, max_entries: usize) -> Result<()> {
    if enabled && max_entries == 0 {
        return Err(Error::invalid_argument(
            "max_entries is 0; pass at least 1, or enabled = false to turn the history off",
        ));
    }
    refuse_forked_child()?;
    HISTORY.set(if enabled { max_entries } else { 0 });
    Ok(())
}

/// Adds an entry with the time of now. `address` is the free memory of the device with
/// [`Action::OutOfMemory`].
#[cold]
pub(crate) fn record(
    device: DeviceIndex,
    action: Action,
    address: u64,
    bytes: u64,
    stream: u64,
    pool_id: (u64, u64),
) {
    HISTORY.record(device, TraceEntry { action, address, bytes, stream, time_us: 0, pool_id });
}

/// Takes the newest entry for an address out again: what it says did not happen.
#[cold]
pub(crate) fn retract(device: DeviceIndex, action: Action, address: u64) {
    HISTORY.retract(device, action, address);
    if action == Action::SegmentFree {
        nvtx_regions::retract(address);
    }
}

/// What was recorded of a device, oldest first.
pub(crate) fn trace(device: DeviceIndex) -> Vec<TraceEntry> {
    HISTORY.trace(device)
}

#[cfg(test)]
mod tests {
    use sconce_base::error::Status;

    use super::*;

    fn entry(address: u64) -> TraceEntry {
        let action = Action::Alloc;
        TraceEntry { action, address, bytes: 512, stream: 0, time_us: 0, pool_id: (0, 0) }
    }

    fn device(index: i32) -> DeviceIndex {
        DeviceIndex::new(index).unwrap()
    }

    fn trace(history: &History, device: usize) -> Vec<TraceEntry> {
        history.trace(self::device(device as i32))
    }

    fn is_empty(history: &History) -> bool {
        history.rings.iter().all(|(device, _)| history.trace(device).is_empty())
    }

    fn addresses(history: &History, device: usize) -> Vec<u64> {
        trace(history, device).iter().map(|entry| entry.address).collect()
    }

    fn filled(most: usize, entries: std::ops::Range<u64>) -> History {
        let history = History::new();
        history.set(most);
        entries.for_each(|address| history.record(DeviceIndex::ZERO, entry(address)));
        history
    }

    #[test]
    fn the_newest_entries_are_kept_in_order() {
        assert_eq!(addresses(&filled(4, 0..3), 0), [0, 1, 2]);
        assert_eq!(addresses(&filled(4, 0..4), 0), [0, 1, 2, 3]);
        assert_eq!(addresses(&filled(4, 0..11), 0), [7, 8, 9, 10]);
        assert_eq!(addresses(&filled(1, 0..3), 0), [2]);
    }

    #[test]
    fn times_do_not_fall_and_are_of_now() {
        let before = now_us();
        let history = filled(100, 0..100);
        let times: Vec<i64> = trace(&history, 0).iter().map(|entry| entry.time_us).collect();
        assert!(times.is_sorted() && times[0] >= before && times[99] <= now_us());
        // Microseconds: between 2020 and 2100.
        assert!((1_577_836_800_000_000..4_102_444_800_000_000).contains(&before));
    }

    #[test]
    fn a_clock_that_is_set_back_stands_still() {
        let history = filled(2, 0..1);
        history.rings[DeviceIndex::ZERO].lock().entries[0].time_us = i64::MAX;
        history.record(DeviceIndex::ZERO, entry(1));
        assert_eq!(trace(&history, 0)[1].time_us, i64::MAX);
    }

    #[test]
    fn devices_have_rings_of_their_own() {
        let history = filled(2, 0..3);
        history.record(device(3), entry(33));
        assert_eq!(addresses(&history, 0), [1, 2]);
        assert_eq!(addresses(&history, 1), []);
        assert_eq!(addresses(&history, 3), [33]);
    }

    #[test]
    fn on_again_keeps_fewer_forgets_the_oldest_and_off_clears() {
        let history = filled(4, 0..4);
        history.set(6);
        history.record(DeviceIndex::ZERO, entry(4));
        assert_eq!(addresses(&history, 0), [0, 1, 2, 3, 4]);
        history.set(2);
        assert_eq!(addresses(&history, 0), [3, 4]);
        history.record(DeviceIndex::ZERO, entry(5));
        assert_eq!(addresses(&history, 0), [4, 5]);
        history.set(0);
        assert!(is_empty(&history));
        // An entry of a thread that had asked before.
        history.record(DeviceIndex::ZERO, entry(6));
        history.set(2);
        assert!(is_empty(&history));
    }

    #[test]
    fn a_retracted_entry_is_gone_and_no_other() {
        let history = filled(8, 0..3);
        history.record(DeviceIndex::ZERO, entry(1));
        history.record(DeviceIndex::ZERO, entry(3));
        history.retract(DeviceIndex::ZERO, Action::SegmentFree, 1);
        history.retract(device(1), Action::Alloc, 1);
        assert_eq!(addresses(&history, 0), [0, 1, 2, 1, 3]);
        history.retract(DeviceIndex::ZERO, Action::Alloc, 1);
        assert_eq!(addresses(&history, 0), [0, 1, 2, 3]);
        history.retract(DeviceIndex::ZERO, Action::Alloc, 7);
        assert_eq!(addresses(&history, 0), [0, 1, 2, 3]);
    }

    #[test]
    fn threads_that_record_at_once_lose_nothing() {
        let history = History::new();
        history.set(10_000);
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let history = &history;
                scope.spawn(move || {
                    for i in 0..500 {
                        history.record(device((i % 2) as i32), entry(thread * 1000 + i));
                    }
                });
            }
        });
        let mut all: Vec<u64> = (0..2).flat_map(|index| addresses(&history, index)).collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..4).flat_map(|t| t * 1000..t * 1000 + 500).collect();
        assert_eq!(all, expected);
    }

    /// The only test here that touches the process's own history, at a device that no other has.
    #[test]
    fn the_switch_refuses_a_ring_without_entries() {
        assert!(!is_on());
        let refused = record_history(true, 0).unwrap_err();
        assert_eq!(refused.status(), Status::InvalidArgument);
        assert!(refused.message().contains("max_entries") && !is_on());
        record_history(true, 3).unwrap();
        assert!(is_on());
        record(device(63), Action::OutOfMemory, 7, 9, 5, (2, 0));
        let found = super::trace(device(63))[0];
        assert_eq!((found.action, found.address, found.bytes), (Action::OutOfMemory, 7, 9));
        assert_eq!((found.stream, found.pool_id), (5, (2, 0)));
        record_history(false, 0).unwrap();
        assert!(!is_on() && super::trace(device(63)).is_empty());
    }
}
