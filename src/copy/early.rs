//! Host memory that queued work may still write to when the calling thread reads it.

use super::route::CopyRoute;
use super::transfer::cannot_be_captured;
use crate::context::runtime;
use crate::error::Result;
use crate::operand::address_range::{self, MemoryKind};
use crate::stream;
use crate::types::DeviceIndex;

/// Waits for the work of a device's current stream, if devices can reach the memory at an address. The calling thread
/// then reads it on behalf of a copy that belongs behind that work.
pub(crate) fn await_writers(device: DeviceIndex, address: usize) -> Result<()> {
    let runtime = runtime()?;
    if address_range::kind_of(runtime, address, 1, "src")? == MemoryKind::Ordinary {
        return Ok(());
    }
    let stream = stream::current_on(runtime, device)?;
    if stream::is_capturing(runtime, stream)? {
        return Err(cannot_be_captured(device, CopyRoute::Pinned(device)));
    }
    stream::synchronize(runtime, stream)
}
