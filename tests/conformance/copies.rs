//! Copies between device, page-locked and pageable memory, between devices, and fills.

use std::sync::Arc;

use sconce_base::error::Status;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::RawAddress;

use crate::support::host::{Pageable, Pinned};
use crate::support::stage::{Memory, Outcome, Stage, fails, fails_with, pattern};

crate::support::runner::tests![
    every_pair_of_memories_and_many_sizes,
    odd_addresses,
    copies_are_ordered_on_their_stream,
    a_pageable_source_may_be_overwritten_at_once,
    a_pageable_destination_is_written_when_the_call_returns,
    page_locked_copies_do_not_wait,
    fills_set_every_byte_and_no_other,
    fills_are_ordered_on_their_stream,
    peer_copies_need_no_peer_access,
    peer_copies_work_with_peer_access,
    peer_copies_are_ordered_on_their_stream,
    a_peer_may_be_the_device_itself,
    host_memory_is_no_memory_of_a_device,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const SIZES: [usize; 8] = [1, 3, 4, 511, 4096, 65_536, 65_537, (3 << 20) + 5];

/// Memory of one of the three kinds, with a content.
enum Place<'a> {
    Device(Memory<'a>),
    Pinned(Pinned<'a>),
    Pageable(Pageable),
}

const KINDS: [&str; 3] = ["device", "page-locked", "pageable"];

impl<'a> Place<'a> {
    fn holding(stage: &Stage<'a>, kind: &str, data: &[u8]) -> Outcome<Place<'a>> {
        Ok(match kind {
            "device" => {
                let memory = stage.memory(ZERO, data.len())?;
                let staged = Pinned::holding(stage.driver, ZERO, data)?;
                let stream = stage.default_stream(ZERO);
                let to = memory.ptr.into();
                stage.driver.copy_async(to, staged.raw(), data.len(), stream.at)?;
                stream.synchronize()?;
                Place::Device(memory)
            }
            "page-locked" => Place::Pinned(Pinned::holding(stage.driver, ZERO, data)?),
            _ => Place::Pageable(Pageable::holding(data)),
        })
    }

    fn raw(&self) -> RawAddress {
        match self {
            Place::Device(memory) => memory.ptr.into(),
            Place::Pinned(pinned) => pinned.raw(),
            Place::Pageable(pageable) => pageable.raw(),
        }
    }

    fn read(&self, stage: &Stage<'_>) -> Outcome<Vec<u8>> {
        Ok(match self {
            Place::Device(memory) => stage.read(memory.device, memory.ptr, memory.bytes)?,
            Place::Pinned(pinned) => pinned.read(),
            Place::Pageable(pageable) => pageable.read(),
        })
    }
}

fn every_pair_of_memories_and_many_sizes(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    for from in KINDS {
        for to in KINDS {
            for bytes in SIZES {
                let content = pattern(bytes, 0x11);
                let source = Place::holding(stage, from, &content)?;
                let target = Place::holding(stage, to, &vec![0xee; bytes + 8])?;
                stage.driver.copy_async(target.raw(), source.raw(), bytes, stream.at)?;
                stream.synchronize()?;
                let seen = target.read(stage)?;
                assert!(seen[..bytes] == content, "{bytes} bytes from {from} to {to}");
                assert_eq!(seen[bytes..], [0xee; 8], "{bytes} bytes from {from} to {to}: too many");
                assert!(source.read(stage)? == content, "the source changed");
            }
        }
    }
    Ok(())
}

fn odd_addresses(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let content = pattern(10_000, 0x22);
    let pinned = Pinned::holding(stage.driver, ZERO, &content)?;
    let memory = stage.memory(ZERO, 20_000)?;
    stage.driver.fill_async(memory.ptr, 0, 20_000, stream.at)?;
    stage.driver.copy_async(memory.ptr.offset(3).into(), pinned.raw(), 10_000, stream.at)?;
    let (from, to) = (memory.ptr.offset(5), memory.ptr.offset(11_001));
    stage.driver.copy_async(to.into(), from.into(), 8001, stream.at)?;
    stream.synchronize()?;
    let seen = stage.read(ZERO, memory.ptr, 20_000)?;
    assert_eq!(seen[..3], [0; 3]);
    assert!(seen[3..10_003] == content && seen[11_001..19_002] == content[2..8003]);
    assert_eq!((seen[10_003], seen[11_000], seen[19_002]), (0, 0, 0));
    Ok(())
}

fn copies_are_ordered_on_their_stream(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let (a, b) = (stage.memory(ZERO, 4096)?, stage.memory(ZERO, 4096)?);
    let result = stage.pinned(ZERO, 4096, 0)?;
    let gate = stream.gate()?;
    probe.fill(&stream, a.ptr, 1024, 1)?;
    for _ in 0..10 {
        probe.add(&stream, a.ptr, 1024, 1)?;
        stage.driver.copy_async(b.ptr.into(), a.ptr.into(), 4096, stream.at)?;
        probe.add(&stream, b.ptr, 1024, 1)?;
        stage.driver.copy_async(a.ptr.into(), b.ptr.into(), 4096, stream.at)?;
    }
    stage.driver.copy_async(result.raw(), a.ptr.into(), 4096, stream.at)?;
    assert!(result.read().iter().all(|byte| *byte == 0), "the copy ran behind a closed gate");
    gate.open();
    stream.synchronize()?;
    assert!(result.read() == 21_u32.to_le_bytes().repeat(1024));
    Ok(())
}

fn a_pageable_source_may_be_overwritten_at_once(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    for bytes in SIZES {
        let content = pattern(bytes, 0x33);
        let source = Pageable::holding(&content);
        let memory = stage.memory(ZERO, bytes)?;
        probe.sleep_ms(&stream, 20)?;
        stage.driver.copy_async(memory.ptr.into(), source.raw(), bytes, stream.at)?;
        source.write(&vec![0xdd; bytes]);
        stream.synchronize()?;
        assert!(stage.read(ZERO, memory.ptr, bytes)? == content, "{bytes} bytes");
    }
    Ok(())
}

fn a_pageable_destination_is_written_when_the_call_returns(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    for bytes in SIZES {
        let content = pattern(bytes, 0x44);
        let source = Pageable::holding(&content);
        let memory = stage.memory(ZERO, bytes)?;
        let target = Pageable::new(bytes, 0);
        probe.sleep_ms(&stream, 20)?;
        stage.driver.copy_async(memory.ptr.into(), source.raw(), bytes, stream.at)?;
        stage.driver.copy_async(target.raw(), memory.ptr.into(), bytes, stream.at)?;
        assert!(target.read() == content, "{bytes} bytes");
    }
    Ok(())
}

fn page_locked_copies_do_not_wait(stage: &Stage<'_>) -> Outcome {
    const BYTES: usize = 3 << 20;
    let stream = stage.stream(ZERO)?;
    let content = pattern(BYTES, 0x55);
    let source = Pinned::holding(stage.driver, ZERO, &content)?;
    let target = stage.pinned(ZERO, BYTES, 0)?;
    let memory = stage.memory(ZERO, BYTES)?;
    stage.driver.copy_async(memory.ptr.into(), target.raw(), BYTES, stream.at)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    stage.driver.copy_async(memory.ptr.into(), source.raw(), BYTES, stream.at)?;
    stage.driver.copy_async(target.raw(), memory.ptr.into(), BYTES, stream.at)?;
    assert!(target.read().iter().all(|byte| *byte == 0));
    gate.open(); // Fails if a copy had waited.
    stream.synchronize()?;
    assert!(target.read() == content);
    Ok(())
}

fn fills_set_every_byte_and_no_other(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let stream = stage.stream(device)?;
        let memory = stage.memory(device, 1 << 20)?;
        for (start, bytes) in [(0, 1 << 20), (1, 1), (4096, 3), (777, 70_001), (512, 512)] {
            stage.driver.fill_async(memory.ptr, 0xaa, 1 << 20, stream.at)?;
            stage.driver.fill_async(memory.ptr.offset(start as u64), 0x5b, bytes, stream.at)?;
            stream.synchronize()?;
            let seen = stage.read(device, memory.ptr, 1 << 20)?;
            let inside = start..start + bytes;
            for (i, byte) in seen.iter().enumerate() {
                let expected = if inside.contains(&i) { 0x5b } else { 0xaa };
                assert_eq!(*byte, expected, "byte {i} of a fill of {inside:?}");
            }
        }
    }
    Ok(())
}

fn fills_are_ordered_on_their_stream(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let (stream, other) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let (memory, event) = (stage.memory(ZERO, 4096)?, stage.event(ZERO)?);
    let gate = stream.gate()?;
    probe.fill(&stream, memory.ptr, 1024, 5)?;
    stage.driver.fill_async(memory.ptr, 1, 4096, stream.at)?;
    stream.record(&event)?;
    other.wait(&event)?;
    stage.driver.fill_async(memory.ptr, 2, 2048, other.at)?;
    gate.open();
    other.synchronize()?;
    let seen = stage.read(ZERO, memory.ptr, 4096)?;
    assert!(seen[..2048].iter().all(|b| *b == 2) && seen[2048..].iter().all(|b| *b == 1));
    Ok(())
}

fn peer_copies_both_ways(stage: &Stage<'_>, here: DeviceIndex, there: DeviceIndex) -> Outcome {
    for (from, to) in [(here, there), (there, here)] {
        for bytes in SIZES {
            let content = Arc::new(pattern(bytes, 0x66 ^ from.as_i32() as u8));
            let (source, target) = (stage.memory(from, bytes)?, stage.memory(to, bytes)?);
            let staged = Pageable::holding(&content);
            // The stream may belong to either side.
            for device in [from, to] {
                let stream = stage.stream(device)?;
                stage.driver.fill_async(target.ptr, 0, bytes, stage.default_stream(to).at)?;
                let at = stage.default_stream(from).at;
                stage.driver.copy_async(source.ptr.into(), staged.raw(), bytes, at)?;
                stage.driver.device_synchronize(from)?;
                stage.driver.device_synchronize(to)?;
                let pair = ((to, target.ptr), (from, source.ptr));
                stage.driver.copy_peer_async(pair.0, pair.1, bytes, stream.at)?;
                stream.synchronize()?;
                let seen = stage.read(to, target.ptr, bytes)?;
                assert!(seen == *content, "{bytes} bytes from {from} to {to} by {device}");
            }
        }
    }
    Ok(())
}

fn peer_copies_need_no_peer_access(stage: &Stage<'_>) -> Outcome {
    let (here, there) = stage.two_devices()?;
    peer_copies_both_ways(stage, here, there)
}

fn peer_copies_work_with_peer_access(stage: &Stage<'_>) -> Outcome {
    let (here, there) = stage.two_peers()?;
    stage.driver.enable_peer_access(here, there)?;
    peer_copies_both_ways(stage, here, there)?;
    if stage.driver.can_access_peer(there, here)? {
        stage.driver.enable_peer_access(there, here)?;
        peer_copies_both_ways(stage, here, there)?;
    }
    Ok(())
}

fn peer_copies_are_ordered_on_their_stream(stage: &Stage<'_>) -> Outcome {
    let (here, there) = stage.two_devices()?;
    let probe = stage.probe(here)?;
    let (stream, done) = (stage.stream(here)?, stage.event(here)?);
    let (a, b) = (stage.memory(here, 4096)?, stage.memory(there, 4096)?);
    // A first copy outside the gate: a driver may set things up for it.
    stage.driver.copy_peer_async((there, b.ptr), (here, a.ptr), 4096, stream.at)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    probe.fill(&stream, a.ptr, 1024, 8)?;
    stage.driver.copy_peer_async((there, b.ptr), (here, a.ptr), 4096, stream.at)?;
    probe.fill(&stream, a.ptr, 1024, 9)?;
    stream.record(&done)?;
    assert!(!done.query()?);
    gate.open();
    stream.synchronize()?;
    assert!(stage.words(there, b.ptr, 1024)?.iter().all(|word| *word == 8));
    assert!(stage.words(here, a.ptr, 1024)?.iter().all(|word| *word == 9));
    Ok(())
}

fn a_peer_may_be_the_device_itself(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let stream = stage.stream(device)?;
        let memory = stage.memory(device, 8192)?;
        stage.driver.fill_async(memory.ptr, 4, 4096, stream.at)?;
        let half = memory.ptr.offset(4096);
        stage.driver.copy_peer_async((device, half), (device, memory.ptr), 4096, stream.at)?;
        stream.synchronize()?;
        assert!(stage.read(device, half, 4096)?.iter().all(|byte| *byte == 4));
    }
    Ok(())
}

/// Only page-locked memory is also a device's, so peer copies and fills may reach it.
fn host_memory_is_no_memory_of_a_device(stage: &Stage<'_>) -> Outcome {
    const BYTES: usize = 4096;
    let (driver, stream, memory) = (stage.driver, stage.stream(ZERO)?, stage.memory(ZERO, BYTES)?);
    let (pageable, pinned) = (Pageable::new(BYTES, 5), stage.pinned(ZERO, BYTES, 5)?);
    driver.fill_async(memory.ptr, 9, BYTES, stream.at)?;
    let (device, at) = (RawAddress::from(memory.ptr), stream.at);
    let rows = |address: RawAddress| (address, 128);
    for address in [pageable.address(), pinned.address()] {
        let host = RawAddress::from(DevicePtr(address as u64));
        for (dst, src) in [(host, device), (device, host), (host, host)] {
            for refused in [
                driver.copy_async(dst, src, 64, at),
                driver.copy_direct_async(dst, src, 64, at),
                driver.copy_2d_async(rows(dst), rows(src), 64, 3, at),
                driver.copy_2d_async(rows(dst), rows(src), 64, 1, at),
            ] {
                fails_with(refused, Status::InvalidArgument);
            }
        }
    }
    let ptr = DevicePtr(pageable.address() as u64);
    let (host, device) = ((ZERO, ptr), (ZERO, memory.ptr));
    for refused in [
        driver.copy_peer_async(host, device, 64, at),
        driver.copy_peer_async(device, host, 64, at),
        driver.fill_async(ptr, 1, 64, at),
        driver.fill_2d_async((ptr, 128), 1, 64, 3, at),
        driver.host_register(ZERO, ptr.into(), BYTES),
    ] {
        fails(refused);
    }
    stream.synchronize()?;
    assert!(pageable.read() == [5; BYTES] && pinned.read() == [5; BYTES]);
    assert!(stage.read(ZERO, memory.ptr, BYTES)? == [9; BYTES]);
    Ok(())
}
