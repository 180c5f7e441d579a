//! Host functions on the CUDA backend: which call of the driver each becomes, and which function runs.

#![allow(unsafe_code, reason = "passes functions")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::error::Status;
use sconce_driver::prelude::*;
use sconce_driver::{HostFunction, StreamRef};
use testkit::fake_cuda::{FIRST, Fake, fake, open, second, stream_of};

static RAN: AtomicUsize = AtomicUsize::new(0);
static ABANDONED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn run(_: *mut c_void) {
    RAN.fetch_add(1, Ordering::SeqCst);
}

unsafe extern "C" fn abandon(_: *mut c_void) {
    ABANDONED.fetch_add(1, Ordering::SeqCst);
}

fn plain() -> HostFunction {
    // SAFETY: the function takes no memory.
    unsafe { HostFunction::new(run, std::ptr::null_mut()) }
}

fn either() -> HostFunction {
    // SAFETY: the functions take no memory.
    unsafe { HostFunction::with_alternative(run, abandon, std::ptr::null_mut()) }
}

/// How many functions and alternatives have run since the last time.
fn outcomes() -> (usize, usize) {
    (RAN.swap(0, Ordering::SeqCst), ABANDONED.swap(0, Ordering::SeqCst))
}

/// The status that callbacks receive from now on.
fn answer_callbacks(fake: &Fake, code: c_int) {
    // SAFETY: `callback_status` has this type, and nothing else uses it meanwhile.
    unsafe { *fake.symbol("callback_status").cast::<c_int>() = code };
}

#[test]
fn one_of_the_two_runs_and_the_failure_decides() {
    let fake = fake();
    for stream in [stream_of(&fake, second()), StreamRef::default_of(FIRST)] {
        fake.driver.launch_host_function(stream, plain()).unwrap();
        assert_eq!(outcomes(), (1, 0));
        for (code, expected) in [(0, (1, 0)), (700, (0, 1)), (719, (0, 1))] {
            answer_callbacks(&fake, code);
            fake.driver.launch_host_function(stream, either()).unwrap();
            assert_eq!(outcomes(), expected, "{code}");
        }
        answer_callbacks(&fake, 0);
    }
}

#[test]
fn a_captured_function_stays_for_every_launch() {
    let fake = fake();
    let stream = stream_of(&fake, second());
    // SAFETY: a function of this type, and a live stream of the fake.
    unsafe {
        let capture: extern "C" fn(usize, c_int) =
            std::mem::transmute(fake.symbol("fake_stream_capture"));
        capture(stream.handle.native(), 1);
    }
    // The fake calls it at once, as a launch of the graph would.
    for _ in 0..3 {
        fake.driver.launch_host_function(stream, plain()).unwrap();
    }
    assert_eq!(outcomes(), (3, 0));
}

#[test]
fn without_the_drivers_callbacks_only_functions_with_an_alternative_are_refused() {
    let old = open(&["MISSING=\"cuStreamAddCallback\""]).ok().unwrap();
    let stream = stream_of(&old, second());
    let error = old.driver.launch_host_function(stream, either()).unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
    assert!(error.message().contains("cuStreamAddCallback"), "{error}");
    assert_eq!(outcomes(), (0, 0));
    old.driver.launch_host_function(stream, plain()).unwrap();
    assert_eq!(outcomes(), (1, 0));
}
