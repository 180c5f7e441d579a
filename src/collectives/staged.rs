//! Memory that stands for a tensor in the calls of a group, because the tensor's elements lie in another order.

use std::sync::Arc;

use super::comm::Comm;
use crate::error::Result;
use crate::stream::Stream;

/// The copies between a tensor and the memory that stands for it. They keep both.
pub trait StagedCopies {
    /// Queues the copy to the memory, on a stream; does nothing if the calls do not read the tensor.
    fn copy_in(&self, stream: Stream) -> Result<()>;
    /// Queues the copy back, on a stream; does nothing if the calls do not write the tensor.
    fn copy_out(&self, stream: Stream) -> Result<()>;
}

/// Memory of a group, and what it stands for.
pub(super) struct Staged {
    comm: Arc<Comm>,
    /// The caller's stream.
    stream: Stream,
    is_async: bool,
    copies: Box<dyn StagedCopies>,
}

impl Staged {
    pub(super) fn new(
        comm: Arc<Comm>,
        stream: Stream,
        is_async: bool,
        copies: Box<dyn StagedCopies>,
    ) -> Staged {
        Staged { comm, stream, is_async, copies }
    }

    /// Queues what must be done before the group's calls are queued.
    pub(super) fn before(&self) -> Result<()> {
        self.copies.copy_in(self.stream)
    }

    /// Queues what must be done behind the group's calls, on the stream that they run on.
    pub(super) fn after(&self) -> Result<()> {
        let runs_on = if self.is_async { self.comm.stream()? } else { self.stream };
        self.copies.copy_out(runs_on)
    }
}
