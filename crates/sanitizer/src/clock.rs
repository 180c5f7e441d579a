//! Vector clocks over streams and the host.
#![forbid(unsafe_code)]

/// The number of a stream in clocks; [`HOST`] is the host.
pub(crate) type Lane = u32;

/// The host, all threads of it together: what one thread has waited for is done for all.
pub(crate) const HOST: Lane = 0;

/// An operation: the `count`-th of its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) lane: Lane,
    pub(crate) count: u64,
}

/// For each lane, how many of its operations come before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<u64>);

impl Clock {
    pub(crate) fn of(&self, lane: Lane) -> u64 {
        self.0.get(lane as usize).copied().unwrap_or(0)
    }

    /// Whether an operation comes before.
    pub(crate) fn knows(&self, epoch: Epoch) -> bool {
        epoch.count <= self.of(epoch.lane)
    }

    /// Whether everything that another clock knows comes before.
    pub(crate) fn knows_all(&self, other: &Clock) -> bool {
        let known = |(lane, count): (usize, &u64)| *count <= self.of(lane as Lane);
        other.0.iter().enumerate().all(known)
    }

    /// An operation, and what its lane did before it, comes before.
    pub(crate) fn learn(&mut self, epoch: Epoch) {
        let at = epoch.lane as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = self.0[at].max(epoch.count);
    }

    pub(crate) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, theirs) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).max(*theirs);
        }
    }

    /// Counts one more operation of a lane and returns it.
    pub(crate) fn tick(&mut self, lane: Lane) -> Epoch {
        let at = lane as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] += 1;
        Epoch { lane, count: self.0[at] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joined_clock_knows_what_both_knew() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        let first = a.tick(1);
        let second = b.tick(2);
        assert!(a.knows(first) && !a.knows(second));
        a.join(&b);
        assert!(a.knows(second) && !b.knows(first));
        assert!(a.knows_all(&b) && !b.knows_all(&a) && b.knows_all(&Clock::default()));
        let third = b.tick(2);
        assert!(!a.knows(third));
    }
}
