//! Bytes of blocks that nobody has written since they were handed out.
//!
//! Only exact where all writers are known. What may have been written by an unknown kernel counts as written: see
//! `Checker::queued`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use crate::pattern::Pattern;

/// The most runs of a strided pattern that are gone through one by one.
const MOST_RUNS: u64 = 4096;

/// Ranges of places, by their starts; no two overlap.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    ranges: BTreeMap<u64, u64>,
}

impl Unwritten {
    /// Nobody has written these bytes.
    pub(crate) fn add(&mut self, pattern: &Pattern) {
        self.remove_range(pattern.start(), pattern.end());
        if !pattern.is_empty() {
            self.ranges.insert(pattern.start(), pattern.end());
        }
    }

    /// These bytes are written, or are no block's. A pattern of many runs counts as all that lies between them, so that
    /// no report is wrong.
    pub(crate) fn remove(&mut self, pattern: &Pattern) {
        if self.ranges.is_empty() {
            return;
        }
        let all = || vec![(pattern.start(), pattern.end())];
        for (start, end) in pattern.runs(MOST_RUNS).unwrap_or_else(all) {
            self.remove_range(start, end);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    fn remove_range(&mut self, start: u64, end: u64) {
        let touched = self.ranges.range(..end).rev().take_while(|(_, until)| **until > start);
        let touched: Vec<(u64, u64)> = touched.map(|(at, until)| (*at, *until)).collect();
        for (at, until) in touched {
            self.ranges.remove(&at);
            if at < start {
                self.ranges.insert(at, start);
            }
            if end < until {
                self.ranges.insert(end, until);
            }
        }
    }

    /// The first byte of a pattern that nobody has written, and how many follow it in the same run.
    pub(crate) fn first(&self, pattern: &Pattern) -> Option<(u64, u64)> {
        if self.ranges.is_empty() {
            return None;
        }
        pattern.runs(MOST_RUNS)?.into_iter().find_map(|(start, end)| {
            let mut touched = self.ranges.range(..end).rev();
            let found = touched.by_ref().take_while(|(_, until)| **until > start).last()?;
            let first = start.max(*found.0);
            Some((first, end.min(*found.1) - first))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_taken_out_wherever_it_lies() {
        // Written range, and what is left of 100..200.
        for (written, left) in [
            ((0, 100), vec![(100, 200)]),
            ((0, 150), vec![(150, 200)]),
            ((120, 30), vec![(100, 120), (150, 200)]),
            ((150, 100), vec![(100, 150)]),
            ((50, 200), vec![]),
            ((200, 10), vec![(100, 200)]),
        ] {
            let mut unwritten = Unwritten::default();
            unwritten.add(&Pattern::range(100, 100));
            unwritten.remove(&Pattern::range(written.0, written.1));
            let ranges: Vec<_> = unwritten.ranges.iter().map(|(at, end)| (*at, *end)).collect();
            assert_eq!(ranges, left, "{written:?}");
        }
    }

    #[test]
    fn the_first_unwritten_byte_is_found() {
        let mut unwritten = Unwritten::default();
        unwritten.add(&Pattern::range(100, 100));
        unwritten.remove(&Pattern::range(120, 30));
        assert_eq!(unwritten.first(&Pattern::range(120, 30)), None);
        assert_eq!(unwritten.first(&Pattern::range(119, 40)), Some((119, 1)));
        assert_eq!(unwritten.first(&Pattern::range(130, 40)), Some((150, 20)));
        assert_eq!(unwritten.first(&Pattern::range(0, 400)), Some((100, 20)));
        assert_eq!(unwritten.first(&Pattern::range(200, 40)), None);
    }
}
