//! Every call that a convolution makes, failed at each of its turns: a status that tells, nothing lost,
//! and the next convolution works.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::convolutions::{OPERATIONS, Stage, Stored, convolve, desc, fresh, tensors};
use testkit::places::{self, allocated, alone, calls, default_stream, inject, own_stream};
use testkit::{in_child, last_message};

/// Calls, and a failure of each that means no more than itself.
const CALLS: [(&str, i32); 13] = [
    ("kernel_launch", 999),
    ("dnn_set_stream", 4000),
    ("dnn_engines", 4000),
    ("dnn_plan", 4000),
    ("dnn_execute", 5000),
    ("pointer_info", 999),
    ("stream_is_capturing", 999),
    ("exchange_capture_mode", 999),
    ("event_create", 999),
    ("event_record", 999),
    ("event_synchronize", 999),
    ("event_elapsed_ms", 999),
    ("memory_alloc", 999),
];

/// Fails each call of `work` at each of its turns; gives those that could be failed. Whether `work` has
/// then done what it should is for `check` to see.
fn fail_everywhere(
    what: &str,
    begin: impl Fn(),
    work: impl Fn() -> sconce_status,
    check: impl Fn(&str),
) -> Vec<&'static str> {
    let mut struck = Vec::new();
    for (call, code) in CALLS {
        for nth in 1.. {
            assert!(nth < 100, "{call} is called for ever");
            let what = format!("{what}: {call} {nth}");
            begin();
            let (before, count) = (allocated(0), calls(call));
            inject(call, nth, code);
            let status = work();
            if calls(call) - count < nth {
                assert_eq!((status, sconce_sim_clear_faults()), (SCONCE_OK, SCONCE_OK), "{what}");
                check(&what);
                break;
            }
            if status != SCONCE_OK {
                assert_eq!(status, SCONCE_ERROR_DRIVER, "{what}: {}", last_message());
                assert_eq!(sconce_last_error_backend_code(), code, "{what}");
            }
            // Leaving the relaxed mode cannot be told but in the log.
            assert!(status != SCONCE_OK || call == "exchange_capture_mode", "{what}");
            assert_eq!(allocated(0), before, "{what}: a workspace was lost");
            assert_eq!(work(), SCONCE_OK, "{what}, again: {}", last_message());
            check(&what);
            struck.push(call);
        }
    }
    struck.dedup();
    struck
}

#[test]
fn every_failure_is_told_and_the_next_convolution_works() {
    let _alone = alone();
    let small = sconce_convolution_desc {
        batch: 1,
        in_channels: 2,
        out_channels: 2,
        ..desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32)
    };
    let stage = Stage::new(&small);
    for (benchmark, expected) in [
        (false, &["dnn_set_stream", "dnn_engines", "dnn_plan", "dnn_execute", "pointer_info"][..]),
        (true, &["event_record", "event_synchronize", "event_elapsed_ms", "memory_alloc"]),
    ] {
        let streams = [own_stream(0), own_stream(0)];
        let begin = || {
            fresh();
            sconce_context_set_benchmark_cudnn(benchmark.into());
            // Bound to another stream, and with no memory at hand.
            assert_eq!(sconce_stream_set_current(streams[0]), SCONCE_OK);
            let mut handle = std::ptr::null_mut();
            // SAFETY: a writable place.
            assert_eq!(unsafe { sconce_dnn_get_handle(&raw mut handle) }, SCONCE_OK);
            assert_eq!(sconce_stream_set_current(streams[1]), SCONCE_OK);
            assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
            stage.result.spoil();
        };
        let struck = fail_everywhere(
            &format!("benchmark {benchmark}"),
            begin,
            || stage.run(),
            |what| stage.check(what),
        );
        for call in expected {
            assert!(struck.contains(call), "{call} in {struck:?}");
        }
        let common = ["stream_is_capturing", "exchange_capture_mode"];
        assert!(common.iter().all(|call| struck.contains(call)), "{struck:?}");
    }
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

#[test]
fn a_filter_with_gaps_loses_no_temporary() {
    let _alone = alone();
    for operation in OPERATIONS {
        let mut gaps = desc(operation, SCONCE_DTYPE_F32);
        gaps.filter_strides = [90, 40, 13, 5, 0];
        let stage = Stage::new(&gaps);
        fresh();
        assert_eq!(stage.run(), SCONCE_OK);
        let begin = || {
            stage.result.spoil();
            assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        };
        let what = format!("gaps, operation {operation}");
        let struck = fail_everywhere(&what, begin, || stage.run(), |what| stage.check(what));
        for call in ["dnn_execute", "kernel_launch", "memory_alloc"] {
            assert!(struck.contains(&call), "{what}: {call} in {struck:?}");
        }
    }
}

#[test]
fn a_plan_that_is_there_survives_failures() {
    let _alone = alone();
    fresh();
    let stage = Stage::new(&desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32));
    assert_eq!(stage.run(), SCONCE_OK);
    let plans = calls("dnn_plan");
    let struck =
        fail_everywhere("a hit", || stage.result.spoil(), || stage.run(), |what| stage.check(what));
    assert_eq!(struck, ["dnn_execute", "pointer_info", "stream_is_capturing"]);
    assert_eq!(calls("dnn_plan"), plans);
}

#[test]
fn zeros_fail_like_anything_else() {
    let _alone = alone();
    fresh();
    let mut desc = desc(SCONCE_CONVOLUTION_BACKWARD_FILTER, SCONCE_DTYPE_F32);
    for strides in [[0; 5], [90, 40, 13, 5, 0]] {
        (desc.batch, desc.filter_strides) = (0, strides);
        let result = Stored::new(0, &tensors(&desc)[1], SCONCE_DTYPE_F32, None);
        let null = std::ptr::null_mut();
        for call in ["fill_async", "kernel_launch", "memory_alloc"] {
            assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
            let before = allocated(0);
            inject(call, 1, 999);
            let status = convolve(&desc, null, null, result.start());
            let fails = call == "fill_async" || strides != [0; 5];
            assert_eq!(status == SCONCE_ERROR_DRIVER, fails, "{call}");
            assert_eq!(allocated(0), before, "{call}");
            assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
            assert_eq!(convolve(&desc, null, null, result.start()), SCONCE_OK);
            assert!(result.read().iter().all(|value| *value == 0.0));
        }
    }
}

#[test]
fn a_handle_that_cannot_be_made_is_made_at_the_next_call() {
    in_child("a_handle_that_cannot_be_made_is_made_at_the_next_call", &[], || {
        let _alone = alone();
        let stage = Stage::new(&desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32));
        inject("dnn_create", 1, 4000);
        assert_eq!(stage.run(), SCONCE_ERROR_DRIVER);
        assert_eq!(sconce_last_error_backend_code(), 4000);
        // Once the allocator's cache is emptied, there is memory.
        inject("dnn_create", 1, 4003);
        assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
        assert_eq!(calls("dnn_create"), 3);
        stage.check("");
    });
}

#[test]
fn work_that_fails_on_the_device_is_told_later() {
    in_child("work_that_fails_on_the_device_is_told_later", &[], || {
        let _alone = alone();
        let stage = Stage::new(&desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32));
        assert_eq!(stage.run(), SCONCE_OK);
        let name = c"dnn_execute";
        // SAFETY: a NUL-terminated name.
        let status = unsafe { sconce_sim_inject_async_fault(name.as_ptr(), 1, 700) };
        assert_eq!(status, SCONCE_OK);
        assert_eq!(stage.run(), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER);
        assert_eq!(stage.run(), SCONCE_ERROR_DRIVER);
        assert_eq!(sconce_last_error_backend_code(), 700);
        // For the memory to be given back.
        assert_eq!(sconce_sim_clear_device_error(0), SCONCE_OK);
        assert_eq!(stage.run(), SCONCE_OK);
        stage.check("");
    });
}

#[test]
fn blocking_launches_wait() {
    in_child("blocking_launches_wait", &[("CUDA_LAUNCH_BLOCKING", "1")], || {
        let _alone = alone();
        let stage = Stage::new(&desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32));
        for _ in 0..3 {
            let waits = calls("stream_synchronize");
            assert_eq!(stage.run(), SCONCE_OK);
            assert_eq!(calls("stream_synchronize"), waits + 1);
            assert_eq!(places::pending(default_stream(0)), 0);
        }
        stage.check("");
        // Sums of nothing, too, in one piece and with gaps.
        for filter_strides in [[0; 5], [90, 40, 13, 5, 0]] {
            let desc = desc(SCONCE_CONVOLUTION_BACKWARD_FILTER, SCONCE_DTYPE_F32);
            let desc = sconce_convolution_desc { batch: 0, filter_strides, ..desc };
            let result = Stored::new(0, &tensors(&desc)[1], SCONCE_DTYPE_F32, None);
            let (waits, null) = (calls("stream_synchronize"), std::ptr::null_mut());
            assert_eq!(convolve(&desc, null, null, result.start()), SCONCE_OK);
            assert_eq!(calls("stream_synchronize"), waits + 1);
        }
    });
}
