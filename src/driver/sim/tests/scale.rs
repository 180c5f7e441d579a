//! Many streams and devices, and random programs against an oracle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use proptest::prelude::*;

use super::support::*;
use crate::driver::{Driver, EventFlags, StreamRef};

#[test]
fn a_thousand_streams_on_eight_devices_with_cross_waits() {
    let sim = automatic(8);
    let done = Arc::new(AtomicUsize::new(0));
    let before = Instant::now();
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
    assert!(before.elapsed() < Duration::from_secs(20), "{:?}", before.elapsed());
}

#[test]
fn idle_threads_leave_and_come_back() {
    let sim = automatic(1);
    for _ in 0..2 {
        for _ in 0..20 {
            sim.launch_host_function(stream(&sim), host_function(|| ())).unwrap();
        }
        sim.device_synchronize(D0).unwrap();
        eventually("the threads leave", || sim.inner.engine.lock().workers.alive == 0);
    }
}

#[test]
fn a_simulator_dropped_with_work_in_flight_goes_away_by_itself() {
    let sim = automatic(1);
    let inner = Arc::downgrade(&sim.inner);
    sleep(&sim, stream(&sim), Duration::from_millis(20));
    drop(sim);
    eventually("the memory is given back", || inner.strong_count() == 0);
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

/// For each piece of work the earlier pieces that must have run before it: by reachability over
/// the plain rules (stream order, records, waits, and stream 0 as the legacy stream against the
/// blocking stream 1), with no notion of queues or tokens.
fn happens_before(ops: &[Op]) -> Vec<Vec<usize>> {
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
            let direct = s == t || recorded || (s < 2 && t < 2);
            if direct {
                let reach = before[earlier].clone();
                before[later][earlier] = true;
                for (slot, reached) in before[later].iter_mut().zip(reach) {
                    *slot |= reached;
                }
            }
        }
    }
    before
        .iter()
        .map(|row| (0..ops.len()).filter(|i| row[*i] && matches!(ops[*i], Op::Work(_))).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_keep_their_order_however_they_are_stepped((ops, choices) in program()) {
        let sim = manual(1);
        let mut streams = vec![StreamRef::default_of(D0), stream_on(&sim, D0, false)];
        streams.extend((2..STREAMS).map(|_| stream(&sim)));
        let events: Vec<_> = (0..EVENTS).map(|_| event(&sim)).collect();
        let ran = Arc::new(Mutex::new(Vec::new()));
        for (index, op) in ops.iter().enumerate() {
            match *op {
                Op::Work(stream) => {
                    let ran = Arc::clone(&ran);
                    let work = host_function(move || ran.lock().push(index));
                    sim.launch_host_function(streams[stream], work).unwrap();
                }
                Op::Record(stream, event) => sim.event_record(events[event], streams[stream]).unwrap(),
                Op::Wait(stream, event) => sim.stream_wait_event(streams[stream], events[event]).unwrap(),
            }
        }
        for choice in choices {
            sim.step(streams[choice]).unwrap();
        }
        sim.run_until_idle();
        let ran = ran.lock();
        let work = ops.iter().filter(|op| matches!(op, Op::Work(_))).count();
        prop_assert_eq!(ran.len(), work, "everything runs once, nothing deadlocks");
        for (index, before) in happens_before(&ops).iter().enumerate() {
            let Some(place) = ran.iter().position(|other| *other == index) else { continue };
            for earlier in before {
                let other = ran.iter().position(|other| other == earlier).unwrap();
                prop_assert!(other < place, "{} must run before {}: {:?}", earlier, index, ran);
            }
        }
    }

    #[test]
    fn blocked_heads_are_exactly_those_the_oracle_blocks((ops, choices) in program()) {
        // The other direction: what nothing holds back must be steppable at once.
        let sim = manual(1);
        let streams: Vec<_> = (0..STREAMS).map(|_| stream(&sim)).collect();
        let mut queues = vec![std::collections::VecDeque::new(); STREAMS];
        for op in ops.iter().filter_map(|op| if let Op::Work(stream) = op { Some(*stream) } else { None }) {
            sim.launch_host_function(streams[op], host_function(|| ())).unwrap();
            queues[op].push_back(());
        }
        for choice in choices {
            prop_assert_eq!(sim.step(streams[choice]).unwrap(), queues[choice].pop_front().is_some());
        }
    }
}
