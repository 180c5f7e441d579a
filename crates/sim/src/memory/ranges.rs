//! Sets of free ranges: the pages of a memory file, the addresses of a window.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

/// Free ranges by their start; neighbours are always merged.
pub(crate) struct FreeRanges {
    ranges: BTreeMap<u64, u64>,
    /// Where the next search begins. Without reuse: where the last search ended, so that a freed
    /// range rests for a while and its use after free is found. With reuse: the start of the range
    /// freed last.
    cursor: u64,
    reuse: bool,
    /// Bytes taken since the search last began at the lowest range.
    walked: u64,
}

/// How far the search walks before it begins at the lowest range again. Callers keep tables by
/// address (the caching allocator, the host's page tables), which grow with every address ever used.
const WALK_BYTES: u64 = 256 << 20;
/// The number of times that a large range must have been taken before it ends the walk.
const WALK_TAKES: u64 = 8;

impl FreeRanges {
    pub(crate) fn new(start: u64, length: u64) -> FreeRanges {
        FreeRanges {
            ranges: BTreeMap::from([(start, length)]),
            cursor: start,
            reuse: false,
            walked: 0,
        }
    }

    /// Turns reuse on or off: with it, `take` tries the range freed last and then the lowest ranges.
    pub(crate) fn set_reuse(&mut self, reuse: bool) {
        self.reuse = reuse;
    }

    /// Takes one range whose start is a multiple of `align`.
    pub(crate) fn take(&mut self, length: u64, align: u64) -> Option<u64> {
        let fit = |(start, have): (&u64, &u64), from: u64| {
            let at = (*start).max(from).checked_next_multiple_of(align)?;
            (at.checked_add(length)? <= start + have).then_some((*start, *have, at))
        };
        // The range that holds the cursor begins before it, hence the look back.
        let first = self.ranges.range(..=self.cursor).next_back().map_or(0, |(start, _)| *start);
        let most = if self.reuse { 1 } else { usize::MAX };
        let (start, have, at) = self
            .ranges
            .range(first..)
            .take(most)
            .find_map(|range| fit(range, self.cursor))
            .or_else(|| self.ranges.iter().find_map(|range| fit(range, 0)))?;
        self.ranges.remove(&start);
        if at > start {
            self.ranges.insert(start, at - start);
        }
        if at + length < start + have {
            self.ranges.insert(at + length, start + have - at - length);
        }
        if !self.reuse {
            self.cursor = at + length;
            self.walked += length;
            if self.walked > WALK_BYTES.max(WALK_TAKES.saturating_mul(length)) {
                (self.cursor, self.walked) = (0, 0);
            }
        }
        Some(at)
    }

    /// Takes `length` in as many pieces as it needs, lowest first; all or nothing.
    pub(crate) fn take_pieces(&mut self, length: u64) -> Option<Vec<(u64, u64)>> {
        let mut pieces = Vec::new();
        let mut left = length;
        for (start, have) in &self.ranges {
            if left == 0 {
                break;
            }
            let part = left.min(*have);
            pieces.push((*start, part));
            left -= part;
        }
        if left > 0 {
            return None;
        }
        for (start, part) in &pieces {
            if let Some(have) = self.ranges.remove(start)
                && have > *part
            {
                self.ranges.insert(start + part, have - part);
            }
        }
        Some(pieces)
    }

    /// Returns a range.
    pub(crate) fn give(&mut self, mut start: u64, mut length: u64) {
        if self.reuse {
            self.cursor = start;
        }
        if let Some((before, have)) = self.ranges.range(..start).next_back()
            && before + have == start
        {
            let before = *before;
            length += self.ranges.remove(&before).unwrap_or(0);
            start = before;
        }
        if let Some(have) = self.ranges.remove(&(start + length)) {
            length += have;
        }
        self.ranges.insert(start, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_merges_with_both_neighbours() {
        let mut free = FreeRanges::new(0, 100);
        let (a, b, c) = (free.take(10, 1), free.take(10, 1), free.take(10, 1));
        assert_eq!((a, b, c), (Some(0), Some(10), Some(20)));
        free.give(0, 10);
        free.give(20, 10);
        free.give(10, 10);
        assert_eq!(free.ranges, BTreeMap::from([(0, 100)]));
    }

    #[test]
    fn freed_ranges_rest_until_the_end_is_reached() {
        let mut free = FreeRanges::new(0, 40);
        assert_eq!(free.take(10, 1), Some(0));
        free.give(0, 10);
        assert_eq!(free.take(10, 1), Some(10));
        assert_eq!(free.take(20, 1), Some(20));
        assert_eq!(free.take(10, 1), Some(0));
        assert_eq!(free.take(1, 1), None);
    }

    #[test]
    fn addresses_in_use_stay_within_a_walk_of_each_other() {
        const UNIT: u64 = 2 << 20;
        let mut free = FreeRanges::new(0, 1 << 40);
        let mut before = None;
        for _ in 0..10_000 {
            let at = free.take(UNIT, UNIT).unwrap();
            assert!(at <= WALK_BYTES + UNIT, "{at}");
            assert_ne!(Some(at), before, "it rests for a while");
            free.give(at, UNIT);
            before = Some(at);
        }
        let large = [(); 4].map(|()| {
            let at = free.take(1 << 30, UNIT).unwrap();
            free.give(at, 1 << 30);
            at
        });
        assert!((1..4).all(|i| large[i] > large[i - 1]), "{large:?}");
    }

    #[test]
    fn with_reuse_the_range_freed_last_comes_first_and_then_the_lowest() {
        let mut free = FreeRanges::new(0, 100);
        free.set_reuse(true);
        let taken: Vec<_> = (0..5).map(|_| free.take(10, 1).unwrap()).collect();
        assert_eq!(taken, [0, 10, 20, 30, 40]);
        free.give(10, 10);
        free.give(30, 10);
        assert_eq!(free.take(10, 1), Some(30));
        assert_eq!(free.take(10, 1), Some(10));
        // Merged with a lower range, it is still found at its own start.
        free.give(20, 10);
        free.give(30, 10);
        assert_eq!(free.take(5, 1), Some(30));
        // What does not fit there takes the lowest place.
        assert_eq!(free.take(12, 1), Some(50));
        assert_eq!(free.take(10, 1), Some(20));
    }

    #[test]
    fn starts_are_aligned_and_the_gap_stays_free() {
        let mut free = FreeRanges::new(4, 60);
        assert_eq!(free.take(16, 16), Some(16));
        assert_eq!(free.ranges, BTreeMap::from([(4, 12), (32, 32)]));
    }

    #[test]
    fn pieces_are_taken_whole_or_not_at_all() {
        let mut free = FreeRanges::new(0, 10);
        free.take(4, 1);
        free.take(4, 1);
        free.give(0, 4);
        assert_eq!(free.take_pieces(7), None);
        assert_eq!(free.take_pieces(5), Some(vec![(0, 4), (8, 1)]));
        assert_eq!(free.ranges, BTreeMap::from([(9, 1)]));
    }
}
