//! Which devices there are, what they are, and which of them can be peers.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | queries | index below `device_count` | no context appears | no |
//! | `device_synchronize` | – | all work queued before on the device has finished; makes no context | yes |
//! | `enable_peer_access` | `can_access_peer` | kernels of `device` may use `peer`'s memory; enabling twice is fine | no |
//!
//! By default no device can access another one, and there is no report of processes (`NotSupported`).

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::lacks;

/// What a device is. The default is 0 and empty throughout: a driver names what its devices have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Threads that a block can have in x, y and z.
    pub max_block_size: [i32; 3],
    /// Blocks that a grid can have in x, y and z.
    pub max_grid_size: [i32; 3],
    /// Constant memory, in bytes.
    pub constant_memory_bytes: u64,
    /// 32-bit registers that a block can have.
    pub registers_per_block: i32,
    /// Blocks that a multiprocessor can hold.
    pub max_blocks_per_multi_processor: i32,
    /// Launches grids whose blocks can wait for each other.
    pub cooperative_launch: bool,
    /// Runs several kernels at the same time.
    pub concurrent_kernels: bool,
}

/// A process that holds memory of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Process id, in the management library's own numbering.
    pub pid: u32,
    /// Bytes held; `None` when the system does not report them.
    pub used_bytes: Option<u64>,
}

/// The devices of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Devices: Send + Sync {
    /// How many devices there are; fixed for the life of the driver.
    fn device_count(&self) -> i32;
    /// What the device is.
    fn device_properties(&self, device: DeviceIndex) -> Result<DeviceProperties>;
    /// Waits until the device has finished all work queued so far.
    fn device_synchronize(&self, device: DeviceIndex) -> Result<()>;
    /// The processes that hold memory of the device, as the system's management library reports them.
    fn device_processes(&self, device: DeviceIndex) -> Result<Vec<ProcessUsage>> {
        lacks("device_processes", "reports of the processes on a device")
    }
    /// Whether kernels of `device` could use `peer`'s memory. A device can always access itself.
    fn can_access_peer(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<bool> {
        Ok(device == peer)
    }
    /// Lets kernels of `device` use `peer`'s memory. Succeeds if that is enabled already.
    fn enable_peer_access(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<()> {
        lacks("enable_peer_access", "peers")
    }
}
