//! Events: points in a stream's work that can be waited for and, with timing, measured.
//!
//! An event belongs to no device until it is first recorded; the driver's event is made then, on
//! the recording stream's device. Until then it counts as complete, and waiting for it does
//! nothing. A wait binds the record that is newest when the wait is queued; later records do not
//! move it.
//!
//! ```text
//!   create ──▶ empty ──record──▶ recorded ──record──▶ recorded …
//!                └──────── destroy ───────┴── native event back to the recycler
//! ```
//!
//! Handles are checked at every use (`slab`). Querying, and recording once the event is settled on a
//! device, take no lock: they announce the event they use (`in_use`), and a destroyed event's driver
//! event stays alive and without a new owner until no thread uses it. Everything else takes the
//! event's own lock.

mod elapsed;
mod exported;
mod in_use;
mod interprocess;
mod native;
mod recycler;
mod wait_stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::lock::Mutex;

pub use elapsed::elapsed_ms;
pub use interprocess::{from_ipc_handle, ipc_handle};
pub use wait_stream::wait_stream;

use crate::context::{Runtime, runtime};
use crate::driver::{EventFlags, EventHandle};
use crate::error::{Error, Result, Status};
pub use crate::slab::Key;
use crate::slab::{Live, Slab};
use crate::stream::Stream;
use crate::types::DeviceIndex;
pub(crate) use native::NativeEvent;

static EVENTS: Slab<EventCell> = Slab::new();

/// The place of an event. Cleared when the event is destroyed, then used for another.
#[derive(Default)]
struct EventCell {
    /// The driver's handle, readable without the lock; 0 while there is none.
    handle: AtomicUsize,
    /// The device of that handle; written before it.
    device: AtomicU8,
    state: Mutex<EventState>,
}

#[derive(Default)]
struct EventState {
    flags: EventFlags,
    /// There from the first record on, or from the first exchange with another process.
    native: Option<Arc<NativeEvent>>,
}

impl EventCell {
    /// The number by which threads announce that they use the cell.
    #[inline]
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn adopt(&self, state: &mut EventState, native: NativeEvent) {
        self.device.store(native.device().as_u8(), Ordering::Relaxed);
        self.handle.store(native.handle().0, Ordering::Release);
        state.native = Some(Arc::new(native));
    }
}

/// The cell of a live event, by the name of the argument it came in.
#[inline]
fn cell(key: Key, argument: &str) -> Result<Live<'static, EventCell>> {
    EVENTS.get(key).ok_or_else(|| dead(argument))
}

#[cold]
#[inline(never)]
fn dead(argument: &str) -> Error {
    Error::invalid_handle(format!("{argument} is not a live event: never created, or destroyed"))
}

/// Runs `action` on an event's state, having made sure that the event is still alive.
fn with_state<R>(
    key: Key,
    argument: &str,
    action: impl FnOnce(&EventCell, &mut EventState) -> Result<R>,
) -> Result<R> {
    let cell = cell(key, argument)?;
    let mut state = cell.state.lock();
    // Destroyed, and perhaps reused, between the look-up and the lock.
    if !cell.still() {
        return Err(dead(argument));
    }
    action(&cell, &mut state)
}

/// Makes an event. No driver call, no device.
pub fn create(flags: EventFlags) -> Result<Key> {
    if flags.timing && flags.interprocess {
        return Err(Error::invalid_argument(
            "flags ask for both timing and interprocess; an event shared with other processes \
             cannot measure time",
        ));
    }
    insert(flags, None)
}

fn insert(flags: EventFlags, native: Option<NativeEvent>) -> Result<Key> {
    let (key, cell) = EVENTS
        .insert()
        .ok_or_else(|| Error::new(Status::OutOfMemory, "too many events are alive"))?;
    let mut state = cell.state.lock();
    state.flags = flags;
    if let Some(native) = native {
        cell.adopt(&mut state, native);
    }
    Ok(key)
}

/// Destroys an event. Work that waits for it still waits.
pub fn destroy(key: Key) -> Result<()> {
    let alive = EVENTS.remove(key, |cell| {
        let mut state = cell.state.lock();
        // Under the lock: a first record that is still under way must not leave its handle behind.
        cell.handle.store(0, Ordering::Release);
        let held = std::mem::take(&mut *state);
        drop(state);
        if let Some(native) = held.native {
            in_use::retire(cell.address(), native, held.flags.interprocess);
        }
    });
    if alive { Ok(()) } else { Err(dead("event")) }
}

/// Captures the work queued on the stream so far.
#[inline]
pub fn record(runtime: &Runtime, key: Key, stream: Stream) -> Result<()> {
    let cell = cell(key, "event")?;
    let Some(in_use) = in_use::enter(cell.address()) else {
        return record_locked(runtime, key, stream);
    };
    let handle = cell.handle.load(Ordering::Acquire);
    let device = cell.device.load(Ordering::Relaxed);
    // After the announcement and after the handle was read: the handle is this event's, and stays alive.
    if handle == 0 || device != stream.device().as_u8() || !cell.still() {
        drop(in_use);
        return record_locked(runtime, key, stream);
    }
    runtime.driver().event_record(EventHandle(handle), stream.driver_ref())?;
    if cell.still() { Ok(()) } else { Err(dead("event")) }
}

/// Records under the event's lock. The first record settles the event on the stream's device, unless
/// the record fails.
#[cold]
#[inline(never)]
fn record_locked(runtime: &Runtime, key: Key, stream: Stream) -> Result<()> {
    with_state(key, "event", |cell, state| match &state.native {
        Some(native) if native.device() != stream.device() => {
            Err(other_device(native.device(), stream.device()))
        }
        Some(native) => runtime.driver().event_record(native.handle(), stream.driver_ref()),
        None => {
            let native = NativeEvent::obtain(runtime, stream.device(), state.flags)?;
            runtime.driver().event_record(native.handle(), stream.driver_ref())?;
            cell.adopt(state, native);
            Ok(())
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

/// Whether the newest record is complete; true when there is none.
#[inline]
pub fn query(key: Key) -> Result<bool> {
    let runtime = runtime()?;
    let cell = cell(key, "event")?;
    if cell.handle.load(Ordering::Acquire) == 0 {
        return Ok(true);
    }
    query_recorded(runtime, key, &cell)
}

/// Apart, so that an event without a record costs little.
#[inline(never)]
fn query_recorded(runtime: &Runtime, key: Key, cell: &Live<'static, EventCell>) -> Result<bool> {
    let Some(_in_use) = in_use::enter(cell.address()) else { return query_locked(runtime, key) };
    let handle = cell.handle.load(Ordering::Acquire);
    // After the announcement and after the handle was read: the handle is this event's, and stays alive.
    if handle == 0 || !cell.still() {
        return Err(dead("event"));
    }
    runtime.driver().event_query(EventHandle(handle))
}

#[cold]
#[inline(never)]
fn query_locked(runtime: &Runtime, key: Key) -> Result<bool> {
    with_state(key, "event", |_, state| match &state.native {
        Some(native) => runtime.driver().event_query(native.handle()),
        None => Ok(true),
    })
}

/// Waits for the newest record; returns at once when there is none.
pub fn synchronize(key: Key) -> Result<()> {
    let runtime = runtime()?;
    // Held through the wait, so that the driver's event is not recycled under it.
    match with_state(key, "event", |_, state| Ok(state.native.clone()))? {
        Some(native) => runtime.driver().event_synchronize(native.handle()),
        None => Ok(()),
    }
}

/// Orders later work of the stream after the event's newest record; no effect when there is none.
pub fn wait(runtime: &Runtime, stream: Stream, key: Key) -> Result<()> {
    with_state(key, "event", |_, state| match &state.native {
        Some(native) => runtime.driver().stream_wait_event(stream.driver_ref(), native.handle()),
        None => Ok(()),
    })
}

/// The device the event was first recorded on; `None` before that.
pub fn device(key: Key) -> Result<Option<DeviceIndex>> {
    with_state(key, "event", |_, state| Ok(state.native.as_ref().map(|native| native.device())))
}
