//! Guard zones behind blocks, and what freed blocks are filled with: for kernels of which nothing is known.
//!
//! Everything is done in the order of the block's stream, and the host waits for nothing. A zone is filled when its
//! block is handed out. When nothing uses the freed block any more, the zone is copied to memory of the host, and the
//! block is filled with bytes that are no number in any floating-point type. The copy is compared when the host has
//! learnt, in whatever way, that it is done.
//!
//! Nothing of it is done while a stream is being captured: a zone that could not be filled or read is not checked.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, OnceCell, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    CaptureStatus, Driver, HostRange, RelaxedCapture, StreamFlags, StreamHandle, StreamRef,
};

use super::CheckedDriver;
use crate::checker::Overwritten;
use crate::clock::Epoch;

/// What zones are filled with, and freed blocks.
pub(crate) const GUARD: u8 = 0xA5;
pub(crate) const FREED: u8 = 0xFF;
/// Blocks of the allocator are multiples of this: what is left of a block belongs to its zone.
const UNIT: usize = 512;
/// How many copies of zones the host has yet to compare, at most. Zones of blocks that are freed while there are more
/// are not checked.
const MOST_WAITING: usize = 1024;

/// The zone behind a live block.
#[derive(Clone, Copy)]
pub(super) struct Zone {
    /// No other zone has it.
    number: u64,
    start: u64,
    bytes: usize,
    stream: StreamRef,
}

/// A copy of a zone that is on its way to the host.
struct Waiting {
    slot: usize,
    zone: Zone,
    /// When it is done.
    epoch: Epoch,
    found: Overwritten,
}

#[derive(Default)]
struct State {
    /// By the addresses of their blocks.
    zones: BTreeMap<u64, Zone>,
    /// How many zones there have been.
    made: u64,
    /// Zones of live blocks of which a copy is under way.
    reading: Vec<Zone>,
    waiting: VecDeque<Waiting>,
    free_slots: Vec<usize>,
}

/// The guard zones of all blocks.
pub(crate) struct Guards {
    bytes: usize,
    state: Mutex<rank::SanitizerGuards, State>,
    /// Where zones are copied to.
    slots: OnceCell<rank::SanitizerSlots, Option<&'static [AtomicU64]>>,
    /// How many captures there are. It is held while work is queued here, so that none begins meanwhile: work on the
    /// legacy default stream would end it.
    captures: Mutex<rank::SanitizerCaptures, usize>,
    /// The streams that read the zones of live blocks.
    readers: Mutex<rank::SanitizerSlots, BTreeMap<DeviceIndex, StreamHandle>>,
}

impl Guards {
    pub(crate) fn new(bytes: usize) -> Guards {
        Guards {
            bytes,
            state: Mutex::default(),
            slots: OnceCell::new(),
            captures: Mutex::default(),
            readers: Mutex::default(),
        }
    }

    /// Begins a capture.
    pub(super) fn capture_begins<T>(&self, begin: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut captures = self.captures.lock();
        let begun = begin()?;
        *captures += 1;
        Ok(begun)
    }

    pub(super) fn capture_ended(&self) {
        let mut captures = self.captures.lock();
        *captures = captures.saturating_sub(1);
    }

    /// The most bytes of a zone: a multiple of what slots are made of.
    fn slot_bytes(&self) -> usize {
        (self.bytes + UNIT).next_multiple_of(size_of::<u64>())
    }

    fn slot(&self, slots: &'static [AtomicU64], slot: usize) -> &'static [AtomicU64] {
        let words = self.slot_bytes() / size_of::<u64>();
        &slots[slot * words..(slot + 1) * words]
    }

    /// Memory that devices may write. `None` if it cannot be registered.
    fn slots(&self, driver: &dyn Driver, device: DeviceIndex) -> Option<&'static [AtomicU64]> {
        *self.slots.get_or_init(|| {
            let words = MOST_WAITING * self.slot_bytes() / size_of::<u64>();
            let slots: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
            let slots: &'static [AtomicU64] = slots.leak();
            let range = HostRange::of_static(slots);
            driver.host_register(device, range.raw(), range.bytes()).ok()?;
            self.state.lock().free_slots = (0..MOST_WAITING).collect();
            Some(slots)
        })
    }

    /// A place for a copy of a zone.
    fn take_slot(&self, driver: &dyn Driver, device: DeviceIndex) -> Option<(usize, HostRange)> {
        let slots = self.slots(driver, device)?;
        let slot = self.state.lock().free_slots.pop()?;
        // A copy that never runs, as on a device that has failed, finds nothing.
        let guard = u64::from_ne_bytes([GUARD; size_of::<u64>()]);
        let words = self.slot(slots, slot);
        words.iter().for_each(|word| word.store(guard, Ordering::Relaxed));
        Some((slot, HostRange::of_static(words)))
    }

    /// Gives back a slot, and returns the bytes of the copy in it that differ from the guard's: the first one, and how
    /// many lie from it to the last one.
    fn damage(&self, state: &mut State, slot: usize, bytes: usize) -> Option<(u64, u64)> {
        let slots = self.slots.get().copied().flatten()?;
        state.free_slots.push(slot);
        let words = self.slot(slots, slot).iter().map(|word| word.load(Ordering::Relaxed));
        let all: Vec<u8> = words.flat_map(u64::to_ne_bytes).take(bytes).collect();
        let first = all.iter().position(|byte| *byte != GUARD)?;
        let last = all.iter().rposition(|byte| *byte != GUARD)?;
        Some((first as u64, (last - first + 1) as u64))
    }
}

impl CheckedDriver {
    pub(super) fn guards_of_blocks(&self) -> usize {
        self.guards.bytes
    }

    fn guards_blocks(&self) -> bool {
        self.guards.bytes != 0 && self.sanitizer.is_enabled()
    }

    /// Whether work may be queued on a stream for the checks' own sake: one that other code made may be gone.
    fn is_ours(&self, stream: StreamRef) -> bool {
        let is_default = stream.handle == StreamHandle::DEFAULT;
        is_default || self.sanitizer.checker.lock().knows_stream(stream)
    }

    /// Whether a stream takes work that is no part of a capture: other code may have begun one.
    fn runs(&self, stream: StreamRef) -> bool {
        let status = self.inner.stream_capture_status(stream);
        status.is_ok_and(|status| status == CaptureStatus::None)
    }

    /// Fills the zone behind a block that is handed out.
    pub(super) fn guard(&self, stream: StreamRef, block: DevicePtr, bytes: usize) {
        if !self.guards_blocks() || !self.is_ours(stream) {
            return;
        }
        let start = block.0 + bytes as u64;
        let bytes = bytes.next_multiple_of(UNIT) - bytes + self.guards.bytes;
        let captures = self.guards.captures.lock();
        let is_filled = *captures == 0
            && self.runs(stream)
            && self.inner.fill_async(DevicePtr(start), GUARD, bytes, stream).is_ok();
        drop(captures);
        let mut state = self.guards.state.lock();
        if is_filled {
            state.made += 1;
            let number = state.made;
            state.zones.insert(block.0, Zone { number, start, bytes, stream });
        } else {
            state.zones.remove(&block.0);
        }
    }

    /// Nothing uses a freed block any more: its zone is read, and the block is filled.
    pub(super) fn poison(&self, stream: StreamRef, block: DevicePtr, bytes: usize) {
        if self.guards.bytes == 0 {
            return;
        }
        let zone = self.guards.state.lock().zones.remove(&block.0);
        let Some(zone) = zone.filter(|_| self.guards_blocks() && self.is_ours(stream)) else {
            return;
        };
        // Memory of pages may be partly gone: what is not there is not filled. Nothing waits for an outcome.
        let slot = self.guards.take_slot(self.inner, stream.device);
        let found = self.sanitizer.checker.lock().overwritten(stream, block.0);
        let captures = self.guards.captures.lock();
        let runs = *captures == 0 && self.runs(stream);
        let is_read = runs
            && slot.is_some_and(|(_, range)| {
                let to = range.part(0, zone.bytes).raw();
                self.inner.copy_async(to, DevicePtr(zone.start).into(), zone.bytes, stream).is_ok()
            });
        if runs {
            let _ = self.inner.fill_async(block, FREED, bytes, stream);
        }
        drop(captures);
        let epoch = is_read.then(|| self.sanitizer.checker.lock().mark(stream));
        let mut state = self.guards.state.lock();
        match (slot, epoch) {
            (Some((slot, _)), Some(epoch)) => {
                state.waiting.push_back(Waiting { slot, zone, epoch, found });
            }
            // A zone that could not be read is not checked.
            (slot, _) => state.free_slots.extend(slot.map(|(slot, _)| slot)),
        }
    }

    /// Memory goes back to the driver, or falls asleep: so do zones in it, which are returned by the addresses of their
    /// blocks. None of them is being copied then.
    pub(super) fn take_zones(&self, address: u64, bytes: u64) -> BTreeMap<u64, Zone> {
        let _copies = self.guards.captures.lock();
        let mut state = self.guards.state.lock();
        let mut taken = state.zones.split_off(&address);
        state.zones.append(&mut taken.split_off(&(address + bytes)));
        taken
    }

    /// The driver has not taken the memory of zones back after all.
    pub(super) fn put_zones_back(&self, mut zones: BTreeMap<u64, Zone>) {
        self.guards.state.lock().zones.append(&mut zones);
    }

    /// Compares the copies that the library knows to be done.
    pub(super) fn compare_zones(&self) {
        if self.guards.bytes == 0 || self.guards.state.lock().waiting.is_empty() {
            return;
        }
        let known = self.sanitizer.checker.lock().library().clone();
        let mut found = Vec::new();
        {
            let mut state = self.guards.state.lock();
            let (done, waiting): (VecDeque<_>, _) = std::mem::take(&mut state.waiting)
                .into_iter()
                .partition(|it| known.knows(it.epoch));
            state.waiting = waiting;
            for Waiting { slot, zone, found: what, .. } in done {
                let damage = self.guards.damage(&mut state, slot, zone.bytes);
                found.extend(damage.map(|damage| (damage, zone, what)));
            }
        }
        for (damage, zone, what) in found {
            self.report_damage(damage, &zone, what);
        }
    }

    fn report_damage(&self, (offset, bytes): (u64, u64), zone: &Zone, what: Overwritten) {
        self.sanitizer.tell(|checker| checker.found_overwritten(zone.start + offset, bytes, what));
    }

    /// Waits, each time with `wait`, for the devices of all live blocks, and of freed ones whose zones are on their way, and compares all these
    /// zones.
    fn check_zones(&self, wait: &mut dyn FnMut(DeviceIndex) -> Result<()>) -> Result<()> {
        if !self.guards_blocks() {
            return Ok(());
        }
        let state = self.guards.state.lock();
        let zones: Vec<(u64, Zone)> =
            state.zones.iter().map(|(block, zone)| (*block, *zone)).collect();
        let copied = state.waiting.iter().map(|it| it.zone.stream.device);
        let mut devices: Vec<DeviceIndex> =
            zones.iter().map(|(_, zone)| zone.stream.device).chain(copied).collect();
        drop(state);
        devices.sort_unstable();
        devices.dedup();
        for device in devices {
            wait(device)?;
            let _relaxed = RelaxedCapture::enter(self.inner)?;
            let stream = self.reader(device)?;
            for (block, zone) in zones.iter().filter(|(_, zone)| zone.stream.device == device) {
                self.check_zone(*block, zone, stream)?;
            }
        }
        Ok(())
    }

    /// The stream that reads the zones of live blocks: others may be busy, and the default stream would end captures.
    fn reader(&self, device: DeviceIndex) -> Result<StreamRef> {
        let mut readers = self.guards.readers.lock();
        let handle = match readers.get(&device) {
            Some(handle) => *handle,
            None => {
                let flags = StreamFlags { non_blocking: true };
                let handle = self.inner.stream_create(device, flags, 0)?;
                *readers.entry(device).or_insert(handle)
            }
        };
        Ok(StreamRef { device, handle })
    }

    /// Waits until no zone in memory is read whose zones [`CheckedDriver::take_zones`] has taken. Locks of the allocator
    /// may be held: the thread that reads has only a copy to wait for, which depends on no other work, and needs none of
    /// them.
    pub(super) fn wait_for_readers(&self, address: u64, bytes: u64) {
        let is_inside = |zone: &Zone| (address..address + bytes).contains(&zone.start);
        while self.guards.state.lock().reading.iter().any(is_inside) {
            std::thread::yield_now();
        }
    }

    /// Compares the zone of a block, unless the block was freed meanwhile.
    fn check_zone(&self, block: u64, zone: &Zone, stream: StreamRef) -> Result<()> {
        let Some((slot, range)) = self.guards.take_slot(self.inner, stream.device) else {
            return Ok(());
        };
        let is_same = |state: &State| {
            state.zones.get(&block).is_some_and(|found| found.number == zone.number)
        };
        let captures = self.guards.captures.lock();
        let mut state = self.guards.state.lock();
        let is_read = is_same(&state);
        if is_read {
            state.reading.push(*zone);
        }
        drop(state);
        let queue = || {
            let to = range.part(0, zone.bytes).raw();
            self.inner.copy_async(to, DevicePtr(zone.start).into(), zone.bytes, stream)
        };
        let copied = if is_read { queue() } else { Ok(()) };
        drop(captures);
        let copied = copied.and_then(|()| self.inner.stream_synchronize(stream));
        let mut state = self.guards.state.lock();
        // Another thread may be reading it, too.
        if let Some(own) = state.reading.iter().position(|it| it.number == zone.number) {
            state.reading.swap_remove(own);
        }
        // Of a block that was freed meanwhile, the free compares the zone.
        let damage = self.guards.damage(&mut state, slot, zone.bytes).filter(|_| is_same(&state));
        // Reported once.
        if damage.is_some() {
            state.zones.remove(&block);
        }
        drop(state);
        copied?;
        if let Some(damage) = damage {
            let what = self.sanitizer.checker.lock().overwritten(zone.stream, block);
            self.report_damage(damage, zone, what);
        }
        Ok(())
    }
}

impl crate::Sanitizer {
    /// Waits for the devices of all live blocks and of those that were freed of late, and looks whether anything was
    /// written behind their ends.
    pub fn check(&self, wait: &mut dyn FnMut(DeviceIndex) -> Result<()>) -> Result<()> {
        self.front.get().map_or(Ok(()), |driver| driver.check_zones(wait))
    }
}
