//! The callback for messages is called with no lock held and may call the library, wherever the message
//! arises. Debug builds also check that the thread holds no lock then.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::in_child;

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");

static MESSAGES: AtomicUsize = AtomicUsize::new(0);

/// The stream that the callback uses, and the test if it wants.
static USED: OnceLock<sconce_stream> = OnceLock::new();

fn stream() -> sconce_stream {
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
    stream
}

fn alloc(bytes: usize, stream: sconce_stream) -> *mut c_void {
    let mut block = std::ptr::null_mut();
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_memory_alloc_on(bytes, stream, &raw mut block) }, SCONCE_OK);
    block
}

/// Uses what most calls lock: start-up, the caches, events, generators, settings.
unsafe extern "C" fn use_the_library(level: i32, message: *const c_char, wanted: *mut c_void) {
    // SAFETY: a NUL-terminated text.
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    // SAFETY: each test passes a text that lives for ever.
    let wanted = unsafe { &*wanted.cast::<&str>() };
    assert!((1..=4).contains(&level));
    if !message.contains(wanted) {
        return;
    }
    MESSAGES.fetch_add(1, Ordering::Relaxed);
    assert!(sconce_device_count() > 0);
    // The stream whose cache is locked where messages of the cache arise.
    let stream = *USED.get_or_init(stream);
    let block = alloc(4096, stream);
    assert_eq!(sconce_memory_record_stream(block, stream), SCONCE_OK);
    assert_eq!(sconce_memory_free(block), SCONCE_OK);
    let mut event = std::ptr::null_mut();
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_event_create(0, &raw mut event) }, SCONCE_OK);
    assert_eq!(sconce_event_record(event, stream), SCONCE_OK);
    assert_eq!(sconce_event_destroy(event), SCONCE_OK);
    // SAFETY: the function and its pointer live for ever.
    unsafe {
        sconce_log_set_callback(Some(use_the_library), std::ptr::from_ref(wanted) as *mut c_void)
    };
}

fn listen(wanted: &'static &'static str) {
    // SAFETY: the function and its pointer live for ever.
    unsafe {
        sconce_log_set_callback(Some(use_the_library), std::ptr::from_ref(wanted) as *mut c_void)
    };
}

fn heard() -> usize {
    MESSAGES.load(Ordering::Relaxed)
}

#[test]
fn a_message_of_start_up() {
    in_child("a_message_of_start_up", &[SIM, ("SCONCE_LOG", "info")], || {
        listen(&"simulated devices");
        assert_eq!(sconce_init(), SCONCE_OK);
        assert_eq!(heard(), 1);
    });
}

#[test]
fn a_message_about_the_environment() {
    in_child("a_message_about_the_environment", &[SIM, ("SCONCE_SIM_DEVICES", "abc")], || {
        listen(&"SCONCE_SIM_DEVICES=abc");
        // The first question, which returns no status.
        assert!(sconce_is_available());
        assert_eq!(heard(), 1);
    });
}

#[test]
fn a_message_about_a_variable_that_is_unknown() {
    let misspelled = ("SCONCE_SIM_DEVICE", "3");
    in_child("a_message_about_a_variable_that_is_unknown", &[SIM, misspelled], || {
        listen(
            &"SCONCE_SIM_DEVICE is not a variable of Sconce and has no effect; did you mean SCONCE_SIM_DEVICES?",
        );
        assert_eq!(sconce_init(), SCONCE_OK);
        assert!(sconce_is_available());
        assert_eq!(heard(), 1);
    });
}

#[test]
fn a_message_about_a_level_that_does_not_exist() {
    in_child(
        "a_message_about_a_level_that_does_not_exist",
        &[SIM, ("SCONCE_LOG", "verbose")],
        || {
            listen(&"SCONCE_LOG=verbose is not off, error, warn, info or debug");
            assert_eq!(sconce_init(), SCONCE_OK);
            assert_eq!(heard(), 1);
        },
    );
}

#[test]
fn a_message_about_an_event_that_is_not_destroyed() {
    in_child("a_message_about_an_event_that_is_not_destroyed", &[SIM], || {
        assert_eq!(sconce_init(), SCONCE_OK);
        listen(&"an event could not be destroyed");
        let (own, other) = (*USED.get_or_init(stream), stream());
        // More events than are kept come free at once, under the lock of a stream's cache.
        let blocks: Vec<_> = (0..700).map(|_| alloc(4096, own)).collect();
        assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
        assert_eq!(sconce_stream_sleep(other, 1000), SCONCE_OK);
        for block in blocks {
            assert_eq!(sconce_memory_record_stream(block, other), SCONCE_OK);
            assert_eq!(sconce_memory_free(block), SCONCE_OK);
        }
        // SAFETY: a NUL-terminated name.
        let status = unsafe { sconce_sim_inject_fault(c"event_destroy".as_ptr(), 1, 999) };
        assert_eq!(status, SCONCE_OK);
        let mut done = 0;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_sim_run_until_idle(&raw mut done) }, SCONCE_OK);
        assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
        alloc(100, own);
        assert_eq!(heard(), 1);
    });
}

#[test]
fn a_message_about_the_capture_mode() {
    in_child("a_message_about_the_capture_mode", &[SIM], || {
        assert_eq!(sconce_init(), SCONCE_OK);
        listen(&"stays in the relaxed capture mode");
        let (own, other) = (*USED.get_or_init(stream), stream());
        let block = alloc(4096, own);
        assert_eq!(sconce_memory_record_stream(block, other), SCONCE_OK);
        // SAFETY: a NUL-terminated name.
        let status = unsafe { sconce_sim_inject_fault(c"exchange_capture_mode".as_ptr(), 2, 999) };
        assert_eq!(status, SCONCE_OK);
        assert_eq!(sconce_memory_free(block), SCONCE_OK);
        assert_eq!(heard(), 1);
    });
}

#[test]
fn what_a_callback_causes_comes_after_it_and_not_inside_it() {
    static DEPTH: AtomicUsize = AtomicUsize::new(0);
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn fail_again(_: i32, _: *const c_char, _: *mut c_void) {
        assert_eq!(DEPTH.fetch_add(1, Ordering::Relaxed), 0);
        if CALLS.fetch_add(1, Ordering::Relaxed) < 5 {
            // Refused, and logged because it returns no status.
            sconce_ort_free(std::ptr::without_provenance_mut(0x1000));
        }
        DEPTH.fetch_sub(1, Ordering::Relaxed);
    }
    in_child("what_a_callback_causes_comes_after_it_and_not_inside_it", &[SIM], || {
        // SAFETY: the function needs no pointer.
        unsafe { sconce_log_set_callback(Some(fail_again), std::ptr::null_mut()) };
        sconce_ort_free(std::ptr::without_provenance_mut(0x1000));
        assert_eq!(sconce_init(), SCONCE_OK);
        assert_eq!(CALLS.load(Ordering::Relaxed), 6);
    });
}
