//! Host functions that call the library on simulated devices: they get a status, and nothing hangs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

use sconce::ffi::sconce_status::*;
use sconce::ffi::*;
use testkit::last_message;
use testkit::places::{Kind, Place, pooled};
use testkit::simulated;

/// What the calls of the function returned, each with the driver's number and the words.
static SEEN: Mutex<Vec<(sconce_status, i32, String)>> = Mutex::new(Vec::new());

unsafe extern "C" fn calls(user: *mut c_void) {
    // SAFETY: the test passes its stream, which outlives the function.
    let stream = unsafe { *user.cast::<sconce_stream>() };
    let mut idle = false;
    let mut memory = null_mut();
    let note = |status| {
        let seen = (status, sconce_last_error_backend_code(), last_message());
        SEEN.lock().unwrap().push(seen);
    };
    note(sconce_stream_synchronize(stream));
    note(sconce_device_synchronize(0));
    // SAFETY: a writable place.
    note(unsafe { sconce_stream_query(stream, &mut idle) });
    note(sconce_stream_sleep(stream, 1));
    // SAFETY: a writable place.
    note(unsafe { sconce_sim_memory_alloc(0, 4096, &mut memory) });
    // SAFETY: a function that takes no memory.
    note(unsafe { sconce_stream_launch_host_function(stream, Some(nothing), null_mut()) });
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

#[test]
fn a_host_function_that_calls_the_library_gets_a_status_and_does_not_hang() {
    simulated::runtime();
    let place = Place::new(Kind::Device(0), 64);
    let mut stream = pooled(0);
    let user: *mut c_void = std::ptr::from_mut(&mut stream).cast();
    // SAFETY: the stream outlives the function.
    let queued = unsafe { sconce_stream_launch_host_function(stream, Some(calls), user) };
    assert_eq!(queued, SCONCE_OK);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len(), 6);
    for (at, (status, code, words)) in seen.iter().enumerate() {
        assert_eq!((*status, *code), (SCONCE_ERROR_DRIVER, 800), "{at}: {words}");
        assert!(words.contains("a host function called the library"), "{at}: {words}");
    }
    // The device has not failed, and the thread of the function may be the one that runs this.
    place.fill(3);
    assert_eq!(place.read(), vec![3; 64]);
    assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
    // SAFETY: a function that takes no memory.
    let queued = unsafe { sconce_stream_launch_host_function(stream, Some(nothing), null_mut()) };
    assert_eq!(queued, SCONCE_OK);
    let mut stepped = false;
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_sim_step(stream, &mut stepped) }, SCONCE_OK);
    assert!(stepped);
    assert_eq!(sconce_stream_sleep(stream, 1), SCONCE_OK, "the scope ends with the function");
    assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
}
