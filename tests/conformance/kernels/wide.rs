//! Launches with a structure of many slots.

use sconce_base::types::DeviceIndex;
use sconce_driver::KernelArguments;
use sconce_driver::{Dim3, LaunchShape};
use sconce_kernels::JOIN_MANY_NAME;
use sconce_kernels::images::GATHER_MANY;

use crate::support::stage::{Outcome, Stage, pattern};

crate::support::runner::tests![
    every_slot_of_a_wide_structure_reaches_the_kernel,
    a_wide_structure_is_copied_when_the_call_returns,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
/// Slots of the kernel, and the pieces that it takes.
const SLOTS: usize = 508;
const PIECES: usize = 253;
const WIDTH: usize = 12;

/// The structure that copies pieces of a range in reverse order, and its grid.
fn reversed(dst: u64, src: u64) -> (LaunchShape, Vec<u64>) {
    let mut slots = vec![dst, PIECES as u64];
    for piece in 0..PIECES as u64 {
        let from = src + (PIECES as u64 - 1 - piece) * WIDTH as u64;
        slots.extend([from, (piece * WIDTH as u64) | ((WIDTH as u64) << 32)]);
    }
    assert_eq!(slots.len(), SLOTS);
    let grid = Dim3 { x: 1, y: PIECES as u32, z: 1 };
    (LaunchShape { grid, block: Dim3::line(256), shared_bytes: 0 }, slots)
}

fn launched(stage: &Stage<'_>, after: impl FnOnce(&mut Vec<u64>)) -> Outcome {
    const { assert!(SLOTS > KernelArguments::CAPACITY) };
    let driver = stage.driver;
    let module = driver.module_load(ZERO, &GATHER_MANY)?;
    let kernel = driver.kernel_find(ZERO, module, JOIN_MANY_NAME)?;
    let bytes = PIECES * WIDTH;
    let (src, dst) = (stage.memory(ZERO, bytes)?, stage.memory(ZERO, bytes + 16)?);
    let stream = stage.stream(ZERO)?;
    let host = stage.pinned(ZERO, bytes, 0)?;
    host.write(&pattern(bytes, 9));
    driver.fill_async(dst.ptr, 0x11, dst.bytes, stream.at)?;
    stream.synchronize()?;
    let (shape, mut slots) = reversed(dst.ptr.0, src.ptr.0);
    // Once before: a driver may load the code at the first launch, and wait.
    driver.kernel_launch_wide(kernel, shape, &slots, stream.at)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    driver.copy_async(src.ptr.into(), host.raw(), bytes, stream.at)?;
    driver.kernel_launch_wide(kernel, shape, &slots, stream.at)?;
    after(&mut slots);
    gate.open();
    stream.synchronize()?;
    let given = pattern(bytes, 9);
    let mut expected: Vec<u8> = given.chunks_exact(WIDTH).rev().flatten().copied().collect();
    expected.extend([0x11; 16]);
    assert!(stage.read(ZERO, dst.ptr, bytes + 16)? == expected);
    driver.device_synchronize(ZERO)?;
    Ok(driver.module_unload(ZERO, module)?)
}

fn every_slot_of_a_wide_structure_reaches_the_kernel(stage: &Stage<'_>) -> Outcome {
    launched(stage, |_| ())
}

fn a_wide_structure_is_copied_when_the_call_returns(stage: &Stage<'_>) -> Outcome {
    launched(stage, |slots| slots.fill(0))
}
