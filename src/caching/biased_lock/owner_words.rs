//! The words in which threads announce that they are inside a lock that is biased to them, and the fence of all threads.
//!
//! A thread gets its word at the first lock that it takes, and returns it when it ends. Without `membarrier` in the
//! kernel there are no words, and locks are never biased. Models and Miri have no `membarrier` either; there the fence is
//! one of the calling thread alone, and the lock has another one.

#[cfg(not(loom))]
use std::cell::Cell;

#[cfg(not(loom))]
use crate::lock::Mutex;
use crate::sync::AtomicUsize;
#[cfg(not(loom))]
use crate::thread_state;

/// Where a thread announces which lock it is inside: the lock's address, or 0. Words are never freed.
pub(super) type OwnerWord = AtomicUsize;

/// A word in lines of its own: its thread writes it all the time.
#[cfg(not(loom))]
#[repr(align(128))]
#[derive(Default)]
struct WordLines(OwnerWord);

/// Words of threads that have ended.
#[cfg(not(loom))]
static SPARE: Mutex<Vec<&'static OwnerWord>> = Mutex::new(Vec::new());

/// Owns the calling thread's word.
#[cfg(not(loom))]
struct LockWordOwner(Cell<Option<&'static OwnerWord>>);

#[cfg(not(loom))]
impl Drop for LockWordOwner {
    fn drop(&mut self) {
        thread_state::set_owner_word(None);
        // Not in a forked child, where the lock may be held for ever.
        if !crate::process::in_child()
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

#[cfg(not(any(loom, miri)))]
mod fences {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use once_cell::race::OnceBool;
    use rustix::thread::{MembarrierCommand, membarrier};

    /// The kernel refused a fence that it had granted.
    static REFUSED: AtomicBool = AtomicBool::new(false);

    /// How long a thread waits for the effect of a fence that it may not ask for.
    const DRAINED: Duration = Duration::from_millis(20);

    /// Whether the process may ask for fences.
    pub(in super::super) fn has_fence() -> bool {
        static REGISTERED: OnceBool = OnceBool::new();
        let register = || membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
        REGISTERED.get_or_init(register) && !REFUSED.load(Ordering::Relaxed)
    }

    /// Makes every running thread of the process execute a full fence.
    ///
    /// A program may forbid the call after the kernel has granted it (`seccomp`). A store leaves a core's buffer within
    /// microseconds, and at the next interrupt at the latest; so the thread sleeps for much longer than that. Locks
    /// that become biased later would cost the same, so none does.
    pub(in super::super) fn fence_all_threads() {
        if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            REFUSED.store(true, Ordering::Relaxed);
            std::thread::sleep(DRAINED);
        }
    }
}

#[cfg(any(loom, miri))]
mod fences {
    pub(in super::super) fn has_fence() -> bool {
        true
    }

    pub(in super::super) fn fence_all_threads() {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
    }
}

pub(super) use fences::{fence_all_threads, has_fence};
