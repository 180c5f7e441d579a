//! The descriptor memo: for each thread, the transforms that it did last.
//!
//! A call whose descriptor has the bytes of a remembered one skips the checks and the look-up in the plan
//! cache. The memo is a thread-local table of sets of two entries. An entry is found by a hash of its
//! descriptor, which selects the set, and a comparison of all its bytes. With two entries in a set, two
//! descriptors of one hash that are used in turn do not displace each other.

use std::cell::RefCell;
use std::mem;

use sconce_base::collections::word_hash::scatter;
use sconce_base::{process, thread_state};

use super::RawDescriptor;
use super::known_transform::KnownTransform;

/// The number of sets. A power of two.
const SETS: usize = 32;

/// A set: the entry that was inserted last, and the one before.
type Set<T> = [Option<Box<T>>; 2];

/// A table of entries of type `T`, of one thread.
struct DescriptorMemo<T> {
    sets: RefCell<[Set<T>; SETS]>,
}

thread_local! {
    static MEMO: DescriptorMemo<KnownTransform> = const { DescriptorMemo::new() };
}

/// Calls `action` with the entry of a descriptor. Returns `None` if the thread has no such entry or is
/// ending, and where `action` returns `None`.
#[inline(always)]
pub(super) fn with<R>(
    descriptor: &RawDescriptor,
    action: impl FnOnce(&KnownTransform) -> Option<R>,
) -> Option<R> {
    let (set, is_it) = (set_of(descriptor), |known: &KnownTransform| known.is_of(descriptor));
    MEMO.try_with(|memo| memo.with(set, is_it, action)).ok().flatten()
}

/// Remembers a transform for later calls with the same descriptor. Does nothing while the thread is ending
/// or is inside [`with`].
pub(super) fn insert(descriptor: &RawDescriptor, known: KnownTransform) {
    let is_it = |other: &KnownTransform| other.is_of(descriptor);
    // An ending thread has no memo. Its transforms take the slow path.
    let _ = MEMO.try_with(|memo| memo.insert(set_of(descriptor), is_it, known));
}

/// The index of a descriptor's set, by what descriptors differ in mostly and the current device.
#[inline(always)]
fn set_of(descriptor: &RawDescriptor) -> usize {
    let [kinds, types, _, x, y, z, batch, ..] = *descriptor.words;
    let sizes = x ^ y.rotate_left(20) ^ z.rotate_left(40) ^ batch.rotate_left(10);
    let device = u64::from(thread_state::device().as_u8());
    let hash = sizes ^ (kinds ^ types.rotate_left(6)).rotate_left(50) ^ device << 9;
    (scatter(hash) >> (64 - SETS.ilog2())) as usize
}

impl<T> DescriptorMemo<T> {
    const fn new() -> Self {
        DescriptorMemo { sets: RefCell::new([const { [const { None }; 2] }; SETS]) }
    }

    /// Calls `action` with the entry of a set for which `is_it` holds.
    #[inline(always)]
    fn with<R>(
        &self,
        set: usize,
        is_it: impl Fn(&T) -> bool,
        action: impl FnOnce(&T) -> Option<R>,
    ) -> Option<R> {
        let sets = self.sets.try_borrow().ok()?;
        let set = &sets[set % SETS];
        let entry = match set[0].as_deref() {
            Some(entry) if is_it(entry) => entry,
            Some(_) => second(set, is_it)?,
            None => return None,
        };
        // Called in one place only, so that it is inlined.
        action(entry)
    }

    /// Puts an entry into a set, in place of the one for which `is_it` holds, or of the older one.
    fn insert(&self, set: usize, is_it: impl Fn(&T) -> bool, entry: T) {
        // `action` of `with` may transform, by way of functions of the user that the allocator calls.
        let Ok(mut sets) = self.sets.try_borrow_mut() else { return };
        let [first, second] = &mut sets[set % SETS];
        let there = |entry: &Option<Box<T>>| entry.as_deref().is_some_and(&is_it);
        let replaced = if there(second) {
            second.replace(Box::new(entry))
        } else if first.is_none() || there(first) {
            first.replace(Box::new(entry))
        } else {
            let moved = first.replace(Box::new(entry));
            mem::replace(second, moved)
        };
        // Dropped last: dropping an entry may call `insert`.
        drop((sets, replaced));
    }
}

#[inline(never)]
fn second<T>(set: &Set<T>, is_it: impl Fn(&T) -> bool) -> Option<&T> {
    set[1].as_deref().filter(|entry| is_it(entry))
}

impl<T> Drop for DescriptorMemo<T> {
    fn drop(&mut self) {
        // Dropping an entry may take locks, which a forked child must not wait for.
        if process::in_child() {
            mem::take(self.sets.get_mut()).into_iter().flatten().for_each(mem::forget);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// An entry of the tests: equal numbers are one descriptor.
    type Entry = Arc<u32>;

    thread_local! {
        static NUMBERS: DescriptorMemo<Entry> = const { DescriptorMemo::new() };
    }

    fn finds(set: usize, number: u32) -> bool {
        let found =
            NUMBERS.try_with(|memo| memo.with(set, |entry| **entry == number, |_| Some(())));
        found.ok().flatten().is_some()
    }

    fn insert(set: usize, entry: &Entry) {
        let _ = NUMBERS.try_with(|memo| memo.insert(set, |other| other == entry, entry.clone()));
    }

    /// How many references each entry has.
    fn holders<const N: usize>(entries: &[Entry; N]) -> [usize; N] {
        std::array::from_fn(|index| Arc::strong_count(&entries[index]))
    }

    fn on_a_new_thread(test: impl FnOnce() + Send) {
        thread::scope(|scope| assert!(scope.spawn(test).join().is_ok()));
    }

    #[test]
    fn a_thread_finds_its_own_entries_and_drops_them_when_it_ends() {
        let entries = [1, 2].map(Arc::new);
        on_a_new_thread(|| {
            assert!(!finds(6, 1));
            insert(6, &entries[0]);
            insert(8, &entries[1]);
            assert!(finds(6, 1) && finds(6 + SETS, 1) && finds(8, 2));
            assert!(!finds(6, 2) && !finds(10, 1));
            on_a_new_thread(|| assert!(!finds(6, 1)));
            assert_eq!(holders(&entries), [2, 2]);
        });
        assert_eq!(holders(&entries), [1, 1]);
    }

    #[test]
    fn two_entries_of_one_set_stay_and_a_third_replaces_the_older() {
        let entries = [1, 2, 3].map(Arc::new);
        on_a_new_thread(|| {
            insert(6, &entries[0]);
            insert(6, &entries[1]);
            assert!(finds(6, 1) && finds(6, 2));
            for again in [&entries[0], &entries[1]] {
                insert(6, again);
                assert_eq!(holders(&entries), [2, 2, 1]);
            }
            insert(6, &entries[2]);
            assert!(!finds(6, 1) && finds(6, 2) && finds(6, 3));
            assert_eq!(holders(&entries), [1, 2, 2]);
        });
    }

    #[test]
    fn an_entry_that_is_used_is_not_replaced() {
        on_a_new_thread(|| {
            let entries = [1, 2].map(Arc::new);
            insert(3, &entries[0]);
            let action = |_: &Entry| {
                insert(3, &entries[1]);
                assert!(finds(3, 1), "to look is no change");
                Some(())
            };
            assert_eq!(NUMBERS.with(|memo| memo.with(3, |_| true, action)), Some(()));
            assert_eq!(holders(&entries), [2, 1]);
            insert(3, &entries[1]);
            assert_eq!(holders(&entries), [2, 2]);
        });
    }

    #[test]
    fn an_entry_may_insert_another_when_it_is_dropped() {
        struct Inserting(bool);
        thread_local! {
            static INSERTING: DescriptorMemo<Inserting> = const { DescriptorMemo::new() };
        }
        impl Inserting {
            fn put(set: usize, entry: Inserting) {
                let _ = INSERTING.try_with(|memo| memo.insert(set, |_| true, entry));
            }
        }
        impl Drop for Inserting {
            fn drop(&mut self) {
                if self.0 {
                    Inserting::put(9, Inserting(false));
                }
            }
        }
        on_a_new_thread(|| {
            [true, false].into_iter().for_each(|inserts| Inserting::put(4, Inserting(inserts)));
            let found = INSERTING.with(|memo| memo.with(9, |_| true, |entry| Some(entry.0)));
            assert_eq!(found, Some(false));
            // The thread ends with one that inserts.
            Inserting::put(4, Inserting(true));
        });
    }

    #[test]
    fn an_ending_thread_finds_nothing() {
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                let entries = [1].map(Arc::new);
                assert!(!finds(1, 1));
                insert(1, &entries[0]);
                assert!(!finds(1, 1));
                assert_eq!(holders(&entries), [1]);
            }
        }
        thread_local! {
            static LAST: Last = const { Last };
        }
        on_a_new_thread(|| {
            // Destroyed in the opposite order.
            LAST.with(|_| ());
            insert(1, &Arc::new(1));
            assert!(finds(1, 1));
        });
    }
}
