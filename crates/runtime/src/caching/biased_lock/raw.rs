//! The lock alone: who takes it which way, and when it becomes biased.

use sconce_base::announcements::{fence_all_threads, fence_here, has_fence};
use sconce_base::sync::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, prefetch_to_write};

use super::owner_words::OwnerWord;
use crate::caching::contention;
use crate::caching::lock::pause;

/// How many acquisitions in a row by one thread bias a lock to it: the first time, how many times as many the next
/// time, and at most.
pub(super) const FIRST_RUN: u32 = if cfg!(any(loom, miri)) { 1 } else { 128 };
pub(super) const GROWTH: u32 = 8;
pub(super) const LONGEST_RUN: u32 = 1 << 20;

/// The lock alone.
pub(super) struct RawBiasedLock {
    /// 1 while a thread holds it the ordinary way.
    pub(super) held: AtomicUsize,
    /// The word of the thread that it is biased to. Changed only by a thread that holds it the ordinary way.
    pub(super) owner: AtomicPtr<OwnerWord>,
    /// The word of the thread that took it last the ordinary way, how often it did so in a row, and how often it must
    /// for the lock to be biased to it. Used by threads that hold it the ordinary way.
    last: AtomicPtr<OwnerWord>,
    run: AtomicU32,
    needed: AtomicU32,
}

/// What a thread that leaves a lock sets to 0.
pub(super) type ReleaseMark<'a> = &'a AtomicUsize;

impl RawBiasedLock {
    pub(super) fn new() -> RawBiasedLock {
        RawBiasedLock {
            held: AtomicUsize::new(0),
            owner: AtomicPtr::new(std::ptr::null_mut()),
            last: AtomicPtr::new(std::ptr::null_mut()),
            run: AtomicU32::new(0),
            needed: AtomicU32::new(FIRST_RUN),
        }
    }

    #[inline(always)]
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Takes the lock if it is biased to the thread that has the word and the thread is inside no other lock that way.
    #[inline(always)]
    fn take_as_owner(&self, word: &'static OwnerWord) -> Option<ReleaseMark<'static>> {
        if word.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // With release, as all stores to the word: whoever reads a later announcement sees what was done in this lock.
        word.store(self.address(), Ordering::Release);
        fence_here();
        if self.is_biased_to(word, Ordering::Acquire) {
            return Some(word);
        }
        word.store(0, Ordering::Release);
        None
    }

    #[inline(always)]
    pub(super) fn is_biased_to(&self, word: &OwnerWord, order: Ordering) -> bool {
        std::ptr::eq(self.owner.load(order), word)
    }

    #[inline]
    fn take_ordinarily(&self) -> bool {
        self.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the lock. `word` is the calling thread's.
    #[inline(always)]
    pub(super) fn take<'a>(&'a self, word: Option<&'static OwnerWord>) -> ReleaseMark<'a> {
        // If it is not biased to this thread, the look at its owner is followed by a write.
        prefetch_to_write(&self.held);
        if let Some(word) = word
            && let Some(release) = self.take_as_owner(word)
        {
            return release;
        }
        self.take_slowly(word)
    }

    #[inline(never)]
    fn take_slowly<'a>(&'a self, word: Option<&'static OwnerWord>) -> ReleaseMark<'a> {
        #[cfg(not(loom))]
        let word = word.or_else(super::owner_words::first_use);
        if !self.take_ordinarily() {
            contention::count_wait();
            wait_until(|| self.held.load(Ordering::Relaxed) == 0 && self.take_ordinarily());
        }
        self.become_sole(word);
        self.count(word)
    }

    /// Takes the lock unless a thread is inside.
    pub(super) fn try_take<'a>(
        &'a self,
        word: Option<&'static OwnerWord>,
    ) -> Option<ReleaseMark<'a>> {
        if let Some(word) = word
            && let Some(release) = self.take_as_owner(word)
        {
            return Some(release);
        }
        if !self.take_ordinarily() {
            return None;
        }
        let owner = self.owner.load(Ordering::Relaxed);
        let alone = self.is_owner_outside(owner) && {
            self.take_bias_away(word);
            self.is_owner_outside(owner)
        };
        if !alone {
            // Its owner is inside, and must be found there by the next thread.
            self.owner.store(owner, Ordering::Relaxed);
            self.held.store(0, Ordering::Release);
            return None;
        }
        Some(&self.held)
    }

    /// Waits until no other thread is inside. The lock is held the ordinary way.
    #[inline]
    fn become_sole(&self, word: Option<&OwnerWord>) {
        let owner = self.owner.load(Ordering::Relaxed);
        if !owner.is_null() {
            self.take_bias_away(word);
            if !self.is_owner_outside(owner) {
                contention::count_wait();
                wait_until(|| self.is_owner_outside(owner));
            }
        }
    }

    /// Whether the thread that the lock is or was biased to is not inside that way.
    fn is_owner_outside(&self, owner: *mut OwnerWord) -> bool {
        // SAFETY: words are never freed.
        let word = unsafe { owner.as_ref() };
        word.is_none_or(|word| word.load(Ordering::Acquire) != self.address())
    }

    /// Ends the bias, if there is one. Afterwards the owner's word says whether the owner is inside. The lock is held
    /// the ordinary way.
    #[cold]
    #[inline(never)]
    fn take_bias_away(&self, word: Option<&OwnerWord>) {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner.is_null() {
            return;
        }
        self.owner.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.run.store(0, Ordering::Relaxed);
        // The calling thread may be the owner, inside another lock. It knows whether it is inside this one.
        if word.is_none_or(|word| !std::ptr::eq(word, owner)) {
            let needed = self.needed.load(Ordering::Relaxed);
            self.needed.store(needed.saturating_mul(GROWTH).min(LONGEST_RUN), Ordering::Relaxed);
            fence_all_threads();
        }
    }

    /// Counts an acquisition, after which the lock may be biased to the calling thread. The lock is held the ordinary
    /// way; on return it is held in the way that the result says.
    #[inline]
    fn count<'a>(&'a self, word: Option<&'static OwnerWord>) -> ReleaseMark<'a> {
        let Some(word) = word else { return &self.held };
        if !std::ptr::eq(self.last.load(Ordering::Relaxed), word) {
            self.last.store(std::ptr::from_ref(word).cast_mut(), Ordering::Relaxed);
            self.run.store(0, Ordering::Relaxed);
        }
        let run = self.run.load(Ordering::Relaxed) + 1;
        self.run.store(run, Ordering::Relaxed);
        if run < self.needed.load(Ordering::Relaxed)
            || word.load(Ordering::Relaxed) != 0
            || !has_fence()
        {
            return &self.held;
        }
        // From here on the thread is inside as the owner. The next one that holds the lock the ordinary way finds both.
        self.run.store(0, Ordering::Relaxed);
        word.store(self.address(), Ordering::Release);
        self.owner.store(std::ptr::from_ref(word).cast_mut(), Ordering::Relaxed);
        self.held.store(0, Ordering::Release);
        word
    }
}

/// Looks until something holds: spins, then lets other threads run, then sleeps for moments.
#[cold]
#[inline(never)]
fn wait_until(holds: impl Fn() -> bool) {
    let mut looks = 0_u32;
    while !holds() {
        looks = looks.saturating_add(1);
        pause(looks);
    }
}
