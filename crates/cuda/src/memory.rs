//! Device memory, and what an address belongs to.
//!
//! The driver's header says that freeing *may* wait for work in flight; the contract says that it
//! does. So `memory_free` waits for its device before the call.

use std::ffi::{c_uint, c_void};
use std::ptr::from_mut;

use cudarc::driver::sys::CUmemorytype_enum::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
use cudarc::driver::sys::CUpointer_attribute as Attribute;
use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Contexts, Devices, Memory, MemoryInfo, PointerInfo, PointerKind, RawAddress};

use super::CudaDriver;
use super::result::{INVALID_CONTEXT, INVALID_VALUE, NOT_INITIALIZED, SUCCESS, released};

/// What the driver says of an address. All are 0 for one it does not know.
#[derive(Default)]
pub(super) struct Attributes {
    memory_type: u64,
    is_managed: u64,
    pub(super) device: u64,
    start: u64,
    bytes: u64,
    mapped: u64,
    id: u64,
}

impl Memory for CudaDriver {
    fn memory_info(&self, device: DeviceIndex) -> Result<MemoryInfo> {
        let (mut free_bytes, mut total_bytes) = (0, 0);
        let get = self.api.cuMemGetInfo()?;
        let _entered = self.enter(device)?;
        // SAFETY: both places outlive the call.
        let code = unsafe { get(&mut free_bytes, &mut total_bytes) };
        self.api.check("cuMemGetInfo_v2", code)?;
        Ok(MemoryInfo { free_bytes, total_bytes })
    }

    fn memory_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<DevicePtr> {
        let mut ptr = 0;
        let alloc = self.api.cuMemAlloc()?;
        let _entered = self.enter(device)?;
        // SAFETY: `ptr` outlives the call.
        let code = unsafe { alloc(&mut ptr, bytes) };
        self.api.check("cuMemAlloc_v2", code)?;
        Ok(DevicePtr(ptr))
    }

    fn memory_free(&self, device: DeviceIndex, ptr: DevicePtr) -> Result<()> {
        released(|| {
            let free = self.api.cuMemFree()?;
            // A thread that cannot wait, since a capture of the device is under way, keeps the memory.
            self.device_synchronize(device)?;
            let _entered = self.enter(device)?;
            // SAFETY: an address; the driver refuses what it did not allocate.
            let code = unsafe { free(ptr.0) };
            self.api.check("cuMemFree_v2", code)
        })
    }

    fn pointer_info(&self, address: usize) -> Result<PointerInfo> {
        let unregistered = PointerInfo::unregistered(address);
        let Some(attributes) = self.pointer_attributes(address)? else { return Ok(unregistered) };
        let whole = PointerInfo {
            base: DevicePtr(if attributes.start == 0 { address as u64 } else { attributes.start }),
            bytes: attributes.bytes as usize,
            id: attributes.id,
            ..unregistered
        };
        if attributes.is_managed as u32 != 0 {
            return Ok(PointerInfo { kind: PointerKind::Managed, ..whole });
        }
        if attributes.memory_type == CU_MEMORYTYPE_HOST as u64 {
            return Ok(PointerInfo { kind: PointerKind::PinnedHost, ..whole });
        }
        let device = DeviceIndex::new(attributes.device as i32);
        let (CU_DEVICE, Some(device)) = (attributes.memory_type, device) else {
            return Ok(unregistered);
        };
        // For mapped virtual memory the attributes describe the reservation, this call the mapping.
        match self.address_range(device, address as u64) {
            Some((base, bytes)) => {
                let kind = PointerKind::Device(device);
                Ok(PointerInfo { kind, base: DevicePtr(base), bytes, ..whole })
            }
            None if attributes.mapped as u32 != 0 => {
                Ok(PointerInfo { kind: PointerKind::Device(device), ..whole })
            }
            None => Ok(unregistered), // reserved, with nothing behind it
        }
    }
}

impl CudaDriver {
    /// Whether an address is ordinary host memory, which the driver can only copy by waiting.
    pub(super) fn is_pageable(&self, address: RawAddress) -> Result<bool> {
        Ok(self.pointer_attributes(address.get())?.is_none())
    }

    /// Whether an address is memory of a device or managed memory.
    pub(super) fn is_device_memory(&self, address: RawAddress) -> Result<bool> {
        let attributes = self.pointer_attributes(address.get())?;
        Ok(attributes.is_some_and(|it| it.memory_type == CU_DEVICE || it.is_managed as u32 != 0))
    }

    /// The attributes of an address that the driver knows. The call needs no context unless the
    /// driver says so, and no number makes it fail; but an earlier failure of queued work does.
    pub(super) fn pointer_attributes(&self, address: usize) -> Result<Option<Attributes>> {
        if address == 0 {
            return Ok(None);
        }
        let mut found = Attributes::default();
        // Each place is 8 bytes of zeros: whatever width an attribute has, its low part is read.
        let names: [c_uint; 7] = [
            Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE as c_uint,
            Attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED as c_uint,
            Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL as c_uint,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR as c_uint,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE as c_uint,
            Attribute::CU_POINTER_ATTRIBUTE_MAPPED as c_uint,
            Attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID as c_uint,
        ];
        let places: [*mut c_void; 7] = [
            from_mut(&mut found.memory_type).cast(),
            from_mut(&mut found.is_managed).cast(),
            from_mut(&mut found.device).cast(),
            from_mut(&mut found.start).cast(),
            from_mut(&mut found.bytes).cast(),
            from_mut(&mut found.mapped).cast(),
            from_mut(&mut found.id).cast(),
        ];
        let get = self.api.cuPointerGetAttributes()?;
        let call = || {
            let (mut names, mut places) = (names, places);
            // SAFETY: as many names as places, each place 8 writable bytes of `found`; the address
            // is only looked up, not followed.
            unsafe {
                get(names.len() as c_uint, names.as_mut_ptr(), places.as_mut_ptr(), address as u64)
            }
        };
        match self.without_context(None, call) {
            SUCCESS if found.memory_type as u32 != 0 => Ok(Some(found)),
            SUCCESS | INVALID_VALUE | INVALID_CONTEXT | NOT_INITIALIZED => Ok(None),
            code => Err(self.api.failure("cuPointerGetAttributes", code)),
        }
    }

    /// Base and size of the allocation or mapping at a device address.
    fn address_range(&self, device: DeviceIndex, address: u64) -> Option<(u64, usize)> {
        let (mut base, mut bytes) = (0, 0);
        let get = self.api.cuMemGetAddressRange().ok()?;
        // The memory exists, so its context does, unless it is someone's mapping: then none
        // appears.
        let device = Some(device).filter(|i| self.context_is_active(*i).unwrap_or(false));
        let _entered = self.enter(device.or_else(|| self.any_active_device())?).ok()?;
        // SAFETY: both places outlive the call; the address is only looked up.
        let code = unsafe { get(&mut base, &mut bytes, address) };
        (code == SUCCESS).then_some((base, bytes))
    }
}

/// `CU_MEMORYTYPE_DEVICE` as attributes hold it.
const CU_DEVICE: u64 = CU_MEMORYTYPE_DEVICE as u64;
