//! Convolutions of many threads at once, while plans are forgotten.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::atomic::{AtomicBool, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::convolutions::{OPERATIONS, Stage, desc, fresh};
use testkit::places::{allocated, alone, calls, own_stream};

const THREADS: usize = 8;
const ROUNDS: usize = 12;

fn convolve_on_own_stream(thread: usize, rounds: usize) {
    own_stream(0);
    let stages = OPERATIONS.map(|operation| {
        let batch = 1 + thread as i64 % 2;
        let desc = desc(operation, SCONCE_DTYPE_F32);
        Stage::new(&sconce_convolution_desc { batch, in_channels: 2, out_channels: 2, ..desc })
    });
    for round in 0..rounds {
        for stage in &stages {
            stage.result.spoil();
            assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
        }
        for stage in &stages {
            stage.check(&format!("thread {thread}, round {round}"));
        }
    }
}

#[test]
fn threads_get_their_own_results_whatever_the_others_do() {
    let _alone = alone();
    fresh();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || convolve_on_own_stream(thread, ROUNDS)))
            .collect();
        let disturber = scope.spawn(|| {
            let mut on = false;
            while !done.load(Ordering::Relaxed) {
                on = !on;
                sconce_context_set_benchmark_cudnn(on.into());
                sconce_context_set_deterministic_cudnn((!on).into());
                assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let joined: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        done.store(true, Ordering::Relaxed);
        disturber.join().unwrap();
        assert!(joined.into_iter().all(|joined| joined.is_ok()));
    });
    fresh();
    let held = allocated(0);
    assert_eq!(held, 0);
}

#[test]
fn threads_that_come_and_go_share_handles_and_plans() {
    let _alone = alone();
    fresh();
    convolve_in_turn(4);
    let [handles, plans] = ["dnn_create", "dnn_plan"].map(calls);
    convolve_in_turn(20);
    assert_eq!(["dnn_create", "dnn_plan"].map(calls), [handles, plans]);
}

/// One thread after the other.
fn convolve_in_turn(threads: usize) {
    for thread in 0..threads {
        std::thread::scope(|scope| {
            scope.spawn(move || convolve_on_own_stream(thread, 1)).join().unwrap();
        });
    }
}
