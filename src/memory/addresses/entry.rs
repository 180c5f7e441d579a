//! What the address map says about a live block, in one word.
//!
//! A word is filled and cleared under the lock of the block's stream. Any thread may read it, and
//! claim the block for a free: of several claims one wins.

use super::block_numbers::NUMBER_BITS;
use crate::sync::{AtomicU64, Ordering};

/// A word's flags, above the block's number.
const LIVE: u64 = 1 << 31;
/// Other streams use the block, so that freeing it needs its stream's lock.
const USED_ELSEWHERE: u64 = 1 << 30;
/// Another thread has freed it; its stream has yet to take it back.
const CLAIMED: u64 = 1 << 29;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
const _: () = assert!(NUMBER & (LIVE | USED_ELSEWHERE | CLAIMED) == 0);
/// Which unit of its window the block starts in.
const UNIT_SHIFT: u32 = 32;

/// A word of the address map.
pub(crate) struct MapEntry(AtomicU64);

/// What a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryContent(u64);

impl EntryContent {
    /// A live block that starts in a unit.
    #[inline]
    pub(crate) fn live(unit: u32, number: u32) -> EntryContent {
        EntryContent(u64::from(unit) << UNIT_SHIFT | LIVE | u64::from(number))
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it is about a block that starts in this unit.
    #[inline]
    pub(crate) fn is_at(self, unit: u32) -> bool {
        let there = u64::from(unit) << UNIT_SHIFT | LIVE;
        (self.0 ^ there) & (u64::MAX << UNIT_SHIFT | LIVE) == 0
    }

    /// The unit of its window in which the block starts.
    #[inline]
    pub(crate) fn unit(self) -> u32 {
        (self.0 >> UNIT_SHIFT) as u32
    }

    /// The block's number.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        (self.0 & NUMBER) as u32
    }

    /// Whether only the stream's lock will do to free it.
    #[inline]
    pub(crate) fn is_used_elsewhere(self) -> bool {
        self.0 & USED_ELSEWHERE != 0
    }

    /// Whether another thread has freed it.
    #[inline]
    pub(crate) fn is_claimed(self) -> bool {
        self.0 & CLAIMED != 0
    }
}

impl MapEntry {
    pub(crate) fn new() -> MapEntry {
        MapEntry(AtomicU64::new(0))
    }

    #[inline]
    pub(crate) fn load(&self) -> EntryContent {
        EntryContent(self.0.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn store(&self, content: EntryContent) {
        self.0.store(content.0, Ordering::Release);
    }

    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Stores a block if the word is empty. Unless `alone`, another stream may do so too.
    #[inline]
    pub(crate) fn fill(&self, content: EntryContent, alone: bool) -> bool {
        let empty = self.0.load(Ordering::Relaxed) == 0;
        if empty && alone {
            self.store(content);
            return true;
        }
        empty && self.0.compare_exchange(0, content.0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Claims the block that was seen; `false` when it is claimed, or another by now.
    #[inline]
    pub(crate) fn claim(&self, seen: EntryContent) -> bool {
        let claimed = seen.0 | CLAIMED;
        !seen.is_claimed()
            && self.0.compare_exchange(seen.0, claimed, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The bytes of the unclaimed block that was seen here, if it is live still. `bytes` is where its
    /// stream notes them before it publishes the block ([`note_bytes`]).
    #[inline(always)]
    pub(crate) fn bytes_of(&self, seen: EntryContent, bytes: &AtomicU64) -> Option<u64> {
        // A thread that reads the bytes of a later block sees here that this block has gone.
        let noted = bytes.load(Ordering::Acquire);
        let is_live = (self.load().0 ^ seen.0) & !USED_ELSEWHERE == 0;
        is_live.then_some(noted)
    }

    pub(crate) fn mark_used_elsewhere(&self) {
        self.0.fetch_or(USED_ELSEWHERE, Ordering::AcqRel);
    }
}

/// Notes the bytes of a block that is in no word of the map, and is about to be.
#[inline]
pub(crate) fn note_bytes(place: &AtomicU64, bytes: u64) {
    place.store(bytes, Ordering::Release);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_one_unit_and_one_block() {
        let most = NUMBER as u32;
        for (unit, number) in [(0, 0), (0, most), (1, 1), (u32::MAX, 0), (u32::MAX, most)] {
            let word = MapEntry::new();
            assert!(word.load().is_empty() && !word.load().is_at(unit));
            assert!(word.fill(EntryContent::live(unit, number), true));
            assert!(!word.fill(EntryContent::live(unit, 0), false), "it is taken");
            let seen = word.load();
            assert!(seen.is_at(unit) && !seen.is_at(unit ^ 1) && !seen.is_empty());
            assert_eq!(seen.number(), number);
            word.mark_used_elsewhere();
            assert!(word.load().is_used_elsewhere() && word.load().is_at(unit));
            assert_eq!(word.load().number(), number);
            assert_eq!(word.bytes_of(seen, &AtomicU64::new(512)), Some(512));
            assert!(!word.claim(seen), "what was seen is no longer there");
            assert!(word.claim(word.load()));
            assert_eq!(word.bytes_of(seen, &AtomicU64::new(512)), None);
            word.clear();
            assert!(word.fill(EntryContent::live(unit, number), false));
        }
    }

    #[test]
    fn of_several_claims_one_wins() {
        let word = MapEntry::new();
        word.store(EntryContent::live(7, 9));
        let seen = word.load();
        let wins: usize = std::thread::scope(|scope| {
            let claim = || usize::from(word.claim(seen));
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
        });
        assert_eq!(wins, 1);
        assert!(word.load().is_claimed() && !word.claim(word.load()));
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    #[test]
    fn bytes_are_those_of_the_block_that_the_word_names() {
        loom::model(|| {
            // One record: first a block of 512 bytes in one unit, then one of 1,024 in another.
            let shared = Arc::new((MapEntry::new(), MapEntry::new(), AtomicU64::new(0)));
            note_bytes(&shared.2, 512);
            shared.0.store(EntryContent::live(3, 7));
            let its_stream = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.0.clear();
                    note_bytes(&shared.2, 1024);
                    shared.1.store(EntryContent::live(4, 7));
                    shared.1.mark_used_elsewhere();
                })
            };
            for (word, unit, expected) in [(&shared.0, 3, 512), (&shared.1, 4, 1024)] {
                let seen = word.load();
                if seen.is_at(unit) {
                    let bytes = word.bytes_of(seen, &shared.2);
                    assert!(bytes.is_none_or(|bytes| bytes == expected), "{bytes:?}");
                }
            }
            its_stream.join().unwrap();
            let seen = shared.1.load();
            assert_eq!(shared.1.bytes_of(seen, &shared.2), Some(1024));
            assert!(shared.1.claim(seen));
            assert_eq!(shared.1.bytes_of(seen, &shared.2), None);
        });
    }
}
