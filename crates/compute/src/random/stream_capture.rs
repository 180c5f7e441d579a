//! The capture that a fill becomes a part of.

use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_driver::StreamRef;
use sconce_runtime::stream::{self, CaptureSeen};

use super::device::{DeviceWork, ProcessDevices};
use super::graph_draws::GraphDraws;

/// The capture that a captured stream is in.
pub(super) enum StreamCapture {
    /// That of a graph of this library.
    Graph {
        draws: Arc<GraphDraws>,
        /// What is captured may run any number of times in a launch.
        is_in_body: bool,
    },
    /// One that other code began.
    Other,
}

/// A device whose streams are captured.
pub(super) trait CapturingWork: DeviceWork {
    /// The capture that the stream is in, which is being captured.
    fn capture(&self, stream: StreamRef) -> Result<StreamCapture>;
}

impl CapturingWork for ProcessDevices {
    fn capture(&self, stream: StreamRef) -> Result<StreamCapture> {
        let (capture, is_in_body) = match stream::capture_of(self.0, stream)? {
            CaptureSeen::Other => return Ok(StreamCapture::Other),
            CaptureSeen::Own { capture, is_body } => (capture, is_body),
        };
        let draws = stream::member_of(capture, || GraphDraws::new(self, stream.device));
        let draws =
            draws.ok_or_else(|| Error::invalid_state("the capture of the stream has ended"))?;
        Ok(StreamCapture::Graph { draws, is_in_body })
    }
}
