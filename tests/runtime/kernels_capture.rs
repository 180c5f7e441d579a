//! The first use of each kernel of this library may be inside a capture: loading its image neither
//! fails nor spoils the capture.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use testkit::simulated;

use sconce::sconce_status::*;
use sconce::*;
use sconce_base::types::DeviceIndex;
use sconce_kernels::images::PROBE;
use testkit::libraries::handles::{self, in_process};
use testkit::places::{Kind, Place, calls, own_stream};

/// Global, thread-local and relaxed.
const MODES: [i32; 3] = [0, 1, 2];

/// What queues a kernel of ours on the current stream.
type Use = fn(*mut c_void, sconce_stream) -> sconce_status;

fn sleep(_: *mut c_void, stream: sconce_stream) -> sconce_status {
    sconce_stream_sleep(stream, 1)
}

fn rows(place: *mut c_void, _: sconce_stream) -> sconce_status {
    // SAFETY: memory of a device is checked.
    unsafe { sconce_copy_2d(place, 64, place.wrapping_byte_add(2048), 32, 24, 5, CBool::TRUE) }
}

/// A matrix is copied into its transposed form.
fn strided(place: *mut c_void, _: sconce_stream) -> sconce_status {
    // SAFETY: a struct of numbers.
    let mut shape: sconce_strided_copy = unsafe { std::mem::zeroed() };
    shape.struct_size = size_of::<sconce_strided_copy>() as u32;
    (shape.rank, shape.element_bytes) = (2, 4);
    shape.sizes[..2].copy_from_slice(&[4, 5]);
    shape.dst_strides[..2].copy_from_slice(&[1, 4]);
    shape.src_strides[..2].copy_from_slice(&[5, 1]);
    let from = place.wrapping_byte_add(2048);
    // SAFETY: a whole description; memory of a device is checked.
    unsafe { sconce_copy_strided(&raw const shape, place, from, CBool::TRUE) }
}

fn uniform(place: *mut c_void, _: sconce_stream) -> sconce_status {
    sconce_random_uniform(place, 100, SCONCE_DTYPE_F32, 0.0, 1.0, std::ptr::null_mut())
}

fn normal(place: *mut c_void, _: sconce_stream) -> sconce_status {
    sconce_random_normal(place, 100, SCONCE_DTYPE_F64, 0.0, 1.0, std::ptr::null_mut())
}

fn scaled_transform(place: *mut c_void, _: sconce_stream) -> sconce_status {
    // SAFETY: a struct of numbers.
    let mut desc: sconce_fft_desc = unsafe { std::mem::zeroed() };
    desc.struct_size = size_of::<sconce_fft_desc>() as u32;
    desc.kind = SCONCE_FFT_C2C;
    desc.dtype = SCONCE_DTYPE_F32;
    desc.direction = SCONCE_FFT_INVERSE;
    desc.normalization = SCONCE_FFT_NORM_BY_N;
    desc.rank = 1;
    desc.sizes[0] = 8;
    desc.batch = 1;
    // SAFETY: a whole description; memory of a device is checked.
    unsafe { sconce_fft(&raw const desc, place, place.wrapping_byte_add(2048)) }
}

const USES: [(&str, Use); 6] = [
    ("sleep", sleep),
    ("rows", rows),
    ("strided", strided),
    ("uniform", uniform),
    ("normal", normal),
    ("scale", scaled_transform),
];

/// In a process of its own for each kind of kernel and mode of capture, where nothing was loaded before.
fn first_use(test: &str, which: usize) {
    for mode in MODES {
        let mode_text = mode.to_string();
        in_process(test, &[("SCONCE_TEST_MODE", &mode_text)], || {
            let mode: i32 = std::env::var("SCONCE_TEST_MODE").unwrap().parse().unwrap();
            let (name, queue) = USES[which];
            let place = Place::new(Kind::Device(0), 4096);
            let stream = own_stream(0);
            assert_eq!(sconce_sim_begin_capture(stream, mode), SCONCE_OK);
            assert_eq!(calls("module_load"), 0, "{name}");
            let status = queue(place.start(), stream);
            assert_eq!(status, SCONCE_OK, "{name}, mode {mode}: {}", testkit::last_message());
            assert!(calls("module_load") > 0 && calls("kernel_launch") > 0, "{name}");
            let ended = sconce_sim_end_capture(stream);
            assert_eq!(ended, SCONCE_OK, "{name}, mode {mode}: {}", testkit::last_message());
            let loaded = calls("module_load");
            assert_eq!(queue(place.start(), stream), SCONCE_OK);
            assert_eq!(calls("module_load"), loaded, "{name} is kept");
            assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        });
        if std::env::var_os("SCONCE_TEST_MODE").is_some() {
            return; // The child has done its mode.
        }
    }
}

#[test]
fn sleeps_first_used_in_a_capture() {
    first_use("sleeps_first_used_in_a_capture", 0);
}

#[test]
fn copies_of_rows_first_used_in_a_capture() {
    first_use("copies_of_rows_first_used_in_a_capture", 1);
}

#[test]
fn strided_copies_first_used_in_a_capture() {
    first_use("strided_copies_first_used_in_a_capture", 2);
}

#[test]
fn uniform_fills_first_used_in_a_capture() {
    first_use("uniform_fills_first_used_in_a_capture", 3);
}

#[test]
fn normal_fills_first_used_in_a_capture() {
    first_use("normal_fills_first_used_in_a_capture", 4);
}

#[test]
fn divisions_of_transforms_first_used_in_a_capture() {
    first_use("divisions_of_transforms_first_used_in_a_capture", 5);
}

/// The simulator refuses what a capture forbids, so that the tests above can fail.
#[test]
fn loading_without_care_is_refused_and_spoils_the_capture() {
    in_process("loading_without_care_is_refused_and_spoils_the_capture", &[], || {
        let driver = simulated::runtime().driver();
        let load = || driver.module_load(DeviceIndex::ZERO, &PROBE);
        let stream = own_stream(0);
        let refused = |mode: i32, expected: Option<i32>| {
            assert_eq!(sconce_sim_begin_capture(stream, mode), SCONCE_OK);
            let outcome = load();
            assert_eq!(outcome.as_ref().err().map(|error| error.backend_code()), expected);
            let ended = sconce_sim_end_capture(stream);
            assert_eq!(ended == SCONCE_OK, expected.is_none(), "mode {mode}");
        };
        refused(0, Some(900));
        refused(1, Some(900));
        refused(2, None);
        // Another thread is held back by a capture in global mode only.
        for (mode, expected) in [(0, Some(900)), (1, None)] {
            assert_eq!(sconce_sim_begin_capture(stream, mode), SCONCE_OK);
            let outcome = handles::in_thread(load);
            assert_eq!(outcome.err().map(|error| error.backend_code()), expected);
            let ended = sconce_sim_end_capture(stream);
            assert_eq!(ended == SCONCE_OK, expected.is_none(), "mode {mode}");
        }
        assert!(load().is_ok());
    });
}
