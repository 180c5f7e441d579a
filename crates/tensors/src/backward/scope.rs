//! A device and stream that are current until the scope ends.

use sconce_base::error::Result;
use sconce_base::log;
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::{self, Stream};

/// Makes a stream current, and its device; the end restores both.
pub(super) struct StreamScope<'a>(Option<(&'a Runtime, Stream, DeviceIndex)>);

impl<'a> StreamScope<'a> {
    /// Enters the stream of a node; `None` changes nothing.
    pub(super) fn enter(
        runtime: Option<&'a Runtime>,
        stream: Option<Stream>,
    ) -> Result<StreamScope<'a>> {
        let (Some(runtime), Some(stream)) = (runtime, stream) else {
            return Ok(StreamScope(None));
        };
        let (id, device) = stream::exchange(runtime, stream)?;
        let before = Stream::from_parts(runtime, id, stream.device().as_i32())?;
        Ok(StreamScope(Some((runtime, before, device))))
    }
}

impl Drop for StreamScope<'_> {
    fn drop(&mut self) {
        if let Some((runtime, before, device)) = self.0.take()
            && let Err(error) = stream::restore(runtime, before, device)
        {
            log::warn(format_args!("a backward pass could not restore a stream: {error}"));
        }
    }
}
