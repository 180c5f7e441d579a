//! What this process has exported, and what it answers to who opens it.

use std::os::fd::OwnedFd;

use super::message::{Answer, Reply};
use super::{handle, imports, service};
use crate::context::runtime;
use crate::driver::{Driver, IpcHandle, PointerInfo, PointerKind, RelaxedCapture};
use crate::error::{Error, Result, Status};
use crate::memory::shared_blocks::{self, Hold};
use crate::types::DevicePtr;

/// An allocation of the driver that other processes may open.
pub(super) struct Export {
    pub(super) handle: IpcHandle,
    /// As the driver described it.
    info: PointerInfo,
    uuid: [u8; 16],
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Of this library's allocator: who uses a block holds it.
    Own,
    /// Of someone who got it from the driver.
    Foreign,
    /// Virtual memory: whoever has opened it has the memory, whatever becomes of it here.
    Virtual,
}

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
    let lent = shared_blocks::lend(address)?;
    let info = driver.pointer_info(lent.map_or(address, |lent| lent.base))?;
    if !matches!(info.kind, PointerKind::Device(_)) {
        return Err(Error::invalid_argument(format!(
            "ptr {address:#x} is not memory of a device; pass what sconce_memory_alloc or the \
             driver gave"
        )));
    }
    let offset = address - info.base.0 as usize;
    let kind = if lent.is_some() { Kind::Own } else { Kind::Foreign };
    let handle = match driver.ipc_memory_export(info.base) {
        Ok(handle) => service::publish(
            |export| export.handle == handle && export.info == info && export.kind == kind,
            || Export::new(driver, handle, info, kind),
        ),
        Err(error) if is_refusal(&error) => {
            check_virtual_memory(driver, address, error)?;
            service::publish(
                |export| export.kind == Kind::Virtual && export.info == info,
                || {
                    let uuid = device_uuid(driver, &info)?;
                    let handle = handle::of_virtual_memory(info.bytes as u64, uuid)?;
                    Export::new(driver, handle, info, Kind::Virtual)
                },
            )
        }
        Err(error) => Err(error),
    };
    Ok((handle?, offset))
}

/// Refuses what is no virtual memory, for the reason that the driver gave, and what is not shareable.
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

enum Refused {
    NotVirtual,
    NotShareable(Error),
    Failed(Error),
}

/// A descriptor of the physical memory that is mapped at an address.
fn descriptor(driver: &dyn Driver, ptr: DevicePtr) -> std::result::Result<OwnedFd, Refused> {
    let physical = driver.physical_retain(ptr).map_err(|error| match is_refusal(&error) {
        true => Refused::NotVirtual,
        false => Refused::Failed(error),
    })?;
    let exported = driver.physical_export(physical);
    driver.physical_release(physical).map_err(Refused::Failed)?;
    exported.map_err(|error| match is_refusal(&error) {
        true => Refused::NotShareable(error),
        false => Refused::Failed(error),
    })
}

/// Whether a driver will not do something with this memory, rather than failed to.
fn is_refusal(error: &Error) -> bool {
    /// The driver's word for what the memory was not made for.
    const NOT_PERMITTED: i32 = 800;
    let refusals = [Status::InvalidArgument, Status::InvalidHandle, Status::NotSupported];
    refusals.contains(&error.status()) || error.backend_code() == NOT_PERMITTED
}

fn device_uuid(driver: &dyn Driver, info: &PointerInfo) -> Result<[u8; 16]> {
    match info.kind {
        PointerKind::Device(device) => Ok(driver.device_properties(device)?.uuid),
        _ => Err(Error::invalid_argument("ptr is not memory of a device")),
    }
}

impl Export {
    fn new(
        driver: &dyn Driver,
        handle: IpcHandle,
        info: PointerInfo,
        kind: Kind,
    ) -> Result<Export> {
        Ok(Export { handle, info, uuid: device_uuid(driver, &info)?, kind })
    }

    /// Whether the allocation is still there.
    pub(super) fn is_current(&self) -> Result<bool> {
        Ok(runtime()?.driver().pointer_info(self.info.base.0 as usize)? == self.info)
    }

    /// What a consumer is told that wants to use the memory at an offset; with what it needs to map
    /// virtual memory, and with what keeps the memory for it.
    pub(super) fn answer(
        &self,
        offset: u64,
        descriptor: bool,
    ) -> (Reply, Option<OwnedFd>, Option<Hold>) {
        let reply = |answer| Reply { answer, bytes: self.info.bytes as u64, uuid: self.uuid };
        if offset >= self.info.bytes as u64 {
            return (reply(Answer::BeyondEnd), None, None);
        }
        // Held first: then the allocation cannot go between the two questions.
        let hold = (self.kind == Kind::Own)
            .then(|| shared_blocks::hold((self.info.base.0 + offset) as usize))
            .flatten();
        let freed = self.kind == Kind::Own && hold.is_none();
        match self.is_current() {
            Ok(true) if !freed => {}
            Ok(_) => return (reply(Answer::Freed), None, None),
            Err(_) => return (reply(Answer::Failed), None, None),
        }
        if !descriptor || self.kind != Kind::Virtual {
            return (reply(Answer::Yes), None, hold);
        }
        match self.descriptor() {
            Ok(descriptor) => (reply(Answer::Yes), Some(descriptor), None),
            Err(Refused::NotVirtual) => (reply(Answer::Freed), None, None),
            Err(_) => (reply(Answer::Failed), None, None),
        }
    }

    fn descriptor(&self) -> std::result::Result<OwnedFd, Refused> {
        let driver = runtime().map_err(Refused::Failed)?.driver();
        let _relaxed = RelaxedCapture::enter(driver).map_err(Refused::Failed)?;
        descriptor(driver, self.info.base)
    }
}
