//! Events.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `event_create`, `event_destroy` | destroy: handle live, in use by no other call | destroying a pending event is allowed; waits bound to it stay valid | no |
//! | `event_record` | event and stream belong to one device, and are live during the call | captures the work queued on the stream so far | never |
//! | `event_query` | event live during the call | `Ok(true)` when the newest record is complete or there is none | never |
//! | `event_synchronize` | event live during the call | the record that was newest at the call is complete | yes (spins, or sleeps with `blocking_sync`) |
//! | `event_elapsed_ms` | both timed and recorded, and live during the call | `NotReady` while one is pending | no |
//!
//! `event_elapsed_ms` is `NotSupported` by default. A driver without time stamps makes timed events like any other.
//!
//! The module `event` meets the preconditions: it keeps an event that a call uses by the event's lock, by a
//! reference count, or by hazard pointers.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::{EventHandle, StreamRef, lacks};

/// How an event is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventFlags {
    /// Records take a time stamp.
    pub timing: bool,
    /// A host thread that waits for the event sleeps instead of spinning.
    pub blocking_sync: bool,
    /// The event can be opened by another process; excludes `timing`.
    pub interprocess: bool,
}

/// The events of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Events: Send + Sync {
    /// Makes an event.
    fn event_create(&self, device: DeviceIndex, flags: EventFlags) -> Result<EventHandle>;
    /// Destroys an event.
    fn event_destroy(&self, event: EventHandle) -> Result<()>;
    /// Captures the work queued on the stream so far.
    fn event_record(&self, event: EventHandle, stream: StreamRef) -> Result<()>;
    /// Whether the newest record is complete; true when there is none.
    fn event_query(&self, event: EventHandle) -> Result<bool>;
    /// Waits for the newest record.
    fn event_synchronize(&self, event: EventHandle) -> Result<()>;
    /// Milliseconds between two complete records of timed events.
    fn event_elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        lacks("event_elapsed_ms", "time stamps")
    }
}
