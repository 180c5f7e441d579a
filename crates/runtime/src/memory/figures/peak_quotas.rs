//! The peaks of a device's figures, and how much of each peak is granted to the streams.
//!
//! The peak is that of a sum over all streams, and no call adds up the streams. Instead each stream has been granted a
//! value that its figure may reach, and all grants together never exceed the peak. As long as a stream stays within its
//! grant, the sum cannot exceed the peak, so the peak is right without a look at the other streams. A stream that needs
//! more gets what no stream has been granted (*unspent*), else what other streams do not use; only if neither is enough
//! does the peak rise. With one thread at a time the peak is exactly that of the true sum. See
//! `docs/design/memory.md`.

use super::stream_stats::{FIGURES, ROWS, Row, StreamStats};

/// For threads that ask in quick succession the peak is raised by more than needed: by the value divided by this.
const SURPLUS: i64 = 16;

/// The peaks of a device, and how much of each is granted to streams. The rest is unspent.
#[derive(Clone, Debug)]
pub(crate) struct PeakQuotas {
    granted: [Row; ROWS],
    peaks: [Row; ROWS],
}

impl PeakQuotas {
    pub(crate) const fn new() -> PeakQuotas {
        PeakQuotas { granted: [[0; FIGURES]; ROWS], peaks: [[0; FIGURES]; ROWS] }
    }

    /// The peak of a figure.
    #[inline]
    pub(crate) fn peak(&self, row: usize, figure: usize) -> i64 {
        self.peaks[row][figure]
    }

    fn unspent(&self, row: usize, figure: usize) -> i64 {
        self.peaks[row][figure] - self.granted[row][figure]
    }

    /// Grants a stream what its figures lack, where enough is unspent, and half of what remains unspent then. `true`
    /// when no figure lacks anything any more.
    pub(crate) fn grant(&mut self, stats: &mut StreamStats) -> bool {
        let mut enough = true;
        for row in 0..ROWS {
            for figure in 0..FIGURES {
                let lacking = -stats.remaining(row, figure);
                if lacking <= 0 {
                    continue;
                }
                let unspent = self.unspent(row, figure);
                if unspent < lacking {
                    enough = false;
                    continue;
                }
                self.move_to(stats, row, figure, lacking + (unspent - lacking) / 2);
            }
        }
        enough
    }

    fn move_to(&mut self, stats: &mut StreamStats, row: usize, figure: usize, by: i64) {
        self.granted[row][figure] += by;
        stats.grant(row, figure, by);
    }

    /// Takes back what another stream does not use of the figures that `asking` lacks.
    pub(crate) fn take_back(&mut self, other: &mut StreamStats, asking: &StreamStats) {
        for row in 0..ROWS {
            for figure in 0..FIGURES {
                if asking.remaining(row, figure) < 0 {
                    self.take(other, row, figure);
                }
            }
        }
    }

    fn take(&mut self, other: &mut StreamStats, row: usize, figure: usize) {
        let unused = other.give_back(row, figure);
        self.granted[row][figure] -= unused;
    }

    /// Grants a stream what it lacks, and raises the peaks where nothing is left. With `surplus`
    /// they rise by more than needed, so that the stream does not ask again soon.
    pub(crate) fn raise(&mut self, stats: &mut StreamStats, surplus: bool) {
        for row in 0..ROWS {
            for figure in 0..FIGURES {
                let lacking = -stats.remaining(row, figure);
                if lacking <= 0 {
                    continue;
                }
                let mut wanted = lacking;
                if surplus {
                    wanted += stats.value(row, figure) / SURPLUS;
                }
                let missing = (wanted - self.unspent(row, figure)).max(0);
                self.peaks[row][figure] += missing;
                self.move_to(stats, row, figure, wanted);
            }
        }
    }

    /// Takes back all that a stream does not use: the first step of resetting the peaks.
    pub(crate) fn collect(&mut self, stats: &mut StreamStats) {
        for row in 0..ROWS {
            for figure in 0..FIGURES {
                self.take(stats, row, figure);
            }
        }
    }

    /// Resets the peaks to the present values. The quotas of all streams have been collected, so the grants are the
    /// values.
    pub(crate) fn forget_unspent(&mut self) {
        self.peaks = self.granted;
    }

    /// What is granted to all streams together, for the check of the allocator's state.
    pub(crate) fn granted(&self, row: usize, figure: usize) -> i64 {
        self.granted[row][figure]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::stream_stats::{ALL, ALLOCATED_BYTES};
    use super::*;
    use crate::caching::size_class::PoolKind;

    fn refill(quotas: &mut PeakQuotas, streams: &mut [StreamStats], asking: usize) {
        let mut stats = std::mem::take(&mut streams[asking]);
        if !quotas.grant(&mut stats) {
            for (i, other) in streams.iter_mut().enumerate() {
                if i != asking {
                    quotas.take_back(other, &stats);
                }
            }
            quotas.raise(&mut stats, false);
        }
        streams[asking] = stats;
    }

    proptest! {
        #[test]
        fn peaks_are_those_of_the_true_sums(
            steps in prop::collection::vec((0_usize..4, any::<bool>(), -50_i64..60), 1..400)
        ) {
            let mut streams = vec![StreamStats::default(); 4];
            let mut quotas = PeakQuotas::new();
            let mut values = [[0_i64; 2]; 4];
            let mut peaks = [0_i64; 3];
            for (i, (at, large, change)) in steps.into_iter().enumerate() {
                let kind = if large { PoolKind::Large } else { PoolKind::Small };
                let value = &mut values[at][usize::from(large)];
                let change = change.max(-*value);
                *value += change;
                let mut changes = [0; FIGURES];
                changes[ALLOCATED_BYTES] = change;
                if !streams[at].book(kind, &changes) {
                    refill(&mut quotas, &mut streams, at);
                }
                if i % 97 == 96 {
                    for stats in &mut streams {
                        quotas.collect(stats);
                    }
                    quotas.forget_unspent();
                    peaks = [0; 3];
                }
                let sums = [0, 1].map(|row| values.iter().map(|v| v[row]).sum::<i64>());
                for (row, now) in [sums[0], sums[1], sums[0] + sums[1]].into_iter().enumerate() {
                    peaks[row] = peaks[row].max(now);
                    prop_assert_eq!(quotas.peak(row, ALLOCATED_BYTES), peaks[row]);
                    let granted: i64 =
                        streams.iter().map(|a| a.granted(row, ALLOCATED_BYTES)).sum();
                    prop_assert_eq!(granted, quotas.granted(row, ALLOCATED_BYTES));
                }
                prop_assert!(streams.iter().all(|a| a.remaining(ALL, ALLOCATED_BYTES) >= 0));
            }
        }
    }
}
