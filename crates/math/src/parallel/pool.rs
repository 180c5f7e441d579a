//! The threads, which sleep until there is a job.
//!
//! The pool is made by the first job and never destroyed: other threads of the program may work when the process ends.
//! A forked child has none of its threads, and gets a pool of its own. Its locks are those of the standard library: a
//! thread that waits for one is noted in the lock itself. `parking_lot` notes it in a table of the process, of which a
//! child may inherit a part that is locked for ever.

#![allow(unsafe_code, reason = "a job borrows its function; the pool is found through a pointer")]

use std::hint::spin_loop;
use std::panic::resume_unwind;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use sconce_base::lock::{FutexCondvar, FutexGuard, FutexMutex, rank};
use sconce_base::process;

use super::job::ParallelWork;
use super::{Within, count};

/// The pool of this process; NULL before the first job, and in a new child.
static POOL: AtomicPtr<WorkerPool> = AtomicPtr::new(null_mut());
/// Threads that work on jobs: the owners, and those of the pool.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Looks at a helper that has not finished its last part, before the job's owner sleeps: some 20 µs, in which most do.
const LOOKS: usize = 500;

#[derive(Default)]
struct WorkerPool {
    state: FutexMutex<rank::ParallelJobs, State>,
    /// There is a job that wants help.
    work: FutexCondvar<rank::ParallelJobs>,
    /// The last helper of some job has left it.
    done: FutexCondvar<rank::ParallelHelpers>,
}

#[derive(Default)]
struct State {
    jobs: Vec<Arc<ParallelWork>>,
    threads: usize,
    /// Threads that wait for work.
    idle: usize,
}

/// Calculates all parts on the calling thread and at most so many others.
pub(super) fn share(helpers: usize, parts: usize, body: &(dyn Fn(usize) + Sync)) {
    let busy = Busy::enter();
    let pool = if busy.before < count() { pool() } else { None };
    let Some(pool) = pool else {
        (0..parts).for_each(body);
        return;
    };
    // SAFETY: `OwnedWork` takes the job out of the queue, and waits until no helper is left, before this function
    // returns or unwinds. So nobody calls the function later.
    let job = Arc::new(unsafe { ParallelWork::new(parts, helpers, body) });
    let owned = OwnedWork { pool, job: Arc::clone(&job) };
    pool.offer(&job);
    {
        let _within = Within::enter();
        job.work(|| true);
    }
    drop(owned);
    if let Some(panic) = job.take_panic() {
        resume_unwind(panic);
    }
}

/// One of the threads that work on jobs.
struct Busy {
    /// How many others there were.
    before: usize,
}

impl Busy {
    /// An owner, who works in any case.
    fn enter() -> Busy {
        Busy { before: BUSY.fetch_add(1, Ordering::Relaxed) }
    }

    /// A helper; `None` if as many as `most` work already.
    fn help(most: usize) -> Option<Busy> {
        let one_more = |busy: usize| (busy < most).then_some(busy + 1);
        let before = BUSY.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Busy { before })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A job in the queue, until this is dropped.
struct OwnedWork {
    pool: &'static WorkerPool,
    job: Arc<ParallelWork>,
}

impl Drop for OwnedWork {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.jobs.retain(|job| !Arc::ptr_eq(job, &self.job));
        let others_wait = !state.jobs.is_empty();
        drop(state);
        if others_wait {
            self.pool.work.notify_one();
        }
        for _ in 0..LOOKS {
            if self.job.helpers.load(Ordering::Acquire) == 0 {
                return;
            }
            spin_loop();
        }
        let mut state = self.pool.lock();
        while self.job.helpers.load(Ordering::Acquire) != 0 {
            state = self.pool.done.wait(state);
        }
    }
}

/// The pool, which the first call makes. `None` without memory to watch for forks.
fn pool() -> Option<&'static WorkerPool> {
    let mut found = POOL.load(Ordering::Acquire);
    if found.is_null() {
        // Two threads may both do this, which is harmless.
        process::at_fork(forget).ok()?;
        let made = Box::into_raw(Box::<WorkerPool>::default());
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        found = match POOL.compare_exchange(null_mut(), made, success, failure) {
            Ok(_) => made,
            Err(other) => {
                // SAFETY: it was made above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(made) });
                other
            }
        };
    }
    // SAFETY: a pool is never freed once it is in `POOL`.
    Some(unsafe { &*found })
}

/// Runs in each forked child. The parent's pool may be locked for ever there.
extern "C" fn forget() {
    POOL.store(null_mut(), Ordering::Relaxed);
    BUSY.store(0, Ordering::Relaxed);
}

impl WorkerPool {
    fn lock(&self) -> FutexGuard<'_, rank::ParallelJobs, State> {
        self.state.lock()
    }

    /// Puts a job into the queue and wakes threads for it, or starts them. A thread that cannot be started is missed
    /// by nobody: the owner does the work.
    fn offer(&'static self, job: &Arc<ParallelWork>) {
        let mut state = self.lock();
        state.jobs.push(Arc::clone(job));
        let wanted = job.most_helpers.min(count() - 1);
        let woken = wanted.min(state.idle);
        let started = (wanted - woken).min((count() - 1).saturating_sub(state.threads));
        for _ in 0..started {
            let thread = std::thread::Builder::new().name("sconce-cpu".to_owned());
            if thread.spawn(|| self.serve()).is_err() {
                break;
            }
            state.threads += 1;
        }
        drop(state);
        for _ in 0..woken {
            self.work.notify_one();
        }
    }

    /// Helps with jobs for ever.
    fn serve(&self) {
        let _within = Within::enter();
        let mut state = self.lock();
        loop {
            let job = state.jobs.iter().find(|job| job.wants_help());
            // Where more threads want to work than may, the owners of jobs do.
            if let Some(job) = job.map(Arc::clone)
                && let Some(busy) = Busy::help(count())
            {
                job.helpers.fetch_add(1, Ordering::Relaxed);
                drop(state);
                job.work(|| BUSY.load(Ordering::Relaxed) <= count());
                drop(busy);
                state = self.lock();
                if job.helpers.fetch_sub(1, Ordering::Release) == 1 {
                    self.done.notify_all();
                }
                continue;
            }
            state.idle += 1;
            state = self.work.wait(state);
            state.idle -= 1;
        }
    }
}
