//! The table of events: a slab of slots, each with an event's state and lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::native::NativeEvent;
use crate::collections::slab::{Key, Live, Slab};
use crate::driver::{AtomicHandle, EventFlags, EventHandle};
use crate::error::{Error, Result, Status};
use crate::lock::Mutex;

pub(super) static EVENTS: Slab<EventSlot> = Slab::new();

/// The memory of an event. Cleared when the event is destroyed, and then used for another event.
#[derive(Default)]
pub(super) struct EventSlot {
    /// The handle of the driver's event, readable without the lock; none before there is one.
    pub(super) handle: AtomicHandle<EventHandle>,
    /// The device of that event; written before the handle.
    pub(super) device: AtomicU8,
    /// The event's flags as bits, set once, before the event's key exists.
    flags: AtomicU8,
    /// The event's lock, with the driver's event from the first record or the first exchange with another
    /// process on.
    pub(super) native: Mutex<SharedNative>,
}

/// The driver's event of an event; shared with the calls that wait for it without the event's lock.
pub(super) type SharedNative = Option<Arc<NativeEvent>>;

const TIMING: u8 = 1;
const BLOCKING_SYNC: u8 = 2;
const INTERPROCESS: u8 = 4;

impl EventSlot {
    /// The address by which threads announce that they use the slot.
    #[inline]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The event's flags.
    pub(super) fn flags(&self) -> EventFlags {
        let bits = self.flags.load(Ordering::Relaxed);
        EventFlags {
            timing: bits & TIMING != 0,
            blocking_sync: bits & BLOCKING_SYNC != 0,
            interprocess: bits & INTERPROCESS != 0,
        }
    }

    #[inline]
    fn set_flags(&self, flags: EventFlags) {
        let EventFlags { timing, blocking_sync, interprocess } = flags;
        let bit = |flag, bit| if flag { bit } else { 0 };
        let bits = bit(timing, TIMING)
            | bit(blocking_sync, BLOCKING_SYNC)
            | bit(interprocess, INTERPROCESS);
        self.flags.store(bits, Ordering::Relaxed);
    }

    /// Sets the driver's event of the event.
    pub(super) fn adopt(&self, place: &mut SharedNative, native: NativeEvent) {
        self.device.store(native.device().as_u8(), Ordering::Relaxed);
        self.handle.store(Some(native.handle()), Ordering::Release);
        *place = Some(Arc::new(native));
    }
}

/// The slot of a live event. `argument`: the name of the argument that is the event.
#[inline]
pub(super) fn slot(key: Key, argument: &str) -> Result<Live<'static, EventSlot>> {
    EVENTS.get(key).ok_or_else(|| dead(argument))
}

#[cold]
#[inline(never)]
pub(super) fn dead(argument: &str) -> Error {
    Error::invalid_handle(format!("{argument} is not a live event: never created, or destroyed"))
}

/// Calls `action` with a live event and its driver's event, with the event's lock held.
pub(super) fn with_native<R>(
    key: Key,
    argument: &str,
    action: impl FnOnce(&EventSlot, &mut SharedNative) -> Result<R>,
) -> Result<R> {
    let slot = slot(key, argument)?;
    let mut native = slot.native.lock();
    // Between the look-up and the lock the event may have been destroyed, and the slot used again.
    if !slot.still() {
        return Err(dead(argument));
    }
    action(&slot, &mut native)
}

/// Makes an event.
pub(super) fn insert(flags: EventFlags, native: Option<NativeEvent>) -> Result<Key> {
    let (key, slot) = EVENTS
        .insert()
        .ok_or_else(|| Error::new(Status::OutOfMemory, "too many events are alive"))?;
    slot.set_flags(flags);
    if let Some(native) = native {
        slot.adopt(&mut slot.native.lock(), native);
    }
    Ok(key)
}
