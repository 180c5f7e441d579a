//! Streams and events that other code made, and handles and addresses that are used again.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use sconce_base::error::Status;
use sconce_driver::prelude::*;
use sconce_driver::{EventFlags, EventHandle, StreamFlags, StreamHandle, StreamRef};

use super::support::*;
use crate::{Call, SimOptions, Simulator};

const ROLE: &str = "SCONCE_SIM_TEST_DEAD";
const NON_BLOCKING: StreamFlags = StreamFlags { non_blocking: true };

fn reusing(reuse_addresses: bool) -> Simulator {
    simulator(2, SimOptions { manual: true, reuse_addresses, ..SimOptions::default() })
}

#[test]
fn a_freed_address_is_the_next_one_with_reuse_and_rests_without() {
    let sim = reusing(true);
    let neighbours = [(); 3].map(|()| sim.memory_alloc(D0, 8192).unwrap());
    for _ in 0..3 {
        sim.memory_free(D0, neighbours[1]).unwrap();
        assert_eq!(sim.memory_alloc(device(1), 8192).unwrap(), neighbours[1]);
        sim.memory_free(device(1), neighbours[1]).unwrap();
        assert_eq!(sim.memory_alloc(D0, 100).unwrap(), neighbours[1]);
    }
    let reserved = sim.virtual_reserve(2 << 20).unwrap();
    sim.virtual_release(reserved, 2 << 20).unwrap();
    assert_eq!(sim.virtual_reserve(2 << 20).unwrap(), reserved);
    let pinned = sim.host_alloc(D0, 10_000).unwrap();
    sim.host_free(pinned).unwrap();
    assert_eq!(sim.host_alloc(D0, 10_000).unwrap(), pinned);

    sim.set_address_reuse(false);
    sim.memory_free(D0, neighbours[0]).unwrap();
    assert_ne!(sim.memory_alloc(D0, 8192).unwrap(), neighbours[0]);
}

#[test]
fn a_destroyed_streams_handle_is_the_next_ones_with_reuse_and_nobodys_without() {
    for reuse in [true, false] {
        let sim = reusing(reuse);
        let first = sim.external_stream_create(D0, NON_BLOCKING, 0).unwrap();
        let at = StreamRef { device: D0, handle: first };
        let journal = Journal::default();
        sim.launch_host_function(at, journal.note("of the first")).unwrap();
        sim.external_stream_destroy(first).unwrap();
        let second = sim.external_stream_create(device(1), NON_BLOCKING, 0).unwrap();
        assert_eq!(first == second, reuse);
        // Another stream of the same name: nothing of the first is queued on it.
        let at = StreamRef { device: device(1), handle: second };
        assert_eq!(sim.pending(at).unwrap(), 0);
        assert!(sim.stream_query(at).unwrap());
        assert_eq!(sim.run_until_idle(), 1);
        assert_eq!(journal.read(), ["of the first"]);
        let event = sim.external_event_create(D0, EventFlags::default()).unwrap();
        sim.external_event_destroy(event).unwrap();
        let again = sim.external_event_create(D0, EventFlags::default()).unwrap();
        assert_eq!(event == again, reuse);
    }
}

#[test]
fn calls_of_other_code_are_neither_counted_nor_made_to_fail() {
    let sim = reusing(false);
    sim.reset_call_counts();
    sim.fail_call(Call::EventRecord, 1, Simulator::LAUNCH_FAILED);
    let stream = sim.external_stream_create(device(1), NON_BLOCKING, 0).unwrap();
    let event = sim.external_event_create(device(1), EventFlags::default()).unwrap();
    sim.external_event_record(event, stream).unwrap();
    assert!(!sim.external_event_query(event).unwrap());
    sim.run_until_idle();
    sim.external_event_synchronize(event).unwrap();
    sim.external_event_record(event, StreamHandle::DEFAULT).unwrap();
    assert_eq!(sim.pending(StreamRef::default_of(device(1))).unwrap(), 1);
    assert!(Call::ALL.iter().all(|call| sim.call_count(*call) == 0));
}

#[test]
fn a_handle_that_never_was_one_is_refused() {
    let sim = reusing(true);
    let never = StreamHandle::from_driver(crate::HANDLES, 0x70_0000_0000);
    assert_eq!(sim.external_stream_destroy(never).unwrap_err().status(), Status::InvalidHandle);
    let never = EventHandle::from_driver(crate::HANDLES, 0x70_0000_0000);
    assert_eq!(sim.external_event_query(never).unwrap_err().status(), Status::InvalidHandle);
}

/// What a program may do wrong with a stream and an event that have been destroyed.
type Misuse = (&'static str, fn(&Simulator, StreamRef, EventHandle));

const MISUSES: &[Misuse] = &[
    ("stream_query", |sim, stream, _| drop(sim.stream_query(stream))),
    ("stream_synchronize", |sim, stream, _| drop(sim.stream_synchronize(stream))),
    ("stream_is_capturing", |sim, stream, _| drop(sim.stream_is_capturing(stream))),
    ("stream_destroy", |sim, stream, _| drop(sim.stream_destroy(stream))),
    ("stream_wait_event", |sim, stream, event| drop(sim.stream_wait_event(stream, event))),
    ("event_record", |sim, stream, event| drop(sim.event_record(event, stream))),
    ("event_query", |sim, _, event| drop(sim.event_query(event))),
    ("event_synchronize", |sim, _, event| drop(sim.event_synchronize(event))),
    ("event_destroy", |sim, _, event| drop(sim.event_destroy(event))),
    ("launch_host_function", |sim, stream, _| {
        drop(sim.launch_host_function(stream, Journal::default().note("never")));
    }),
];

#[test]
fn a_call_that_touches_a_destroyed_stream_or_event_ends_the_process() {
    for (call, _) in MISUSES {
        let ended = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::external::misuse_in_a_child"])
            .args(["--ignored", "--nocapture", "--test-threads=1"])
            .env(ROLE, call)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{call}: {said}");
        assert!(said.contains(&format!("call {call} received the ")), "{said}");
        assert!(said.contains("0x5c00000000") && said.contains("destroyed"), "{said}");
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn misuse_in_a_child() {
    let role = std::env::var(ROLE).unwrap_or_default();
    let (_, misuse) = MISUSES.iter().find(|(call, _)| *call == role).unwrap();
    let sim = reusing(false);
    let (stream, event) = (stream(&sim), event(&sim));
    sim.stream_destroy(stream).unwrap();
    assert_eq!(sim.stream_check(stream).unwrap_err().status(), Status::InvalidHandle);
    sim.event_destroy(event).unwrap();
    misuse(&sim, stream, event);
}
