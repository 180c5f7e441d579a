//! Memory for GPUDirect RDMA: whether a device's driver makes it, and lets the device use it.
//!
//! In WSL devices say that they support it. Some drivers then refuse to make the memory, and others make it and refuse
//! every access to it (999), so the first memory of each device is mapped and opened once before anybody gets it.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Access, PhysicalHandle, VirtualMemory};

use super::super::CudaDriver;

/// What is known of a device's memory for GPUDirect RDMA.
#[derive(Default)]
pub(crate) struct RdmaMemory {
    refused: AtomicBool,
    usable: AtomicBool,
}

impl RdmaMemory {
    /// Whether the driver has refused such memory, or access to it.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// No such memory is made from now on.
    pub(super) fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }

    /// Whether the device could use such memory.
    pub(super) fn is_usable(&self) -> bool {
        self.usable.load(Ordering::Relaxed)
    }
}

impl CudaDriver {
    /// Tries the first memory that was made for RDMA on a device. If the driver refuses access to it, memory without
    /// RDMA takes its place, provided that the device can use that.
    pub(super) fn first_with_rdma(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
        handle: PhysicalHandle,
    ) -> Result<PhysicalHandle> {
        let rdma = &self.device(device)?.rdma;
        match self.try_access(device, bytes, handle) {
            Ok(Ok(())) => {
                rdma.usable.store(true, Ordering::Relaxed);
                return Ok(handle);
            }
            Ok(Err(error)) if error.status() != Status::OutOfMemory => {}
            Ok(Err(error)) | Err(error) => return Err(self.release_after(error, handle)),
        }
        self.physical_release(handle)?;
        let plain = self.create(device, bytes, shareable, false)?;
        match self.try_access(device, bytes, plain).and_then(|access| access) {
            Ok(()) => {
                rdma.refuse();
                Ok(plain)
            }
            Err(error) => Err(self.release_after(error, plain)),
        }
    }

    /// Releases memory because of an error.
    fn release_after(&self, error: Error, handle: PhysicalHandle) -> Error {
        match self.physical_release(handle) {
            Ok(()) => error,
            Err(second) => error.followed_by(format_args!("and then: {second}")),
        }
    }

    /// Maps memory at addresses of its own, opens it to its device, and undoes both. The outer result is that of the
    /// calls around the access, the inner one that of the access.
    fn try_access(
        &self,
        device: DeviceIndex,
        bytes: usize,
        handle: PhysicalHandle,
    ) -> Result<Result<()>> {
        let at = self.virtual_reserve(bytes)?;
        let mapped = self.virtual_map(at, bytes, handle, 0);
        let access =
            mapped.is_ok().then(|| self.virtual_set_access(at, bytes, device, Access::ReadWrite));
        // What the driver does not unmap keeps its addresses.
        if access.is_some() {
            self.virtual_unmap(at, bytes)?;
        }
        self.virtual_release(at, bytes)?;
        mapped.map(|()| access.unwrap_or(Ok(())))
    }
}
