//! Device memory and page-locked host memory, allocated, described and freed.

use std::time::Duration;

use sconce_base::error::Status;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::PointerKind;

use crate::support::host::Pageable;
use crate::support::stage::{Outcome, Stage, carries_number, fails, fails_with, pattern};

crate::support::runner::tests![
    allocations_are_aligned_and_apart,
    fresh_memory_does_not_read_as_zeros,
    memory_info_falls_and_rises,
    free_waits_for_queued_work,
    free_waits_for_streams_of_every_kind,
    freeing_what_is_not_allocated_is_refused,
    too_much_is_out_of_memory,
    nothing_is_no_allocation,
    pointer_info_knows_device_memory,
    pointer_info_takes_any_number,
    memory_can_be_allocated_from_many_threads,
    host_memory_is_pinned_for_every_device,
    host_free_waits_for_work_that_uses_it,
    host_free_refuses_what_is_not_its_own,
    registered_memory_is_pinned_until_unregistered,
    registering_refuses_nonsense,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn allocations_are_aligned_and_apart(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let mut ranges = Vec::new();
        for bytes in [1, 3, 511, 512, 513, 4096, 65_537, (2 << 20) + 1, 33 << 20] {
            let memory = stage.memory(device, bytes)?;
            assert_eq!(memory.ptr.0 % 512, 0, "{bytes} bytes at {}", memory.ptr);
            assert_ne!(memory.ptr.0, 0);
            ranges.push((memory.ptr.0, memory.ptr.0 + bytes as u64, memory));
        }
        ranges.sort_by_key(|range| range.0);
        for pair in ranges.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "two allocations overlap");
        }
        // Every byte is there: mark the last of each, then look.
        for (i, (_, _, memory)) in ranges.iter().enumerate() {
            let last = memory.ptr.offset(memory.bytes as u64 - 1);
            let stream = stage.default_stream(device);
            stage.driver.fill_async(last, i as u8 + 1, 1, stream.at)?;
        }
        for (i, (_, _, memory)) in ranges.iter().enumerate() {
            let last = memory.ptr.offset(memory.bytes as u64 - 1);
            assert_eq!(stage.read(device, last, 1)?, [i as u8 + 1]);
        }
    }
    Ok(())
}

fn fresh_memory_does_not_read_as_zeros(stage: &Stage<'_>) -> Outcome {
    for bytes in [512, 1 << 20] {
        let memory = stage.memory(ZERO, bytes)?;
        let content = stage.read(ZERO, memory.ptr, bytes)?;
        assert!(content.iter().any(|byte| *byte != 0), "{bytes} fresh bytes are all zero");
    }
    Ok(())
}

fn memory_info_falls_and_rises(stage: &Stage<'_>) -> Outcome {
    const BYTES: usize = 64 << 20;
    for device in stage.devices() {
        stage.memory(device, BYTES)?.free()?; // The first one may set things up.
        let before = stage.driver.memory_info(device)?;
        let memory = stage.memory(device, BYTES)?;
        let during = stage.driver.memory_info(device)?;
        assert!(during.free_bytes + BYTES <= before.free_bytes, "{before:?} {during:?}");
        memory.free()?;
        let after = stage.driver.memory_info(device)?;
        assert!(after.free_bytes >= during.free_bytes + BYTES, "{during:?} {after:?}");
        assert_eq!(before.total_bytes, after.total_bytes);
    }
    Ok(())
}

fn free_waits_for_queued_work(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    let probe = stage.probe(ZERO)?;
    for bytes in [512, 64 << 20] {
        let memory = stage.memory(ZERO, bytes)?;
        probe.sleep_ms(&stream, 80)?;
        probe.fill(&stream, memory.ptr, 128, 1)?;
        stream.record(&event)?;
        memory.free()?;
        assert!(event.query()?, "freeing {bytes} bytes did not wait");
    }
    Ok(())
}

fn free_waits_for_streams_of_every_kind(stage: &Stage<'_>) -> Outcome {
    for stream in [stage.stream(ZERO)?, stage.blocking_stream(ZERO)?, stage.default_stream(ZERO)] {
        let event = stage.event(ZERO)?;
        let memory = stage.memory(ZERO, 4096)?;
        let gate = stream.gate()?;
        stream.record(&event)?; // Work that does not use the memory counts too.
        std::thread::scope(|scope| {
            let freeing = scope.spawn(move || memory.free());
            std::thread::sleep(Duration::from_millis(50));
            assert!(!event.query()?);
            assert!(!freeing.is_finished(), "freeing did not wait for queued work");
            gate.open();
            freeing.join().unwrap()
        })?;
        assert!(event.query()?);
    }
    Ok(())
}

fn freeing_what_is_not_allocated_is_refused(stage: &Stage<'_>) -> Outcome {
    let memory = stage.memory(ZERO, 1 << 20)?;
    let ptr = memory.ptr;
    let host = Pageable::new(4096, 0);
    carries_number(&fails(stage.driver.memory_free(ZERO, DevicePtr(host.address() as u64))));
    fails(stage.driver.memory_free(ZERO, DevicePtr(0x40)));
    fails(stage.driver.memory_free(ZERO, ptr.offset(512)));
    // None of that harmed the allocation.
    stage.driver.fill_async(ptr, 7, 1 << 20, stage.default_stream(ZERO).at)?;
    assert!(stage.read(ZERO, ptr, 1 << 20)?.iter().all(|byte| *byte == 7));
    memory.free()?;
    carries_number(&fails(stage.driver.memory_free(ZERO, ptr)));
    Ok(())
}

fn too_much_is_out_of_memory(stage: &Stage<'_>) -> Outcome {
    let info = stage.driver.memory_info(ZERO)?;
    for bytes in [info.total_bytes + (1 << 20), info.total_bytes * 2] {
        let error = fails_with(stage.driver.memory_alloc(ZERO, bytes), Status::OutOfMemory);
        carries_number(&error);
    }
    // More than is left, piece by piece; afterwards all of it can be used again.
    let piece = info.total_bytes / 5;
    let mut pieces = Vec::new();
    let error = loop {
        match stage.memory(ZERO, piece) {
            Ok(memory) => pieces.push(memory),
            Err(error) => break error,
        }
        assert!(pieces.len() <= 5, "more memory was given than there is");
    };
    assert_eq!(error.status(), Status::OutOfMemory);
    let count = pieces.len();
    drop(pieces);
    let again: Result<Vec<_>, _> = (0..count).map(|_| stage.memory(ZERO, piece)).collect();
    again?;
    Ok(())
}

fn nothing_is_no_allocation(stage: &Stage<'_>) -> Outcome {
    fails_with(stage.driver.memory_alloc(ZERO, 0), Status::InvalidArgument);
    fails_with(stage.driver.host_alloc(ZERO, 0), Status::InvalidArgument);
    Ok(())
}

fn pointer_info_knows_device_memory(stage: &Stage<'_>) -> Outcome {
    let mut ids = std::collections::HashSet::new();
    for device in [stage.devices(), stage.devices()].concat() {
        let memory = stage.memory(device, 100_000)?;
        let id = stage.driver.pointer_info(memory.ptr.0 as usize)?.id;
        assert!(ids.insert(id), "{id} again, though the memory before was freed");
        for offset in [0, 1, 511, 99_999] {
            let info = stage.driver.pointer_info(memory.ptr.0 as usize + offset)?;
            assert_eq!(info.kind, PointerKind::Device(device));
            assert_eq!(info.base, memory.ptr);
            assert!(info.bytes >= 100_000, "{info:?}");
            assert_eq!(info.id, id);
        }
        let ptr = memory.ptr;
        memory.free()?;
        let info = stage.driver.pointer_info(ptr.0 as usize)?;
        assert_eq!(info.kind, PointerKind::Unregistered, "it was freed");
    }
    Ok(())
}

fn pointer_info_takes_any_number(stage: &Stage<'_>) -> Outcome {
    let host = Pageable::new(64, 0);
    for address in [0, 1, 0xdead_beef, usize::MAX, usize::MAX / 2, host.address() + 5] {
        let info = stage.driver.pointer_info(address)?;
        assert_eq!(info.kind, PointerKind::Unregistered, "{address:#x}");
        assert_eq!((info.base, info.bytes), (DevicePtr(address as u64), 0));
    }
    Ok(())
}

fn memory_can_be_allocated_from_many_threads(stage: &Stage<'_>) -> Outcome {
    let devices = stage.devices();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8_usize)
            .map(|i| {
                let device = devices[i % devices.len()];
                scope.spawn(move || -> sconce_base::error::Result<()> {
                    let value = i as u8 + 1;
                    for round in 0..20 {
                        let memory = stage.memory(device, 1000 + 777 * round)?;
                        let stream = stage.stream(device)?;
                        stage.driver.fill_async(memory.ptr, value, memory.bytes, stream.at)?;
                        let host = Pageable::new(memory.bytes, 0);
                        let from = memory.ptr.into();
                        stage.driver.copy_async(host.raw(), from, memory.bytes, stream.at)?;
                        stream.synchronize()?;
                        assert!(host.read().iter().all(|byte| *byte == value));
                        memory.free()?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })?;
    Ok(())
}

fn host_memory_is_pinned_for_every_device(stage: &Stage<'_>) -> Outcome {
    for owner in stage.devices() {
        let pinned = stage.pinned(owner, 70_000, 0)?;
        let content = pattern(70_000, owner.as_i32() as u8);
        pinned.write(&content);
        for offset in [0, 1, 69_999] {
            let info = stage.driver.pointer_info(pinned.address() + offset)?;
            assert_eq!(info.kind, PointerKind::PinnedHost);
            assert_eq!(info.base, DevicePtr(pinned.address() as u64));
            assert!(info.bytes >= 70_000, "{info:?}");
        }
        for device in stage.devices() {
            let memory = stage.memory(device, 70_000)?;
            let stream = stage.stream(device)?;
            stage.driver.copy_async(memory.ptr.into(), pinned.raw(), 70_000, stream.at)?;
            assert_eq!(stage.read(device, memory.ptr, 70_000)?, content);
        }
        let address = pinned.address();
        pinned.free()?;
        let info = stage.driver.pointer_info(address)?;
        assert_eq!(info.kind, PointerKind::Unregistered, "it was freed");
    }
    Ok(())
}

fn host_free_waits_for_work_that_uses_it(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let pinned = stage.pinned(ZERO, 4096, 5)?;
    probe.sleep_ms(&stream, 80)?;
    stage.driver.copy_async(memory.ptr.into(), pinned.raw(), 4096, stream.at)?;
    stream.record(&event)?;
    pinned.free()?;
    assert!(event.query()?, "freeing did not wait for the copy");
    assert!(stage.read(ZERO, memory.ptr, 4096)?.iter().all(|byte| *byte == 5));
    Ok(())
}

fn host_free_refuses_what_is_not_its_own(stage: &Stage<'_>) -> Outcome {
    let pinned = stage.pinned(ZERO, 4096, 0)?;
    let (address, host) = (pinned.address(), Pageable::new(4096, 0));
    fails(stage.driver.host_free(host.address()));
    fails(stage.driver.host_free(0x40));
    pinned.free()?;
    carries_number(&fails(stage.driver.host_free(address)));
    Ok(())
}

fn registered_memory_is_pinned_until_unregistered(stage: &Stage<'_>) -> Outcome {
    let kind = |address| stage.driver.pointer_info(address).map(|info| info.kind);
    let host = Pageable::holding(&pattern(64 << 10, 1));
    assert_eq!(kind(host.address())?, PointerKind::Unregistered);
    stage.driver.host_register(ZERO, host.raw(), host.bytes())?;
    assert_eq!(kind(host.address())?, PointerKind::PinnedHost);
    assert_eq!(kind(host.address() + host.bytes() - 1)?, PointerKind::PinnedHost);
    for device in stage.devices() {
        let memory = stage.memory(device, host.bytes())?;
        let stream = stage.stream(device)?;
        stage.driver.copy_async(memory.ptr.into(), host.raw(), host.bytes(), stream.at)?;
        assert_eq!(stage.read(device, memory.ptr, host.bytes())?, host.read());
    }
    fails(stage.driver.host_register(ZERO, host.raw(), host.bytes()));
    stage.driver.host_unregister(host.address())?;
    assert_eq!(kind(host.address())?, PointerKind::Unregistered);
    assert_eq!(host.read(), pattern(64 << 10, 1), "the content is untouched");
    stage.driver.host_register(ZERO, host.raw(), host.bytes())?;
    stage.driver.host_unregister(host.address())?;
    Ok(())
}

fn registering_refuses_nonsense(stage: &Stage<'_>) -> Outcome {
    let host = Pageable::new(4096, 0);
    fails(stage.driver.host_register(ZERO, host.raw(), 0));
    carries_number(&fails(stage.driver.host_unregister(host.address())));
    Ok(())
}
