//! Address space and physical memory, apart from each other.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `virtual_reserve`, `virtual_release` | multiple of the granularity; released space is unmapped | address space only, nothing mapped | no |
//! | `physical_create`, `physical_release` | multiple of the granularity | memory without an address; released memory lives on while it is mapped | no |
//! | `physical_retain` | – | one more handle of the memory that is mapped at the address; `INVALID_ARGUMENT` where no virtual memory is mapped | no |
//! | `virtual_map`, `virtual_unmap` | range reserved and (un)mapped as a whole; handle live; no queued work uses it; CUDA maps from offset 0 only | mapped without access rights; two mappings of one handle alias | no |
//! | `virtual_set_access` | range mapped | the device may use the range | no |
//! | `physical_export`, `physical_import` | memory made `shareable` | both processes hold the memory | no |
//!
//! By default every method is `NotSupported`.

use std::os::fd::OwnedFd;

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};

use super::{PhysicalHandle, lacks};

/// What a device may do with mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    None,
    /// Read.
    Read,
    /// Read and write.
    ReadWrite,
}

/// The address space and the physical memory of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait VirtualMemory: Send + Sync {
    /// The unit of physical memory and of mappings, in bytes.
    fn virtual_granularity(&self, device: DeviceIndex) -> Result<usize> {
        lacks("virtual_granularity", "virtual memory")
    }
    /// Reserves address space.
    fn virtual_reserve(&self, bytes: usize) -> Result<DevicePtr> {
        lacks("virtual_reserve", "virtual memory")
    }
    /// Releases reserved address space, all of which must be unmapped.
    fn virtual_release(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        lacks("virtual_release", "virtual memory")
    }
    /// Makes physical memory on a device; `shareable` allows `physical_export`.
    fn physical_create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle> {
        lacks("physical_create", "virtual memory")
    }
    /// Drops the handle. The memory is freed with its last mapping.
    fn physical_release(&self, handle: PhysicalHandle) -> Result<()> {
        lacks("physical_release", "virtual memory")
    }
    /// A handle of the physical memory that is mapped at `ptr`, to be released like any other.
    fn physical_retain(&self, ptr: DevicePtr) -> Result<PhysicalHandle> {
        lacks("physical_retain", "virtual memory")
    }
    /// Maps `bytes` of `handle` from `offset` at `ptr`.
    fn virtual_map(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()> {
        lacks("virtual_map", "virtual memory")
    }
    /// Undoes whole mappings in the range.
    fn virtual_unmap(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        lacks("virtual_unmap", "virtual memory")
    }
    /// Sets what `device` may do with a mapped range.
    fn virtual_set_access(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        device: DeviceIndex,
        access: Access,
    ) -> Result<()> {
        lacks("virtual_set_access", "virtual memory")
    }
    /// A file descriptor that another process can import.
    fn physical_export(&self, handle: PhysicalHandle) -> Result<OwnedFd> {
        lacks("physical_export", "virtual memory")
    }
    /// Physical memory from another process's descriptor.
    fn physical_import(&self, device: DeviceIndex, fd: OwnedFd) -> Result<PhysicalHandle> {
        lacks("physical_import", "virtual memory")
    }
}
