//! A handle of cuDNN.

use std::sync::Arc;

use super::engines::Engines;
use super::session::Session;
use crate::driver::{
    Convolution, ConvolutionEngines, DnnHandle, EngineChoice, StreamHandle, StreamRef,
};
use crate::error::Result;

/// A `cudnnHandle_t` and what it is set to.
pub(super) struct CudnnHandle {
    session: Arc<Session>,
    /// The stream it works on; `None` when a call that set it failed.
    stream: Option<StreamHandle>,
}

impl CudnnHandle {
    /// A handle that has just been created: it works on the default stream.
    pub(super) fn new(session: Session) -> CudnnHandle {
        CudnnHandle { session: Arc::new(session), stream: Some(StreamHandle::DEFAULT) }
    }
}

impl DnnHandle for CudnnHandle {
    fn native(&self) -> usize {
        self.session.handle
    }

    /// Setting the same stream again would cost as much as another: up to 0.4 µs.
    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        if self.stream == Some(stream.handle) {
            return Ok(());
        }
        let session = &self.session;
        let set = session.functions.cudnnSetStream()?;
        let _entered = session.context.enter()?;
        self.stream = None;
        // SAFETY: a live handle, this thread's for the call; the stream is one of its device.
        let code = unsafe { set(session.raw(), stream.handle.0 as _) };
        session.functions.check("cudnnSetStream", code)?;
        self.stream = Some(stream.handle);
        Ok(())
    }

    fn engines(
        &mut self,
        problem: &Convolution,
        choice: EngineChoice,
    ) -> Result<Box<dyn ConvolutionEngines>> {
        let _entered = self.session.context.enter()?;
        Ok(Box::new(Engines::new(&self.session, problem, choice)?))
    }
}
