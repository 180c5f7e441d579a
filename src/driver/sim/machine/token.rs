//! Completion tokens: the one fact "this operation has ended", and when.
//!
//! Each queued operation has a token. Events hold the token of their newest record, waits and
//! implicit orderings hold the tokens they were bound to when they were queued, so a later record
//! moves nothing. A token is finished once, under the engine's lock; reading needs no lock.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::engine::{Engine, StreamKey};

/// How long a waiting thread sleeps before it looks whether the simulator is out of threads.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct Token {
    done: AtomicBool,
    end_ns: AtomicU64,
    /// Host threads waiting for this very operation, on the engine's lock.
    waiters: Condvar,
    /// Streams whose head waits for this operation.
    dependents: Mutex<Vec<StreamKey>>,
}

impl Token {
    pub(crate) fn new() -> Arc<Token> {
        Arc::new(Token::default())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// When the operation ended; 0 while it has not.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Acquire)
    }

    /// Asks for a look at `stream` once the operation has ended. Under the engine's lock.
    pub(crate) fn add_dependent(&self, stream: StreamKey) {
        self.dependents.lock().push(stream);
    }

    /// Marks the end; gives the streams that wait for it. Under the engine's lock.
    pub(crate) fn finish(&self, end_ns: u64) -> Vec<StreamKey> {
        self.end_ns.store(end_ns, Ordering::Release);
        self.done.store(true, Ordering::Release);
        self.waiters.notify_all();
        std::mem::take(&mut *self.dependents.lock())
    }

    /// Blocks the calling thread until the operation has ended, or until the simulator is out of
    /// threads: the operation may then wait for work that never runs.
    pub(crate) fn wait(&self, engine: &mut MutexGuard<'_, Engine>) {
        while !self.is_done() && engine.workers.exhausted.is_none() {
            self.waiters.wait_for(engine, LOOK_AGAIN);
        }
    }
}
