//! Every call of the driver and the library that a transform makes, made to fail at every turn: a
//! status that tells, no memory lost, the cache as it should be, and the next transform works.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::fft::{self, Side, desc, run, stats};
use testkit::numbers::{encode_all, width};
use testkit::places::{self, Kind, Place, alone, calls, inject, own_stream};
use testkit::{in_child, last_message};

const CALLS: [&str; 14] = [
    "pointer_info",
    "memory_info",
    "memory_alloc",
    "exchange_capture_mode",
    "stream_is_capturing",
    "fft_plan",
    "fft_execute",
    "copy_async",
    "module_load",
    "kernel_find",
    "kernel_launch",
    "event_create",
    "event_record",
    "stream_synchronize",
];

/// What fails with what: the library's calls by its own numbers.
fn code(call: &str) -> i32 {
    match call {
        "fft_plan" | "fft_execute" => 5,
        _ => 999,
    }
}

fn allocated(device: i32) -> (i64, i64) {
    let stats = sconce_runtime::memory::stats(device).unwrap();
    (stats.allocated_bytes.all.current, stats.allocation.all.current)
}

/// Descriptions that go every way: direct, with a workspace, through temporaries, divided.
fn ways() -> Vec<sconce_fft_desc> {
    let mut divided = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[16], 2);
    divided.normalization = SCONCE_FFT_NORM_BY_N;
    let mut turned = desc(SCONCE_FFT_R2C, SCONCE_DTYPE_F64, &[4, 8], 2);
    (turned.in_batch_stride, turned.in_strides) = (1, [-2, -8, 0]);
    (turned.out_batch_stride, turned.out_strides) = (20, [1, 4, 0]);
    turned.normalization = SCONCE_FFT_NORM_BY_ROOT_N;
    let back = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F16, &[4, 8], 2);
    let long = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[4098], 1);
    vec![divided, turned, back, long]
}

/// The two sides, and a transform that worked.
struct Good {
    desc: sconce_fft_desc,
    input: Place,
    output: Place,
    expected: Vec<u8>,
}

impl Good {
    fn new(desc: sconce_fft_desc) -> Good {
        let (from, to) = (Side::of(&desc, false), Side::of(&desc, true));
        let numbers = fft::numbers(3, from.bytes(desc.dtype) / width(desc.dtype));
        let input = Place::holding(Kind::Device(0), &encode_all(desc.dtype, &numbers));
        let output = Place::holding(Kind::Device(0), &vec![0; to.bytes(desc.dtype)]);
        let mut good = Good { desc, input, output, expected: Vec::new() };
        assert_eq!(good.run(), SCONCE_OK, "{}", last_message());
        good.expected = good.read();
        good
    }

    fn run(&self) -> sconce_status {
        let (from, to) = (Side::of(&self.desc, false), Side::of(&self.desc, true));
        let input = self.input.at(from.start(self.desc.dtype));
        run(&self.desc, input, self.output.at(to.start(self.desc.dtype)))
    }

    fn read(&self) -> Vec<u8> {
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        self.output.read()
    }
}

/// Fails each call at each of its turns; says which were struck. With `fresh` the plan is made each
/// time, and memory is got from the driver.
fn fail_everywhere(good: &Good, fresh: bool) -> Vec<&'static str> {
    let mut struck = Vec::new();
    for call in CALLS {
        for nth in 1.. {
            assert!(nth < 100, "{call} is called for ever");
            assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
            if fresh {
                assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
                assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
            }
            let (before, held) = (stats(0), allocated(0));
            inject(call, nth, code(call));
            let made = calls(call);
            let status = good.run();
            let message = last_message();
            let happened = calls(call) - made >= nth;
            assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
            assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
            assert_eq!(allocated(0), held, "{call} {nth}: memory was lost");
            let after = stats(0);
            if !happened {
                assert_eq!(status, SCONCE_OK, "{call} {nth}: {message}");
                break;
            }
            struck.push(call);
            if status != SCONCE_OK {
                assert!(message.contains(call), "{call} {nth}: {message}");
            }
            if call == "memory_info" {
                // Costs are not known then, and nothing else is lost.
                assert_eq!(status, SCONCE_OK, "{message}");
            }
            assert!(after.misses - before.misses + after.hits - before.hits <= 1);
            // A place is there if its plan is.
            let misses = after.misses - before.misses;
            if call == "fft_plan" {
                assert_eq!((status, after.size), (SCONCE_ERROR_DRIVER, before.size));
                assert_eq!(after.bytes, before.bytes);
            } else if misses == 1 && status == SCONCE_OK {
                assert_eq!(after.size, before.size + 1, "{call} {nth}");
            }
            assert_eq!(good.run(), SCONCE_OK, "after {call} {nth}: {}", last_message());
            assert_eq!(good.read(), good.expected, "after {call} {nth}");
            assert_eq!(stats(0).size, if fresh { 1 } else { before.size });
        }
    }
    struck.dedup();
    struck
}

#[test]
fn whatever_fails_nothing_is_lost() {
    let _alone = alone();
    let mut struck = Vec::new();
    for default in [true, false] {
        if !default {
            own_stream(0);
        }
        for desc in ways() {
            assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
            let good = Good::new(desc);
            struck.extend(fail_everywhere(&good, false));
            struck.extend(fail_everywhere(&good, true));
        }
    }
    assert_eq!(sconce_stream_set_current(places::default_stream(0)), SCONCE_OK);
    for call in [
        "pointer_info",
        "memory_info",
        "memory_alloc",
        "exchange_capture_mode",
        "stream_is_capturing",
        "fft_plan",
        "fft_execute",
        "copy_async",
        "kernel_launch",
    ] {
        assert!(struck.contains(&call), "{call} was never struck: {struck:?}");
    }
}

#[test]
fn a_kernel_that_cannot_be_loaded_is_tried_again() {
    let test = "a_kernel_that_cannot_be_loaded_is_tried_again";
    in_child(test, &[("SCONCE_BACKEND", "sim")], || {
        let _alone = alone();
        let mut divided = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[16], 2);
        let memory = Place::new(Kind::Device(0), 1 << 12);
        divided.normalization = SCONCE_FFT_NORM_BY_N;
        for call in ["module_load", "kernel_find"] {
            inject(call, 1, 999);
            assert_eq!(run(&divided, memory.start(), memory.start()), SCONCE_ERROR_DRIVER);
            assert!(last_message().contains(call), "{}", last_message());
        }
        for _ in 0..2 {
            assert_eq!(run(&divided, memory.start(), memory.start()), SCONCE_OK);
        }
        assert_eq!((calls("module_load"), calls("kernel_find")), (2, 2));
    });
}

#[test]
fn launch_blocking_waits_and_its_failure_is_told() {
    let test = "launch_blocking_waits_and_its_failure_is_told";
    let environment = [("SCONCE_BACKEND", "sim"), ("CUDA_LAUNCH_BLOCKING", "1")];
    in_child(test, &environment, || {
        let _alone = alone();
        let good = Good::new(desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[16], 2));
        let stream = own_stream(0);
        let before = calls("stream_synchronize");
        assert_eq!(good.run(), SCONCE_OK);
        assert_eq!(calls("stream_synchronize"), before + 1);
        assert_eq!(places::pending(stream), 0);
        inject("stream_synchronize", 1, 999);
        assert_eq!(good.run(), SCONCE_ERROR_DRIVER);
        assert_eq!(good.run(), SCONCE_OK);
    });
}
