//! Virtual memory: address space and physical memory, and mappings between the two.
#![forbid(unsafe_code)]

use std::fs::File;
use std::os::fd::OwnedFd;

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Access, PhysicalHandle, VirtualMemory};

use super::memory::out_of_memory;
use crate::call::Call;
use crate::codes;
use crate::host::pages::is_sealed;
use crate::memory::{GRANULARITY, NotExported, PHYSICAL_FILE};
use crate::processes::handle::memory_file_name;
use crate::state::Simulator;

impl VirtualMemory for Simulator {
    fn virtual_granularity(&self, device: DeviceIndex) -> Result<usize> {
        self.inner.enter_device(Call::VirtualGranularity, device)?;
        Ok(GRANULARITY as usize)
    }

    fn virtual_reserve(&self, bytes: usize) -> Result<DevicePtr> {
        let (inner, call) = (&self.inner, Call::VirtualReserve);
        inner.enter(call)?;
        inner.in_space(call, |space| space.reserve(bytes as u64)).map(DevicePtr)
    }

    fn virtual_release(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        self.inner.enter(Call::VirtualRelease)?;
        self.inner.in_space(Call::VirtualRelease, |space| space.unreserve(ptr.0, bytes as u64))
    }

    fn physical_create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle> {
        let (inner, call) = (&self.inner, Call::PhysicalCreate);
        inner.enter_context(call, device)?;
        inner.check_error(call, device)?;
        inner.check_held_back(call)?;
        let created = if inner.faults.of_allocation() {
            Err(codes::OUT_OF_MEMORY)
        } else {
            inner.space.write().create(device, bytes as u64, shareable)
        };
        created
            .map(|number| PhysicalHandle::from_driver(crate::HANDLES, number))
            .map_err(out_of_memory(call, device, bytes))
    }

    fn physical_release(&self, handle: PhysicalHandle) -> Result<()> {
        self.inner.enter(Call::PhysicalRelease)?;
        self.inner.check_held_back(Call::PhysicalRelease)?;
        self.inner.in_space(Call::PhysicalRelease, |space| space.release(handle.native()))
    }

    fn physical_retain(&self, ptr: DevicePtr) -> Result<PhysicalHandle> {
        let (inner, call) = (&self.inner, Call::PhysicalRetain);
        inner.enter(call)?;
        inner
            .space
            .write()
            .retain(ptr.0)
            .map(|number| PhysicalHandle::from_driver(crate::HANDLES, number))
            .map_err(|code| {
                codes::failure_because(
                    call,
                    code,
                    format_args!("ptr {ptr} is not mapped virtual memory"),
                )
            })
    }

    fn virtual_map(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()> {
        self.inner.enter(Call::VirtualMap)?;
        self.inner.check_held_back(Call::VirtualMap)?;
        self.inner.in_space(Call::VirtualMap, |space| {
            space.map(ptr.0, bytes as u64, handle.native(), offset as u64)
        })
    }

    fn virtual_unmap(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        self.inner.enter(Call::VirtualUnmap)?;
        self.inner.check_held_back(Call::VirtualUnmap)?;
        self.inner.in_space(Call::VirtualUnmap, |space| space.unmap(ptr.0, bytes as u64))
    }

    fn virtual_set_access(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        device: DeviceIndex,
        access: Access,
    ) -> Result<()> {
        self.inner.enter_context(Call::VirtualSetAccess, device)?;
        self.inner.check_held_back(Call::VirtualSetAccess)?;
        self.inner.in_space(Call::VirtualSetAccess, |space| {
            space.set_access(ptr.0, bytes as u64, device, access)
        })
    }

    fn physical_export(&self, handle: PhysicalHandle) -> Result<OwnedFd> {
        let (inner, call) = (&self.inner, Call::PhysicalExport);
        inner.enter(call)?;
        let exported = inner.space.write().export(handle.native());
        exported.map(OwnedFd::from).map_err(|why| match why {
            NotExported::Private => codes::failure_because(
                call,
                codes::INVALID_VALUE,
                "the physical memory was not made shareable",
            ),
            NotExported::Failed(code) => codes::failure(call, code),
        })
    }

    fn physical_import(&self, device: DeviceIndex, fd: OwnedFd) -> Result<PhysicalHandle> {
        let (inner, call) = (&self.inner, Call::PhysicalImport);
        inner.enter_context(call, device)?;
        inner.check_held_back(call)?;
        let file = File::from(fd);
        // The file's name contains its kind and its device.
        let device = memory_file_name(&file)
            .and_then(|name| DeviceIndex::new(name.strip_prefix(PHYSICAL_FILE)?.parse().ok()?))
            .and_then(|number| inner.visible.numbered(number))
            .filter(|_| is_sealed(&file, false));
        let Some(device) = device else {
            let why = "fd did not come from physical_export of a simulated device";
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        };
        inner
            .in_space(call, |space| space.import(device, file))
            .map(|number| PhysicalHandle::from_driver(crate::HANDLES, number))
    }
}
