//! What a caller's race between threads may never do: harm somebody else's objects.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use std::sync::Barrier;
use testkit::in_child;

fn event() -> usize {
    let mut event = std::ptr::null_mut();
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_event_create(0, &raw mut event) }, SCONCE_OK);
    event as usize
}

#[test]
fn an_event_recorded_while_it_is_destroyed_leaves_nothing_to_the_next_in_its_place() {
    in_child(
        "an_event_recorded_while_it_is_destroyed_leaves_nothing_to_the_next_in_its_place",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
            // SAFETY: a good place.
            assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
            // Whatever is recorded stays pending to the end.
            assert_eq!(sconce_stream_sleep(stream, 3_600_000_000_000), SCONCE_OK);
            let rounds = 3000;
            let barrier = Barrier::new(2);
            let shared = std::sync::atomic::AtomicUsize::new(0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        barrier.wait();
                        let racing = shared.load(std::sync::atomic::Ordering::Relaxed);
                        let status = sconce_event_record(racing as *mut _, stream);
                        assert!(matches!(status, SCONCE_OK | SCONCE_ERROR_INVALID_HANDLE));
                        barrier.wait();
                    }
                });
                for round in 0..rounds {
                    let racing = event();
                    shared.store(racing, std::sync::atomic::Ordering::Relaxed);
                    barrier.wait();
                    for _ in 0..round % 300 {
                        std::hint::spin_loop();
                    }
                    assert_eq!(sconce_event_destroy(racing as *mut _), SCONCE_OK);
                    barrier.wait();
                    let next = event();
                    let mut complete = false;
                    // SAFETY: a good place.
                    let status = unsafe { sconce_event_query(next as *mut _, &raw mut complete) };
                    if (status, complete) != (SCONCE_OK, true) {
                        // The other thread waits at the barrier; a panic would wait for it.
                        eprintln!(
                            "round {round}: a fresh event is {status:?}, complete {complete}"
                        );
                        std::process::exit(1);
                    }
                    assert_eq!(sconce_event_destroy(next as *mut _), SCONCE_OK);
                }
            });
        },
    );
}

/// Two threads record and query an event while a third destroys it; `flags` make it one kind of event.
/// The driver must never see a handle that has been destroyed.
fn used_while_destroyed(flags: u32) {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
    let (shared, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let allowed = |status| matches!(status, SCONCE_OK | SCONCE_ERROR_INVALID_HANDLE);
    std::thread::scope(|scope| {
        let users = [0, 1].map(|_| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let event = shared.load(Ordering::Relaxed) as *mut sconce_event;
                    if event.is_null() {
                        continue;
                    }
                    let recorded = sconce_event_record(event, stream);
                    let mut complete = false;
                    // SAFETY: a good place.
                    let queried = unsafe { sconce_event_query(event, &raw mut complete) };
                    if !allowed(recorded) || !allowed(queried) {
                        return Some((recorded, queried, testkit::last_message()));
                    }
                }
                None
            })
        });
        for round in 0..4000 {
            let mut event = std::ptr::null_mut();
            // SAFETY: a good place.
            assert_eq!(unsafe { sconce_event_create(flags, &raw mut event) }, SCONCE_OK);
            assert_eq!(sconce_event_record(event, stream), SCONCE_OK);
            shared.store(event as usize, Ordering::Relaxed);
            for _ in 0..round % 300 {
                std::hint::spin_loop();
            }
            assert_eq!(sconce_event_destroy(event), SCONCE_OK);
        }
        stop.store(true, Ordering::Relaxed);
        let failures: Vec<_> = users.into_iter().filter_map(|user| user.join().unwrap()).collect();
        assert!(failures.is_empty(), "{failures:?}");
    });
}

#[test]
fn an_interprocess_event_used_while_it_is_destroyed_is_alive_for_the_driver() {
    let name = "an_interprocess_event_used_while_it_is_destroyed_is_alive_for_the_driver";
    in_child(name, &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")], || {
        used_while_destroyed(SCONCE_EVENT_INTERPROCESS);
    });
}
