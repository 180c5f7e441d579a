//! Blocks of a stream that other threads have freed: a list that any thread may add to without the lock,
//! and that the holder of the lock takes as a whole.
//!
//! A block is linked by its word of the address map: the step that claims the block also notes which block was freed
//! before it. So a free moves two cache lines to its core, the word and the list's head, and the thread that takes the
//! block up moves them back.
//!
//! The block's own thread clears the word without looking whether it was claimed a moment before, which spares it a
//! locked instruction. If a program frees a block on both threads at once, the claim and its link are lost, and a block
//! that is not claimed stays in the list. Who takes up the list finds that, and looks for the claimed blocks behind it.

use sconce_base::sync::{AtomicU32, Ordering, prefetch_to_write};

use crate::memory::addresses::entry::{EntryContent, MapEntry};

/// The list; apart from everything else, since other threads write it.
#[repr(align(128))]
pub(crate) struct RemoteFrees {
    /// The newest block's number and one more; 0 when there is none.
    head: AtomicU32,
    /// 1 if a block was added that was the newest one already, so that the blocks behind it are in no list.
    torn: AtomicU32,
}

impl RemoteFrees {
    pub(crate) fn new() -> RemoteFrees {
        RemoteFrees { head: AtomicU32::new(0), torn: AtomicU32::new(0) }
    }

    /// Whether the list is empty. Sees every push that happened before.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed) == 0
    }

    /// Claims the block that was seen in a word of the address map, and adds it; `false` when another thread has freed
    /// it, or the word is about another block by now.
    #[inline]
    pub(crate) fn claim(&self, word: &MapEntry, seen: EntryContent) -> bool {
        prefetch_to_write(&self.head);
        let number = seen.number();
        // The last block of the list is linked to itself.
        let link = |head: u32| head.checked_sub(1).unwrap_or(number);
        let mut head = self.head.load(Ordering::Relaxed);
        if !word.claim(seen, link(head)) {
            return false;
        }
        loop {
            if head == number + 1 {
                self.torn.store(1, Ordering::Relaxed);
            }
            match self.head.compare_exchange(head, number + 1, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(now) => head = now,
            }
            // Its own thread has freed the block at the same moment, or has found it claimed and taken it up.
            if !word.link_anew(number, link(head)) {
                return true;
            }
        }
    }

    /// Takes every block out. `take` gets the number of one, and returns what its word of the address map held, or
    /// `None` if no claim stands there. The list ends with such a block, and the result is `false`, as it is for a list
    /// that is torn: there may be blocks that are claimed and in no list.
    pub(crate) fn take_all(&self, mut take: impl FnMut(u32) -> Option<EntryContent>) -> bool {
        let mut next = self.head.swap(0, Ordering::Acquire).checked_sub(1);
        while let Some(number) = next {
            let Some(content) = take(number) else { return false };
            next = Some(content.link()).filter(|link| *link != number);
        }
        let torn = self.torn.load(Ordering::Relaxed) != 0;
        if torn {
            self.torn.store(0, Ordering::Relaxed);
        }
        !torn
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_taken_once_the_newest_first() {
        let list = RemoteFrees::new();
        let words: Vec<MapEntry> = (0..4).map(|_| MapEntry::new()).collect();
        for (number, word) in (0..).zip(&words) {
            word.store(EntryContent::live(7, number));
        }
        let free = |number: usize| {
            let seen = words[number].load();
            list.claim(&words[number], seen)
        };
        let take = || {
            let mut taken = Vec::new();
            let whole = list.take_all(|number| {
                let content = Some(words[number as usize].load()).filter(|word| word.is_claimed());
                words[number as usize].clear();
                taken.extend(content.map(|_| number));
                content
            });
            (taken, whole)
        };
        assert_eq!([0, 2, 0, 3, 1, 2].map(free), [true, true, false, true, true, false]);
        assert!(!list.is_empty());
        assert_eq!(take(), (vec![1, 3, 2, 0], true));
        assert!(list.is_empty());
        words[2].store(EntryContent::live(9, 2));
        assert!(free(2));
        assert_eq!(take(), (vec![2], true));
        assert_eq!(take(), (vec![], true));
        // The thread of block 1 frees it at the same moment.
        (0..3).for_each(|number| words[number].store(EntryContent::live(7, number as u32)));
        assert_eq!([0, 1, 2].map(free), [true; 3]);
        words[1].clear();
        assert_eq!(take(), (vec![2], false));
        assert!(words[0].load().is_claimed());
        // And again, and its number is handed out and freed once more.
        words[0].clear();
        (0..3).for_each(|number| words[number].store(EntryContent::live(7, number as u32)));
        assert_eq!([0, 2].map(free), [true; 2]);
        words[2].store(EntryContent::live(3, 2));
        assert!(free(2));
        assert_eq!(take(), (vec![2], false));
        assert!(words[0].load().is_claimed());
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;

    use super::*;

    struct SharedPassage {
        list: RemoteFrees,
        words: [MapEntry; 3],
    }

    fn shared() -> Arc<SharedPassage> {
        let words: [MapEntry; 3] = std::array::from_fn(|_| MapEntry::new());
        for (number, word) in (0..).zip(&words) {
            word.store(EntryContent::live(5, number));
        }
        Arc::new(SharedPassage { list: RemoteFrees::new(), words })
    }

    fn free(shared: &SharedPassage, number: usize) -> bool {
        let seen = shared.words[number].load();
        seen.is_at(5) && shared.list.claim(&shared.words[number], seen)
    }

    fn take(shared: &SharedPassage) -> Vec<u32> {
        let mut taken = Vec::new();
        let whole = shared.list.take_all(|number| {
            let word = &shared.words[number as usize];
            let content = word.load();
            assert!(content.is_claimed() && content.number() == number);
            word.clear();
            taken.push(number);
            Some(content)
        });
        assert!(whole);
        taken
    }

    /// Two threads free blocks of a stream while a third takes them up.
    #[test]
    fn nothing_that_was_freed_is_lost_or_taken_twice() {
        loom::model(|| {
            let shared = shared();
            let threads: Vec<_> = [vec![0], vec![1, 2]]
                .into_iter()
                .map(|numbers| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        for number in numbers {
                            assert!(free(&shared, number));
                        }
                    })
                })
                .collect();
            let mut taken = take(&shared);
            for thread in threads {
                thread.join().unwrap();
            }
            taken.extend(take(&shared));
            taken.sort_unstable();
            assert_eq!(taken, [0, 1, 2]);
        });
    }

    /// Two threads free one block: one wins, and what it wrote before is seen by the thread that takes the
    /// block up.
    #[test]
    fn of_two_frees_one_wins_and_hands_over_what_it_wrote() {
        let mut model = loom::model::Builder::new();
        // All interleavings of three threads would take minutes.
        model.preemption_bound = Some(3);
        model.check(|| {
            let shared = shared();
            let data = Arc::new(loom::cell::UnsafeCell::new(0));
            let wins: Vec<_> = (0..2)
                .map(|_| {
                    let (shared, data) = (shared.clone(), data.clone());
                    loom::thread::spawn(move || {
                        let seen = shared.words[0].load();
                        data.with(|_| ());
                        seen.is_at(5) && shared.list.claim(&shared.words[0], seen)
                    })
                })
                .collect();
            for number in take(&shared) {
                assert_eq!(number, 0);
            }
            let wins = wins.into_iter().map(|t| t.join().unwrap());
            assert_eq!(wins.filter(|won| *won).count(), 1);
            data.with_mut(|_| ());
        });
    }
}
