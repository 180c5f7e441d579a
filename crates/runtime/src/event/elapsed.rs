//! The time between two records, with torch's rules and messages.

use std::sync::Arc;

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result, Status};
use sconce_driver::RelaxedCapture;

use super::native::NativeEvent;
use super::slots::{LiveEvent, SharedNative, with_native};
use crate::context::runtime;

/// Milliseconds from the newest record of `start` to that of `end`.
pub fn elapsed_ms(start: Key, end: Key) -> Result<f32> {
    let runtime = runtime()?;
    let look =
        |slot: LiveEvent, native: &mut SharedNative| Ok((slot.flags().timing, native.clone()));
    let (start_timed, start_native) = with_native(start, "start", look)?;
    let (end_timed, end_native) = with_native(end, "end", look)?;
    if !(start_timed && end_timed) {
        return Err(Error::invalid_argument(
            "Both events must be created with timing: the flag SCONCE_EVENT_TIMING (C++ EventFlags::Timing)",
        ));
    }
    let (Some(start), Some(end)) = (start_native, end_native) else {
        return Err(Error::invalid_state(
            "Both events must be recorded before calculating elapsed time.",
        ));
    };
    if start.device() != end.device() {
        return Err(other_devices(&start, &end));
    }
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    if !driver.event_query(start.handle())? || !driver.event_query(end.handle())? {
        return Err(Error::new(
            Status::NotReady,
            "Both events must be completed before calculating elapsed time.",
        ));
    }
    driver.event_elapsed_ms(start.handle(), end.handle())
}

fn other_devices(start: &Arc<NativeEvent>, end: &Arc<NativeEvent>) -> Error {
    Error::new(
        Status::CrossDevice,
        format!(
            "start was recorded on device {} and end on device {}; both must be of one device",
            start.device(),
            end.device()
        ),
    )
}
