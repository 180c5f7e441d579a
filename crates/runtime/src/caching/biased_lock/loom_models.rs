//! Every interleaving of few threads.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use sconce_base::sync::{AtomicUsize, Ordering};

use super::owner_words::OwnerWord;
use super::raw::{RawBiasedLock, ReleaseMark};

/// A cell that only a thread inside the lock looks at; loom finds any other look.
struct SharedCount(RawBiasedLock, UnsafeCell<u32>);

// SAFETY: the cell is used under the lock only, which is what the model is about.
unsafe impl Sync for SharedCount {}
// SAFETY: the cell holds a number, which any thread may own.
unsafe impl Send for SharedCount {}

fn word() -> &'static OwnerWord {
    Box::leak(Box::new(AtomicUsize::new(0)))
}

fn add(shared: &SharedCount, release: ReleaseMark<'_>) {
    // SAFETY: the lock is held.
    shared.1.with_mut(|count| unsafe { *count += 1 });
    release.store(0, Ordering::Release);
}

fn lock_and_add(shared: &SharedCount, word: &'static OwnerWord) {
    add(shared, shared.0.take(Some(word)));
}

fn try_and_add(shared: &SharedCount, word: &'static OwnerWord) -> u32 {
    let got = shared.0.try_take(Some(word));
    got.map_or(0, |release| {
        add(shared, release);
        1
    })
}

/// A lock that is biased to the thread of the model, which has the word.
fn biased() -> (Arc<SharedCount>, &'static OwnerWord) {
    let (shared, word) = (Arc::new(SharedCount(RawBiasedLock::new(), UnsafeCell::new(0))), word());
    lock_and_add(&shared, word);
    assert!(shared.0.is_biased_to(word, Ordering::Relaxed));
    (shared, word)
}

fn total(shared: &SharedCount, word: &'static OwnerWord) -> u32 {
    let release = shared.0.take(Some(word));
    // SAFETY: the lock is held.
    let total = shared.1.with(|count| unsafe { *count });
    release.store(0, Ordering::Release);
    total
}

/// The owner comes in twice while another thread takes the lock.
#[test]
fn the_owner_and_another_thread_follow_each_other() {
    loom::model(|| {
        let (shared, own) = biased();
        let other = {
            let shared = shared.clone();
            loom::thread::spawn(move || lock_and_add(&shared, word()))
        };
        lock_and_add(&shared, own);
        lock_and_add(&shared, own);
        other.join().unwrap();
        assert_eq!(total(&shared, own), 4);
    });
}

/// The other thread tries and then takes the lock: an owner that it met when it tried is still to be found.
#[test]
fn a_thread_that_tries_in_vain_leaves_the_owner_to_be_found() {
    loom::model(|| {
        let (shared, own) = biased();
        let other = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                let word = word();
                let got = try_and_add(&shared, word);
                lock_and_add(&shared, word);
                got
            })
        };
        lock_and_add(&shared, own);
        let got = other.join().unwrap();
        assert_eq!(total(&shared, own), 3 + got);
    });
}
