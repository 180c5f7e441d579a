//! The lock of a stream's cache, and of a graph: a thread that takes it all the time takes it without a locked
//! instruction.
//!
//! Most caches and graphs have one user. After some acquisitions in a row by one thread the lock becomes *biased* to
//! that thread: the thread announces in a word of its own that it is inside, and checks that the lock is still biased
//! to it. That are plain stores and loads. Any other thread first takes the lock the ordinary way, takes the bias away,
//! and calls `membarrier`, which makes every running thread of the process execute a full fence. Then it waits until
//! the word says that its thread is no longer inside.
//!
//! Between announcement and check stands no fence, so the processor may swap the two. The other side executes it: a
//! thread that still saw the bias announced itself before that fence, so the other side reads the word; a thread that
//! announces itself later sees that the bias is gone. `announcements` has the fence, and the same order for other uses.
//!
//! A thread has one word, so it is inside one lock this way at a time; it takes others the ordinary way. Each time a
//! bias is taken away, the lock asks for more acquisitions in a row before it becomes biased again: threads that take
//! turns pay for few calls of `membarrier`.
//!
//! | file | idea |
//! |---|---|
//! | `owner_words` | where threads announce that they are inside |
//! | `raw` | the lock alone |

#[cfg(all(test, loom))]
mod loom_models;
mod owner_words;
mod raw;
#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(not(loom))]
use std::cell::UnsafeCell;
#[cfg(not(loom))]
use std::marker::PhantomData;
#[cfg(not(loom))]
use std::ops::{Deref, DerefMut};
#[cfg(loom)]
use std::sync::atomic::AtomicUsize;

#[cfg(not(loom))]
use self::owner_words::OwnerWord;
#[cfg(not(loom))]
use self::raw::{RawBiasedLock, ReleaseMark};
#[cfg(not(loom))]
use sconce_base::lock::{HeldMark, LockHold, LockRank, about_to_take};
#[cfg(loom)]
use sconce_base::lock::{LockRank, Mutex, MutexGuard};
#[cfg(not(loom))]
use sconce_base::sync::Ordering;

/// A lock and what it guards.
#[cfg(not(loom))]
pub struct BiasedLock<R, T> {
    raw: RawBiasedLock,
    rank: PhantomData<fn() -> R>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard only, and one thread at a time has one.
#[cfg(not(loom))]
unsafe impl<R, T: Send> Sync for BiasedLock<R, T> {}

/// The lock is held.
#[cfg(not(loom))]
pub struct BiasedGuard<'a, R: LockRank, T> {
    lock: &'a BiasedLock<R, T>,
    release: ReleaseMark<'a>,
    _mark: HeldMark<R>,
    /// The thread that took the lock leaves it.
    _here: PhantomData<*const ()>,
}

#[cfg(not(loom))]
impl<R: LockRank, T: Default> Default for BiasedLock<R, T> {
    fn default() -> BiasedLock<R, T> {
        BiasedLock::new(T::default())
    }
}

#[cfg(not(loom))]
impl<R: LockRank, T> BiasedLock<R, T> {
    pub(crate) fn new(value: T) -> BiasedLock<R, T> {
        BiasedLock { raw: RawBiasedLock::new(), rank: PhantomData, value: UnsafeCell::new(value) }
    }

    /// Takes the lock. `word` is the calling thread's; without one the lock is not taken as its owner.
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn lock(&self, word: Option<&'static OwnerWord>) -> BiasedGuard<'_, R, T> {
        about_to_take::<R>(self.address());
        self.guard(self.raw.take(word))
    }

    /// Takes the lock unless a thread is inside.
    pub(crate) fn try_lock(
        &self,
        word: Option<&'static OwnerWord>,
    ) -> Option<BiasedGuard<'_, R, T>> {
        Some(self.guard(self.raw.try_take(word)?))
    }

    #[inline(always)]
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.raw).addr()
    }

    #[inline(always)]
    fn guard<'a>(&'a self, release: ReleaseMark<'a>) -> BiasedGuard<'a, R, T> {
        let mark = HeldMark::new(self.address(), LockHold::Alone);
        BiasedGuard { lock: self, release, _mark: mark, _here: PhantomData }
    }
}

#[cfg(not(loom))]
impl<R: LockRank, T> Drop for BiasedGuard<'_, R, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.release.store(0, Ordering::Release);
    }
}

#[cfg(not(loom))]
impl<R: LockRank, T> Deref for BiasedGuard<'_, R, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so no other thread reaches the value.
        unsafe { &*self.lock.value.get() }
    }
}

#[cfg(not(loom))]
impl<R: LockRank, T> DerefMut for BiasedGuard<'_, R, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, so no other thread reaches the value, and the guard is borrowed alone.
        unsafe { &mut *self.lock.value.get() }
    }
}

/// Models check the lock itself, and need none of its users.
#[cfg(loom)]
pub struct BiasedLock<R: LockRank, T>(Mutex<R, T>);

#[cfg(loom)]
impl<R: LockRank, T: Default> Default for BiasedLock<R, T> {
    fn default() -> BiasedLock<R, T> {
        BiasedLock::new(T::default())
    }
}

/// The lock is held.
#[cfg(loom)]
pub type BiasedGuard<'a, R, T> = MutexGuard<'a, R, T>;

#[cfg(loom)]
impl<R: LockRank, T> BiasedLock<R, T> {
    pub(crate) fn new(value: T) -> BiasedLock<R, T> {
        BiasedLock(Mutex::new(value))
    }

    pub fn lock(&self, _: Option<&AtomicUsize>) -> BiasedGuard<'_, R, T> {
        self.0.lock()
    }

    pub(crate) fn try_lock(&self, _: Option<&AtomicUsize>) -> Option<BiasedGuard<'_, R, T>> {
        self.0.try_lock()
    }
}
