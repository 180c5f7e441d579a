//! The locks of the library: `parking_lot`'s, counted in debug builds.
//!
//! Two rules concern every lock: the log callback runs while the calling thread holds none (`log`),
//! and a forked child takes none, because a thread of the parent may have held it at the fork and
//! does not exist in the child (`process`). Debug builds check both: each thread counts the locks
//! that it holds, and taking a lock in a forked child panics, which fails the tests. Release builds
//! use `parking_lot`'s types as they are.
//!
//! Where two sides hold a lock for long, neither must starve: that is [`PhaseFairLock`].
//!
//! The simulator's engine and the threads that move bytes of a sleeping pool take `parking_lot`'s locks
//! directly, for their condition variables; no call of a forked child reaches them.

mod phase_fair;

pub(crate) use phase_fair::{LonePhase, PhaseFairLock};

#[cfg(not(debug_assertions))]
pub(crate) use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(debug_assertions)]
pub(crate) use counted::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(debug_assertions)]
pub(crate) use counted::held;

/// A raw lock, counted in debug builds.
#[cfg(all(debug_assertions, not(loom)))]
pub(crate) type Watched<R> = counted::Counted<R>;
/// A raw lock, counted in debug builds.
#[cfg(all(not(debug_assertions), not(loom)))]
pub(crate) type Watched<R> = R;

/// A lock of another kind was taken; counted in debug builds.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) fn count_taken() {}
/// A lock of another kind was left; counted in debug builds.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) fn count_left() {}
#[cfg(debug_assertions)]
pub(crate) use counted::{count_left, count_taken};

#[cfg(debug_assertions)]
mod counted {
    use std::cell::Cell;

    use parking_lot::lock_api;

    use crate::process;

    pub(crate) type Mutex<T> = lock_api::Mutex<Counted<parking_lot::RawMutex>, T>;
    pub(crate) type MutexGuard<'a, T> = lock_api::MutexGuard<'a, Counted<parking_lot::RawMutex>, T>;
    pub(crate) type RwLock<T> = lock_api::RwLock<Counted<parking_lot::RawRwLock>, T>;
    pub(crate) type RwLockReadGuard<'a, T> =
        lock_api::RwLockReadGuard<'a, Counted<parking_lot::RawRwLock>, T>;
    pub(crate) type RwLockWriteGuard<'a, T> =
        lock_api::RwLockWriteGuard<'a, Counted<parking_lot::RawRwLock>, T>;

    thread_local! {
        static HELD: Cell<usize> = const { Cell::new(0) };
    }

    /// The number of the library's locks that the calling thread holds.
    pub(crate) fn held() -> usize {
        HELD.get()
    }

    fn about_to_take() {
        assert!(!process::in_child(), "a forked child takes a lock, which may be held for ever");
    }

    fn taken() {
        HELD.set(HELD.get() + 1);
    }

    /// Counts a lock if it was taken.
    fn counted(got: bool) -> bool {
        if got {
            taken();
        }
        got
    }

    fn released() {
        HELD.set(HELD.get().wrapping_sub(1));
    }

    /// A lock of another kind was taken.
    pub(crate) fn count_taken() {
        about_to_take();
        taken();
    }

    /// A lock of another kind was left.
    pub(crate) fn count_left() {
        released();
    }

    /// A lock that counts.
    pub(crate) struct Counted<R>(R);

    // SAFETY: the inner lock provides the exclusion; counting does not affect it.
    unsafe impl<R: lock_api::RawMutex> lock_api::RawMutex for Counted<R> {
        #[allow(clippy::declare_interior_mutable_const, reason = "the trait asks for it")]
        const INIT: Self = Counted(R::INIT);
        type GuardMarker = R::GuardMarker;

        fn lock(&self) {
            about_to_take();
            self.0.lock();
            taken();
        }

        fn try_lock(&self) -> bool {
            about_to_take();
            counted(self.0.try_lock())
        }

        unsafe fn unlock(&self) {
            // SAFETY: the caller holds the lock, as the trait demands.
            unsafe { self.0.unlock() }
            released();
        }
    }

    // SAFETY: the inner lock provides the exclusion; counting does not affect it.
    unsafe impl<R: lock_api::RawRwLock> lock_api::RawRwLock for Counted<R> {
        #[allow(clippy::declare_interior_mutable_const, reason = "the trait asks for it")]
        const INIT: Self = Counted(R::INIT);
        type GuardMarker = R::GuardMarker;

        fn lock_shared(&self) {
            about_to_take();
            self.0.lock_shared();
            taken();
        }

        fn try_lock_shared(&self) -> bool {
            about_to_take();
            counted(self.0.try_lock_shared())
        }

        unsafe fn unlock_shared(&self) {
            // SAFETY: the caller holds the lock, as the trait demands.
            unsafe { self.0.unlock_shared() }
            released();
        }

        fn lock_exclusive(&self) {
            about_to_take();
            self.0.lock_exclusive();
            taken();
        }

        fn try_lock_exclusive(&self) -> bool {
            about_to_take();
            counted(self.0.try_lock_exclusive())
        }

        unsafe fn unlock_exclusive(&self) {
            // SAFETY: the caller holds the lock, as the trait demands.
            unsafe { self.0.unlock_exclusive() }
            released();
        }
    }

    // SAFETY: the inner lock provides the exclusion; counting does not affect it.
    unsafe impl<R: lock_api::RawRwLockRecursive> lock_api::RawRwLockRecursive for Counted<R> {
        fn lock_shared_recursive(&self) {
            about_to_take();
            self.0.lock_shared_recursive();
            taken();
        }

        fn try_lock_shared_recursive(&self) -> bool {
            about_to_take();
            counted(self.0.try_lock_shared_recursive())
        }
    }

    // SAFETY: the inner lock provides the exclusion; counting does not affect it.
    unsafe impl<R: lock_api::RawRwLockTimed> lock_api::RawRwLockTimed for Counted<R> {
        type Duration = R::Duration;
        type Instant = R::Instant;

        fn try_lock_shared_for(&self, timeout: Self::Duration) -> bool {
            about_to_take();
            counted(self.0.try_lock_shared_for(timeout))
        }

        fn try_lock_shared_until(&self, timeout: Self::Instant) -> bool {
            about_to_take();
            counted(self.0.try_lock_shared_until(timeout))
        }

        fn try_lock_exclusive_for(&self, timeout: Self::Duration) -> bool {
            about_to_take();
            counted(self.0.try_lock_exclusive_for(timeout))
        }

        fn try_lock_exclusive_until(&self, timeout: Self::Instant) -> bool {
            about_to_take();
            counted(self.0.try_lock_exclusive_until(timeout))
        }
    }
}
