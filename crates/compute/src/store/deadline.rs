//! Times by which something must have happened.

use std::time::{Duration, Instant};

/// The longest wait that is distinguished from waiting for ever.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A time by which a call must end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    end: Instant,
    timeout: Duration,
}

impl Deadline {
    /// The time after a timeout from now.
    pub(crate) fn after(timeout: Duration) -> Deadline {
        let timeout = timeout.min(FOREVER);
        Deadline { end: Instant::now() + timeout, timeout }
    }

    /// What is left, or `None` when the time has come.
    pub(crate) fn left(&self) -> Option<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// The timeout in milliseconds, for messages.
    pub(crate) fn ms(&self) -> u128 {
        self.timeout.as_millis()
    }
}
