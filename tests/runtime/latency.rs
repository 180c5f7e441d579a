//! How long an operation of the simulator takes: by default, as the environment sets it, as a call sets it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;

use sconce::sconce_status::*;
use sconce::*;
use testkit::in_child;

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");
const LATENCY: &str = "SCONCE_SIM_LATENCY_NS";

/// The current stream, and memory and two timed events on it, in manual mode.
struct Stage {
    stream: sconce_stream,
    memory: *mut c_void,
    events: [*mut sconce_event; 2],
}

impl Stage {
    fn new() -> Stage {
        let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
        let mut memory = std::ptr::null_mut();
        let mut events = [std::ptr::null_mut(); 2];
        let timing = sconce_event_flags::SCONCE_EVENT_TIMING as u32;
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_stream_get_current(-1, &raw mut stream) }, SCONCE_OK);
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_memory_alloc(64, &raw mut memory) }, SCONCE_OK);
        for event in &mut events {
            // SAFETY: a good place for the result.
            assert_eq!(unsafe { sconce_event_create(timing, event) }, SCONCE_OK);
        }
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        Stage { stream, memory, events }
    }

    /// The modelled milliseconds that some fills take.
    fn elapsed_ms(&self, fills: usize) -> f32 {
        let [begin, end] = self.events;
        let mut elapsed_ms = f32::NAN;
        assert_eq!(sconce_event_record(begin, self.stream), SCONCE_OK);
        for _ in 0..fills {
            // SAFETY: memory of the stage.
            assert_eq!(unsafe { sconce_memory_set(self.memory, 1, 64) }, SCONCE_OK);
        }
        assert_eq!(sconce_event_record(end, self.stream), SCONCE_OK);
        let mut steps = 0;
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_sim_run_until_idle(&raw mut steps) }, SCONCE_OK);
        assert_eq!(steps, fills + 2);
        // SAFETY: a good place for the result.
        let status = unsafe { sconce_event_elapsed_ms(begin, end, &raw mut elapsed_ms) };
        assert_eq!(status, SCONCE_OK);
        elapsed_ms
    }
}

#[test]
fn operations_take_what_the_environment_sets_until_a_call_sets_another_time() {
    let test = "operations_take_what_the_environment_sets_until_a_call_sets_another_time";
    in_child(test, &[SIM, (LATENCY, "3000000")], || {
        let stage = Stage::new();
        assert_eq!(stage.elapsed_ms(2), 6.0);
        assert_eq!(sconce_sim_set_latency_ns(1_000_000), SCONCE_OK);
        assert_eq!(stage.elapsed_ms(2), 2.0);
    });
}

#[test]
fn a_latency_of_0_takes_no_time() {
    in_child("a_latency_of_0_takes_no_time", &[SIM, (LATENCY, "0")], || {
        assert_eq!(Stage::new().elapsed_ms(3), 0.0);
    });
}

#[test]
fn operations_take_5_us_by_default() {
    let test = "operations_take_5_us_by_default";
    in_child(test, &[SIM], || assert_eq!(Stage::new().elapsed_ms(200), 1.0));
}

#[test]
fn a_malformed_latency_leaves_the_default() {
    in_child("a_malformed_latency_leaves_the_default", &[SIM, (LATENCY, "1ms")], || {
        assert_eq!(Stage::new().elapsed_ms(200), 1.0);
    });
}
