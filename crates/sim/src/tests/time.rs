//! Modelled time: durations, stamps, overlap.

use std::time::{Duration, Instant};

use sconce_base::error::Status;
use sconce_driver::prelude::*;

use super::support::*;
use crate::{SimOptions, Simulator};

const SLEEP: Duration = Duration::from_millis(20);

/// Two sleeps on two streams between events of a third.
fn two_sleeps(sim: &Simulator) -> f32 {
    let [first, second, around] = [(); 3].map(|()| stream(sim));
    let [begin, a, b, end] = [(); 4].map(|()| timed_event(sim, D0));
    sim.event_record(begin, around).unwrap();
    for (stream, event) in [(first, a), (second, b)] {
        sim.stream_wait_event(stream, begin).unwrap();
        sleep(sim, stream, SLEEP);
        sim.event_record(event, stream).unwrap();
        sim.stream_wait_event(around, event).unwrap();
    }
    sim.event_record(end, around).unwrap();
    sim.run_until_idle();
    sim.event_elapsed_ms(begin, end).unwrap()
}

#[test]
fn manual_time_is_exact_and_streams_overlap_in_it() {
    assert_eq!(two_sleeps(&manual(1)), 20.0);
    let one_slot = SimOptions { manual: true, kernel_slots: 1, ..SimOptions::default() };
    assert_eq!(two_sleeps(&simulator(1, one_slot)), 40.0);
}

#[test]
fn automatic_time_is_the_wall_clocks() {
    let sim = automatic(1);
    let before = Instant::now();
    let modelled = two_sleeps(&sim);
    assert!(before.elapsed() >= SLEEP);
    // No upper limit of its own: a busy machine queues the second sleep late.
    let passed = before.elapsed().as_secs_f32() * 1000.0;
    assert!(modelled >= 20.0 && modelled <= passed, "{modelled} of {passed} ms");
}

#[test]
fn latency_is_what_was_set_and_operations_add_up() {
    let sim = manual(1);
    let (stream, ptr) = (stream(&sim), sim.memory_alloc(D0, 4096).unwrap());
    let [begin, end] = [(); 2].map(|()| timed_event(&sim, D0));
    sim.set_latency_ns(1_000_000);
    sim.event_record(begin, stream).unwrap();
    sim.fill_async(ptr, 1, 4096, stream).unwrap();
    sim.set_latency_ns(2_000_000);
    sim.copy_async(ptr.offset(2048).into(), ptr.into(), 2048, stream).unwrap();
    sim.launch_host_function(stream, host_function(|| ())).unwrap();
    sim.event_record(end, stream).unwrap();
    let start = sim.now_ns();
    assert_eq!(sim.run_until_idle(), 5);
    assert_eq!(sim.now_ns() - start, 5_000_000);
    assert_eq!(sim.event_elapsed_ms(begin, end).unwrap(), 5.0);
    assert_eq!(sim.event_elapsed_ms(end, begin).unwrap(), -5.0);
}

#[test]
fn elapsed_time_has_its_rules() {
    let sim = manual(2);
    let stream = stream(&sim);
    let [a, b] = [(); 2].map(|()| timed_event(&sim, D0));
    let code = |start, end| sim.event_elapsed_ms(start, end).unwrap_err().backend_code();
    assert_eq!(code(a, b), 400);
    sim.event_record(a, stream).unwrap();
    assert_eq!(code(a, b), 400);
    sim.event_record(b, stream).unwrap();
    let pending = sim.event_elapsed_ms(a, b).unwrap_err();
    assert_eq!((pending.status(), pending.backend_code()), (Status::NotReady, 600));
    sim.run_until_idle();
    assert_eq!(sim.event_elapsed_ms(a, b).unwrap(), 0.0);
    assert_eq!(code(a, event(&sim)), 400);
    assert_eq!(code(a, timed_event(&sim, device(1))), 400);
}

#[test]
fn leaving_manual_mode_lets_everything_go_on() {
    let sim = manual(1);
    let (first, second, event) = (stream(&sim), stream(&sim), event(&sim));
    let journal = Journal::default();
    sim.launch_host_function(first, journal.note("a")).unwrap();
    sim.event_record(event, first).unwrap();
    sim.stream_wait_event(second, event).unwrap();
    sim.launch_host_function(second, journal.note("b")).unwrap();
    sim.set_manual(false);
    sim.stream_synchronize(second).unwrap();
    assert_eq!(journal.read(), ["a", "b"]);
    sim.set_manual(true);
    sim.launch_host_function(first, journal.note("c")).unwrap();
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(sim.pending(first).unwrap(), 1);
    assert!(!sim.stream_query(first).unwrap());
}

#[test]
fn work_that_nobody_waited_for_is_not_done_yet() {
    let options = SimOptions { latency_ns: 30_000_000, ..SimOptions::default() };
    let sim = simulator(1, options);
    let pinned = sim.host_alloc(D0, 64).unwrap();
    let ptr = sim.memory_alloc(D0, 64).unwrap();
    let stream = stream(&sim);
    poke(pinned, 0);
    let begun = Instant::now();
    sim.fill_async(ptr, 1, 64, stream).unwrap();
    sim.copy_async(host(pinned), ptr.into(), 64, stream).unwrap();
    std::thread::sleep(Duration::from_millis(10));
    let seen = peek(pinned);
    // A busy machine may look only when both have had their 30 ms.
    assert!(seen == 0 || begun.elapsed() >= Duration::from_millis(60));
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(peek(pinned), 1);
}
