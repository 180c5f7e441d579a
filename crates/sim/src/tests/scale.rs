//! Many streams and devices, and random programs against an oracle.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use proptest::prelude::*;
use sconce_driver::prelude::*;
use sconce_driver::{EventFlags, StreamRef};

use super::support::*;
use crate::SimOptions;

#[test]
fn a_thousand_streams_on_eight_devices_with_cross_waits() {
    let sim = automatic(8);
    let done = Arc::new(AtomicUsize::new(0));
    let streams: Vec<_> = (0..1000).map(|i| stream_on(&sim, device(i % 8), i % 3 != 0)).collect();
    let events: Vec<_> = streams
        .iter()
        .map(|stream| sim.event_create(stream.device, EventFlags::default()).unwrap())
        .collect();
    for round in 0..5 {
        for (i, stream) in streams.iter().enumerate() {
            let from = events[(i + 1 + 137 * round) % events.len()];
            sim.stream_wait_event(*stream, from).unwrap();
            let done = Arc::clone(&done);
            let count = host_function(move || {
                done.fetch_add(1, Ordering::Relaxed);
            });
            sim.launch_host_function(*stream, count).unwrap();
            sim.event_record(events[i], *stream).unwrap();
        }
        sim.launch_host_function(StreamRef::default_of(device(round as i32)), host_function(|| ()))
            .unwrap();
    }
    for index in 0..8 {
        sim.device_synchronize(device(index)).unwrap();
    }
    assert_eq!(done.load(Ordering::Relaxed), 5000);
}

#[test]
fn idle_threads_leave_and_come_back() {
    let sim = automatic(1);
    for _ in 0..2 {
        for _ in 0..20 {
            sim.launch_host_function(stream(&sim), host_function(|| ())).unwrap();
        }
        sim.device_synchronize(D0).unwrap();
        eventually("the threads leave", || sim.inner.machine.engine.lock().workers.alive == 0);
    }
}

#[test]
fn a_simulator_dropped_with_work_in_flight_goes_away_by_itself() {
    let sim = automatic(1);
    let memory = Arc::downgrade(&sim.inner.space);
    sleep(&sim, stream(&sim), Duration::from_millis(20));
    drop(sim);
    eventually("the memory is given back", || memory.strong_count() == 0);
}

/// One operation of a random program.
#[derive(Clone, Debug)]
enum Op {
    Work(usize),
    Record(usize, usize),
    Wait(usize, usize),
}

const STREAMS: usize = 5;
const EVENTS: usize = 3;

fn program() -> impl Strategy<Value = (Vec<Op>, Vec<usize>)> {
    let op = prop_oneof![
        (0..STREAMS).prop_map(Op::Work),
        (0..STREAMS, 0..EVENTS).prop_map(|(stream, event)| Op::Record(stream, event)),
        (0..STREAMS, 0..EVENTS).prop_map(|(stream, event)| Op::Wait(stream, event)),
    ];
    (prop::collection::vec(op, 1..60), prop::collection::vec(0..STREAMS, 200))
}

/// Which earlier operations each operation comes after: by reachability over the plain rules
/// (stream order, records and waits, and stream 0 as the legacy stream against the blocking stream
/// 1), with no notion of queues or tokens.
fn happens_before(ops: &[Op]) -> Vec<Vec<bool>> {
    let stream_of = |op: &Op| match op {
        Op::Work(stream) | Op::Record(stream, _) | Op::Wait(stream, _) => *stream,
    };
    let mut before = vec![vec![false; ops.len()]; ops.len()];
    for later in 0..ops.len() {
        for earlier in 0..later {
            let (s, t) = (stream_of(&ops[earlier]), stream_of(&ops[later]));
            let recorded = match (&ops[earlier], &ops[later]) {
                (Op::Record(_, event), Op::Wait(_, waited)) if event == waited => !ops
                    [earlier + 1..later]
                    .iter()
                    .any(|op| matches!(op, Op::Record(_, again) if again == event)),
                _ => false,
            };
            if s == t || recorded || (s < 2 && t < 2) {
                let reach = before[earlier].clone();
                before[later][earlier] = true;
                for (slot, reached) in before[later].iter_mut().zip(reach) {
                    *slot |= reached;
                }
            }
        }
    }
    before
}

/// Waits for events that were never recorded are not queued.
fn is_queued(ops: &[Op], index: usize) -> bool {
    let Op::Wait(_, event) = &ops[index] else { return true };
    ops[..index].iter().any(|op| matches!(op, Op::Record(_, of) if of == event))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// In manual mode a step succeeds exactly when nothing comes before the head of the stream any
    /// more, whatever the order of the steps; and in the end everything has run.
    #[test]
    fn random_programs_step_as_the_rules_say((ops, choices) in program()) {
        let sim = manual(1);
        let mut streams = vec![StreamRef::default_of(D0), stream_on(&sim, D0, false)];
        streams.extend((2..STREAMS).map(|_| stream(&sim)));
        let events: Vec<_> = (0..EVENTS).map(|_| event(&sim)).collect();
        let ran = Arc::new(AtomicUsize::new(0));
        let mut queues = vec![VecDeque::new(); STREAMS];
        for (index, op) in ops.iter().enumerate() {
            let on = match *op {
                Op::Work(on) => {
                    let ran = Arc::clone(&ran);
                    let work = host_function(move || {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                    sim.launch_host_function(streams[on], work).unwrap();
                    on
                }
                Op::Record(on, event) => {
                    sim.event_record(events[event], streams[on]).unwrap();
                    on
                }
                Op::Wait(on, event) => {
                    sim.stream_wait_event(streams[on], events[event]).unwrap();
                    on
                }
            };
            if is_queued(&ops, index) {
                queues[on].push_back(index);
            }
        }
        let before = happens_before(&ops);
        let mut complete: Vec<bool> = (0..ops.len()).map(|index| !is_queued(&ops, index)).collect();
        let rounds = (0..ops.len()).flat_map(|_| 0..STREAMS);
        for on in choices.into_iter().chain(rounds) {
            let head = queues[on].front().copied();
            let free = |head: usize| (0..head).all(|other| !before[head][other] || complete[other]);
            let expected = head.is_some_and(free);
            prop_assert_eq!(sim.step(streams[on]).unwrap(), expected, "{:?}", head);
            if let Some(head) = head.filter(|_| expected) {
                queues[on].pop_front();
                complete[head] = true;
            }
        }
        prop_assert!(complete.iter().all(|done| *done));
        let work = ops.iter().filter(|op| matches!(op, Op::Work(_))).count();
        prop_assert_eq!(ran.load(Ordering::Relaxed), work);
    }

    /// The programs run in the background, where the machine chooses the order.
    #[test]
    fn random_programs_keep_their_order_in_the_background((ops, _) in program()) {
        let sim = simulator(1, SimOptions { latency_ns: 1000, ..SimOptions::default() });
        let mut streams = vec![StreamRef::default_of(D0), stream_on(&sim, D0, false)];
        streams.extend((2..STREAMS).map(|_| stream(&sim)));
        let events: Vec<_> = (0..EVENTS).map(|_| event(&sim)).collect();
        let ran = Arc::new(Mutex::new(Vec::new()));
        for (index, op) in ops.iter().enumerate() {
            match *op {
                Op::Work(on) => {
                    let ran = Arc::clone(&ran);
                    let work = host_function(move || ran.lock().push(index));
                    sim.launch_host_function(streams[on], work).unwrap();
                }
                Op::Record(on, event) => sim.event_record(events[event], streams[on]).unwrap(),
                Op::Wait(on, event) => sim.stream_wait_event(streams[on], events[event]).unwrap(),
            }
        }
        sim.device_synchronize(D0).unwrap();
        let ran = ran.lock();
        let before = happens_before(&ops);
        for (place, index) in ran.iter().enumerate() {
            prop_assert!(ran[place..].iter().all(|later| !before[*index][*later]), "{:?}", ran);
        }
        prop_assert_eq!(ran.len(), ops.iter().filter(|op| matches!(op, Op::Work(_))).count());
    }
}
