//! How convolutions are called: handles, order, devices, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Barrier, MutexGuard};

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::convolutions::{OPERATIONS, Stage, convolve, desc, fresh};
use testkit::places::{
    Kind, Place, allocated, alone, calls, default_stream, inject, own_stream, pending,
    run_until_idle, set,
};
use testkit::simulated::runtime;
use testkit::{in_child, last_message};

const FORWARD: i32 = SCONCE_CONVOLUTION_FORWARD;
const F32: i32 = SCONCE_DTYPE_F32;

fn begin() -> MutexGuard<'static, ()> {
    let alone = alone();
    fresh();
    alone
}

fn handle() -> usize {
    let mut handle = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_dnn_get_handle(&raw mut handle) }, SCONCE_OK, "{}", last_message());
    assert!(!handle.is_null());
    handle as usize
}

#[test]
fn a_stream_that_a_caller_has_changed_is_set_again() {
    let _alone = begin();
    // A thread whose handle nobody was given.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let stage = Stage::new(&desc(FORWARD, F32));
            assert_eq!(stage.run(), SCONCE_OK);
            let (set, asked) = (calls("dnn_set_stream"), calls("dnn_is_set"));
            assert_eq!(stage.run(), SCONCE_OK);
            assert_eq!((calls("dnn_set_stream"), calls("dnn_is_set")), (set, asked));
            handle();
            assert_eq!(calls("dnn_is_set"), asked, "it was not given before");
            handle();
            assert_eq!((calls("dnn_set_stream"), calls("dnn_is_set")), (set, asked + 1));
            inject("dnn_is_set", 1, 1);
            handle();
            assert_eq!(calls("dnn_set_stream"), set + 1);
            inject("dnn_is_set", 1, 1);
            assert_eq!(stage.run(), SCONCE_OK);
            assert_eq!(calls("dnn_set_stream"), set + 2);
        });
    });
}

#[test]
fn a_stream_that_could_not_be_set_is_unknown() {
    let _alone = begin();
    handle();
    let own = own_stream(0);
    inject("dnn_set_stream", 1, 4000);
    let mut handle_of_own = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_dnn_get_handle(&raw mut handle_of_own) }, SCONCE_ERROR_DRIVER);
    let set = calls("dnn_set_stream");
    for stream in [default_stream(0), own, default_stream(0)] {
        assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
        handle();
    }
    assert_eq!(calls("dnn_set_stream"), set + 3);
}

#[test]
fn what_the_thread_before_did_with_a_handle_is_not_trusted() {
    let _alone = begin();
    let stage = Stage::new(&desc(FORWARD, F32));
    let in_thread = |work: &(dyn Fn() + Sync)| {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap());
    };
    in_thread(&|| {
        handle();
    });
    in_thread(&|| {
        let (set, asked) = (calls("dnn_set_stream"), calls("dnn_is_set"));
        assert_eq!(stage.run(), SCONCE_OK);
        assert_eq!(stage.run(), SCONCE_OK);
        assert_eq!(calls("dnn_set_stream"), set + 1, "it may be on any stream");
        assert_eq!(calls("dnn_is_set"), asked, "this thread was not given it");
    });
}

#[test]
fn a_handle_can_be_made_while_a_stream_is_captured() {
    in_child("a_handle_can_be_made_while_a_stream_is_captured", &[], || {
        let _alone = begin();
        let stage = Stage::new(&desc(FORWARD, F32));
        let stream = own_stream(0);
        assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
        handle();
        assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
    });
}

#[test]
fn a_thread_has_a_handle_for_each_device_bound_to_its_current_stream() {
    let _alone = begin();
    let first = handle();
    let set = calls("dnn_set_stream");
    assert_eq!(handle(), first);
    assert_eq!(calls("dnn_set_stream"), set, "nothing had changed");
    own_stream(0);
    assert_eq!(handle(), first);
    assert_eq!(handle(), first);
    assert_eq!(calls("dnn_set_stream"), set + 1);
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    let stage = Stage::new(&desc(FORWARD, F32));
    assert_eq!(stage.run(), SCONCE_OK);
    assert_eq!(calls("dnn_set_stream"), set + 2);
    assert_eq!(sconce_device_set_current(1), SCONCE_OK);
    assert_ne!(handle(), first);
    assert_eq!(sconce_device_set_current(0), SCONCE_OK);
    assert_eq!(handle(), first);
    let both = Barrier::new(2);
    let other = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let other = handle();
            both.wait();
            other
        });
        both.wait();
        other.join().unwrap()
    });
    assert_ne!(other, first);
    let made = calls("dnn_create");
    let next = std::thread::scope(|scope| scope.spawn(handle).join().unwrap());
    assert_eq!((next, calls("dnn_create")), (other, made), "a thread's end gives its handle on");
    // SAFETY: NULL is refused.
    assert_eq!(unsafe { sconce_dnn_get_handle(null_mut()) }, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("out_handle is NULL"), "{}", last_message());
}

#[test]
fn the_version_is_the_simulators() {
    let _alone = begin();
    let mut version = 0;
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_dnn_get_version(&raw mut version) }, SCONCE_OK);
    assert_eq!(version, 90_000);
    // SAFETY: NULL is refused.
    assert_eq!(unsafe { sconce_dnn_get_version(null_mut()) }, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("out_version is NULL"), "{}", last_message());
}

#[test]
fn without_the_library_it_is_told_and_found_when_it_comes() {
    in_child("without_the_library_it_is_told_and_found_when_it_comes", &[], || {
        let _alone = begin();
        let stage = Stage::new(&desc(FORWARD, F32));
        let mut handle = null_mut();
        // SAFETY: a writable place.
        let mut get = || unsafe { sconce_dnn_get_handle(&raw mut handle) };
        inject("dnn_create", 1, -1);
        inject("dnn_create", 2, -1);
        for status in [stage.run(), get()] {
            assert_eq!(status, SCONCE_ERROR_LIBRARY_NOT_FOUND);
            assert!(last_message().contains("cuDNN"), "{}", last_message());
        }
        // What needs no library does not ask for it.
        let none = sconce_convolution_desc { batch: 0, ..stage.desc };
        assert_eq!(convolve(&none, null_mut(), null_mut(), null_mut()), SCONCE_OK);
        assert_eq!(get(), SCONCE_OK);
        assert_eq!(stage.run(), SCONCE_OK);
        stage.check("");
    });
}

#[test]
fn nothing_to_forget_without_a_device() {
    in_child("nothing_to_forget_without_a_device", &[("SCONCE_BACKEND", "cuda")], || {
        assert_eq!(sconce_convolution_clear_plans(), SCONCE_OK);
        let desc = desc(FORWARD, F32);
        let mut sizes = [0; 3];
        // SAFETY: a whole description, room for three.
        let status =
            unsafe { sconce_convolution_get_output_sizes(&raw const desc, sizes.as_mut_ptr()) };
        assert_eq!((status, sizes), (SCONCE_OK, [3, 5, 0]));
    });
}

#[test]
fn a_convolution_is_work_of_the_current_stream_and_does_not_block() {
    let _alone = begin();
    for benchmarked in [false, true] {
        let stream = own_stream(0);
        for operation in OPERATIONS {
            let stage = Stage::new(&desc(operation, F32));
            sconce_context_set_benchmark_cudnn(benchmarked.into());
            assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
            stage.check("made ready");
            stage.result.spoil();
            // Each is set before, and again after what reads it or is written.
            let bytes = 4 * stage.a.tensor.span();
            assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
            assert_eq!(set(stage.a.start(), 0, bytes), SCONCE_OK);
            assert_eq!(stage.run(), SCONCE_OK);
            assert_eq!(set(stage.a.start(), 0x11, bytes), SCONCE_OK);
            assert_eq!(pending(stream), 3);
            run_until_idle();
            assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
            assert!(stage.result.read().iter().all(|value| *value == 0.0));
        }
    }
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

#[test]
fn workspaces_are_the_streams_and_do_not_leak() {
    let _alone = begin();
    assert_eq!(sconce_sim_set_latency_ns(1_000_000), SCONCE_OK);
    let small =
        sconce_convolution_desc { batch: 1, in_channels: 2, out_channels: 2, ..desc(FORWARD, F32) };
    let stages = [Stage::new(&small), Stage::new(&small)];
    let streams = [own_stream(0), own_stream(0)];
    let held = || allocated(0);
    let before = held();
    for (stage, stream) in stages.iter().zip(streams) {
        assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
        assert_eq!(stage.run(), SCONCE_OK);
        stage.check("");
    }
    // Both at work at a time, each with memory of its own stream; nothing is held when they are queued.
    for round in 0..5 {
        for (stage, stream) in stages.iter().zip(streams) {
            assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
            stage.result.spoil();
            let workspaces = || sconce_runtime::memory::stats(0).unwrap().allocation.all.allocated;
            let got = workspaces();
            assert_eq!(stage.run(), SCONCE_OK);
            assert_eq!(workspaces(), got + 1, "this engine needs one");
            assert_eq!(held(), before);
        }
        for stage in &stages {
            stage.check(&format!("round {round}"));
        }
    }
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
    assert_eq!(sconce_runtime::memory::stats(0).unwrap().reserved_bytes.all.current, 0);
}

#[test]
fn a_workspace_is_memory_of_the_stream_that_uses_it() {
    let _alone = begin();
    // So large that no stream has room for it yet.
    let stage = Stage::new(&sconce_convolution_desc {
        batch: 1,
        in_channels: 32,
        out_channels: 2,
        input_sizes: [64, 64, 1],
        stride: [1; 3],
        ..desc(FORWARD, F32)
    });
    let reserved = || sconce_runtime::memory::stats(0).unwrap().reserved_bytes.all.current;
    own_stream(0);
    assert_eq!(stage.run(), SCONCE_OK);
    let enough = reserved();
    for _ in 0..2 {
        assert_eq!(stage.run(), SCONCE_OK);
        assert_eq!(reserved(), enough);
    }
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

#[test]
fn it_runs_on_the_device_of_its_memory() {
    let _alone = begin();
    let desc = desc(FORWARD, F32);
    let value = |number: usize, _: usize| (number % 5) as f64;
    let (here, there) = (Stage::with(0, &desc, value), Stage::with(1, &desc, value));
    let stream = own_stream(1);
    assert_eq!(there.run(), SCONCE_OK, "{}", last_message());
    there.check("");
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    assert_eq!(there.run(), SCONCE_OK);
    assert_eq!((pending(stream), pending(default_stream(0))), (1, 0));
    run_until_idle();
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    let [a, b, result] = [&here.a, &here.b, &here.result].map(|stored| stored.start());
    let [a2, b2, result2] = [&there.a, &there.b, &there.result].map(|stored| stored.start());
    for (a, b, result) in [(a2, b, result), (a, b2, result), (a, b, result2), (a2, b2, result)] {
        assert_eq!(convolve(&desc, a, b, result), SCONCE_ERROR_CROSS_DEVICE);
        assert!(last_message().contains("is memory of device"), "{}", last_message());
    }
    assert_eq!(sconce_stream_set_current(default_stream(1)), SCONCE_OK);
}

#[track_caller]
fn refused(desc: &sconce_convolution_desc, [a, b, result]: [*mut c_void; 3], words: &str) {
    assert_eq!(convolve(desc, a, b, result), SCONCE_ERROR_INVALID_ARGUMENT, "{words}");
    assert!(last_message().contains(words), "{} does not say {words}", last_message());
}

#[test]
fn addresses_are_checked_before_anything_is_queued() {
    let _alone = begin();
    let host = Place::new(Kind::Ordinary, 1 << 16);
    let pinned = Place::new(Kind::Pinned, 1 << 16);
    for operation in OPERATIONS {
        let stage = Stage::new(&desc(operation, F32));
        let good = [stage.a.start(), stage.b.start(), stage.result.start()];
        let driver = runtime().driver();
        let unit = driver.virtual_granularity(sconce_base::types::DeviceIndex::ZERO).unwrap();
        let counts = calls("dnn_execute");
        let names = match operation {
            SCONCE_CONVOLUTION_FORWARD => ["a (input)", "b (filter)", "result (output)"],
            SCONCE_CONVOLUTION_BACKWARD_DATA => {
                ["a (grad_output)", "b (filter)", "result (grad_input)"]
            }
            _ => ["a (grad_output)", "b (input)", "result (grad_filter)"],
        };
        for (at, name) in names.into_iter().enumerate() {
            let with = |address: *mut c_void| {
                let mut addresses = good;
                addresses[at] = address;
                addresses
            };
            refused(&stage.desc, with(null_mut()), &format!("{name} is NULL"));
            refused(&stage.desc, with(good[at].wrapping_byte_add(2)), "is not aligned");
            for place in [&host, &pinned] {
                refused(&stage.desc, with(place.start()), &format!("{name} 0x"));
                assert!(last_message().contains("not memory of a device"), "{}", last_message());
            }
            let short = Place::new(Kind::Device(0), unit);
            refused(&stage.desc, with(short.at(unit - 8)), &format!("{name} 0x"));
            assert!(last_message().contains("less than"), "{}", last_message());
        }
        for read in 0..2 {
            let name = &format!("{} overlaps {}", names[2], names[read]);
            let shared = Place::new(Kind::Device(0), 1 << 14);
            let mut addresses = good;
            (addresses[read], addresses[2]) = (shared.start(), shared.start());
            refused(&stage.desc, addresses, name);
            addresses[2] = shared.at(4);
            refused(&stage.desc, addresses, name);
        }
        // What is read may be read twice.
        let mut both = good;
        both[1] = good[0];
        let desc = sconce_convolution_desc { in_channels: 2, out_channels: 2, ..stage.desc };
        assert_eq!(convolve(&desc, both[0], both[1], both[2]), SCONCE_OK, "{}", last_message());
        assert_eq!(calls("dnn_execute"), counts + 1);
    }
}

#[test]
fn descriptions_are_checked_by_name() {
    let _alone = begin();
    let stage = Stage::new(&desc(FORWARD, F32));
    let good = [stage.a.start(), stage.b.start(), stage.result.start()];
    let with = |change: fn(&mut sconce_convolution_desc)| {
        let mut desc = stage.desc;
        change(&mut desc);
        desc
    };
    refused(&with(|desc| desc.struct_size = 8), good, "desc.struct_size is 8");
    refused(&with(|desc| desc.operation = 3), good, "desc.operation is 3");
    refused(&with(|desc| desc.spatial_rank = 0), good, "desc.spatial_rank is 0");
    refused(&with(|desc| desc.spatial_rank = 4), good, "desc.spatial_rank is 4");
    refused(&with(|desc| desc.dtype = -1), good, "desc.dtype is -1");
    refused(&with(|desc| desc.groups = 4), good, "desc.out_channels is 6, not a multiple");
    refused(&with(|desc| desc.filter_sizes[1] = 9), good, "the padded input has 7");
    refused(&with(|desc| desc.input_strides[1] = 1), good, "desc.input_strides[0] is 0");
    refused(&with(|desc| desc.output_strides = [1; 5]), good, "desc.output_strides");
    let integers = with(|desc| desc.dtype = SCONCE_DTYPE_I32);
    let [a, b, result] = good;
    assert_eq!(convolve(&integers, a, b, result), SCONCE_ERROR_NOT_SUPPORTED);
    assert!(last_message().contains("desc.dtype"), "{}", last_message());
    // SAFETY: NULL is refused.
    let status = unsafe { sconce_convolution(std::ptr::null(), a, b, result) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("desc is NULL"), "{}", last_message());
    assert_eq!(calls("dnn_execute"), 0);
    assert!(stage.result.place.read().iter().all(|byte| *byte == 0xA5));
}
