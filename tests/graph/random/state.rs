//! The state of a generator while graphs use it, and afterwards.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::run_until_idle;
use testkit::simulated::{generator, state};

use super::order::{Drawing, Ready, flag, ordinary};
use crate::support::*;

fn seed_of(generator: *mut sconce_generator) -> u64 {
    let mut seed = 0;
    // SAFETY: a writable place.
    ok(unsafe { sconce_generator_get_initial_seed(generator, &raw mut seed) });
    seed
}

fn default_generator(device: i32) -> *mut sconce_generator {
    let mut generator = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_generator_get_default(device, &raw mut generator) });
    generator
}

/// No call waits for a launch whose draws the host knows: the device does not run at all.
#[test]
fn a_pending_launch_is_not_waited_for() {
    current_stream();
    let (captured, plain, flag) = (generator(3), generator(3), flag());
    let graph = Ready::new(Drawing::Launch, captured, flag);
    ordinary(plain, 1);
    ok(sconce_sim_set_manual(CBool::TRUE));
    graph.call(pool_stream());
    assert_eq!((state(captured), seed_of(captured)), (state(plain), 3));
    let mut clone = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_generator_clone(captured, &raw mut clone) });
    assert_eq!(state(clone), state(plain));
    for generator in [captured, plain] {
        let (mut seed, mut offset) = (0, 0);
        // SAFETY: writable places.
        ok(unsafe {
            sconce_generator_reserve_philox(generator, 8, &raw mut seed, &raw mut offset)
        });
    }
    assert_eq!(state(captured), state(plain));
    for generator in [captured, plain] {
        ok(sconce_generator_set_offset(generator, 400));
        ok(sconce_generator_set_seed(generator, 9));
        // SAFETY: 16 readable bytes.
        ok(unsafe { sconce_generator_set_state(generator, state(clone).as_ptr(), 16) });
    }
    run_until_idle();
    ok(sconce_sim_set_manual(CBool::FALSE));
    graph.call(pool_stream());
    assert_eq!(graph.drawn(), ordinary(plain, 1));
}

/// Where only the device knows what is drawn, calls that need to know it wait; the others do not.
#[test]
fn a_pending_body_is_waited_for_by_calls_that_need_it() {
    current_stream();
    let (captured, plain, flag) = (generator(3), generator(3), flag());
    let graph = Ready::new(Drawing::Body, captured, flag);
    ok(sconce_sim_set_manual(CBool::TRUE));
    graph.call(pool_stream());
    assert_eq!(seed_of(captured), 3);
    let reader = captured.expose_provenance();
    let thread = std::thread::spawn(move || {
        let captured = std::ptr::with_exposed_provenance_mut(reader);
        state(captured)
    });
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(!thread.is_finished(), "the state is known before the launch has run");
    run_until_idle();
    ordinary_behind(plain);
    assert_eq!(thread.join().unwrap(), state(plain));
    // A seed makes what the launch draws irrelevant.
    graph.call(pool_stream());
    for generator in [captured, plain] {
        ok(sconce_generator_set_seed(generator, 12));
    }
    assert_eq!(state(captured), state(plain));
    run_until_idle();
    ok(sconce_sim_set_manual(CBool::FALSE));
    assert_eq!(state(captured), state(plain));
    graph.call(pool_stream());
    assert_eq!(graph.drawn(), ordinary(plain, 3));
    assert_eq!(state(captured), state(plain));
}

/// Three ordinary fills while the device runs by itself.
fn ordinary_behind(plain: *mut sconce_generator) {
    ok(sconce_sim_set_manual(CBool::FALSE));
    ordinary(plain, 3);
    ok(sconce_sim_set_manual(CBool::TRUE));
}

/// A call that seeds, and what it is called.
type SeedingCall = (&'static str, fn() -> sconce_status);

/// Seeding all generators seeds all or none.
#[test]
fn a_seed_that_is_refused_changes_nothing() {
    let stream = current_stream();
    let mut cpu = null_mut();
    // SAFETY: a writable place.
    ok(unsafe { sconce_generator_get_default(SCONCE_DEVICE_CPU, &raw mut cpu) });
    let all = [cpu, default_generator(0), default_generator(1)];
    ok(sconce_random_manual_seed_everywhere(1));
    // Also that of a device whose generator is still to be made.
    let calls: [SeedingCall; 5] = [
        ("everywhere", || sconce_random_manual_seed_everywhere(42)),
        ("all", || sconce_random_manual_seed_all(42)),
        ("one", || sconce_random_manual_seed(42)),
        ("random", || {
            let mut seed = 0;
            // SAFETY: a writable place.
            unsafe { sconce_random_seed(&raw mut seed) }
        }),
        ("random for all", || {
            let mut seed = 0;
            // SAFETY: a writable place.
            unsafe { sconce_random_seed_all(&raw mut seed) }
        }),
    ];
    let captured = graph(false);
    ok(begin(captured, stream));
    for (name, call) in calls {
        refused(call(), SCONCE_ERROR_INVALID_STATE, "is being captured");
        assert_eq!(all.map(seed_of), [1; 3], "{name}");
    }
    ok(sconce_graph_capture_end(captured));
    ok(sconce_random_manual_seed_everywhere(42));
    assert_eq!(all.map(seed_of), [42; 3]);
    ok(sconce_graph_destroy(captured));
}

/// A thread that captures cannot read or set states of the device that it captures on; the capture survives.
#[test]
fn a_capturing_thread_is_refused_the_state() {
    let stream = current_stream();
    let own = generator(7);
    let captured = graph(false);
    ok(begin(captured, stream));
    let (mut number, mut bytes, mut clone) = (0, [0; 16], null_mut());
    let words =
        "the state of a generator cannot be read or set while the current stream is being captured";
    let asked = [
        // SAFETY: a writable place.
        unsafe { sconce_generator_get_offset(own, &raw mut number) },
        // SAFETY: 16 writable bytes.
        unsafe { sconce_generator_get_state(own, bytes.as_mut_ptr()) },
        // SAFETY: a writable place.
        unsafe { sconce_generator_clone(own, &raw mut clone) },
        // SAFETY: a writable place.
        unsafe { sconce_generator_seed(own, &raw mut number) },
        // SAFETY: 16 readable bytes.
        unsafe { sconce_generator_set_state(own, [0; 16].as_ptr(), 16) },
        sconce_generator_set_seed(own, 8),
        sconce_generator_set_offset(own, 8),
    ];
    assert_eq!(asked, [SCONCE_ERROR_INVALID_STATE; 7]);
    refused(sconce_generator_set_seed(own, 8), SCONCE_ERROR_INVALID_STATE, words);
    assert_eq!(seed_of(own), 7, "the seed is told");
    ok(sconce_graph_capture_end(captured));
    assert_eq!(state(own)[..8], 7_u64.to_le_bytes());
    ok(sconce_graph_destroy(captured));
}
