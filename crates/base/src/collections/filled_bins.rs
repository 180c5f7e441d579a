//! Which of 4,096 bins are not empty: a bit for each bin, and a bit for each word of those bits. The first bin that is
//! not empty, at or after a given one, is two bit searches away.

/// How many bins there are.
pub const BINS: usize = 4096;

/// The bins that are not empty.
pub struct FilledBins {
    /// A bit for each word of `filled` that is not 0.
    words: u64,
    /// A bit for each bin that is not empty.
    filled: [u64; BINS / 64],
}

impl FilledBins {
    pub const fn new() -> FilledBins {
        FilledBins { words: 0, filled: [0; BINS / 64] }
    }

    /// The first bin from `bin` on that is not empty. `bin` may be [`BINS`].
    #[inline]
    pub fn next(&self, bin: usize) -> Option<usize> {
        let word = bin / 64;
        let here = self.filled.get(word)? & (!0 << (bin % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // Two shifts, since one by 64 is none.
        let later = self.words & (!0 << word << 1);
        if later == 0 {
            return None;
        }
        let word = later.trailing_zeros() as usize;
        Some(word * 64 + self.filled[word].trailing_zeros() as usize)
    }

    /// Says that a bin is not empty.
    #[inline(always)]
    pub fn set_filled(&mut self, bin: usize) {
        self.filled[bin / 64] |= 1 << (bin % 64);
        self.words |= 1 << (bin / 64);
    }

    /// Says whether a bin out of which something was taken is empty now.
    #[inline(always)]
    pub fn set_taken(&mut self, bin: usize, is_empty: bool) {
        // Without a branch: whether a bin has become empty is hard to guess.
        let word = &mut self.filled[bin / 64 % (BINS / 64)];
        *word &= !(u64::from(is_empty) << (bin % 64));
        let word_is_empty = u64::from(*word == 0);
        self.words &= !(word_is_empty << (bin / 64 % 64));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const STEPS: usize = if cfg!(miri) { 30 } else { 300 };

    proptest! {
        #[test]
        fn it_answers_as_an_ordered_set(
            steps in prop::collection::vec((any::<bool>(), 0_usize..BINS), 1..STEPS)
        ) {
            let mut bins = FilledBins::new();
            let mut model = BTreeSet::new();
            for (fills, bin) in steps {
                if fills {
                    bins.set_filled(bin);
                    model.insert(bin);
                } else if let Some(&bin) = model.range(bin..).next() {
                    bins.set_taken(bin, false);
                    prop_assert_eq!(bins.next(bin), Some(bin), "it is not empty yet");
                    bins.set_taken(bin, true);
                    model.remove(&bin);
                }
                for from in [0, bin, bin + 1, BINS] {
                    prop_assert_eq!(bins.next(from), model.range(from..).next().copied());
                }
            }
        }
    }
}
