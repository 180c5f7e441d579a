//! The words of the threads. A thread gets its word at the first announcement, and returns it when it ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{fence_all_threads, fence_here, has_fence};
use crate::lock::{Mutex, rank};
use crate::thread_state;

/// A word in lines of its own: its thread writes it all the time.
#[repr(align(128))]
#[derive(Default)]
struct AnnouncementLines(AtomicUsize);

/// The words of all threads. They are never freed.
struct Words {
    all: Vec<&'static AtomicUsize>,
    /// Words of threads that have ended.
    spare: Vec<&'static AtomicUsize>,
}

static WORDS: Mutex<rank::AnnouncementWords, Words> =
    Mutex::new(Words { all: Vec::new(), spare: Vec::new() });

/// The calling thread uses something, until this is dropped.
pub struct Announcement(&'static AtomicUsize);

impl Drop for Announcement {
    #[inline]
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Announces that the calling thread uses what has this address. The caller must check afterwards that it is still to
/// be used. Returns `None` if the caller must take a lock instead.
#[inline]
pub fn announce(address: usize) -> Option<Announcement> {
    let word = match thread_state::announcement() {
        Some(word) => word,
        None => first_use()?,
    };
    if word.load(Ordering::Relaxed) != 0 {
        return None;
    }
    // With release, as all stores to the word: whoever reads a later announcement sees that an earlier one has ended.
    word.store(address, Ordering::Release);
    fence_here();
    Some(Announcement(word))
}

/// Owns the calling thread's word, and returns it when the thread ends.
struct WordOwner(Cell<Option<&'static AtomicUsize>>);

impl Drop for WordOwner {
    fn drop(&mut self) {
        thread_state::set_announcement(None);
        // Not in a forked child, where the lock may be held for ever and no other thread reads the word.
        if !crate::process::in_child()
            && let Some(word) = self.0.take()
        {
            WORDS.lock().spare.push(word);
        }
    }
}

thread_local! {
    static OWNER: WordOwner = const { WordOwner(Cell::new(None)) };
}

/// Assigns a word to the calling thread.
#[cold]
#[inline(never)]
pub(super) fn first_use() -> Option<&'static AtomicUsize> {
    if !has_fence() {
        return None;
    }
    OWNER
        .try_with(|owner| {
            let mut words = WORDS.lock();
            let word = words.spare.pop().unwrap_or_else(|| {
                let word: &'static AtomicUsize = &Box::leak(Box::<AnnouncementLines>::default()).0;
                words.all.push(word);
                word
            });
            drop(words);
            owner.0.set(Some(word));
            thread_state::set_announcement(Some(word));
            word
        })
        .ok()
}

/// The number of other threads that have words. One that gets its first word later passes the lock behind this call,
/// so it sees what the caller has done before.
pub fn others() -> usize {
    let words = WORDS.lock();
    words.all.len() - words.spare.len() - usize::from(thread_state::announcement().is_some())
}

/// Waits until other threads have ended what they announce at the moment. What they announce afterwards, they announce
/// knowing what the caller has done before. Threads announce something for the time of a call that does not block.
pub fn await_others() {
    if others() == 0 {
        return;
    }
    fence_all_threads();
    let own = thread_state::announcement();
    let is_own = |word: &AtomicUsize| own.is_some_and(|own| std::ptr::eq(own, word));
    let all = WORDS.lock().all.clone();
    for word in all.into_iter().filter(|word| !is_own(word)) {
        let seen = word.load(Ordering::Acquire);
        while seen != 0 && word.load(Ordering::Acquire) == seen {
            std::thread::yield_now();
        }
    }
}

/// The addresses that threads announce, after a fence: what is not among them, and is no longer to be used, is not used
/// any more.
pub fn announced() -> Vec<usize> {
    fence_all_threads();
    WORDS.lock().all.iter().map(|word| word.load(Ordering::Acquire)).collect()
}
