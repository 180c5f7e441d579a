//! Plain device memory, pinned memory, and copies.

use std::time::Duration;

use sconce_base::config::SimConfig;
use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{Access, KernelArguments, PointerKind};

use super::support::*;
use crate::{SimOptions, Simulator};

#[test]
fn the_limit_is_exact_and_memory_info_follows() {
    let sim = automatic(2);
    let free = |index| sim.memory_info(device(index)).unwrap().free_bytes;
    assert_eq!(free(0), 64 * MIB);
    let all = sim.memory_alloc(D0, 64 * MIB).unwrap();
    assert_eq!((free(0), free(1)), (0, 64 * MIB));
    let failure = sim.memory_alloc(D0, 1).unwrap_err();
    assert_eq!((failure.status(), failure.backend_code()), (Status::OutOfMemory, 2));
    sim.memory_free(D0, all).unwrap();
    assert_eq!(free(0), 64 * MIB);
    sim.memory_alloc(D0, 513).unwrap();
    assert_eq!(free(0), 64 * MIB - 4096);
    let usage = sim.device_processes(D0).unwrap();
    assert_eq!((usage[0].pid, usage[0].used_bytes), (std::process::id(), Some(4096)));
    assert!(sim.device_processes(device(1)).unwrap().is_empty());
    assert_eq!(sim.memory_alloc(D0, usize::MAX).unwrap_err().status(), Status::OutOfMemory);
    assert_eq!(sim.memory_alloc(D0, 0).unwrap_err().status(), Status::InvalidArgument);
}

#[test]
fn memory_in_pieces_is_one_range_to_its_user() {
    let sim = automatic(1);
    let blocks: Vec<_> = (0..32).map(|_| sim.memory_alloc(D0, 2 * MIB).unwrap()).collect();
    for block in blocks.iter().step_by(2) {
        sim.memory_free(D0, *block).unwrap();
    }
    // 32 MiB are free, nowhere more than 2 MiB in a piece.
    let large = sim.memory_alloc(D0, 32 * MIB).unwrap();
    let pattern: Vec<u8> = (0..32 * MIB).map(|i| (i / 4096 * 7) as u8).collect();
    sim.copy_async(large.into(), host_of(&pattern), pattern.len(), stream(&sim)).unwrap();
    assert!(read_back(&sim, large, pattern.len()) == pattern);
}

#[test]
fn a_machine_of_more_memory_than_addresses_is_refused_with_words() {
    for (devices, memory_bytes) in [(1, u64::MAX), (64, 2 << 40), (2, (32 << 40) + 1)] {
        let config = SimConfig { devices, memory_bytes, ..SimConfig::default() };
        let error = Simulator::new(&config, SimOptions::default()).err().unwrap();
        assert_eq!(error.status(), Status::InvalidArgument);
        let words = format!("sim_memory_bytes is {memory_bytes}; with {devices} devices");
        assert!(error.message().contains(&words), "{error}");
    }
}

#[test]
fn fresh_memory_is_poison_and_freed_memory_is_fresh_again() {
    let sim = simulator(1, SimOptions { reuse_addresses: false, ..SimOptions::default() });
    let ptr = sim.memory_alloc(D0, 64 * MIB).unwrap();
    assert_eq!(read_back(&sim, ptr, 8192), [0xFF; 8192]);
    // A part of a page is written: the rest of the page is poison, not zeros.
    let part = ptr.offset(MIB as u64 + 10);
    sim.fill_async(part, 0, 20, stream(&sim)).unwrap();
    sim.device_synchronize(D0).unwrap();
    let page = read_back(&sim, ptr.offset(MIB as u64), 4096);
    assert!(
        page.iter()
            .enumerate()
            .all(|(i, byte)| *byte == if (10..30).contains(&i) { 0 } else { 0xFF })
    );
    sim.fill_async(ptr, 5, MIB, stream(&sim)).unwrap();
    sim.memory_free(D0, ptr).unwrap();
    let again = sim.memory_alloc(D0, 64 * MIB).unwrap();
    assert_ne!(again, ptr, "freed addresses rest");
    assert_eq!(read_back(&sim, again, MIB), vec![0xFF; MIB]);
}

#[test]
fn untouched_and_freed_memory_costs_the_host_nothing() {
    let sim = automatic(1);
    let cost = || sim.inner.space.read().host_bytes(D0);
    let ptr = sim.memory_alloc(D0, 64 * MIB).unwrap();
    assert_eq!(cost(), 0);
    sim.fill_async(ptr.offset(5), 1, 1, stream(&sim)).unwrap();
    sim.device_synchronize(D0).unwrap();
    assert_eq!(cost(), 4096);
    sim.memory_free(D0, ptr).unwrap();
    assert_eq!(cost(), 0);
}

#[test]
fn kernels_that_use_memory_after_free_or_outside_hit_an_illegal_address() {
    for (freed, start, elements) in [(true, 0, 1), (false, 0, 2049), (false, -4, 2), (false, 4, 1)]
    {
        let sim = automatic(1);
        let (ptr, stream) = (sim.memory_alloc(D0, 8192).unwrap(), stream(&sim));
        // There is a next one, but not right behind.
        sim.memory_alloc(D0, 8192).unwrap();
        if freed {
            sim.memory_free(D0, ptr).unwrap();
        }
        let address = ptr.0.wrapping_add_signed(start);
        let arguments = KernelArguments::new().u64(address).u64(elements).u32(1);
        sim.kernel_launch(kernel(&sim, D0, "sconce_add_u32"), ONE, &arguments, stream).unwrap();
        let end = sim.stream_synchronize(stream);
        if start == 4 {
            end.unwrap();
        } else {
            assert_eq!(end.unwrap_err().backend_code(), 700, "{freed} {start} {elements}");
        }
    }
}

#[test]
fn fills_and_copies_of_bad_ranges_are_refused_at_once() {
    let sim = manual(1);
    let (stream, ptr) = (stream(&sim), sim.memory_alloc(D0, 8192).unwrap());
    let freed = sim.memory_alloc(D0, 8192).unwrap();
    sim.memory_free(D0, freed).unwrap();
    let refused = [
        sim.fill_async(freed, 0, 8, stream),
        sim.fill_async(ptr, 0, 8193, stream),
        sim.fill_async(DevicePtr(ptr.0 - 1), 0, 2, stream),
        sim.fill_async(DevicePtr(8), 0, 2, stream),
        sim.copy_async(ptr.into(), freed.into(), 8, stream),
        sim.copy_async(freed.into(), ptr.into(), 8, stream),
        sim.copy_async(ptr.into(), ptr.into(), 8193, stream),
        sim.copy_peer_async((D0, freed), (D0, ptr), 8, stream),
        // Three rows of 8 bytes end at byte 8192 where they are 4092 apart.
        sim.fill_2d_async((ptr, 4093), 0, 8, 3, stream),
        sim.fill_2d_async((freed, 8), 0, 8, 3, stream),
        sim.fill_2d_async((ptr, 7), 0, 8, 3, stream),
        sim.copy_2d_async((ptr.into(), 4093), (ptr.into(), 8), 8, 3, stream),
        sim.copy_2d_async((ptr.into(), 8), (ptr.into(), 4093), 8, 3, stream),
        sim.copy_2d_async((ptr.into(), 8), (freed.into(), 8), 8, 3, stream),
        sim.copy_2d_async((ptr.into(), 8), (ptr.into(), usize::MAX / 2 + 1), 8, 3, stream),
        sim.copy_2d_async((ptr.into(), 8), (host(4096), 1 << 40), 8, 3, stream),
    ];
    for result in refused {
        let error = result.unwrap_err();
        assert_eq!((error.status(), error.backend_code()), (Status::InvalidArgument, 1), "{error}");
    }
    assert_eq!((sim.pending(stream).unwrap(), sim.device_error(D0)), (0, None));
    sim.fill_2d_async((ptr, 4092), 0, 8, 3, stream).unwrap();
    sim.copy_2d_async((ptr.into(), 4092), (ptr.into(), 8), 8, 3, stream).unwrap();
    assert_eq!(sim.pending(stream).unwrap(), 2);
}

#[test]
fn rows_may_lie_in_mappings_with_gaps_between() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let unit = sim.virtual_granularity(D0).unwrap();
    let range = sim.virtual_reserve(3 * unit).unwrap();
    for at in [0, 2 * unit] {
        let handle = sim.physical_create(D0, unit, false).unwrap();
        let ptr = range.offset(at as u64);
        sim.virtual_map(ptr, unit, handle, 0).unwrap();
        sim.virtual_set_access(ptr, unit, D0, Access::ReadWrite).unwrap();
    }
    sim.fill_2d_async((range, 2 * unit), 7, 64, 2, stream).unwrap();
    let error = sim.fill_2d_async((range, unit), 7, 64, 3, stream).unwrap_err();
    assert_eq!(error.backend_code(), 1);
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(read_back(&sim, range.offset(2 * unit as u64), 64), [7; 64]);
}

#[test]
fn work_is_checked_when_it_runs_and_not_when_it_is_queued() {
    let sim = manual(1);
    let (stream, ptr) = (stream(&sim), sim.memory_alloc(D0, 512).unwrap());
    sim.fill_async(ptr, 0, 512, stream).unwrap();
    // Frees behind the driver's back, as no call can while work is queued.
    sim.inner.space.write().remove(ptr.0).unwrap();
    assert!(sim.step(stream).unwrap());
    assert_eq!(sim.device_error(D0), Some(700));
}

#[test]
fn free_waits_until_the_device_is_idle() {
    let sim = manual(1);
    let (stream, ptr) = (stream(&sim), sim.memory_alloc(D0, 512).unwrap());
    sim.fill_async(ptr, 0, 512, stream).unwrap();
    std::thread::scope(|scope| {
        let freeing = scope.spawn(|| sim.memory_free(D0, ptr));
        std::thread::sleep(Duration::from_millis(5));
        assert!(!freeing.is_finished());
        assert!(sim.step(stream).unwrap());
        freeing.join().unwrap().unwrap();
    });
    assert_eq!(sim.device_error(D0), None);
    let twice = sim.memory_free(D0, ptr).unwrap_err();
    assert_eq!((twice.status(), twice.backend_code()), (Status::InvalidArgument, 1));
}

#[test]
fn pageable_copies_block_and_pinned_ones_do_not() {
    let sim = manual(1);
    let (stream, ptr) = (stream(&sim), sim.memory_alloc(D0, 4096).unwrap());
    let pinned = sim.host_alloc(D0, 4096).unwrap();
    poke(pinned, 1);
    sim.copy_async(ptr.into(), host(pinned), 4096, stream).unwrap();
    // Not read yet: the change is seen by the copy, as it may be on a GPU.
    poke(pinned, 9);
    assert!(sim.step(stream).unwrap());
    poke(pinned, 0);
    sim.copy_async(host(pinned), ptr.into(), 4096, stream).unwrap();
    assert_eq!(peek(pinned), 0);
    assert!(sim.step(stream).unwrap());
    assert_eq!(peek(pinned), 9);

    // Staged: the source is read during the call.
    let mut small = vec![3_u8; 4096];
    sim.copy_async(ptr.into(), host_of(&small), 4096, stream).unwrap();
    small.fill(0);
    assert!(sim.step(stream).unwrap());

    let large_ptr = sim.memory_alloc(D0, 4 * MIB).unwrap();
    let large = vec![4_u8; 4 * MIB];
    let blocking = [
        (large_ptr.into(), host_of(&large), large.len()),
        (host_of_mut(&mut small), ptr.into(), 4096),
        (host(pinned), host_of(&large), 4096),
    ];
    for (dst, src, bytes) in blocking {
        std::thread::scope(|scope| {
            let sim = &sim;
            let copying = scope.spawn(move || sim.copy_async(dst, src, bytes, stream));
            eventually("the copy is queued", || sim.pending(stream).unwrap() == 1);
            std::thread::sleep(Duration::from_millis(3));
            assert!(!copying.is_finished());
            assert!(sim.step(stream).unwrap());
            copying.join().unwrap().unwrap();
        });
    }
    assert_eq!(small, [3; 4096]);
    sim.set_manual(false);
    assert!(read_back(&sim, large_ptr, large.len()) == large);
}

#[test]
fn registered_memory_is_pinned_until_unregistered() {
    let sim = manual(1);
    let mut memory = vec![0_u8; 8192];
    let address = memory.as_ptr() as usize;
    assert_eq!(sim.pointer_info(address).unwrap().kind, PointerKind::Unregistered);
    sim.host_register(D0, host_of_mut(&mut memory), 8192).unwrap();
    let info = sim.pointer_info(address + 8191).unwrap();
    assert_eq!(
        (info.kind, info.base.0 as usize, info.bytes),
        (PointerKind::PinnedHost, address, 8192)
    );
    let twice = sim.host_register(D0, host(address + 4096), 4096).unwrap_err();
    assert_eq!(twice.backend_code(), 712);
    assert_eq!(sim.host_free(address).unwrap_err().backend_code(), 1);
    sim.host_unregister(address).unwrap();
    assert_eq!(sim.host_unregister(address).unwrap_err().backend_code(), 713);
    assert_eq!(sim.pointer_info(address).unwrap().kind, PointerKind::Unregistered);
}

#[test]
fn pointers_tell_what_they_are() {
    let sim = manual(2);
    let ptr = sim.memory_alloc(device(1), 5000).unwrap();
    let info = sim.pointer_info(ptr.0 as usize + 4999).unwrap();
    assert_eq!((info.kind, info.base), (PointerKind::Device(device(1)), ptr));
    assert_eq!(ptr.0 % 512, 0);
    sim.memory_free(device(1), ptr).unwrap();
    assert_eq!(sim.pointer_info(ptr.0 as usize).unwrap().kind, PointerKind::Unregistered);
    let pinned = sim.host_alloc(D0, 10).unwrap();
    assert_eq!(sim.pointer_info(pinned + 9).unwrap().kind, PointerKind::PinnedHost);
    assert_eq!(sim.pointer_info(pinned + 10).unwrap().kind, PointerKind::Unregistered);
    sim.host_free(pinned).unwrap();
    assert_eq!(sim.pointer_info(pinned).unwrap().kind, PointerKind::Unregistered);
}

#[test]
fn copies_go_between_devices_without_peer_access() {
    let sim = automatic(2);
    let (a, b) =
        (sim.memory_alloc(device(0), 4096).unwrap(), sim.memory_alloc(device(1), 4096).unwrap());
    let stream = stream(&sim);
    sim.fill_async(a, 42, 4096, stream).unwrap();
    sim.copy_async(b.into(), a.into(), 2048, stream).unwrap();
    sim.copy_peer_async((device(1), b.offset(2048)), (device(0), a), 2048, stream).unwrap();
    let swapped = sim.copy_peer_async((device(0), b), (device(1), a), 8, stream).unwrap_err();
    assert_eq!(swapped.status(), Status::InvalidArgument);
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(read_back(&sim, b, 4096), [42; 4096]);
}

#[test]
fn kernels_compute_and_use_pinned_memory_directly() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let pinned = sim.host_alloc(D0, 40_000).unwrap();
    let ptr = sim.memory_alloc(D0, 40_000).unwrap();
    let [fill, add] = ["sconce_fill_u32", "sconce_add_u32"].map(|name| kernel(&sim, D0, name));
    for address in [pinned as u64, ptr.0] {
        let arguments = KernelArguments::new().u64(address).u64(10_000);
        sim.kernel_launch(fill, ONE, &arguments.u32(5), stream).unwrap();
        sim.kernel_launch(add, ONE, &arguments.u32(u32::MAX), stream).unwrap();
    }
    sim.stream_synchronize(stream).unwrap();
    let expected: Vec<u8> = (0..10_000).flat_map(|_| 4_u32.to_le_bytes()).collect();
    assert!(read_back(&sim, ptr, 40_000) == expected);
    assert_eq!((peek(pinned), peek(pinned + 39_996)), (4, 4));
}

#[test]
fn null_and_wrapping_addresses_are_refused() {
    let sim = manual(1);
    let (stream, ptr) = (stream(&sim), sim.memory_alloc(D0, 512).unwrap());
    for (dst, src) in [
        (host(0), ptr.into()),
        (ptr.into(), host(16)),
        (host(usize::MAX), ptr.into()),
        (ptr.into(), host(0xdead_beef_0000)),
    ] {
        let refused = sim.copy_async(dst, src, 8, stream).unwrap_err();
        assert_eq!(refused.status(), Status::InvalidArgument, "{refused}");
    }
    assert_eq!(sim.pending(stream).unwrap(), 0);
}
