//! The memory calls: arguments checked, faults struck, then the address space asked.
#![forbid(unsafe_code)]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use crate::driver::{Access, MemoryInfo, PhysicalHandle, ProcessUsage, RawAddress};
use crate::error::{Error, Result};
use crate::types::{DeviceIndex, DevicePtr};

use super::ipc::memory_file_name;
use crate::driver::sim::Inner;
use crate::driver::sim::call::Call;
use crate::driver::sim::codes;
use crate::driver::sim::host::pages::{is_mapped, is_sealed};
use crate::driver::sim::memory::{AddressSpace, Backing, PHYSICAL_FILE};

fn check_size(call: Call, bytes: usize) -> Result<()> {
    if bytes > 0 {
        return Ok(());
    }
    Err(codes::failure_because(call, codes::INVALID_VALUE, "bytes must not be 0"))
}

fn out_of_memory(call: Call, device: DeviceIndex, bytes: usize) -> impl FnOnce(i32) -> Error {
    move |code| {
        let what = format!("{bytes} bytes on device {device}");
        codes::failure_because(call, code, what)
    }
}

fn not_pinned(call: Call, code: i32, address: usize, by: &str) -> Error {
    codes::failure_because(call, code, format_args!("{address:#x} did not come from {by}"))
}

impl Inner {
    /// Does something to the address space; its code becomes the failure of `call`.
    pub(crate) fn in_space<T>(
        &self,
        call: Call,
        change: impl FnOnce(&mut AddressSpace) -> std::result::Result<T, i32>,
    ) -> Result<T> {
        change(&mut self.space.write()).map_err(|code| codes::failure(call, code))
    }

    pub(crate) fn memory_info(&self, call: Call, device: DeviceIndex) -> Result<MemoryInfo> {
        self.check_error(call, device)?;
        let space = self.space.read();
        let total_bytes = space.total() as usize;
        Ok(MemoryInfo { free_bytes: total_bytes - space.used(device) as usize, total_bytes })
    }

    /// This process, if it holds memory of the device.
    pub(crate) fn device_processes(&self, device: DeviceIndex) -> Vec<ProcessUsage> {
        let used = self.space.read().used(device);
        let own = ProcessUsage { pid: std::process::id(), used_bytes: Some(used) };
        if used > 0 { vec![own] } else { Vec::new() }
    }

    pub(crate) fn virtual_reserve(&self, call: Call, bytes: usize) -> Result<DevicePtr> {
        self.in_space(call, |space| space.reserve(bytes as u64)).map(DevicePtr)
    }

    pub(crate) fn virtual_map(
        &self,
        call: Call,
        (ptr, bytes): (DevicePtr, usize),
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()> {
        self.in_space(call, |space| space.map(ptr.0, bytes as u64, handle.0, offset as u64))
    }

    pub(crate) fn set_access(
        &self,
        call: Call,
        (ptr, bytes): (DevicePtr, usize),
        device: DeviceIndex,
        access: Access,
    ) -> Result<()> {
        self.in_space(call, |space| space.set_access(ptr.0, bytes as u64, device, access))
    }

    pub(crate) fn memory_alloc(
        &self,
        call: Call,
        device: DeviceIndex,
        bytes: usize,
    ) -> Result<DevicePtr> {
        check_size(call, bytes)?;
        self.check_error(call, device)?;
        self.check_held_back(call)?;
        let allocated = if self.faults.of_allocation() {
            Err(codes::OUT_OF_MEMORY)
        } else {
            self.space.write().alloc(device, bytes as u64)
        };
        allocated.map(DevicePtr).map_err(out_of_memory(call, device, bytes))
    }

    pub(crate) fn memory_free(
        &self,
        call: Call,
        device: DeviceIndex,
        ptr: DevicePtr,
    ) -> Result<()> {
        let check = |space: &AddressSpace| {
            if space.is_plain(device, ptr.0) {
                return Ok(());
            }
            let why = format!("ptr {ptr} is not the start of a live allocation of device {device}");
            Err(codes::failure_because(call, codes::INVALID_VALUE, why))
        };
        check(&self.space.read())?;
        self.await_device(call, device)?;
        self.forget_export(ptr.0);
        let mut space = self.space.write();
        // Someone else may have freed it during the wait.
        check(&space)?;
        space.remove(ptr.0).map_err(|code| codes::failure(call, code))
    }

    pub(crate) fn host_alloc(
        &self,
        call: Call,
        device: DeviceIndex,
        bytes: usize,
    ) -> Result<usize> {
        check_size(call, bytes)?;
        self.check_error(call, device)?;
        self.check_held_back(call)?;
        self.in_space(call, |space| space.pinned_alloc(bytes))
    }

    pub(crate) fn host_free(&self, call: Call, address: usize) -> Result<()> {
        self.unpin(call, address, true)
    }

    pub(crate) fn host_register(
        &self,
        call: Call,
        device: DeviceIndex,
        address: RawAddress,
        bytes: usize,
    ) -> Result<()> {
        check_size(call, bytes)?;
        self.check_error(call, device)?;
        self.check_held_back(call)?;
        let mut space = self.space.write();
        let number = address.get();
        if number == 0 || space.is_device_address(number) || !is_mapped(number, bytes) {
            let why = "the range is not all host memory";
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        }
        let memory = address.host(bytes)?;
        space.pinned_register(memory).map_err(|code| {
            codes::failure_because(call, code, "the range cannot be registered as a whole")
        })
    }

    pub(crate) fn host_unregister(&self, call: Call, address: usize) -> Result<()> {
        self.unpin(call, address, false)
    }

    /// Waits for work that may use the range, then forgets it.
    fn unpin(&self, call: Call, address: usize, made: bool) -> Result<()> {
        let check = |space: &AddressSpace| {
            if space.is_pinned_start(address, made) {
                return Ok(());
            }
            Err(if made {
                not_pinned(call, codes::INVALID_VALUE, address, "host_alloc")
            } else {
                not_pinned(call, codes::MEMORY_NOT_REGISTERED, address, "host_register")
            })
        };
        check(&self.space.read())?;
        self.await_all_devices(call)?;
        let mut space = self.space.write();
        check(&space)?;
        space.pinned_remove(address);
        Ok(())
    }

    pub(crate) fn physical_create(
        &self,
        call: Call,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle> {
        self.check_error(call, device)?;
        self.check_held_back(call)?;
        let created = if self.faults.of_allocation() {
            Err(codes::OUT_OF_MEMORY)
        } else {
            self.space.write().create(device, bytes as u64, shareable)
        };
        created.map(PhysicalHandle).map_err(out_of_memory(call, device, bytes))
    }

    pub(crate) fn physical_export(&self, call: Call, handle: PhysicalHandle) -> Result<OwnedFd> {
        let mut space = self.space.write();
        let file = match space.physical(handle.0) {
            Some(physical) if physical.backing != Backing::DevicePages => physical.file.try_clone(),
            Some(_) => {
                let why = "the physical memory was not made shareable";
                return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
            }
            None => return Err(codes::failure(call, codes::INVALID_VALUE)),
        };
        // The other process cannot know which pages are untouched.
        space.touch_physical(handle.0).map_err(|code| codes::failure(call, code))?;
        file.map(OwnedFd::from).map_err(|_| codes::failure(call, codes::OPERATING_SYSTEM))
    }

    pub(crate) fn physical_import(&self, call: Call, file: File) -> Result<PhysicalHandle> {
        // The file's name tells what it is and whose.
        let device = memory_file_name(&file)
            .and_then(|name| DeviceIndex::new(name.strip_prefix(PHYSICAL_FILE)?.parse().ok()?))
            .filter(|device| device.as_i32() < self.config.devices && is_sealed(&file, false));
        let Some(device) = device else {
            let why = "fd did not come from physical_export of a simulated device";
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        };
        self.in_space(call, |space| space.import(device, file)).map(PhysicalHandle)
    }

    pub(crate) fn physical_retain(&self, call: Call, ptr: DevicePtr) -> Result<PhysicalHandle> {
        self.space.write().retain(ptr.0).map(PhysicalHandle).map_err(|code| {
            codes::failure_because(
                call,
                code,
                format_args!("ptr {ptr} is no mapped virtual memory"),
            )
        })
    }

    pub(crate) fn enable_peer(
        &self,
        call: Call,
        device: DeviceIndex,
        peer: DeviceIndex,
    ) -> Result<()> {
        self.check_device(call, peer)?;
        if !self.peer_allowed(device, peer) {
            let why = format!("device {device} cannot access device {peer}");
            return Err(codes::failure_because(call, codes::PEER_ACCESS_UNSUPPORTED, why));
        }
        // Peer access is between contexts, so both come to be.
        for device in [device, peer] {
            self.contexts[device.as_usize()].store(true, Ordering::Release);
        }
        self.check_error(call, device)?;
        self.space.write().enable_peer(device, peer);
        Ok(())
    }

    pub(crate) fn peer_allowed(&self, device: DeviceIndex, peer: DeviceIndex) -> bool {
        let denied = &self.denied_peers[device.as_usize()];
        device == peer || denied.load(Ordering::Relaxed) >> peer.as_usize() & 1 == 0
    }
}
