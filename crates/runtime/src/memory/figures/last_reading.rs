//! The figures of a device as they were read last, and whether they still hold.

use super::stats::MemoryStats;
use crate::caching::settings;

/// What was read last.
pub(crate) struct LastReading {
    stats: MemoryStats,
    of: Option<StateNumbers>,
}

/// Numbers that change whenever something does that figures depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateNumbers {
    /// Changes of all caches of the device together. Each only rises, and caches stay, so the sum tells of any.
    pub(crate) caches: u64,
    /// Changes of the device's accounting.
    pub(crate) accounting: u64,
    /// The number of the settings.
    pub(crate) settings: u64,
}

impl LastReading {
    pub(crate) const NONE: LastReading = LastReading { stats: MemoryStats::NONE, of: None };

    /// The figures, if they are of this state.
    #[inline]
    pub(crate) fn of(&mut self, state: StateNumbers) -> Option<&mut MemoryStats> {
        (self.of == Some(state)).then_some(&mut self.stats)
    }

    /// Figures that were read in a state.
    #[inline]
    pub(crate) fn keep(&mut self, state: StateNumbers, stats: MemoryStats) -> &mut MemoryStats {
        self.of = Some(state);
        self.stats = stats;
        &mut self.stats
    }
}

/// The number of the settings, and the size from which blocks are not split by settings that are at least as new.
#[cold]
pub(crate) fn max_split() -> (u64, Option<u64>) {
    let number = settings::generation();
    let bytes = settings::current().max_split_bytes;
    (number, (bytes != usize::MAX).then_some(bytes as u64))
}
