//! A reader-writer lock with a rank. A thread that reads waits for threads that wait to write, so reading counts as
//! writing in the order of locks, and nobody reads twice.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::marks::{HeldMark, about_to_take, note_left};
use super::rank::{LockHold, LockRank};

/// A reader-writer lock of the class `R`.
pub struct RwLock<R, T> {
    rank: PhantomData<fn() -> R>,
    inner: parking_lot::RwLock<T>,
}

/// The lock is held beside other readers.
pub struct RwLockReadGuard<'a, R: LockRank, T> {
    inner: parking_lot::RwLockReadGuard<'a, T>,
    _mark: HeldMark<R>,
}

/// The lock is held alone.
pub struct RwLockWriteGuard<'a, R: LockRank, T> {
    inner: parking_lot::RwLockWriteGuard<'a, T>,
    _mark: HeldMark<R>,
}

impl<R: LockRank, T> RwLock<R, T> {
    pub const fn new(value: T) -> RwLock<R, T> {
        RwLock { rank: PhantomData, inner: parking_lot::RwLock::new(value) }
    }

    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(&self.inner).addr()
    }

    /// Takes the lock beside other readers.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn read(&self) -> RwLockReadGuard<'_, R, T> {
        about_to_take::<R>(self.address());
        let inner = self.inner.read();
        RwLockReadGuard { inner, _mark: HeldMark::new(self.address(), LockHold::Shared) }
    }

    /// Takes the lock beside other readers, unless that needs a wait.
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, R, T>> {
        let inner = self.inner.try_read()?;
        Some(RwLockReadGuard { inner, _mark: HeldMark::new(self.address(), LockHold::Shared) })
    }

    /// Takes the lock alone.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn write(&self) -> RwLockWriteGuard<'_, R, T> {
        about_to_take::<R>(self.address());
        let inner = self.inner.write();
        RwLockWriteGuard { inner, _mark: HeldMark::new(self.address(), LockHold::Alone) }
    }

    /// The place of what it guards.
    #[inline]
    pub(crate) fn data_ptr(&self) -> *mut T {
        self.inner.data_ptr()
    }

    /// Leaves the lock for a guard that was forgotten.
    ///
    /// # Safety
    /// The calling thread has the lock as a reader, and its guard was forgotten.
    #[allow(unsafe_code, reason = "leaves a lock without its guard")]
    pub(crate) unsafe fn force_unlock_read(&self) {
        note_left::<R>(LockHold::Shared);
        // SAFETY: the thread is a reader whose guard was forgotten, by what this function demands, so its share is
        // given back once.
        unsafe { self.inner.force_unlock_read() };
    }
}

impl<R: LockRank, T: Default> Default for RwLock<R, T> {
    fn default() -> RwLock<R, T> {
        RwLock::new(T::default())
    }
}

impl<R: LockRank, T> Deref for RwLockReadGuard<'_, R, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<R: LockRank, T> Deref for RwLockWriteGuard<'_, R, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<R: LockRank, T> DerefMut for RwLockWriteGuard<'_, R, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}
