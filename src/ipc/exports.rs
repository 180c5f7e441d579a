//! Exporting memory: the handle of an allocation, and the refusals.

use super::export::{Export, ExportKind, Refused, descriptor, device_uuid, is_refusal};
use super::{handle, imports, service};
use crate::context::runtime;
use crate::driver::{Driver, IpcHandle, PointerKind, RelaxedCapture};
use crate::error::{Error, Result};
use crate::memory::shared_blocks;
use crate::types::DevicePtr;

/// The handle of the driver's allocation that holds an address, and the address's offset in it.
pub fn export(address: usize) -> Result<(IpcHandle, usize)> {
    let runtime = runtime()?;
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    if imports::holds(address) {
        return Err(Error::invalid_argument(format!(
            "ptr {address:#x} is memory of another process; ask that process for the handle"
        )));
    }
    let shared = shared_blocks::share(address)?;
    let info = driver.pointer_info(shared.map_or(address, |shared| shared.base))?;
    if !matches!(info.kind, PointerKind::Device(_)) {
        return Err(Error::invalid_argument(format!(
            "ptr {address:#x} is not memory of a device; pass what sconce_memory_alloc or the \
             driver gave"
        )));
    }
    let offset = address - info.base.0 as usize;
    let kind = if shared.is_some() { ExportKind::Own } else { ExportKind::Foreign };
    let handle = match driver.ipc_memory_export(info.base) {
        Ok(handle) => service::publish(
            |export| export.handle == handle && export.info == info && export.kind == kind,
            || Export::new(driver, handle, info, kind),
        ),
        Err(error) if is_refusal(&error) => {
            check_virtual_memory(driver, address, error)?;
            service::publish(
                |export| export.kind == ExportKind::Virtual && export.info == info,
                || {
                    let uuid = device_uuid(driver, &info)?;
                    let handle = handle::of_virtual_memory(info.bytes as u64, uuid)?;
                    Export::new(driver, handle, info, ExportKind::Virtual)
                },
            )
        }
        Err(error) => Err(error),
    };
    Ok((handle?, offset))
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
