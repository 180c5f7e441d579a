//! Streams and events. Their handles are the driver's; 0, 1 and 2 are its default streams, too.

use std::ffi::{c_int, c_uint, c_void};

use super::arguments::CudaPlace;
use super::driver::{Event, Stream};
use super::runtime;
use super::state::{Outcome, check, codes, ready};
use crate::abi::arguments::Out;

fn make_stream(place: Out<'_, Stream>, flags: c_uint, priority: c_int) -> Outcome {
    place.fill(Stream::NONE, |made| check((ready()?.stream_create)(made, flags, priority)))
}

fn make_event(place: Out<'_, Event>, flags: c_uint) -> Outcome {
    place.fill(Event::NONE, |made| check((ready()?.event_create)(made, flags)))
}

/// A stream of a device that does not wait for the default one. Its owner never ends it.
pub(crate) fn new_stream(device: i32) -> crate::error::Result<*mut c_void> {
    let make = || {
        super::state::set_device(device)?;
        let mut stream = Stream::NONE;
        check((ready()?.stream_create)(&mut stream, NON_BLOCKING, 0))?;
        Ok(stream.into_raw())
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
    fn cudaStreamCreate(stream: Out<Stream>) {
        make_stream(stream, 0, 0)
    }

    /// A stream with flags, which are the driver's.
    fn cudaStreamCreateWithFlags(stream: Out<Stream>, flags: c_uint) {
        make_stream(stream, flags, 0)
    }

    /// A stream with flags and a priority.
    fn cudaStreamCreateWithPriority(stream: Out<Stream>, flags: c_uint, priority: c_int) {
        make_stream(stream, flags, priority)
    }

    /// Ends a stream.
    fn cudaStreamDestroy(stream: Stream) {
        // SAFETY: `cudaStreamDestroy` demands a stream that the caller uses no more.
        check(unsafe { (ready()?.stream_destroy)(stream) })
    }

    /// Waits for a stream.
    fn cudaStreamSynchronize(stream: Stream) {
        check((ready()?.stream_synchronize)(stream))
    }

    /// Whether a stream has no work left.
    fn cudaStreamQuery(stream: Stream) {
        check((ready()?.stream_query)(stream))
    }

    /// Lets a stream wait for an event.
    fn cudaStreamWaitEvent(stream: Stream, event: Event, flags: c_uint) {
        check((ready()?.stream_wait)(stream, event, flags))
    }

    /// Whether a stream is captured; the numbers are the driver's.
    fn cudaStreamIsCapturing(stream: Stream, status: Out<c_int>) {
        status.fill(0, |found| check((ready()?.stream_capture)(stream, found)))
    }

    /// Exchanges what captures of other threads forbid this one; the numbers are the driver's.
    fn cudaThreadExchangeStreamCaptureMode(mode: Option<&mut c_int>) {
        let mode = mode.ok_or(codes::INVALID_VALUE)?;
        let mut exchanged = *mode;
        check((ready()?.exchange_mode)(&mut exchanged))?;
        *mode = exchanged;
        Ok(())
    }

    /// An event that measures times.
    fn cudaEventCreate(event: Out<Event>) {
        make_event(event, 0)
    }

    /// An event with flags, which are the driver's.
    fn cudaEventCreateWithFlags(event: Out<Event>, flags: c_uint) {
        make_event(event, flags)
    }

    /// Ends an event.
    fn cudaEventDestroy(event: Event) {
        // SAFETY: `cudaEventDestroy` demands an event that the caller uses no more.
        check(unsafe { (ready()?.event_destroy)(event) })
    }

    /// Whether the work in front of an event has ended.
    fn cudaEventQuery(event: Event) {
        check((ready()?.event_query)(event))
    }

    /// Puts an event behind the work of a stream.
    fn cudaEventRecord(event: Event, stream: Stream) {
        check((ready()?.event_record)(event, stream))
    }

    /// Waits for an event.
    fn cudaEventSynchronize(event: Event) {
        check((ready()?.event_synchronize)(event))
    }

    /// Milliseconds between two events.
    fn cudaEventElapsedTime(milliseconds: Out<f32>, start: Event, end: Event) {
        milliseconds.fill(0.0, |found| check((ready()?.event_elapsed)(found, start, end)))
    }
}
