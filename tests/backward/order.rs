//! The order of nodes and the values of gradients, against a naive model on random graphs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use sconce::sconce_status::*;
use sconce::*;
use testkit::numbers::Random;
use testkit::places::{alone, default_stream, pooled};

use crate::support::{Graph, Handle, to};

const CPU: i32 = SCONCE_DEVICE_CPU;

/// What a function saw.
#[derive(Clone, Copy, Debug)]
struct Seen {
    node: u64,
    thread: ThreadId,
    device: i32,
    stream: i64,
}

/// A node of the model.
struct Recorded {
    device: i32,
    stream: i64,
    edges: Vec<u64>,
}

struct Scene {
    graph: Graph,
    leaves: Vec<u64>,
    nodes: BTreeMap<u64, Recorded>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

fn around(device: i32) -> (i32, i64) {
    let mut current = -1;
    let mut stream = sconce_stream { id: -1, device: -1, reserved: 0 };
    let asked = if device == CPU { 0 } else { device };
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_device_get_current(&raw mut current) }, SCONCE_OK);
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_current(asked, &raw mut stream) }, SCONCE_OK);
    (current, stream.id)
}

/// A random graph over places, with gradients in host memory, so that sums are exact and at once.
fn scene(random: &mut Random, places: &[i32], count: usize) -> Scene {
    let graph = Graph::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let leaves: Vec<u64> = (0..3).map(|_| graph.leaf(CPU)).collect();
    let mut nodes = BTreeMap::new();
    for _ in 0..count {
        let device = places[random.below(places.len() as u64) as usize];
        let stream = if device == CPU { default_stream(0) } else { pooled(device) };
        assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
        let known: Vec<u64> = leaves.iter().chain(nodes.keys()).copied().collect();
        let edges: Vec<u64> = (0..1 + random.below(3))
            .map(|_| known[random.below(known.len() as u64) as usize])
            .collect();
        let (log, results) = (seen.clone(), edges.len());
        // A node's number is one more than that of the one before.
        let number = known.len() as u64 + 1;
        let function = move |gradients: &[*mut sconce_tensor]| {
            let (device, stream) = around(device);
            let thread = std::thread::current().id();
            log.lock().unwrap().push(Seen { node: number, thread, device, stream });
            Ok((0..results)
                .map(|_| {
                    assert_eq!(sconce_tensor_retain(gradients[0]), SCONCE_OK);
                    gradients[0]
                })
                .collect())
        };
        let targets: Vec<_> = edges.iter().map(|node| to(*node)).collect();
        let node = graph.node(device, &format!("node {number}"), 1, &targets, function);
        assert_eq!(node, number);
        nodes.insert(node, Recorded { device, stream: stream.id, edges });
    }
    for device in [0, 1] {
        assert_eq!(sconce_stream_set_current(default_stream(device)), SCONCE_OK);
    }
    Scene { graph, leaves, nodes, seen }
}

impl Scene {
    /// The nodes in the order of one thread: the newest that is ready; and the gradient of each node and leaf.
    fn model(&self, root: u64) -> (Vec<u64>, BTreeMap<u64, f32>) {
        let mut reached = vec![root];
        let mut missing = BTreeMap::from([(root, 1_usize)]);
        let mut next = 0;
        while next < reached.len() {
            for edge in self.edges(reached[next]) {
                *missing.entry(*edge).or_insert_with(|| {
                    reached.push(*edge);
                    0
                }) += 1;
            }
            next += 1;
        }
        let mut gradients = BTreeMap::from([(root, 1.0)]);
        let mut ready = vec![root];
        let mut order = Vec::new();
        while let Some(newest) = ready.iter().copied().max() {
            ready.retain(|node| *node != newest);
            order.push(newest);
            for edge in self.edges(newest) {
                *gradients.entry(*edge).or_insert(0.0) += gradients[&newest];
                let missing = missing.get_mut(edge).unwrap();
                *missing -= 1;
                if *missing == 0 && self.nodes.contains_key(edge) {
                    ready.push(*edge);
                }
            }
        }
        (order, gradients)
    }

    fn edges(&self, node: u64) -> &[u64] {
        self.nodes.get(&node).map_or(&[], |recorded| &recorded.edges)
    }
}

fn run(scene: &Scene, root: u64) -> (Vec<Seen>, BTreeMap<u64, f32>) {
    let initial = Handle::of(CPU, false, 1.0);
    scene.graph.run(&[(root, &initial)], false).unwrap();
    let (order, gradients) = scene.model(root);
    for leaf in &scene.leaves {
        let gradient = scene.graph.gradient(*leaf);
        match gradients.get(leaf) {
            None => assert!(!gradient.is_defined()),
            Some(expected) => assert_eq!(gradient.read(), *expected, "leaf {leaf}"),
        }
    }
    let seen = std::mem::take(&mut *scene.seen.lock().unwrap());
    let mut ran: Vec<u64> = seen.iter().map(|seen| seen.node).collect();
    ran.sort_unstable();
    let mut expected = order;
    expected.sort_unstable();
    assert_eq!(ran, expected, "each node that the root leads to runs once");
    (seen, gradients)
}

#[test]
fn on_one_device_the_newest_ready_node_runs_first() {
    let _alone = alone();
    let mut random = Random(11);
    for round in 0..60 {
        let place = [CPU, 0, 1][round % 3];
        let scene = scene(&mut random, &[place], 1 + round);
        let root = *scene.nodes.keys().last().unwrap();
        let (seen, _) = run(&scene, root);
        let order: Vec<u64> = seen.iter().map(|seen| seen.node).collect();
        assert_eq!(order, scene.model(root).0);
    }
}

#[test]
fn on_several_devices_each_node_runs_after_those_before_it_and_in_its_place() {
    let _alone = alone();
    let mut random = Random(5);
    for _ in 0..60 {
        let scene = scene(&mut random, &[CPU, 0, 1, 1], 30);
        let root = *scene.nodes.keys().last().unwrap();
        let (seen, _) = run(&scene, root);
        let at: BTreeMap<u64, usize> =
            seen.iter().enumerate().map(|(index, seen)| (seen.node, index)).collect();
        let mut threads: BTreeMap<i32, ThreadId> = BTreeMap::new();
        for seen in &seen {
            let recorded = &scene.nodes[&seen.node];
            for edge in &recorded.edges {
                assert!(at.get(edge).is_none_or(|after| *after > at[&seen.node]));
            }
            assert_eq!(*threads.entry(recorded.device).or_insert(seen.thread), seen.thread);
            if recorded.device == CPU {
                assert_eq!(seen.thread, std::thread::current().id());
            } else {
                assert_eq!((seen.device, seen.stream), (recorded.device, recorded.stream));
            }
        }
        assert_eq!(around(0), (0, default_stream(0).id), "the caller's surroundings stay");
    }
}

#[test]
fn leaves_run_before_all_and_gradients_add_up_over_passes() {
    let _alone = alone();
    let graph = Graph::new();
    let leaf = graph.leaf(CPU);
    let retained = |gradients: &[*mut sconce_tensor]| {
        assert_eq!(sconce_tensor_retain(gradients[0]), SCONCE_OK);
        Ok(vec![gradients[0]])
    };
    let node = graph.node(CPU, "node", 1, &[to(leaf)], retained);
    let initial = Handle::of(CPU, false, 2.0);
    for pass in 1..=3 {
        graph.run(&[(node, &initial)], true).unwrap();
        assert_eq!(graph.gradient(leaf).read(), 2.0 * pass as f32);
        assert_eq!(initial.read(), 2.0, "the initial gradient is not what the leaf adds to");
    }
    // torch adds in place: those who hold the gradient see the sum.
    let held = graph.gradient(leaf);
    graph.run(&[(node, &initial), (leaf, &initial)], false).unwrap();
    assert_eq!(held.read(), 10.0);
    let (status, message) = graph.run(&[(node, &initial)], false).unwrap_err();
    assert_eq!(status, SCONCE_ERROR_INVALID_STATE);
    assert!(message.contains("\"node\"") && message.contains("a second time"), "{message}");
    assert_eq!(sconce_backward_set_gradient(graph.raw(), leaf, std::ptr::null_mut()), SCONCE_OK);
    assert!(!graph.gradient(leaf).is_defined());
}
