//! Memory that a copy passes through.

use super::host_bytes;
use crate::driver::RawAddress;
use crate::error::Result;
use crate::stream::Stream;
use crate::types::DevicePtr;
use crate::{host_memory, log, memory};

/// Packed memory on a device, for work of one stream.
pub(super) struct OnDevice(usize);

impl OnDevice {
    pub(super) fn new(bytes: usize, stream: Stream) -> Result<OnDevice> {
        memory::alloc_on(bytes, stream).map(OnDevice)
    }

    pub(super) fn address(&self) -> RawAddress {
        DevicePtr(self.0 as u64).into()
    }
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        // What is queued on the stream still finds it: nobody else gets it but work behind.
        if let Err(error) = memory::free(self.0) {
            log::warn(format_args!("a temporary of a copy was not freed: {error}"));
        }
    }
}

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
