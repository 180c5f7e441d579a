//! Threads that move bytes between staging and storage while the calling thread queues the device's copies. They end
//! with the operation. The calling thread helps whenever it would wait, so that no thread has to start.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Condvar, Mutex, MutexGuard, join_scoped, rank};

/// The most threads that move bytes, the caller not among them.
const MOST: usize = 8;

/// Jobs by their numbers, and how to do one.
pub(super) struct Movers<'a> {
    work: &'a (dyn Fn(usize) -> Result<()> + Sync),
    state: Mutex<rank::MoverJobs, MoverState>,
    /// There is a job, or there will be none.
    posted: Condvar<rank::Movers>,
    /// A job is done, or has failed.
    moved: Condvar<rank::Movers>,
}

struct MoverState {
    queue: VecDeque<usize>,
    done: Vec<bool>,
    failure: Option<Error>,
    is_over: bool,
}

impl<'a> Movers<'a> {
    /// For `jobs` jobs.
    pub(super) fn new(jobs: usize, work: &'a (dyn Fn(usize) -> Result<()> + Sync)) -> Movers<'a> {
        let state = MoverState {
            queue: VecDeque::new(),
            done: vec![false; jobs],
            failure: None,
            is_over: false,
        };
        Movers { work, state: Mutex::new(state), posted: Condvar::new(), moved: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, rank::MoverJobs, MoverState> {
        self.state.lock()
    }

    /// Starts threads, as many as are of use.
    pub(super) fn start<'scope>(
        &'a self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Vec<ScopedJoinHandle<'scope, ()>>
    where
        'a: 'scope,
    {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = self.state().done.len().min(cores).min(MOST);
        (0..wanted)
            .map_while(|_| {
                let thread = Builder::new().name(String::from("sconce-sleep"));
                thread.spawn_scoped(scope, || self.help()).ok()
            })
            .collect()
    }

    fn help(&self) {
        let mut state = self.state();
        while !state.is_over {
            match state.queue.pop_front() {
                Some(job) => {
                    drop(state);
                    self.carry_out(job);
                    state = self.state();
                }
                None => {
                    self.posted.wait(&mut state);
                }
            }
        }
    }

    fn carry_out(&self, job: usize) {
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.work)(job))).unwrap_or_else(|_| {
            Err(Error::new(Status::Internal, "a thread that moves bytes of a pool panicked"))
        });
        let mut state = self.state();
        match outcome {
            Ok(()) => state.done[job] = true,
            Err(error) => {
                state.failure.get_or_insert(error);
            }
        }
        drop(state);
        self.moved.notify_all();
    }

    /// A job can be done.
    pub(super) fn post(&self, job: usize) {
        self.state().queue.push_back(job);
        self.posted.notify_one();
    }

    /// Whether a job is done; an error if any has failed.
    pub(super) fn is_done(&self, job: usize) -> Result<bool> {
        let state = self.state();
        match &state.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(state.done[job]),
        }
    }

    /// Waits until a job that was posted is done; does others, or this one, meanwhile.
    pub(super) fn wait(&self, job: usize) -> Result<()> {
        while !self.is_done(job)? {
            let mut state = self.state();
            match state.queue.pop_front() {
                Some(next) => {
                    drop(state);
                    self.carry_out(next);
                }
                None => {
                    while !state.done[job] && state.failure.is_none() {
                        self.moved.wait(&mut state);
                    }
                }
            }
        }
        Ok(())
    }

    /// No job comes any more, and what nobody has begun is dropped. Returns when the threads have ended.
    pub(super) fn end(&self, threads: Vec<ScopedJoinHandle<'_, ()>>) {
        self.state().is_over = true;
        self.posted.notify_all();
        for thread in threads {
            // A panic of a job is a failure of that job; the loop around jobs has none.
            let _ = join_scoped::<rank::Movers, _>(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_job_is_done_once_with_and_without_threads() {
        for threads in [false, true] {
            let counts: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
            let work = |job: usize| {
                counts[job].fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            let movers = Movers::new(100, &work);
            std::thread::scope(|scope| {
                let threads = if threads { movers.start(scope) } else { Vec::new() };
                (0..100).for_each(|job| movers.post(job));
                (0..100).for_each(|job| movers.wait(job).unwrap());
                movers.end(threads);
            });
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn a_failure_and_a_panic_reach_the_caller() {
        for panics in [false, true] {
            let work = |job: usize| {
                assert!(!(panics && job == 3), "planted");
                if job == 3 { Err(Error::invalid_state("job 3")) } else { Ok(()) }
            };
            let movers = Movers::new(10, &work);
            std::thread::scope(|scope| {
                let threads = movers.start(scope);
                (0..10).for_each(|job| movers.post(job));
                let error = (0..10).find_map(|job| movers.wait(job).err()).unwrap();
                let words = if panics { "panicked" } else { "job 3" };
                assert!(error.message().contains(words), "{error}");
                movers.end(threads);
            });
        }
    }
}
