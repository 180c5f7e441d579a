//! Opening another process's pages: reserve, import and map each, allow.

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Access, Driver};

use super::message::SentPage;

/// Another process's physical memory, mapped here side by side.
pub(super) struct ImportedMapping {
    pub(super) ptr: DevicePtr,
    bytes: usize,
}

/// Adds to an error that undoing the call failed, if it did.
pub(super) fn after(error: Error, undone: Result<()>) -> Error {
    match undone {
        Ok(()) => error,
        Err(more) => {
            error.context(format_args!("memory or addresses stay behind ({})", more.message()))
        }
    }
}

impl ImportedMapping {
    /// Maps pages of `bytes` bytes in all for a device to use. `next` gives the pages from one on, some at a time.
    pub(super) fn open(
        driver: &dyn Driver,
        device: DeviceIndex,
        bytes: u64,
        next: impl FnMut(usize) -> Result<Vec<SentPage>>,
    ) -> Result<ImportedMapping> {
        let bytes = usize::try_from(bytes)
            .map_err(|_| Error::invalid_argument("handle is of more memory than addresses"))?;
        let ptr = driver.virtual_reserve(bytes)?;
        let mut mapped = 0;
        let opened = map_all(driver, device, ptr, bytes, &mut mapped, next)
            .and_then(|()| driver.virtual_set_access(ptr, bytes, device, Access::ReadWrite));
        let Err(error) = opened else { return Ok(ImportedMapping { ptr, bytes }) };
        let unmapped = if mapped == 0 { Ok(()) } else { driver.virtual_unmap(ptr, mapped) };
        Err(after(error, unmapped.and_then(|()| driver.virtual_release(ptr, bytes))))
    }

    /// Unmaps the memory. After an error it is still mapped.
    pub(super) fn close(&self, driver: &dyn Driver) -> Result<()> {
        driver.virtual_unmap(self.ptr, self.bytes)?;
        // The memory is closed now. If the addresses stay reserved, that has no consequence.
        let _ = driver.virtual_release(self.ptr, self.bytes);
        Ok(())
    }
}

/// Maps pages side by side until the range is full. `mapped` counts their bytes, also if this fails.
fn map_all(
    driver: &dyn Driver,
    device: DeviceIndex,
    ptr: DevicePtr,
    bytes: usize,
    mapped: &mut usize,
    mut next: impl FnMut(usize) -> Result<Vec<SentPage>>,
) -> Result<()> {
    let mut count = 0;
    while *mapped < bytes {
        let pages = next(count)?;
        if pages.is_empty() {
            return Err(torn());
        }
        for page in pages {
            let left = (bytes - *mapped) as u64;
            if page.bytes == 0 || page.bytes > left {
                return Err(torn());
            }
            map_page(driver, device, ptr.offset(*mapped as u64), page, mapped)?;
            count += 1;
        }
    }
    Ok(())
}

/// Maps one page, and counts its bytes. Mapped memory stays without its handle.
fn map_page(
    driver: &dyn Driver,
    device: DeviceIndex,
    at: DevicePtr,
    page: SentPage,
    mapped: &mut usize,
) -> Result<()> {
    let size = page.bytes as usize;
    let physical = driver.physical_import(device, page.descriptor)?;
    let outcome = driver.virtual_map(at, size, physical, 0);
    if outcome.is_ok() {
        *mapped += size;
    }
    match (outcome, driver.physical_release(physical)) {
        (Ok(()), Ok(())) => Ok(()),
        (Ok(()), Err(error)) => Err(after(error, driver.physical_release(physical))),
        (Err(error), released) => Err(after(error, released)),
    }
}

fn torn() -> Error {
    Error::invalid_handle("the process that made the handle sent other pages than it announced")
}
