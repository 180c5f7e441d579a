//! Queries of a device, and the wait for it.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{DeviceProperties, MemoryInfo, PointerKind};

use super::index::resolve;
use super::parked;
use crate::context::runtime;

/// Whether the device's primary context exists.
pub fn has_context(index: i32) -> Result<bool> {
    let runtime = runtime()?;
    runtime.driver().context_is_active(resolve(runtime, index)?)
}

/// Waits for all work of a device. Nothing may be captured there, since the driver would invalidate the capture.
pub fn synchronize(index: i32) -> Result<()> {
    let runtime = runtime()?;
    parked::wait(runtime, resolve(runtime, index)?)
}

/// The properties of a device.
pub fn properties(index: i32) -> Result<DeviceProperties> {
    let runtime = runtime()?;
    runtime.driver().device_properties(resolve(runtime, index)?)
}

/// Free and total memory of a device.
pub fn memory_info(index: i32) -> Result<MemoryInfo> {
    let runtime = runtime()?;
    runtime.driver().memory_info(resolve(runtime, index)?)
}

/// The device that an address belongs to.
pub fn of_pointer(address: usize) -> Result<DeviceIndex> {
    let runtime = runtime()?;
    match runtime.driver().pointer_info(address)?.kind {
        PointerKind::Device(device) => Ok(device),
        kind => Err(Error::invalid_argument(format!(
            "ptr {address:#x} is not device memory ({})",
            match kind {
                PointerKind::PinnedHost => "it is pinned host memory",
                PointerKind::Managed => "it is managed memory, which belongs to no one device",
                _ => "the driver does not know it",
            }
        ))),
    }
}
