//! Opening another process's virtual memory: import, reserve, map, allow.

use std::os::fd::OwnedFd;

use crate::driver::{Access, Driver, PhysicalHandle};
use crate::error::{Error, Result};
use crate::types::{DeviceIndex, DevicePtr};

/// Another process's physical memory, mapped here.
pub(super) struct ImportedMapping {
    pub(super) ptr: DevicePtr,
    bytes: usize,
}

/// Adds to an error that undoing the call failed, if it did.
fn after(error: Error, undone: Result<()>) -> Error {
    match undone {
        Ok(()) => error,
        Err(more) => {
            error.context(format_args!("memory or addresses stay behind ({})", more.message()))
        }
    }
}

impl ImportedMapping {
    /// Maps the memory behind a descriptor for a device to use.
    pub(super) fn open(
        driver: &dyn Driver,
        device: DeviceIndex,
        descriptor: OwnedFd,
        bytes: u64,
    ) -> Result<ImportedMapping> {
        let bytes = usize::try_from(bytes)
            .map_err(|_| Error::invalid_argument("handle is of more memory than addresses"))?;
        let physical = driver.physical_import(device, descriptor)?;
        let mapped = reserve_and_map(driver, device, physical, bytes);
        // Mapped memory stays without its handle.
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

    /// Unmaps the memory. After an error it is still mapped.
    pub(super) fn close(&self, driver: &dyn Driver) -> Result<()> {
        driver.virtual_unmap(self.ptr, self.bytes)?;
        // The memory is closed now. If the addresses stay reserved, that has no consequence.
        let _ = driver.virtual_release(self.ptr, self.bytes);
        Ok(())
    }
}

fn reserve_and_map(
    driver: &dyn Driver,
    device: DeviceIndex,
    physical: PhysicalHandle,
    bytes: usize,
) -> Result<ImportedMapping> {
    let ptr = driver.virtual_reserve(bytes)?;
    let mapped = driver.virtual_map(ptr, bytes, physical, 0).and_then(|()| {
        let allowed = driver.virtual_set_access(ptr, bytes, device, Access::ReadWrite);
        allowed.map_err(|error| after(error, driver.virtual_unmap(ptr, bytes)))
    });
    match mapped {
        Ok(()) => Ok(ImportedMapping { ptr, bytes }),
        Err(error) => Err(after(error, driver.virtual_release(ptr, bytes))),
    }
}
