//! Passes of several threads and inside each other, forks, and the end of the process.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked;
use testkit::in_child;
use testkit::places::alone;

use crate::support::{CONTEXTS, Graph, Handle, Results, to};

const CPU: i32 = SCONCE_DEVICE_CPU;

fn passed_on(gradients: &[*mut sconce_tensor]) -> Results {
    assert_eq!(sconce_tensor_retain(gradients[0]), SCONCE_OK);
    Ok(vec![gradients[0]])
}

/// A chain over places that ends in a leaf. Returns its newest node and the leaf.
fn chain(graph: &Graph, places: &[i32]) -> (u64, u64) {
    let leaf = graph.leaf(CPU);
    let mut node = leaf;
    for place in places {
        node = graph.node(*place, "link", 1, &[to(node)], passed_on);
    }
    (node, leaf)
}

#[test]
fn threads_run_passes_at_once() {
    let _alone = alone();
    let graph = Graph::new();
    let (shared, shared_leaf) = chain(&graph, &[0, CPU, 1, 0, 1]);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let graph = &graph;
            scope.spawn(move || {
                let initial = Handle::of(CPU, false, 1.0);
                for _ in 0..50 {
                    let own = Graph::new();
                    let (node, leaf) = chain(&own, &[seed % 2, CPU, 1 - seed % 2]);
                    own.run(&[(node, &initial)], false).unwrap();
                    assert_eq!(own.gradient(leaf).read(), 1.0);
                    graph.run(&[(shared, &initial)], true).unwrap();
                }
            });
        }
    });
    assert_eq!(graph.gradient(shared_leaf).read(), 200.0);
}

/// A pass of `depth` further levels, on a device that alternates.
fn nested(depth: usize, device: i32) -> Result<f32, (sconce_status, String)> {
    let graph = Graph::new();
    let leaf = graph.leaf(CPU);
    let inner = move |gradients: &[*mut sconce_tensor]| {
        if depth > 0 {
            nested(depth - 1, 1 - device).map_err(|(status, _)| status as i32)?;
        }
        passed_on(gradients)
    };
    let node = graph.node(device, &format!("level {depth}"), 1, &[to(leaf)], inner);
    let other = graph.node(1 - device, "other", 1, &[to(node)], passed_on);
    graph.run(&[(other, &Handle::of(CPU, false, 3.0))], false)?;
    Ok(graph.gradient(leaf).read())
}

#[test]
fn functions_may_run_passes_of_their_own() {
    in_child("functions_may_run_passes_of_their_own", &[("SCONCE_BACKEND", "sim")], || {
        assert_eq!(nested(0, 0), Ok(3.0));
        assert_eq!(nested(15, 0), Ok(3.0));
        // Several threads nest over the same device threads.
        std::thread::scope(|scope| {
            for device in [0, 1, 0, 1] {
                scope.spawn(move || {
                    for _ in 0..10 {
                        assert_eq!(nested(6, device), Ok(3.0));
                    }
                });
            }
        });
        let (status, message) = nested(16, 0).unwrap_err();
        assert_eq!(status, SCONCE_ERROR_NOT_SUPPORTED);
        assert!(message.contains("16 levels"), "{message}");
    });
}

#[test]
fn a_graph_that_is_destroyed_in_a_pass_lives_until_its_end() {
    let _alone = alone();
    let before = CONTEXTS.load(Ordering::SeqCst);
    let graph = Arc::new(Graph::new());
    let leaf = graph.leaf(CPU);
    let weak: Weak<Graph> = Arc::downgrade(&graph);
    let function = move |gradients: &[*mut sconce_tensor]| {
        assert!(weak.upgrade().is_some());
        passed_on(gradients)
    };
    let node = graph.node(0, "node", 1, &[to(leaf)], function);
    let raw = graph.raw() as usize;
    let destroying = graph.node(0, "destroying", 1, &[to(node)], move |gradients| {
        let graph = std::ptr::without_provenance_mut(raw);
        assert_eq!(sconce_backward_graph_clear(graph), SCONCE_OK);
        passed_on(gradients)
    });
    graph.run(&[(destroying, &Handle::of(CPU, false, 1.0))], true).unwrap();
    assert_eq!(graph.gradient(leaf).read(), 1.0);
    assert_eq!(CONTEXTS.load(Ordering::SeqCst), before, "cleared contexts go with the pass");
    let (status, message) = graph.run(&[(node, &Handle::of(CPU, false, 1.0))], true).unwrap_err();
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(message.contains("roots[0]") && message.contains("cleared"), "{message}");
}

#[test]
fn forked_children_are_refused_and_processes_end() {
    in_child("forked_children_are_refused_and_processes_end", &[("SCONCE_BACKEND", "sim")], || {
        let graph = Graph::new();
        let (node, _) = chain(&graph, &[0, 1]);
        let initial = Handle::of(CPU, false, 1.0);
        graph.run(&[(node, &initial)], true).unwrap();
        let code = forked(libc::_exit, || match graph.run(&[(node, &initial)], true) {
            Err((SCONCE_ERROR_FORKED, _)) => 7,
            _ => 1,
        });
        assert_eq!(code, 7);
        // The threads of the devices are alive; the process ends all the same.
        graph.run(&[(node, &initial)], true).unwrap();
    });
}
