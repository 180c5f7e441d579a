//! One stream waits for another, through an event that nobody sees.

use super::native::NativeEvent;
use crate::context::Runtime;
use crate::driver::EventFlags;
use crate::error::Result;
use crate::stream::Stream;

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
