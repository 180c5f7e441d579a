//! Every driver call that copies and sets make, made to fail at every turn: a status that tells, no
//! event lost, and the next copy works.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{KINDS, Kind, Place, alone, calls, copy, inject, own_stream, pattern, set};
use testkit::{in_child, last_message};

/// `CUDA_ERROR_UNKNOWN`.
const UNKNOWN: i32 = 999;
const BYTES: usize = 3000;
const LARGE: usize = 3 << 20;

const CALLS: [&str; 10] = [
    "pointer_info",
    "can_access_peer",
    "enable_peer_access",
    "event_create",
    "event_record",
    "stream_wait_event",
    "copy_async",
    "copy_peer_async",
    "stream_is_capturing",
    "stream_synchronize",
];

fn synchronize() {
    for device in [0, 1] {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    }
}

/// Fails each driver call of `copy_once` at each of its turns; says which calls could be failed.
fn fail_everywhere(copy_once: impl Fn() -> sconce_status, check: impl Fn()) -> Vec<&'static str> {
    let mut struck = Vec::new();
    for call in CALLS {
        for nth in 1.. {
            assert!(nth < 200, "{call} is called for ever");
            // What is possible between the devices is asked anew.
            for (device, peer) in [(0, 1), (1, 0)] {
                let allowed = call != "copy_peer_async";
                assert_eq!(sconce_sim_set_peer_access(device, peer, allowed.into()), SCONCE_OK);
            }
            inject(call, nth, UNKNOWN);
            let status = copy_once();
            if status == SCONCE_OK {
                assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
                break;
            }
            assert_eq!(status, SCONCE_ERROR_DRIVER, "{call} {nth}: {}", last_message());
            assert_eq!(sconce_last_error_backend_code(), UNKNOWN, "{call} {nth}");
            assert_eq!(copy_once(), SCONCE_OK, "{call} {nth}, again: {}", last_message());
            check();
            struck.push(call);
        }
    }
    struck.dedup();
    struck
}

#[test]
fn every_failure_is_told_and_the_next_copy_works() {
    let _alone = alone();
    let streams = [0, 1].map(own_stream);
    for from in KINDS {
        let src = Place::holding(from, &pattern(9, LARGE));
        for to in KINDS {
            let dst = Place::new(to, LARGE);
            for (bytes, non_blocking) in [(BYTES, false), (BYTES, true), (LARGE, false)] {
                let copy_once = || copy(dst.start(), src.start(), bytes, non_blocking);
                assert_eq!(copy_once(), SCONCE_OK);
                let created = (calls("event_create"), calls("event_destroy"));
                let struck = fail_everywhere(copy_once, || {
                    synchronize();
                    assert!(dst.read()[..bytes] == src.read()[..bytes]);
                });
                let what = format!("{bytes} bytes from {from:?} to {to:?}, {non_blocking}");
                assert!(struck.contains(&"pointer_info"), "{what}: {struck:?}");
                let device = |kind| matches!(kind, Kind::Device(_));
                let queued = device(from) || device(to);
                let expected = match (from, to) {
                    (Kind::Device(a), Kind::Device(b)) if a != b => [
                        "can_access_peer",
                        "enable_peer_access",
                        "event_record",
                        "stream_wait_event",
                        "copy_async",
                        "copy_peer_async",
                    ]
                    .to_vec(),
                    _ if queued => ["copy_async"].to_vec(),
                    _ => Vec::new(),
                };
                for call in expected {
                    assert!(struck.contains(&call), "{what}: {call} in {struck:?}");
                }
                // How many events staging needs at a time depends on when its transfers are done.
                if from != Kind::Ordinary && to != Kind::Ordinary {
                    let now = (calls("event_create"), calls("event_destroy"));
                    assert_eq!(now, created, "{what}: events were lost");
                }
            }
        }
    }
    for stream in streams {
        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    }
}

#[test]
fn a_set_that_fails_is_told_and_the_next_works() {
    let _alone = alone();
    for kind in KINDS {
        let index = if let Kind::Device(index) = kind { index } else { 0 };
        assert_eq!(sconce_device_set_current(index), SCONCE_OK);
        let place = Place::holding(kind, &pattern(1, BYTES));
        for call in ["pointer_info", "fill_async"] {
            if call == "fill_async" && !matches!(kind, Kind::Device(_)) {
                continue;
            }
            inject(call, 1, UNKNOWN);
            assert_eq!(set(place.start(), 5, BYTES), SCONCE_ERROR_DRIVER, "{kind:?} {call}");
            assert!(place.read() == pattern(1, BYTES));
        }
        assert_eq!(set(place.start(), 5, BYTES), SCONCE_OK);
        synchronize();
        assert_eq!(place.read(), vec![5; BYTES]);
    }
    assert_eq!(sconce_device_set_current(0), SCONCE_OK);
}

#[test]
fn the_first_copy_between_devices_survives_events_that_cannot_be_made() {
    let test = "the_first_copy_between_devices_survives_events_that_cannot_be_made";
    in_child(test, &[("SCONCE_LOG", "off")], || {
        let _alone = alone();
        let [a, b] =
            [0, 1].map(|index| Place::holding(Kind::Device(index), &pattern(index as u8, BYTES)));
        for nth in [1, 2] {
            inject("event_create", nth, 2);
            let status = copy(b.start(), a.start(), BYTES, true);
            assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY);
            for call in ["event_record", "stream_wait_event", "enable_peer_access"] {
                assert_eq!(calls(call), 0, "{call}");
            }
            assert!(b.read() == pattern(1, BYTES));
        }
        assert_eq!(copy(b.start(), a.start(), BYTES, true), SCONCE_OK);
        synchronize();
        assert!(b.read() == pattern(0, BYTES));
        // One of each device, and the two that failed.
        assert_eq!((calls("event_create"), calls("event_destroy")), (4, 0));
    });
}

#[test]
fn when_the_destination_cannot_be_made_to_wait_the_call_does() {
    let _alone = alone();
    let streams = [0, 1].map(own_stream);
    let [a, b] =
        [0, 1].map(|index| Place::holding(Kind::Device(index), &pattern(index as u8, BYTES)));
    for (call, nth) in [("event_record", 2), ("stream_wait_event", 2)] {
        b.fill(0);
        assert_eq!(sconce_sim_set_latency_ns(30_000_000), SCONCE_OK);
        inject(call, nth, UNKNOWN);
        assert_eq!(copy(b.start(), a.start(), BYTES, true), SCONCE_ERROR_DRIVER);
        let mut done = false;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_stream_query(streams[0], &raw mut done) }, SCONCE_OK);
        assert!(done, "{call}: the copy is under way, and no one is ordered after it");
        assert_eq!(sconce_sim_set_latency_ns(0), SCONCE_OK);
        assert!(b.read() == pattern(0, BYTES));
    }
}

#[test]
fn failed_work_of_a_device_shows_in_blocking_copies() {
    let _alone = alone();
    let device = Place::new(Kind::Device(0), LARGE);
    for kind in [Kind::Ordinary, Kind::Pinned] {
        let host = Place::new(kind, LARGE);
        for bytes in [BYTES, LARGE] {
            for (dst, src) in [(&device, &host), (&host, &device)] {
                let call = c"copy_async".as_ptr();
                // SAFETY: a NUL-terminated name.
                assert_eq!(unsafe { sconce_sim_inject_async_fault(call, 1, 700) }, SCONCE_OK);
                let status = copy(dst.start(), src.start(), bytes, false);
                assert_eq!(status, SCONCE_ERROR_DRIVER, "{kind:?} {bytes}");
                assert_eq!(sconce_last_error_backend_code(), 700);
                assert_eq!(sconce_sim_clear_device_error(0), SCONCE_OK);
                assert_eq!(copy(dst.start(), src.start(), bytes, false), SCONCE_OK);
            }
        }
    }
}
