//! Devices: what they are, their peers, and who uses them.

use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;

use crate::support::stage::{Outcome, Stage, fails_with};

crate::support::runner::tests![
    the_count_is_fixed_and_positive,
    properties_describe_a_device,
    devices_are_told_apart,
    memory_info_agrees_with_the_properties,
    every_device_can_access_itself,
    peer_access_can_be_enabled_twice,
    processes_are_listed_or_the_library_is_missing,
    an_idle_device_synchronizes,
    queries_refuse_devices_that_do_not_exist,
];

fn the_count_is_fixed_and_positive(stage: &Stage<'_>) -> Outcome {
    let count = stage.driver.device_count();
    assert!(count > 0);
    stage.driver.bind_device(DeviceIndex::ZERO)?;
    assert_eq!(stage.driver.device_count(), count);
    stage.driver.unbind_device()?;
    assert_eq!(stage.driver.device_count(), count);
    Ok(())
}

fn properties_describe_a_device(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let is = stage.driver.device_properties(device)?;
        assert!(!is.name.trim().is_empty());
        assert!(is.major > 0 && is.minor >= 0);
        assert!(is.total_memory_bytes > 0);
        assert_eq!(is.warp_size, 32);
        for positive in [
            is.multi_processor_count,
            is.max_threads_per_multi_processor,
            is.registers_per_multi_processor,
            is.clock_rate_khz,
            is.memory_clock_rate_khz,
            is.memory_bus_width_bits,
            is.registers_per_block,
            is.max_blocks_per_multi_processor,
        ]
        .into_iter()
        .chain(is.max_block_size)
        .chain(is.max_grid_size)
        {
            assert!(positive > 0, "{is:?}");
        }
        assert!(is.registers_per_block <= is.registers_per_multi_processor, "{is:?}");
        assert_eq!(is.max_block_size[0], is.max_threads_per_block, "{is:?}");
        assert_eq!(is.max_grid_size[0], i32::MAX, "{is:?}");
        assert_eq!(is.constant_memory_bytes, 64 << 10, "{is:?}");
        assert!(is.cooperative_launch && is.concurrent_kernels, "{is:?}");
        assert!(is.max_threads_per_block >= 256, "the tests launch blocks of 256");
        assert!(is.max_threads_per_block <= is.max_threads_per_multi_processor);
        let (block, optin, processor) = (
            is.shared_memory_per_block_bytes,
            is.shared_memory_per_block_optin_bytes,
            is.shared_memory_per_multi_processor_bytes,
        );
        assert!(0 < block && block <= optin && optin <= processor, "{is:?}");
        assert!(is.l2_cache_bytes > 0);
        assert_eq!(stage.driver.device_properties(device)?, is, "asked twice");
    }
    Ok(())
}

fn devices_are_told_apart(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let (a, b) = (stage.driver.device_properties(first)?, stage.driver.device_properties(second)?);
    assert_ne!(a.uuid, b.uuid);
    let place =
        |p: &sconce_driver::DeviceProperties| (p.pci_domain_id, p.pci_bus_id, p.pci_device_id);
    assert_ne!(place(&a), place(&b));
    Ok(())
}

fn memory_info_agrees_with_the_properties(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let info = stage.driver.memory_info(device)?;
        let total = stage.driver.device_properties(device)?.total_memory_bytes;
        assert_eq!(info.total_bytes as u64, total);
        assert!(info.free_bytes > 0 && info.free_bytes <= info.total_bytes, "{info:?}");
    }
    Ok(())
}

fn every_device_can_access_itself(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        assert!(stage.driver.can_access_peer(device, device)?);
    }
    Ok(())
}

fn peer_access_can_be_enabled_twice(stage: &Stage<'_>) -> Outcome {
    let (device, peer) = stage.two_peers()?;
    for _ in 0..3 {
        stage.driver.enable_peer_access(device, peer)?;
    }
    Ok(())
}

fn processes_are_listed_or_the_library_is_missing(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let _memory = stage.memory(device, 1 << 20)?;
        match stage.driver.device_processes(device) {
            Ok(processes) => {
                let mut pids: Vec<u32> = processes.iter().map(|process| process.pid).collect();
                pids.sort_unstable();
                pids.dedup();
                assert_eq!(pids.len(), processes.len(), "a process is listed twice: {processes:?}");
            }
            // The management library is not part of the driver; it may be missing or mute.
            Err(error) => assert!(
                matches!(error.status(), Status::LibraryNotFound | Status::NotSupported),
                "{error}"
            ),
        }
    }
    Ok(())
}

fn an_idle_device_synchronizes(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        stage.driver.device_synchronize(device)?;
    }
    Ok(())
}

fn queries_refuse_devices_that_do_not_exist(stage: &Stage<'_>) -> Outcome {
    let driver = stage.driver;
    for index in [driver.device_count(), 63] {
        let Some(beyond) = DeviceIndex::new(index) else { continue };
        if index < driver.device_count() {
            continue;
        }
        fails_with(driver.device_properties(beyond), Status::InvalidDevice);
        fails_with(driver.memory_info(beyond), Status::InvalidDevice);
        fails_with(driver.device_synchronize(beyond), Status::InvalidDevice);
        fails_with(driver.device_processes(beyond), Status::InvalidDevice);
        fails_with(driver.can_access_peer(beyond, DeviceIndex::ZERO), Status::InvalidDevice);
        fails_with(driver.can_access_peer(DeviceIndex::ZERO, beyond), Status::InvalidDevice);
        fails_with(driver.enable_peer_access(DeviceIndex::ZERO, beyond), Status::InvalidDevice);
        fails_with(driver.context_is_active(beyond), Status::InvalidDevice);
        fails_with(driver.bind_device(beyond), Status::InvalidDevice);
    }
    Ok(())
}
