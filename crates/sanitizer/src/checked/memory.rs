//! Memory: what is allocated, mapped and shared, and the allocator's blocks.
#![forbid(unsafe_code)]

use std::any::Any;
use std::os::fd::OwnedFd;

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    Access, EventHandle, HostElements, HostMemory, Ipc, IpcHandle, Memory, MemoryInfo, Observe,
    PhysicalHandle, PointerInfo, RawAddress, StreamRef, VirtualMemory,
};

use super::{CheckedDriver, learns, pass_on};
use crate::pending::Awaited;
use crate::scope;

impl Memory for CheckedDriver {
    pass_on! {
        memory_info(device: DeviceIndex) -> Result<MemoryInfo>;
        pointer_info(address: usize) -> Result<PointerInfo>;
    }

    fn memory_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<DevicePtr> {
        let ptr = self.inner.memory_alloc(device, bytes)?;
        self.sanitizer.note(|checker| checker.allocated(ptr.0, bytes as u64));
        Ok(ptr)
    }

    fn memory_free(&self, device: DeviceIndex, ptr: DevicePtr) -> Result<()> {
        let bytes = self.inner.pointer_info(ptr.0 as usize).map_or(0, |info| info.bytes as u64);
        // Before the call: after it, another thread may have the address.
        let was = self.sanitizer.note(|checker| checker.released(ptr.0, bytes));
        let zones = self.take_zones(ptr.0, bytes);
        let awaited = Awaited::Device(device);
        let target = self.sanitizer.note(|checker| checker.target(awaited));
        let watch = self.sanitizer.awaits(awaited);
        if let Err(error) = self.inner.memory_free(device, ptr) {
            // The memory is still the caller's, who may use it as before.
            self.sanitizer.note(|checker| checker.not_released(was));
            self.put_zones_back(zones);
            return Err(error);
        }
        drop(watch);
        // The driver has waited for the device.
        self.sanitizer.note(|checker| target.map(|target| learns(checker, awaited, &target)));
        Ok(())
    }
}

impl HostMemory for CheckedDriver {
    fn host_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<usize> {
        let address = self.inner.host_alloc(device, bytes)?;
        self.sanitizer.pinned.lock().insert(address, bytes);
        Ok(address)
    }

    fn host_free(&self, address: usize) -> Result<()> {
        let _watch = self.sanitizer.awaits(Awaited::AllDevices);
        self.forget_pinned(address, || self.inner.host_free(address))
    }

    fn host_register(&self, device: DeviceIndex, address: RawAddress, bytes: usize) -> Result<()> {
        self.inner.host_register(device, address, bytes)?;
        self.sanitizer.pinned.lock().insert(address.get(), bytes);
        Ok(())
    }

    fn host_unregister(&self, address: usize) -> Result<()> {
        let _watch = self.sanitizer.awaits(Awaited::AllDevices);
        self.forget_pinned(address, || self.inner.host_unregister(address))
    }
}

impl CheckedDriver {
    /// `call` frees pinned memory.
    fn forget_pinned(&self, address: usize, call: impl FnOnce() -> Result<()>) -> Result<()> {
        // Before the call: after it, another thread may have the address.
        let bytes = self.sanitizer.pinned.lock().remove(&address);
        let all = bytes.unwrap_or(0) as u64;
        let (was, target) = self.sanitizer.note(|checker| {
            (checker.forget(address as u64, all), checker.target(Awaited::AllDevices))
        });
        if let Err(error) = call() {
            self.sanitizer.pinned.lock().extend(bytes.map(|bytes| (address, bytes)));
            self.sanitizer.note(|checker| checker.not_released(was));
            return Err(error);
        }
        // The driver has waited for all devices.
        self.sanitizer
            .note(|checker| target.map(|target| learns(checker, Awaited::AllDevices, &target)));
        Ok(())
    }
}

impl VirtualMemory for CheckedDriver {
    pass_on! {
        virtual_granularity(device: DeviceIndex) -> Result<usize>;
        virtual_reserve(bytes: usize) -> Result<DevicePtr>;
        virtual_release(ptr: DevicePtr, bytes: usize) -> Result<()>;
        virtual_set_access(ptr: DevicePtr, bytes: usize, device: DeviceIndex, access: Access) -> Result<()>;
        physical_import(device: DeviceIndex, fd: OwnedFd) -> Result<PhysicalHandle>;
    }

    fn physical_create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle> {
        let handle = self.inner.physical_create(device, bytes, shareable)?;
        self.sanitizer.note(|checker| checker.physical_created(handle.native(), bytes as u64));
        Ok(handle)
    }

    /// Whoever gets the memory may write it.
    fn physical_export(&self, handle: PhysicalHandle) -> Result<OwnedFd> {
        self.sanitizer.note(|checker| checker.physical_shared(handle.native()));
        self.inner.physical_export(handle)
    }

    fn physical_retain(&self, ptr: DevicePtr) -> Result<PhysicalHandle> {
        let handle = self.inner.physical_retain(ptr)?;
        self.sanitizer.note(|checker| checker.physical_retained(ptr.0, handle.native()));
        Ok(handle)
    }

    fn virtual_map(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()> {
        self.sanitizer
            .note(|checker| checker.mapped(ptr.0, bytes as u64, handle.native(), offset as u64));
        let mapped = self.inner.virtual_map(ptr, bytes, handle, offset);
        if mapped.is_err() {
            self.sanitizer.note(|checker| {
                let was = checker.unmapped(ptr.0, bytes as u64);
                checker.were_unmapped(was);
            });
        }
        mapped
    }

    fn virtual_unmap(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        // Before the call: after it, another thread may map something else there.
        let was = self.sanitizer.note(|checker| checker.unmapped(ptr.0, bytes as u64));
        // What pools that fall asleep hold may be lost.
        let zones = self.take_zones(ptr.0, bytes as u64);
        self.wait_for_readers(ptr.0, bytes as u64);
        let unmapped = self.inner.virtual_unmap(ptr, bytes);
        if unmapped.is_err() {
            self.put_zones_back(zones);
        }
        self.sanitizer.note(|checker| match unmapped {
            Ok(()) => checker.were_unmapped(was),
            Err(_) => checker.not_unmapped(was),
        });
        unmapped
    }

    fn physical_release(&self, handle: PhysicalHandle) -> Result<()> {
        // Before the call: after it, another thread may have a handle of that number.
        let was = self.sanitizer.note(|checker| checker.handle_dropped(handle.native()));
        let released = self.inner.physical_release(handle);
        if let (Err(_), Some(was)) = (&released, was) {
            self.sanitizer.note(|checker| checker.handle_not_dropped(was));
        }
        released
    }
}

impl Ipc for CheckedDriver {
    pass_on! {
        ipc_event_export(event: EventHandle) -> Result<IpcHandle>;
    }

    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle> {
        let handle = self.inner.ipc_memory_export(ptr)?;
        let bytes = self.inner.pointer_info(ptr.0 as usize).map_or(0, |info| info.bytes as u64);
        self.sanitizer.note(|checker| checker.shared(ptr.0, bytes));
        Ok(handle)
    }

    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr> {
        let ptr = self.inner.ipc_memory_open(device, handle)?;
        let bytes = self.inner.pointer_info(ptr.0 as usize).map_or(0, |info| info.bytes as u64);
        self.sanitizer.tell(|checker| checker.import_opened(ptr.0, bytes));
        Ok(ptr)
    }

    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()> {
        self.inner.ipc_memory_close(ptr)?;
        self.sanitizer.note(|checker| checker.import_closed(ptr.0));
        Ok(())
    }

    fn ipc_event_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<EventHandle> {
        let event = self.inner.ipc_event_open(device, handle)?;
        self.sanitizer.note(|checker| checker.event_opened(event.native()));
        Ok(event)
    }
}

impl Observe for CheckedDriver {
    fn memory_sleeps(&self, ptr: DevicePtr, bytes: usize, pool: u64) {
        self.sanitizer.note(|checker| checker.sleeps(ptr.0, bytes as u64));
        self.inner.memory_sleeps(ptr, bytes, pool);
    }

    pass_on! {
        memory_wakes(ptr: DevicePtr) -> ();
    }

    fn moves_memory(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(scope::Scope::moves_memory()))
    }

    fn asks_for_itself(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(scope::Scope::asks_for_itself()))
    }

    fn needs_no_contents(&self, ptr: DevicePtr, bytes: usize) {
        self.sanitizer.note(|checker| checker.shared(ptr.0, bytes as u64));
    }

    /// An address of memory that was given back counts as the program's own memory, which the processor would read.
    fn address_passed(&self, address: usize) -> Result<()> {
        self.sanitizer.passed_address(address)
    }

    fn observes_host(&self) -> bool {
        self.sanitizer.is_enabled()
    }

    fn host_used(&self, elements: &HostElements<'_>, writes: bool) {
        self.sanitizer.host_uses(elements, writes);
    }

    fn host_waits_for(&self, event: EventHandle) -> Option<Box<dyn Any>> {
        let watch = self.sanitizer.awaits(Awaited::Event(event.native()))?;
        Some(Box::new(watch))
    }

    fn observes_blocks(&self) -> bool {
        true
    }

    fn block_handed_out(&self, stream: StreamRef, block: DevicePtr, bytes: usize) {
        let capture = self.sanitizer.capture_of(stream);
        self.sanitizer.tell(|checker| {
            checker.found_capture(stream, capture);
            checker.handed_out(stream, block.0, bytes as u64);
        });
        if self.inner.observes_blocks() {
            self.inner.block_handed_out(stream, block, bytes);
        }
        self.guard(stream, block, bytes);
    }

    fn block_used(&self, stream: StreamRef, block: DevicePtr) {
        self.sanitizer.tell(|checker| checker.block_used(stream, block.0));
        if self.inner.observes_blocks() {
            self.inner.block_used(stream, block);
        }
    }

    fn block_unused(&self, stream: StreamRef, block: DevicePtr, bytes: usize) {
        self.poison(stream, block, bytes);
        if self.inner.observes_blocks() {
            self.inner.block_unused(stream, block, bytes);
        }
    }

    fn host_block_handed_out(&self, address: usize, bytes: usize) {
        self.sanitizer.tell(|checker| checker.pinned_handed_out(address as u64, bytes as u64));
        if self.inner.observes_blocks() {
            self.inner.host_block_handed_out(address, bytes);
        }
    }

    fn host_block_used(&self, stream: StreamRef, address: usize) {
        self.sanitizer.tell(|checker| checker.block_used(stream, address as u64));
        if self.inner.observes_blocks() {
            self.inner.host_block_used(stream, address);
        }
    }

    fn host_block_taken_back(&self, address: usize) {
        self.sanitizer.tell(|checker| checker.taken_back(address as u64));
        if self.inner.observes_blocks() {
            self.inner.host_block_taken_back(address);
        }
    }

    fn quarantine_ended(&self, stream: StreamRef, block: DevicePtr) {
        self.compare_freed(stream, block);
        if self.inner.observes_blocks() {
            self.inner.quarantine_ended(stream, block);
        }
    }

    fn guard_bytes(&self) -> usize {
        self.guards_of_blocks()
    }

    fn quarantine_bytes(&self) -> usize {
        self.sanitizer.config.quarantine_mb << 20
    }

    fn block_taken_back(&self, stream: StreamRef, block: DevicePtr) {
        self.sanitizer.tell(|checker| checker.taken_back(block.0));
        if self.inner.observes_blocks() {
            self.inner.block_taken_back(stream, block);
        }
    }
}
