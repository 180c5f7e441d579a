//! Streams that a call cannot use: nothing is queued, written or changed.

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{own_stream, pooled};
use testkit::{in_child, last_message};

use super::forms::{ALL, Use};
use super::room::Room;
use super::{SIM, assert_idle, current, expected, manual};
use crate::storage::figures::Figures;

/// Calls every function with a stream that it must refuse.
fn refused(test: &str, stream: fn() -> sconce_stream, status: sconce_status, words: &[&str]) {
    in_child(test, SIM, || {
        let streams = [own_stream(0), own_stream(1), pooled(0), pooled(1)];
        let stream = stream();
        for form in ALL {
            // Known to the library, and to the thread on its current stream.
            expected(form, 0);
            let start = Figures::now();
            let mut room = Room::new(0, 0);
            let elements = room.own.bytes().unwrap();
            for thread in [0, 1] {
                assert_eq!(sconce_device_set_current(thread), SCONCE_OK);
                let before = current();
                // Those that wait would do so for ever if they were not refused.
                manual(form.shows != Use::Waits);
                assert_eq!((form.call)(&mut room, Some(stream)), status, "{}", form.name);
                let message = last_message();
                let missing = words.iter().find(|word| !message.contains(*word));
                assert!(missing.is_none(), "{}: {message}", form.name);
                assert_idle(&streams, form.name);
                assert_eq!(current(), before, "{}", form.name);
                manual(false);
            }
            assert!(room.is_untouched(), "{}: a result was written", form.name);
            assert_eq!(room.own.bytes().unwrap(), elements, "{}", form.name);
            drop(room);
            start.assert_unchanged();
        }
    });
}

#[test]
fn a_stream_of_another_device_is_refused() {
    let words = ["stream is of device 1", "device 0", "pass a stream of device 0"];
    refused(
        "a_stream_of_another_device_is_refused",
        || pooled(1),
        SCONCE_ERROR_CROSS_DEVICE,
        &words,
    );
}

#[test]
fn a_stream_of_no_device_is_refused() {
    let stream = || sconce_stream { id: 0, device: 7, reserved: 0 };
    refused("a_stream_of_no_device_is_refused", stream, SCONCE_ERROR_INVALID_DEVICE, &["device"]);
}

/// The library knows a stream of other code only once it has been announced, and this one is destroyed.
#[test]
fn a_destroyed_stream_that_was_not_announced_is_refused() {
    fn destroyed() -> sconce_stream {
        let mut native = std::ptr::null_mut();
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_sim_stream_create(0, 0, 0, &raw mut native) }, SCONCE_OK);
        assert_eq!(sconce_sim_stream_destroy(native), SCONCE_OK);
        sconce_stream { id: native as i64, device: 0, reserved: 0 }
    }
    let test = "a_destroyed_stream_that_was_not_announced_is_refused";
    refused(test, destroyed, SCONCE_ERROR_INVALID_HANDLE, &["_get_from_external"]);
}
