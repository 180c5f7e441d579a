//! Calls from a destructor of a pthread key, which runs after the thread's own objects are gone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "makes a pthread key and calls the C API")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::{in_child, last_message};

static KEY: AtomicUsize = AtomicUsize::new(0);
static ROUNDS: AtomicUsize = AtomicUsize::new(0);
static OUTCOME: AtomicPtr<Vec<String>> = AtomicPtr::new(std::ptr::null_mut());

/// Waits for the third round of destructors: after everybody else's.
unsafe extern "C" fn at_the_end(value: *mut c_void) {
    if ROUNDS.fetch_add(1, Ordering::Relaxed) < 2 {
        // SAFETY: a live key.
        let code = unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed) as u32, value) };
        assert_eq!(code, 0);
        return;
    }
    OUTCOME.store(Box::into_raw(Box::new(use_the_library())), Ordering::Release);
}

/// What goes wrong.
fn use_the_library() -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expect = |what: &str, status: sconce_status, expected: sconce_status| {
        if status != expected {
            wrong.push(format!("{what}: {status:?} ({})", last_message()));
        }
    };
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    let mut event = std::ptr::null_mut();
    let (mut block, mut pinned) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: a good place.
    let status = unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) };
    expect("pool", status, SCONCE_OK);
    // SAFETY: a good place.
    let status = unsafe { sconce_event_create(0, &raw mut event) };
    expect("create", status, SCONCE_OK);
    expect("first record", sconce_event_record(event, stream), SCONCE_OK);
    expect("record", sconce_event_record(event, stream), SCONCE_OK);
    let mut complete = false;
    // SAFETY: a good place.
    let status = unsafe { sconce_event_query(event, &raw mut complete) };
    expect("query", status, SCONCE_OK);
    expect("event", sconce_event_synchronize(event), SCONCE_OK);
    expect("stream", sconce_stream_synchronize(stream), SCONCE_OK);
    expect("device", sconce_device_synchronize(0), SCONCE_OK);
    expect("destroy", sconce_event_destroy(event), SCONCE_OK);
    let bytes = 8 << 20;
    // SAFETY: a good place.
    let status = unsafe { sconce_memory_alloc(bytes, &raw mut block) };
    expect("alloc", status, SCONCE_OK);
    // SAFETY: a good place.
    let status = unsafe { sconce_host_memory_alloc(bytes, &raw mut pinned) };
    expect("pinned", status, SCONCE_OK);
    let pageable = vec![7_u8; bytes];
    // SAFETY: two blocks of this size, which are freed in the order of the streams.
    let status = unsafe { sconce_copy(block, pinned, bytes, CBool::TRUE) };
    expect("copy", status, SCONCE_OK);
    // Large and pageable: threads of the library help with it.
    // SAFETY: two blocks of this size.
    let status = unsafe { sconce_copy(block, pageable.as_ptr().cast(), bytes, CBool::FALSE) };
    expect("staged", status, SCONCE_OK);
    expect("free", sconce_memory_free(block), SCONCE_OK);
    expect("free pinned", sconce_host_memory_free(pinned), SCONCE_OK);
    expect("dead", sconce_event_destroy(event), SCONCE_ERROR_INVALID_HANDLE);
    if !last_message().contains("event is not a live event") {
        wrong.push(format!("the last message is \"{}\"", last_message()));
    }
    let status = sconce_blas_clear_workspaces();
    if status != SCONCE_OK {
        wrong.push(format!("workspaces: {status:?}"));
    }
    wrong
}

#[test]
fn the_library_works_in_a_destructor_of_a_key() {
    in_child("the_library_works_in_a_destructor_of_a_key", &[("SCONCE_BACKEND", "sim")], || {
        assert_eq!(sconce_init(), SCONCE_OK);
        let mut key = 0;
        // SAFETY: a good place and a function of this type.
        assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(at_the_end)) }, 0);
        KEY.store(key as usize, Ordering::Relaxed);
        let thread = std::thread::spawn(move || {
            // Makes what the thread keeps: a failure, a handle, the word of an event.
            assert_eq!(
                sconce_event_destroy(std::ptr::without_provenance_mut(1)),
                SCONCE_ERROR_INVALID_HANDLE
            );
            assert!(use_the_library().is_empty());
            // SAFETY: a live key.
            let code = unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(1)) };
            assert_eq!(code, 0);
        });
        thread.join().unwrap();
        let outcome = OUTCOME.load(Ordering::Acquire);
        assert!(!outcome.is_null(), "the destructor did not end");
        // SAFETY: made by the destructor, which has ended.
        let outcome = unsafe { Box::from_raw(outcome) };
        assert!(outcome.is_empty(), "{outcome:?}");
    });
}
