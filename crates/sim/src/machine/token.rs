//! Completion tokens: whether an operation has ended, and when.
//!
//! Each queued operation has a token. An event holds the token of its newest record. Waits and implicit
//! orderings hold the tokens they were bound to when they were queued, so a later record does not change
//! them. A token is finished once, under the engine's lock; reading it needs no lock.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use sconce_base::lock::{Condvar, LockRank, Mutex, MutexGuard, rank};
use sconce_base::types::DeviceIndex;

/// The number of a stream inside the engine, which no other stream of the simulator ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StreamKey(pub(super) usize);

impl StreamKey {
    /// The legacy default stream of a device.
    pub(crate) fn legacy(device: DeviceIndex) -> StreamKey {
        StreamKey(device.as_usize())
    }

    /// The number.
    pub(crate) fn number(self) -> u64 {
        self.0 as u64
    }
}

/// The number of a thread among those whose default streams are used. A thread that begins later has it again, and
/// with it the queue of the thread that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ThreadNumber(usize);

impl ThreadNumber {
    /// That of the calling thread. Threads that are ending have one together.
    pub(crate) fn own() -> ThreadNumber {
        LENT_NUMBER.try_with(|lent| ThreadNumber(lent.0)).unwrap_or(ThreadNumber(0))
    }
}

/// Numbers that threads have given back, and the next new one.
static NUMBERS: Mutex<rank::SimThreads, (Vec<usize>, usize)> = Mutex::new((Vec::new(), 1));

thread_local! {
    static LENT_NUMBER: LentNumber = LentNumber::new();
}

struct LentNumber(usize);

impl LentNumber {
    fn new() -> LentNumber {
        let (free, next) = &mut *NUMBERS.lock();
        LentNumber(free.pop().unwrap_or_else(|| {
            *next += 1;
            *next - 1
        }))
    }
}

impl Drop for LentNumber {
    fn drop(&mut self) {
        NUMBERS.lock().0.push(self.0);
    }
}

/// How long a waiting thread sleeps before it checks whether the wait has become hopeless.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The completion of one operation.
pub(crate) struct Token {
    operation: u64,
    done: AtomicBool,
    end_ns: AtomicU64,
    /// Host threads that wait for this operation, on the engine's lock.
    waiters: Condvar<rank::Device>,
    /// Streams whose head waits for this operation.
    dependents: Mutex<rank::SimDependents, Vec<StreamKey>>,
}

impl Token {
    /// The token of the operation with this number.
    pub(crate) fn new(operation: u64) -> Arc<Token> {
        Arc::new(Token {
            operation,
            done: AtomicBool::new(false),
            end_ns: AtomicU64::new(0),
            waiters: Condvar::new(),
            dependents: Mutex::default(),
        })
    }

    /// The number of the operation, which is its place in the order in which operations were queued.
    pub(crate) fn operation(&self) -> u64 {
        self.operation
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// The time at which the operation ended; 0 while it has not.
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Acquire)
    }

    /// Adds `stream` to the streams that [`finish`](Self::finish) returns. Called under the engine's lock.
    pub(crate) fn add_dependent(&self, stream: StreamKey) {
        self.dependents.lock().push(stream);
    }

    /// Marks the end and returns the streams that wait for it. Called under the engine's lock.
    pub(crate) fn finish(&self, end_ns: u64) -> Vec<StreamKey> {
        self.end_ns.store(end_ns, Ordering::Release);
        self.done.store(true, Ordering::Release);
        self.waiters.notify_all();
        std::mem::take(&mut *self.dependents.lock())
    }

    /// Blocks the calling thread, which holds the engine's lock, until the operation has ended or
    /// `is_hopeless` returns true.
    pub(crate) fn wait<R: LockRank, T>(
        &self,
        lock: &mut MutexGuard<'_, R, T>,
        is_hopeless: impl Fn(&T) -> bool,
    ) {
        while !self.is_done() && !is_hopeless(lock) {
            self.waiters.wait_for(lock, CHECK_INTERVAL);
        }
    }
}
