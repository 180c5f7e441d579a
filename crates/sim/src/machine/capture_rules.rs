//! What captures forbid: the calls that fail while captures are under way, and for which threads.
//!
//! Error numbers are CUDA's, as its documents state them. A call that is refused on account of a capture
//! makes that capture invalid.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;
use sconce_driver::{CaptureMode, CaptureStatus, EventHandle};

use super::captures::{Capture, CapturedRecord, thread_mode};
use super::engine::Engine;
use super::graphs::{CapturedStream, GraphNode};
use super::operation::QueuedWork;
use super::token::StreamKey;
use crate::call::Call;
use crate::codes;

/// Calls that captures forbid.
impl Engine {
    /// Refuses a call that is not queued on a stream, and so is not captured, if a capture forbids such
    /// calls to the calling thread.
    pub(crate) fn refuse_held_back(&mut self, call: Call) -> Result<()> {
        let (mode, thread) = (thread_mode(), thread_state::number());
        let held_back = mode != CaptureMode::Relaxed
            && self.captures.invalidate_if(|capture| {
                let own = capture.owner == thread && capture.mode != CaptureMode::Relaxed;
                own || (mode, capture.mode) == (CaptureMode::Global, CaptureMode::Global)
            });
        if !held_back {
            return Ok(());
        }
        Err(codes::failure_because(
            call,
            codes::STREAM_CAPTURE_UNSUPPORTED,
            "a capture that is under way forbids this call on this thread",
        ))
    }

    /// Refuses to query or to wait for a stream that is captured.
    pub(crate) fn refuse_captured_stream(&mut self, call: Call, key: StreamKey) -> Result<()> {
        self.refuse_implicit(call, key, true)?;
        match self.captures.of(key) {
            None => Ok(()),
            Some(id) => {
                self.captures.invalidate(id);
                let why = "the stream is being captured";
                Err(codes::failure_because(call, codes::STREAM_CAPTURE_UNSUPPORTED, why))
            }
        }
    }

    /// Refuses to wait for a device of which a stream is captured.
    pub(crate) fn refuse_captured_device(&mut self, call: Call, device: DeviceIndex) -> Result<()> {
        let streams = &self.streams;
        let of_device =
            |key: &StreamKey| streams.get(key).is_some_and(|stream| stream.device == device);
        if !self.captures.invalidate_if(|capture| capture.streams().any(of_device)) {
            return Ok(());
        }
        let why = format!("a stream of device {device} is being captured");
        Err(codes::failure_because(call, codes::STREAM_CAPTURE_UNSUPPORTED, why))
    }

    /// Refuses to query or to wait for an event that was last recorded on a captured stream, also after
    /// that capture has ended.
    pub(crate) fn refuse_captured_event(&mut self, call: Call, event: EventHandle) -> Result<()> {
        let Some(record) = &self.event(call, event)?.captured else { return Ok(()) };
        let id = record.capture;
        self.captures.invalidate(id);
        let why = "the event was last recorded on a stream that was being captured";
        Err(codes::failure_because(call, codes::CAPTURED_EVENT, why))
    }

    /// Refuses the legacy default stream while a blocking stream of its device is captured, since its
    /// work would have to come after work that does not run.
    fn refuse_implicit(&mut self, call: Call, key: StreamKey, invalidates: bool) -> Result<()> {
        let Some(device) = self.streams.get(&key).map(|stream| stream.device) else {
            return Ok(());
        };
        if key != StreamKey::legacy(device) {
            return Ok(());
        }
        let streams = &self.streams;
        let blocking = |key: &StreamKey| {
            streams.get(key).is_some_and(|other| other.device == device && !other.non_blocking)
        };
        let is_in = |capture: &Capture| capture.streams().any(blocking);
        let refused = match invalidates {
            true => self.captures.invalidate_if(is_in),
            false => self.captures.any(is_in),
        };
        if !refused {
            return Ok(());
        }
        let why = format!("a blocking stream of device {device} is being captured");
        Err(codes::failure_because(call, codes::STREAM_CAPTURE_IMPLICIT, why))
    }

    /// Whether a stream is captured.
    pub(crate) fn capture_status(&mut self, call: Call, key: StreamKey) -> Result<CaptureStatus> {
        self.refuse_implicit(call, key, false)?;
        let capture = self.captures.of(key).and_then(|id| self.captures.get(id));
        Ok(match capture {
            None => CaptureStatus::None,
            Some(capture) if capture.is_invalid => CaptureStatus::Invalidated,
            Some(_) => CaptureStatus::Active,
        })
    }
}

/// What captured streams take.
impl Engine {
    /// The capture, if any, that records work queued on this stream.
    pub(crate) fn capture_for(&mut self, call: Call, key: StreamKey) -> Result<Option<u64>> {
        if self.captures.is_empty() {
            return Ok(None);
        }
        self.refuse_implicit(call, key, true)?;
        let id = self.captures.of(key);
        match id.and_then(|id| self.captures.get(id)) {
            Some(capture) if capture.is_invalid => Err(invalidated(call)),
            _ => Ok(id),
        }
    }

    /// Makes an operation a node of the capture that its stream is in. Returns `false` when it is in none.
    pub(crate) fn capture_operation(
        &mut self,
        call: Call,
        key: StreamKey,
        work: &Arc<dyn QueuedWork>,
        duration_ns: u64,
    ) -> Result<bool> {
        let Some(id) = self.capture_for(call, key)? else { return Ok(false) };
        let Some(stream) = self.streams.get(&key) else { return Ok(false) };
        let captured = CapturedStream { device: stream.device, priority: stream.priority };
        self.captures.add_node(id, key, captured, |after| GraphNode {
            call,
            work: Arc::clone(work),
            duration_ns,
            stream: key,
            after,
        });
        Ok(true)
    }

    /// Orders a stream, which is in the capture `own` or in none, after a record made in a capture.
    pub(crate) fn wait_for_captured(
        &mut self,
        call: Call,
        key: StreamKey,
        own: Option<u64>,
        record: CapturedRecord,
    ) -> Result<()> {
        let id = record.capture;
        match self.captures.get(id) {
            None => return Err(self.isolated(call, own)),
            Some(capture) if capture.is_invalid => return Err(invalidated(call)),
            Some(_) => {}
        }
        if let Some(other) = own.filter(|own| *own != id) {
            self.captures.invalidate(id);
            self.captures.invalidate(other);
            let why = "the event belongs to another capture than the stream";
            return Err(codes::failure_because(call, codes::STREAM_CAPTURE_MERGE, why));
        }
        let is_legacy = self.streams.get(&key).is_some_and(|s| key == StreamKey::legacy(s.device));
        if is_legacy {
            self.captures.invalidate(id);
            let why = "the default stream cannot take part in a capture";
            return Err(codes::failure_because(call, codes::STREAM_CAPTURE_IMPLICIT, why));
        }
        self.captures.join(key, record);
        Ok(())
    }

    /// The failure of a wait across the border of a capture.
    pub(crate) fn isolated(&mut self, call: Call, own: Option<u64>) -> Error {
        if let Some(id) = own {
            self.captures.invalidate(id);
        }
        let why = "the event was not recorded in the capture that the stream is in";
        codes::failure_because(call, codes::STREAM_CAPTURE_ISOLATION, why)
    }
}

/// The failure of a call for a capture that is invalid.
pub(crate) fn invalidated(call: Call) -> Error {
    let why = "a call made the capture invalid; end it";
    codes::failure_because(call, codes::STREAM_CAPTURE_INVALIDATED, why)
}
