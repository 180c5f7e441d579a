//! One allocation of the driver for each segment. The functions are called with no cache and no statistics locked,
//! since the driver may wait for the device.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::RelaxedCapture;

use crate::context::Runtime;
use crate::memory::addresses::address_map;

/// Gets memory of a device. The status of a failure is `OutOfMemory` if there is not enough.
pub(in crate::memory) fn obtain(
    runtime: &Runtime,
    device: DeviceIndex,
    bytes: usize,
) -> Result<DevicePtr> {
    let driver = runtime.driver();
    let address = {
        let _relaxed = RelaxedCapture::enter(driver)?;
        driver.memory_alloc(device, bytes)?
    };
    if address_map::covers(address.0, bytes as u64) {
        return Ok(address);
    }
    driver.memory_free(device, address)?;
    Err(Error::new(
        Status::NotSupported,
        format!("the driver returned memory at {address}, beyond the 52 bits that are supported"),
    ))
}

/// Gives memory back that [`obtain`] gave. It stays the allocator's if this fails.
pub(in crate::memory) fn give_back(
    runtime: &Runtime,
    device: DeviceIndex,
    address: DevicePtr,
) -> Result<()> {
    // Relaxed, because a global-mode capture of another device would make CUDA refuse the free,
    // although it cannot affect that capture.
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    runtime.driver().memory_free(device, address)
}
