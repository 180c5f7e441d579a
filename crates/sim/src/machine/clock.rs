//! Simulated time, in nanoseconds since the simulator was made.
//!
//! In automatic mode the clock follows the wall clock and work is paced on it. In manual mode it
//! stands still except when a completed operation pushes it forward, so that time stamps depend on
//! nothing but the program.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

/// The clock of one simulator; lives under the engine's lock.
pub(crate) struct Clock {
    manual: bool,
    /// The time at `origin` in automatic mode, the time itself in manual mode.
    base_ns: u64,
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock { manual: false, base_ns: 0, origin: Instant::now() }
    }

    pub(crate) fn is_manual(&self) -> bool {
        self.manual
    }

    pub(crate) fn now_ns(&self) -> u64 {
        if self.manual { self.base_ns } else { self.base_ns + nanoseconds(self.origin.elapsed()) }
    }

    /// Changes the mode without a jump of the time.
    pub(crate) fn set_manual(&mut self, manual: bool) {
        self.base_ns = self.now_ns();
        self.origin = Instant::now();
        self.manual = manual;
    }

    /// Notes that an operation ended at `end_ns`.
    pub(crate) fn advance_to(&mut self, end_ns: u64) {
        if self.manual {
            self.base_ns = self.base_ns.max(end_ns);
        }
    }

    /// The moment of the wall clock at which the simulated time is `time_ns`; `None` in manual mode, which
    /// never waits.
    pub(crate) fn deadline(&self, time_ns: u64) -> Option<Instant> {
        if self.manual {
            return None;
        }
        self.origin.checked_add(Duration::from_nanos(time_ns.saturating_sub(self.base_ns)))
    }
}

/// A duration in nanoseconds, saturating after 584 years.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Lets the calling thread wait until `deadline`: asleep while it is far, yielding when it is near,
/// since a sleep overshoots by more than most operations last.
pub(crate) fn wait_until(deadline: Instant) {
    const NEAR: Duration = Duration::from_micros(80);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > NEAR {
            std::thread::sleep(left - NEAR);
        } else {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_time_moves_only_with_operations_and_the_switch_does_not_jump() {
        let mut clock = Clock::new();
        clock.set_manual(true);
        let start = clock.now_ns();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(clock.now_ns(), start);
        clock.advance_to(start + 5_000_000_000);
        clock.advance_to(start + 1);
        assert_eq!(clock.now_ns(), start + 5_000_000_000);
        assert!(clock.deadline(start).is_none());
        clock.set_manual(false);
        let again = clock.now_ns();
        assert!((5_000_000_000..6_000_000_000).contains(&(again - start)));
    }

    #[test]
    fn a_deadline_is_never_met_early() {
        let clock = Clock::new();
        let target = clock.now_ns() + 300_000;
        wait_until(clock.deadline(target).unwrap());
        assert!(clock.now_ns() >= target);
    }
}
