//! What the address map says about a live block, in one word.
//!
//! A word is filled and cleared under the lock of the block's stream. Any thread may read it, and
//! claim the block for a free: of several claims one wins.

use sconce_base::sync::{AtomicU64, Ordering};

use super::block_numbers::NUMBER_BITS;

/// The bits of the number of a unit of a window.
pub(super) const UNIT_NUMBER_BITS: u32 = 11;

/// Where the parts of a word lie: the block's number, the number of the block that was freed before it, flags, and
/// which unit of its window the block starts in.
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
const LINK_SHIFT: u32 = NUMBER_BITS;
/// Other streams use the block, so that freeing it needs its stream's lock.
const USED_ELSEWHERE: u64 = 1 << 50;
/// Another thread has freed it; its stream has yet to take it back.
const CLAIMED: u64 = 1 << 51;
const LIVE: u64 = 1 << 52;
const UNIT_SHIFT: u32 = 53;
const _: () = assert!(USED_ELSEWHERE.trailing_zeros() == 2 * NUMBER_BITS);
const _: () = assert!(UNIT_NUMBER_BITS <= u64::BITS - UNIT_SHIFT);

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
        // The unit and, below it, the flag of a live block.
        (self.0 >> (UNIT_SHIFT - 1)) as u32 == unit << 1 | 1
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

    /// The number of the block that another thread freed before this one, if this one is claimed; its own number if
    /// there is none.
    #[inline]
    pub(crate) fn link(self) -> u32 {
        (self.0 >> LINK_SHIFT & NUMBER) as u32
    }

    /// This word, claimed, with a link.
    #[inline]
    fn claimed(self, link: u32) -> EntryContent {
        EntryContent(self.0 | CLAIMED | u64::from(link) << LINK_SHIFT)
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

    /// Claims the block that was seen, and links it to another; `false` when it is claimed, or another by now.
    #[inline]
    pub(crate) fn claim(&self, seen: EntryContent, link: u32) -> bool {
        let claimed = seen.claimed(link).0;
        !seen.is_claimed()
            && self.0.compare_exchange(seen.0, claimed, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Links the block with a number, which the calling thread has claimed, to another one; `false` when the word says
    /// nothing of that claim any more.
    pub(crate) fn link_anew(&self, number: u32, link: u32) -> bool {
        loop {
            let now = self.load();
            if !now.is_claimed() || now.number() != number {
                return false;
            }
            let linked = now.0 & !(NUMBER << LINK_SHIFT) | u64::from(link) << LINK_SHIFT;
            let set = self.0.compare_exchange(now.0, linked, Ordering::AcqRel, Ordering::Relaxed);
            if set.is_ok() {
                return true;
            }
        }
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
        let (most, last) = (NUMBER as u32, (1 << UNIT_NUMBER_BITS) - 1);
        for (unit, number) in [(0, 0), (0, most), (1, 1), (last, 0), (last, most)] {
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
            assert!(!word.claim(seen, 3), "what was seen is no longer there");
            let seen = word.load();
            assert!(word.claim(seen, most));
            let claimed = word.load();
            assert!(claimed.is_claimed() && claimed.is_at(unit) && claimed.is_used_elsewhere());
            assert_eq!((claimed.number(), claimed.link()), (number, most));
            assert!(word.link_anew(number, number) && !word.link_anew(number ^ 1, 0));
            assert_eq!((word.load().number(), word.load().link()), (number, number));
            assert!(word.load().is_used_elsewhere() && word.load().is_at(unit));
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
            let claim = || usize::from(word.claim(seen, 9));
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(claim)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
        });
        assert_eq!(wins, 1);
        assert!(word.load().is_claimed() && !word.claim(word.load(), 9));
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

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
            assert!(shared.1.claim(seen, 7));
            assert_eq!(shared.1.bytes_of(seen, &shared.2), None);
        });
    }
}
