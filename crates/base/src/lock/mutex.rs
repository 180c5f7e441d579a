//! A mutex with a rank.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use parking_lot::RawMutex;
use parking_lot::lock_api;

use super::marks::{HeldMark, about_to_take, about_to_wait};
use super::rank::{LockHold, LockRank};

/// A mutex of the rank `R`. `L` is the lock alone.
pub struct Mutex<R, T, L = RawMutex> {
    rank: PhantomData<fn() -> R>,
    inner: lock_api::Mutex<L, T>,
}

/// The mutex is held.
pub struct MutexGuard<'a, R: LockRank, T, L: lock_api::RawMutex = RawMutex> {
    // Left first.
    inner: lock_api::MutexGuard<'a, L, T>,
    mark: HeldMark<R>,
}

impl<R: LockRank, T, L: lock_api::RawMutex> Mutex<R, T, L> {
    pub const fn new(value: T) -> Mutex<R, T, L> {
        Mutex { rank: PhantomData, inner: lock_api::Mutex::new(value) }
    }

    #[inline(always)]
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.inner).addr()
    }

    /// Takes the mutex.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn lock(&self) -> MutexGuard<'_, R, T, L> {
        about_to_take::<R>(self.address());
        let inner = self.inner.lock();
        MutexGuard { inner, mark: HeldMark::new(self.address(), LockHold::Alone) }
    }

    /// Takes the mutex. Of several of its rank a thread takes them by rising numbers.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn lock_in_order(&self, number: usize) -> MutexGuard<'_, R, T, L> {
        about_to_take::<R>(number);
        let inner = self.inner.lock();
        MutexGuard { inner, mark: HeldMark::new(number, LockHold::Alone) }
    }

    /// Takes the mutex, unless that needs a wait.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, R, T, L>> {
        let inner = self.inner.try_lock()?;
        Some(MutexGuard { inner, mark: HeldMark::new(self.address(), LockHold::Alone) })
    }

    /// What it guards, where no other thread can be inside.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<R: LockRank, T: Default, L: lock_api::RawMutex> Default for Mutex<R, T, L> {
    fn default() -> Mutex<R, T, L> {
        Mutex::new(T::default())
    }
}

impl<R, T: fmt::Debug, L: lock_api::RawMutex> fmt::Debug for Mutex<R, T, L> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(to)
    }
}

impl<R: LockRank, T> MutexGuard<'_, R, T> {
    /// Does something without the mutex, and takes it again.
    pub fn unlocked<V>(guard: &mut Self, action: impl FnOnce() -> V) -> V {
        guard.mark.pause();
        let value = parking_lot::MutexGuard::unlocked(&mut guard.inner, || {
            let value = action();
            about_to_take::<R>(0);
            value
        });
        guard.mark.resume();
        value
    }

    /// Waits by `wait`, which leaves the mutex meanwhile, for something with the rank `W`.
    #[cfg_attr(debug_assertions, track_caller)]
    pub(super) fn left_for_a_wait<W: LockRank, V>(
        &mut self,
        wait: impl FnOnce(&mut parking_lot::MutexGuard<'_, T>) -> V,
    ) -> V {
        self.mark.pause();
        about_to_wait::<W>();
        let value = wait(&mut self.inner);
        self.mark.resume();
        value
    }

    /// Leaves the mutex to the thread that waits longest.
    pub fn unlock_fair(guard: Self) {
        parking_lot::MutexGuard::unlock_fair(guard.inner);
    }
}

impl<R: LockRank, T, L: lock_api::RawMutex> Deref for MutexGuard<'_, R, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<R: LockRank, T, L: lock_api::RawMutex> DerefMut for MutexGuard<'_, R, T, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}
