//! Pinned memory that a copy passes through.

use super::host_bytes;
use crate::driver::RawAddress;
use crate::error::Result;
use crate::{host_memory, log};

/// Packed pinned memory.
pub(super) struct OnHost(usize);

impl OnHost {
    pub(super) fn new(bytes: usize) -> Result<OnHost> {
        host_memory::alloc(bytes).map(OnHost)
    }

    pub(super) fn address(&self) -> RawAddress {
        host_bytes::of_pinned(self.0)
    }
}

impl Drop for OnHost {
    fn drop(&mut self) {
        // Copies that were not waited for are noted with the block.
        if let Err(error) = host_memory::free(self.0) {
            log::warn(format_args!("a temporary of a copy was not freed: {error}"));
        }
    }
}
