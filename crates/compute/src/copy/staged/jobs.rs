//! The queue of jobs that callers post and helper threads take.
//!
//! A caller posts a job with the number of helpers that it can use. Helper threads take the jobs in
//! turn, so that several callers are served alike. At the end the caller withdraws the places that
//! no thread has taken, and waits for its helpers: from then on no other thread uses the job's
//! memory.

use std::collections::VecDeque;

#[cfg(loom)]
pub(super) use loom::sync::Arc;
#[cfg(loom)]
use loom::thread::{self, Thread};
#[cfg(not(loom))]
pub(super) use std::sync::Arc;
#[cfg(not(loom))]
use std::thread::{self, Thread};

use sconce_base::lock::{park, rank};
use sconce_base::sync::{AtomicUsize, Mutex, Ordering};

/// How many threads each woken thread wakes in turn: all are awake after few short steps.
const WAKES: usize = 2;

/// Work that other threads may help with.
pub(super) struct Job<T> {
    pub(super) work: T,
    helpers: AtomicUsize,
    /// The thread that the last helper wakes. `None` for a thread that is ending, which gets no
    /// helpers.
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

impl<T> Job<T> {
    /// For the thread that is calling.
    pub(super) fn new(work: T) -> Arc<Job<T>> {
        Arc::new(Job { work, helpers: AtomicUsize::new(0), caller: this_thread() })
    }
}

/// A helper at work; it leaves when this is dropped, in whichever way.
pub(super) struct Helper<T>(Arc<Job<T>>);

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

/// The end of a job.
pub(super) struct End<'a, T> {
    jobs: &'a JobQueue<T>,
    job: &'a Job<T>,
}

impl<T> Drop for End<'_, T> {
    fn drop(&mut self) {
        self.jobs.finish(self.job);
    }
}

/// The jobs that want helpers, and the threads that have nothing to do.
pub(super) struct JobQueue<T> {
    inner: Mutex<rank::CopyJobs, Inner<T>>,
    /// How many helpers are wanted, for a look without the lock.
    wanted: AtomicUsize,
}

struct Inner<T> {
    queued: VecDeque<(Arc<Job<T>>, usize)>,
    idle: Vec<Thread>,
}

impl<T> Inner<T> {
    fn wake(&mut self) -> [Option<Thread>; WAKES] {
        let wanted: usize = self.queued.iter().map(|(_, wanted)| wanted).sum();
        let mut left = wanted;
        [(); WAKES].map(|()| {
            left = left.checked_sub(1)?;
            self.idle.pop()
        })
    }
}

fn unpark(threads: [Option<Thread>; WAKES]) {
    threads.into_iter().flatten().for_each(|thread| thread.unpark());
}

impl<T> JobQueue<T> {
    #[cfg(not(loom))]
    pub(super) const fn new() -> JobQueue<T> {
        JobQueue {
            inner: Mutex::new(Inner { queued: VecDeque::new(), idle: Vec::new() }),
            wanted: AtomicUsize::new(0),
        }
    }

    #[cfg(loom)]
    pub(super) fn new() -> JobQueue<T> {
        JobQueue {
            inner: Mutex::new(Inner { queued: VecDeque::new(), idle: Vec::new() }),
            wanted: AtomicUsize::new(0),
        }
    }

    /// Asks for helpers.
    pub(super) fn post(&self, job: &Arc<Job<T>>, helpers: usize) {
        if helpers == 0 || job.caller.is_none() {
            return;
        }
        let woken = {
            let mut inner = self.inner.lock();
            inner.queued.push_back((job.clone(), helpers));
            self.wanted.fetch_add(helpers, Ordering::Relaxed);
            inner.wake()
        };
        unpark(woken);
    }

    /// Whether it is worth to look. A hint: it may be outdated.
    pub(super) fn wants_help(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    /// Takes a job to help with. Without one the calling thread counts as idle: it parks, and looks again when it
    /// wakes.
    pub(super) fn take_or_idle(&self) -> Option<Helper<T>> {
        let mut inner = self.inner.lock();
        let me = thread::current();
        // It may have woken by itself.
        inner.idle.retain(|thread| thread.id() != me.id());
        let Some((job, wanted)) = inner.queued.pop_front() else {
            inner.idle.push(me);
            return None;
        };
        if wanted > 1 {
            inner.queued.push_back((job.clone(), wanted - 1));
        }
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        job.helpers.fetch_add(1, Ordering::Relaxed);
        let woken = inner.wake();
        drop(inner);
        unpark(woken);
        Some(Helper(job))
    }

    /// Ends a job of the calling thread when the answer is dropped, in whichever way.
    pub(super) fn finish_later<'a>(&'a self, job: &'a Job<T>) -> End<'a, T> {
        End { jobs: self, job }
    }

    /// Withdraws the job: no further thread begins to help, and the helpers have left when this returns.
    fn finish(&self, job: &Job<T>) {
        {
            let mut inner = self.inner.lock();
            inner.queued.retain(|(other, wanted)| {
                let other = std::ptr::eq(&raw const **other, job);
                if other {
                    self.wanted.fetch_sub(*wanted, Ordering::Relaxed);
                }
                !other
            });
        }
        // Most helpers are done within a piece's time.
        #[cfg(not(loom))]
        for _ in 0..SPINS {
            if job.helpers.load(Ordering::Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        while job.helpers.load(Ordering::Acquire) > 0 {
            park::<rank::CopyHelp>();
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
        let jobs = JobQueue::new();
        let (one, two) = (Job::new(1), Job::new(2));
        jobs.post(&one, 3);
        jobs.post(&two, 2);
        let helpers: Vec<_> = std::iter::from_fn(|| jobs.take_or_idle()).collect();
        let order: Vec<i32> = helpers.iter().map(|helper| *helper.work()).collect();
        assert_eq!(order, [1, 2, 1, 2, 1]);
        assert!(!jobs.wants_help());
    }

    #[test]
    fn what_nobody_has_taken_is_withdrawn() {
        let jobs = JobQueue::new();
        let (mine, other) = (Job::new(()), Job::new(()));
        jobs.post(&mine, 3);
        jobs.post(&other, 1);
        drop(jobs.finish_later(&mine));
        assert!(jobs.take_or_idle().is_some_and(|helper| Arc::ptr_eq(&helper.0, &other)));
        assert!(jobs.take_or_idle().is_none());
        assert_eq!(jobs.wanted.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_helper_that_panics_leaves() {
        let jobs = JobQueue::new();
        let job = Job::new(());
        jobs.post(&job, 1);
        let helper = jobs.take_or_idle().unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _helper = helper;
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        drop(jobs.finish_later(&job));
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::atomic::AtomicBool;

    use super::*;

    #[derive(Default)]
    struct Seen {
        over: AtomicBool,
        helped: AtomicUsize,
    }

    /// Helps once, or returns when no job will come.
    fn help(jobs: &JobQueue<Seen>, closed: &AtomicBool) -> bool {
        loop {
            if let Some(helper) = jobs.take_or_idle() {
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
            let jobs = Arc::new(JobQueue::new());
            let closed = Arc::new(AtomicBool::new(false));
            let (theirs, flag) = (jobs.clone(), closed.clone());
            let helper = thread::spawn(move || help(&theirs, &flag));
            let job = Job::new(Seen::default());
            jobs.post(&job, 1);
            drop(jobs.finish_later(&job));
            job.work.over.store(true, Ordering::Relaxed);
            let seen = job.work.helped.load(Ordering::Relaxed);
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
            let jobs = Arc::new(JobQueue::new());
            for _ in 0..2 {
                let jobs = jobs.clone();
                thread::spawn(move || assert!(help(&jobs, &AtomicBool::new(false))));
            }
            let job = Job::new(Seen::default());
            jobs.post(&job, 2);
            // No other thread wakes them, or this thread: a lost wake-up is a deadlock.
            loop {
                let _see_who_has_left = job.helpers.load(Ordering::Acquire);
                if job.work.helped.load(Ordering::Relaxed) == 2 {
                    break;
                }
                thread::park();
            }
            drop(jobs.finish_later(&job));
        });
    }
}
