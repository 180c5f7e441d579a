//! The struct of a device's properties.

use std::ffi::c_char;
use std::mem::{offset_of, size_of};

use sconce_driver::DeviceProperties;

/// Properties of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_device_properties {
    /// `sizeof(sconce_device_properties)`, set by the caller.
    pub struct_size: u32,
    /// Compute capability, major part.
    pub major: i32,
    /// Compute capability, minor part.
    pub minor: i32,
    /// Streaming multiprocessors.
    pub multi_processor_count: i32,
    /// Marketing name, NUL-terminated.
    pub name: [c_char; 256],
    /// Unique id, the same in every process.
    pub uuid: [u8; 16],
    /// Total memory of the device, in bytes.
    pub total_memory_bytes: u64,
    /// L2 cache, in bytes.
    pub l2_cache_bytes: u64,
    /// Shared memory a block can have without opting in, in bytes.
    pub shared_memory_per_block_bytes: u64,
    /// Shared memory a block can have after opting in, in bytes.
    pub shared_memory_per_block_optin_bytes: u64,
    /// Shared memory a multiprocessor has, in bytes.
    pub shared_memory_per_multi_processor_bytes: u64,
    /// Threads a multiprocessor can hold.
    pub max_threads_per_multi_processor: i32,
    /// Threads a block can have.
    pub max_threads_per_block: i32,
    /// Threads a warp has.
    pub warp_size: i32,
    /// 32-bit registers a multiprocessor has.
    pub registers_per_multi_processor: i32,
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
    /// 1 when the device shares the host's memory, else 0.
    pub integrated: i32,
    /// 1 when the device is one of several on a board, else 0.
    pub is_multi_gpu_board: i32,
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
    /// 1 when the device supports cooperative launches, whose blocks can wait for each other, else
    /// 0.
    pub cooperative_launch: i32,
    /// 1 when the device runs several kernels at the same time, else 0.
    pub concurrent_kernels: i32,
}

grows!(
    sconce_device_properties, "SCONCE_DEVICE_PROPERTIES_INIT", first version: 376 bytes,
    major, minor, multi_processor_count, name, uuid, total_memory_bytes, l2_cache_bytes,
    shared_memory_per_block_bytes, shared_memory_per_block_optin_bytes,
    shared_memory_per_multi_processor_bytes, max_threads_per_multi_processor, max_threads_per_block,
    warp_size, registers_per_multi_processor, clock_rate_khz, memory_clock_rate_khz,
    memory_bus_width_bits, pci_domain_id, pci_bus_id, pci_device_id, integrated, is_multi_gpu_board,
    max_block_size, max_grid_size, constant_memory_bytes, registers_per_block,
    max_blocks_per_multi_processor, cooperative_launch, concurrent_kernels,
);

const _: () = {
    assert!(size_of::<sconce_device_properties>() == 424);
    assert!(offset_of!(sconce_device_properties, name) == 16);
    assert!(offset_of!(sconce_device_properties, uuid) == 272);
    assert!(offset_of!(sconce_device_properties, total_memory_bytes) == 288);
    assert!(offset_of!(sconce_device_properties, max_threads_per_multi_processor) == 328);
    assert!(offset_of!(sconce_device_properties, max_block_size) == 376);
    assert!(offset_of!(sconce_device_properties, constant_memory_bytes) == 400);
};

impl sconce_device_properties {
    pub(crate) fn from_core(properties: &DeviceProperties) -> Self {
        let mut name = [0; 256];
        // The last byte stays NUL.
        for (to, from) in name[..255].iter_mut().zip(properties.name.bytes()) {
            *to = from as c_char;
        }
        sconce_device_properties {
            struct_size: size_of::<Self>() as u32,
            major: properties.major,
            minor: properties.minor,
            multi_processor_count: properties.multi_processor_count,
            name,
            uuid: properties.uuid,
            total_memory_bytes: properties.total_memory_bytes,
            l2_cache_bytes: properties.l2_cache_bytes,
            shared_memory_per_block_bytes: properties.shared_memory_per_block_bytes,
            shared_memory_per_block_optin_bytes: properties.shared_memory_per_block_optin_bytes,
            shared_memory_per_multi_processor_bytes: properties
                .shared_memory_per_multi_processor_bytes,
            max_threads_per_multi_processor: properties.max_threads_per_multi_processor,
            max_threads_per_block: properties.max_threads_per_block,
            warp_size: properties.warp_size,
            registers_per_multi_processor: properties.registers_per_multi_processor,
            clock_rate_khz: properties.clock_rate_khz,
            memory_clock_rate_khz: properties.memory_clock_rate_khz,
            memory_bus_width_bits: properties.memory_bus_width_bits,
            pci_domain_id: properties.pci_domain_id,
            pci_bus_id: properties.pci_bus_id,
            pci_device_id: properties.pci_device_id,
            integrated: i32::from(properties.integrated),
            is_multi_gpu_board: i32::from(properties.is_multi_gpu_board),
            max_block_size: properties.max_block_size,
            max_grid_size: properties.max_grid_size,
            constant_memory_bytes: properties.constant_memory_bytes,
            registers_per_block: properties.registers_per_block,
            max_blocks_per_multi_processor: properties.max_blocks_per_multi_processor,
            cooperative_launch: i32::from(properties.cooperative_launch),
            concurrent_kernels: i32::from(properties.concurrent_kernels),
        }
    }
}
