//! The lock of the cache of pinned memory, for critical sections of some nanoseconds that are rarely contended.
//!
//! Taking it is one exchange, leaving it a plain store; a lock whose waiters must be woken needs a
//! second exchange to leave. So waiters are not woken: they spin, then let others run, then sleep
//! for moments and look again. Sections that take long (a snapshot of many blocks) are rare.

#[cfg(not(loom))]
use std::time::Duration;

#[cfg(not(loom))]
use sconce_base::lock::lock_api;
use sconce_base::lock::{Mutex, MutexGuard};
use sconce_base::sync::{AtomicU32, Ordering};

/// How often a waiter looks before it lets other threads run, and before it sleeps.
#[cfg(not(loom))]
const SPINS: u32 = 100;
#[cfg(not(loom))]
const YIELDS: u32 = 20;
/// How long it sleeps.
#[cfg(not(loom))]
const NAP: Duration = Duration::from_micros(20);

/// A lock and what it guards. Models check the lock itself, and need none of its users.
#[cfg(not(loom))]
pub(crate) type Lock<R, T> = Mutex<R, T, RawLock>;
#[cfg(loom)]
pub(crate) type Lock<R, T> = Mutex<R, T>;
/// The lock is held.
#[cfg(not(loom))]
pub(crate) type Guard<'a, R, T> = MutexGuard<'a, R, T, RawLock>;
#[cfg(loom)]
pub(crate) type Guard<'a, R, T> = MutexGuard<'a, R, T>;

/// The lock alone: 1 while it is held.
pub(crate) struct RawLock(AtomicU32);

#[cfg(not(loom))]
// SAFETY: `lock` and `try_lock` return only after having changed 0 to 1, which one thread at a time
// can do until `unlock` makes it 0 again; acquire and release order what happens in between.
unsafe impl lock_api::RawMutex for RawLock {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait's way to make a lock")]
    const INIT: RawLock = RawLock(AtomicU32::new(0));

    type GuardMarker = lock_api::GuardSend;

    #[inline]
    fn lock(&self) {
        if !self.take() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.take()
    }

    // SAFETY: `leave` is a plain store that is sound on any thread; that the lock is held is the trait's duty, without
    // which it would let two threads in.
    #[inline]
    unsafe fn unlock(&self) {
        self.leave();
    }
}

impl RawLock {
    #[inline]
    fn take(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    fn leave(&self) {
        self.0.store(0, Ordering::Release);
    }

    #[cfg(not(loom))]
    #[cold]
    #[inline(never)]
    fn wait(&self) {
        super::contention::count_wait();
        let mut looks = 0_u32;
        // Looking does not take the cache line away from the holder; trying does.
        while self.0.load(Ordering::Relaxed) != 0 || !self.take() {
            looks = looks.saturating_add(1);
            pause(looks);
        }
    }
}

/// What a waiter does after it has looked so often: it spins, then lets other threads run, then sleeps for moments.
pub(super) fn pause(looks: u32) {
    #[cfg(not(loom))]
    if looks < SPINS {
        std::hint::spin_loop();
    } else if looks < SPINS + YIELDS {
        std::thread::yield_now();
    } else {
        std::thread::sleep(NAP);
    }
    #[cfg(loom)]
    {
        let _ = looks;
        loom::thread::yield_now();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::lock::{Mutex, rank};

    use super::RawLock;

    type Lock<T> = Mutex<rank::PinnedHeap, T, RawLock>;

    #[test]
    fn one_thread_at_a_time_is_inside() {
        let rounds = if cfg!(miri) { 50 } else { 20_000 };
        let count = Lock::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let mut count = count.lock();
                        let before = *count;
                        std::hint::black_box(&mut count);
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*count.lock(), 4 * rounds);
    }

    #[test]
    fn trying_does_not_wait_and_a_sleeping_waiter_gets_in() {
        let lock = Lock::new(());
        let held = lock.lock();
        assert!(lock.try_lock().is_none());
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| drop(lock.lock()));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!waiter.is_finished());
            drop(held);
            waiter.join().unwrap();
        });
        assert!(lock.try_lock().is_some());
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::cell::Cell;
    use loom::sync::Arc;

    use super::*;

    /// A cell that only the holder of the lock looks at; loom finds any other look.
    struct Shared(RawLock, Cell<u32>);

    // SAFETY: the cell is used under the lock only, which is what the model is about.
    unsafe impl Sync for Shared {}

    fn add(shared: &Shared) -> u32 {
        if !shared.0.take() {
            return 0;
        }
        shared.1.set(shared.1.get() + 1);
        shared.0.leave();
        1
    }

    #[test]
    fn holders_follow_each_other_and_see_what_was_written() {
        loom::model(|| {
            let shared = Arc::new(Shared(RawLock(AtomicU32::new(0)), Cell::new(0)));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || add(&shared))
                })
                .collect();
            let here = add(&shared);
            let sum = here + threads.into_iter().map(|t| t.join().unwrap()).sum::<u32>();
            assert_eq!(shared.1.get(), sum);
        });
    }
}
