//! What the locks report to the checks of debug builds; nothing in release builds, and in models, whose threads share
//! one.

#[cfg(all(debug_assertions, not(loom)))]
mod reports {
    use std::marker::PhantomData;

    use super::super::checker;
    use super::super::rank::{LockHold, LockRank};

    /// The calling thread is about to wait for a lock.
    #[track_caller]
    pub fn about_to_take<R: LockRank>(address: usize) {
        checker::about_to_take::<R>(address);
    }

    /// The calling thread is about to wait for something that another thread does.
    #[track_caller]
    pub fn about_to_wait<R: LockRank>() {
        checker::about_to_wait::<R>();
    }

    /// A function of the program is about to run, which may call the library.
    #[track_caller]
    pub fn refuse_held(what: &str) {
        checker::refuse_held(what);
    }

    /// The calling thread has a lock without a guard.
    pub fn note_taken<R: LockRank>(address: usize, hold: LockHold) {
        checker::taken::<R>(address, hold);
    }

    /// The calling thread has left a lock without a guard.
    pub fn note_left<R: LockRank>(hold: LockHold) {
        checker::left::<R>(hold);
    }

    /// The calling thread holds a lock, until this is dropped.
    pub struct HeldMark<R: LockRank> {
        address: usize,
        hold: LockHold,
        rank: PhantomData<fn() -> R>,
    }

    impl<R: LockRank> HeldMark<R> {
        pub fn new(address: usize, hold: LockHold) -> HeldMark<R> {
            checker::taken::<R>(address, hold);
            HeldMark { address, hold, rank: PhantomData }
        }

        /// The lock is left for a while.
        pub fn pause(&self) {
            checker::left::<R>(self.hold);
        }

        /// The lock is held again.
        pub fn resume(&self) {
            checker::taken::<R>(self.address, self.hold);
        }
    }

    impl<R: LockRank> Drop for HeldMark<R> {
        fn drop(&mut self) {
            checker::left::<R>(self.hold);
        }
    }
}

#[cfg(any(not(debug_assertions), loom))]
mod reports {
    use std::marker::PhantomData;

    use super::super::rank::{LockHold, LockRank};

    /// The calling thread is about to wait for a lock.
    #[inline(always)]
    pub fn about_to_take<R: LockRank>(_address: usize) {}

    /// The calling thread is about to wait for something that another thread does.
    #[inline(always)]
    pub fn about_to_wait<R: LockRank>() {}

    /// A function of the program is about to run, which may call the library.
    #[inline(always)]
    pub fn refuse_held(_what: &str) {}

    /// The calling thread has a lock without a guard.
    #[inline(always)]
    pub fn note_taken<R: LockRank>(_address: usize, _hold: LockHold) {}

    /// The calling thread has left a lock without a guard.
    #[inline(always)]
    pub fn note_left<R: LockRank>(_hold: LockHold) {}

    /// The calling thread holds a lock, until this is dropped.
    pub struct HeldMark<R: LockRank>(PhantomData<fn() -> R>);

    impl<R: LockRank> HeldMark<R> {
        #[inline(always)]
        pub fn new(_address: usize, _hold: LockHold) -> HeldMark<R> {
            HeldMark(PhantomData)
        }

        #[inline(always)]
        pub fn pause(&self) {}

        #[inline(always)]
        pub fn resume(&self) {}
    }
}

pub use reports::{HeldMark, about_to_take, about_to_wait, note_left, note_taken, refuse_held};
