//! Pinned memory that a copy passes through.

use sconce_base::error::Result;
use sconce_base::log;
use sconce_driver::{HostRange, RawAddress};
use sconce_runtime::host_memory;

use super::host_copy;

/// Packed pinned memory.
pub(super) struct PinnedTemporary(HostRange);

impl PinnedTemporary {
    pub(super) fn new(bytes: usize) -> Result<PinnedTemporary> {
        host_copy::pinned(bytes).map(PinnedTemporary)
    }

    pub(super) fn address(&self) -> RawAddress {
        self.0.raw()
    }
}

impl Drop for PinnedTemporary {
    fn drop(&mut self) {
        // Copies that were not waited for are noted with the block.
        if let Err(error) = host_memory::free(self.0.get()) {
            log::warn(format_args!("a temporary of a copy was not freed: {error}"));
        }
    }
}
