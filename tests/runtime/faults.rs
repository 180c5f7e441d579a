//! Every driver call that the C API makes, made to fail once: the status and the message tell which
//! call it was and the driver's number, outputs stay untouched, and the same call works afterwards.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use std::ffi::{CString, c_void};
use testkit::simulated;
use testkit::{in_child, last_message};

/// `CUDA_ERROR_UNKNOWN`: a number that has no status of its own.
const UNKNOWN: i32 = 999;

unsafe extern "C" fn nothing(_: *mut c_void) {}

fn inject(call: &str, code: i32) {
    let call = CString::new(call).unwrap();
    // SAFETY: a NUL-terminated name.
    assert_eq!(unsafe { sconce_sim_inject_fault(call.as_ptr(), 1, code) }, SCONCE_OK);
}

/// A good place for a result, with a pattern that a failing call must leave alone.
fn place<T: Copy + PartialEq + std::fmt::Debug>(
    pattern: T,
    call: impl FnOnce(*mut T) -> sconce_status,
) -> sconce_status {
    let mut value = pattern;
    let status = call(&raw mut value);
    if status != SCONCE_OK {
        assert_eq!(value, pattern, "outputs stay untouched on failure");
    }
    status
}

fn pool_stream(device: i32) -> sconce_stream {
    let mut stream = sconce_stream { id: -1, device: -1, reserved: -1 };
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_from_pool(device, 0, &raw mut stream) }, SCONCE_OK);
    stream
}

fn event(flags: u32) -> *mut sconce_event {
    let mut event = std::ptr::null_mut();
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_event_create(flags, &raw mut event) }, SCONCE_OK);
    event
}

fn recorded(flags: u32, stream: sconce_stream) -> *mut sconce_event {
    let event = event(flags);
    assert_eq!(sconce_event_record(event, stream), SCONCE_OK);
    assert_eq!(sconce_event_synchronize(event), SCONCE_OK);
    event
}

type Action = Box<dyn FnMut() -> sconce_status>;

/// A driver call, and something a user does that makes it.
fn actions() -> Vec<(&'static str, Action)> {
    let stream = pool_stream(0);
    let other = pool_stream(0);
    let device_1 = pool_stream(1);
    let timed = (recorded(SCONCE_EVENT_TIMING, stream), recorded(SCONCE_EVENT_TIMING, stream));
    let shared = event(SCONCE_EVENT_INTERPROCESS);
    macro_rules! on {
        ($pattern:expr, $place:ident, $call:expr) => {
            Box::new(move || {
                place($pattern, |$place| {
                    // SAFETY: good places for every result.
                    unsafe { $call }
                })
            })
        };
    }
    let stream_pattern = sconce_stream { id: -7, device: -7, reserved: -7 };
    // SAFETY: plain numbers, for which all zeros is a value.
    let mut properties: sconce_device_properties = unsafe { std::mem::zeroed() };
    properties.struct_size = size_of::<sconce_device_properties>() as u32;
    vec![
        ("stream_create", on!(stream_pattern, out, sconce_stream_get_from_pool(0, -3, out))),
        ("stream_query", on!(false, out, sconce_stream_query(stream, out))),
        ("stream_synchronize", Box::new(move || sconce_stream_synchronize(stream))),
        ("stream_priority", on!(-7, out, sconce_stream_get_priority(stream, out))),
        ("stream_priority_range", {
            Box::new(move || {
                let mut least = -7;
                // SAFETY: good places.
                place(-7, |out| unsafe { sconce_stream_get_priority_range(&raw mut least, out) })
            })
        }),
        ("stream_is_capturing", on!(true, out, sconce_stream_is_capturing(stream, out))),
        ("stream_is_capturing", on!(-7, out, sconce_stream_get_capture_status(stream, out))),
        ("exchange_capture_mode", on!(-7, out, sconce_stream_exchange_capture_mode(0, out))),
        ("stream_wait_event", Box::new(move || sconce_stream_wait_event(other, timed.0))),
        ("stream_wait_event", Box::new(move || sconce_stream_wait_stream(other, stream))),
        ("event_record", Box::new(move || sconce_stream_wait_stream(other, stream))),
        (
            "launch_host_function",
            // SAFETY: a function that may be called anywhere.
            Box::new(move || unsafe {
                sconce_stream_launch_host_function(stream, Some(nothing), std::ptr::null_mut())
            }),
        ),
        ("module_load", Box::new(move || sconce_stream_sleep(device_1, 1))),
        ("kernel_find", {
            let device_0 = stream;
            Box::new(move || sconce_stream_sleep(device_0, 1))
        }),
        ("kernel_launch", Box::new(move || sconce_stream_sleep(stream, 1))),
        ("event_create", {
            let fresh = event(SCONCE_EVENT_TIMING | SCONCE_EVENT_BLOCKING_SYNC);
            Box::new(move || sconce_event_record(fresh, stream))
        }),
        ("event_record", {
            let fresh = event(SCONCE_EVENT_TIMING);
            Box::new(move || sconce_event_record(fresh, stream))
        }),
        ("event_record", Box::new(move || sconce_event_record(timed.0, stream))),
        ("event_query", on!(false, out, sconce_event_query(timed.1, out))),
        ("event_synchronize", Box::new(move || sconce_event_synchronize(timed.1))),
        ("event_elapsed_ms", {
            let (start, end) = (recorded(1, stream), recorded(1, stream));
            on!(-7.0, out, sconce_event_elapsed_ms(start, end, out))
        }),
        ("ipc_event_export", on!([7_u8; 64], out, sconce_event_get_ipc_handle(shared, out.cast()))),
        (
            "device_properties",
            on!(-7, out, {
                let mut minor = -7;
                sconce_device_get_capability(0, out, &raw mut minor)
            }),
        ),
        (
            "device_properties",
            Box::new(move || {
                // SAFETY: a struct with its size set.
                unsafe { sconce_device_get_properties(0, &raw mut properties) }
            }),
        ),
        (
            "memory_info",
            on!(7, out, {
                let mut total = 7;
                sconce_device_get_memory_info(0, out, &raw mut total)
            }),
        ),
        ("device_synchronize", Box::new(|| sconce_device_synchronize(0))),
        (
            "device_processes",
            Box::new(|| {
                let mut text = std::ptr::null_mut();
                // SAFETY: a good place; the text is freed.
                let status = unsafe { sconce_device_list_processes(0, &raw mut text) };
                assert_eq!(status == SCONCE_OK, !text.is_null());
                // SAFETY: NULL, or what the library just gave.
                unsafe { sconce_string_free(text) };
                status
            }),
        ),
        ("can_access_peer", on!(false, out, sconce_device_can_access_peer(0, 1, out))),
        ("can_access_peer", Box::new(|| sconce_device_enable_peer_access(1, 0))),
        // That the pair is possible is known from above.
        ("enable_peer_access", Box::new(|| sconce_device_enable_peer_access(0, 1))),
        ("context_is_active", on!(false, out, sconce_device_has_context(0, out))),
        (
            "bind_device",
            Box::new(|| {
                let status = sconce_device_set_current(1);
                let mut device = -7;
                // SAFETY: a good place.
                assert_eq!(unsafe { sconce_device_get_current(&raw mut device) }, SCONCE_OK);
                assert_eq!(
                    device,
                    i32::from(status == SCONCE_OK),
                    "a failed switch switches nothing"
                );
                status
            }),
        ),
    ]
}

#[test]
fn every_driver_failure_is_told_and_leaves_no_trace() {
    in_child(
        "every_driver_failure_is_told_and_leaves_no_trace",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            for (call, mut action) in actions() {
                inject(call, UNKNOWN);
                let status = action();
                assert_eq!(status, SCONCE_ERROR_DRIVER, "{call}: {}", last_message());
                assert_eq!(sconce_last_error_backend_code(), UNKNOWN, "{call}");
                let message = last_message();
                assert!(message.contains("CUDA_ERROR_UNKNOWN"), "{call}: {message}");
                assert_eq!(action(), SCONCE_OK, "{call} again: {}", last_message());
            }
        },
    );
}

#[test]
fn a_fill_that_cannot_be_queued_draws_nothing() {
    in_child(
        "a_fill_that_cannot_be_queued_draws_nothing",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            let generator = simulated::generator(7);
            let memory = simulated::Memory::new(4096);
            let fill = || {
                sconce_random_uniform(memory.as_ptr(), 1024, SCONCE_DTYPE_F32, 0.0, 1.0, generator)
            };
            let untouched = simulated::state(generator);
            for call in ["pointer_info", "module_load", "kernel_find"] {
                inject(call, UNKNOWN);
                assert_eq!(fill(), SCONCE_ERROR_DRIVER, "{call}: {}", last_message());
                assert_eq!(sconce_last_error_backend_code(), UNKNOWN, "{call}");
                assert_eq!(simulated::state(generator), untouched, "{call} moved the offset");
            }
            // What the driver refuses at the launch has been drawn, as in torch.
            inject("kernel_launch", UNKNOWN);
            assert_eq!(fill(), SCONCE_ERROR_DRIVER, "{}", last_message());
            let drawn = simulated::state(generator);
            assert_ne!(drawn, untouched);
            assert_eq!(fill(), SCONCE_OK, "{}", last_message());
            assert_ne!(simulated::state(generator), drawn);
            assert_eq!(sconce_generator_destroy(generator), SCONCE_OK);
        },
    );
}

#[test]
fn a_stream_guard_that_cannot_switch_changes_nothing() {
    in_child(
        "a_stream_guard_that_cannot_switch_changes_nothing",
        &[("SCONCE_BACKEND", "sim")],
        || {
            let target = pool_stream(1);
            inject("bind_device", 2);
            let mut previous = sconce_stream { id: -7, device: -7, reserved: -7 };
            let mut device = -7;
            // SAFETY: good places.
            let status =
                unsafe { sconce_stream_exchange(target, &raw mut previous, &raw mut device) };
            assert_eq!(status, SCONCE_ERROR_OUT_OF_MEMORY);
            assert_eq!((previous.id, device), (-7, -7));
            let mut current = previous;
            // SAFETY: a good place.
            assert_eq!(unsafe { sconce_stream_get_current(1, &raw mut current) }, SCONCE_OK);
            assert_eq!(current.id, 0, "the stream was switched although the device was not");
        },
    );
}

#[test]
fn failed_work_shows_later_and_stays_until_the_device_is_mended() {
    in_child(
        "failed_work_shows_later_and_stays_until_the_device_is_mended",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            let (stream, elsewhere) = (pool_stream(0), pool_stream(1));
            let launch = c"kernel_launch".as_ptr();
            // SAFETY: a NUL-terminated name.
            assert_eq!(unsafe { sconce_sim_inject_async_fault(launch, 1, 700) }, SCONCE_OK);
            assert_eq!(sconce_stream_sleep(stream, 1000), SCONCE_OK);
            assert_eq!(sconce_stream_synchronize(stream), SCONCE_ERROR_DRIVER);
            assert_eq!(sconce_last_error_backend_code(), 700);
            assert!(last_message().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{}", last_message());
            assert_eq!(sconce_stream_sleep(stream, 1000), SCONCE_ERROR_DRIVER);
            assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER);
            assert_eq!(sconce_stream_sleep(elsewhere, 1000), SCONCE_OK);
            assert_eq!(sconce_stream_synchronize(elsewhere), SCONCE_OK);
            assert_eq!(sconce_sim_clear_device_error(0), SCONCE_OK);
            assert_eq!(sconce_stream_sleep(stream, 1000), SCONCE_OK);
            assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
        },
    );
}
