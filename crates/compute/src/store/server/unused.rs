//! When the memory that a server has freed is given back to the system.
//!
//! The C library keeps what is freed in small pieces, for all threads of the process. It is asked to give that back
//! when a server holds much less than before, and not often, because allocations of other threads wait meanwhile.

use std::time::{Duration, Instant};

/// By how much the bytes that are held must have fallen.
const LEAST_FREED: usize = 16 << 20;
/// The time between two requests.
const REST: Duration = Duration::from_secs(5);

/// What a server held and holds.
#[derive(Default)]
pub(super) struct UnusedMemory {
    /// The most bytes that were held since memory was given back.
    most: usize,
    given_back: Option<Instant>,
    due: Option<Instant>,
}

impl UnusedMemory {
    /// Notes how many bytes are held. Whether memory is to be given back now.
    pub(super) fn note(&mut self, held: usize, now: Instant) -> bool {
        self.most = self.most.max(held);
        self.due = None;
        if self.most - held < LEAST_FREED {
            return false;
        }
        let due = self.given_back.map_or(now, |before| before + REST);
        if due > now {
            self.due = Some(due);
            return false;
        }
        (self.most, self.given_back) = (held, Some(now));
        true
    }

    /// When memory is to be given back if nothing else happens.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_when_much_was_freed_and_not_often() {
        const MIB: usize = 1 << 20;
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut unused = UnusedMemory::default();
        assert!(!unused.note(100 * MIB, at(0)));
        assert!(!unused.note(85 * MIB, at(0)), "less than 16 MiB");
        assert!(unused.note(84 * MIB, at(0)));
        assert!(!unused.note(84 * MIB, at(1)), "once for what was freed");
        assert_eq!(unused.due(), None);
        assert!(!unused.note(MIB, at(2)));
        assert_eq!(unused.due(), Some(at(5)));
        assert!(!unused.note(70 * MIB, at(3)));
        assert_eq!(unused.due(), None, "it is in use again");
        assert!(!unused.note(MIB, at(4)));
        assert!(unused.note(MIB, at(5)));
        assert_eq!(unused.due(), None);
    }
}
