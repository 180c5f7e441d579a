//! Virtual memory: aliases, access rights, and memory that outlives its handle.

use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::prelude::*;
use sconce_driver::{Access, KernelArguments, PointerKind, StreamRef};

use super::support::*;
use crate::Simulator;

const UNIT: usize = 2 * MIB;

fn kernel_fill(sim: &Simulator, on: DeviceIndex, ptr: DevicePtr) -> sconce_base::error::Result<()> {
    let kernel = kernel(sim, on, "sconce_fill_u32");
    let arguments = KernelArguments::new().u64(ptr.0).u64(16).u32(0x0101_0101);
    let stream = StreamRef::default_of(on);
    sim.kernel_launch(kernel, ONE, &arguments, stream)?;
    sim.stream_synchronize(stream)
}

#[test]
fn two_mappings_of_one_memory_are_one_memory() {
    let sim = automatic(1);
    assert_eq!(sim.virtual_granularity(D0).unwrap(), UNIT);
    let range = sim.virtual_reserve(4 * UNIT).unwrap();
    let memory = sim.physical_create(D0, 2 * UNIT, false).unwrap();
    let (first, second) = (range, range.offset(2 * UNIT as u64));
    sim.virtual_map(first, 2 * UNIT, memory, 0).unwrap();
    sim.virtual_map(second, UNIT, memory, UNIT).unwrap();
    sim.virtual_set_access(range, 3 * UNIT, D0, Access::ReadWrite).unwrap();
    // Over the border of the two mappings; the second aliases the upper half of the first.
    let stream = stream(&sim);
    sim.fill_async(DevicePtr(second.0 - 16), 7, 32, stream).unwrap();
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(read_back(&sim, first.offset(UNIT as u64), 16), [7; 16]);
    assert_eq!(read_back(&sim, second.offset(UNIT as u64 - 16), 16), [7; 16]);
    assert_eq!(sim.memory_info(D0).unwrap().free_bytes, 64 * MIB - 2 * UNIT);
    let info = sim.pointer_info(second.0 as usize + 5).unwrap();
    assert_eq!((info.kind, info.base, info.bytes), (PointerKind::Device(D0), second, UNIT));
}

#[test]
fn released_memory_lives_while_mapped_and_fresh_memory_is_poison() {
    let sim = automatic(1);
    let free = || sim.memory_info(D0).unwrap().free_bytes;
    for shareable in [false, true] {
        let range = sim.virtual_reserve(UNIT).unwrap();
        let memory = sim.physical_create(D0, UNIT, shareable).unwrap();
        sim.virtual_map(range, UNIT, memory, 0).unwrap();
        sim.virtual_set_access(range, UNIT, D0, Access::ReadWrite).unwrap();
        sim.physical_release(memory).unwrap();
        assert!(sim.physical_release(memory).is_err());
        assert_eq!(free(), 64 * MIB - UNIT);
        assert_eq!(read_back(&sim, range, 100), [0xFF; 100]);
        assert!(sim.virtual_release(range, UNIT).is_err(), "still mapped");
        sim.virtual_unmap(range, UNIT).unwrap();
        assert_eq!(free(), 64 * MIB);
        sim.virtual_release(range, UNIT).unwrap();
    }
}

#[test]
fn each_device_needs_its_own_right() {
    let sim = automatic(2);
    let range = sim.virtual_reserve(UNIT).unwrap();
    let memory = sim.physical_create(D0, UNIT, false).unwrap();
    sim.virtual_map(range, UNIT, memory, 0).unwrap();
    assert_eq!(kernel_fill(&sim, D0, range).unwrap_err().backend_code(), 700);
    sim.clear_device_error(D0).unwrap();
    sim.virtual_set_access(range, UNIT, D0, Access::Read).unwrap();
    assert_eq!(kernel_fill(&sim, D0, range).unwrap_err().backend_code(), 700);
    sim.clear_device_error(D0).unwrap();
    read_back(&sim, range, 16);
    sim.virtual_set_access(range, UNIT, D0, Access::ReadWrite).unwrap();
    kernel_fill(&sim, D0, range).unwrap();
    // Peer access is for plain memory; here the right itself counts.
    sim.enable_peer_access(device(1), D0).unwrap();
    assert_eq!(kernel_fill(&sim, device(1), range).unwrap_err().backend_code(), 700);
    sim.clear_device_error(device(1)).unwrap();
    sim.virtual_set_access(range, UNIT, device(1), Access::ReadWrite).unwrap();
    kernel_fill(&sim, device(1), range).unwrap();
}

#[test]
fn unmapped_ranges_fault_and_mappings_come_and_go_whole() {
    let sim = automatic(1);
    let range = sim.virtual_reserve(2 * UNIT).unwrap();
    let memory = sim.physical_create(D0, 2 * UNIT, false).unwrap();
    let half = range.offset(UNIT as u64);
    assert!(sim.virtual_map(range.offset(4096), UNIT, memory, 0).is_err());
    assert!(sim.virtual_map(half, 2 * UNIT, memory, 0).is_err(), "beyond the reservation");
    assert!(sim.virtual_map(range, 2 * UNIT, memory, UNIT).is_err(), "beyond the memory");
    sim.virtual_map(range, 2 * UNIT, memory, 0).unwrap();
    assert!(sim.virtual_map(half, UNIT, memory, 0).is_err(), "mapped already");
    assert!(sim.virtual_unmap(half, UNIT).is_err(), "half of a mapping");
    assert!(sim.virtual_set_access(half, UNIT, D0, Access::Read).is_err());
    sim.virtual_set_access(range, 2 * UNIT, D0, Access::ReadWrite).unwrap();
    kernel_fill(&sim, D0, half).unwrap();
    sim.virtual_unmap(range, 2 * UNIT).unwrap();
    assert_eq!(kernel_fill(&sim, D0, half).unwrap_err().backend_code(), 700);
    assert!(sim.virtual_reserve(4096).is_err());
    assert!(sim.physical_create(D0, 4096, false).is_err());
    assert!(sim.memory_free(D0, range).is_err());
}

#[test]
fn memory_passes_by_descriptor() {
    let (here, there) = (automatic(2), automatic(2));
    let map = |sim: &Simulator, memory| {
        let range = sim.virtual_reserve(UNIT).unwrap();
        sim.virtual_map(range, UNIT, memory, 0).unwrap();
        sim.virtual_set_access(range, UNIT, device(1), Access::ReadWrite).unwrap();
        range
    };
    let memory = here.physical_create(device(1), UNIT, true).unwrap();
    let exported = here.physical_export(memory).unwrap();
    let imported = there.physical_import(D0, exported).unwrap();
    let (a, b) = (map(&here, memory), map(&there, imported));
    assert_eq!(there.pointer_info(b.0 as usize).unwrap().kind, PointerKind::Device(device(1)));
    assert_eq!(read_back(&there, b, 8), [0xFF; 8]);
    kernel_fill(&here, device(1), a).unwrap();
    assert_eq!(read_back(&there, b, 8), [1; 8]);
    let private = here.physical_create(D0, UNIT, false).unwrap();
    assert!(here.physical_export(private).is_err());
    let other = std::fs::File::open("/dev/null").unwrap();
    assert!(there.physical_import(D0, other.into()).is_err());
}

/// The content, the figures and the mappings stay when memory moves to a file that others have.
#[test]
fn exported_memory_is_the_same_memory_wherever_it_is_mapped() {
    let sim = automatic(1);
    let free = || sim.memory_info(D0).unwrap().free_bytes;
    let (range, stream) = (sim.virtual_reserve(4 * UNIT).unwrap(), stream(&sim));
    // In pieces: every other unit of the device is taken.
    let pages: Vec<_> = (0..32 * MIB / UNIT).map(|_| sim.memory_alloc(D0, UNIT).unwrap()).collect();
    for page in pages.iter().step_by(2) {
        sim.memory_free(D0, *page).unwrap();
    }
    let before = free();
    let memory = sim.physical_create(D0, 2 * UNIT, true).unwrap();
    let retained = {
        sim.virtual_map(range, 2 * UNIT, memory, 0).unwrap();
        sim.physical_retain(range).unwrap()
    };
    let alias = range.offset(2 * UNIT as u64);
    sim.virtual_map(alias, UNIT, memory, UNIT).unwrap();
    sim.virtual_set_access(range, 3 * UNIT, D0, Access::ReadWrite).unwrap();
    sim.fill_async(range.offset(UNIT as u64 - 8), 3, 16, stream).unwrap();
    sim.stream_synchronize(stream).unwrap();
    for handle in [memory, retained, memory] {
        let imported = sim.physical_import(D0, sim.physical_export(handle).unwrap()).unwrap();
        let there = sim.virtual_reserve(2 * UNIT).unwrap();
        sim.virtual_map(there, 2 * UNIT, imported, 0).unwrap();
        sim.virtual_set_access(there, 2 * UNIT, D0, Access::ReadWrite).unwrap();
        assert_eq!(free(), before - 2 * UNIT, "memory of others counts there");
        assert_eq!(read_back(&sim, there.offset(UNIT as u64 - 9), 10), {
            let mut bytes = [3; 10];
            bytes[0] = 0xFF;
            bytes
        });
        sim.fill_async(there.offset(UNIT as u64), 3, 8, stream).unwrap();
        sim.fill_async(there.offset(UNIT as u64 + 8), 4, 1, stream).unwrap();
        sim.stream_synchronize(stream).unwrap();
        assert_eq!(read_back(&sim, alias, 10), [3, 3, 3, 3, 3, 3, 3, 3, 4, 0xFF]);
        assert_eq!(read_back(&sim, range.offset(UNIT as u64), 9), [3, 3, 3, 3, 3, 3, 3, 3, 4]);
        sim.virtual_unmap(there, 2 * UNIT).unwrap();
        sim.physical_release(imported).unwrap();
        sim.fill_async(range.offset(UNIT as u64 + 8), 0xFF, 1, stream).unwrap();
        sim.stream_synchronize(stream).unwrap();
    }
    sim.virtual_unmap(range, 3 * UNIT).unwrap();
    sim.physical_release(memory).unwrap();
    assert_eq!(free(), before - 2 * UNIT);
    sim.physical_release(retained).unwrap();
    assert_eq!(free(), before);
}

/// Shareable memory takes no descriptor of the process before it is exported.
#[test]
fn shareable_memory_has_no_file_of_its_own_until_it_is_exported() {
    let (sim, own) = (automatic(3), device(2));
    let files = || {
        let links = std::fs::read_dir("/proc/self/fd").unwrap();
        let names = links.filter_map(|link| std::fs::read_link(link.unwrap().path()).ok());
        names.filter(|name| name.to_string_lossy().contains("sconce-sim-physical-2")).count()
    };
    let before = files();
    let memory: Vec<_> = (0..8).map(|_| sim.physical_create(own, UNIT, true).unwrap()).collect();
    assert_eq!(files(), before);
    drop(sim.physical_export(memory[0]).unwrap());
    assert_eq!(files(), before + 1);
    memory.into_iter().for_each(|handle| sim.physical_release(handle).unwrap());
    assert_eq!(files(), before);
}
