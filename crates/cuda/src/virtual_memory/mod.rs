//! Address space and physical memory, apart from each other.
//!
//! None of these calls works in a context: devices are named in the properties. They are made
//! without one, so that reserving address space for a device does not wake it.

mod rdma;

use std::ffi::c_void;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{from_mut, null_mut};

use cudarc::driver::sys::CUdevice_attribute_enum as Attribute;
use cudarc::driver::sys::CUmemAccess_flags_enum as AccessFlags;
use cudarc::driver::sys::CUmemAllocationGranularity_flags_enum::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
use cudarc::driver::sys::{
    CUmemAccessDesc, CUmemAllocationHandleType as HandleType, CUmemAllocationProp,
    CUmemAllocationProp_st__bindgen_ty_1 as AllocFlags, CUmemAllocationType, CUmemLocation,
    CUmemLocationType,
};

use super::CudaDriver;
use super::result::{INVALID_VALUE, NOT_FOUND, SUCCESS, released};
pub(super) use rdma::RdmaMemory;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Access, PhysicalHandle, VirtualMemory};

const FILE_DESCRIPTOR: HandleType = HandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

impl VirtualMemory for CudaDriver {
    fn virtual_granularity(&self, device: DeviceIndex) -> Result<usize> {
        let properties = self.properties(device, false)?;
        let mut bytes = 0;
        let get = self.api.cuMemGetAllocationGranularity()?;
        let place = from_mut(&mut bytes);
        let option = CU_MEM_ALLOC_GRANULARITY_MINIMUM as u32;
        // SAFETY: the properties and the place outlive the call.
        let code =
            self.without_context(Some(device), || unsafe { get(place, &properties, option) });
        self.api.check("cuMemGetAllocationGranularity", code)?;
        Ok(bytes)
    }

    fn virtual_reserve(&self, bytes: usize) -> Result<DevicePtr> {
        let mut ptr = 0;
        let reserve = self.api.cuMemAddressReserve()?;
        let place = from_mut(&mut ptr);
        // SAFETY: `place` outlives the call; alignment, address and flags 0 leave the choice to the driver.
        let code = self.without_context(None, || unsafe { reserve(place, bytes, 0, 0, 0) });
        self.api.check("cuMemAddressReserve", code)?;
        Ok(DevicePtr(ptr))
    }

    fn virtual_release(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        released(|| {
            let release = self.api.cuMemAddressFree()?;
            // SAFETY: a range; the driver refuses what was not reserved.
            let code = self.without_context(None, || unsafe { release(ptr.0, bytes) });
            self.api.check("cuMemAddressFree", code)
        })
    }

    fn physical_create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle> {
        let rdma = &self.device(device)?.rdma;
        if rdma.is_refused() || !self.supports_rdma(device)? {
            return self.create(device, bytes, shareable, false);
        }
        match self.create(device, bytes, shareable, true) {
            Ok(handle) if rdma.is_usable() => Ok(handle),
            Ok(handle) => self.first_with_rdma(device, bytes, shareable, handle),
            Err(error) if error.status() == Status::OutOfMemory => Err(error),
            Err(_) => {
                let handle = self.create(device, bytes, shareable, false)?;
                rdma.refuse();
                Ok(handle)
            }
        }
    }

    fn physical_release(&self, handle: PhysicalHandle) -> Result<()> {
        released(|| {
            let release = self.api.cuMemRelease()?;
            // SAFETY: physical memory that the driver made, retained or imported; the caller releases the
            // handle once.
            let code = self.without_context(None, || unsafe { release(handle.native()) });
            self.api.check("cuMemRelease", code)
        })
    }

    fn physical_retain(&self, ptr: DevicePtr) -> Result<PhysicalHandle> {
        let mut handle = 0;
        let retain = self.api.cuMemRetainAllocationHandle()?;
        let place = from_mut(&mut handle);
        // SAFETY: `place` outlives the call; the address is only looked up.
        let code = self.without_context(None, || unsafe { retain(place, ptr.0 as *mut c_void) });
        match code {
            SUCCESS => Ok(PhysicalHandle::from_driver(crate::HANDLES, handle)),
            INVALID_VALUE | NOT_FOUND => Err(self
                .api
                .failure_as(Status::InvalidArgument, "cuMemRetainAllocationHandle", code)
                .context(format_args!("ptr: no virtual memory is mapped at {ptr}"))),
            code => Err(self.api.failure("cuMemRetainAllocationHandle", code)),
        }
    }

    fn virtual_map(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()> {
        let map = self.api.cuMemMap()?;
        // SAFETY: physical memory that the driver made and the caller has not released; the caller has
        // reserved the range, and the driver checks that; flags must be 0.
        let code =
            self.without_context(None, || unsafe { map(ptr.0, bytes, offset, handle.native(), 0) });
        self.api.check("cuMemMap", code)
    }

    fn virtual_unmap(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        released(|| {
            let unmap = self.api.cuMemUnmap()?;
            // SAFETY: the driver checks that the range is mapped; the caller has awaited the work that uses it.
            let code = self.without_context(None, || unsafe { unmap(ptr.0, bytes) });
            self.api.check("cuMemUnmap", code)
        })
    }

    fn virtual_set_access(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        device: DeviceIndex,
        access: Access,
    ) -> Result<()> {
        let flags = match access {
            Access::None => AccessFlags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
            Access::Read => AccessFlags::CU_MEM_ACCESS_FLAGS_PROT_READ,
            Access::ReadWrite => AccessFlags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        let description = CUmemAccessDesc { location: self.location(device)?, flags };
        let set = self.api.cuMemSetAccess()?;
        // SAFETY: one description, which outlives the call.
        let code =
            self.without_context(Some(device), || unsafe { set(ptr.0, bytes, &description, 1) });
        self.api.check("cuMemSetAccess", code)
    }

    fn physical_export(&self, handle: PhysicalHandle) -> Result<OwnedFd> {
        let mut fd: i32 = -1;
        let export = self.api.cuMemExportToShareableHandle()?;
        let place = from_mut(&mut fd).cast::<c_void>();
        // SAFETY: for this handle type the driver writes an `int`, which is what `place` points to.
        let code = self.without_context(None, || unsafe {
            export(place, handle.native(), FILE_DESCRIPTOR.0, 0)
        });
        self.api.check("cuMemExportToShareableHandle", code)?;
        if fd < 0 {
            return Err(Error::new(
                Status::Driver,
                "cuMemExportToShareableHandle succeeded but returned no file descriptor",
            ));
        }
        // SAFETY: a descriptor that the driver made for this call's caller, which owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn physical_import(&self, device: DeviceIndex, fd: OwnedFd) -> Result<PhysicalHandle> {
        let mut handle = 0;
        let import = self.api.cuMemImportFromShareableHandle()?;
        let place = from_mut(&mut handle);
        // The driver takes the number itself in place of a pointer, and its own reference to what
        // it names.
        let number = fd.as_raw_fd() as usize as *mut c_void;
        // SAFETY: `place` outlives the call; the descriptor is open until `fd` is dropped.
        let code = self
            .without_context(Some(device), || unsafe { import(place, number, FILE_DESCRIPTOR.0) });
        self.api.check("cuMemImportFromShareableHandle", code)?;
        Ok(PhysicalHandle::from_driver(crate::HANDLES, handle))
    }
}

impl CudaDriver {
    fn location(&self, device: DeviceIndex) -> Result<CUmemLocation> {
        Ok(CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: self.device(device)?.raw,
        })
    }

    /// Whether network adapters may read and write memory of this kind without a copy, as torch asks for expandable
    /// segments.
    fn supports_rdma(&self, device: DeviceIndex) -> Result<bool> {
        let raw = self.device(device)?.raw;
        let supports = Attribute::CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED;
        Ok(self.attribute(raw, supports)? != 0)
    }

    /// Makes physical memory, for GPUDirect RDMA or not.
    fn create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
        with_rdma: bool,
    ) -> Result<PhysicalHandle> {
        let mut properties = self.properties(device, shareable)?;
        properties.allocFlags.gpuDirectRDMACapable = u8::from(with_rdma);
        let mut handle = 0;
        let create = self.api.cuMemCreate()?;
        let place = from_mut(&mut handle);
        // SAFETY: the properties and the place outlive the call.
        let code =
            self.without_context(Some(device), || unsafe { create(place, bytes, &properties, 0) });
        self.api.check("cuMemCreate", code)?;
        Ok(PhysicalHandle::from_driver(crate::HANDLES, handle))
    }

    fn properties(&self, device: DeviceIndex, shareable: bool) -> Result<CUmemAllocationProp> {
        Ok(CUmemAllocationProp {
            type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            requestedHandleTypes: if shareable {
                FILE_DESCRIPTOR
            } else {
                HandleType::CU_MEM_HANDLE_TYPE_NONE
            },
            location: self.location(device)?,
            win32HandleMetaData: null_mut(),
            allocFlags: AllocFlags {
                compressionType: 0,
                gpuDirectRDMACapable: 0,
                usage: 0,
                reserved: [0; 4],
            },
        })
    }
}
