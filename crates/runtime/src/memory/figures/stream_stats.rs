//! The memory statistics of one stream, such as the bytes that callers hold.
//!
//! A device reports exact peaks of the sums over its streams, but calls must not share a counter. So each figure of a
//! stream has a *quota*, which the device has granted, and a *remaining quota*, which the figure has not used. The
//! device counts a quota towards the peak when it grants it. An allocation subtracts its size from the remaining quota,
//! a free adds it back: `value = quota − remaining`. Only when a remaining quota has become negative does the stream
//! ask the device for more ([`super::refill`]).
//!
//! Each figure is kept three times: for the small pool, for the large pool, and for both together, since the peak of a
//! sum is not the sum of the peaks.

use crate::caching::size_class::PoolKind;

/// The length of a row: seven figures, and a place that is not used, so that rows fit vector registers.
pub(crate) const FIGURES: usize = 8;

/// The figures, in the order of a [`Row`].
pub(crate) const ALLOCATION: usize = 0;
pub(crate) const ALLOCATED_BYTES: usize = 1;
pub(crate) const ACTIVE: usize = 2;
pub(crate) const ACTIVE_BYTES: usize = 3;
pub(crate) const REQUESTED_BYTES: usize = 4;
pub(crate) const INACTIVE_SPLIT: usize = 5;
pub(crate) const INACTIVE_SPLIT_BYTES: usize = 6;

/// A number for each figure.
pub(crate) type Row = [i64; FIGURES];

/// The rows of the statistics: the small pool, the large pool, both together.
pub(crate) const ROWS: usize = 3;
const SMALL: usize = 0;
const LARGE: usize = 1;
/// The row of both pools together.
pub(crate) const ALL: usize = 2;

/// The row of a pool.
#[inline]
pub(crate) fn row_of(kind: PoolKind) -> usize {
    match kind {
        PoolKind::Small => SMALL,
        PoolKind::Large => LARGE,
    }
}

/// What changes when a block is handed out. `inactive`: how many more free pieces there are in segments that are partly
/// in use, and how many more bytes they have.
#[inline(always)]
fn rises(bytes: u64, requested: u64, inactive: (i64, i64)) -> Row {
    let bytes = bytes as i64;
    [1, bytes, 1, bytes, requested as i64, inactive.0, inactive.1, 0]
}

/// What changes when a block is freed.
#[inline(always)]
pub(crate) fn falls(bytes: u64, requested: u64, inactive: (i64, i64)) -> Row {
    let bytes = -(bytes as i64);
    [-1, bytes, -1, bytes, -(requested as i64), inactive.0, inactive.1, 0]
}

/// Subtracts changes from two rows; returns whether nothing has become negative.
#[inline(always)]
fn subtract(own: &mut Row, all: &mut Row, changes: &Row) -> bool {
    let mut signs = 0;
    for figure in 0..FIGURES {
        own[figure] -= changes[figure];
        all[figure] -= changes[figure];
        signs |= own[figure] | all[figure];
    }
    signs >= 0
}

/// One stream's statistics.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamStats {
    /// By how much each figure may rise before the device must be asked; negative if it must be asked now.
    remaining: [Row; ROWS],
    /// The quotas, which the device has granted: the present value and what remains, together.
    granted: [Row; ROWS],
    /// The sum of all rises since the start, for each pool.
    risen: [Row; 2],
}

impl StreamStats {
    /// Books changes of any kind, for models. `false` when a quota has run out: it must then be refilled
    /// before the cache is unlocked.
    #[cfg(test)]
    pub(crate) fn book(&mut self, kind: PoolKind, changes: &Row) -> bool {
        let risen = &mut self.risen[row_of(kind)];
        for (risen, change) in risen.iter_mut().zip(changes) {
            *risen += (*change).max(0);
        }
        self.move_values(kind, changes)
    }

    /// Books that a block is handed out. `false` when a quota has run out: it must then be refilled before
    /// the cache is unlocked.
    #[inline(always)]
    #[must_use]
    pub(crate) fn book_hand_out(
        &mut self,
        kind: PoolKind,
        bytes: u64,
        requested: u64,
        inactive: (i64, i64),
    ) -> bool {
        self.book_rises(kind, &rises(bytes, requested, inactive))
    }

    /// Books rises. Of the figures only those of inactive pieces may fall.
    #[inline(always)]
    #[must_use]
    pub(crate) fn book_rises(&mut self, kind: PoolKind, changes: &Row) -> bool {
        let risen = &mut self.risen[row_of(kind)];
        for figure in 0..INACTIVE_SPLIT {
            risen[figure] += changes[figure];
        }
        if changes[INACTIVE_SPLIT] > 0 {
            risen[INACTIVE_SPLIT] += changes[INACTIVE_SPLIT];
            risen[INACTIVE_SPLIT_BYTES] += changes[INACTIVE_SPLIT_BYTES];
        }
        self.move_values(kind, changes)
    }

    /// Books a free. Of the figures only those of inactive pieces may rise. `false` as for
    /// [`book_hand_out`](Self::book_hand_out).
    #[inline(always)]
    #[must_use]
    pub(crate) fn book_falls(&mut self, kind: PoolKind, changes: &Row) -> bool {
        let risen = &mut self.risen[row_of(kind)];
        risen[INACTIVE_SPLIT] += changes[INACTIVE_SPLIT].max(0);
        risen[INACTIVE_SPLIT_BYTES] += changes[INACTIVE_SPLIT_BYTES].max(0);
        self.move_values(kind, changes)
    }

    /// Books that a block goes from one caller to the next without a free in between, and that the next has asked for
    /// `more` bytes than the one before.
    #[inline]
    #[must_use]
    pub(crate) fn book_requested(&mut self, kind: PoolKind, more: i64) -> bool {
        let row = row_of(kind);
        self.remaining[row][REQUESTED_BYTES] -= more;
        self.remaining[ALL][REQUESTED_BYTES] -= more;
        (self.remaining[row][REQUESTED_BYTES] | self.remaining[ALL][REQUESTED_BYTES]) >= 0
    }

    /// Adds to the sums of rises for allocations that were freed again, so that their values are as before.
    #[inline]
    pub(crate) fn book_repeated(&mut self, kind: PoolKind, rises: &Row) {
        for (risen, rise) in self.risen[row_of(kind)].iter_mut().zip(rises) {
            *risen += rise;
        }
    }

    #[inline(always)]
    fn move_values(&mut self, kind: PoolKind, changes: &Row) -> bool {
        let [small, large, all] = &mut self.remaining;
        let own = match kind {
            PoolKind::Small => small,
            PoolKind::Large => large,
        };
        subtract(own, all, changes)
    }

    /// The value of a figure.
    #[inline]
    pub(crate) fn value(&self, row: usize, figure: usize) -> i64 {
        self.granted[row][figure] - self.remaining[row][figure]
    }

    /// The sums of all rises of a pool's figures.
    #[inline]
    pub(crate) fn risen(&self, row: usize) -> &Row {
        &self.risen[row]
    }

    /// By how much a figure may still rise; negative if it has risen further than was granted.
    pub(crate) fn remaining(&self, row: usize, figure: usize) -> i64 {
        self.remaining[row][figure]
    }

    /// Raises the quota of a figure.
    pub(crate) fn grant(&mut self, row: usize, figure: usize, by: i64) {
        self.remaining[row][figure] += by;
        self.granted[row][figure] += by;
    }

    /// Gives back the remaining quota of a figure, if there is any.
    pub(crate) fn give_back(&mut self, row: usize, figure: usize) -> i64 {
        let unused = self.remaining[row][figure].max(0);
        self.remaining[row][figure] -= unused;
        self.granted[row][figure] -= unused;
        unused
    }

    /// What the device has granted.
    pub(crate) fn granted(&self, row: usize, figure: usize) -> i64 {
        self.granted[row][figure]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_was_booked_and_a_rise_past_the_quota_is_told() {
        let mut stats = StreamStats::default();
        stats.grant(SMALL, ALLOCATION, 1);
        stats.grant(ALL, ALLOCATION, 2);
        let one = [1, 0, 0, 0, 0, 0, 0, 0];
        assert!(stats.book_rises(PoolKind::Small, &one));
        assert!(!stats.book_rises(PoolKind::Large, &one));
        stats.grant(LARGE, ALLOCATION, 1);
        assert!(stats.book_falls(PoolKind::Small, &one.map(|figure: i64| -figure)));
        assert_eq!(stats.value(SMALL, ALLOCATION), 0);
        assert_eq!(stats.value(LARGE, ALLOCATION), 1);
        assert_eq!(stats.value(ALL, ALLOCATION), 1);
        assert_eq!(stats.risen(SMALL)[ALLOCATION], 1);
        assert_eq!(stats.give_back(ALL, ALLOCATION), 1);
        assert_eq!(stats.give_back(LARGE, ALLOCATION), 0);
        assert_eq!(stats.value(ALL, ALLOCATION), 1);
    }
}
