//! An event of libsconce.so that is destroyed when it goes.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::{api, check};
use crate::error::Result;

/// An event that orders streams.
pub struct Event(*mut api::sconce_event);

// SAFETY: the handle is a number, which libsconce.so takes on any thread.
unsafe impl Send for Event {}

impl Event {
    /// An event that has not been recorded: nothing waits for it.
    pub fn new() -> Result<Event> {
        let mut event = std::ptr::null_mut();
        check(api::sconce_event_create(0, &mut event))?;
        Ok(Event(event))
    }

    /// Records the work that is queued on a stream so far.
    pub fn record(&self, stream: api::sconce_stream) -> Result<()> {
        check(api::sconce_event_record(self.0, stream))
    }

    /// Orders later work of a stream after the newest record.
    pub fn make_wait(&self, stream: api::sconce_stream) -> Result<()> {
        check(api::sconce_stream_wait_event(stream, self.0))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = api::sconce_event_destroy(self.0);
    }
}
