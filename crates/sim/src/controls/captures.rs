//! Captures begun and ended by a test that looks at captures alone. Neither call is counted or can be made to fail.
#![forbid(unsafe_code)]

use sconce_base::error::Result;
use sconce_driver::{CaptureMode, StreamRef};

use crate::call::Call;
use crate::state::Simulator;

impl Simulator {
    /// Begins a capture on a stream, as `capture_begin` does.
    pub fn begin_capture(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        self.inner.check_device(Call::CaptureBegin, stream.device)?;
        self.inner.begin_capture(Call::CaptureBegin, stream, mode, None)
    }

    /// Ends the capture that began on a stream, as `capture_end` does, drops the graph, and returns how many nodes
    /// it had.
    pub fn end_capture(&self, stream: StreamRef) -> Result<u64> {
        self.inner.check_device(Call::CaptureEnd, stream.device)?;
        let graph = self.inner.end_capture(Call::CaptureEnd, stream)?;
        Ok(self.inner.drop_graph(graph) as u64)
    }
}
