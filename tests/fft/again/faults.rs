//! Repeated transforms that fail, that go into graphs, that are waited for, and in a process that was
//! forked.

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked;
use testkit::libraries::fft::{free_bytes, fresh, rows, run, stats};
use testkit::libraries::repeats::{Block, Call, large};
use testkit::places::{self, alone, calls, default_stream, inject, own_stream, pending};
use testkit::{in_child, last_message};

#[test]
fn a_repeat_that_fails_says_so_and_the_next_goes() {
    let _alone = alone();
    fresh(0);
    let blocks = [0, 1].map(|_| Block::new(64 << 10));
    let mut divided = rows(16, 2);
    divided.normalization = SCONCE_FFT_NORM_BY_N;
    for (desc, failing) in [
        (rows(16, 2), &["fft_execute"][..]),
        (large(), &["fft_execute"]),
        (divided, &["fft_execute", "kernel_launch"]),
    ] {
        let call = Call::new(desc, 1);
        let goes = || call.goes(0, blocks[0].start(), blocks[1].start(), "with failures");
        for call_name in failing {
            (0..3).for_each(|_| goes());
            for _ in 0..2 {
                let allocated = places::allocated(0);
                inject(call_name, 1, if *call_name == "fft_execute" { 6 } else { 719 });
                let found = run(&desc, blocks[0].start(), blocks[1].start());
                assert_eq!(found, SCONCE_ERROR_DRIVER, "{call_name}");
                assert!(!last_message().is_empty());
                assert_eq!(places::allocated(0), allocated, "{call_name}");
                assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
                (0..2).for_each(|_| goes());
            }
        }
    }
    // Whether a stream is captured is asked each time; that may fail too.
    let call = Call::new(rows(16, 2), 1);
    let stream = own_stream(0);
    let goes = || call.goes(0, blocks[0].start(), blocks[1].start(), "on a stream");
    (0..2).for_each(|_| goes());
    inject("stream_is_capturing", 1, 719);
    assert_eq!(run(&call.desc, blocks[0].start(), blocks[1].start()), SCONCE_ERROR_DRIVER);
    assert_eq!(pending(stream), 0);
    (0..2).for_each(|_| goes());
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    let stats = stats(0);
    assert_eq!((stats.misses, stats.size), (2, 2));
    fresh(0);
}

#[test]
fn a_repeat_that_has_no_memory_for_its_workspace_says_so_and_the_next_goes() {
    let test = "faults::a_repeat_that_has_no_memory_for_its_workspace_says_so_and_the_next_goes";
    in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_MEMORY", "64M")], || {
        // 2 MiB on either side, and of workspace.
        let large = rows(1 << 14, 16);
        let small = Call::new(rows(16, 2), 1);
        let blocks = [0, 1].map(|_| Block::new(2 << 20));
        for _ in 0..2 {
            assert_eq!(run(&large, blocks[0].start(), blocks[1].start()), SCONCE_OK);
        }
        assert_eq!(stats(0).workspace_bytes, 2 << 20);
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        let mut rest: Vec<Block> = std::iter::from_fn(|| Block::try_new(2 << 20)).collect();
        // All that a smaller transform takes.
        (0..2).for_each(|_| small.goes(0, blocks[0].start(), blocks[1].start(), "small"));
        for _ in 0..2 {
            let executed = calls("fft_execute");
            let status = run(&large, blocks[0].start(), blocks[1].start());
            assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY);
            assert_eq!(calls("fft_execute"), executed);
            // Others go meanwhile.
            (0..3).for_each(|_| small.goes(0, blocks[0].start(), blocks[1].start(), "small"));
        }
        drop(rest.pop());
        for _ in 0..2 {
            let status = run(&large, blocks[0].start(), blocks[1].start());
            assert_eq!(status, SCONCE_OK, "{}", last_message());
        }
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    });
}

#[test]
fn a_repeat_into_a_graph_of_other_code_keeps_its_plan_for_ever() {
    let _alone = alone();
    fresh(0);
    let stream = own_stream(0);
    let blocks = [0, 1].map(|_| Block::new(64 << 10));
    for desc in [rows(40, 1), large()] {
        let call = Call::new(desc, 1);
        let goes = || call.goes(0, blocks[0].start(), blocks[1].start(), "of a graph");
        (0..3).for_each(|_| goes());
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        let held = stats(0).plan_bytes as usize;
        assert!(held > 0);
        let asked = calls("stream_is_capturing");
        goes();
        assert_eq!(calls("stream_is_capturing"), asked + 1);
        // The stream stays the same, so nothing is new but the capture.
        assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
        let ran = run(&desc, blocks[0].start(), blocks[1].start());
        assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
        assert_eq!(ran, SCONCE_OK, "{}", last_message());
        let asked = calls("stream_is_capturing");
        (0..2).for_each(|_| goes());
        assert_eq!(calls("stream_is_capturing"), asked + 2, "another graph may follow");
        let before = free_bytes(0);
        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
        assert_eq!((stats(0).size, stats(0).plan_bytes as usize), (0, held));
        assert_eq!(free_bytes(0), before, "the plan of the graph stays");
        // The next is another, of no graph.
        (0..3).for_each(|_| goes());
        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
        assert_eq!(free_bytes(0), before, "the other went");
    }
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    fresh(0);
}

#[test]
fn launch_blocking_waits_for_each_repeat() {
    let test = "faults::launch_blocking_waits_for_each_repeat";
    let environment = [("SCONCE_BACKEND", "sim"), ("CUDA_LAUNCH_BLOCKING", "1")];
    in_child(test, &environment, || {
        let _alone = alone();
        let stream = own_stream(0);
        let blocks = [0, 1].map(|_| Block::new(64 << 10));
        for desc in [rows(16, 2), large()] {
            let call = Call::new(desc, 1);
            call.put(blocks[0].start());
            for _ in 0..4 {
                let before = calls("stream_synchronize");
                call.run(blocks[0].start(), blocks[1].start());
                assert_eq!(calls("stream_synchronize"), before + 1);
                assert_eq!(pending(stream), 0);
                call.check(blocks[1].start(), "waited for");
            }
        }
    });
}

#[test]
fn a_forked_child_is_refused_what_its_parent_repeated() {
    let test = "faults::a_forked_child_is_refused_what_its_parent_repeated";
    in_child(test, &[("SCONCE_BACKEND", "sim")], || {
        let blocks = [0, 1].map(|_| Block::new(64 << 10));
        let all = [Call::new(rows(16, 2), 1), Call::new(large(), 2)];
        let goes = |call: &Call| call.goes(0, blocks[0].start(), blocks[1].start(), "forked");
        all.iter().for_each(|call| (0..3).for_each(|_| goes(call)));
        let is_refused = |call: &Call| {
            run(&call.desc, blocks[0].start(), blocks[1].start()) == SCONCE_ERROR_FORKED
        };
        assert_eq!(forked(libc::exit, || i32::from(!all.iter().all(is_refused))), 0);
        all.iter().for_each(|call| (0..3).for_each(|_| goes(call)));
    });
}
