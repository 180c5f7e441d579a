//! What runs before what: streams, waits, the legacy default stream, priorities.

use std::sync::Arc;
use std::time::Duration;

use sconce_base::error::Status;
use sconce_driver::StreamRef;
use sconce_driver::prelude::*;

use super::support::*;
use crate::{SimOptions, Simulator};

fn steps(sim: &Simulator, stream: StreamRef) -> bool {
    sim.step(stream).unwrap()
}

#[test]
fn a_step_completes_exactly_the_head_and_query_counts_what_has_not_completed() {
    let sim = manual(1);
    let (stream, journal) = (stream(&sim), Journal::default());
    assert!(sim.stream_query(stream).unwrap());
    for what in ["a", "b"] {
        sim.launch_host_function(stream, journal.note(what)).unwrap();
    }
    assert_eq!(sim.pending(stream).unwrap(), 2);
    assert!(!sim.stream_query(stream).unwrap());
    assert!(steps(&sim, stream));
    assert_eq!(journal.read(), ["a"]);
    assert_eq!(sim.pending(stream).unwrap(), 1);
    assert!(!sim.stream_query(stream).unwrap());
    assert!(steps(&sim, stream));
    assert!(!steps(&sim, stream));
    assert!(sim.stream_query(stream).unwrap());
    assert_eq!(journal.read(), ["a", "b"]);
}

#[test]
fn a_running_operation_is_not_done() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let (tell, told) = std::sync::mpsc::channel();
    let (let_go, gate) = std::sync::mpsc::channel::<()>();
    let function = host_function(move || {
        tell.send(()).unwrap();
        gate.recv().unwrap();
    });
    sim.launch_host_function(stream, function).unwrap();
    told.recv().unwrap();
    assert!(!sim.stream_query(stream).unwrap());
    assert_eq!(sim.pending(stream).unwrap(), 1);
    let_go.send(()).unwrap();
    sim.stream_synchronize(stream).unwrap();
    assert!(sim.stream_query(stream).unwrap());
}

#[test]
fn a_wait_binds_to_the_record_at_its_enqueue() {
    let sim = manual(1);
    let (recorder, waiter) = (stream(&sim), stream(&sim));
    let (event, journal) = (event(&sim), Journal::default());
    sim.event_record(event, recorder).unwrap();
    sim.stream_wait_event(waiter, event).unwrap();
    sim.launch_host_function(waiter, journal.note("after")).unwrap();
    // A second record of the event, behind more work, must not move the wait.
    sim.launch_host_function(recorder, journal.note("more")).unwrap();
    sim.event_record(event, recorder).unwrap();
    assert!(!steps(&sim, waiter));
    assert!(steps(&sim, recorder));
    assert!(!sim.event_query(event).unwrap());
    assert!(steps(&sim, waiter));
    assert!(steps(&sim, waiter));
    assert_eq!(journal.read(), ["after"]);
}

#[test]
fn waits_for_events_never_recorded_or_complete_have_no_effect() {
    let sim = manual(1);
    let (stream, other, event) = (stream(&sim), stream(&sim), event(&sim));
    assert!(sim.event_query(event).unwrap());
    sim.event_synchronize(event).unwrap();
    sim.stream_wait_event(stream, event).unwrap();
    assert_eq!(sim.pending(stream).unwrap(), 0);
    sim.event_record(event, other).unwrap();
    assert!(steps(&sim, other));
    sim.stream_wait_event(stream, event).unwrap();
    assert_eq!(sim.pending(stream).unwrap(), 0);
}

#[test]
fn a_wait_survives_the_destruction_of_its_event_and_work_that_of_its_stream() {
    let sim = manual(1);
    let (recorder, waiter) = (stream(&sim), stream(&sim));
    let (event, journal) = (event(&sim), Journal::default());
    sim.event_record(event, recorder).unwrap();
    sim.stream_wait_event(waiter, event).unwrap();
    sim.launch_host_function(waiter, journal.note("ran")).unwrap();
    sim.event_destroy(event).unwrap();
    sim.stream_destroy(waiter).unwrap();
    assert_eq!(sim.run_until_idle(), 3);
    assert_eq!(journal.read(), ["ran"]);
    assert_eq!(sim.inner.machine.engine.lock().streams.len(), 2);
}

#[test]
fn waits_cross_devices() {
    let sim = manual(2);
    let (first, second) = (stream_on(&sim, device(0), true), stream_on(&sim, device(1), true));
    let event = event(&sim);
    sim.event_record(event, first).unwrap();
    sim.stream_wait_event(second, event).unwrap();
    assert!(!steps(&sim, second));
    assert!(steps(&sim, first));
    assert!(steps(&sim, second));
}

#[test]
fn an_event_takes_records_of_its_own_device_only() {
    let sim = manual(2);
    let refused = sim.event_record(event(&sim), stream_on(&sim, device(1), true)).unwrap_err();
    assert_eq!((refused.status(), refused.backend_code()), (Status::InvalidHandle, 400));
    assert!(refused.message().contains("device 0"), "{refused}");
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    let sim = manual(1);
    let (blocking, journal) = (stream_on(&sim, D0, false), Journal::default());
    let legacy = StreamRef::default_of(D0);
    sim.launch_host_function(blocking, journal.note("before")).unwrap();
    sim.launch_host_function(legacy, journal.note("legacy")).unwrap();
    sim.launch_host_function(blocking, journal.note("after")).unwrap();
    assert!(!steps(&sim, legacy), "must wait for the blocking stream");
    assert!(steps(&sim, blocking));
    assert!(!steps(&sim, blocking), "must wait for the legacy stream");
    assert!(steps(&sim, legacy_alias(D0)));
    assert!(steps(&sim, blocking));
    assert_eq!(journal.read(), ["before", "legacy", "after"]);
}

#[test]
fn the_legacy_stream_is_as_busy_as_the_blocking_streams() {
    let sim = manual(1);
    let (blocking, free) = (stream_on(&sim, D0, false), stream(&sim));
    let (legacy, journal) = (StreamRef::default_of(D0), Journal::default());
    sim.launch_host_function(free, journal.note("free")).unwrap();
    assert!(sim.stream_query(legacy).unwrap());
    sim.launch_host_function(blocking, journal.note("blocking")).unwrap();
    assert!(!sim.stream_query(legacy).unwrap());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sim.stream_synchronize(legacy_alias(D0)));
        std::thread::sleep(Duration::from_millis(3));
        assert!(!waiting.is_finished());
        assert!(steps(&sim, blocking));
        waiting.join().unwrap().unwrap();
    });
    sim.launch_host_function(legacy, journal.note("legacy")).unwrap();
    assert!(sim.stream_query(blocking).unwrap(), "not the other way round");
}

#[test]
fn non_blocking_streams_and_other_devices_do_not_order_with_the_legacy_stream() {
    let sim = manual(2);
    let (free, elsewhere) = (stream(&sim), stream_on(&sim, device(1), false));
    let (legacy, journal) = (StreamRef::default_of(D0), Journal::default());
    for stream in [free, elsewhere, legacy, free, elsewhere] {
        sim.launch_host_function(stream, journal.note("x")).unwrap();
    }
    for stream in [free, free, elsewhere, elsewhere, legacy] {
        assert!(steps(&sim, stream));
    }
}

#[test]
fn the_legacy_rule_binds_at_enqueue() {
    let sim = manual(1);
    let (blocking, legacy) = (stream_on(&sim, D0, false), StreamRef::default_of(D0));
    let journal = Journal::default();
    sim.launch_host_function(legacy, journal.note("legacy")).unwrap();
    sim.launch_host_function(blocking, journal.note("later")).unwrap();
    // Queued after it, so the legacy stream's first operation does not wait for it.
    assert!(!steps(&sim, blocking));
    assert!(steps(&sim, legacy));
    assert!(steps(&sim, blocking));
}

#[test]
fn a_host_function_may_wait_for_another_stream() {
    let sim = automatic(1);
    let (first, second) = (stream(&sim), stream(&sim));
    let (let_go, gate) = std::sync::mpsc::channel::<()>();
    sim.launch_host_function(first, host_function(move || gate.recv().unwrap())).unwrap();
    sim.launch_host_function(second, host_function(move || let_go.send(()).unwrap())).unwrap();
    sim.stream_synchronize(first).unwrap();
}

#[test]
fn kernels_wait_for_a_slot_by_priority_and_then_in_their_order() {
    // How long a kernel holds the only slot: until all others have been queued.
    for held_ms in [30, 300, 3000, 30_000] {
        let sim = simulator(1, SimOptions { kernel_slots: 1, ..SimOptions::default() });
        let (holder, start) = (stream(&sim), timed_event(&sim, D0));
        sim.event_record(start, holder).unwrap();
        sleep(&sim, holder, Duration::from_millis(held_ms));
        let order = [(0, "low a"), (0, "low b"), (-9, "high"), (-1, "middle")];
        let ends = order.map(|(priority, name)| {
            let (stream, end) = (stream_with(&sim, D0, true, priority), timed_event(&sim, D0));
            sleep(&sim, stream, Duration::from_millis(1));
            sim.event_record(end, stream).unwrap();
            (name, end)
        });
        if sim.stream_query(holder).unwrap() {
            continue; // This machine was too slow: the slot was free again too early.
        }
        sim.device_synchronize(D0).unwrap();
        // The devices' own times, whichever thread is first to say what it has done.
        let mut names = ends
            .map(|(name, end)| ((sim.event_elapsed_ms(start, end).unwrap() * 1000.0) as u64, name));
        names.sort_unstable();
        assert_eq!(names.map(|(_, name)| name), ["high", "middle", "low a", "low b"]);
        return;
    }
    panic!("this machine cannot queue four kernels in 30 s");
}

#[test]
fn priorities_are_clamped_to_their_range() {
    let sim = manual(1);
    assert_eq!(sim.stream_priority(stream_with(&sim, D0, true, -9)).unwrap(), -5);
    assert_eq!(sim.stream_priority_range(D0).unwrap(), (0, -5));
}

#[test]
fn run_until_idle_steps_by_priority_and_then_in_the_order_of_queueing() {
    let sim = manual(1);
    let journal = Journal::default();
    for (priority, name) in [(0, "low a"), (-2, "high"), (0, "low b"), (-1, "middle")] {
        let stream = stream_with(&sim, D0, true, priority);
        sim.launch_host_function(stream, journal.note(name)).unwrap();
    }
    assert_eq!(sim.run_until_idle(), 4);
    assert_eq!(journal.read(), ["high", "middle", "low a", "low b"]);
    assert_eq!(sim.run_until_idle(), 0);
}

#[test]
fn handles_are_checked() {
    let sim = manual(2);
    let stream = stream(&sim);
    sim.stream_check(stream).unwrap();
    sim.stream_check(StreamRef::default_of(D0)).unwrap();
    let elsewhere = StreamRef { device: device(1), ..stream };
    let nowhere = StreamRef { device: device(9), ..stream };
    assert_eq!(sim.stream_check(elsewhere).unwrap_err().status(), Status::InvalidHandle);
    assert_eq!(sim.stream_check(nowhere).unwrap_err().status(), Status::InvalidDevice);
    assert!(sim.stream_destroy(StreamRef::default_of(D0)).is_err());
}

#[test]
fn work_that_no_thread_can_run_is_an_error_with_words_and_no_hang() {
    let sim = simulator(1, SimOptions { most_threads: 1, ..SimOptions::default() });
    let (first, second, third) = (stream(&sim), stream(&sim), stream(&sim));
    let (let_go, gate) = std::sync::mpsc::channel::<()>();
    let (begun, begins) = std::sync::mpsc::channel::<()>();
    let waits = host_function(move || {
        begun.send(()).unwrap();
        // Ended by the test, as the function that would do it never runs.
        let _ = gate.recv();
    });
    sim.launch_host_function(first, waits).unwrap();
    begins.recv().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sim.stream_synchronize(first));
        let error = sim.launch_host_function(second, Journal::default().note("never"));
        let errors = [
            error,
            waiting.join().unwrap(),
            sim.stream_synchronize(first),
            sim.launch_host_function(third, Journal::default().note("never")),
            sim.device_synchronize(D0),
            sim.memory_alloc(D0, 16).map(drop),
        ];
        for error in errors {
            let error = error.unwrap_err();
            assert_eq!(error.backend_code(), 304, "{error}");
            assert!(error.message().contains("cannot start a thread"), "{error}");
            assert!(error.message().contains("ulimit -u"), "{error}");
        }
    });
    drop(let_go);
    sim.clear_device_error(D0).unwrap();
    eventually("the thread is idle again", || {
        sim.launch_host_function(third, Journal::default().note("runs")).is_ok() || {
            sim.clear_device_error(D0).unwrap();
            false
        }
    });
    sim.stream_synchronize(third).unwrap();
}

#[test]
fn a_host_function_has_the_stack_of_a_thread() {
    let sim = automatic(1);
    let journal = Journal::default();
    let list = journal.clone();
    let deep = host_function(move || {
        let mut large = [0_u8; 6 << 20];
        std::hint::black_box(&mut large).fill(1);
        assert_eq!(std::hint::black_box(&large)[5 << 20], 1);
        list.write("ran");
    });
    let stream = stream(&sim);
    sim.launch_host_function(stream, deep).unwrap();
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(journal.read(), ["ran"]);
}

#[test]
fn the_devices_synchronise_with_all_their_streams_from_any_thread() {
    let sim = Arc::new(automatic(2));
    let streams: Vec<_> = (0..4).map(|_| stream_on(&sim, device(1), true)).collect();
    for stream in &streams {
        sleep(&sim, *stream, Duration::from_millis(10));
    }
    let other = Arc::clone(&sim);
    std::thread::spawn(move || {
        other.bind_device(device(0)).unwrap();
        other.device_synchronize(device(1)).unwrap();
    })
    .join()
    .unwrap();
    for stream in streams {
        assert!(sim.stream_query(stream).unwrap());
    }
}
