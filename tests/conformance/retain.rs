//! Handles of physical memory that are found again from where it is mapped.

use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;

use crate::support::stage::{Outcome, Stage, fails_with};
use crate::virtual_memory::Range;

crate::support::runner::tests![
    a_retained_handle_is_of_the_same_memory,
    a_retained_handle_keeps_the_memory,
    retained_memory_is_exported,
    only_mapped_virtual_memory_is_retained,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn a_retained_handle_is_of_the_same_memory(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, false)?;
    let (first, second) = (Range::reserve(stage, unit)?, Range::reserve(stage, unit)?);
    first.map(memory, ZERO)?;
    // Any address of the mapping will do.
    let retained = stage.driver.physical_retain(first.ptr.offset(unit as u64 - 1))?;
    second.map(retained, ZERO)?;
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(first.ptr, 0x61, unit, stream.at)?;
    assert!(stage.read(ZERO, second.ptr, unit)?.iter().all(|byte| *byte == 0x61));
    first.unmap()?;
    second.unmap()?;
    stage.driver.physical_release(retained)?;
    stage.driver.physical_release(memory)?;
    first.release()?;
    second.release()?;
    Ok(())
}

fn a_retained_handle_keeps_the_memory(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let bytes = (64_usize << 20).next_multiple_of(unit);
    let free = || stage.driver.memory_info(ZERO).map(|info| info.free_bytes);
    let memory = stage.driver.physical_create(ZERO, bytes, false)?;
    let range = Range::reserve(stage, bytes)?;
    range.map(memory, ZERO)?;
    stage.driver.physical_release(memory)?;
    let retained = stage.driver.physical_retain(range.ptr)?;
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(range.ptr, 0x62, bytes, stream.at)?;
    stage.driver.device_synchronize(ZERO)?;
    let held = free()?;
    range.unmap()?;
    assert!(free()? <= held + unit, "the retained handle holds it");
    range.map(retained, ZERO)?;
    assert!(stage.read(ZERO, range.ptr, bytes)?.iter().all(|byte| *byte == 0x62));
    stage.driver.device_synchronize(ZERO)?;
    range.unmap()?;
    stage.driver.physical_release(retained)?;
    assert!(free()? + unit >= held + bytes, "nothing holds it any more");
    range.release()?;
    Ok(())
}

fn retained_memory_is_exported(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let memory = stage.driver.physical_create(ZERO, unit, true)?;
    let (first, second) = (Range::reserve(stage, unit)?, Range::reserve(stage, unit)?);
    first.map(memory, ZERO)?;
    stage.driver.physical_release(memory)?;
    let retained = stage.driver.physical_retain(first.ptr)?;
    let descriptor = stage.driver.physical_export(retained)?;
    stage.driver.physical_release(retained)?;
    let imported = stage.driver.physical_import(ZERO, descriptor)?;
    second.map(imported, ZERO)?;
    let stream = stage.default_stream(ZERO);
    stage.driver.fill_async(second.ptr, 0x63, unit, stream.at)?;
    assert!(stage.read(ZERO, first.ptr, unit)?.iter().all(|byte| *byte == 0x63));
    first.unmap()?;
    second.unmap()?;
    stage.driver.physical_release(imported)?;
    first.release()?;
    second.release()?;
    Ok(())
}

fn only_mapped_virtual_memory_is_retained(stage: &Stage<'_>) -> Outcome {
    let unit = stage.driver.virtual_granularity(ZERO)?;
    let (range, plain) = (Range::reserve(stage, unit)?, stage.memory(ZERO, unit)?);
    let pinned = stage.pinned(ZERO, 4096, 0)?;
    let host = sconce_base::types::DevicePtr(pinned.address() as u64);
    for ptr in [range.ptr, plain.ptr, host, sconce_base::types::DevicePtr(0)] {
        fails_with(stage.driver.physical_retain(ptr), Status::InvalidArgument);
    }
    range.release()?;
    Ok(())
}
