//! Copies amid captures: what a graph can hold is captured, everything else is refused before it could
//! spoil the capture.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{
    KINDS, Kind, Place, alone, calls, captured, copy, default_stream, own_stream, pattern, set,
};

const BYTES: usize = 2000;
const LARGE: usize = 2 << 20;

#[test]
fn copies_that_wait_or_use_ordinary_memory_are_refused_and_spoil_nothing() {
    let _alone = alone();
    let [ordinary, pinned, device, _] = KINDS.map(|kind| Place::new(kind, LARGE));
    device.fill(0x31);
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    captured(|_| {
        let refused = |dst: &Place, src: &Place, bytes, non_blocking, remedy| {
            let status = copy(dst.start(), src.start(), bytes, non_blocking);
            assert_eq!(status, SCONCE_ERROR_INVALID_STATE, "{}", last_message());
            let message = last_message();
            assert!(message.contains("device 0 is being captured"), "{message}");
            assert!(message.contains(remedy), "{message}");
        };
        for bytes in [BYTES, LARGE] {
            for non_blocking in [false, true] {
                refused(&device, &ordinary, bytes, non_blocking, "pinned memory");
                refused(&ordinary, &device, bytes, non_blocking, "pinned memory");
            }
            refused(&device, &pinned, bytes, false, "non_blocking");
            refused(&pinned, &device, bytes, false, "non_blocking");
        }
    });
    assert_eq!(calls("copy_async"), 0);
    assert_eq!(device.read(), vec![0x31; LARGE]);
}

#[test]
fn what_a_graph_can_hold_is_captured_and_does_not_run() {
    let _alone = alone();
    let [_, pinned, device, _] = KINDS.map(|kind| Place::holding(kind, &pattern(3, LARGE)));
    let other = Place::holding(Kind::Device(0), &pattern(4, LARGE));
    captured(|_| {
        assert_eq!(copy(device.start(), pinned.start(), LARGE, true), SCONCE_OK);
        assert_eq!(copy(pinned.start(), other.start(), LARGE, true), SCONCE_OK);
        assert_eq!(copy(device.start(), other.start(), LARGE, false), SCONCE_OK);
        assert_eq!(set(device.start(), 0, LARGE), SCONCE_OK);
    });
    assert!(device.read() == pattern(3, LARGE) && pinned.read() == pattern(3, LARGE));
}

#[test]
fn other_streams_and_host_memory_go_on() {
    let _alone = alone();
    let [ordinary, pinned, _, there] = KINDS.map(|kind| Place::holding(kind, &pattern(5, BYTES)));
    let stream = own_stream(1);
    captured(|_| {
        ordinary.fill(7);
        assert_eq!(copy(pinned.start(), ordinary.start(), BYTES, false), SCONCE_OK);
        assert_eq!(set(ordinary.start(), 8, BYTES), SCONCE_OK);
        // Only queued: whoever waits on this thread is held back by the capture.
        assert_eq!(copy(there.start(), pinned.start(), BYTES, true), SCONCE_OK);
    });
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    assert_eq!(there.read(), vec![7; BYTES]);
    assert_eq!(ordinary.read(), vec![8; BYTES]);
    assert_eq!(sconce_stream_set_current(default_stream(1)), SCONCE_OK);
}

#[test]
fn a_copy_between_devices_is_captured_with_both_streams_or_not_at_all() {
    let _alone = alone();
    for allowed in [true, false] {
        for (device, peer) in [(0, 1), (1, 0)] {
            assert_eq!(sconce_sim_set_peer_access(device, peer, allowed.into()), SCONCE_OK);
        }
        let [here, there] =
            [0, 1].map(|index| Place::holding(Kind::Device(index), &pattern(index as u8, BYTES)));
        let second = own_stream(1);
        captured(|first| {
            assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
            for (dst, src) in [(&here, &there), (&there, &here)] {
                let status = copy(dst.start(), src.start(), BYTES, true);
                assert_eq!(status, SCONCE_ERROR_INVALID_STATE, "{}", last_message());
                let message = last_message();
                assert!(message.contains("device 0 is being captured"), "{message}");
                assert!(message.contains("device 1 is not"), "{message}");
            }
            assert_eq!(calls("event_record") + calls("stream_wait_event"), 0);
            assert_eq!(sconce_stream_wait_stream(second, first), SCONCE_OK);
            for (dst, src) in [(&here, &there), (&there, &here)] {
                let status = copy(dst.start(), src.start(), BYTES, false);
                assert_eq!(status, SCONCE_OK, "{}", last_message());
            }
            // To enable peer access the thread leaves the strict mode, and comes back to it.
            let enabled = calls("enable_peer_access");
            assert_eq!(
                (enabled, calls("exchange_capture_mode")),
                if allowed { (2, 4) } else { (0, 0) }
            );
            assert_eq!(sconce_stream_wait_stream(first, second), SCONCE_OK);
        });
        assert!(here.read() == pattern(0, BYTES) && there.read() == pattern(1, BYTES));
        // The events of the capture are used again outside it.
        assert_eq!(copy(there.start(), here.start(), BYTES, true), SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_stream_synchronize(second), SCONCE_OK);
        assert!(there.read() == pattern(0, BYTES));
        assert_eq!(sconce_stream_set_current(default_stream(1)), SCONCE_OK);
    }
}

#[test]
fn launch_blocking_does_not_wait_in_a_capture() {
    let test = "launch_blocking_does_not_wait_in_a_capture";
    testkit::in_child(test, &[("CUDA_LAUNCH_BLOCKING", "1")], || {
        let _alone = alone();
        let [_, pinned, device, _] = KINDS.map(|kind| Place::holding(kind, &pattern(3, BYTES)));
        captured(|_| {
            assert_eq!(copy(device.start(), pinned.start(), BYTES, true), SCONCE_OK);
            assert_eq!(set(device.start(), 0, BYTES), SCONCE_OK);
        });
        assert_eq!(copy(device.start(), pinned.start(), BYTES, true), SCONCE_OK);
    });
}
