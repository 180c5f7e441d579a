//! The plain source: one allocation of the driver for each segment.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::RelaxedCapture;

use super::Source;
use crate::context::Runtime;
use crate::memory::addresses::address_map;

/// The driver's allocations as they are.
pub(super) struct Plain;

impl Source for Plain {
    fn obtain(&self, runtime: &Runtime, device: DeviceIndex, bytes: usize) -> Result<DevicePtr> {
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
            format!(
                "the driver returned memory at {address}, beyond the 52 bits that are supported"
            ),
        ))
    }

    fn give_back(&self, runtime: &Runtime, device: DeviceIndex, address: DevicePtr) -> Result<()> {
        // Relaxed, because a global-mode capture of another device would make CUDA refuse the free,
        // although it cannot affect that capture.
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        runtime.driver().memory_free(device, address)
    }
}
