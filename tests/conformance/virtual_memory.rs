//! Virtual memory: address space and memory apart, joined by mappings.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Access, Driver, PhysicalHandle, PointerKind};

use crate::support::child::{self, Role};
use crate::support::stage::{Outcome, Stage, fails, fails_with};

crate::support::runner::tests![
    the_granularity_is_a_power_of_two,
    sizes_must_be_multiples_of_the_granularity,
    mapped_memory_is_memory,
    two_mappings_alias,
    neighbouring_mappings_are_one_range,
    content_moves_with_its_memory,
    memory_is_used_until_handle_and_mappings_are_gone,
    a_mapping_may_start_within_its_memory,
    mapping_needs_a_reserved_and_unmapped_range,
    unmapping_and_releasing_need_the_right_state,
    unmapping_what_is_not_mapped_is_refused,
    access_needs_a_mapping,
    mappings_without_rights_cannot_be_used,
    rights_can_be_taken_away,
    a_device_can_be_given_rights_to_anothers_memory,
    an_exported_descriptor_names_the_same_memory,
    only_shareable_memory_is_exported,
    too_much_is_out_of_memory,
];

pub(crate) const ROLES: &[Role] = &[
    Role { name: "vmm-no-rights", run: use_memory_without_rights },
    Role { name: "vmm-rights-taken", run: use_memory_after_rights_went },
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

/// Reserved address space.
pub(crate) struct Range<'a> {
    driver: &'a dyn Driver,
    pub(crate) ptr: DevicePtr,
    pub(crate) bytes: usize,
}

impl<'a> Range<'a> {
    pub(crate) fn reserve(stage: &Stage<'a>, bytes: usize) -> Result<Range<'a>> {
        let ptr = stage.driver.virtual_reserve(bytes)?;
        Ok(Range { driver: stage.driver, ptr, bytes })
    }

    /// Maps all of it to the start of `memory`, for reading and writing.
    pub(crate) fn map(&self, memory: PhysicalHandle, device: DeviceIndex) -> Result<()> {
        self.driver.virtual_map(self.ptr, self.bytes, memory, 0)?;
        self.driver.virtual_set_access(self.ptr, self.bytes, device, Access::ReadWrite)
    }

    pub(crate) fn unmap(&self) -> Result<()> {
        self.driver.virtual_unmap(self.ptr, self.bytes)
    }

    pub(crate) fn release(self) -> Result<()> {
        self.driver.virtual_release(self.ptr, self.bytes)
    }
}

fn the_granularity_is_a_power_of_two(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let unit = stage.driver.virtual_granularity(device)?;
        assert!(unit.is_power_of_two() && unit >= 4096, "{unit}");
    }
    Ok(())
}

fn sizes_must_be_multiples_of_the_granularity(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    for bytes in [0, 1, unit - 1, unit + 1, unit + 512] {
        fails(stage.driver.physical_create(ZERO, bytes, false));
        fails(stage.driver.virtual_reserve(bytes));
    }
    let range = Range::reserve(stage, 2 * unit)?;
    let memory = stage.driver.physical_create(ZERO, 2 * unit, false)?;
    fails(stage.driver.virtual_map(range.ptr, unit / 2, memory, 0));
    fails(stage.driver.virtual_map(range.ptr.offset(512), unit, memory, 0));
    fails(stage.driver.virtual_map(range.ptr, 0, memory, 0));
    stage.driver.physical_release(memory)?;
    range.release()?;
    Ok(())
}

fn mapped_memory_is_memory(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let bytes = 2 * stage.driver.virtual_granularity(device)?;
        let memory = stage.driver.physical_create(device, bytes, false)?;
        let range = Range::reserve(stage, bytes)?;
        assert_ne!(range.ptr.0, 0);
        range.map(memory, device)?;
        let info = stage.driver.pointer_info(range.ptr.0 as usize + 5)?;
        assert_eq!(info.kind, PointerKind::Device(device));
        let (probe, stream) = (stage.probe(device)?, stage.stream(device)?);
        let words = (bytes / 4) as u64;
        probe.fill(&stream, range.ptr, words, 40)?;
        probe.add(&stream, range.ptr, words, 2)?;
        assert!(stage.words(device, range.ptr, words as usize)?.iter().all(|word| *word == 42));
        range.unmap()?;
        stage.driver.physical_release(memory)?;
        range.release()?;
    }
    Ok(())
}

fn two_mappings_alias(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    let (first, second) = (Range::reserve(stage, unit)?, Range::reserve(stage, unit)?);
    assert_ne!(first.ptr, second.ptr);
    first.map(memory, ZERO)?;
    second.map(memory, ZERO)?;
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let words = unit as u64 / 4;
    probe.fill(&stream, first.ptr, words, 1)?;
    for _ in 0..20 {
        probe.add(&stream, second.ptr, words, 2)?;
        probe.add(&stream, first.ptr, words, 3)?;
    }
    stage.driver.fill_async(first.ptr, 0xff, 4, stream.at)?;
    for range in [&first, &second] {
        let seen = stage.words(ZERO, range.ptr, unit / 4)?;
        assert_eq!(seen[0], u32::MAX);
        assert!(seen[1..].iter().all(|word| *word == 101), "{:?}", &seen[..4]);
    }
    first.unmap()?;
    assert_eq!(stage.words(ZERO, second.ptr, 2)?, [u32::MAX, 101], "the other mapping stays");
    second.unmap()?;
    stage.driver.physical_release(memory)?;
    first.release()?;
    second.release()?;
    Ok(())
}

fn neighbouring_mappings_are_one_range(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let range = Range::reserve(stage, 4 * unit)?;
    let mut pieces = Vec::new();
    for i in [2, 0, 3, 1] {
        let memory = stage.driver.physical_create(ZERO, unit, false)?;
        stage.driver.virtual_map(range.ptr.offset((i * unit) as u64), unit, memory, 0)?;
        pieces.push(memory);
    }
    stage.driver.virtual_set_access(range.ptr, 4 * unit, ZERO, Access::ReadWrite)?;
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    probe.fill(&stream, range.ptr, unit as u64, 77)?;
    stage.driver.fill_async(range.ptr.offset(unit as u64 - 2), 0, 4, stream.at)?;
    let seen = stage.read(ZERO, range.ptr, 4 * unit)?;
    let mut expected = 77_u32.to_le_bytes().repeat(unit);
    expected[unit - 2..unit + 2].fill(0);
    assert!(seen == expected, "a kernel and a fill went over the seams");
    range.unmap()?;
    for memory in pieces {
        stage.driver.physical_release(memory)?;
    }
    range.release()?;
    Ok(())
}

fn content_moves_with_its_memory(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    let range = Range::reserve(stage, 2 * unit)?;
    let second = range.ptr.offset(unit as u64);
    let stream = stage.default_stream(ZERO);
    stage.driver.virtual_map(range.ptr, unit, memory, 0)?;
    stage.driver.virtual_set_access(range.ptr, unit, ZERO, Access::ReadWrite)?;
    stage.driver.fill_async(range.ptr, 0x3c, unit, stream.at)?;
    stream.synchronize()?;
    stage.driver.virtual_unmap(range.ptr, unit)?;
    stage.driver.virtual_map(second, unit, memory, 0)?;
    stage.driver.virtual_set_access(second, unit, ZERO, Access::ReadWrite)?;
    assert!(stage.read(ZERO, second, unit)?.iter().all(|byte| *byte == 0x3c));
    stage.driver.virtual_unmap(second, unit)?;
    stage.driver.physical_release(memory)?;
    range.release()?;
    Ok(())
}

fn memory_is_used_until_handle_and_mappings_are_gone(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let bytes = (32_usize << 20).next_multiple_of(unit);
    let free = || stage.driver.memory_info(ZERO).map(|info| info.free_bytes);
    stage.probe(ZERO)?; // Whatever is set up for the first kernel is set up now.
    let range = Range::reserve(stage, bytes)?;
    let before = free()?;
    let memory = stage.driver.physical_create(ZERO, bytes, false)?;
    let created = free()?;
    assert!(created + bytes <= before, "{before} {created}");
    range.map(memory, ZERO)?;
    stage.driver.fill_async(range.ptr, 6, bytes, stage.default_stream(ZERO).at)?;
    stage.driver.physical_release(memory)?;
    assert!(free()? + bytes <= before, "mapped memory lives on");
    assert!(stage.read(ZERO, range.ptr, bytes)?.iter().all(|byte| *byte == 6));
    range.unmap()?;
    let after = free()?;
    assert!(after >= created + bytes, "{created} {after}");
    range.release()?;
    // The other way round: the mapping goes first, the handle last.
    let memory = stage.driver.physical_create(ZERO, bytes, false)?;
    let range = Range::reserve(stage, bytes)?;
    range.map(memory, ZERO)?;
    range.unmap()?;
    assert!(free()? + bytes <= after, "the handle holds it");
    range.release()?;
    stage.driver.physical_release(memory)?;
    assert!(free()? >= after - unit);
    Ok(())
}

fn a_mapping_may_start_within_its_memory(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, 3 * unit, false)?;
    let (whole, part) = (Range::reserve(stage, 3 * unit)?, Range::reserve(stage, unit)?);
    whole.map(memory, ZERO)?;
    stage.driver.virtual_map(part.ptr, unit, memory, 2 * unit)?;
    stage.driver.virtual_set_access(part.ptr, unit, ZERO, Access::ReadWrite)?;
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(whole.ptr, 1, 2 * unit, stream.at)?;
    stage.driver.fill_async(whole.ptr.offset(2 * unit as u64), 2, unit, stream.at)?;
    assert!(stage.read(ZERO, part.ptr, unit)?.iter().all(|byte| *byte == 2));
    let beyond = Range::reserve(stage, 2 * unit)?;
    fails(stage.driver.virtual_map(beyond.ptr, 2 * unit, memory, 2 * unit));
    beyond.release()?;
    part.unmap()?;
    whole.unmap()?;
    stage.driver.physical_release(memory)?;
    part.release()?;
    whole.release()?;
    Ok(())
}

fn mapping_needs_a_reserved_and_unmapped_range(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    let range = Range::reserve(stage, unit)?;
    let gone = range.ptr;
    range.release()?;
    fails(stage.driver.virtual_map(gone, unit, memory, 0));
    let range = Range::reserve(stage, unit)?;
    range.map(memory, ZERO)?;
    fails(stage.driver.virtual_map(range.ptr, unit, memory, 0));
    range.unmap()?;
    range.map(memory, ZERO)?;
    range.unmap()?;
    stage.driver.physical_release(memory)?;
    range.release()?;
    Ok(())
}

fn unmapping_and_releasing_need_the_right_state(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, 2 * unit, false)?;
    let range = Range::reserve(stage, 2 * unit)?;
    range.map(memory, ZERO)?;
    fails(stage.driver.virtual_unmap(range.ptr, unit));
    fails(stage.driver.virtual_release(range.ptr, 2 * unit));
    // Neither failure changed anything.
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(range.ptr, 9, 2 * unit, stream.at)?;
    assert!(stage.read(ZERO, range.ptr, 2 * unit)?.iter().all(|byte| *byte == 9));
    range.unmap()?;
    stage.driver.physical_release(memory)?;
    let ptr = range.ptr;
    range.release()?;
    fails(stage.driver.virtual_release(ptr, 2 * unit));
    Ok(())
}

fn unmapping_what_is_not_mapped_is_refused(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    let range = Range::reserve(stage, unit)?;
    fails(range.unmap());
    range.map(memory, ZERO)?;
    range.unmap()?;
    fails(range.unmap());
    stage.driver.physical_release(memory)?;
    range.release()?;
    Ok(())
}

fn access_needs_a_mapping(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let range = Range::reserve(stage, unit)?;
    fails(stage.driver.virtual_set_access(range.ptr, unit, ZERO, Access::ReadWrite));
    range.release()?;
    Ok(())
}

fn mappings_without_rights_cannot_be_used(stage: &Stage<'_>) -> Outcome {
    child::run(stage, "vmm-no-rights")
}

fn use_memory_without_rights(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    let range = Range::reserve(stage, unit)?;
    stage.driver.virtual_map(range.ptr, unit, memory, 0)?;
    assert_use_fails(stage, range.ptr)
}

fn rights_can_be_taken_away(stage: &Stage<'_>) -> Outcome {
    child::run(stage, "vmm-rights-taken")
}

fn use_memory_after_rights_went(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    let range = Range::reserve(stage, unit)?;
    range.map(memory, ZERO)?;
    stage.driver.fill_async(range.ptr, 1, unit, stage.default_stream(ZERO).at)?;
    stage.driver.device_synchronize(ZERO)?;
    stage.driver.virtual_set_access(range.ptr, unit, ZERO, Access::None)?;
    assert_use_fails(stage, range.ptr)
}

/// A kernel that uses the memory fails, which ends all work on the device.
fn assert_use_fails(stage: &Stage<'_>, ptr: DevicePtr) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let used: Result<()> = probe.fill(&stream, ptr, 16, 1).and_then(|()| stream.synchronize());
    let error: Error = fails(used);
    assert_ne!(error.backend_code(), 0, "{error}");
    std::mem::forget((probe, stream)); // The device is of no more use.
    Ok(())
}

fn a_device_can_be_given_rights_to_anothers_memory(stage: &Stage<'_>) -> Outcome {
    let (user, owner) = stage.two_peers()?;
    let bytes =
        stage.driver.virtual_granularity(user)?.max(stage.driver.virtual_granularity(owner)?);
    let memory = stage.driver.physical_create(owner, bytes, false)?;
    let range = Range::reserve(stage, bytes)?;
    range.map(memory, owner)?;
    stage.driver.virtual_set_access(range.ptr, bytes, user, Access::ReadWrite)?;
    let (probe, stream) = (stage.probe(user)?, stage.stream(user)?);
    probe.fill(&stream, range.ptr, bytes as u64 / 4, 11)?;
    stream.synchronize()?;
    assert!(stage.words(owner, range.ptr, bytes / 4)?.iter().all(|word| *word == 11));
    range.unmap()?;
    stage.driver.physical_release(memory)?;
    range.release()?;
    Ok(())
}

fn an_exported_descriptor_names_the_same_memory(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, true)?;
    let descriptor = stage.driver.physical_export(memory)?;
    let imported = stage.driver.physical_import(ZERO, descriptor)?;
    let (first, second) = (Range::reserve(stage, unit)?, Range::reserve(stage, unit)?);
    first.map(memory, ZERO)?;
    second.map(imported, ZERO)?;
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(first.ptr, 0x21, unit, stream.at)?;
    assert!(stage.read(ZERO, second.ptr, unit)?.iter().all(|byte| *byte == 0x21));
    first.unmap()?;
    stage.driver.physical_release(memory)?;
    assert!(stage.read(ZERO, second.ptr, unit)?.iter().all(|byte| *byte == 0x21));
    second.unmap()?;
    stage.driver.physical_release(imported)?;
    first.release()?;
    second.release()?;
    Ok(())
}

fn only_shareable_memory_is_exported(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    fails(stage.driver.physical_export(memory));
    stage.driver.physical_release(memory)?;
    Ok(())
}

fn too_much_is_out_of_memory(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let total = stage.driver.memory_info(ZERO)?.total_bytes;
    let bytes = (total * 2).next_multiple_of(unit);
    fails_with(stage.driver.physical_create(ZERO, bytes, false), Status::OutOfMemory);
    // Address space is not memory.
    Range::reserve(stage, bytes)?.release()?;
    Ok(())
}
