//! Graphs whose draws the host knows.

use proptest::prelude::*;
use sconce_base::error::Status;

use super::fake_device::*;
use crate::random::numbers;

#[test]
fn replays_and_ordinary_fills_continue_one_sequence() {
    let device = FakeDevice::prepared();
    let (captured, plain) = (seeded(42), seeded(42));
    assert_eq!(device.eager(captured, 5000), device.eager(plain, 5000));
    let graph = device.capture(|| device.fill(captured, 9000, STREAM)).unwrap();
    let first = device.replay(&graph);
    assert_eq!(first, device.eager(plain, 9000));
    let second = device.replay(&graph);
    assert_ne!(second, first);
    assert_eq!(second, device.eager(plain, 9000));
    // An ordinary fill between two replays, then the third.
    assert_eq!(device.eager(captured, 300), device.eager(plain, 300));
    assert_eq!(device.replay(&graph), device.eager(plain, 9000));
    assert_eq!(device.truth(captured), (42, numbers::offset(plain).unwrap()));
}

#[test]
fn several_fills_of_a_graph_follow_each_other() {
    let device = FakeDevice::prepared();
    let (captured, plain) = (seeded(7), seeded(7));
    let upper = OUT.offset(4 * 3000);
    let graph = device
        .capture(|| {
            device.fill(captured, 3000, STREAM)?;
            device.fill_at(captured, 100, upper, STREAM)
        })
        .unwrap();
    for _ in 0..3 {
        let replayed = device.replay(&graph);
        let expected = [device.eager(plain, 3000), device.eager(plain, 100)].concat();
        assert_eq!(replayed, expected);
    }
}

#[test]
fn capturing_alone_draws_nothing() {
    let device = FakeDevice::prepared();
    let key = seeded(3);
    numbers::set_offset(key, 12).unwrap();
    device.capture(|| device.fill(key, 100, STREAM)).unwrap();
    assert_eq!(device.truth(key), (3, 12));
    assert!(device.drawn.borrow().is_empty());
}

#[test]
fn seeding_reaches_graphs_that_are_there_already() {
    let device = FakeDevice::prepared();
    let (captured, plain) = (seeded(1), seeded(99));
    let graph = device.capture(|| device.fill(captured, 700, STREAM)).unwrap();
    device.replay(&graph);
    device.set(captured, 99, 0);
    assert_eq!(device.truth(captured), (99, 0));
    assert_eq!(device.replay(&graph), device.eager(plain, 700));
    assert_eq!(device.eager(captured, 700), device.eager(plain, 700));
}

#[test]
fn a_split_fill_takes_one_piece_for_all_its_parts() {
    let device = FakeDevice::prepared();
    let key = seeded(5);
    let graph = device.capture(|| device.fill(key, 1 << 31, STREAM)).unwrap();
    let distances: Vec<_> = graph.nodes.iter().map(|(_, arguments)| arguments[3]).collect();
    assert_eq!(distances.len(), 4, "four parts, and nothing else");
    assert!(distances.windows(2).all(|pair| pair[0] < pair[1]) && distances[0] > 0);
    let states: Vec<_> = graph.nodes.iter().map(|(_, arguments)| arguments[7]).collect();
    assert!(states.iter().all(|state| *state == states[0] && *state != 0));
}

#[test]
fn the_first_fill_of_a_device_may_be_captured() {
    let device = FakeDevice::default();
    let (captured, plain) = (seeded(6), seeded(6));
    let graph = device.capture(|| device.fill(captured, 900, STREAM)).unwrap();
    for _ in 0..2 {
        assert_eq!(device.replay(&graph), device.eager(plain, 900));
    }
}

#[test]
fn a_full_device_refuses_captured_fills_only() {
    let device = FakeDevice::default();
    device.is_full.set(true);
    let (key, plain) = (seeded(0), seeded(0));
    let error = device.capture(|| device.fill(key, 10, STREAM)).err().unwrap();
    assert_eq!(error.status(), Status::OutOfMemory);
    assert!(error.message().contains("the device is full"), "{}", error.message());
    // It is as it was: the generator works, and captures too once there is room.
    let first = device.eager(key, 10);
    device.is_full.set(false);
    let graph = device.capture(|| device.fill(key, 10, STREAM)).unwrap();
    let second = device.replay(&graph);
    assert_eq!([first, second], [device.eager(plain, 10), device.eager(plain, 10)]);
}

proptest! {
    /// Whatever is replayed and filled, in any order, on any stream: no piece is drawn from twice, and each begins
    /// behind the one that was asked for before it.
    #[test]
    fn no_piece_of_the_sequence_is_used_twice(
        steps in proptest::collection::vec((0_usize..7, 1_u64..5000), 1..30),
    ) {
        let device = FakeDevice::prepared();
        let key = seeded(17);
        device.eager(key, 600);
        let graphs = [(100, false), (4097, false), (50, true)].map(|(n, is_in_body)| {
            let fill = || device.fill(key, n, STREAM);
            device.capture(|| if is_in_body { device.in_body(fill) } else { fill() }).unwrap()
        });
        for (what, n) in steps {
            match what {
                0..3 => { device.replay(&graphs[what]); }
                3 => device.is_busy.set(n % 2 == 0),
                4 => device.fill(key, n, STREAM).unwrap(),
                _ => device.fill(key, n, OTHER).unwrap(),
            }
        }
        let drawn = device.drawn.borrow();
        prop_assert!(drawn.iter().all(|(seed, _)| *seed == 17));
        prop_assert!(drawn.windows(2).all(|pair| pair[0].1 < pair[1].1), "{drawn:?}");
        device.is_busy.set(false);
        let (_, end) = device.truth(key);
        prop_assert!(drawn.last().unwrap().1 < end);
    }
}
