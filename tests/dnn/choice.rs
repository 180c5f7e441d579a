//! Which engine does a convolution, and how long what was chosen is kept.
//!
//! The simulator lists two engines: one that needs a workspace and calls itself nondeterministic, and a
//! faster one that does not.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::Barrier;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::convolutions::{self, OPERATIONS, Stage, desc, fresh};
use testkit::modelled::Modelled;
use testkit::places::{calls, default_stream, inject, own_stream};

/// Executions of an engine that is timed: one to warm up, three that count.
const TRIAL: u64 = 4;

fn begin() -> Modelled {
    let modelled = Modelled::begin(5_000);
    fresh();
    modelled
}

fn stage_of(operation: i32) -> Stage {
    let desc = desc(operation, SCONCE_DTYPE_F32);
    Stage::new(&sconce_convolution_desc { batch: 1, in_channels: 2, out_channels: 2, ..desc })
}

fn stage() -> Stage {
    stage_of(SCONCE_CONVOLUTION_FORWARD)
}

/// How often engines were asked for, made ready and executed, and workspaces got, by `work`.
fn counted(work: impl FnOnce()) -> [u64; 4] {
    let now = || {
        let workspaces = sconce_runtime::memory::stats(0).unwrap().allocation.all.allocated;
        [calls("dnn_engines"), calls("dnn_plan"), calls("dnn_execute"), workspaces as u64]
    };
    let before = now();
    work();
    let after = now();
    std::array::from_fn(|i| after[i] - before[i])
}

#[track_caller]
fn run(stage: &Stage) -> [u64; 4] {
    stage.result.spoil();
    let counts = counted(|| assert_eq!(stage.run(), SCONCE_OK, "{}", last_message()));
    stage.check("the result");
    counts
}

#[test]
fn the_first_engine_is_made_ready_once() {
    let _alone = begin();
    for operation in OPERATIONS {
        let stage = stage_of(operation);
        assert_eq!(run(&stage), [1, 1, 1, 1]);
        assert_eq!(run(&stage), [0, 0, 1, 1]);
        // Another shape is another problem, and the first is still there.
        let other = Stage::new(&sconce_convolution_desc { batch: 3, ..stage.desc });
        assert_eq!(run(&other), [1, 1, 1, 1]);
        assert_eq!(run(&stage), [0, 0, 1, 1]);
        // Another stream is not.
        own_stream(0);
        assert_eq!(run(&stage), [0, 0, 1, 1]);
        assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    }
}

#[test]
fn equal_problems_meet_and_other_switches_or_alignments_part_them() {
    let _alone = begin();
    let stage = stage();
    assert_eq!(run(&stage), [1, 1, 1, 1]);
    let spelled = sconce_convolution_desc {
        input_strides: [17, 30, 5, 1, -9],
        filter_strides: [6, -3, 2, 1, 7],
        stride: [2, 1, -3],
        ..stage.desc
    };
    assert_eq!(run(&Stage::new(&spelled)), [0, 0, 1, 1]);
    // The two switches that ask for determinism ask for the same.
    for (switch, on, made) in [
        (sconce_context_set_allow_tf32_cudnn as extern "C" fn(CBool), false, 1),
        (sconce_context_set_deterministic_cudnn, true, 1),
        (sconce_context_set_deterministic_algorithms, true, 0),
    ] {
        switch(on.into());
        assert_eq!(run(&stage)[..3], [made, made, 1]);
        assert_eq!(run(&stage)[..3], [0, 0, 1]);
        switch((!on).into());
        assert_eq!(run(&stage), [0, 0, 1, 1]);
    }
    let shifted = stage.a.start().wrapping_byte_add(4);
    let shifted =
        || convolutions::convolve(&stage.desc, shifted, stage.b.start(), stage.result.start());
    let counts = counted(|| assert_eq!(shifted(), SCONCE_OK, "{}", last_message()));
    assert_eq!(counts, [1, 1, 1, 1]);
}

#[test]
fn benchmark_times_the_engines_and_keeps_the_fastest() {
    let _alone = begin();
    for operation in OPERATIONS {
        let stage = stage_of(operation);
        assert_eq!(run(&stage), [1, 1, 1, 1]);
        sconce_context_set_benchmark_cudnn(true.into());
        // The first engine's workspace, to time it.
        assert_eq!(run(&stage), [1, 2, 2 * TRIAL + 1, 1]);
        assert_eq!(run(&stage), [0, 0, 1, 0]);
        sconce_context_set_benchmark_cudnn(false.into());
        assert_eq!(run(&stage), [0, 0, 1, 1]);
    }
}

#[test]
fn the_limit_holds() {
    let _alone = begin();
    sconce_context_set_benchmark_cudnn(true.into());
    for (limit, counts) in
        [(0, [1, 2, 2 * TRIAL + 1, 1]), (1, [1, 1, TRIAL + 1, 2]), (2, [1, 2, 2 * TRIAL + 1, 1])]
    {
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        assert_eq!(sconce_context_set_benchmark_limit_cudnn(limit), SCONCE_OK);
        assert_eq!(run(&stage()), counts, "limit {limit}");
    }
}

#[test]
fn deterministic_leaves_the_other_engine_out() {
    let _alone = begin();
    let stage = stage();
    sconce_context_set_benchmark_cudnn(true.into());
    for switch in
        [sconce_context_set_deterministic_cudnn, sconce_context_set_deterministic_algorithms]
    {
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        switch(true.into());
        assert_eq!(run(&stage), [1, 1, TRIAL + 1, 0]);
        inject("dnn_plan", 1, 3000);
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        assert_eq!(stage.run(), SCONCE_ERROR_NOT_SUPPORTED);
        let message = last_message();
        for words in
            ["none of the 1 deterministic engines", "sconce_context_set_deterministic_cudnn"]
        {
            assert!(message.contains(words), "{message}");
        }
        switch(false.into());
    }
}

#[test]
fn engines_that_cannot_do_it_after_all_are_passed_over() {
    let _alone = begin();
    let stage = stage();
    // What it was told is remembered.
    inject("dnn_plan", 1, 3000);
    assert_eq!(run(&stage), [1, 2, 1, 0]);
    assert_eq!(run(&stage), [0, 0, 1, 0]);
    assert_eq!(std::thread::scope(|scope| scope.spawn(|| run(&stage)).join().unwrap())[1], 1);
    // One that fails when it is to run, too.
    assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
    inject("dnn_execute", 1, 3000);
    assert_eq!(run(&stage), [1, 2, 2, 1]);
    assert_eq!(run(&stage), [0, 0, 1, 0]);
    for (codes, status) in [
        ([3000, 3001], SCONCE_ERROR_NOT_SUPPORTED),
        ([4003, 3000], SCONCE_ERROR_OUT_OF_MEMORY),
        ([3000, 4003], SCONCE_ERROR_OUT_OF_MEMORY),
    ] {
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        inject("dnn_plan", 1, codes[0]);
        inject("dnn_plan", 2, codes[1]);
        assert_eq!(stage.run(), status);
        let message = last_message();
        assert!(message.contains("none of the 2 engines"), "{message}");
        assert!(message.contains(&format!("({})", codes[1])), "{message}");
        assert_eq!(run(&stage), [1, 1, 1, 1]);
    }
    // Others end the search.
    assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
    inject("dnn_plan", 1, 4000);
    let counts = counted(|| assert_eq!(stage.run(), SCONCE_ERROR_DRIVER));
    assert_eq!(counts, [1, 1, 0, 0]);
}

#[test]
fn an_engine_that_fails_while_it_is_timed_is_passed_over() {
    let _alone = begin();
    let stage = stage();
    sconce_context_set_benchmark_cudnn(true.into());
    for at in 1..=TRIAL {
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        inject("dnn_execute", TRIAL + at, 3000);
        assert_eq!(run(&stage), [1, 2, TRIAL + at + 1, 2]);
        assert_eq!(run(&stage), [0, 0, 1, 1]);
    }
}

#[test]
fn an_engine_whose_workspace_does_not_fit_is_passed_over_and_tried_again_by_others() {
    let _alone = begin();
    let stage = stage();
    let no_memory = || {
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        assert_eq!(sconce_memory_set_fraction(1e-9, 0), SCONCE_OK);
    };
    let memory = || assert_eq!(sconce_memory_set_fraction(1.0, 0), SCONCE_OK);
    no_memory();
    assert_eq!(run(&stage), [1, 2, 1, 0]);
    memory();
    // Kept here, but not as what was found out.
    assert_eq!(run(&stage), [0, 0, 1, 0]);
    let elsewhere = || std::thread::scope(|scope| scope.spawn(|| run(&stage)).join().unwrap());
    assert_eq!(elsewhere(), [1, 1, 1, 1]);
    sconce_context_set_benchmark_cudnn(true.into());
    no_memory();
    assert_eq!(run(&stage), [1, 2, TRIAL + 1, 0]);
    memory();
    assert_eq!(elsewhere(), [1, 2, 2 * TRIAL + 1, 1]);
    sconce_context_set_benchmark_cudnn(false.into());

    // A plan whose workspace fitted before.
    assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
    assert_eq!(run(&stage), [1, 1, 1, 1]);
    no_memory();
    assert_eq!(run(&stage), [1, 2, 1, 0]);
    assert_eq!(run(&stage), [0, 0, 1, 0]);

    // And where there is no other.
    assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
    inject("dnn_plan", 2, 3000);
    assert_eq!(stage.run(), SCONCE_ERROR_OUT_OF_MEMORY);
    assert!(last_message().contains("none of the 2 engines"), "{}", last_message());
    memory();
    assert_eq!(run(&stage), [1, 1, 1, 1]);
}

#[test]
fn another_thread_makes_its_plan_without_searching() {
    let _alone = begin();
    let stage = stage();
    sconce_context_set_benchmark_cudnn(true.into());
    assert_eq!(run(&stage), [1, 2, 2 * TRIAL + 1, 1]);
    let (handles, both) = (calls("dnn_create"), Barrier::new(2));
    let (here, there) = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let first = run(&stage);
            both.wait();
            both.wait();
            [first, run(&stage)]
        });
        both.wait();
        let kept = run(&stage);
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        let cleared = run(&stage);
        both.wait();
        ([kept, cleared], other.join().unwrap())
    });
    // The faster engine, made ready for the other thread's handle; then cleared.
    assert_eq!(there, [[1, 1, 1, 0]; 2]);
    assert_eq!(here, [[0, 0, 1, 0], [1, 2, 2 * TRIAL + 1, 1]]);
    let made = calls("dnn_create");
    assert!(made <= handles + 1);
    // The thread has ended; its handle and plans serve the next.
    let next = || std::thread::scope(|scope| scope.spawn(|| run(&stage)).join().unwrap());
    assert_eq!(next(), [0, 0, 1, 0]);
    assert_eq!(calls("dnn_create"), made);
    // They are gone after a clearing, though nobody held them.
    assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
    assert_eq!(next(), [1, 2, 2 * TRIAL + 1, 1]);
}

#[test]
fn a_capture_is_not_benchmarked_spoilt_or_remembered() {
    let _alone = begin();
    let stage = stage();
    sconce_context_set_benchmark_cudnn(true.into());
    let stream = own_stream(0);
    let captured = || {
        assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
        let counts = counted(|| assert_eq!(stage.run(), SCONCE_OK, "{}", last_message()));
        assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
        counts
    };
    // The guess, which later captures find.
    stage.result.spoil();
    let untouched = stage.result.place.read();
    assert_eq!(captured(), [1, 1, 1, 1]);
    assert_eq!(captured(), [0, 0, 1, 1]);
    assert!(stage.result.place.read() == untouched, "a captured convolution ran");
    assert_eq!(run(&stage), [1, 2, 2 * TRIAL + 1, 1]);
    // What was found out serves captures too.
    assert_eq!(captured()[..3], [0, 0, 1]);
    let other = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
                captured()
            })
            .join()
            .unwrap()
    });
    assert_eq!(other[..3], [1, 1, 1]);
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

#[test]
fn what_was_forgotten_goes_at_once_where_nobody_uses_it_and_else_with_its_user() {
    let _alone = begin();
    let stage = stage();
    let forget = || {
        let before = calls("dnn_plan_destroy");
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        calls("dnn_plan_destroy") - before
    };
    run(&stage);
    assert_eq!(forget(), 1, "this thread's");
    assert_eq!(forget(), 0);
    std::thread::scope(|scope| scope.spawn(|| run(&stage)).join().unwrap());
    assert_eq!(forget(), 1, "that of a thread that has ended");
    // One that ends after the forgetting takes its own along.
    let (both, before) = (Barrier::new(2), calls("dnn_plan_destroy"));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            run(&stage);
            both.wait();
            both.wait();
        });
        both.wait();
        assert_eq!(forget(), 0, "its user may be using it");
        both.wait();
        other.join().unwrap();
    });
    assert_eq!(calls("dnn_plan_destroy"), before + 1);
    assert_eq!(forget(), 0);
}

#[test]
fn a_plan_that_a_graph_may_execute_is_forgotten_but_not_destroyed() {
    let _alone = begin();
    let stage = stage();
    let stream = own_stream(0);
    for made_before in [true, false] {
        let before = calls("dnn_plan_destroy");
        if made_before {
            run(&stage);
        }
        assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
        assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
        run(&stage);
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        assert_eq!(calls("dnn_plan_destroy"), before, "made before: {made_before}");
        assert_eq!(run(&stage)[..3], [1, 1, 1], "it was forgotten");
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        assert_eq!(calls("dnn_plan_destroy"), before + 1, "no graph has this one");
    }
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

#[test]
fn plans_can_be_destroyed_while_a_stream_is_captured() {
    let _alone = begin();
    let stage = stage();
    let stream = own_stream(0);
    let in_capture = |act: &dyn Fn()| {
        run(&stage);
        assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
        act();
        assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
    };
    let forget = || assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
    in_capture(&forget);
    in_capture(&|| {
        // From elsewhere: this thread's plans go with its next convolution.
        std::thread::scope(|scope| scope.spawn(forget).join().unwrap());
        assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
    });
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}
