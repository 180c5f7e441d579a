//! Streams, their waits for events, and host functions in stream order.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `stream_create` | priority is clamped to the range | a stream; work on it runs in order | no |
//! | `stream_destroy` | handle live | work already queued still runs; the handle is dead | no |
//! | `stream_id` | stream live | the same number at each call; no other stream of the process ever has it | no |
//! | `stream_query` | – | `Ok(true)` when all work queued before has finished, `Ok(false)` when not | never |
//! | `stream_synchronize` | – | all work queued before has finished | yes |
//! | `stream_capture_status` | – | whether the stream takes part in a capture, and whether that is valid | never |
//! | `stream_capture_number` | – | the same number on all streams that take part in a capture | never |
//! | `stream_seen_capture` | – | the same number, or `None` | never |
//! | `stream_wait_event` | – | later work of the stream starts after the record that is newest *now*; none yet: no effect; works across devices | never |
//! | `stream_write_word` | the word is page-locked memory of 4 bytes, aligned to 4, that stays so until the write is done | the value is written in stream order; whoever sees it sees all earlier work of the stream; `NotSupported` where the device cannot, and nothing is queued | never |
//! | `stream_head` | the handle may be dead; the thread may be any | what the stream is at, with the number that the thread had announced that queued it (`announce_work`); `None` if nothing is queued or the driver cannot tell | never |
//! | `launch_host_function` | the function does not call the driver; one with an alternative: the stream is not captured | the function runs once, in stream order, on a thread of the driver; after a failure of the device the alternative, if it has one, runs once instead, at some time | no |
//!
//! By default a driver has one priority, no capture, and no ids of streams; streams that it has not made
//! (`stream_check`), writes of words and host functions are `NotSupported`.

use std::cell::Cell;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::{CaptureStatus, EventHandle, HostFunction, HostRange, StreamHandle, lacks};

/// A stream and the device it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamRef {
    /// The device of the stream.
    pub device: DeviceIndex,
    /// The driver's handle.
    pub handle: StreamHandle,
}

impl StreamRef {
    /// The legacy default stream of a device.
    pub const fn default_of(device: DeviceIndex) -> StreamRef {
        StreamRef { device, handle: StreamHandle::DEFAULT }
    }
}

/// How a stream is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFlags {
    /// No implicit ordering with the legacy default stream.
    pub non_blocking: bool,
}

/// What the first operation that a stream has not ended needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadState {
    /// The ends of operations of other streams.
    OtherWork,
    /// The record of an event by another process.
    OtherProcess,
    /// Time, or its own end: it runs, or is about to.
    Time,
    /// A test that completes work.
    Step,
    /// The end of a fault that a test has injected.
    EndOfFault,
}

/// What a stream is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamHead {
    /// What the thread that queued it had announced last ([`announce_work`]).
    pub announced: u64,
    /// What it needs.
    pub needs: HeadState,
}

thread_local! {
    static ANNOUNCED: Cell<u64> = const { Cell::new(0) };
}

/// Gives a number to what the calling thread queues from now on. Only [`Streams::stream_head`] shows it.
pub fn announce_work(number: u64) {
    ANNOUNCED.set(number);
}

/// The number of what the calling thread queues.
pub fn announced_work() -> u64 {
    ANNOUNCED.get()
}

/// The streams of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Streams: Send + Sync {
    /// The least and greatest priority (numerically: least is 0, greatest is negative).
    fn stream_priority_range(&self, device: DeviceIndex) -> Result<(i32, i32)> {
        Ok((0, 0))
    }
    /// Makes a stream.
    fn stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle>;
    /// Destroys a stream that `stream_create` made.
    fn stream_destroy(&self, stream: StreamRef) -> Result<()>;
    /// Fails if a handle that came from outside is certainly no stream of the device. The driver does
    /// not follow the pointer.
    fn stream_check(&self, stream: StreamRef) -> Result<()> {
        lacks("stream_check", "streams of other code")
    }
    /// A number that no other stream of the process ever has, unlike the handle, which the driver
    /// uses again. `None` where the driver has no such numbers.
    fn stream_id(&self, stream: StreamRef) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Whether all work queued so far has finished.
    fn stream_query(&self, stream: StreamRef) -> Result<bool>;
    /// Waits for all work queued so far.
    fn stream_synchronize(&self, stream: StreamRef) -> Result<()>;
    /// The stream's priority.
    fn stream_priority(&self, stream: StreamRef) -> Result<i32> {
        Ok(0)
    }
    /// Whether the stream is being captured into a graph, and whether that capture is valid.
    fn stream_capture_status(&self, stream: StreamRef) -> Result<CaptureStatus> {
        Ok(CaptureStatus::None)
    }
    /// Whether the stream is being captured into a graph. An invalid capture has not ended yet: the stream still
    /// takes no ordinary work.
    #[inline]
    fn stream_is_capturing(&self, stream: StreamRef) -> Result<bool> {
        Ok(self.stream_capture_status(stream)? != CaptureStatus::None)
    }
    /// The number of the capture that the stream is in; `None` outside of captures. No other capture of the process has
    /// the number: not even that of a body of the same graph.
    fn stream_capture_number(&self, stream: StreamRef) -> Result<Option<u64>> {
        Ok(None)
    }
    /// The same for the sanitizer, which asks before each operation: on simulated devices it is no call that is counted
    /// or may be made to fail. `None` also where the driver cannot tell.
    fn stream_seen_capture(&self, stream: StreamRef) -> Option<u64> {
        self.stream_capture_number(stream).ok().flatten()
    }
    /// Orders later work of the stream after the event's newest record.
    fn stream_wait_event(&self, stream: StreamRef, event: EventHandle) -> Result<()>;
    /// Queues the write of a word of page-locked memory.
    fn stream_write_word(&self, stream: StreamRef, word: HostRange, value: u32) -> Result<()> {
        lacks("stream_write_word", "writes of words in stream order")
    }
    /// What the stream is at, for reports of waits that do not end. The default streams of threads have no answer.
    fn stream_head(&self, stream: StreamRef) -> Option<StreamHead> {
        None
    }
    /// Queues a host function on the stream.
    fn launch_host_function(&self, stream: StreamRef, function: HostFunction) -> Result<()> {
        lacks("launch_host_function", "host functions in stream order")
    }
}
