//! Waiting for other threads: condition variables, parked threads, ended threads, devices.
//!
//! A wait has a rank, as if what is waited for were a lock that others hold. So a thread that waits holds only locks
//! that come before, and a thread whose work others wait for ([`Serving`]) takes only locks that come behind.

use std::marker::PhantomData;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{JoinHandle, ScopedJoinHandle};
use std::time::Duration;

use super::marks::{HeldMark, about_to_wait};
use super::mutex::MutexGuard;
use super::rank::{LockHold, LockRank};

/// A condition variable. `R` is the rank of what its waiters wait for.
pub struct Condvar<R> {
    rank: PhantomData<fn() -> R>,
    inner: parking_lot::Condvar,
}

impl<R: LockRank> Condvar<R> {
    pub const fn new() -> Condvar<R> {
        Condvar { rank: PhantomData, inner: parking_lot::Condvar::new() }
    }

    /// Waits for a notification, without the mutex meanwhile.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn wait<M: LockRank, T>(&self, guard: &mut MutexGuard<'_, M, T>) {
        guard.left_for_a_wait::<R, ()>(|inner| self.inner.wait(inner));
    }

    /// Waits for a notification at most so long; returns whether there was one.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn wait_for<M: LockRank, T>(
        &self,
        guard: &mut MutexGuard<'_, M, T>,
        limit: Duration,
    ) -> bool {
        guard.left_for_a_wait::<R, bool>(|inner| !self.inner.wait_for(inner, limit).timed_out())
    }

    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    pub fn notify_all(&self) {
        self.inner.notify_all();
    }
}

impl<R: LockRank> Default for Condvar<R> {
    fn default() -> Condvar<R> {
        Condvar::new()
    }
}

/// Others wait for what the calling thread does, until this is dropped.
pub struct Serving<R: LockRank>(#[allow(dead_code, reason = "held, not read")] HeldMark<R>);

impl<R: LockRank> Serving<R> {
    pub fn begin() -> Serving<R> {
        Serving(HeldMark::new(0, LockHold::Serving))
    }
}

/// Waits until another thread wakes this one.
#[cfg_attr(debug_assertions, track_caller)]
pub fn park<R: LockRank>() {
    about_to_wait::<R>();
    #[cfg(not(loom))]
    std::thread::park();
    #[cfg(loom)]
    loom::thread::park();
}

/// Waits until a thread has ended.
#[cfg_attr(debug_assertions, track_caller)]
pub fn join<R: LockRank, T>(thread: JoinHandle<T>) -> std::thread::Result<T> {
    about_to_wait::<R>();
    thread.join()
}

/// Waits until a thread of a scope has ended.
#[cfg_attr(debug_assertions, track_caller)]
pub fn join_scoped<R: LockRank, T>(thread: ScopedJoinHandle<'_, T>) -> std::thread::Result<T> {
    about_to_wait::<R>();
    thread.join()
}

/// Waits for a message, at most so long.
#[cfg_attr(debug_assertions, track_caller)]
pub fn receive<R: LockRank, T>(from: &Receiver<T>, limit: Duration) -> Result<T, RecvTimeoutError> {
    about_to_wait::<R>();
    from.recv_timeout(limit)
}
