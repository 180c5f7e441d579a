//! The value of a tensor of one element: what it waits for, and what it asks of the driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{
    alone, calls, captured, default_stream, inject, own_stream, pending, step_all,
};

use crate::api::{CPU, Failure, integer, options, outcome, real};
use crate::create::{empty, from_f32, full};
use crate::storage::figures::Figures;

#[test]
fn an_item_waits_for_all_earlier_work_of_the_current_stream() {
    let _one = alone();
    let start = Figures::now();
    let stream = own_stream(0);
    let tensor = full(&[3], integer(1), &options(SCONCE_DTYPE_I64, 0)).unwrap();
    let last = tensor.select(0, 2).unwrap();
    // Shorter than a thread watches, and longer.
    for (value, sleep_ns) in [(2, 1_000), (3, 20_000_000), (4, 0)] {
        outcome(sconce_stream_sleep(stream, sleep_ns)).unwrap();
        tensor.fill(integer(value)).unwrap();
        assert_eq!(last.item().unwrap(), integer(value));
    }
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    drop((tensor, last));
    start.assert_unchanged();
}

#[test]
fn items_values_and_comparisons_do_not_wait_for_other_streams() {
    let _one = alone();
    let start = Figures::now();
    let other = own_stream(0);
    own_stream(0);
    let tensor = full(&[3], integer(1), &options(SCONCE_DTYPE_I32, 0)).unwrap();
    let last = tensor.select(0, 2).unwrap();
    let wait: [(&str, &dyn Fn()); 4] = [
        ("item", &|| assert_eq!(last.item().unwrap(), integer(1))),
        ("to_values", &|| assert_eq!(tensor.i32s(), [1, 1, 1])),
        ("equal", &|| assert!(crate::operations::equal(&tensor, &tensor).unwrap())),
        ("copy", &|| {
            let copy = tensor.to(&options(-1, CPU), false).unwrap();
            assert_eq!(copy.i32s(), [1, 1, 1]);
        }),
    ];
    // What is loaded at first use may wait for the device.
    wait.iter().for_each(|(_, call)| call());
    assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
    outcome(sconce_stream_sleep(other, 1_000)).unwrap();
    // All streams but that one go on.
    let stream = own_stream(0);
    let is_done = Arc::new(AtomicBool::new(false));
    let seen = is_done.clone();
    let stepper = std::thread::spawn(move || {
        while !seen.load(Ordering::Acquire) {
            step_all(stream);
            std::thread::yield_now();
        }
    });
    for (name, call) in wait {
        call();
        assert_eq!(pending(other), 1, "{name}");
    }
    is_done.store(true, Ordering::Release);
    stepper.join().unwrap();
    assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    drop((tensor, last));
    start.assert_unchanged();
}

#[test]
fn an_item_is_a_copy_and_a_word() {
    let _one = alone();
    let tensor = from_f32(&[1.5, 2.5], &[2], 0).select(0, 1).unwrap();
    tensor.item().unwrap();
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    assert_eq!(tensor.item().unwrap(), real(2.5));
    assert_eq!((calls("copy_async"), calls("stream_write_word")), (1, 1));
    for call in ["kernel_launch", "event_record", "pointer_info", "host_alloc"] {
        assert_eq!(calls(call), 0, "{call}");
    }
}

#[test]
fn an_item_cannot_be_captured() {
    let _one = alone();
    let tensor = from_f32(&[2.5], &[1], 0);
    captured(|_| {
        let Failure { status, message } = tensor.item().unwrap_err();
        assert_eq!(status, SCONCE_ERROR_INVALID_STATE, "{message}");
        assert!(message.contains("is being captured"), "{message}");
    });
    assert_eq!(tensor.item().unwrap(), real(2.5));
}

#[test]
fn an_item_needs_no_pinned_memory() {
    let _one = alone();
    let start = Figures::now();
    let tensor = from_f32(&[2.5], &[1], 0);
    outcome(sconce_host_memory_empty_cache()).unwrap();
    for nth in 1..=2 {
        inject("host_alloc", nth, 2);
    }
    assert_eq!(tensor.item().unwrap(), real(2.5));
    assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
    assert_eq!(tensor.item().unwrap(), real(2.5));
    drop(tensor);
    start.assert_unchanged();
}

/// Without such words the driver waits.
#[test]
fn an_item_needs_no_words() {
    let _one = alone();
    let start = Figures::now();
    let tensor = from_f32(&[2.5], &[1], 0);
    outcome(sconce_stream_sleep(default_stream(0), 2_000_000)).unwrap();
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    inject("stream_write_word", 1, 801);
    assert_eq!(tensor.item().unwrap(), real(2.5));
    assert_eq!(calls("stream_synchronize"), 1);
    inject("stream_write_word", 1, 999);
    assert_eq!(tensor.item().unwrap_err().status, SCONCE_ERROR_DRIVER);
    assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
    assert_eq!(tensor.item().unwrap(), real(2.5));
    drop(tensor);
    start.assert_unchanged();
}

/// The copy of a call that failed may still write to its memory, so nobody gets that before.
#[test]
fn a_wait_that_fails_keeps_the_memory_until_the_kernel_is_done() {
    let _one = alone();
    let start = Figures::now();
    let stream = own_stream(0);
    let tensor = from_f32(&[2.5], &[1], 0);
    assert_eq!(tensor.item().unwrap(), real(2.5));
    let pinned = || sconce_runtime::host_memory::stats().unwrap().active_bytes.current;
    let before = pinned();
    outcome(sconce_stream_sleep(stream, 50_000_000)).unwrap();
    inject("stream_synchronize", 1, 999);
    assert_eq!(tensor.item().unwrap_err().status, SCONCE_ERROR_DRIVER);
    assert!(pinned() > before, "the memory was given back");
    assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
    assert_eq!(tensor.item().unwrap(), real(2.5));
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    drop(tensor);
    start.assert_unchanged();
}

#[test]
fn an_element_may_begin_anywhere() {
    let _one = alone();
    let bytes = empty(&[40], &options(SCONCE_DTYPE_U8, 0)).unwrap();
    for at in 0..40 {
        bytes.select(0, at).unwrap().fill(integer(at * 3)).unwrap();
    }
    for at in 0..40 {
        assert_eq!(bytes.select(0, at).unwrap().item().unwrap(), integer(at * 3));
    }
}
