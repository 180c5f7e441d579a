//! The table of events: a slab of slots, each with an event's state and lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use super::native::NativeEvent;
use crate::driver::EventFlags;
use crate::error::{Error, Result, Status};
use crate::lock::Mutex;
use crate::slab::{Key, Live, Slab};

pub(super) static EVENTS: Slab<EventSlot> = Slab::new();

/// The memory of an event. Cleared when the event is destroyed, and then used for another event.
#[derive(Default)]
pub(super) struct EventSlot {
    /// The handle of the driver's event, readable without the lock; 0 while there is none.
    pub(super) handle: AtomicUsize,
    /// The device of that event; written before the handle.
    pub(super) device: AtomicU8,
    pub(super) state: Mutex<EventState>,
}

/// What an event's lock protects.
#[derive(Default)]
pub(super) struct EventState {
    pub(super) flags: EventFlags,
    /// The driver's event, from the first record or the first exchange with another process on.
    pub(super) native: Option<Arc<NativeEvent>>,
}

impl EventSlot {
    /// The address by which threads announce that they use the slot.
    #[inline]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Gives the event its driver's event.
    pub(super) fn adopt(&self, state: &mut EventState, native: NativeEvent) {
        self.device.store(native.device().as_u8(), Ordering::Relaxed);
        self.handle.store(native.handle().0, Ordering::Release);
        state.native = Some(Arc::new(native));
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

/// Runs `action` on the state of a live event, with the event's lock held.
pub(super) fn with_state<R>(
    key: Key,
    argument: &str,
    action: impl FnOnce(&EventSlot, &mut EventState) -> Result<R>,
) -> Result<R> {
    let slot = slot(key, argument)?;
    let mut state = slot.state.lock();
    // Between the look-up and the lock the event may have been destroyed, and the slot used again.
    if !slot.still() {
        return Err(dead(argument));
    }
    action(&slot, &mut state)
}

/// Makes an event.
pub(super) fn insert(flags: EventFlags, native: Option<NativeEvent>) -> Result<Key> {
    let (key, slot) = EVENTS
        .insert()
        .ok_or_else(|| Error::new(Status::OutOfMemory, "too many events are alive"))?;
    let mut state = slot.state.lock();
    state.flags = flags;
    if let Some(native) = native {
        slot.adopt(&mut state, native);
    }
    Ok(key)
}
