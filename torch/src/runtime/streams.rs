//! Streams and events. Their handles are the driver's; 0, 1 and 2 are its default streams, too.

use std::ffi::{c_int, c_uint};

use super::devices::write;
use super::driver::Object;
use super::runtime;
use super::state::{Outcome, check, codes, ready};

/// # Safety
/// The place is NULL or valid for a write.
unsafe fn make_stream(place: *mut Object, flags: c_uint, priority: c_int) -> Outcome {
    if place.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    let mut stream = std::ptr::null_mut();
    // SAFETY: the place is valid for a write.
    check(unsafe { (ready()?.stream_create)(&mut stream, flags, priority) })?;
    // SAFETY: the caller's promise.
    unsafe { write(place, stream) }
}

/// # Safety
/// The place is NULL or valid for a write.
unsafe fn make_event(place: *mut Object, flags: c_uint) -> Outcome {
    if place.is_null() {
        return Err(codes::INVALID_VALUE);
    }
    let mut event = std::ptr::null_mut();
    // SAFETY: the place is valid for a write.
    check(unsafe { (ready()?.event_create)(&mut event, flags) })?;
    // SAFETY: the caller's promise.
    unsafe { write(place, event) }
}

/// A stream of a device that does not wait for the default one. Its owner never ends it.
pub(crate) fn new_stream(device: i32) -> crate::error::Result<Object> {
    let make = || {
        super::state::set_device(device)?;
        let mut stream = std::ptr::null_mut();
        // SAFETY: the place is valid for a write.
        check(unsafe { (ready()?.stream_create)(&mut stream, NON_BLOCKING, 0) })?;
        Ok(stream)
    };
    make().map_err(|code: i32| {
        crate::error::Error::internal(format!(
            "no stream could be made: the driver failed with {code}"
        ))
    })
}

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: c_uint = 1;

runtime! {
    /// A stream that waits for the default one.
    fn cudaStreamCreate(stream: *mut Object) {
        // SAFETY: the caller's promise.
        unsafe { make_stream(stream, 0, 0) }
    }

    /// A stream with flags, which are the driver's.
    fn cudaStreamCreateWithFlags(stream: *mut Object, flags: c_uint) {
        // SAFETY: the caller's promise.
        unsafe { make_stream(stream, flags, 0) }
    }

    /// A stream with flags and a priority.
    fn cudaStreamCreateWithPriority(stream: *mut Object, flags: c_uint, priority: c_int) {
        // SAFETY: the caller's promise.
        unsafe { make_stream(stream, flags, priority) }
    }

    /// Ends a stream.
    fn cudaStreamDestroy(stream: Object) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.stream_destroy)(stream) })
    }

    /// Waits for a stream.
    fn cudaStreamSynchronize(stream: Object) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.stream_synchronize)(stream) })
    }

    /// Whether a stream has no work left.
    fn cudaStreamQuery(stream: Object) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.stream_query)(stream) })
    }

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent(stream: Object, event: Object, flags: c_uint) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.stream_wait)(stream, event, flags) })
    }

    /// Whether a stream is captured; the numbers are the driver's.
    fn cudaStreamIsCapturing(stream: Object, status: *mut c_int) {
        let mut found = 0;
        // SAFETY: the stream is the caller's promise, the place valid for a write.
        check(unsafe { (ready()?.stream_capture)(stream, &mut found) })?;
        // SAFETY: the caller's promise.
        unsafe { write(status, found) }
    }

    /// Exchanges what captures of other threads forbid this one; the numbers are the driver's.
    fn cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) {
        if mode.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.exchange_mode)(mode) })
    }

    /// An event that measures times.
    fn cudaEventCreate(event: *mut Object) {
        // SAFETY: the caller's promise.
        unsafe { make_event(event, 0) }
    }

    /// An event with flags, which are the driver's.
    fn cudaEventCreateWithFlags(event: *mut Object, flags: c_uint) {
        // SAFETY: the caller's promise.
        unsafe { make_event(event, flags) }
    }

    /// Ends an event.
    fn cudaEventDestroy(event: Object) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.event_destroy)(event) })
    }

    /// Whether the work in front of an event has ended.
    fn cudaEventQuery(event: Object) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.event_query)(event) })
    }

    /// Puts an event behind the work of a stream.
    fn cudaEventRecord(event: Object, stream: Object) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.event_record)(event, stream) })
    }

    /// Waits for an event.
    fn cudaEventSynchronize(event: Object) {
        // SAFETY: the caller's promise.
        check(unsafe { (ready()?.event_synchronize)(event) })
    }

    /// Milliseconds between two events.
    fn cudaEventElapsedTime(milliseconds: *mut f32, start: Object, end: Object) {
        let mut found = 0.0;
        // SAFETY: the events are the caller's promise, the place valid for a write.
        check(unsafe { (ready()?.event_elapsed)(&mut found, start, end) })?;
        // SAFETY: the caller's promise.
        unsafe { write(milliseconds, found) }
    }
}
