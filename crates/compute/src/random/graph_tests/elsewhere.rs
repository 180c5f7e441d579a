//! Bodies of conditional nodes, captures of other code, the end of generators and graphs.

use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;

use super::fake_device::*;
use crate::random::generator::{self, with_state};
use crate::random::numbers;

/// A body takes its pieces on the device. The host learns of them when the launch is done, and until then fills and
/// launches take from where the launch is.
#[test]
fn a_body_draws_what_ordinary_fills_would_draw() {
    for is_busy in [false, true] {
        let device = FakeDevice::prepared();
        let (captured, plain) = (seeded(21), seeded(21));
        let upper = OUT.offset(4 * 500);
        let graph = device
            .capture(|| {
                device.fill(captured, 500, STREAM)?;
                device.in_body(|| device.fill_at(captured, 300, upper, STREAM))?;
                device.fill_at(captured, 200, upper.offset(4 * 300), STREAM)
            })
            .unwrap();
        let ordinary = || [500, 300, 200].map(|n| device.eager(plain, n)).concat();
        for _ in 0..2 {
            device.is_busy.set(is_busy);
            assert_eq!(device.replay(&graph), ordinary());
            assert_eq!(device.eager(captured, 400), device.eager(plain, 400));
            let is_on_device =
                with_state(captured, |state| Ok(state.at.record().is_some())).unwrap();
            assert_eq!(is_on_device, is_busy);
        }
        device.is_busy.set(false);
        assert_eq!(device.truth(captured), (21, numbers::offset(plain).unwrap()));
        assert_eq!(device.eager(captured, 400), device.eager(plain, 400));
        // A seed that is set while a launch is pending counts from the call on.
        device.is_busy.set(is_busy);
        device.replay(&graph);
        [captured, plain].iter().for_each(|key| device.set(*key, 5, 8));
        assert_eq!(device.truth(captured), (5, 8));
        assert_eq!(device.eager(captured, 400), device.eager(plain, 400));
        assert_eq!(device.replay(&graph), ordinary());
    }
}

#[test]
fn graphs_with_and_without_bodies_follow_each_other() {
    let device = FakeDevice::prepared();
    device.is_busy.set(true);
    let (captured, plain) = (seeded(8), seeded(8));
    let fill = |n| device.fill(captured, n, STREAM);
    let simple = device.capture(|| fill(100)).unwrap();
    let bodies = [200, 300].map(|n| device.capture(|| device.in_body(|| fill(n))).unwrap());
    for (graph, n) in
        [(&bodies[0], 200), (&simple, 100), (&bodies[1], 300), (&bodies[1], 300), (&bodies[0], 200)]
    {
        assert_eq!(device.replay(graph), device.eager(plain, n));
    }
    // Graphs may go while the state is in one of them.
    drop(bodies);
    assert_eq!(device.replay(&simple), device.eager(plain, 100));
    device.is_busy.set(false);
    assert_eq!(device.truth(captured), (8, numbers::offset(plain).unwrap()));
}

#[test]
fn a_capture_of_other_code_keeps_the_state_on_the_device() {
    let device = FakeDevice::prepared();
    let (captured, plain) = (seeded(31), seeded(31));
    assert_eq!(device.eager(captured, 50), device.eager(plain, 50));
    let foreign = device.capture_by_other_code(|| device.fill(captured, 70, STREAM)).unwrap();
    let own = device.capture(|| device.fill(captured, 90, STREAM)).unwrap();
    let body = device.capture(|| device.in_body(|| device.fill(captured, 80, STREAM))).unwrap();
    for (graph, n) in [(&foreign, 70), (&own, 90), (&foreign, 70), (&body, 80), (&foreign, 70)] {
        assert_eq!(device.replay(graph), device.eager(plain, n));
        assert_eq!(device.eager(captured, 10), device.eager(plain, 10));
    }
    assert_eq!(device.truth(captured), (31, numbers::offset(plain).unwrap()));
    [captured, plain].iter().for_each(|key| device.set(*key, 77, 4));
    assert_eq!(device.replay(&foreign), device.eager(plain, 70));
    assert_eq!(device.eager(captured, 10), device.eager(plain, 10));
}

#[test]
fn graphs_outlive_the_handle_of_their_generator() {
    let device = FakeDevice::prepared();
    let [captured, plain] =
        [1, 2].map(|_| generator::create_like(DeviceIndex::ZERO, 3, 0).unwrap());
    let graphs = [40, 60].map(|n| device.capture(|| device.fill(captured, n, STREAM)).unwrap());
    assert_eq!(device.replay(&graphs[0]), device.eager(plain, 40));
    generator::destroy(captured).unwrap();
    assert_eq!(device.fill(captured, 40, STREAM).unwrap_err().status(), Status::InvalidHandle);
    for (graph, n) in [(&graphs[1], 60), (&graphs[0], 40), (&graphs[1], 60)] {
        assert_eq!(device.replay(graph), device.eager(plain, n));
    }
}

#[test]
fn several_generators_of_a_graph_have_pieces_of_their_own() {
    let device = FakeDevice::prepared();
    let keys = [(seeded(1), seeded(1)), (seeded(2), seeded(2)), (seeded(3), seeded(3))];
    let at = |number: usize| OUT.offset(number as u64 * 400);
    let graph = device
        .capture(|| {
            for (number, (captured, _)) in keys.iter().enumerate().rev() {
                let fill = || device.fill_at(*captured, 100, at(number), STREAM);
                if number == 1 { device.in_body(fill)? } else { fill()? }
            }
            Ok(())
        })
        .unwrap();
    for _ in 0..3 {
        let expected = keys.map(|(_, plain)| device.eager(plain, 100)).concat();
        assert_eq!(device.replay(&graph), expected);
    }
}

#[test]
fn memory_comes_back_when_graphs_are_gone() {
    let device = FakeDevice::prepared();
    let key = seeded(9);
    let cell = |graph: &Graph| graph.nodes[0].1[7];
    let first = device.capture(|| device.fill(key, 10, STREAM)).unwrap();
    let place = cell(&first);
    device.is_busy.set(true);
    device.replay(&first);
    drop(first);
    let second = device.capture(|| device.fill(key, 10, STREAM)).unwrap();
    assert_ne!(cell(&second), place, "the launch is not done");
    device.is_busy.set(false);
    let third = device.capture(|| device.fill(key, 10, STREAM)).unwrap();
    assert_eq!(cell(&third), place);
}

#[test]
fn each_stream_and_each_fill_that_other_code_captures_has_a_slot_of_its_own() {
    let device = FakeDevice::prepared();
    let key = seeded(11);
    device
        .capture_by_other_code(|| {
            device.fill(key, 10, STREAM)?;
            device.fill(key, 10, STREAM)
        })
        .unwrap();
    device.fill(key, 10, STREAM).unwrap();
    device.fill(key, 10, OTHER).unwrap();
    device.fill(key, 10, STREAM).unwrap();
    let taken = device.taken.borrow();
    let [(_, first), (_, second), (_, here), (other, there), (_, again)] = taken[..] else {
        panic!("{taken:?}")
    };
    assert_eq!((other, here), (OTHER.handle, again), "a stream keeps its slot");
    let slots = std::collections::HashSet::from([first, second, here, there]);
    assert_eq!(slots.len(), 4, "{taken:?}");
    let offsets: Vec<_> = device.drawn.borrow().iter().map(|(_, offset)| *offset).collect();
    assert_eq!(offsets, [0, 4, 8]);
}
