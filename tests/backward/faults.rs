//! Failures: of functions, of every driver call, of arguments. The pass stops, nothing leaks, the next pass is right.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked_result;
use testkit::in_child;
use testkit::places::{allocated, alone, default_stream, inject, own_stream};

use crate::support::{CONTEXTS, Graph, Handle, cloned, to};

const CPU: i32 = SCONCE_DEVICE_CPU;

/// Copies between two devices with every node on a stream of its own. Returns newest node and leaf.
fn across(graph: &Graph) -> (u64, u64) {
    own_stream(0);
    let leaf = graph.leaf(0);
    own_stream(0);
    let back = graph.copying(0, "here", to(leaf));
    own_stream(1);
    let moved = graph.node(1, "moves", 1, &[to(back)], |gradients| {
        let own = Handle::empty(0, false).map_err(|status| status as i32)?;
        match sconce_tensor_copy(own.0, gradients[0], true.into()) {
            SCONCE_OK => Ok(vec![own.into_raw()]),
            status => Err(status as i32),
        }
    });
    own_stream(1);
    let there = graph.copying(1, "there", to(moved));
    for device in [0, 1] {
        assert_eq!(sconce_stream_set_current(default_stream(device)), SCONCE_OK);
    }
    (there, leaf)
}

fn synchronize() {
    for device in [0, 1] {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    }
}

/// Fails the `nth` of a driver call amid a pass; an `Err` of "struck" if there was one to fail.
fn strike(call: &str, nth: u64) -> Result<(), String> {
    testkit::simulated::runtime();
    let struck;
    {
        let graph = Graph::new();
        let (node, leaf) = across(&graph);
        let initial = Handle::of(1, false, 4.0);
        inject(call, nth, 999);
        let outcome = graph.run(&[(node, &initial)], true);
        assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
        synchronize();
        struck = outcome.is_err();
        if let Err((status, message)) = outcome {
            assert_eq!(status, SCONCE_ERROR_DRIVER, "{message}");
        } else {
            assert_eq!(graph.gradient(leaf).read(), 4.0);
        }
        assert_eq!(sconce_backward_set_gradient(graph.raw(), leaf, null_mut()), SCONCE_OK);
        graph.run(&[(node, &initial)], false).unwrap();
        synchronize();
        assert_eq!(graph.gradient(leaf).read(), 4.0);
    }
    assert_eq!(sconce_tensor_live_count(), 0);
    assert_eq!(CONTEXTS.load(Ordering::SeqCst), 0);
    synchronize();
    assert_eq!((allocated(0), allocated(1)), (0, 0));
    if struck { Err("struck".to_owned()) } else { Ok(()) }
}

#[test]
fn whatever_fails_the_next_pass_is_right_and_nothing_leaks() {
    let environment = [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("RUST_BACKTRACE", "0")];
    in_child("whatever_fails_the_next_pass_is_right_and_nothing_leaks", &environment, || {
        // Between the initial gradient, four nodes on streams of their own, and the caller there are five waits; the
        // events are recycled.
        let calls = [
            ("event_create", 2),
            ("event_record", 5),
            ("stream_wait_event", 5),
            ("memory_alloc", 2),
            ("copy_async", 2),
            // The thread of a device binds it once more with its first node.
            ("bind_device", 0),
        ];
        for (call, expected) in calls {
            let mut strikes = 0;
            for nth in 1..=10 {
                match forked_result(|| strike(call, nth)) {
                    Ok(()) => {}
                    Err(message) if message == "struck" => strikes += 1,
                    Err(message) => panic!("{call} {nth}: {message}"),
                }
            }
            assert!(strikes >= expected, "{call}: {strikes} failures");
        }
    });
}

#[test]
fn a_failing_function_stops_the_pass_and_is_named() {
    let _alone = alone();
    let (contexts, tensors) = (CONTEXTS.load(Ordering::SeqCst), sconce_tensor_live_count());
    for device in [CPU, 0, 1] {
        let graph = Graph::new();
        let leaf = graph.leaf(CPU);
        let ran = Arc::new(AtomicUsize::new(0));
        let counted = ran.clone();
        let after = graph.node(device, "after", 1, &[to(leaf)], move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(vec![null_mut()])
        });
        let status = Arc::new(AtomicUsize::new(0));
        let asked = status.clone();
        let failing = graph.node(device, "failing", 1, &[to(after), to(leaf)], move |gradients| {
            match asked.load(Ordering::SeqCst) {
                // Fails within the library, whose message is passed on.
                0 => Err(sconce_tensor_retain(null_mut()) as i32),
                1 => Err(SCONCE_ERROR_IO as i32),
                2 => Err(77),
                // What was given is released although there is an error.
                _ => {
                    let given = cloned(gradients[0]).unwrap();
                    Ok(vec![given.into_raw(), std::ptr::without_provenance_mut(3)])
                }
            }
        });
        let initial = Handle::of(CPU, false, 1.0);
        let expected = [
            (SCONCE_ERROR_INVALID_HANDLE, "tensor is NULL"),
            (SCONCE_ERROR_IO, "the function returned SCONCE_ERROR_IO"),
            (SCONCE_ERROR_INVALID_ARGUMENT, "returned 77, which is not a status"),
            (SCONCE_ERROR_INVALID_HANDLE, "out_gradients[1] is not a tensor"),
        ];
        for (index, (kind, words)) in expected.into_iter().enumerate() {
            status.store(index, Ordering::SeqCst);
            let (found, message) = graph.run(&[(failing, &initial)], true).unwrap_err();
            assert_eq!(found, kind, "{message}");
            assert!(message.starts_with("backward of \"failing\""), "{message}");
            assert!(message.contains(words), "{message}");
        }
        assert_eq!(ran.load(Ordering::SeqCst), 0, "the pass went on");
        assert!(!graph.gradient(leaf).is_defined());
    }
    assert_eq!(CONTEXTS.load(Ordering::SeqCst), contexts);
    assert_eq!(sconce_tensor_live_count(), tensors);
}

#[test]
fn a_pass_that_fails_returns_when_its_threads_have_stopped() {
    let _alone = alone();
    for _ in 0..20 {
        let graph = Graph::new();
        let (slow_done, slow_begun) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (done, begun) = (slow_done.clone(), slow_begun.clone());
        let slow = graph.node(0, "slow", 1, &[], move |_| {
            begun.store(true, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(5));
            done.store(true, Ordering::SeqCst);
            Ok(Vec::new())
        });
        let begun = slow_begun.clone();
        let failing = graph.node(1, "failing", 1, &[], move |_| {
            while !begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            Err(SCONCE_ERROR_IO as i32)
        });
        let initial = Handle::of(CPU, false, 1.0);
        assert!(graph.run(&[(slow, &initial), (failing, &initial)], false).is_err());
        assert!(slow_done.load(Ordering::SeqCst), "a function still runs");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_words() {
    let _alone = alone();
    let graph = Graph::new();
    let leaf = graph.leaf(0);
    let initial = Handle::of(CPU, false, 1.0);
    let refused = |node: u64, words: &str| {
        let (_, message) = graph.run(&[(node, &initial)], false).unwrap_err();
        assert!(message.contains(words), "{message}");
    };
    refused(99, "roots[0]: the graph has no node 99");
    refused(0, "no node 0");
    let (status, message) = graph.run(&[(leaf, &Handle(null_mut()))], false).unwrap_err();
    assert_eq!(status, SCONCE_ERROR_INVALID_HANDLE);
    assert!(message.contains("roots[0].gradient"), "{message}");
    assert_eq!(
        sconce_backward_set_gradient(graph.raw(), leaf, initial.0),
        SCONCE_ERROR_CROSS_DEVICE
    );
    let node = graph.node(CPU, "node", 1, &[], |_| Ok(Vec::new()));
    let mut gradient = null_mut();
    // SAFETY: a good place.
    let status = unsafe { sconce_backward_get_gradient(graph.raw(), node, &raw mut gradient) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(testkit::last_message().contains("not a leaf"));
    assert_eq!(graph.run(&[], false), Ok(()));
}
