//! Guard zones behind blocks, and what freed blocks are filled with: for kernels of which nothing is known.
//!
//! Everything is done in the order of the block's stream, and the host waits for nothing. A zone is filled when its
//! block is handed out. When nothing uses the freed block any more, the zone is copied to memory of the host, and the
//! block is filled with bytes that are no number in any floating-point type. The copy is compared when the library has
//! learnt, in whatever way, that it is done. What a freed block was filled with is compared in the same way when it
//! leaves the quarantine: nothing may have written it meanwhile.
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

/// So many bytes of each part are compared of a freed block that is larger than a slot.
const PART: usize = 64;

/// The zone behind a live block, or all of a freed one.
#[derive(Clone, Copy)]
pub(super) struct Zone {
    /// No other zone has it.
    number: u64,
    start: u64,
    bytes: usize,
    stream: StreamRef,
    /// What it is filled with.
    fill: u8,
}

impl Zone {
    /// The rows that are compared, all or as many as a slot has room for: how far apart they are, how long each is, and
    /// how many.
    fn rows(&self, slot_bytes: usize) -> (usize, usize, usize) {
        let parts = slot_bytes / PART;
        if self.bytes <= slot_bytes || parts < 2 {
            let bytes = self.bytes.min(slot_bytes);
            (bytes, bytes, 1)
        } else {
            ((self.bytes - PART) / (parts - 1), PART, parts)
        }
    }

    /// The address of a byte of the copy.
    fn address(&self, slot_bytes: usize, offset: usize) -> u64 {
        let (pitch, width, _) = self.rows(slot_bytes);
        self.start + (offset / width * pitch + offset % width) as u64
    }
}

/// A copy of a zone that is on its way to the host.
struct Waiting {
    slot: usize,
    zone: Zone,
    /// When it is done.
    epoch: Epoch,
    found: Overwritten,
}

impl State {
    /// A new zone.
    fn zone(&mut self, start: u64, bytes: usize, stream: StreamRef, fill: u8) -> Zone {
        self.made += 1;
        Zone { number: self.made, start, bytes, stream, fill }
    }

    /// The zones of live blocks, or the freed blocks.
    fn like(&mut self, zone: &Zone) -> &mut BTreeMap<u64, Zone> {
        if zone.fill == FREED { &mut self.freed } else { &mut self.zones }
    }
}

#[derive(Default)]
struct State {
    /// By the addresses of their blocks.
    zones: BTreeMap<u64, Zone>,
    /// Freed blocks that are filled, and not handed out yet, by their addresses.
    freed: BTreeMap<u64, Zone>,
    /// How many zones there have been.
    made: u64,
    /// Zones of which a copy is under way.
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

    /// A place for a copy of a zone that is filled with some byte.
    fn take_slot(
        &self,
        driver: &dyn Driver,
        device: DeviceIndex,
        fill: u8,
    ) -> Option<(usize, HostRange)> {
        let slots = self.slots(driver, device)?;
        let slot = self.state.lock().free_slots.pop()?;
        // A copy that never runs, as on a device that has failed, finds nothing.
        let guard = u64::from_ne_bytes([fill; size_of::<u64>()]);
        let words = self.slot(slots, slot);
        words.iter().for_each(|word| word.store(guard, Ordering::Relaxed));
        Some((slot, HostRange::of_static(words)))
    }

    /// Gives back a slot, and returns the bytes of the copy in it that differ from what its zone is filled with: the
    /// address of the first one, and how many lie from it to the last one.
    fn damage(&self, state: &mut State, slot: usize, zone: &Zone) -> Option<(u64, u64)> {
        let slots = self.slots.get().copied().flatten()?;
        state.free_slots.push(slot);
        let (_, width, height) = zone.rows(self.slot_bytes());
        let words = self.slot(slots, slot).iter().map(|word| word.load(Ordering::Relaxed));
        let all: Vec<u8> = words.flat_map(u64::to_ne_bytes).take(width * height).collect();
        let first = all.iter().position(|byte| *byte != zone.fill)?;
        let last = all.iter().rposition(|byte| *byte != zone.fill)?;
        let [first, last] = [first, last].map(|at| zone.address(self.slot_bytes(), at));
        Some((first, last - first + 1))
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

    /// Copies what is compared of a zone.
    fn copy_zone(&self, zone: &Zone, range: &HostRange, stream: StreamRef) -> Result<()> {
        let (pitch, width, height) = zone.rows(self.guards.slot_bytes());
        let to = range.part(0, width * height).raw();
        let from = DevicePtr(zone.start).into();
        if height == 1 {
            self.inner.copy_async(to, from, width, stream)
        } else {
            self.inner.copy_2d_async((to, width), (from, pitch), width, height, stream)
        }
    }

    /// Fills the zone behind a block that is handed out.
    pub(super) fn guard(&self, stream: StreamRef, block: DevicePtr, bytes: usize) {
        if self.guards.bytes != 0 {
            self.guards.state.lock().freed.remove(&block.0);
        }
        if !self.guards_blocks() || !self.is_ours(stream) {
            return;
        }
        let start = block.0 + bytes as u64;
        let bytes = bytes.next_multiple_of(UNIT) - bytes + self.guards.bytes;
        let is_filled = self.unless_captured(stream, || {
            self.inner.fill_async(DevicePtr(start), GUARD, bytes, stream).is_ok()
        });
        let mut state = self.guards.state.lock();
        if is_filled {
            let zone = state.zone(start, bytes, stream, GUARD);
            state.zones.insert(block.0, zone);
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
        let fill = || self.inner.fill_async(block, FREED, bytes, stream).is_ok();
        if self.read(zone, stream, block, fill) {
            let mut state = self.guards.state.lock();
            let freed = state.zone(block.0, bytes, stream, FREED);
            state.freed.insert(block.0, freed);
        }
    }

    /// A freed block may be handed out again from now on: what it was filled with is read.
    pub(super) fn compare_freed(&self, stream: StreamRef, block: DevicePtr) {
        if self.guards.bytes == 0 {
            return;
        }
        let mut state = self.guards.state.lock();
        let zone = state.freed.remove(&block.0);
        // Zones come first.
        let has_room = state.waiting.len() < MOST_WAITING / 2;
        drop(state);
        let is_compared = |_: &Zone| has_room && self.guards_blocks() && self.is_ours(stream);
        if let Some(zone) = zone.filter(is_compared) {
            self.read(zone, stream, block, || true);
        }
    }

    /// Queues a copy of a block's zone, and what `then` queues behind it, unless a stream is being captured. The copy is
    /// compared when it is done; a zone that could not be copied is not checked. Whether `then` has queued its work.
    fn read(
        &self,
        zone: Zone,
        stream: StreamRef,
        block: DevicePtr,
        then: impl FnOnce() -> bool,
    ) -> bool {
        let slot = self.guards.take_slot(self.inner, stream.device, zone.fill);
        let found = self.sanitizer.checker.lock().overwritten(stream, block.0);
        let mut is_read = false;
        let has_queued = self.unless_captured(stream, || {
            is_read = slot.is_some_and(|(_, range)| self.copy_zone(&zone, &range, stream).is_ok());
            then()
        });
        let epoch = is_read.then(|| self.sanitizer.checker.lock().mark(stream));
        let mut state = self.guards.state.lock();
        match (slot, epoch) {
            (Some((slot, _)), Some(epoch)) => {
                state.waiting.push_back(Waiting { slot, zone, epoch, found });
            }
            (slot, _) => state.free_slots.extend(slot.map(|(slot, _)| slot)),
        }
        has_queued
    }

    /// Queues work on a stream, unless a stream is being captured. No capture begins meanwhile. What `work` returns.
    fn unless_captured(&self, stream: StreamRef, work: impl FnOnce() -> bool) -> bool {
        let captures = self.guards.captures.lock();
        *captures == 0 && self.runs(stream) && work()
    }

    /// Memory goes back to the driver, or falls asleep: so do zones in it, which are returned by the addresses of their
    /// blocks. None of them is being copied then.
    pub(super) fn take_zones(&self, address: u64, bytes: u64) -> BTreeMap<u64, Zone> {
        let _copies = self.guards.captures.lock();
        let mut state = self.guards.state.lock();
        state.freed.retain(|block, _| !(address..address + bytes).contains(block));
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
                let damage = self.guards.damage(&mut state, slot, &zone);
                found.extend(damage.map(|damage| (damage, zone, what)));
            }
        }
        for (damage, zone, what) in found {
            self.report_damage(damage, &zone, what);
        }
    }

    fn report_damage(&self, (address, bytes): (u64, u64), zone: &Zone, what: Overwritten) {
        let is_freed = zone.fill == FREED;
        self.sanitizer.tell(|checker| checker.found_overwritten(address, bytes, what, is_freed));
    }

    /// Waits, each time with `wait`, for the devices of all live blocks and of freed ones that were not compared, and
    /// compares all these.
    fn check_zones(&self, wait: &mut dyn FnMut(DeviceIndex) -> Result<()>) -> Result<()> {
        if !self.guards_blocks() {
            return Ok(());
        }
        let state = self.guards.state.lock();
        let zones: Vec<(u64, Zone)> =
            state.zones.iter().chain(&state.freed).map(|(block, zone)| (*block, *zone)).collect();
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

    /// Waits until no zone in memory is read whose zones [`CheckedDriver::take_zones`] has taken. Locks of the
    /// allocator may be held: the thread that reads has only a copy to wait for, which depends on no other work, and
    /// needs none of them.
    pub(super) fn wait_for_readers(&self, address: u64, bytes: u64) {
        let is_inside = |zone: &Zone| (address..address + bytes).contains(&zone.start);
        while self.guards.state.lock().reading.iter().any(is_inside) {
            std::thread::yield_now();
        }
    }

    /// Compares the zone of a block, unless the block was freed meanwhile, or a freed block, unless it was handed out.
    fn check_zone(&self, block: u64, zone: &Zone, stream: StreamRef) -> Result<()> {
        let Some((slot, range)) = self.guards.take_slot(self.inner, stream.device, zone.fill)
        else {
            return Ok(());
        };
        let is_same = |state: &mut State| {
            state.like(zone).get(&block).is_some_and(|found| found.number == zone.number)
        };
        let captures = self.guards.captures.lock();
        let mut state = self.guards.state.lock();
        let is_read = is_same(&mut state);
        if is_read {
            state.reading.push(*zone);
        }
        drop(state);
        let copied = if is_read { self.copy_zone(zone, &range, stream) } else { Ok(()) };
        drop(captures);
        let copied = copied.and_then(|()| self.inner.stream_synchronize(stream));
        let mut state = self.guards.state.lock();
        // Another thread may be reading it, too.
        if let Some(own) = state.reading.iter().position(|it| it.number == zone.number) {
            state.reading.swap_remove(own);
        }
        // Of a block that was freed meanwhile, the free compares the zone.
        let damage = self.guards.damage(&mut state, slot, zone).filter(|_| is_same(&mut state));
        // Reported once.
        if damage.is_some() {
            state.like(zone).remove(&block);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_block_reach_from_its_start_to_its_end() {
        let stream = StreamRef::default_of(DeviceIndex::new(0).expect("a device"));
        let zone = |bytes| State::default().zone(0x1000, bytes, stream, FREED);
        for (bytes, slot_bytes) in [(1, 1024), (1024, 1024), (1025, 1024), (1 << 20, 520)] {
            let zone = zone(bytes);
            let (pitch, width, height) = zone.rows(slot_bytes);
            assert!(width * height <= slot_bytes, "{bytes}");
            assert_eq!(zone.address(slot_bytes, 0), 0x1000);
            let last = zone.address(slot_bytes, width * height - 1) - 0x1000;
            assert!(last < bytes as u64 && last + height as u64 >= bytes as u64, "{bytes}: {last}");
            assert!(height == 1 || pitch >= width, "{bytes}");
        }
    }
}
