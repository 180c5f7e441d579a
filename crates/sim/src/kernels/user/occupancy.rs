//! How many blocks a simulated multiprocessor runs at the same time: as many as its threads, registers, shared
//! memory and places for blocks allow. The numbers of the device are those of its properties; the units in which
//! registers and shared memory are given out are an H100's.
#![forbid(unsafe_code)]

use sconce_driver::{BestBlock, DeviceProperties, KernelAttributes};

use super::registry::SimKernel;

const WARP: u32 = 32;
/// Blocks of a multiprocessor, however small they are.
pub(crate) const BLOCKS: u32 = 32;
/// Registers are given to warps in so many at a time.
const REGISTER_UNIT: u32 = 256;
/// Shared memory of a block that the system takes.
const RESERVED_SHARED: u32 = 1 << 10;
const SHARED_UNIT: u32 = 128;
/// Shared memory that a block may have without permission, and with it.
const SHARED: u32 = 48 << 10;
const SHARED_OPT_IN: u32 = 227 << 10;

/// Dynamic shared memory that a block can have.
pub(super) fn most_dynamic_shared(kernel: &SimKernel) -> u32 {
    SHARED_OPT_IN.saturating_sub(kernel.static_shared_bytes)
}

/// What a kernel needs; `allowed` is the dynamic shared memory that launches may have.
pub(crate) fn attributes(
    kernel: &SimKernel,
    device: &DeviceProperties,
    allowed: Option<u32>,
) -> KernelAttributes {
    let threads = device.max_threads_per_block as u32;
    let by_registers = device.registers_per_multi_processor as u32 / kernel.registers.max(1);
    KernelAttributes {
        registers: kernel.registers,
        static_shared_bytes: kernel.static_shared_bytes,
        local_bytes: 0,
        constant_bytes: 0,
        max_threads_per_block: threads.min(by_registers / WARP * WARP),
        dynamic_shared_bytes: allowed
            .unwrap_or_else(|| SHARED.saturating_sub(kernel.static_shared_bytes)),
        most_dynamic_shared_bytes: most_dynamic_shared(kernel),
    }
}

/// Blocks of a multiprocessor.
pub(crate) fn occupancy(
    kernel: &SimKernel,
    device: &DeviceProperties,
    threads: u32,
    shared_bytes: u32,
) -> u32 {
    let warps = threads.div_ceil(WARP);
    if warps == 0 || threads > device.max_threads_per_block as u32 {
        return 0;
    }
    let by_threads = device.max_threads_per_multi_processor as u32 / (warps * WARP);
    let of_warp = (kernel.registers * WARP).next_multiple_of(REGISTER_UNIT);
    let by_registers = match of_warp {
        0 => BLOCKS,
        of_warp => device.registers_per_multi_processor as u32 / of_warp / warps,
    };
    let of_block = kernel.static_shared_bytes.saturating_add(shared_bytes);
    if of_block > SHARED_OPT_IN {
        return 0;
    }
    let of_block = of_block.next_multiple_of(SHARED_UNIT) + RESERVED_SHARED;
    let by_shared = device.shared_memory_per_multi_processor_bytes as u32 / of_block;
    by_threads.min(by_registers).min(by_shared).min(BLOCKS)
}

/// The largest block with which a multiprocessor runs the most threads.
pub(crate) fn best_block(
    kernel: &SimKernel,
    device: &DeviceProperties,
    shared_bytes: u32,
    most_threads: u32,
) -> BestBlock {
    let largest = attributes(kernel, device, None).max_threads_per_block;
    let most = if most_threads == 0 { largest } else { most_threads.min(largest) };
    // A limit below a warp leaves a block of that size alone.
    let sizes = (1..=most / WARP).map(|warps| warps * WARP).chain((most < WARP).then_some(most));
    let running = |threads: u32| threads * occupancy(kernel, device, threads, shared_bytes);
    let threads = sizes.max_by_key(|threads| (running(*threads), *threads)).unwrap_or(0);
    let blocks = occupancy(kernel, device, threads, shared_bytes);
    BestBlock { threads, min_blocks: blocks * device.multi_processor_count as u32 }
}

#[cfg(test)]
mod tests {
    use sconce_base::config::SimConfig;
    use sconce_base::types::DeviceIndex;
    use sconce_driver::prelude::*;

    use super::*;
    use crate::{SimOptions, Simulator};

    fn kernel(registers: u32, static_shared_bytes: u32) -> SimKernel {
        let function = Box::new(|_: &super::super::SimLaunch<'_>| ());
        SimKernel { name: "k".into(), parameters: vec![], registers, static_shared_bytes, function }
    }

    fn device() -> DeviceProperties {
        let simulator = Simulator::new(&SimConfig::default(), SimOptions::default()).unwrap();
        simulator.device_properties(DeviceIndex::ZERO).unwrap()
    }

    #[test]
    fn each_resource_of_a_multiprocessor_limits_its_blocks() {
        let device = device();
        let blocks = |registers, fixed, threads, shared| {
            occupancy(&kernel(registers, fixed), &device, threads, shared)
        };
        assert_eq!(blocks(16, 0, 256, 0), 8, "threads: 2048");
        assert_eq!(blocks(64, 0, 256, 0), 4, "registers: 65536");
        assert_eq!(blocks(33, 0, 256, 0), 6, "registers are given out in 256 for a warp");
        assert_eq!(
            blocks(16, 0, 256, 99 << 10),
            2,
            "shared memory: 228 KiB, 1 KiB of each reserved"
        );
        assert_eq!(blocks(16, 60 << 10, 256, 60 << 10), 1, "static and dynamic together");
        assert_eq!(blocks(16, 0, 32, 0), 32, "places for blocks");
        assert_eq!([blocks(16, 0, 0, 0), blocks(16, 0, 1025, 0)], [0, 0]);
        assert_eq!(blocks(16, 0, 256, u32::MAX), 0);
    }

    #[test]
    fn the_best_block_fills_the_device_within_the_limit() {
        let device = device();
        let best =
            |registers, shared, most| best_block(&kernel(registers, 0), &device, shared, most);
        assert_eq!(best(16, 0, 0), BestBlock { threads: 1024, min_blocks: 2 * 132 });
        assert_eq!(best(16, 0, 256), BestBlock { threads: 256, min_blocks: 8 * 132 });
        assert_eq!(best(16, 0, 7).threads, 7);
        assert_eq!(best(255, 0, 0).threads, 256, "65536 / 255 registers, in whole warps");
        assert_eq!(best(16, 150 << 10, 0), BestBlock { threads: 1024, min_blocks: 132 });
    }
}
