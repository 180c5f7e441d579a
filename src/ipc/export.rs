//! An exported allocation, and its replies to consumers.

use std::os::fd::OwnedFd;

use super::message::{Answer, Reply};
use crate::context::runtime;
use crate::driver::{Driver, IpcHandle, PointerInfo, PointerKind, RelaxedCapture};
use crate::error::{Cause, Error, Result, Status};
use crate::memory::shared_blocks::{self, Hold};
use crate::types::DevicePtr;

/// An allocation of the driver that other processes may open.
pub(super) struct Export {
    pub(super) handle: IpcHandle,
    /// The allocation as the driver described it when it was exported.
    pub(super) info: PointerInfo,
    uuid: [u8; 16],
    pub(super) kind: ExportKind,
}

/// The owner of exported memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportKind {
    /// This library's allocator. A consumer holds the blocks that it uses.
    Own,
    /// A caller that got the memory from the driver.
    Foreign,
    /// Virtual memory. It stays with the processes that have opened it, whatever happens here.
    Virtual,
}

/// Why there is no descriptor of memory.
pub(super) enum Refused {
    /// The memory is not virtual memory.
    NotVirtual,
    /// The virtual memory was not made to be shared.
    NotShareable(Error),
    /// The driver failed.
    Failed(Error),
}

/// A descriptor of the physical memory that is mapped at an address.
pub(super) fn descriptor(
    driver: &dyn Driver,
    ptr: DevicePtr,
) -> std::result::Result<OwnedFd, Refused> {
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

/// Whether an error means that the driver does not do this with such memory, rather than that it
/// failed.
pub(super) fn is_refusal(error: &Error) -> bool {
    let refusals = [Status::InvalidArgument, Status::InvalidHandle, Status::NotSupported];
    refusals.contains(&error.status()) || error.cause() == Some(Cause::NotPermitted)
}

/// The UUID of the device of an allocation.
pub(super) fn device_uuid(driver: &dyn Driver, info: &PointerInfo) -> Result<[u8; 16]> {
    match info.kind {
        PointerKind::Device(device) => Ok(driver.device_properties(device)?.uuid),
        _ => Err(Error::invalid_argument("ptr is not memory of a device")),
    }
}

impl Export {
    pub(super) fn new(
        driver: &dyn Driver,
        handle: IpcHandle,
        info: PointerInfo,
        kind: ExportKind,
    ) -> Result<Export> {
        Ok(Export { handle, info, uuid: device_uuid(driver, &info)?, kind })
    }

    /// Whether the allocation still exists.
    pub(super) fn is_current(&self) -> Result<bool> {
        Ok(runtime()?.driver().pointer_info(self.info.base.0 as usize)? == self.info)
    }

    /// The reply to a consumer that opens the memory at an offset, with the descriptor by which it
    /// maps virtual memory, and the hold that keeps the memory for it.
    pub(super) fn answer(
        &self,
        offset: u64,
        descriptor: bool,
    ) -> (Reply, Option<OwnedFd>, Option<Hold>) {
        let reply = |answer| Reply { answer, bytes: self.info.bytes as u64, uuid: self.uuid };
        if offset >= self.info.bytes as u64 {
            return (reply(Answer::BeyondEnd), None, None);
        }
        // Held first, so that the allocation cannot be freed between the two checks.
        let hold = (self.kind == ExportKind::Own)
            .then(|| shared_blocks::hold((self.info.base.0 + offset) as usize))
            .flatten();
        let freed = self.kind == ExportKind::Own && hold.is_none();
        match self.is_current() {
            Ok(true) if !freed => {}
            Ok(_) => return (reply(Answer::Freed), None, None),
            Err(_) => return (reply(Answer::Failed), None, None),
        }
        if !descriptor || self.kind != ExportKind::Virtual {
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
