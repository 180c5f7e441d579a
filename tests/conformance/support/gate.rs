//! A point that a stream does not pass before the test says so.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// How long a closed gate stays closed at most, so that a failing test ends.
const GATE_LIMIT: Duration = Duration::from_secs(20);

#[derive(Default)]
struct GateState {
    /// Open, expired.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl GateState {
    fn pass(&self) {
        let state = self.state.lock().unwrap();
        let (mut state, wait) =
            self.changed.wait_timeout_while(state, GATE_LIMIT, |(open, _)| !*open).unwrap();
        state.1 = wait.timed_out();
    }

    fn open(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.0 = true;
        self.changed.notify_all();
        state.1
    }
}

/// A point that a stream does not pass before the test says so: a host function that waits.
///
/// While one is closed a test calls only what the contract says does not block.
pub(crate) struct Gate {
    state: Arc<GateState>,
}

impl Gate {
    /// A closed gate, and what the stream has to run.
    pub(crate) fn closed() -> (Gate, impl FnOnce() + Send + 'static) {
        let gate = Gate { state: Arc::default() };
        let state = Arc::clone(&gate.state);
        (gate, move || state.pass())
    }

    /// Lets the stream go on. Fails if the gate had to open by itself, since then some call blocked.
    #[track_caller]
    pub(crate) fn open(self) {
        assert!(!self.state.open(), "a call that must not block waited for the stream");
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.state.open();
    }
}
