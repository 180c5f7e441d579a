//! Opening another process's virtual memory: import, reserve, map, allow.

use std::os::fd::OwnedFd;

use crate::driver::{Access, Driver, PhysicalHandle};
use crate::error::{Error, Result};
use crate::types::{DeviceIndex, DevicePtr};

/// Another process's physical memory, mapped here.
pub(super) struct Mapping {
    pub(super) ptr: DevicePtr,
    bytes: usize,
}

/// The error that an undoing follows, which tells when that failed, too.
fn after(error: Error, undone: Result<()>) -> Error {
    match undone {
        Ok(()) => error,
        Err(more) => {
            error.context(format_args!("memory or addresses stay behind ({})", more.message()))
        }
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
                let undone = mapping.close(driver).and(driver.physical_release(physical));
                Err(after(error, undone))
            }
            (Err(error), released) => Err(after(error, released)),
        }
    }

    /// Unmaps it. A failure leaves it mapped.
    pub(super) fn close(&self, driver: &dyn Driver) -> Result<()> {
        driver.virtual_unmap(self.ptr, self.bytes)?;
        // It is closed now, and addresses that stay reserved harm nobody.
        let _ = driver.virtual_release(self.ptr, self.bytes);
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
        allowed.map_err(|error| after(error, driver.virtual_unmap(ptr, bytes)))
    });
    match mapped {
        Ok(()) => Ok(Mapping { ptr, bytes }),
        Err(error) => Err(after(error, driver.virtual_release(ptr, bytes))),
    }
}
