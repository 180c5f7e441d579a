//! Creating, destroying, recording, querying and waiting for events.

use std::sync::atomic::Ordering;

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{EventFlags, RelaxedCapture};

use super::hazard_pointers;
use super::native::NativeEvent;
use super::slots::{LiveEvent, dead, insert, refused, remove, slot, with_native};
use crate::context::{Runtime, runtime};
use crate::stream::{self, Stream};

/// Makes an event. Calls no driver and uses no device.
#[inline]
pub fn create(flags: EventFlags) -> Result<Key> {
    if flags.timing && flags.interprocess {
        return Err(both_flags());
    }
    insert(flags)
}

#[cold]
#[inline(never)]
fn both_flags() -> Error {
    Error::invalid_argument(
        "flags ask for both timing and interprocess; an event shared with other processes \
         cannot measure time",
    )
}

/// Destroys an event. Work that waits for it still waits.
#[inline]
pub fn destroy(key: Key) -> Result<()> {
    let alive = remove(key, |slot, native| {
        let at_once = native.is_interprocess();
        hazard_pointers::retire(slot, native, at_once);
    });
    if alive { Ok(()) } else { Err(refused(key, "event")) }
}

/// Records the work queued on the stream so far.
#[inline]
pub fn record(runtime: &Runtime, key: Key, stream: Stream) -> Result<()> {
    let slot = slot(key, "event")?;
    let Some(in_use) = hazard_pointers::announce(slot.address()) else {
        return record_locked(runtime, key, stream);
    };
    let handle = slot.handle.load(Ordering::Acquire);
    let device = slot.device.load(Ordering::Relaxed);
    // Checked after the announcement and after the handle was read: then the handle is this event's, and is not
    // destroyed until the announcement ends.
    let handle = match handle {
        Some(handle) if device == stream.device().as_u8() && slot.still() => handle,
        _ => {
            drop(in_use);
            return record_locked(runtime, key, stream);
        }
    };
    runtime.driver().event_record(handle, stream.driver_ref())?;
    if slot.still() { Ok(()) } else { Err(dead("event")) }
}

/// Records under the event's lock. The first record that succeeds ties the event to the stream's device.
#[cold]
#[inline(never)]
fn record_locked(runtime: &Runtime, key: Key, stream: Stream) -> Result<()> {
    with_native(key, "event", |slot, place| match place {
        Some(native) if native.device() != stream.device() => {
            Err(other_device(native.device(), stream.device()))
        }
        Some(native) => runtime.driver().event_record(native.handle(), stream.driver_ref()),
        None => {
            let native = NativeEvent::obtain(runtime, stream.device(), slot.flags())?;
            runtime.driver().event_record(native.handle(), stream.driver_ref())?;
            slot.adopt(place, native)
        }
    })
}

#[cold]
#[inline(never)]
fn other_device(event: DeviceIndex, stream: DeviceIndex) -> Error {
    Error::new(
        Status::CrossDevice,
        format!("Event device {event} does not match recording stream's device {stream}."),
    )
}

/// Whether the newest record is complete; true without a record.
#[inline]
pub fn query(key: Key) -> Result<bool> {
    let runtime = runtime()?;
    let slot = slot(key, "event")?;
    if slot.handle.load(Ordering::Acquire).is_none() {
        return Ok(true);
    }
    query_recorded(runtime, key, slot)
}

/// [`query`] of an event with a record. Not inlined, so that the query of an event without one stays short.
#[inline(never)]
fn query_recorded(runtime: &Runtime, key: Key, slot: LiveEvent) -> Result<bool> {
    let Some(in_use) = hazard_pointers::announce(slot.address()) else {
        return query_locked(runtime, key);
    };
    let handle = slot.handle.load(Ordering::Acquire);
    // Checked after the announcement and after the handle was read: then the handle is this event's, and is not
    // destroyed until the announcement ends.
    match handle {
        Some(handle) if slot.still() => {
            stream::in_passing(runtime, &in_use, |driver| driver.event_query(handle))
        }
        _ => Err(dead("event")),
    }
}

#[cold]
#[inline(never)]
fn query_locked(runtime: &Runtime, key: Key) -> Result<bool> {
    with_native(key, "event", |_, native| match native {
        Some(native) => {
            let _relaxed = RelaxedCapture::enter(runtime.driver())?;
            runtime.driver().event_query(native.handle())
        }
        None => Ok(true),
    })
}

/// Waits for the newest record; returns at once without one.
pub fn synchronize(key: Key) -> Result<()> {
    let runtime = runtime()?;
    // The reference keeps the driver's event from being recycled during the wait.
    match with_native(key, "event", |_, native| Ok(native.clone()))? {
        Some(native) => {
            // Captures that the event is not of have nothing to do with it.
            let _relaxed = RelaxedCapture::enter(runtime.driver())?;
            runtime.driver().event_synchronize(native.handle())
        }
        None => Ok(()),
    }
}

/// Orders later work of the stream after the event's newest record; does nothing without one.
pub fn wait(runtime: &Runtime, stream: Stream, key: Key) -> Result<()> {
    with_native(key, "event", |_, native| match native {
        Some(native) => runtime.driver().stream_wait_event(stream.driver_ref(), native.handle()),
        None => Ok(()),
    })
}

/// The device the event was first recorded on; `None` before that.
pub fn device(key: Key) -> Result<Option<DeviceIndex>> {
    with_native(key, "event", |_, native| Ok(native.as_ref().map(|native| native.device())))
}

/// The driver's handle of an event; 0 while the event has none.
pub fn native(key: Key) -> Result<usize> {
    with_native(key, "event", |_, native| {
        Ok(native.as_ref().map_or(0, |native| native.handle().native()))
    })
}

/// Orders later work of `waiting` after the work queued on `waited` so far.
pub fn wait_stream(runtime: &Runtime, waiting: Stream, waited: Stream) -> Result<()> {
    if waiting == waited {
        return Ok(());
    }
    let event = NativeEvent::obtain(runtime, waited.device(), EventFlags::default())?;
    runtime.driver().event_record(event.handle(), waited.driver_ref())?;
    // The wait is bound to this record at once, so the event may be recycled straight away.
    runtime.driver().stream_wait_event(waiting.driver_ref(), event.handle())
}
