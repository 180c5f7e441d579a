//! The properties of simulated devices, which are those of an invented data-centre GPU.
#![forbid(unsafe_code)]

use sconce_base::config::SimConfig;
use sconce_base::types::DeviceIndex;
use sconce_driver::DeviceProperties;

use crate::kernels::kernel::MAX_THREADS_PER_BLOCK;
use crate::kernels::user::BLOCKS;
use crate::visible::uuid;

/// The properties of the device with a number on the machine.
pub(crate) fn of(config: &SimConfig, number: DeviceIndex) -> DeviceProperties {
    DeviceProperties {
        name: "Sconce Simulated GPU".to_owned(),
        uuid: uuid(number),
        major: 9,
        minor: 0,
        total_memory_bytes: config.memory_bytes.next_multiple_of(crate::host::pages::PAGE),
        multi_processor_count: config.multi_processors,
        max_threads_per_multi_processor: config.threads_per_multi_processor,
        max_threads_per_block: MAX_THREADS_PER_BLOCK as i32,
        warp_size: 32,
        registers_per_multi_processor: 65_536,
        shared_memory_per_block_bytes: 48 << 10,
        shared_memory_per_block_optin_bytes: 227 << 10,
        shared_memory_per_multi_processor_bytes: 228 << 10,
        l2_cache_bytes: 60 << 20,
        clock_rate_khz: 1_980_000,
        memory_clock_rate_khz: 3_201_000,
        memory_bus_width_bits: 6144,
        pci_domain_id: 0,
        // Bus 0 is the host's own.
        pci_bus_id: number.as_i32() + 1,
        pci_device_id: 0,
        integrated: false,
        is_multi_gpu_board: false,
        max_block_size: [1024, 1024, 64],
        max_grid_size: [i32::MAX, 65_535, 65_535],
        constant_memory_bytes: 64 << 10,
        registers_per_block: 65_536,
        max_blocks_per_multi_processor: BLOCKS as i32,
        cooperative_launch: true,
        concurrent_kernels: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_differ_by_uuid_and_bus_and_repeat_themselves() {
        let config = SimConfig { multi_processors: 78, ..SimConfig::default() };
        let [a, b] = [0, 1].map(|index| of(&config, DeviceIndex::new(index).unwrap()));
        assert_eq!(a, of(&config, DeviceIndex::ZERO));
        assert_ne!(a.uuid, b.uuid);
        assert_ne!(a.pci_bus_id, b.pci_bus_id);
        assert_eq!((a.major, a.minor, a.multi_processor_count), (9, 0, 78));
    }
}
