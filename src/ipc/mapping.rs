//! Opening another process's virtual memory: import, reserve, map, allow.

use std::os::fd::OwnedFd;

use crate::driver::{Access, Driver, PhysicalHandle};
use crate::error::{Error, Result};
use crate::log;
use crate::types::{DeviceIndex, DevicePtr};

/// Another process's physical memory, mapped here.
pub(super) struct Mapping {
    pub(super) ptr: DevicePtr,
    bytes: usize,
}

/// An undoing that failed leaves address space or memory behind, which is all that can be said.
fn left_behind(result: Result<()>) {
    if let Err(error) = result {
        log::warn(format_args!("something of shared memory stays behind: {}", error.message()));
    }
}

impl Mapping {
    /// Maps the memory behind a descriptor for a device to use.
    pub(super) fn open(
        driver: &dyn Driver,
        device: DeviceIndex,
        descriptor: OwnedFd,
        bytes: u64,
    ) -> Result<Mapping> {
        let bytes = usize::try_from(bytes)
            .map_err(|_| Error::invalid_argument("handle is of more memory than addresses"))?;
        let physical = driver.physical_import(device, descriptor)?;
        let mapped = reserve_and_map(driver, device, physical, bytes);
        // What is mapped lives on without its handle.
        let released = driver.physical_release(physical);
        match (mapped, released) {
            (Ok(mapping), Ok(())) => Ok(mapping),
            (Ok(mapping), Err(error)) => {
                left_behind(mapping.close(driver));
                left_behind(driver.physical_release(physical));
                Err(error)
            }
            (Err(error), released) => {
                left_behind(released);
                Err(error)
            }
        }
    }

    /// Unmaps it. A failure leaves it mapped.
    pub(super) fn close(&self, driver: &dyn Driver) -> Result<()> {
        driver.virtual_unmap(self.ptr, self.bytes)?;
        left_behind(driver.virtual_release(self.ptr, self.bytes));
        Ok(())
    }
}

fn reserve_and_map(
    driver: &dyn Driver,
    device: DeviceIndex,
    physical: PhysicalHandle,
    bytes: usize,
) -> Result<Mapping> {
    let ptr = driver.virtual_reserve(bytes)?;
    let mapped = driver.virtual_map(ptr, bytes, physical, 0).and_then(|()| {
        let allowed = driver.virtual_set_access(ptr, bytes, device, Access::ReadWrite);
        if allowed.is_err() {
            left_behind(driver.virtual_unmap(ptr, bytes));
        }
        allowed
    });
    if mapped.is_err() {
        left_behind(driver.virtual_release(ptr, bytes));
    }
    mapped.map(|()| Mapping { ptr, bytes })
}
