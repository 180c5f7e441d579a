//! A reader-writer lock that is fair between its two sides, for holds that last long.
//!
//! A thread *shares* the lock with others, or is *alone* in it. While one waits to be alone, threads that want to share
//! wait, too. When a thread that was alone leaves, all that wait to share enter before the next one is alone. So:
//!
//! - a thread that wants to be alone waits for those that share when it comes, and for those that came before it to be
//!   alone, each of which lets those in that wait to share, once;
//! - a thread that wants to share waits for at most one other to be alone, behind those that share when it comes.
//!
//! What a thread does that shares may depend on one that waits to share: it waits for a device, and the device for work
//! that the other thread has yet to queue. So a thread that waits to share goes in beside those that do once none of
//! them has left for [`PATIENCE`], unless one is alone.

#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::marker::PhantomData;
use std::time::Duration;

use super::marks::{HeldMark, about_to_take, note_left, note_taken};
use super::rank::{LockHold, LockRank};

/// How long a thread that waits to share sees none leave before it goes in.
const PATIENCE: Duration = Duration::from_millis(200);

/// The lock. It guards nothing that it knows of.
pub struct PhaseFairLock<R> {
    rank: PhantomData<fn() -> R>,
    state: Mutex<Phases>,
    /// Notified when the last one that shares leaves, and when one that was alone does.
    moved: Condvar,
}

struct Phases {
    /// The threads that share.
    sharing: usize,
    /// How often one of them has left.
    left: u64,
    /// The threads that wait to share.
    waiting: usize,
    /// How often all that waited to share were let in.
    admissions: u64,
    is_alone: bool,
    /// The tickets of those that want to be alone: the next one to be given, and the one whose turn it is.
    next_ticket: u64,
    turn: u64,
}

impl Phases {
    const NONE: Phases = Phases {
        sharing: 0,
        left: 0,
        waiting: 0,
        admissions: 0,
        is_alone: false,
        next_ticket: 0,
        turn: 0,
    };

    /// Whether a thread is alone, or waits for that.
    fn is_wanted_alone(&self) -> bool {
        self.turn != self.next_ticket
    }
}

/// The calling thread is alone in the lock.
pub struct LonePhase<'a, R: LockRank> {
    lock: &'a PhaseFairLock<R>,
    _mark: HeldMark<R>,
}

impl<R: LockRank> PhaseFairLock<R> {
    #[cfg(not(loom))]
    pub const fn new() -> PhaseFairLock<R> {
        PhaseFairLock { rank: PhantomData, state: Mutex::new(Phases::NONE), moved: Condvar::new() }
    }

    #[cfg(loom)]
    pub fn new() -> PhaseFairLock<R> {
        PhaseFairLock { rank: PhantomData, state: Mutex::new(Phases::NONE), moved: Condvar::new() }
    }

    /// Shares the lock, until [`leave`](Self::leave). The calling thread must not be inside already: it could wait for
    /// itself.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn share(&self) {
        about_to_take::<R>(self.address());
        self.wait_to_share();
        note_taken::<R>(self.address(), LockHold::Shared);
    }

    /// Shares the lock unless that would wait; says whether it does. As [`share`](Self::share) otherwise.
    pub fn try_share(&self) -> bool {
        {
            let mut state = self.state();
            if state.is_wanted_alone() {
                return false;
            }
            state.sharing += 1;
        }
        note_taken::<R>(self.address(), LockHold::Shared);
        true
    }

    fn wait_to_share(&self) {
        let mut state = self.state();
        if !state.is_wanted_alone() {
            state.sharing += 1;
            return;
        }
        state.waiting += 1;
        let admissions = state.admissions;
        loop {
            let left = state.left;
            let stuck;
            (state, stuck) = self.wait(state);
            if state.admissions != admissions {
                // Whoever let this thread in has counted it.
                return;
            }
            if stuck && state.left == left && !state.is_alone {
                state.waiting -= 1;
                state.sharing += 1;
                return;
            }
        }
    }

    /// The calling thread, which shares the lock, leaves it.
    pub fn leave(&self) {
        note_left::<R>(LockHold::Shared);
        let mut state = self.state();
        state.sharing -= 1;
        state.left += 1;
        if state.sharing == 0 && state.is_wanted_alone() {
            self.moved.notify_all();
        }
    }

    /// Is alone in the lock. The calling thread must not be inside already.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn be_alone(&self) -> LonePhase<'_, R> {
        about_to_take::<R>(self.address());
        let mut state = self.state();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        while state.turn != ticket || state.is_alone || state.sharing != 0 {
            state = self.wait(state).0;
        }
        state.is_alone = true;
        LonePhase { lock: self, _mark: HeldMark::new(self.address(), LockHold::Alone) }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[cfg(not(loom))]
    fn state(&self) -> MutexGuard<'_, Phases> {
        self.state.lock()
    }

    #[cfg(loom)]
    fn state(&self) -> MutexGuard<'_, Phases> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits for news, and returns whether there were none for [`PATIENCE`].
    #[cfg(not(loom))]
    fn wait<'a>(&self, mut state: MutexGuard<'a, Phases>) -> (MutexGuard<'a, Phases>, bool) {
        let stuck = self.moved.wait_for(&mut state, PATIENCE).timed_out();
        (state, stuck)
    }

    /// Waits for news. Models have no time.
    #[cfg(loom)]
    fn wait<'a>(&self, state: MutexGuard<'a, Phases>) -> (MutexGuard<'a, Phases>, bool) {
        let _ = PATIENCE;
        (self.moved.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner), false)
    }
}

impl<R: LockRank> Drop for LonePhase<'_, R> {
    fn drop(&mut self) {
        let mut state = self.lock.state();
        state.is_alone = false;
        state.turn += 1;
        state.sharing += std::mem::take(&mut state.waiting);
        state.admissions += 1;
        self.lock.moved.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Instant;

    use super::*;
    use crate::lock::rank;

    type PhaseFairLock = super::PhaseFairLock<rank::GivingBack>;

    /// Waits until something holds; a test that never gets there fails.
    fn until(holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < Duration::from_secs(60), "it never happens");
            std::thread::yield_now();
        }
    }

    #[test]
    fn those_that_share_do_not_wait_for_each_other_and_one_is_alone() {
        let (lock, inside, most) = (PhaseFairLock::new(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    lock.share();
                    inside.fetch_add(1, Ordering::SeqCst);
                    until(|| inside.load(Ordering::SeqCst) == 3);
                    lock.leave();
                });
            }
        });
        inside.store(0, Ordering::SeqCst);
        std::thread::scope(|scope| {
            for alone in [true, false, true, false] {
                let (lock, inside, most) = (&lock, &inside, &most);
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        let own = if alone { 1_000 } else { 1 };
                        let guard = alone.then(|| lock.be_alone());
                        if !alone {
                            lock.share();
                        }
                        let now = inside.fetch_add(own, Ordering::SeqCst) + own;
                        most.fetch_max(now, Ordering::SeqCst);
                        inside.fetch_sub(own, Ordering::SeqCst);
                        match guard {
                            Some(guard) => drop(guard),
                            None => lock.leave(),
                        }
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 1_000, "somebody was beside one that is alone");
    }

    #[test]
    fn one_that_wants_to_be_alone_comes_before_those_that_share_later() {
        let (lock, was_alone) = (PhaseFairLock::new(), AtomicBool::new(false));
        lock.share();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _alone = lock.be_alone();
                was_alone.store(true, Ordering::SeqCst);
            });
            until(|| lock.state().is_wanted_alone());
            scope.spawn(|| {
                lock.share();
                assert!(was_alone.load(Ordering::SeqCst), "one that shares went in first");
                lock.leave();
            });
            until(|| lock.state().waiting == 1);
            lock.leave();
        });
    }

    #[test]
    fn those_that_wait_to_share_come_before_the_next_that_is_alone() {
        let (lock, shared) = (PhaseFairLock::new(), AtomicUsize::new(0));
        let first = lock.be_alone();
        std::thread::scope(|scope| {
            for waiting in 1..=3 {
                scope.spawn(|| {
                    lock.share();
                    shared.fetch_add(1, Ordering::SeqCst);
                    lock.leave();
                });
                until(|| lock.state().waiting == waiting);
            }
            scope.spawn(|| {
                let _alone = lock.be_alone();
                assert_eq!(shared.load(Ordering::SeqCst), 3, "the next one alone went in first");
            });
            until(|| lock.state().next_ticket == 2);
            drop(first);
        });
    }

    #[test]
    fn one_that_shares_is_not_kept_out_for_ever_by_one_that_only_waits() {
        let lock = PhaseFairLock::new();
        lock.share();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(lock.be_alone()));
            until(|| lock.state().is_wanted_alone());
            // The one inside leaves when another has been there.
            scope.spawn(|| {
                lock.share();
                lock.leave();
            });
            until(|| lock.state().left == 1);
            lock.leave();
        });
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    use crate::lock::rank;

    type PhaseFairLock = super::PhaseFairLock<rank::GivingBack>;

    /// A number that is changed by threads that are alone; loom finds any use beside that.
    struct Guarded(PhaseFairLock, UnsafeCell<u32>);

    // SAFETY: the cell is used in the lock only, which is what the model is about.
    unsafe impl Sync for Guarded {}
    // SAFETY: the number may be used by any thread.
    unsafe impl Send for Guarded {}

    fn read(guarded: &Guarded) -> u32 {
        guarded.0.share();
        // SAFETY: nobody is alone in the lock, so nobody changes the number.
        let number = guarded.1.with(|number| unsafe { *number });
        guarded.0.leave();
        number
    }

    fn change(guarded: &Guarded) {
        let _alone = guarded.0.be_alone();
        // SAFETY: nobody else is in the lock.
        guarded.1.with_mut(|number| unsafe { *number += 1 });
    }

    fn check(model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(model);
    }

    #[test]
    fn two_that_share_and_one_alone() {
        check(|| {
            let guarded = Arc::new(Guarded(PhaseFairLock::new(), UnsafeCell::new(0)));
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    let guarded = guarded.clone();
                    loom::thread::spawn(move || read(&guarded))
                })
                .collect();
            change(&guarded);
            assert!(readers.into_iter().all(|reader| reader.join().unwrap() <= 1));
            assert_eq!(read(&guarded), 1);
        });
    }

    #[test]
    fn one_that_shares_and_two_alone() {
        check(|| {
            let guarded = Arc::new(Guarded(PhaseFairLock::new(), UnsafeCell::new(0)));
            let other = guarded.clone();
            let changer = loom::thread::spawn(move || change(&other));
            let other = guarded.clone();
            let reader = loom::thread::spawn(move || read(&other));
            change(&guarded);
            changer.join().unwrap();
            assert!(reader.join().unwrap() <= 2);
            assert_eq!(read(&guarded), 2);
        });
    }
}
