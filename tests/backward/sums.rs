//! Gradients that meet at an input, on devices that are stepped in every order of preference: the sum is right
//! whichever stream is first, and the memory that it uses is not given to others too early.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{allocated, alone, default_stream, pooled};

use crate::patterns::{current, orders, step_by_preference, wait};
use crate::support::{Graph, Handle, cloned, to};

/// A copy on device 0 of a gradient of device 0, made by a node with a stream of any device. A node orders work on
/// another device with its own stream itself.
fn copied(gradient: *mut sconce_tensor, node: sconce_stream) -> Result<Handle, sconce_status> {
    let here = default_stream(0);
    if node.device == 0 {
        return cloned(gradient);
    }
    wait(here, node);
    assert_eq!(sconce_tensor_record_stream(gradient, here), SCONCE_OK);
    let own = cloned(gradient)?;
    wait(node, here);
    Ok(own)
}

/// The streams of the nodes of a pass: of those that produce gradients of device 0, of the node where these meet, and of
/// the leaf. The newest producer, which is the last one, runs first.
struct Scene {
    producers: Vec<sconce_stream>,
    meeting: sconce_stream,
    leaf: sconce_stream,
}

/// The sum of as many gradients as there are producers, used on the default stream of device 0, which called the pass.
fn met(scene: &Scene, preference: &[sconce_stream], value: f32) -> f32 {
    let graph = Graph::new();
    current(scene.leaf);
    let leaf = graph.leaf(0);
    current(scene.meeting);
    let node = scene.meeting;
    let meeting = graph.node(node.device, "meeting", 1, &[to(leaf)], move |gradients| {
        let own = copied(gradients[0], node).map_err(|status| status as i32)?;
        Ok(vec![own.into_raw()])
    });
    let initial: Vec<Handle> = scene.producers.iter().map(|_| Handle::of(0, false, 0.0)).collect();
    let producers: Vec<u64> = scene
        .producers
        .iter()
        .enumerate()
        .map(|(index, stream)| {
            current(*stream);
            graph.copying(0, &format!("producer {index}"), to(meeting))
        })
        .collect();
    let source = Handle::of(SCONCE_DEVICE_CPU, true, value);
    let wrong = Handle::of(SCONCE_DEVICE_CPU, true, -1000.0);
    let used = Handle::of(0, false, 0.0);
    for device in [0, 1] {
        current(default_stream(device));
    }
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    for gradient in &initial {
        gradient.copy(&source);
    }
    let roots: Vec<(u64, &Handle)> = producers.into_iter().zip(&initial).collect();
    graph.run(&roots, false).unwrap();
    used.copy(&graph.gradient(leaf));
    // Freed before the work is done: nothing may get the memory while streams use it. Each stream writes to what it
    // gets.
    drop(initial);
    drop(graph);
    let mut others = Vec::new();
    for stream in preference.iter().filter(|stream| stream.device == 0) {
        current(*stream);
        for _ in 0..8 {
            let other = Handle::empty(0, false).unwrap();
            other.copy(&wrong);
            others.push(other);
        }
    }
    current(default_stream(0));
    step_by_preference(preference);
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    for device in [0, 1] {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    }
    used.read()
}

#[test]
fn sums_wait_for_every_producer_wherever_the_consumer_is() {
    let _alone = alone();
    let [one, two] = [pooled(0), pooled(0)];
    let (here, there) = (default_stream(0), pooled(1));
    let scene = |producers: &[sconce_stream], meeting, leaf| Scene {
        producers: producers.to_vec(),
        meeting,
        leaf,
    };
    let scenes = [
        // The consumer's stream is one of the producers'.
        scene(&[one, two, here], one, here),
        // The consumer's stream is another one.
        scene(&[one, one, here], two, one),
        // The consumer is on another device: sums are computed on the first producer's stream, which is the caller's, or
        // is not.
        scene(&[one, two, here], there, here),
        scene(&[here, two, one], there, here),
        // One gradient, for another stream.
        scene(&[one], two, here),
    ];
    let mut value = 0.0;
    for scene in &scenes {
        for order in orders(&[one, two, here, there]) {
            value += 1.0;
            let sum = scene.producers.len() as f32 * value;
            assert_eq!(met(scene, &order, value), sum, "{order:?}");
        }
    }
    assert_eq!(allocated(0), 0);
}

#[test]
fn shapes_and_devices_that_do_not_fit_are_refused() {
    let _alone = alone();
    let graph = Graph::new();
    let leaf = graph.leaf(0);
    let meeting = graph.copying(0, "meeting", to(leaf));
    let flat = graph.copying(0, "flat", to(meeting));
    let reshaped = graph.node(0, "reshaped", 1, &[to(meeting)], |gradients| {
        let (sizes, mut view) = ([8, 8], std::ptr::null_mut());
        // SAFETY: good places.
        let status = unsafe {
            sconce_tensor_reshape(gradients[0], sizes.as_ptr(), sizes.len(), &raw mut view)
        };
        if status == SCONCE_OK { Ok(vec![view]) } else { Err(status as i32) }
    });
    let elsewhere = graph.node(1, "elsewhere", 1, &[to(meeting)], |gradients| {
        cloned(gradients[0]).map(|own| vec![own.into_raw()]).map_err(|status| status as i32)
    });
    let [here, there] = [0, 1].map(|device| Handle::of(device, false, 1.0));
    let (status, message) = graph.run(&[(flat, &here), (reshaped, &here)], true).unwrap_err();
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(message.contains("input 0 of \"meeting\": gradients of the sizes"), "{message}");
    let (status, message) = graph.run(&[(flat, &here), (elsewhere, &there)], true).unwrap_err();
    assert_eq!(status, SCONCE_ERROR_CROSS_DEVICE);
    assert!(message.contains("at least two devices, cuda:"), "{message}");
}
