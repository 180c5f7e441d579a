//! Large copies of ordinary host memory, left to the driver.

use crate::context::Runtime;
use crate::driver::RawAddress;
use crate::error::Result;
use crate::stream::Stream;
use crate::types::DevicePtr;

/// Queues a copy to a device; when it returns, the source may be changed.
pub(super) fn to_device(
    runtime: &Runtime,
    stream: Stream,
    device: DevicePtr,
    host: RawAddress,
    bytes: usize,
) -> Result<()> {
    runtime.driver().copy_async(device.into(), host, bytes, stream.driver_ref())
}

/// Copies from a device and waits until all is written.
pub(super) fn to_host(
    runtime: &Runtime,
    stream: Stream,
    device: DevicePtr,
    host: RawAddress,
    bytes: usize,
) -> Result<()> {
    runtime.driver().copy_async(host, device.into(), bytes, stream.driver_ref())
}
