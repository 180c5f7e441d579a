//! An exported allocation, and its replies to consumers.

use std::os::fd::OwnedFd;

use sconce_base::error::{Cause, Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Driver, IpcHandle, PointerInfo, PointerKind, RelaxedCapture};

use super::message::{Answer, PAGES_AT_ONCE, Reply, SentPage};
use crate::context::runtime;
use crate::memory::shared_blocks::{self, Hold, PagedHold};
use crate::memory::shared_pages::{self, PagedBlock};

/// Memory that other processes may open.
pub(super) struct Export {
    pub(super) handle: IpcHandle,
    uuid: [u8; 16],
    pub(super) memory: ExportedMemory,
}

/// Exported memory, and whose it is. An allocation is as the driver described it when it was exported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportedMemory {
    /// A segment of this library's allocator. A consumer holds the blocks that it uses.
    Segment(PointerInfo),
    /// A block of pages of this library's allocator. A consumer holds it.
    Pages(PagedBlock),
    /// Memory that a caller got from the driver.
    Foreign(PointerInfo),
    /// Virtual memory of a caller. It stays with the processes that have opened it, whatever happens here.
    Virtual(PointerInfo),
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

/// The device of an allocation.
pub(super) fn device_of(info: &PointerInfo) -> Result<DeviceIndex> {
    match info.kind {
        PointerKind::Device(device) => Ok(device),
        _ => Err(Error::invalid_argument("ptr is not memory of a device")),
    }
}

impl ExportedMemory {
    /// Its bytes, and its device's UUID.
    pub(super) fn describe(&self, driver: &dyn Driver) -> Result<(u64, [u8; 16])> {
        let device = match self {
            ExportedMemory::Pages(block) => block.device,
            ExportedMemory::Segment(info)
            | ExportedMemory::Foreign(info)
            | ExportedMemory::Virtual(info) => device_of(info)?,
        };
        Ok((self.bytes(), driver.device_properties(device)?.uuid))
    }

    fn bytes(&self) -> u64 {
        match self {
            ExportedMemory::Pages(block) => block.bytes as u64,
            ExportedMemory::Segment(info)
            | ExportedMemory::Foreign(info)
            | ExportedMemory::Virtual(info) => info.bytes as u64,
        }
    }
}

impl Export {
    pub(super) fn new(
        driver: &dyn Driver,
        handle: IpcHandle,
        memory: ExportedMemory,
    ) -> Result<Export> {
        let (_, uuid) = memory.describe(driver)?;
        Ok(Export { handle, uuid, memory })
    }

    /// Whether the memory still exists.
    pub(super) fn is_current(&self) -> Result<bool> {
        match self.memory {
            ExportedMemory::Pages(block) => Ok(shared_blocks::is_shared(&block)),
            ExportedMemory::Segment(info)
            | ExportedMemory::Foreign(info)
            | ExportedMemory::Virtual(info) => {
                Ok(runtime()?.driver().pointer_info(info.base.0 as usize)? == info)
            }
        }
    }

    fn reply(&self, answer: Answer) -> Reply {
        Reply { answer, bytes: self.memory.bytes(), uuid: self.uuid }
    }

    /// The reply to a consumer that opens the memory at an offset, with the hold that keeps the memory for it.
    pub(super) fn answer(&self, offset: u64) -> (Reply, Option<Hold>) {
        if offset >= self.memory.bytes() {
            return (self.reply(Answer::BeyondEnd), None);
        }
        let (answer, hold) = match self.memory {
            ExportedMemory::Pages(block) => hold_paged(&block, offset),
            ExportedMemory::Segment(info) => {
                // Held first, so that the allocation cannot be freed between the two checks.
                match shared_blocks::hold((info.base.0 + offset) as usize) {
                    Some(hold) => (self.existence(), Some(hold)),
                    None => (Answer::Freed, None),
                }
            }
            ExportedMemory::Foreign(_) | ExportedMemory::Virtual(_) => (self.existence(), None),
        };
        (self.reply(answer), hold.filter(|_| answer == Answer::Yes))
    }

    fn existence(&self) -> Answer {
        match self.is_current() {
            Ok(true) => Answer::Yes,
            Ok(false) => Answer::Freed,
            Err(_) => Answer::Failed,
        }
    }

    /// The reply to a consumer that maps the memory, with its pages from one on. `held`: the consumer holds the memory,
    /// or has opened memory that is not held.
    pub(super) fn pages(&self, from: u64, held: bool) -> (Reply, Vec<SentPage>) {
        let pages = match self.memory {
            _ if !held => Err(Answer::Freed),
            ExportedMemory::Pages(block) => self.pages_of(&block, from),
            ExportedMemory::Virtual(_) if from == 0 => self.virtual_page(),
            _ => Err(Answer::BeyondEnd),
        };
        match pages {
            Ok(pages) => (self.reply(Answer::Yes), pages),
            Err(answer) => (self.reply(answer), Vec::new()),
        }
    }

    fn pages_of(
        &self,
        block: &PagedBlock,
        from: u64,
    ) -> std::result::Result<Vec<SentPage>, Answer> {
        let driver = runtime().map_err(|_| Answer::Failed)?.driver();
        let _relaxed = RelaxedCapture::enter(driver).map_err(|_| Answer::Failed)?;
        let pages = shared_pages::of(block).into_iter();
        let these = pages.skip(from as usize).take(PAGES_AT_ONCE);
        let sent = these.map(|page| {
            let descriptor = driver.physical_export(page.handle).map_err(|_| Answer::Failed)?;
            Ok(SentPage { bytes: page.bytes, descriptor })
        });
        sent.collect()
    }

    fn virtual_page(&self) -> std::result::Result<Vec<SentPage>, Answer> {
        match self.existence() {
            Answer::Yes => {}
            other => return Err(other),
        }
        match self.descriptor() {
            Ok(descriptor) => Ok(vec![SentPage { bytes: self.memory.bytes(), descriptor }]),
            Err(Refused::NotVirtual) => Err(Answer::Freed),
            Err(_) => Err(Answer::Failed),
        }
    }

    fn descriptor(&self) -> std::result::Result<OwnedFd, Refused> {
        let ExportedMemory::Virtual(info) = self.memory else { return Err(Refused::NotVirtual) };
        let driver = runtime().map_err(Refused::Failed)?.driver();
        let _relaxed = RelaxedCapture::enter(driver).map_err(Refused::Failed)?;
        descriptor(driver, info.base)
    }
}

/// Holds a block of pages for a consumer that opens it at an offset of its pages.
fn hold_paged(block: &PagedBlock, offset: u64) -> (Answer, Option<Hold>) {
    // The first and the last page may hold parts of other blocks.
    let at = block.base + offset as usize;
    if at < block.address || at >= block.end {
        return (Answer::Freed, None);
    }
    match shared_blocks::hold_paged(block) {
        PagedHold::Held(hold) => (Answer::Yes, Some(hold)),
        PagedHold::Asleep => (Answer::Asleep, None),
        PagedHold::Gone => (Answer::Freed, None),
    }
}
