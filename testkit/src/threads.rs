//! What tests of many threads share: scopes, how long they run and how much they do, and random choices.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The value of `SCONCE_TEST_SECONDS`, which lets tests of many threads run longer.
pub fn asked_seconds() -> Option<f64> {
    std::env::var("SCONCE_TEST_SECONDS").ok().map(|text| text.parse().unwrap())
}

/// How long a test of many threads runs, unless `SCONCE_TEST_SECONDS` has another time.
pub fn seconds(default: f64) -> Duration {
    Duration::from_secs_f64(asked_seconds().unwrap_or(default))
}

/// How long a test goes on: for its time, and longer on a slow machine that has not done enough in it.
#[derive(Clone, Copy)]
pub struct Run {
    end: Instant,
    /// The test then ends in any case, and says what it has not reached.
    last: Instant,
}

impl Run {
    pub fn of(time: Duration) -> Run {
        let end = Instant::now() + time;
        Run { end, last: end + Duration::from_secs(40) }
    }

    pub fn goes_on(self, enough: impl FnOnce() -> bool) -> bool {
        let now = Instant::now();
        now < self.end || now < self.last && !enough()
    }
}

/// A small generator of pseudo-random numbers, one for each thread. The seed must not be 0.
pub struct Xorshift(pub u64);

impl Xorshift {
    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}

/// Threads of a [`scope`].
pub struct Threads<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    started: RefCell<Vec<ScopedJoinHandle<'scope, ()>>>,
}

impl<'scope> Threads<'scope, '_> {
    /// Starts a thread.
    pub fn spawn(&self, run: impl FnOnce() + Send + 'scope) {
        self.started.borrow_mut().push(self.scope.spawn(run));
    }
}

/// What `std::thread::scope` does, with a join of each thread. A scope waits in code of the standard library, of which
/// ThreadSanitizer sees nothing; it does see joins.
pub fn scope<'env, T>(body: impl for<'scope> FnOnce(&Threads<'scope, 'env>) -> T) -> T {
    std::thread::scope(|scope| {
        let threads = Threads { scope, started: RefCell::default() };
        let result = body(&threads);
        for thread in threads.started.into_inner() {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        result
    })
}
