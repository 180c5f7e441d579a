//! Captures: what goes into them, whom they hold back, what spoils them.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{
    CaptureMode::{self, Global, Relaxed, ThreadLocal},
    EventHandle, RelaxedCapture, StreamRef,
};

use super::support::*;
use crate::Simulator;

const UNSUPPORTED: i32 = 900;
const INVALIDATED: i32 = 901;
const MERGE: i32 = 902;
const UNMATCHED: i32 = 903;
const UNJOINED: i32 = 904;
const ISOLATION: i32 = 905;
const IMPLICIT: i32 = 906;
const CAPTURED_EVENT: i32 = 907;
const WRONG_THREAD: i32 = 908;
const ILLEGAL_STATE: i32 = 401;

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>, code: i32) -> Error {
    let error = result.unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::InvalidState, code), "{error}");
    error
}

/// A simulator with a stream that is being captured.
fn capturing(mode: CaptureMode) -> (Simulator, StreamRef) {
    let sim = automatic(2);
    let captured = stream(&sim);
    sim.begin_capture(captured, mode).unwrap();
    (sim, captured)
}

/// Runs something on another thread in a mode of its own.
fn elsewhere<T: Send>(mode: CaptureMode, action: impl FnOnce() -> T + Send, sim: &Simulator) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            sim.exchange_capture_mode(mode).unwrap();
            action()
        });
        thread.join().unwrap()
    })
}

#[test]
fn captured_work_does_not_run_and_the_stream_works_again_afterwards() {
    let sim = automatic(1);
    let (memory, captured) = (sim.memory_alloc(D0, 16).unwrap(), stream(&sim));
    sim.fill_async(memory, 1, 16, captured).unwrap();
    sim.stream_synchronize(captured).unwrap();
    let journal = Journal::default();
    sim.launch_host_function(captured, journal.note("before")).unwrap();
    assert!(!sim.stream_is_capturing(captured).unwrap());
    sim.begin_capture(captured, Global).unwrap();
    assert!(sim.stream_is_capturing(captured).unwrap());
    sim.fill_async(memory, 2, 16, captured).unwrap();
    sim.copy_async(memory.offset(8).into(), memory.into(), 8, captured).unwrap();
    sim.launch_host_function(captured, journal.note("captured")).unwrap();
    let mut pageable = [9_u8; 4];
    sim.copy_async(host_of_mut(&mut pageable), memory.into(), 4, captured).unwrap();
    sim.fill_2d_async((memory, 8), 2, 4, 2, captured).unwrap();
    let (dst, src) = ((host_of_mut(&mut pageable), 2), (memory.into(), 8));
    sim.copy_2d_async(dst, src, 2, 2, captured).unwrap();
    assert_eq!(sim.end_capture(captured), Ok(6));
    assert!(!sim.stream_is_capturing(captured).unwrap());
    sim.launch_host_function(captured, journal.note("after")).unwrap();
    sim.stream_synchronize(captured).unwrap();
    assert_eq!((read_back(&sim, memory, 16), pageable), (vec![1; 16], [9; 4]));
    assert_eq!(journal.read(), ["before", "after"]);
}

/// A call that is not queued on a stream.
type Escaping = (&'static str, fn(&Simulator, &Objects) -> Result<()>);

struct Objects {
    memory: DevicePtr,
    host: usize,
    stream: StreamRef,
    event: EventHandle,
}

const ESCAPING: &[Escaping] = &[
    ("memory_alloc", |sim, _| sim.memory_alloc(D0, 16).map(drop)),
    ("physical_create", |sim, _| sim.physical_create(D0, 2 << 20, false).map(drop)),
    ("host_alloc", |sim, _| sim.host_alloc(D0, 16).map(drop)),
    ("stream_query", |sim, it| sim.stream_query(it.stream).map(drop)),
    ("stream_synchronize", |sim, it| sim.stream_synchronize(it.stream)),
    ("event_query", |sim, it| sim.event_query(it.event).map(drop)),
    ("event_synchronize", |sim, it| sim.event_synchronize(it.event)),
    // What frees comes last. The device that is captured is another one.
    ("host_free", |sim, it| sim.host_free(it.host)),
    ("memory_free", |sim, it| sim.memory_free(D0, it.memory)),
    ("device_synchronize", |sim, _| sim.device_synchronize(D0)),
];

#[test]
fn captures_hold_back_the_threads_that_the_modes_name() {
    for capture in [Global, ThreadLocal, Relaxed] {
        for thread in [Global, ThreadLocal, Relaxed] {
            for own in [false, true] {
                let held_back = match (capture, thread) {
                    (Relaxed, _) | (_, Relaxed) => false,
                    (Global, Global) => true,
                    _ => own,
                };
                for (name, call) in ESCAPING {
                    // Page-locked memory is every device's, so it cannot be freed at all.
                    let expected = held_back || *name == "host_free";
                    check_escaping(capture, thread, own, (name, *call), expected);
                }
            }
        }
    }
}

fn check_escaping(
    capture: CaptureMode,
    thread: CaptureMode,
    own: bool,
    (name, call): Escaping,
    expected: bool,
) {
    let sim = automatic(2);
    let captured = stream_on(&sim, device(1), true);
    let objects = Objects {
        memory: sim.memory_alloc(D0, 16).unwrap(),
        host: sim.host_alloc(D0, 16).unwrap(),
        stream: stream(&sim),
        event: event(&sim),
    };
    sim.event_record(objects.event, objects.stream).unwrap();
    sim.begin_capture(captured, capture).unwrap();
    let result = if own {
        let before = sim.exchange_capture_mode(thread).unwrap();
        let result = call(&sim, &objects);
        sim.exchange_capture_mode(before).unwrap();
        result
    } else {
        elsewhere(thread, || call(&sim, &objects), &sim)
    };
    let what = format!("{name}: capture {capture:?}, thread {thread:?}, own {own}");
    assert_eq!(result.as_ref().err().map(Error::backend_code), expected.then_some(900), "{what}");
    let ended = sim.end_capture(captured);
    assert_eq!(ended.err().map(|e| e.backend_code()), expected.then_some(901), "{what}");
    if expected {
        // Nothing was done, and now it can be.
        call(&sim, &objects).unwrap();
    }
}

#[test]
fn a_relaxed_thread_allocates_amid_its_own_global_capture() {
    let (sim, captured) = capturing(Global);
    let memory = {
        let _relaxed = RelaxedCapture::enter(&sim).unwrap();
        sim.memory_alloc(D0, 16).unwrap()
    };
    sim.fill_async(memory, 1, 16, captured).unwrap();
    assert_eq!(sim.end_capture(captured), Ok(1));
    sim.memory_free(D0, memory).unwrap();
}

#[test]
fn memory_that_cannot_be_freed_for_a_capture_of_its_device_stays() {
    for (mode, thread) in [(Global, Relaxed), (Relaxed, Global), (ThreadLocal, Relaxed)] {
        let sim = automatic(1);
        let (memory, captured) = (sim.memory_alloc(D0, 4096).unwrap(), stream(&sim));
        sim.begin_capture(captured, mode).unwrap();
        refused(elsewhere(thread, || sim.memory_free(D0, memory), &sim), UNSUPPORTED);
        refused(sim.end_capture(captured), INVALIDATED);
        sim.fill_async(memory, 7, 4096, captured).unwrap();
        sim.stream_synchronize(captured).unwrap();
        assert_eq!(read_back(&sim, memory, 4096), [7; 4096]);
        sim.memory_free(D0, memory).unwrap();
    }
}

#[test]
fn no_mode_lets_a_captured_stream_or_its_device_be_asked_or_awaited() {
    let asks: [fn(&Simulator, StreamRef) -> Result<()>; 3] = [
        |sim, captured| sim.stream_query(captured).map(drop),
        |sim, captured| sim.stream_synchronize(captured),
        |sim, captured| sim.device_synchronize(captured.device),
    ];
    for ask in asks {
        let (sim, captured) = capturing(Relaxed);
        refused(elsewhere(Relaxed, || ask(&sim, captured), &sim), UNSUPPORTED);
        // The capture is spoilt but not over: it takes nothing more and has to be ended.
        assert!(sim.stream_is_capturing(captured).unwrap());
        refused(sim.event_record(event(&sim), captured), INVALIDATED);
        refused(sim.end_capture(captured), INVALIDATED);
        ask(&sim, captured).unwrap();
    }
    let (sim, captured) = capturing(Relaxed);
    sim.device_synchronize(device(1)).unwrap();
    assert_eq!(sim.end_capture(captured), Ok(0), "another device can be awaited");
}

#[test]
fn captured_events_cannot_be_asked_until_they_are_recorded_anew() {
    let (sim, captured) = capturing(Relaxed);
    let (event, other) = (timed_event(&sim, D0), timed_event(&sim, D0));
    sim.event_record(event, captured).unwrap();
    sim.event_record(other, stream(&sim)).unwrap();
    assert_eq!(sim.end_capture(captured), Ok(0));
    refused(sim.event_query(event), CAPTURED_EVENT);
    refused(sim.event_synchronize(event), CAPTURED_EVENT);
    refused(sim.event_elapsed_ms(other, event), CAPTURED_EVENT);
    refused(sim.stream_wait_event(captured, event), ISOLATION);
    sim.event_record(event, captured).unwrap();
    sim.event_synchronize(event).unwrap();
    assert_eq!(sim.event_query(event), Ok(true));

    sim.begin_capture(captured, Relaxed).unwrap();
    sim.event_record(event, captured).unwrap();
    refused(sim.event_query(event), CAPTURED_EVENT);
    refused(sim.end_capture(captured), INVALIDATED);
}

#[test]
fn streams_join_a_capture_by_waiting_for_it_and_must_come_back() {
    let (sim, captured) = capturing(Global);
    let (side, fork, join) = (stream(&sim), event(&sim), event(&sim));
    let memory = elsewhere(Relaxed, || sim.memory_alloc(D0, 16), &sim).unwrap();
    let work = |stream| sim.fill_async(memory, 1, 16, stream).unwrap();
    work(captured);
    sim.event_record(fork, captured).unwrap();
    assert!(!sim.stream_is_capturing(side).unwrap());
    sim.stream_wait_event(side, fork).unwrap();
    assert!(sim.stream_is_capturing(side).unwrap());
    work(side);
    sim.event_record(join, side).unwrap();
    sim.stream_wait_event(captured, join).unwrap();
    assert_eq!(sim.end_capture(captured), Ok(2));
    assert!(!sim.stream_is_capturing(side).unwrap());

    sim.begin_capture(captured, Global).unwrap();
    sim.event_record(fork, captured).unwrap();
    sim.stream_wait_event(side, fork).unwrap();
    sim.event_record(join, side).unwrap();
    work(side); // After the record that is waited for.
    sim.stream_wait_event(captured, join).unwrap();
    refused(sim.end_capture(captured), UNJOINED);
    assert!(!sim.stream_is_capturing(side).unwrap());
}

#[test]
fn ending_a_capture_on_a_stream_that_only_joined_it_spoils_it() {
    let (sim, captured) = capturing(Global);
    let (side, fork, join) = (stream(&sim), event(&sim), event(&sim));
    sim.event_record(fork, captured).unwrap();
    sim.stream_wait_event(side, fork).unwrap();
    refused(sim.end_capture(side), UNMATCHED);
    // Both take nothing more, not even what would join them, until the origin ends the capture.
    assert!(sim.stream_is_capturing(captured).unwrap() && sim.stream_is_capturing(side).unwrap());
    refused(sim.event_record(join, side), INVALIDATED);
    refused(sim.end_capture(captured), INVALIDATED);
    for stream in [captured, side] {
        assert!(!sim.stream_is_capturing(stream).unwrap());
        sim.event_record(join, stream).unwrap();
    }
    sim.begin_capture(captured, Global).unwrap();
    assert_eq!(sim.end_capture(captured), Ok(0));
}

#[test]
fn waits_do_not_cross_the_border_of_a_capture() {
    let (sim, captured) = capturing(Relaxed);
    let (outside, inside, never) = (event(&sim), event(&sim), event(&sim));
    let other = stream(&sim);
    sim.event_record(outside, other).unwrap();
    sim.stream_wait_event(captured, never).unwrap();
    refused(sim.stream_wait_event(captured, outside), ISOLATION);
    refused(sim.end_capture(captured), INVALIDATED);

    sim.begin_capture(captured, Relaxed).unwrap();
    sim.begin_capture(other, Relaxed).unwrap();
    sim.event_record(inside, captured).unwrap();
    refused(sim.stream_wait_event(other, inside), MERGE);
    refused(sim.end_capture(captured), INVALIDATED);
    refused(sim.end_capture(other), INVALIDATED);

    sim.begin_capture(captured, Relaxed).unwrap();
    sim.event_record(inside, captured).unwrap();
    refused(sim.stream_wait_event(StreamRef::default_of(D0), inside), IMPLICIT);
    refused(sim.end_capture(captured), INVALIDATED);
}

#[test]
fn the_default_stream_rests_while_a_blocking_stream_is_captured() {
    let sim = automatic(2);
    let (blocking, default) = (stream_on(&sim, D0, false), StreamRef::default_of(D0));
    let memory = sim.memory_alloc(D0, 16).unwrap();
    sim.begin_capture(blocking, Relaxed).unwrap();
    refused(sim.stream_is_capturing(default), IMPLICIT);
    assert_eq!(sim.stream_is_capturing(StreamRef::default_of(device(1))), Ok(false));
    assert_eq!(sim.end_capture(blocking), Ok(0), "asking that did no harm");
    let uses: [&dyn Fn() -> Result<()>; 3] = [
        &|| sim.fill_async(memory, 1, 16, default),
        &|| sim.event_record(event(&sim), default),
        &|| sim.stream_synchronize(default),
    ];
    for used in uses {
        sim.begin_capture(blocking, Relaxed).unwrap();
        refused(used(), IMPLICIT);
        refused(sim.end_capture(blocking), INVALIDATED);
        used().unwrap();
    }
    let apart = stream(&sim);
    sim.begin_capture(apart, Relaxed).unwrap();
    uses.iter().for_each(|used| used().unwrap());
    assert_eq!(sim.end_capture(apart), Ok(0));
}

#[test]
fn a_capture_begins_and_ends_once_where_it_may() {
    let (sim, captured) = capturing(ThreadLocal);
    refused(sim.begin_capture(captured, Global), ILLEGAL_STATE);
    refused(sim.begin_capture(StreamRef::default_of(D0), Global), UNSUPPORTED);
    refused(elsewhere(Global, || sim.end_capture(captured), &sim), WRONG_THREAD);
    refused(sim.end_capture(captured), ILLEGAL_STATE);
    sim.begin_capture(captured, Relaxed).unwrap();
    assert_eq!(elsewhere(Global, || sim.end_capture(captured), &sim), Ok(0));

    sim.begin_capture(captured, Global).unwrap();
    sim.stream_destroy(captured).unwrap();
    sim.memory_alloc(D0, 16).unwrap();
}
