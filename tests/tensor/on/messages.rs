//! Messages of a call with a stream are delivered when the stream is no longer current.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::in_child;
use testkit::places::{own_stream, pooled};

use super::current;
use super::forms::ALL;
use super::room::Room;
use crate::api::{options, real};
use crate::create::full;

static HEARD: AtomicUsize = AtomicUsize::new(0);

/// Uses the thread's own device and stream.
unsafe extern "C" fn listen(_level: i32, message: *const c_char, user: *mut c_void) {
    // SAFETY: a NUL-terminated text.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    if !message.contains("resized") {
        return;
    }
    // SAFETY: the test's state, which outlives the call.
    let before = unsafe { *user.cast::<(i32, [i64; 2])>() };
    assert_eq!(current(), before, "the callback sees another device or stream");
    drop(full(&[3], real(1.0), &options(SCONCE_DTYPE_F32, -1)).unwrap());
    HEARD.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_callback_sees_the_threads_own_device_and_streams() {
    let environment = [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "warn")];
    in_child("a_callback_sees_the_threads_own_device_and_streams", &environment, || {
        let mut room = Room::new(1, 1);
        own_stream(0);
        own_stream(1);
        let named = pooled(1);
        let mut before = current();
        let user = (&raw mut before).cast();
        // SAFETY: the function takes this state, and is taken back below.
        unsafe { sconce_log_set_callback(Some(listen), user) };
        let reduce = ALL.iter().find(|form| form.name == "sconce_tensor_reduce_out_on").unwrap();
        // An output that has elements, of another shape.
        room.into[0] = full(&[5], real(0.0), &options(SCONCE_DTYPE_F32, 1)).unwrap();
        assert_eq!((reduce.call)(&mut room, Some(named)), SCONCE_OK);
        // SAFETY: no function.
        unsafe { sconce_log_set_callback(None, std::ptr::null_mut()) };
        assert_eq!(HEARD.load(Ordering::Relaxed), 1);
        assert_eq!(current(), before);
    });
}
