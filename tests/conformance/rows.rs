//! Copies and fills of rows that lie a pitch apart.

use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;
use sconce_driver::RawAddress;

use crate::support::host::{Pageable, Pinned};
use crate::support::stage::{Memory, Outcome, Stage, fails_with, pattern};

crate::support::runner::tests![
    every_pair_of_memories_and_many_shapes,
    no_rows_and_no_width_are_nothing,
    pitches_less_than_a_row_are_refused,
    row_copies_are_ordered_on_their_stream,
    pageable_rows_may_be_overwritten_or_read_at_once,
    page_locked_row_copies_do_not_wait,
    row_copies_reach_peers,
    row_fills_set_every_byte_and_no_other,
    row_fills_are_ordered_on_their_stream,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const KINDS: [&str; 3] = ["device", "page-locked", "pageable"];
/// Width, height, and both pitches.
const SHAPES: [(usize, usize, usize, usize); 9] = [
    (1, 1, 1, 1),
    (4, 1, 0, 0),
    (3, 5, 3, 3),
    (3, 5, 7, 3),
    (16, 33, 16, 48),
    (5, 200, 8, 13),
    (512, 64, 1024, 512),
    (1000, 700, 1009, 1024),
    (4096, 1024, 4096, 4097),
];

/// Memory of one of the three kinds, with a content.
enum Place<'a> {
    Device(Memory<'a>),
    Pinned(Pinned<'a>),
    Pageable(Pageable),
}

impl<'a> Place<'a> {
    fn holding(stage: &Stage<'a>, kind: &str, data: &[u8]) -> Outcome<Place<'a>> {
        Ok(match kind {
            "device" => Place::Device(on_device(stage, ZERO, data)?),
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

fn on_device<'a>(stage: &Stage<'a>, device: DeviceIndex, data: &[u8]) -> Outcome<Memory<'a>> {
    let memory = stage.memory(device, data.len())?;
    let staged = Pageable::holding(data);
    let stream = stage.default_stream(device);
    stage.driver.copy_async(memory.ptr.into(), staged.raw(), data.len(), stream.at)?;
    stream.synchronize()?;
    Ok(memory)
}

fn span(width: usize, height: usize, pitch: usize) -> usize {
    (height - 1) * pitch + width
}

/// What a destination holds after its rows were copied.
fn copied(
    before: &[u8],
    content: &[u8],
    (width, height, dst_pitch, src_pitch): (usize, usize, usize, usize),
) -> Vec<u8> {
    let mut after = before.to_vec();
    for row in 0..height {
        let from = &content[row * src_pitch..][..width];
        after[row * dst_pitch..][..width].copy_from_slice(from);
    }
    after
}

fn every_pair_of_memories_and_many_shapes(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    for from in KINDS {
        for to in KINDS {
            for shape in SHAPES {
                let (width, height, dst_pitch, src_pitch) = shape;
                let content = pattern(span(width, height, src_pitch), 0x17);
                let before = vec![0xee; span(width, height, dst_pitch) + 8];
                let source = Place::holding(stage, from, &content)?;
                let target = Place::holding(stage, to, &before)?;
                let (dst, src) = ((target.raw(), dst_pitch), (source.raw(), src_pitch));
                stage.driver.copy_2d_async(dst, src, width, height, stream.at)?;
                stream.synchronize()?;
                let expected = copied(&before, &content, shape);
                assert!(target.read(stage)? == expected, "{shape:?} from {from} to {to}");
                assert!(source.read(stage)? == content, "the source changed");
            }
        }
    }
    Ok(())
}

fn no_rows_and_no_width_are_nothing(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let target = on_device(stage, ZERO, &[0x5a; 64])?;
    let (dst, src) = ((target.ptr.into(), 8), (stage.pinned(ZERO, 64, 1)?, 8));
    for (width, height) in [(0, 8), (8, 0), (0, 0), (0, usize::MAX)] {
        stage.driver.copy_2d_async(dst, (src.0.raw(), 8), width, height, stream.at)?;
        stage.driver.fill_2d_async((target.ptr, 8), 1, width, height, stream.at)?;
    }
    stream.synchronize()?;
    assert_eq!(stage.read(ZERO, target.ptr, 64)?, [0x5a; 64]);
    Ok(())
}

fn pitches_less_than_a_row_are_refused(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let target = on_device(stage, ZERO, &[0x5a; 64])?;
    let source = stage.pinned(ZERO, 64, 1)?;
    let (dst, src) = (RawAddress::from(target.ptr), source.raw());
    for (to, from) in [(7, 8), (8, 7), (0, 8), (8, 0), (usize::MAX, 8)] {
        let refused = stage.driver.copy_2d_async((dst, to), (src, from), 8, 3, stream.at);
        fails_with(refused, Status::InvalidArgument);
    }
    for pitch in [0, 7, usize::MAX / 2] {
        let refused = stage.driver.fill_2d_async((target.ptr, pitch), 1, 8, 4, stream.at);
        fails_with(refused, Status::InvalidArgument);
    }
    stream.synchronize()?;
    assert_eq!(stage.read(ZERO, target.ptr, 64)?, [0x5a; 64]);
    Ok(())
}

fn row_copies_are_ordered_on_their_stream(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let (a, b) = (stage.memory(ZERO, 4096)?, stage.memory(ZERO, 8192)?);
    let result = stage.pinned(ZERO, 4096, 0)?;
    let gate = stream.gate()?;
    probe.fill(&stream, a.ptr, 1024, 1)?;
    for _ in 0..10 {
        probe.add(&stream, a.ptr, 1024, 1)?;
        let (there, here) = ((b.ptr.into(), 128), (a.ptr.into(), 64));
        stage.driver.copy_2d_async(there, here, 64, 64, stream.at)?;
        probe.add(&stream, b.ptr, 2048, 1)?;
        stage.driver.copy_2d_async(here, there, 64, 64, stream.at)?;
    }
    let (dst, src) = ((result.raw(), 64), (a.ptr.into(), 64));
    stage.driver.copy_2d_async(dst, src, 64, 64, stream.at)?;
    assert!(result.read().iter().all(|byte| *byte == 0), "the copy ran behind a closed gate");
    gate.open();
    stream.synchronize()?;
    assert!(result.read() == 21_u32.to_le_bytes().repeat(1024));
    Ok(())
}

fn pageable_rows_may_be_overwritten_or_read_at_once(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    for shape @ (width, height, dst_pitch, src_pitch) in SHAPES {
        let content = pattern(span(width, height, src_pitch), 0x33);
        let before = vec![0xee; span(width, height, dst_pitch)];
        let (source, target) = (Pageable::holding(&content), Pageable::holding(&before));
        let memory = on_device(stage, ZERO, &before)?;
        let rows = (memory.ptr.into(), dst_pitch);
        probe.sleep_ms(&stream, 5)?;
        stage.driver.copy_2d_async(rows, (source.raw(), src_pitch), width, height, stream.at)?;
        source.write(&vec![0xdd; content.len()]);
        probe.sleep_ms(&stream, 5)?;
        stage.driver.copy_2d_async((target.raw(), dst_pitch), rows, width, height, stream.at)?;
        assert!(target.read() == copied(&before, &content, shape), "{shape:?}");
    }
    Ok(())
}

fn page_locked_row_copies_do_not_wait(stage: &Stage<'_>) -> Outcome {
    const SHAPE: (usize, usize, usize, usize) = (4096, 700, 4096, 4128);
    let (width, height, packed, pitch) = SHAPE;
    let stream = stage.stream(ZERO)?;
    let content = pattern(span(width, height, pitch), 0x55);
    let source = Pinned::holding(stage.driver, ZERO, &content)?;
    let target = stage.pinned(ZERO, width * height, 0)?;
    let memory = stage.memory(ZERO, width * height)?;
    let rows = (memory.ptr.into(), packed);
    // A first copy outside the gate: a driver may set things up for it.
    stage.driver.copy_2d_async(rows, (target.raw(), packed), width, height, stream.at)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    stage.driver.copy_2d_async(rows, (source.raw(), pitch), width, height, stream.at)?;
    stage.driver.copy_2d_async((target.raw(), packed), rows, width, height, stream.at)?;
    assert!(target.read().iter().all(|byte| *byte == 0));
    gate.open(); // Fails if a copy had waited.
    stream.synchronize()?;
    assert!(target.read() == copied(&vec![0; width * height], &content, SHAPE));
    Ok(())
}

fn row_copies_reach_peers(stage: &Stage<'_>) -> Outcome {
    let (here, there) = stage.two_peers()?;
    stage.driver.enable_peer_access(here, there)?;
    for (from, to) in [(here, there), (there, here)] {
        for shape @ (width, height, dst_pitch, src_pitch) in SHAPES {
            let content = pattern(span(width, height, src_pitch), 0x77);
            let before = vec![0xee; span(width, height, dst_pitch)];
            let source = on_device(stage, from, &content)?;
            let target = on_device(stage, to, &before)?;
            let stream = stage.stream(here)?;
            let (dst, src) = ((target.ptr.into(), dst_pitch), (source.ptr.into(), src_pitch));
            stage.driver.copy_2d_async(dst, src, width, height, stream.at)?;
            stream.synchronize()?;
            let seen = stage.read(to, target.ptr, before.len())?;
            assert!(seen == copied(&before, &content, shape), "{shape:?} from {from} to {to}");
        }
    }
    Ok(())
}

fn row_fills_set_every_byte_and_no_other(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let stream = stage.stream(device)?;
        for shape @ (width, height, pitch, _) in SHAPES {
            let before = vec![0xaa; span(width, height, pitch) + 9];
            let memory = on_device(stage, device, &before)?;
            let rows = (memory.ptr.offset(1), pitch);
            stage.driver.fill_2d_async(rows, 0x5b, width, height, stream.at)?;
            stream.synchronize()?;
            let mut expected = before.clone();
            (0..height).for_each(|row| expected[1 + row * pitch..][..width].fill(0x5b));
            assert!(stage.read(device, memory.ptr, before.len())? == expected, "{shape:?}");
        }
    }
    Ok(())
}

fn row_fills_are_ordered_on_their_stream(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    stage.driver.fill_2d_async((memory.ptr, 64), 9, 32, 64, stream.at)?;
    let gate = stream.gate()?;
    probe.fill(&stream, memory.ptr, 1024, 0x0202_0202)?;
    stage.driver.fill_2d_async((memory.ptr, 64), 1, 32, 64, stream.at)?;
    probe.add(&stream, memory.ptr, 1024, 0x0101_0101)?;
    gate.open();
    stream.synchronize()?;
    let seen = stage.read(ZERO, memory.ptr, 4096)?;
    let of = |byte| if byte % 64 < 32 { 2 } else { 3 };
    assert!(seen.iter().enumerate().all(|(byte, value)| *value == of(byte)));
    Ok(())
}
