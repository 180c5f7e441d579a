//! What a driver tells about devices, memory and processes.

use crate::types::{DeviceIndex, DevicePtr};

/// Which driver is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA's driver.
    Cuda,
    /// The simulated device.
    Sim,
}

impl Backend {
    /// The word used in `SCONCE_BACKEND` and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Cuda => "cuda",
            Backend::Sim => "sim",
        }
    }
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProperties {
    /// Marketing name.
    pub name: String,
    /// Unique id, the same in every process and after every reboot.
    pub uuid: [u8; 16],
    /// Compute capability, major part.
    pub major: i32,
    /// Compute capability, minor part.
    pub minor: i32,
    /// All of the device's memory, in bytes.
    pub total_memory_bytes: u64,
    /// Streaming multiprocessors.
    pub multi_processor_count: i32,
    /// Threads a multiprocessor can hold.
    pub max_threads_per_multi_processor: i32,
    /// Threads a block can have.
    pub max_threads_per_block: i32,
    /// Threads a warp has.
    pub warp_size: i32,
    /// 32-bit registers a multiprocessor has.
    pub registers_per_multi_processor: i32,
    /// Shared memory a block can have without opting in, in bytes.
    pub shared_memory_per_block_bytes: u64,
    /// Shared memory a block can have after opting in, in bytes.
    pub shared_memory_per_block_optin_bytes: u64,
    /// Shared memory a multiprocessor has, in bytes.
    pub shared_memory_per_multi_processor_bytes: u64,
    /// L2 cache, in bytes.
    pub l2_cache_bytes: u64,
    /// Core clock, in kHz.
    pub clock_rate_khz: i32,
    /// Memory clock, in kHz.
    pub memory_clock_rate_khz: i32,
    /// Width of the memory bus, in bits.
    pub memory_bus_width_bits: i32,
    /// PCI domain.
    pub pci_domain_id: i32,
    /// PCI bus.
    pub pci_bus_id: i32,
    /// PCI device.
    pub pci_device_id: i32,
    /// Shares the host's memory.
    pub integrated: bool,
    /// One of several GPUs on a board.
    pub is_multi_gpu_board: bool,
}

/// Free and total memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that an allocation could still get.
    pub free_bytes: usize,
    /// All bytes of the device.
    pub total_bytes: usize,
}

/// A process that holds memory of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Process id, in the management library's own numbering.
    pub pid: u32,
    /// Bytes held; `None` when the system does not tell.
    pub used_bytes: Option<u64>,
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
    /// Of device memory: a number that nothing else in the process has had, so that memory at an
    /// address that was used before is told from what was there. 0 when unregistered.
    pub id: u64,
}

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
