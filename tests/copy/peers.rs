//! Copies between two devices, and who may use whose memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{
    Kind, Place, alone, calls, copy, default_stream, inject, own_stream, pattern, pending, set,
    step_all,
};

const BYTES: usize = 5000;

fn allow(device: i32, peer: i32, allowed: bool) {
    assert_eq!(sconce_sim_set_peer_access(device, peer, allowed.into()), SCONCE_OK);
}

fn can_access(device: i32, peer: i32) -> bool {
    let mut possible = false;
    // SAFETY: a good place.
    let status = unsafe { sconce_device_can_access_peer(device, peer, &raw mut possible) };
    assert_eq!(status, SCONCE_OK);
    possible
}

fn uniform(place: &Place, n: usize) -> sconce_status {
    sconce_random_uniform(place.start(), n, SCONCE_DTYPE_F32, 1.0, 2.0, null_mut())
}

fn on_devices() -> [Place; 2] {
    [0, 1].map(|index| Place::holding(Kind::Device(index), &pattern(index as u8, BYTES)))
}

/// Copies from device 0 to device 1 between other work of both, steps `first` as far as it goes
/// before the other, and sees that each piece of work saw the right bytes.
fn in_order_when_stepping_first(first: usize) {
    let streams = [0, 1].map(own_stream);
    let [source, target] = on_devices();
    let (before, after) = (Place::new(Kind::Pinned, BYTES), Place::new(Kind::Pinned, BYTES));
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    assert_eq!(set(source.start(), 0xA1, BYTES), SCONCE_OK);
    assert_eq!(copy(before.start(), target.start(), BYTES, true), SCONCE_OK);
    assert_eq!(copy(target.start(), source.start(), BYTES, true), SCONCE_OK, "{}", last_message());
    assert_eq!(copy(after.start(), target.start(), BYTES, true), SCONCE_OK);
    assert_eq!(set(source.start(), 0xB2, BYTES), SCONCE_OK);
    let mut steps = 0;
    loop {
        let stepped = step_all(streams[first]) + step_all(streams[1 - first]);
        steps += stepped;
        if stepped == 0 {
            break;
        }
    }
    assert_eq!(streams.map(pending), [0, 0], "after {steps} steps");
    assert!(before.read() == pattern(1, BYTES), "the copy overwrote what earlier work reads");
    assert_eq!(after.read(), vec![0xA1; BYTES], "later work did not wait, or the copy came late");
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    [0, 1].iter().for_each(|device| assert_eq!(sconce_device_synchronize(*device), SCONCE_OK));
    assert_eq!(target.read(), vec![0xA1; BYTES]);
    assert_eq!(source.read(), vec![0xB2; BYTES]);
    for device in [0, 1] {
        assert_eq!(sconce_stream_set_current(default_stream(device)), SCONCE_OK);
    }
}

#[test]
fn a_copy_between_devices_comes_after_and_before_the_work_of_both() {
    let _alone = alone();
    for allowed in [true, false] {
        allow(0, 1, allowed);
        for first in [0, 1] {
            in_order_when_stepping_first(first);
        }
    }
}

#[test]
fn the_source_waits_for_the_destinations_stream() {
    let _alone = alone();
    let streams = [0, 1].map(own_stream);
    let [source, target] = on_devices();
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    assert_eq!(set(source.start(), 1, BYTES), SCONCE_OK);
    assert_eq!(sconce_stream_sleep(streams[1], 1000), SCONCE_OK);
    assert_eq!(copy(target.start(), source.start(), BYTES, true), SCONCE_OK);
    assert_eq!(sconce_stream_sleep(streams[1], 1000), SCONCE_OK);
    // Set, wait, copy, record; sleep, record, wait, sleep.
    assert_eq!(streams.map(pending), [4, 4]);
    assert_eq!(step_all(streams[0]), 1, "the set, and no further");
    assert_eq!(step_all(streams[1]), 2, "to the record, and no further");
    assert_eq!(step_all(streams[0]), 3);
    assert_eq!(step_all(streams[1]), 2);
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    for device in [0, 1] {
        assert_eq!(sconce_stream_set_current(default_stream(device)), SCONCE_OK);
    }
}

#[test]
fn peer_access_is_asked_for_and_enabled_once_in_the_direction_of_the_copy() {
    let _alone = alone();
    let [a, b] = on_devices();
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    for _ in 0..3 {
        assert_eq!(copy(b.start(), a.start(), BYTES, true), SCONCE_OK);
    }
    let names = ["can_access_peer", "enable_peer_access", "copy_async", "copy_peer_async"];
    assert_eq!(names.map(calls), [1, 1, 3, 0]);
    assert_eq!(copy(a.start(), b.start(), BYTES, true), SCONCE_OK);
    assert_eq!(names.map(calls), [2, 2, 4, 0]);
    assert!(can_access(0, 1) && can_access(1, 0));
    assert_eq!(sconce_device_enable_peer_access(0, 1), SCONCE_OK);
    assert_eq!(names.map(calls), [2, 2, 4, 0], "what is known is not asked again");
}

#[test]
fn without_peer_access_the_driver_stages() {
    let _alone = alone();
    let [a, b] = on_devices();
    allow(0, 1, false);
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    for _ in 0..2 {
        assert_eq!(copy(b.start(), a.start(), BYTES, false), SCONCE_OK);
    }
    let names = ["can_access_peer", "enable_peer_access", "copy_async", "copy_peer_async"];
    assert_eq!(names.map(calls), [1, 0, 0, 2]);
    assert!(!can_access(0, 1));
    assert_eq!(sconce_device_enable_peer_access(0, 1), SCONCE_ERROR_NOT_SUPPORTED);
    assert!(last_message().contains("device 0") && last_message().contains("device 1"));
    assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
    assert!(b.read() == pattern(0, BYTES));
    // The way back is another matter, and what the hardware can is asked again when it changes.
    assert_eq!(copy(a.start(), b.start(), BYTES, false), SCONCE_OK);
    assert_eq!(calls("copy_async"), 1 + 1, "one of them reads for this test");
    allow(0, 1, true);
    assert!(can_access(0, 1));
    assert_eq!(copy(b.start(), a.start(), BYTES, false), SCONCE_OK);
    assert_eq!((calls("copy_async"), calls("copy_peer_async")), (3, 2));
}

#[test]
fn a_device_without_room_for_another_peer_still_copies() {
    let _alone = alone();
    let [a, b] = on_devices();
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    inject("enable_peer_access", 1, 711);
    assert_eq!(copy(b.start(), a.start(), BYTES, false), SCONCE_OK, "{}", last_message());
    assert_eq!((calls("copy_async"), calls("copy_peer_async")), (0, 1));
    assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
    assert!(b.read() == pattern(0, BYTES));
    inject("enable_peer_access", 1, 711);
    assert_eq!(sconce_device_enable_peer_access(0, 1), SCONCE_ERROR_DRIVER);
    assert_eq!(sconce_last_error_backend_code(), 711);
}

#[test]
fn work_reaches_another_devices_memory_once_peer_access_is_enabled() {
    let _alone = alone();
    let there = Place::holding(Kind::Device(1), &[0; BYTES]);
    let refused = |status| {
        assert_eq!(status, SCONCE_ERROR_CROSS_DEVICE);
        let message = last_message();
        assert!(message.contains("memory of device 1"), "{message}");
        assert!(message.contains("current device is 0"), "{message}");
        assert!(message.contains("sconce_device_enable_peer_access(0, 1)"), "{message}");
    };
    refused(set(there.start(), 3, BYTES));
    refused(uniform(&there, BYTES / 4));
    assert_eq!(there.read(), vec![0; BYTES]);
    // The other direction does not help.
    assert_eq!(sconce_device_enable_peer_access(1, 0), SCONCE_OK);
    refused(set(there.start(), 3, BYTES));
    assert_eq!(sconce_device_enable_peer_access(0, 1), SCONCE_OK);

    assert_eq!(set(there.start(), 3, BYTES), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(there.read(), vec![3; BYTES]);
    assert_eq!(uniform(&there, BYTES / 4), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    for number in there.read().chunks_exact(4) {
        let number = f32::from_le_bytes(number.try_into().unwrap());
        assert!((1.0..2.0).contains(&number), "{number}");
    }
    // Where there is no access to be had, none is proposed.
    allow(0, 1, false);
    assert_eq!(set(there.start(), 3, BYTES), SCONCE_ERROR_CROSS_DEVICE);
    let message = last_message();
    assert!(message.ends_with("nor can have any; make device 1 current"), "{message}");
}

#[test]
fn a_copy_from_a_device_lets_its_work_reach_the_other() {
    let _alone = alone();
    let [a, b] = on_devices();
    assert_eq!(copy(b.start(), a.start(), BYTES, false), SCONCE_OK);
    assert_eq!(set(b.start(), 9, BYTES), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(b.read(), vec![9; BYTES]);
}

#[test]
fn a_set_of_another_devices_memory_is_the_current_devices_work() {
    let _alone = alone();
    let there = Place::new(Kind::Device(1), BYTES);
    assert_eq!(sconce_device_enable_peer_access(0, 1), SCONCE_OK);
    let stream = own_stream(0);
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    assert_eq!(set(there.start(), 9, BYTES), SCONCE_OK);
    assert_eq!((pending(stream), pending(default_stream(1))), (1, 0));
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}
