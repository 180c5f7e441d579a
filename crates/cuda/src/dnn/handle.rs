//! A handle of cuDNN.

use std::ptr::null_mut;
use std::sync::Arc;

use sconce_base::error::Result;
use sconce_driver::{Convolution, ConvolutionEngines, DnnHandle, EngineChoice, StreamRef};

use super::engines::Engines;
use super::session::Session;
use crate::result::SUCCESS;

/// A `cudnnHandle_t`.
pub(super) struct CudnnHandle {
    session: Arc<Session>,
}

impl CudnnHandle {
    pub(super) fn new(session: Session) -> CudnnHandle {
        CudnnHandle { session: Arc::new(session) }
    }
}

impl DnnHandle for CudnnHandle {
    fn native(&self) -> usize {
        self.session.handle
    }

    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        let session = &self.session;
        let set = session.functions.cudnnSetStream()?;
        let _entered = session.context.enter()?;
        // SAFETY: a live handle, this thread's for the call; the stream is one of its device.
        let code = unsafe { set(session.raw(), stream.handle.native() as _) };
        session.functions.check("cudnnSetStream", code)
    }

    /// A tenth of what setting the same stream again would cost. No context is needed for what the
    /// handle itself knows.
    #[inline]
    fn is_set_to(&self, stream: StreamRef) -> bool {
        let session = &self.session;
        let Ok(get) = session.functions.cudnnGetStream() else { return false };
        let mut found = null_mut();
        // SAFETY: a live handle, this thread's for the call; `found` outlives it.
        let code = unsafe { get(session.raw(), &mut found) };
        code == SUCCESS && found as usize == stream.handle.native()
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
