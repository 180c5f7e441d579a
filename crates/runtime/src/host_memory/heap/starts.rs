//! Where the blocks of a segment begin: a bit for each unit of the segment, and a bit for each word of bits that is
//! not 0, up to a single word. The beginning at or below an address is a few words away, however large its block is.

/// The bits of a word.
const BITS: usize = u64::BITS as usize;

/// A set of numbers below a limit.
pub(crate) struct Starts {
    /// From the single word above to the words of the numbers.
    levels: Vec<Vec<u64>>,
}

impl Starts {
    /// An empty set of numbers below `limit`.
    pub(crate) fn new(limit: usize) -> Starts {
        let mut levels = Vec::new();
        let mut words = limit;
        loop {
            words = words.div_ceil(BITS).max(1);
            // Zeros that the system need not give memory before they are written.
            levels.push(vec![0; words]);
            if words == 1 {
                break;
            }
        }
        levels.reverse();
        Starts { levels }
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn insert(&mut self, mut number: usize) {
        for level in self.levels.iter_mut().rev() {
            let Some(word) = level.get_mut(number / BITS) else { return };
            let before = *word;
            *word |= 1 << (number % BITS);
            if before != 0 {
                return;
            }
            number /= BITS;
        }
    }

    /// Takes a number out.
    #[inline]
    pub(crate) fn remove(&mut self, mut number: usize) {
        for level in self.levels.iter_mut().rev() {
            let Some(word) = level.get_mut(number / BITS) else { return };
            *word &= !(1 << (number % BITS));
            if *word != 0 {
                return;
            }
            number /= BITS;
        }
    }

    /// The highest number of the set that is at most `number`.
    pub(crate) fn at_or_below(&self, number: usize) -> Option<usize> {
        // Up, until a word has a bit at or below the number's; on higher levels below it.
        let mut limit = number + 1;
        let mut height = self.levels.len();
        let mut found = loop {
            height = height.checked_sub(1)?;
            let level = &self.levels[height];
            // The bits below `limit` in the word that has its last bit.
            let word = limit.saturating_sub(1) / BITS;
            let below = match limit - word * BITS {
                0 => 0,
                bits if bits >= BITS => !0,
                bits => (1 << bits) - 1,
            };
            let here = level.get(word).copied().unwrap_or(0) & below;
            if here != 0 {
                break word * BITS + here.ilog2() as usize;
            }
            limit = word;
        };
        // Down again: each bit found names a word that is not 0.
        for level in &self.levels[height + 1..] {
            let word = *level.get(found)?;
            found = found * BITS + word.checked_ilog2()? as usize;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const STEPS: usize = if cfg!(miri) { 30 } else { 200 };

    proptest! {
        #[test]
        fn it_answers_as_an_ordered_set(
            limit in prop_oneof![1_usize..200, 4000_usize..5000, 260_000_usize..300_000],
            steps in prop::collection::vec((any::<bool>(), any::<u32>(), any::<u32>()), 1..STEPS)
        ) {
            let mut starts = Starts::new(limit);
            let mut model = BTreeSet::new();
            for (adding, number, asked) in steps {
                let number = number as usize % limit;
                if adding {
                    starts.insert(number);
                    model.insert(number);
                } else if let Some(&there) = model.range(number..).next() {
                    starts.remove(there);
                    model.remove(&there);
                }
                for asked in [asked as usize % limit, number, limit - 1, 0] {
                    let expected = model.range(..=asked).next_back().copied();
                    prop_assert_eq!(starts.at_or_below(asked), expected, "{}", asked);
                }
            }
        }
    }
}
