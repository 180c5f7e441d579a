//! Memory that a call uses for itself, from the caching allocator.

use crate::error::Result;
use crate::stream::Stream;
use crate::types::DevicePtr;
use crate::{log, memory};

/// Memory for work of one stream; nothing for 0 bytes.
pub(super) struct Workspace(usize);

impl Workspace {
    #[inline]
    pub(super) fn new(bytes: usize, stream: Stream) -> Result<Workspace> {
        if bytes == 0 {
            return Ok(Workspace(0));
        }
        memory::alloc_on(bytes, stream).map(Workspace)
    }

    pub(super) fn ptr(&self) -> DevicePtr {
        DevicePtr(self.0 as u64)
    }
}

impl Drop for Workspace {
    #[inline]
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        // What is queued on the stream still finds it: nobody else gets it but work behind.
        if let Err(error) = memory::free(self.0) {
            log::warn(format_args!("a workspace of a convolution was not freed: {error}"));
        }
    }
}
