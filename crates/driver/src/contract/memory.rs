//! Device memory, and what memory an address belongs to.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `memory_info` | – | may make the device's context: CUDA reports the figures nowhere else | no |
//! | `memory_alloc` | `bytes > 0` | at least `bytes`, aligned to 512; contents undefined, not zero | may wait for the device |
//! | `memory_free` | pointer from `memory_alloc`, not freed | all work queued on the device before the call has finished; the address is invalid. A failed free leaves the memory as it was, which is what happens while a stream of the device is captured | until the device is idle |
//! | `pointer_info` | – | any number is accepted; no context appears | no |

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};

/// Free and total memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that an allocation could still get.
    pub free_bytes: usize,
    /// All bytes of the device.
    pub total_bytes: usize,
}

/// What kind of memory an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerKind {
    /// A device's memory.
    Device(DeviceIndex),
    /// Page-locked host memory that the driver knows.
    PinnedHost,
    /// Managed memory.
    Managed,
    /// Nothing the driver knows: ordinary host memory, or no memory at all.
    Unregistered,
}

/// What a driver knows about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerInfo {
    /// The kind.
    pub kind: PointerKind,
    /// Start of the allocation or mapping; the address itself when unregistered.
    pub base: DevicePtr,
    /// Size of the allocation or mapping in bytes; 0 when unregistered.
    pub bytes: usize,
    /// For device memory a number that no other allocation of the process ever has, which
    /// distinguishes two allocations at one address. 0 when unregistered.
    pub id: u64,
}

impl PointerInfo {
    /// An address of which the driver knows nothing.
    pub const fn unregistered(address: usize) -> PointerInfo {
        let (kind, base) = (PointerKind::Unregistered, DevicePtr(address as u64));
        PointerInfo { kind, base, bytes: 0, id: 0 }
    }
}

/// The device memory of a driver.
pub trait Memory: Send + Sync {
    /// Free and total memory of the device, in bytes. The only query that may make the device's
    /// context.
    fn memory_info(&self, device: DeviceIndex) -> Result<MemoryInfo>;
    /// Allocates device memory with undefined contents.
    fn memory_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<DevicePtr>;
    /// Frees device memory after waiting for the device.
    fn memory_free(&self, device: DeviceIndex, ptr: DevicePtr) -> Result<()>;
    /// What memory an address belongs to.
    fn pointer_info(&self, address: usize) -> Result<PointerInfo>;
}
