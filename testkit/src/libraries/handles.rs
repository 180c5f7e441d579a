//! Handles of cuBLAS in a process and in threads of their own.

use crate::places::calls;
use sconce::sconce_status::*;
use sconce::*;

pub const MIB: i64 = 1 << 20;
/// A workspace of the simulated device, which is of compute capability 9.
pub const WORKSPACE: i64 = 32 * MIB;
pub const SETTERS: [&str; 3] = ["blas_set_stream", "blas_set_workspace", "blas_set_math_mode"];

/// In a process of its own: handles outlive the tests that made them.
pub fn in_process(test: &str, environment: &[(&str, &str)], act: impl FnOnce()) {
    let all: Vec<_> = [("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_DEVICES", "2")]
        .into_iter()
        .chain(environment.iter().copied())
        .collect();
    crate::in_child(test, &all, || {
        assert_eq!(sconce_init(), SCONCE_OK);
        act();
    });
}

/// In a thread that ends before this returns.
pub fn in_thread<R: Send>(act: impl FnOnce() -> R + Send) -> R {
    // Joined by hand: the end of a scope does not wait for a thread's destructors.
    std::thread::scope(|scope| scope.spawn(act).join().unwrap())
}

/// How often each setter was called since the last time.
pub fn set() -> [u64; 3] {
    let counts = SETTERS.map(calls);
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    counts
}

pub fn clear() {
    assert_eq!(sconce_blas_clear_workspaces(), SCONCE_OK, "{}", crate::last_message());
}

pub fn make_current(stream: sconce_stream) {
    assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
}

/// Captures what `act` does on a stream, which the capture must survive.
pub fn capture(stream: sconce_stream, act: impl FnOnce()) {
    assert_eq!(sconce_sim_begin_capture(stream, 0), SCONCE_OK);
    act();
    assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "spoilt: {}", crate::last_message());
}
