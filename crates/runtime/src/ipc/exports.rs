//! Exporting memory: the handle of an allocation, and the refusals.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::{Driver, IpcHandle, PointerKind, RelaxedCapture};

use super::export::{Export, ExportedMemory, Refused, descriptor, is_refusal};
use super::{handle, imports, service};
use crate::context::runtime;
use crate::memory::shared_blocks::{self, PagedHold, SharedBlock};
use crate::memory::shared_pages::{self, PagedBlock};

/// The handle of the driver's allocation that holds an address, or of the pages of its block, and the address's
/// offset in it.
pub fn export(address: usize) -> Result<(IpcHandle, usize)> {
    let runtime = runtime()?;
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    if imports::holds(address) {
        return Err(Error::invalid_argument(format!(
            "ptr {address:#x} is memory of another process; ask that process for the handle"
        )));
    }
    let segment = match shared_blocks::share(address)? {
        Some(SharedBlock::Paged(block)) => {
            return Ok((export_pages(driver, &block)?, address - block.base));
        }
        Some(SharedBlock::Segment(base)) => Some(base),
        None => None,
    };
    let info = driver.pointer_info(segment.unwrap_or(address))?;
    if !matches!(info.kind, PointerKind::Device(_)) {
        return Err(Error::invalid_argument(format!(
            "ptr {address:#x} is not memory of a device; pass an address that \
             sconce_memory_alloc or the driver returned"
        )));
    }
    let offset = address - info.base.0 as usize;
    let memory = match segment {
        Some(_) => ExportedMemory::Segment(info),
        None => ExportedMemory::Foreign(info),
    };
    let handle = match driver.ipc_memory_export(info.base) {
        Ok(handle) => service::publish(
            |export| export.handle == handle && export.memory == memory,
            || Export::new(driver, handle, memory),
        ),
        Err(error) if is_refusal(&error) => {
            check_virtual_memory(driver, address, error)?;
            publish_own(driver, ExportedMemory::Virtual(info))
        }
        Err(error) => Err(error),
    };
    Ok((handle?, offset))
}

/// Publishes memory for which the driver has no handle.
fn publish_own(driver: &dyn Driver, memory: ExportedMemory) -> Result<IpcHandle> {
    service::publish(
        |export| export.memory == memory,
        || {
            let (bytes, uuid) = memory.describe(driver)?;
            Export::new(driver, handle::of_virtual_memory(bytes, uuid)?, memory)
        },
    )
}

fn export_pages(driver: &dyn Driver, block: &PagedBlock) -> Result<IpcHandle> {
    let memory = ExportedMemory::Pages(*block);
    if let Some(handle) = service::find(|export| export.memory == memory) {
        return Ok(handle);
    }
    // Held, so that another thread that frees the block does not free the pages meanwhile.
    let PagedHold::Held(_hold) = shared_blocks::hold_paged(block) else {
        return Err(Error::invalid_state(format!(
            "the block at {:#x} was freed or put to sleep while it was shared; share memory before \
             it is freed, and while it is awake",
            block.address
        )));
    };
    for page in shared_pages::of(block) {
        // The descriptor is closed at once: this only finds out whether the driver gives one.
        driver.physical_export(page.handle).map(drop).map_err(|error| match is_refusal(&error) {
            true => Error::new(
                Status::NotSupported,
                format!(
                    "the block at {:#x} is made of pages (policy:pages, expandable_segments:True) \
                     that the driver does not share with other processes ({}); allocate it with \
                     policy:segments",
                    block.address,
                    error.message()
                ),
            ),
            false => error,
        })?;
    }
    publish_own(driver, memory)
}

/// Refuses memory that is not virtual, with the error of the driver, and memory that is not shareable.
fn check_virtual_memory(driver: &dyn Driver, address: usize, refusal: Error) -> Result<()> {
    descriptor(driver, DevicePtr(address as u64)).map(drop).map_err(|error| match error {
        Refused::NotVirtual => {
            refusal.context(format_args!("ptr {address:#x} is memory that cannot be shared"))
        }
        Refused::NotShareable(error) => Error::invalid_argument(format!(
            "ptr {address:#x} is virtual memory that cannot be shared ({}); make it shareable by \
             file descriptor (CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)",
            error.message()
        )),
        Refused::Failed(error) => error,
    })
}
