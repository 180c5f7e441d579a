//! Which kernels the CUDA backend lets begin before the work in front of them has ended.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use sconce_driver::prelude::*;
use sconce_driver::{
    CaptureMode, Dim3, KernelArguments, KernelHandle, LaunchShape, ModuleCode, StreamRef,
};
use sconce_kernels::images::SCALE;
use testkit::fake_cuda::{Fake, open, second, stream_of};

fn open_with(defines: &[&str]) -> Fake {
    open(defines).ok().unwrap()
}

/// Whether a launch says that it may begin early.
fn is_early(fake: &Fake, kernel: KernelHandle, stream: StreamRef) -> bool {
    fake.state().words = [0; 8];
    let shape = LaunchShape {
        grid: Dim3 { x: 1, y: 2, z: 3 },
        block: Dim3 { x: 4, y: 5, z: 6 },
        shared_bytes: 77,
    };
    let arguments = KernelArguments::new().u64(1 << 60).u32(u32::MAX - 1);
    fake.driver.kernel_launch(kernel, shape, &arguments, stream).unwrap();
    let words = fake.state().words;
    assert_eq!(words[..5], [123, 456, 77, 1 << 60, 0xFFFF_FFFE]);
    words[7] == 20
}

fn of_image(fake: &Fake) -> KernelHandle {
    let module = fake.driver.module_load(second(), &SCALE).unwrap();
    fake.driver.kernel_find(second(), module, "kernel").unwrap()
}

#[test]
fn kernels_begin_early_where_their_machine_code_waits() {
    for (defines, expected) in [
        (&["CAPABILITY=90"][..], true),
        (&["CAPABILITY=100"], true),
        (&["CAPABILITY=89"], false),
        (&["CAPABILITY=75"], false),
        // The driver compiles PTX, which has no waits.
        (&["CAPABILITY=90", "REFUSED_MACHINE_CODE=209"], false),
        (&["CAPABILITY=90", "MISSING=\"cuLaunchKernelEx\""], false),
    ] {
        let fake = open_with(defines);
        let (kernel, stream) = (of_image(&fake), stream_of(&fake, second()));
        assert_eq!(is_early(&fake, kernel, stream), expected, "{defines:?}");
    }
}

#[test]
fn a_captured_launch_is_a_plain_node() {
    let fake = open_with(&["CAPABILITY=90"]);
    let (kernel, stream) = (of_image(&fake), stream_of(&fake, second()));
    fake.capture(stream, true);
    assert!(!is_early(&fake, kernel, stream));
    fake.capture(stream, false);
    assert!(is_early(&fake, kernel, stream));
}

/// Of a stream that this library captures the driver is not asked: here other code has ended the capture. Another stream
/// is asked about.
#[test]
fn launches_on_a_stream_that_this_library_captures_are_plain_until_it_ends_the_capture() {
    let fake = open_with(&["CAPABILITY=90"]);
    let driver = &fake.driver;
    let (kernel, stream) = (of_image(&fake), stream_of(&fake, second()));
    let other = stream_of(&fake, second());
    for _ in 0..2 {
        driver.capture_begin(stream, CaptureMode::Relaxed).unwrap();
        assert!(!is_early(&fake, kernel, stream));
        fake.capture(stream, false);
        assert!(!is_early(&fake, kernel, stream));
        assert!(is_early(&fake, kernel, other));
        fake.capture(other, true);
        assert!(!is_early(&fake, kernel, other));
        fake.capture(other, false);
        driver.capture_end(stream).unwrap();
        assert!(is_early(&fake, kernel, stream));
    }
    // The newest of two captures is known, and the end of the other changes nothing.
    driver.capture_begin(stream, CaptureMode::Relaxed).unwrap();
    driver.capture_begin(other, CaptureMode::Relaxed).unwrap();
    assert!(!is_early(&fake, kernel, stream) && !is_early(&fake, kernel, other));
    driver.capture_end(stream).unwrap();
    fake.capture(other, false);
    assert!(is_early(&fake, kernel, stream) && !is_early(&fake, kernel, other));
    driver.capture_end(other).unwrap();
    assert!(is_early(&fake, kernel, other));
}

/// The fake gives every module the same handle, as a driver may give one again.
#[test]
fn kernels_of_the_program_are_launched_plainly_even_under_a_handle_of_before() {
    let fake = open_with(&["CAPABILITY=90"]);
    let (driver, device) = (&fake.driver, second());
    let module = driver.module_load(device, &SCALE).unwrap();
    driver.module_unload(device, module).unwrap();
    let ptx = ModuleCode::new("image", b".version 8.0\n.target sm_75\n.visible .entry kernel() {}");
    let module = driver.module_load_code(device, &ptx.unwrap()).unwrap();
    let kernel = driver.kernel_find(device, module, "kernel").unwrap();
    assert!(!is_early(&fake, kernel, stream_of(&fake, device)));
}
