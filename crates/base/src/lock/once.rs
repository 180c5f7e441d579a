//! What is done, or made, once. Other threads wait for the first one, so each has a rank, as a lock has.

use std::marker::PhantomData;
use std::ops::Deref;

use super::marks::{HeldMark, about_to_take};
use super::rank::{LockHold, LockRank};

/// Something that is done once.
pub struct Once<R> {
    rank: PhantomData<fn() -> R>,
    inner: parking_lot::Once,
}

impl<R: LockRank> Once<R> {
    pub const fn new() -> Once<R> {
        Once { rank: PhantomData, inner: parking_lot::Once::new() }
    }

    /// Does it, unless that was done, or waits until it is done.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn call_once(&self, action: impl FnOnce()) {
        if self.inner.state().done() {
            return;
        }
        about_to_take::<R>(0);
        self.inner.call_once(|| {
            let _mark = HeldMark::<R>::new(0, LockHold::Alone);
            action();
        });
    }
}

/// A value that is made once, by the first thread that needs it.
pub struct OnceCell<R, T> {
    rank: PhantomData<fn() -> R>,
    inner: once_cell::sync::OnceCell<T>,
}

impl<R: LockRank, T> OnceCell<R, T> {
    pub const fn new() -> OnceCell<R, T> {
        OnceCell { rank: PhantomData, inner: once_cell::sync::OnceCell::new() }
    }

    /// The value, if it has been made. Does not wait.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.inner.get()
    }

    /// The value, made by `make` if need be.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.init(make),
        }
    }

    #[cold]
    #[cfg_attr(debug_assertions, track_caller)]
    fn init(&self, make: impl FnOnce() -> T) -> &T {
        about_to_take::<R>(0);
        self.inner.get_or_init(|| {
            let _mark = HeldMark::<R>::new(0, LockHold::Alone);
            make()
        })
    }

    /// The value, made by `make` if need be; after a failure the next caller tries again.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.get() {
            Some(value) => Ok(value),
            None => self.try_init(make),
        }
    }

    #[cold]
    #[cfg_attr(debug_assertions, track_caller)]
    fn try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        about_to_take::<R>(0);
        self.inner.get_or_try_init(|| {
            let _mark = HeldMark::<R>::new(0, LockHold::Alone);
            make()
        })
    }

    /// Sets the value, unless there is one; else it comes back.
    pub fn set(&self, value: T) -> Result<(), T> {
        about_to_take::<R>(0);
        self.inner.set(value)
    }
}

/// A static that the first use makes.
pub struct Lazy<R, T> {
    cell: OnceCell<R, T>,
    make: fn() -> T,
}

impl<R: LockRank, T> Lazy<R, T> {
    pub const fn new(make: fn() -> T) -> Lazy<R, T> {
        Lazy { cell: OnceCell::new(), make }
    }

    /// The value, if it has been made.
    #[inline]
    pub fn get(lazy: &Lazy<R, T>) -> Option<&T> {
        lazy.cell.get()
    }
}

impl<R: LockRank, T> Deref for Lazy<R, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.cell.get_or_init(self.make)
    }
}
