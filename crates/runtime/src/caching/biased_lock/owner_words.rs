//! The words in which threads announce that they are inside a lock that is biased to them.
//!
//! A thread gets its word at the first lock that it takes, and returns it when it ends. Without `membarrier` in the
//! kernel there are no words, and locks are never biased.

#[cfg(not(loom))]
use std::cell::Cell;

#[cfg(not(loom))]
use sconce_base::announcements::has_fence;
#[cfg(not(loom))]
use sconce_base::lock::{Mutex, rank};
use sconce_base::sync::AtomicUsize;
#[cfg(not(loom))]
use sconce_base::thread_state;

/// Where a thread announces which lock it is inside: the lock's address, or 0. Words are never freed.
pub(super) type OwnerWord = AtomicUsize;

/// A word in lines of its own: its thread writes it all the time.
#[cfg(not(loom))]
#[repr(align(128))]
#[derive(Default)]
struct WordLines(OwnerWord);

/// Words of threads that have ended.
#[cfg(not(loom))]
static SPARE: Mutex<rank::OwnerWords, Vec<&'static OwnerWord>> = Mutex::new(Vec::new());

/// Owns the calling thread's word.
#[cfg(not(loom))]
struct LockWordOwner(Cell<Option<&'static OwnerWord>>);

#[cfg(not(loom))]
impl Drop for LockWordOwner {
    fn drop(&mut self) {
        thread_state::set_owner_word(None);
        // Not in a forked child, where the lock may be held for ever.
        if !sconce_base::process::in_child()
            && let Some(word) = self.0.take()
        {
            SPARE.lock().push(word);
        }
    }
}

#[cfg(not(loom))]
thread_local! {
    static OWNER: LockWordOwner = const { LockWordOwner(Cell::new(None)) };
}

/// Assigns a word to the calling thread, if there are any.
#[cfg(not(loom))]
#[cold]
#[inline(never)]
pub(super) fn first_use() -> Option<&'static OwnerWord> {
    if !has_fence() {
        return None;
    }
    OWNER
        .try_with(|owner| {
            let spare = SPARE.lock().pop();
            let word = spare.unwrap_or_else(|| &Box::leak(Box::<WordLines>::default()).0);
            owner.0.set(Some(word));
            thread_state::set_owner_word(Some(word));
            word
        })
        .ok()
}
