//! The standard library's mutex and condition variable, where waiters are noted in the lock itself: those of
//! `parking_lot` are in a table of the process, in which threads of other locks get in the way (`parallel`).

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;

use super::marks::{HeldMark, about_to_take, about_to_wait};
use super::rank::{LockHold, LockRank};

/// A mutex of the class `R`.
pub struct FutexMutex<R, T> {
    rank: PhantomData<fn() -> R>,
    inner: std::sync::Mutex<T>,
}

/// The mutex is held.
pub struct FutexGuard<'a, R: LockRank, T> {
    inner: std::sync::MutexGuard<'a, T>,
    mark: HeldMark<R>,
}

impl<R: LockRank, T> FutexMutex<R, T> {
    pub const fn new(value: T) -> FutexMutex<R, T> {
        FutexMutex { rank: PhantomData, inner: std::sync::Mutex::new(value) }
    }

    /// Takes the mutex. A panic of an earlier holder does not matter.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn lock(&self) -> FutexGuard<'_, R, T> {
        let address = std::ptr::from_ref(self).addr();
        about_to_take::<R>(address);
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        FutexGuard { inner, mark: HeldMark::new(address, LockHold::Alone) }
    }

    /// What it guarded.
    pub fn into_inner(self) -> T {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: LockRank, T: Default> Default for FutexMutex<R, T> {
    fn default() -> FutexMutex<R, T> {
        FutexMutex::new(T::default())
    }
}

impl<R: LockRank, T> Deref for FutexGuard<'_, R, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<R: LockRank, T> DerefMut for FutexGuard<'_, R, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

/// A condition variable. `R` is the rank of what its waiters wait for.
pub struct FutexCondvar<R> {
    rank: PhantomData<fn() -> R>,
    inner: std::sync::Condvar,
}

impl<R: LockRank> FutexCondvar<R> {
    pub(crate) const fn new() -> FutexCondvar<R> {
        FutexCondvar { rank: PhantomData, inner: std::sync::Condvar::new() }
    }

    /// Waits for a notification, without the mutex meanwhile.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn wait<'a, M: LockRank, T>(&self, guard: FutexGuard<'a, M, T>) -> FutexGuard<'a, M, T> {
        let FutexGuard { inner, mark } = guard;
        mark.pause();
        about_to_wait::<R>();
        let inner = self.inner.wait(inner).unwrap_or_else(PoisonError::into_inner);
        mark.resume();
        FutexGuard { inner, mark }
    }

    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    pub fn notify_all(&self) {
        self.inner.notify_all();
    }
}

impl<R: LockRank> Default for FutexCondvar<R> {
    fn default() -> FutexCondvar<R> {
        FutexCondvar::new()
    }
}
