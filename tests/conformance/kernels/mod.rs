//! Kernels: found by name, launched with arguments by value, run in stream order.

pub(crate) mod modules;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod strided;
pub(crate) mod wide;

use sconce_base::types::DeviceIndex;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use crate::support::stage::{Outcome, Stage, carries_number, fails, threads};
use crate::support::subject::PROBE;

crate::support::runner::tests![
    a_kernel_writes_what_it_is_told,
    arguments_are_copied_at_the_call,
    every_shape_that_covers_the_work_does_it,
    the_sleep_kernel_takes_its_time,
    kernels_run_on_every_device_and_the_default_stream,
    an_unknown_name_is_refused_with_the_drivers_number,
    impossible_shapes_are_refused,
    modules_are_loaded_and_unloaded_again_and_again,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;

fn a_kernel_writes_what_it_is_told(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    for n in [1_u64, 31, 32, 255, 256, 257, 100_003] {
        let memory = stage.memory(ZERO, (n as usize + 4) * 4)?;
        stage.driver.fill_async(memory.ptr, 0, (n as usize + 4) * 4, stream.at)?;
        probe.fill(&stream, memory.ptr, n, 0xdead_beef)?;
        probe.add(&stream, memory.ptr, n - 1, 0x3000_0000)?; // Wraps around; the last is left out.
        stream.synchronize()?;
        let words = stage.words(ZERO, memory.ptr, n as usize + 4)?;
        let (body, rest) = words.split_at(n as usize);
        assert!(body[..body.len() - 1].iter().all(|word| *word == 0x0ead_beef), "n = {n}");
        assert_eq!((body[body.len() - 1], rest), (0xdead_beef, &[0; 4][..]), "n = {n}");
    }
    Ok(())
}

fn arguments_are_copied_at_the_call(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let gate = stream.gate()?;
    for i in 0..64_u64 {
        // Each set of arguments is gone long before its kernel runs.
        let arguments = KernelArguments::new().u64(memory.ptr.0 + 4 * i).u64(1).u32(i as u32 * 3);
        stage.driver.kernel_launch(probe.fill, threads(1), &arguments, stream.at)?;
    }
    gate.open();
    stream.synchronize()?;
    let words = stage.words(ZERO, memory.ptr, 64)?;
    assert_eq!(words, (0..64).map(|i| i * 3).collect::<Vec<u32>>());
    Ok(())
}

fn every_shape_that_covers_the_work_does_it(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    for (grid, block, shared_bytes) in
        [(1, 1024, 0), (4, 256, 0), (32, 32, 1024), (1024, 1, 0), (64, 64, 0), (9, 128, 48 << 10)]
    {
        let shape = LaunchShape { grid: Dim3::line(grid), block: Dim3::line(block), shared_bytes };
        stage.driver.fill_async(memory.ptr, 0, 4096, stream.at)?;
        let arguments = KernelArguments::new().u64(memory.ptr.0).u64(1000).u32(1);
        stage.driver.kernel_launch(probe.add, shape, &arguments, stream.at)?;
        stream.synchronize()?;
        let words = stage.words(ZERO, memory.ptr, 1024)?;
        assert!(words[..1000].iter().all(|word| *word == 1), "{shape:?}: once each");
        assert!(words[1000..].iter().all(|word| *word == 0), "{shape:?}: not beyond n");
    }
    Ok(())
}

fn the_sleep_kernel_takes_its_time(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let start = std::time::Instant::now();
    probe.sleep_ms(&stream, 60)?;
    stream.synchronize()?;
    let took = start.elapsed();
    assert!(took.as_millis() >= 60, "{took:?}");
    Ok(())
}

fn kernels_run_on_every_device_and_the_default_stream(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let probe = stage.probe(device)?;
        let memory = stage.memory(device, 4096)?;
        for stream in [stage.default_stream(device), stage.stream(device)?] {
            let value = device.as_i32() as u32 + 1;
            probe.fill(&stream, memory.ptr, 1024, value)?;
            stream.synchronize()?;
            assert!(stage.words(device, memory.ptr, 1024)?.iter().all(|word| *word == value));
        }
    }
    Ok(())
}

fn an_unknown_name_is_refused_with_the_drivers_number(stage: &Stage<'_>) -> Outcome {
    let module = stage.driver.module_load(ZERO, &PROBE)?;
    for name in ["sconce_no_such_kernel", "", "sconce_fill_u3"] {
        let error = fails(stage.driver.kernel_find(ZERO, module, name));
        carries_number(&error);
    }
    fails(stage.driver.kernel_find(ZERO, module, "sconce_fill\0_u32"));
    stage.driver.kernel_find(ZERO, module, "sconce_fill_u32")?;
    stage.driver.module_unload(ZERO, module)?;
    Ok(())
}

fn impossible_shapes_are_refused(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    stage.driver.fill_async(memory.ptr, 0, 4096, stream.at)?;
    let limit = stage.driver.device_properties(ZERO)?.max_threads_per_block as u32;
    let arguments = KernelArguments::new().u64(memory.ptr.0).u64(1).u32(1);
    for (grid, block) in [(0, 32), (1, 0), (1, limit + 1), (1, u32::MAX)] {
        let shape =
            LaunchShape { grid: Dim3::line(grid), block: Dim3::line(block), shared_bytes: 0 };
        let launched = stage.driver.kernel_launch(probe.add, shape, &arguments, stream.at);
        carries_number(&fails(launched));
    }
    stream.synchronize()?; // A refused launch is not a failure of queued work.
    assert_eq!(stage.words(ZERO, memory.ptr, 1)?, [0]);
    Ok(())
}

fn modules_are_loaded_and_unloaded_again_and_again(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        for _ in 0..10 {
            let module = stage.driver.module_load(device, &PROBE)?;
            let twin = stage.driver.module_load(device, &PROBE)?;
            stage.driver.kernel_find(device, module, "sconce_add_u32")?;
            stage.driver.module_unload(device, module)?;
            stage.driver.kernel_find(device, twin, "sconce_add_u32")?;
            stage.driver.module_unload(device, twin)?;
        }
    }
    Ok(())
}
