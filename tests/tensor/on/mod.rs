//! Functions of tensors while a stream is current: their work and their memory are the stream's, and what was current
//! before is current afterwards.

mod forms;
mod room;
mod streams;
mod threads;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{default_stream, pending, under};

use forms::Form;
use room::Room;

const SIM: &[(&str, &str)] =
    &[("SCONCE_BACKEND", "sim"), ("SCONCE_CHECK_DEVICE", "1"), ("SCONCE_LOG", "off")];

/// The device and the streams that are current on this thread.
fn current() -> (i32, [i64; 2]) {
    let mut device = -1;
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_device_get_current(&raw mut device) }, SCONCE_OK);
    let streams = [0, 1].map(|device| {
        let mut stream = sconce_stream { id: -1, device: -1, reserved: 0 };
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_stream_get_current(device, &raw mut stream) }, SCONCE_OK);
        stream.id
    });
    (device, streams)
}

fn manual(on: bool) {
    assert_eq!(sconce_sim_set_manual(on.into()), SCONCE_OK);
}

/// Calls a form; random numbers begin anew.
#[track_caller]
fn call(form: &Form, room: &mut Room, stream: Option<sconce_stream>) {
    assert_eq!(sconce_random_manual_seed_everywhere(7), SCONCE_OK);
    let status = match stream {
        None => (form.call)(room),
        Some(stream) => under(stream, || (form.call)(room)),
    };
    assert_eq!(status, SCONCE_OK, "{}, {stream:?}: {}", form.name, last_message());
}

/// What the function writes on a device whose default stream is current.
fn expected(form: &Form, device: i32) -> Vec<String> {
    let mut room = Room::new(device, device);
    call(form, &mut room, None);
    for device in [0, 1] {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    }
    room.results(form.sets_elements())
}

/// Fails if there is work on these streams or on a default stream.
#[track_caller]
fn assert_idle(streams: &[sconce_stream], what: &str) {
    for stream in streams.iter().chain(&[default_stream(0), default_stream(1)]) {
        assert_eq!(pending(*stream), 0, "{what}: work on {stream:?}");
    }
}
