//! Kernels of the program: loaded from code in every form, examined, launched with values.
//!
//! The code is that of the library's probe. On the simulator functions stand for its kernels.

use std::ffi::c_void;
use std::sync::Once;

use sconce_base::error::Status;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    CaptureMode, CodeFormat, Dim3, Driver, KernelHandle, KernelValues, LaunchConfig, LaunchShape,
    ModuleCode, ModuleHandle,
};
use sconce_sim::{SimKernel, SimLaunch, register_kernel};

use crate::support::objects::Stream;
use crate::support::stage::{Outcome, Stage, carries_number, fails};
use crate::support::subject::PROBE;

crate::support::runner::tests![
    code_of_every_form_is_loaded,
    values_are_copied_at_the_call,
    launches_of_every_kind_do_the_work,
    a_launch_says_whether_its_stream_is_captured,
    parameters_and_attributes_are_told,
    occupancy_falls_with_what_a_block_needs,
    launches_that_no_device_accepts_are_refused,
    dynamic_shared_memory_beyond_the_usual_is_allowed_first,
    a_module_is_released_after_its_queued_launches,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const FILL: &str = "sconce_fill_u32";

/// Stands for the probe's kernels on the simulator.
fn register() {
    static ONCE: Once = Once::new();
    let kernel = |name: &str, adds: bool| SimKernel {
        name: name.to_owned(),
        parameters: vec![8, 8, 4],
        registers: 16,
        static_shared_bytes: 0,
        function: Box::new(move |launch: &SimLaunch<'_>| each(launch, adds)),
    };
    ONCE.call_once(|| {
        let _ = register_kernel(kernel(FILL, false));
        let _ = register_kernel(kernel("sconce_add_u32", true));
    });
}

fn each(launch: &SimLaunch<'_>, adds: bool) {
    let number = |index: usize| {
        let mut bytes = [0; 8];
        let value = &launch.values[index];
        bytes[..value.len()].copy_from_slice(value);
        u64::from_le_bytes(bytes)
    };
    let (address, n, value) = (number(0), number(1), number(2) as u32);
    for at in 0..n {
        let mut old = [0; 4];
        if adds && !launch.read(address + 4 * at, &mut old) {
            return;
        }
        let new = u32::from_le_bytes(old).wrapping_add(value);
        if !launch.write(address + 4 * at, &new.to_le_bytes()) {
            return;
        }
    }
}

/// The probe as a program would bring it.
fn code(device: DeviceIndex, driver: &dyn Driver, ptx: bool) -> Option<ModuleCode> {
    let properties = driver.device_properties(device).ok()?;
    let mut codes = PROBE.codes_for(properties.major, properties.minor).into_iter();
    let code = codes.find(|code| (code.format() == CodeFormat::Ptx) == ptx)?;
    ModuleCode::new("probe", &code.unpack().ok()?).ok()
}

/// A loaded module with one of its kernels.
struct Loaded {
    module: ModuleHandle,
    kernel: KernelHandle,
}

fn loaded(
    stage: &Stage<'_>,
    device: DeviceIndex,
    name: &str,
) -> Result<Loaded, sconce_base::error::Error> {
    register();
    let code = code(device, stage.driver, true).expect("there is PTX");
    let module = stage.driver.module_load_code(device, &code)?;
    Ok(Loaded { module, kernel: stage.driver.kernel_find(device, module, name)? })
}

fn config(grid: u32, block: u32) -> LaunchConfig {
    let shape = LaunchShape { grid: Dim3::line(grid), block: Dim3::line(block), shared_bytes: 0 };
    LaunchConfig { shape, cluster: None, cooperative: false }
}

/// Launches a kernel of the probe with an address, a number of elements, and a value.
fn launch(
    stage: &Stage<'_>,
    kernel: KernelHandle,
    config: &LaunchConfig,
    values: (DevicePtr, u64, u32),
    stream: &Stream<'_>,
) -> Result<(), sconce_base::error::Error> {
    launch_asking(stage, kernel, config, values, stream, false).map(drop)
}

/// As [`launch`]. Returns the answer to whether the launch was captured.
fn launch_asking(
    stage: &Stage<'_>,
    kernel: KernelHandle,
    config: &LaunchConfig,
    (ptr, n, value): (DevicePtr, u64, u32),
    stream: &Stream<'_>,
    asks_captured: bool,
) -> Result<bool, sconce_base::error::Error> {
    let addresses: [*const c_void; 3] = [
        std::ptr::from_ref(&ptr.0).cast(),
        std::ptr::from_ref(&n).cast(),
        std::ptr::from_ref(&value).cast(),
    ];
    #[allow(unsafe_code, reason = "passes values by address")]
    // SAFETY: three values of their sizes, which outlive the call.
    let values = unsafe { KernelValues::new(&addresses, &[8, 8, 4]) };
    stage.driver.kernel_launch_values(kernel, config, &values, stream.at, asks_captured)
}

fn code_of_every_form_is_loaded(stage: &Stage<'_>) -> Outcome {
    register();
    for device in stage.devices() {
        let stream = stage.stream(device)?;
        for ptx in [true, false] {
            let Some(code) = code(device, stage.driver, ptx) else { continue };
            let module = stage.driver.module_load_code(device, &code)?;
            carries_number(&fails(stage.driver.kernel_find(device, module, "sconce_no_such")));
            let kernel = stage.driver.kernel_find(device, module, FILL)?;
            let memory = stage.memory(device, 4096)?;
            launch(stage, kernel, &config(4, 256), (memory.ptr, 1024, 7), &stream)?;
            stream.synchronize()?;
            assert_eq!(stage.words(device, memory.ptr, 1024)?, [7; 1024]);
            stage.driver.module_release(device, module)?;
        }
    }
    Ok(())
}

fn values_are_copied_at_the_call(stage: &Stage<'_>) -> Outcome {
    let Loaded { kernel, .. } = loaded(stage, ZERO, FILL)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    launch(stage, kernel, &config(1, 1), (memory.ptr, 64, 0), &stream)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    for i in 0..64_u64 {
        let values = (DevicePtr(memory.ptr.0 + 4 * i), 1, i as u32 * 3);
        launch(stage, kernel, &config(1, 32), values, &stream)?;
    }
    gate.open();
    stream.synchronize()?;
    assert_eq!(stage.words(ZERO, memory.ptr, 64)?, (0..64).map(|i| i * 3).collect::<Vec<u32>>());
    Ok(())
}

fn a_launch_says_whether_its_stream_is_captured(stage: &Stage<'_>) -> Outcome {
    let Loaded { kernel, .. } = loaded(stage, ZERO, FILL)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let launched = |asks_captured| {
        let values = (memory.ptr, 64, 0);
        launch_asking(stage, kernel, &config(1, 1), values, &stream, asks_captured)
    };
    for _ in 0..2 {
        assert!(!launched(true)? && !launched(false)?);
        stage.driver.capture_begin(stream.at, CaptureMode::Relaxed)?;
        assert!(launched(true)?);
        assert!(!launched(false)?, "nobody has asked");
        let graph = stage.driver.capture_end(stream.at)?;
        assert_eq!(stage.driver.graph_node_count(graph)?, 2);
        stage.driver.graph_destroy(graph)?;
    }
    stream.synchronize()?;
    Ok(())
}

fn launches_of_every_kind_do_the_work(stage: &Stage<'_>) -> Outcome {
    let Loaded { kernel, .. } = loaded(stage, ZERO, "sconce_add_u32")?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    stage.driver.fill_async(memory.ptr, 0, 4096, stream.at)?;
    let mut count = 0;
    for cluster in [None, Some(Dim3::line(2)), Some(Dim3 { x: 2, y: 2, z: 2 })] {
        // Clusters came with compute capability 9.0.
        if cluster.is_some() && stage.driver.device_properties(ZERO)?.major < 9 {
            continue;
        }
        for cooperative in [false, true] {
            let mut config = LaunchConfig { cluster, cooperative, ..config(4, 32) };
            config.shape.grid = Dim3 { x: 4, y: 2, z: 2 };
            // Each thread along x takes its elements; y and z are for the cluster alone.
            if cluster.is_none_or(|cluster| cluster.y == 1) {
                config.shape.grid = Dim3::line(4);
            }
            let n = if config.shape.grid.y == 1 { 1000 } else { 0 };
            launch(stage, kernel, &config, (memory.ptr, n, 1), &stream)?;
            count += u32::from(n > 0);
        }
    }
    stream.synchronize()?;
    let words = stage.words(ZERO, memory.ptr, 1024)?;
    assert!(words[..1000].iter().all(|word| *word == count), "once for each launch: {count}");
    assert!(words[1000..].iter().all(|word| *word == 0));
    Ok(())
}

fn parameters_and_attributes_are_told(stage: &Stage<'_>) -> Outcome {
    let Loaded { kernel, .. } = loaded(stage, ZERO, FILL)?;
    if let Some(parameters) = stage.driver.kernel_parameters(ZERO, kernel)? {
        assert_eq!(parameters, [8, 8, 4]);
    }
    let properties = stage.driver.device_properties(ZERO)?;
    let found = stage.driver.kernel_attributes(ZERO, kernel)?;
    assert!((1..=255).contains(&found.registers), "{found:?}");
    assert_eq!((found.static_shared_bytes, found.local_bytes), (0, 0));
    assert_eq!(found.max_threads_per_block, properties.max_threads_per_block as u32);
    assert_eq!(u64::from(found.dynamic_shared_bytes), properties.shared_memory_per_block_bytes);
    let most = properties.shared_memory_per_block_optin_bytes;
    assert_eq!(u64::from(found.most_dynamic_shared_bytes), most);
    Ok(())
}

fn occupancy_falls_with_what_a_block_needs(stage: &Stage<'_>) -> Outcome {
    let Loaded { kernel, .. } = loaded(stage, ZERO, FILL)?;
    let driver = stage.driver;
    let properties = driver.device_properties(ZERO)?;
    let threads = properties.max_threads_per_multi_processor as u32;
    let small = driver.kernel_occupancy(ZERO, kernel, 256, 0)?;
    assert_eq!(small, threads / 256, "a small kernel is limited by threads alone");
    let shared = driver.kernel_attributes(ZERO, kernel)?.dynamic_shared_bytes;
    let large = driver.kernel_occupancy(ZERO, kernel, 256, shared)?;
    assert!((1..small).contains(&large), "{large} of {small}");
    carries_number(&fails(driver.kernel_occupancy(ZERO, kernel, 0, 0)));
    let best = driver.kernel_best_block(ZERO, kernel, 0, 0)?;
    let blocks = driver.kernel_occupancy(ZERO, kernel, best.threads, 0)?;
    assert_eq!(blocks * best.threads, threads, "{best:?}");
    assert_eq!(best.min_blocks, blocks * properties.multi_processor_count as u32);
    assert!(driver.kernel_best_block(ZERO, kernel, 0, 96)?.threads <= 96);
    Ok(())
}

fn launches_that_no_device_accepts_are_refused(stage: &Stage<'_>) -> Outcome {
    let Loaded { kernel, .. } = loaded(stage, ZERO, FILL)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    stage.driver.fill_async(memory.ptr, 0, 4096, stream.at)?;
    let values = (memory.ptr, 4, 1);
    for (grid, block) in [(0, 32), (1, 0), (1, 2048), (1, u32::MAX)] {
        let launched = launch(stage, kernel, &config(grid, block), values, &stream);
        carries_number(&fails(launched));
    }
    if stage.driver.device_properties(ZERO)?.major >= 9 {
        let odd = LaunchConfig { cluster: Some(Dim3::line(3)), ..config(4, 32) };
        carries_number(&fails(launch(stage, kernel, &odd, values, &stream)));
    }
    stream.synchronize()?; // A refused launch is not a failure of queued work.
    assert_eq!(stage.words(ZERO, memory.ptr, 4)?, [0; 4]);
    Ok(())
}

fn dynamic_shared_memory_beyond_the_usual_is_allowed_first(stage: &Stage<'_>) -> Outcome {
    let Loaded { kernel, .. } = loaded(stage, ZERO, FILL)?;
    let driver = stage.driver;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let most = driver.kernel_attributes(ZERO, kernel)?.most_dynamic_shared_bytes;
    let mut config = config(1, 32);
    config.shape.shared_bytes = most;
    let values = (memory.ptr, 4, 9);
    let refused = fails(launch(stage, kernel, &config, values, &stream));
    assert_eq!(refused.status(), Status::InvalidArgument, "{refused}");
    carries_number(&fails(driver.kernel_allow_shared(ZERO, kernel, most + 1)));
    driver.kernel_allow_shared(ZERO, kernel, most)?;
    assert_eq!(driver.kernel_attributes(ZERO, kernel)?.dynamic_shared_bytes, most);
    launch(stage, kernel, &config, values, &stream)?;
    stream.synchronize()?;
    assert_eq!(stage.words(ZERO, memory.ptr, 4)?, [9; 4]);
    Ok(())
}

fn a_module_is_released_after_its_queued_launches(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    for value in 1..=5 {
        let Loaded { module, kernel } = loaded(stage, ZERO, FILL)?;
        probe.sleep_ms(&stream, 20)?;
        launch(stage, kernel, &config(1, 32), (memory.ptr, 8, value), &stream)?;
        stage.driver.module_release(ZERO, module)?;
        assert!(stage.driver.stream_query(stream.at)?, "the device was waited for");
        assert_eq!(stage.words(ZERO, memory.ptr, 8)?, [value; 8]);
    }
    Ok(())
}
