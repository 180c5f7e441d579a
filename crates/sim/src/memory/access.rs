//! Declared accesses: the memory that an operation reads and writes, stated when it is queued.
//!
//! A listener receives them with the operation. Debug builds check that an operation touches nothing
//! else.
#![forbid(unsafe_code)]

/// Whether memory is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// The memory is read.
    Read,
    /// The memory is written.
    Write,
}

/// A dimension of a strided access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessStep {
    /// How many there are along the dimension, at least 2.
    pub count: u64,
    /// Bytes from the beginning of one to that of the next.
    pub stride: u64,
}

/// Runs of bytes that an operation reads or writes.
///
/// The form is canonical: runs are as long as possible and do not touch each other along a step, and
/// steps go from the smallest stride to the largest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    intent: Intent,
    address: u64,
    run_bytes: u64,
    steps: Vec<AccessStep>,
}

/// How many runs are tried for one range, where steps overlap each other.
const MOST_CANDIDATES: i128 = 64;

impl MemoryAccess {
    /// A range of bytes.
    pub fn range(intent: Intent, address: u64, bytes: u64) -> MemoryAccess {
        MemoryAccess { intent, address, run_bytes: bytes, steps: Vec::new() }
    }

    /// Runs of `run_bytes` along dimensions, each with its count and its stride in bytes; the first run
    /// of all begins at `address`.
    pub fn strided(
        intent: Intent,
        mut address: u64,
        run_bytes: u64,
        dimensions: impl IntoIterator<Item = (u64, i64)>,
    ) -> MemoryAccess {
        let mut given: Vec<AccessStep> = Vec::new();
        for (count, stride) in dimensions {
            match (count, stride) {
                (0, _) => return MemoryAccess::range(intent, address, 0),
                (1, _) | (_, 0) => continue,
                (count, ..0) => {
                    let back = stride.wrapping_mul(count.wrapping_sub(1) as i64);
                    address = address.wrapping_add_signed(back);
                }
                _ => {}
            }
            given.push(AccessStep { count, stride: stride.unsigned_abs() });
        }
        given.sort_unstable_by_key(|step| step.stride);
        let mut access = MemoryAccess::range(intent, address, run_bytes);
        for AccessStep { count, stride } in given {
            if stride <= access.run_bytes {
                let before = stride.saturating_mul(count - 1);
                access.run_bytes = access.run_bytes.saturating_add(before);
                continue;
            }
            match access.steps.last_mut() {
                Some(last) if last.stride.checked_mul(last.count) == Some(stride) => {
                    last.count = last.count.saturating_mul(count);
                }
                _ => access.steps.push(AccessStep { count, stride }),
            }
        }
        access
    }

    /// Whether the memory is read or written.
    pub fn intent(&self) -> Intent {
        self.intent
    }

    /// The address of the first run.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The bytes of each run.
    pub fn run_bytes(&self) -> u64 {
        self.run_bytes
    }

    /// The dimensions along which runs are repeated.
    pub fn steps(&self) -> &[AccessStep] {
        &self.steps
    }

    /// The bytes from the first one of the first run to the last one of the last run.
    pub(crate) fn extent_bytes(&self) -> u64 {
        if self.run_bytes == 0 {
            0
        } else {
            u64::try_from(self.extent(&self.steps)).unwrap_or(u64::MAX)
        }
    }

    /// Whether all bytes of a range belong to one run.
    pub fn covers(&self, address: u64, bytes: u64) -> bool {
        let offset = i128::from(address) - i128::from(self.address);
        self.holds(&self.steps, offset, i128::from(bytes))
    }

    /// Bytes from the first one to the last one of the runs along some of the first steps.
    fn extent(&self, steps: &[AccessStep]) -> i128 {
        let along = |step: &AccessStep| i128::from(step.count - 1) * i128::from(step.stride);
        steps.iter().map(along).fold(i128::from(self.run_bytes), i128::saturating_add)
    }

    fn holds(&self, steps: &[AccessStep], offset: i128, bytes: i128) -> bool {
        let Some((AccessStep { count, stride }, inner)) = steps.split_last() else {
            return offset >= 0 && offset + bytes <= i128::from(self.run_bytes);
        };
        let (last, stride) = (i128::from(*count) - 1, i128::from(*stride));
        let to = offset.div_euclid(stride).min(last);
        let beyond = offset + bytes - self.extent(inner);
        let from = (beyond + stride - 1).div_euclid(stride).max(0);
        // Steps that overlap much are not searched for ever: a range among them counts as covered.
        to - from >= MOST_CANDIDATES
            || (from..=to).any(|index| self.holds(inner, offset - index * stride, bytes))
    }
}

/// All memory that an operation reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accesses {
    /// The operation is a user's function, which may use any memory.
    Unknown,
    /// The operation uses this memory and no other.
    Known(Vec<MemoryAccess>),
}

impl Accesses {
    /// The accesses of an operation that uses no memory.
    pub(crate) const NONE: Accesses = Accesses::Known(Vec::new());

    /// The accesses that a run is checked against: `declared` in debug builds, any in release builds,
    /// which do not call it.
    pub(crate) fn to_check(declared: impl FnOnce() -> Accesses) -> Accesses {
        if cfg!(debug_assertions) { declared() } else { Accesses::Unknown }
    }

    /// Whether the operation has declared an access to all bytes of a range.
    pub fn covers(&self, intent: Intent, address: u64, bytes: u64) -> bool {
        bytes == 0 || self.any(intent, |access| access.covers(address, bytes))
    }

    /// Whether a range lies between the first byte and the last one of a declared access.
    pub(crate) fn spans(&self, intent: Intent, address: u64, bytes: u64) -> bool {
        self.any(intent, |access| {
            let extent = MemoryAccess::range(intent, access.address, access.extent_bytes());
            extent.covers(address, bytes)
        })
    }

    fn any(&self, intent: Intent, which: impl Fn(&MemoryAccess) -> bool) -> bool {
        match self {
            Accesses::Unknown => true,
            Accesses::Known(all) => {
                all.iter().any(|access| access.intent == intent && which(access))
            }
        }
    }

    /// Panics in debug builds if the operation has not declared an access to a range.
    pub(crate) fn check(&self, intent: Intent, address: u64, bytes: u64) {
        debug_assert!(
            self.covers(intent, address, bytes),
            "the operation uses {bytes} bytes at {address:#x} ({intent:?}), which it has not \
             declared: {self:x?}"
        );
    }

    /// Panics in debug builds if a range reaches beyond every declared access.
    pub(crate) fn check_span(&self, intent: Intent, address: u64, bytes: u64) {
        debug_assert!(
            self.spans(intent, address, bytes),
            "the {bytes} bytes at {address:#x} reach beyond what the operation has declared: \
             {self:x?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strided(run_bytes: u64, dimensions: &[(u64, i64)]) -> MemoryAccess {
        MemoryAccess::strided(Intent::Read, 1000, run_bytes, dimensions.iter().copied())
    }

    #[test]
    fn dimensions_without_gaps_become_one_run() {
        let whole = MemoryAccess::range(Intent::Read, 1000, 240);
        assert_eq!(strided(4, &[(5, 4), (3, 20), (4, 60)]), whole);
        assert_eq!(strided(4, &[(4, 60), (3, 20), (5, 4), (1, 7), (9, 0)]), whole);
        // Windows that overlap each other.
        assert_eq!(strided(40, &[(11, 20)]), whole);
        // From the last one backwards.
        assert_eq!(strided(60, &[(4, -60)]), MemoryAccess { address: 820, ..whole });
        assert_eq!(strided(4, &[(5, 4), (0, 20)]).extent_bytes(), 0);
    }

    #[test]
    fn runs_are_covered_and_gaps_are_not() {
        // Rows of 12 bytes, 16 apart; two planes of three rows, 100 apart.
        let access = strided(4, &[(3, 4), (3, 16), (2, 100)]);
        assert_eq!(access.run_bytes(), 12);
        let step = |count, stride| AccessStep { count, stride };
        assert_eq!(access.steps(), [step(3, 16), step(2, 100)]);
        assert_eq!(access.extent_bytes(), 144);
        for (offset, bytes, covered) in [
            (0, 12, true),
            (4, 8, true),
            (0, 13, false),
            (12, 1, false),
            (15, 2, false),
            (32, 12, true),
            (48, 1, false),
            (100, 12, true),
            (132, 12, true),
            (143, 1, true),
            (144, 1, false),
        ] {
            assert_eq!(access.covers(1000 + offset, bytes), covered, "{offset} {bytes}");
        }
        assert!(!access.covers(999, 1) && !access.covers(0, u64::MAX));
        let all = Accesses::Known(vec![access]);
        assert!(all.covers(Intent::Read, 1016, 12) && !all.covers(Intent::Write, 1016, 12));
        assert!(all.spans(Intent::Read, 1001, 143) && !all.spans(Intent::Read, 1001, 144));
        assert!(Accesses::Unknown.covers(Intent::Write, 5, 5));
        assert!(!Accesses::NONE.covers(Intent::Read, 5, 5));
    }

    proptest! {
        /// Bytes are covered exactly if a run holds them.
        #[test]
        fn the_canonical_form_covers_the_same_bytes(
            run in 1_u64..6,
            dimensions in proptest::collection::vec((1_u64..4, -20_i64..20), 0..4),
        ) {
            let access = strided(run, &dimensions);
            let mut starts = vec![1000_i64];
            for (count, stride) in &dimensions {
                let along = |start: &i64| (0..*count as i64).map(|i| start + i * stride).collect::<Vec<_>>();
                starts = starts.iter().flat_map(along).collect();
            }
            for at in 700..1300_u64 {
                let inside = |start: &i64| (*start..*start + run as i64).contains(&(at as i64));
                prop_assert_eq!(access.covers(at, 1), starts.iter().any(inside), "{}", at);
            }
        }
    }
}
