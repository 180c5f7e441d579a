//! Captures begun and ended by a test, in place of the calls that CUDA has for this.
#![forbid(unsafe_code)]

use crate::driver::sim::call::Call;
use crate::driver::sim::codes;
use crate::driver::sim::machine::capture_rules::invalidated;
use crate::driver::sim::machine::token::StreamKey;
use crate::driver::sim::state::Simulator;
use crate::driver::{CaptureMode, StreamRef};
use crate::error::Result;
use crate::thread_state;

impl Simulator {
    /// Begins a capture on a stream: until it is ended, what is queued there does not run.
    pub fn begin_capture(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        let call = Call::StreamIsCapturing;
        self.inner.check_device(call, stream.device)?;
        let mut engine = self.inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        let refuse = |code, why| Err(codes::failure_because(call, code, why));
        if key == StreamKey::legacy(stream.device) {
            let why = "stream: the default stream cannot be captured; take one from the pool";
            return refuse(codes::STREAM_CAPTURE_UNSUPPORTED, why);
        }
        if engine.captures.of(key).is_some() {
            return refuse(codes::ILLEGAL_STATE, "stream: it is being captured already");
        }
        engine.captures.begin(key, mode, thread_state::number());
        Ok(())
    }

    /// Ends the capture that began on a stream, and returns how many operations it holds. A failed
    /// capture has ended too. A stream that only joined the capture cannot end it (903): that
    /// invalidates the capture, which its own stream must still end (901). The wrong thread (908)
    /// changes nothing.
    pub fn end_capture(&self, stream: StreamRef) -> Result<u64> {
        let call = Call::StreamIsCapturing;
        self.inner.check_device(call, stream.device)?;
        let mut engine = self.inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        let refuse = |code, why| Err(codes::failure_because(call, code, why));
        let captures = &mut engine.captures;
        let found = captures.of(key).and_then(|id| captures.get(id).map(|it| (id, it)));
        let Some((id, capture)) = found else {
            return refuse(codes::ILLEGAL_STATE, "stream: it is not being captured");
        };
        if capture.origin != key {
            captures.invalidate(id);
            let why = "stream: its capture began on another one, which must end it";
            return refuse(codes::STREAM_CAPTURE_UNMATCHED, why);
        }
        if capture.mode != CaptureMode::Relaxed && capture.owner != thread_state::number() {
            let why = "another thread began the capture and must end it";
            return refuse(codes::STREAM_CAPTURE_WRONG_THREAD, why);
        }
        let (is_invalid, is_joined) = (capture.is_invalid, capture.is_joined());
        let operations = capture.operations();
        captures.end(id);
        if is_invalid {
            return Err(invalidated(call));
        }
        if !is_joined {
            let why = "a stream that took part was not waited for in the end";
            return refuse(codes::STREAM_CAPTURE_UNJOINED, why);
        }
        Ok(operations)
    }
}
