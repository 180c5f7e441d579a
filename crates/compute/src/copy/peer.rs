//! The order of a copy from one device to another. The copy runs on the source's stream, after the earlier
//! and before the later work of the destination's stream.

use sconce_base::error::{Error, Result};
use sconce_base::log;
use sconce_driver::EventFlags;
use sconce_runtime::context::Runtime;
use sconce_runtime::device::peers;
use sconce_runtime::event::NativeEvent;
use sconce_runtime::stream::{self, Stream};

/// Queues the copy on `from`, ordered with `to`. The argument of `queue` is whether `from`'s device can use
/// the memory of the other.
pub(super) fn run(
    runtime: &Runtime,
    from: Stream,
    to: Stream,
    managed: bool,
    queue: impl FnOnce(bool) -> Result<()>,
) -> Result<()> {
    refuse_half_a_capture(runtime, from, to)?;
    let driver = runtime.driver();
    // Both events are obtained before anything is queued.
    let before = NativeEvent::obtain(runtime, to.device(), EventFlags::default())?;
    let after = NativeEvent::obtain(runtime, from.device(), EventFlags::default())?;
    let direct = managed || peers::enable_if_possible(runtime, from.device(), to.device())?;

    driver.event_record(before.handle(), to.driver_ref())?;
    driver.stream_wait_event(from.driver_ref(), before.handle())?;
    queue(direct)?;
    // A wait is bound to its record at once, so both events may be recycled straight away.
    let ordered = driver
        .event_record(after.handle(), from.driver_ref())
        .and_then(|()| driver.stream_wait_event(to.driver_ref(), after.handle()));
    if ordered.is_err()
        && let Err(error) = stream::synchronize(runtime, from)
    {
        // Nothing orders later work of `to` after the copy, and it could not be waited for either.
        log::warn(format_args!("a copy between devices was not waited for: {error}"));
    }
    ordered
}

/// Refuses a copy of which only one stream is being captured. A capture that waits for an event from outside
/// is spoilt, and a capture whose events no other stream waits for cannot be joined.
pub(super) fn refuse_half_a_capture(runtime: &Runtime, from: Stream, to: Stream) -> Result<()> {
    let captured = stream::is_capturing(runtime, from)?;
    if captured == stream::is_capturing(runtime, to)? {
        return Ok(());
    }
    let (inside, outside) = if captured { (from, to) } else { (to, from) };
    Err(Error::invalid_state(format!(
        "the current stream of device {} is being captured, that of device {} is not, and a copy \
         between them needs both; let the second wait for an event of the first before",
        inside.device(),
        outside.device()
    )))
}
