//! Blocks of a stream that other threads have freed: a list that any thread may push to without the lock,
//! and that the holder of the lock takes as a whole.
//!
//! The links lie beside the numbers of the blocks ([`crate::memory::addresses::block_numbers`]), not in their records, which
//! belong to the lock.

use crate::sync::{AtomicU32, Ordering};

/// A link's flag: its block is in the list. A caller's mistake may push a block that is in it, and
/// must not tear the list.
const LISTED: u32 = 1 << 31;

/// The list; apart from everything else, since other threads write it.
#[repr(align(128))]
pub(crate) struct RemoteFrees {
    /// The newest block's number and one more; 0 when there is none.
    head: AtomicU32,
}

impl RemoteFrees {
    pub(crate) fn new() -> RemoteFrees {
        RemoteFrees { head: AtomicU32::new(0) }
    }

    /// Whether the list is empty. Sees every push that happened before.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed) == 0
    }

    /// Adds a block that the calling thread has claimed. `link` is the block's.
    #[inline]
    pub(crate) fn push(&self, link: &AtomicU32, number: u32) {
        let mut head = self.head.load(Ordering::Relaxed);
        // Not one step with the store: of threads that free one block at once, one gets here.
        if link.load(Ordering::Relaxed) & LISTED != 0 {
            return;
        }
        link.store(head | LISTED, Ordering::Relaxed);
        while let Err(now) =
            self.head.compare_exchange(head, number + 1, Ordering::Release, Ordering::Relaxed)
        {
            head = now;
            link.store(head | LISTED, Ordering::Relaxed);
        }
    }

    /// Takes every block out and hands its number to `each`. `link_of` returns the link of a number.
    pub(crate) fn take_all<'a>(
        &self,
        link_of: impl Fn(u32) -> Option<&'a AtomicU32>,
        mut each: impl FnMut(u32),
    ) {
        let mut head = self.head.swap(0, Ordering::Acquire);
        while let Some(number) = head.checked_sub(1)
            && let Some(link) = link_of(number)
        {
            // From here on the block may be pushed again.
            head = link.load(Ordering::Relaxed) & !LISTED;
            link.store(0, Ordering::Relaxed);
            each(number);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_block_pushed_twice_is_taken_once_and_the_rest_is_kept() {
        let list = RemoteFrees::new();
        let links: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
        for number in [0, 1, 2, 0, 3, 1] {
            list.push(&links[number as usize], number);
        }
        let mut taken = Vec::new();
        list.take_all(|number| links.get(number as usize), |number| taken.push(number));
        assert_eq!(taken, [3, 2, 1, 0]);
        assert!(list.is_empty());
        list.push(&links[1], 1);
        taken.clear();
        list.take_all(|number| links.get(number as usize), |number| taken.push(number));
        assert_eq!(taken, [1]);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::memory::addresses::entry::{EntryContent, MapEntry};
    use loom::sync::Arc;

    struct SharedPassage {
        list: RemoteFrees,
        links: [AtomicU32; 3],
        words: [MapEntry; 3],
    }

    fn shared() -> Arc<SharedPassage> {
        Arc::new(SharedPassage {
            list: RemoteFrees::new(),
            links: [AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)],
            words: [MapEntry::new(), MapEntry::new(), MapEntry::new()],
        })
    }

    fn take(shared: &SharedPassage) -> Vec<u32> {
        let mut taken = Vec::new();
        shared.list.take_all(|number| shared.links.get(number as usize), |n| taken.push(n));
        taken
    }

    /// Two threads free blocks of a stream while a third takes them up.
    #[test]
    fn nothing_that_was_pushed_is_lost_or_taken_twice() {
        loom::model(|| {
            let shared = shared();
            let threads: Vec<_> = [vec![0], vec![1, 2]]
                .into_iter()
                .map(|numbers| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        for number in numbers {
                            shared.list.push(&shared.links[number as usize], number);
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
        loom::model(|| {
            let shared = shared();
            shared.words[0].store(EntryContent::live(5, 0));
            let data = Arc::new(loom::cell::UnsafeCell::new(0));
            let wins: Vec<_> = (0..2)
                .map(|_| {
                    let (shared, data) = (shared.clone(), data.clone());
                    loom::thread::spawn(move || {
                        let seen = shared.words[0].load();
                        let won = seen.is_at(5) && shared.words[0].claim(seen);
                        if won {
                            data.with_mut(|_| ());
                            shared.list.push(&shared.links[0], 0);
                        }
                        won
                    })
                })
                .collect();
            for number in take(&shared) {
                assert_eq!(number, 0);
                data.with(|_| ());
            }
            let wins = wins.into_iter().filter(|_| true).map(|t| t.join().unwrap());
            assert_eq!(wins.filter(|won| *won).count(), 1);
        });
    }
}
