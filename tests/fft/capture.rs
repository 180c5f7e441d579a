//! Transforms into graphs, and plans that must not be destroyed, or not yet.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use testkit::simulated;

use sconce::sconce_status::*;
use sconce::*;
use sconce_base::types::DeviceIndex;
use testkit::libraries::fft::{self, desc, rows, run, stats};
use testkit::places::{Kind, Place, alone, calls, captured, default_stream, own_stream};
use testkit::{in_child, last_message};

fn free_bytes() -> usize {
    simulated::runtime().driver().memory_info(DeviceIndex::ZERO).unwrap().free_bytes
}

fn fresh() {
    fft::fresh(0);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
}

#[test]
fn plans_are_made_and_executed_in_a_capture_which_does_not_run() {
    let _alone = alone();
    fresh();
    let (input, output) =
        (Place::new(Kind::Device(0), 1 << 16), Place::new(Kind::Device(0), 1 << 16));
    input.fill(1);
    output.fill(9);
    let mut turned = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[4, 8], 2);
    (turned.out_batch_stride, turned.out_strides) = (32, [1, 4, 0]);
    turned.normalization = SCONCE_FFT_NORM_BY_N;
    let back = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[4, 8], 2);
    let ways = [rows(16, 2), turned, back, rows(4098, 1)];
    captured(|_| {
        for desc in &ways {
            assert_eq!(run(desc, input.start(), output.start()), SCONCE_OK, "{}", last_message());
        }
    });
    assert_eq!(calls("fft_plan"), 4);
    assert_eq!(calls("fft_execute"), 4);
    assert_eq!(output.read(), vec![9; 1 << 16]);
    // They are used outside of it too.
    for desc in &ways {
        assert_eq!(run(desc, input.start(), output.start()), SCONCE_OK, "{}", last_message());
    }
    assert_eq!(calls("fft_plan"), 4);
    assert!(output.read() != vec![9; 1 << 16]);
    fresh();
}

#[test]
fn a_plan_that_a_graph_of_other_code_uses_never_leaves_the_device_and_counts() {
    let _alone = alone();
    fresh();
    let memory = Place::new(Kind::Device(0), 1 << 12);
    let run = |n| assert_eq!(run(&rows(n, 1), memory.start(), memory.start()), SCONCE_OK);
    let before = free_bytes();
    run(40);
    run(50);
    fresh();
    assert_eq!(free_bytes(), before, "plans that no graph uses go");
    // Made before the capture or in it; the third is of no graph.
    run(40);
    run(60);
    captured(|_| {
        run(40);
        run(50);
    });
    run(40);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    let made = before - free_bytes();
    assert_eq!((stats(0).size, stats(0).plan_bytes as usize), (3, made));
    fresh();
    assert_eq!((stats(0).size, stats(0).plan_bytes as usize), (0, made / 3 * 2));
    assert_eq!(before - free_bytes(), made / 3 * 2, "those of the graph stay");
    // Nor may one go that was not kept for a moment.
    assert_eq!(sconce_fft_cache_set_max_size(0, 0), SCONCE_OK);
    captured(|_| run(70));
    assert_eq!(before - free_bytes(), made);
    fresh();
}

#[test]
fn only_streams_that_can_be_captured_are_asked_about() {
    let _alone = alone();
    fresh();
    let memory = Place::new(Kind::Device(0), 1 << 12);
    let run = |n| assert_eq!(run(&rows(n, 1), memory.start(), memory.start()), SCONCE_OK);
    let asked = |work: &dyn Fn()| {
        let before = calls("stream_is_capturing");
        work();
        calls("stream_is_capturing") - before
    };
    run(40);
    assert_eq!(asked(&|| run(40)), 0, "the default stream");
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    let stream = own_stream(0);
    assert_eq!(asked(&|| run(40)), 1, "another");
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    captured(|_| run(40));
    own_stream(0);
    assert_eq!(asked(&|| run(40)), 1, "another graph may follow");
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    fresh();
}

#[test]
fn plans_that_leave_while_a_stream_is_captured_go_when_it_has_ended() {
    let _alone = alone();
    fresh();
    let memory = Place::new(Kind::Device(0), 1 << 12);
    let run = |n| assert_eq!(run(&rows(n, 1), memory.start(), memory.start()), SCONCE_OK);
    let before = free_bytes();
    run(40);
    run(50);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    let held = before - free_bytes();
    assert!(held > 0);
    captured(|_| {
        assert_eq!(sconce_fft_cache_set_max_size(0, 1), SCONCE_OK);
        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
        assert_eq!(stats(0).size, 0);
        assert_eq!(before - free_bytes(), held, "not yet");
    });
    assert_eq!(before - free_bytes(), held);
    // Making the next plan destroys them.
    run(60);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(before - free_bytes(), held / 2);
    fresh();
    assert_eq!(before, free_bytes());
}

#[test]
fn launch_blocking_does_not_wait_in_a_capture() {
    let test = "launch_blocking_does_not_wait_in_a_capture";
    in_child(test, &[("SCONCE_BACKEND", "sim"), ("CUDA_LAUNCH_BLOCKING", "1")], || {
        let _alone = alone();
        let memory = Place::new(Kind::Device(0), 1 << 12);
        captured(|_| {
            assert_eq!(run(&rows(16, 1), memory.start(), memory.start()), SCONCE_OK);
            assert_eq!(calls("stream_synchronize"), 0);
        });
    });
}
