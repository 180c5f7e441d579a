//! Where copies ask for help and threads look for it.
//!
//! A caller posts an errand with the number of helpers it can use. Threads take turns at the
//! errands on the board, so that several callers are served alike. At the end the caller withdraws
//! what nobody has taken, and waits for the helpers it has: from then on no other thread touches
//! what the errand is about.

use std::collections::VecDeque;

#[cfg(loom)]
pub(super) use loom::sync::Arc;
#[cfg(loom)]
use loom::thread::{self, Thread};
#[cfg(not(loom))]
pub(super) use std::sync::Arc;
#[cfg(not(loom))]
use std::thread::{self, Thread};

use crate::sync::{AtomicUsize, Mutex, Ordering};

/// How many threads one that is awake wakes: all are up after few steps, none of which is long.
const WAKES: usize = 2;

/// Work that others may help with.
pub(super) struct Errand<T> {
    pub(super) work: T,
    helpers: AtomicUsize,
    /// Whom the last helper wakes. `None` on a thread that is ending, which gets no helpers.
    caller: Option<Thread>,
}

/// The calling thread, unless it is ending: the standard library refuses the question then, with a
/// panic, which destructors of pthread keys would meet.
fn this_thread() -> Option<Thread> {
    #[cfg(loom)]
    return Some(thread::current());
    #[cfg(not(loom))]
    {
        /// Has a destructor, so that it is gone before the handle that the standard library keeps.
        struct Alive;
        impl Drop for Alive {
            fn drop(&mut self) {}
        }
        thread_local! {
            static ALIVE: Alive = const { Alive };
        }
        ALIVE.try_with(|_| thread::current()).ok()
    }
}

impl<T> Errand<T> {
    /// For the thread that is calling.
    pub(super) fn new(work: T) -> Arc<Errand<T>> {
        Arc::new(Errand { work, helpers: AtomicUsize::new(0), caller: this_thread() })
    }
}

/// A helper at work; it leaves when this is dropped, in whichever way.
pub(super) struct Helper<T>(Arc<Errand<T>>);

impl<T> Helper<T> {
    pub(super) fn work(&self) -> &T {
        &self.0.work
    }
}

impl<T> Drop for Helper<T> {
    fn drop(&mut self) {
        if self.0.helpers.fetch_sub(1, Ordering::Release) == 1 {
            self.0.caller.iter().for_each(Thread::unpark);
        }
    }
}

/// The end of an errand.
pub(super) struct End<'a, T> {
    board: &'a Board<T>,
    errand: &'a Errand<T>,
}

impl<T> Drop for End<'_, T> {
    fn drop(&mut self) {
        self.board.finish(self.errand);
    }
}

/// The errands that want helpers, and the threads that have nothing to do.
pub(super) struct Board<T> {
    inner: Mutex<Inner<T>>,
    /// How many helpers are wanted, for a look without the lock.
    wanted: AtomicUsize,
}

struct Inner<T> {
    errands: VecDeque<(Arc<Errand<T>>, usize)>,
    resting: Vec<Thread>,
}

impl<T> Inner<T> {
    fn wake(&mut self) -> [Option<Thread>; WAKES] {
        let wanted: usize = self.errands.iter().map(|(_, wanted)| wanted).sum();
        let mut left = wanted;
        [(); WAKES].map(|()| {
            left = left.checked_sub(1)?;
            self.resting.pop()
        })
    }
}

fn unpark(threads: [Option<Thread>; WAKES]) {
    threads.into_iter().flatten().for_each(|thread| thread.unpark());
}

impl<T> Board<T> {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Board<T> {
        Board {
            inner: Mutex::new(Inner { errands: VecDeque::new(), resting: Vec::new() }),
            wanted: AtomicUsize::new(0),
        }
    }

    #[cfg(loom)]
    pub(super) fn new() -> Board<T> {
        Board {
            inner: Mutex::new(Inner { errands: VecDeque::new(), resting: Vec::new() }),
            wanted: AtomicUsize::new(0),
        }
    }

    /// Asks for helpers.
    pub(super) fn post(&self, errand: &Arc<Errand<T>>, helpers: usize) {
        if helpers == 0 || errand.caller.is_none() {
            return;
        }
        let woken = {
            let mut inner = self.inner.lock();
            inner.errands.push_back((errand.clone(), helpers));
            self.wanted.fetch_add(helpers, Ordering::Relaxed);
            inner.wake()
        };
        unpark(woken);
    }

    /// Whether it is worth to look. A hint: it may be outdated.
    pub(super) fn wants_help(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Something to help with. With none the calling thread counts as resting: it parks, and looks
    /// again when it wakes.
    pub(super) fn take_or_rest(&self) -> Option<Helper<T>> {
        let mut inner = self.inner.lock();
        let me = thread::current();
        // It may have woken by itself.
        inner.resting.retain(|thread| thread.id() != me.id());
        let Some((errand, wanted)) = inner.errands.pop_front() else {
            inner.resting.push(me);
            return None;
        };
        if wanted > 1 {
            inner.errands.push_back((errand.clone(), wanted - 1));
        }
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        errand.helpers.fetch_add(1, Ordering::Relaxed);
        let woken = inner.wake();
        drop(inner);
        unpark(woken);
        Some(Helper(errand))
    }

    /// Ends an errand of the calling thread when the answer is dropped, in whichever way.
    pub(super) fn finish_later<'a>(&'a self, errand: &'a Errand<T>) -> End<'a, T> {
        End { board: self, errand }
    }

    /// Nobody begins to help any more, and those who do are done when this returns.
    fn finish(&self, errand: &Errand<T>) {
        {
            let mut inner = self.inner.lock();
            inner.errands.retain(|(other, wanted)| {
                let other = std::ptr::eq(&raw const **other, errand);
                if other {
                    self.wanted.fetch_sub(*wanted, Ordering::Relaxed);
                }
                !other
            });
        }
        // Most helpers are done within a piece's time.
        #[cfg(not(loom))]
        for _ in 0..SPINS {
            if errand.helpers.load(Ordering::Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        while errand.helpers.load(Ordering::Acquire) > 0 {
            thread::park();
        }
    }
}

/// Looks at a counter before a caller sleeps; some 20 µs.
#[cfg(not(loom))]
const SPINS: usize = 500;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn callers_are_helped_in_turn() {
        let board = Board::new();
        let (one, two) = (Errand::new(1), Errand::new(2));
        board.post(&one, 3);
        board.post(&two, 2);
        let helpers: Vec<_> = std::iter::from_fn(|| board.take_or_rest()).collect();
        let order: Vec<i32> = helpers.iter().map(|helper| *helper.work()).collect();
        assert_eq!(order, [1, 2, 1, 2, 1]);
        assert!(!board.wants_help());
    }

    #[test]
    fn what_nobody_has_taken_is_withdrawn() {
        let board = Board::new();
        let (mine, other) = (Errand::new(()), Errand::new(()));
        board.post(&mine, 3);
        board.post(&other, 1);
        drop(board.finish_later(&mine));
        assert!(board.take_or_rest().is_some_and(|helper| Arc::ptr_eq(&helper.0, &other)));
        assert!(board.take_or_rest().is_none());
        assert_eq!(board.wanted.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_helper_that_panics_leaves() {
        let board = Board::new();
        let errand = Errand::new(());
        board.post(&errand, 1);
        let helper = board.take_or_rest().unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _helper = helper;
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        drop(board.finish_later(&errand));
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::sync::atomic::AtomicBool;

    #[derive(Default)]
    struct Seen {
        over: AtomicBool,
        helped: AtomicUsize,
    }

    /// Helps once, unless it is told that there will be nothing.
    fn help(board: &Board<Seen>, closed: &AtomicBool) -> bool {
        loop {
            if let Some(helper) = board.take_or_rest() {
                helper.work().helped.fetch_add(1, Ordering::Relaxed);
                assert!(!helper.work().over.load(Ordering::Relaxed));
                return true;
            }
            if closed.load(Ordering::Acquire) {
                return false;
            }
            thread::park();
        }
    }

    #[test]
    fn when_an_errand_is_finished_nobody_is_at_it_and_what_was_done_is_seen() {
        loom::model(|| {
            let board = Arc::new(Board::new());
            let closed = Arc::new(AtomicBool::new(false));
            let (theirs, flag) = (board.clone(), closed.clone());
            let helper = thread::spawn(move || help(&theirs, &flag));
            let errand = Errand::new(Seen::default());
            board.post(&errand, 1);
            drop(board.finish_later(&errand));
            errand.work.over.store(true, Ordering::Relaxed);
            let seen = errand.work.helped.load(Ordering::Relaxed);
            closed.store(true, Ordering::Release);
            helper.thread().unpark();
            assert_eq!(helper.join().unwrap(), seen == 1);
        });
    }

    #[test]
    fn a_thread_that_goes_to_rest_misses_no_errand() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let board = Arc::new(Board::new());
            for _ in 0..2 {
                let board = board.clone();
                thread::spawn(move || assert!(help(&board, &AtomicBool::new(false))));
            }
            let errand = Errand::new(Seen::default());
            board.post(&errand, 2);
            // Nobody else wakes them, or this thread: what is lost is a deadlock.
            loop {
                let _see_who_has_left = errand.helpers.load(Ordering::Acquire);
                if errand.work.helped.load(Ordering::Relaxed) == 2 {
                    break;
                }
                thread::park();
            }
            drop(board.finish_later(&errand));
        });
    }
}
