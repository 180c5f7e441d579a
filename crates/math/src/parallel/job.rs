//! The parts of a call, and who has taken which.

#![allow(
    unsafe_code,
    reason = "calls a function that other threads borrow for as long as the job's owner waits"
)]

use sconce_base::lock::{FutexMutex, rank};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function that is borrowed for longer than its type says.
struct Body(*const (dyn Fn(usize) + Sync));

// SAFETY: the function is `Sync`, so that any thread may call it.
unsafe impl Send for Body {}
// SAFETY: a shared `Body` gives no more than a shared reference to the function, which is `Sync`.
unsafe impl Sync for Body {}

/// The parts of a call.
pub(super) struct ParallelWork {
    body: Body,
    parts: usize,
    /// The first part that nobody has taken.
    next: AtomicUsize,
    /// Threads that help now, and how many may.
    pub(super) helpers: AtomicUsize,
    pub(super) most_helpers: usize,
    /// The first panic of a part.
    panic: FutexMutex<rank::ParallelOutcome, Option<Box<dyn Any + Send>>>,
}

impl ParallelWork {
    /// # Safety
    /// The function lives until no thread is in [`ParallelWork::work`], and none enters it any more.
    pub(super) unsafe fn new<'a>(
        parts: usize,
        most_helpers: usize,
        body: &'a (dyn Fn(usize) + Sync + 'a),
    ) -> ParallelWork {
        let body: *const (dyn Fn(usize) + Sync + 'a) = body;
        // SAFETY: the pointers differ in the lifetime of what they point to alone, which the caller watches.
        let body = unsafe {
            std::mem::transmute::<
                *const (dyn Fn(usize) + Sync + 'a),
                *const (dyn Fn(usize) + Sync + 'static),
            >(body)
        };
        ParallelWork {
            body: Body(body),
            parts,
            next: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            most_helpers,
            panic: FutexMutex::new(None),
        }
    }

    /// Whether one more thread would find something to do.
    pub(super) fn wants_help(&self) -> bool {
        self.helpers.load(Ordering::Relaxed) < self.most_helpers
            && self.next.load(Ordering::Relaxed) < self.parts
    }

    /// Takes parts and calculates them, until all are taken or `goes_on` is false.
    pub(super) fn work(&self, goes_on: impl Fn() -> bool) {
        while goes_on() {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts {
                // Stays here, so that no number of threads makes the counter overflow.
                self.next.store(self.parts, Ordering::Relaxed);
                return;
            }
            // SAFETY: the function still lives, as `new` demands for as long as a thread is in here.
            let body = unsafe { &*self.body.0 };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(part))) {
                self.next.store(self.parts, Ordering::Relaxed);
                self.panic.lock().get_or_insert(panic);
            }
        }
    }

    /// The first panic of a part.
    pub(super) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().take()
    }
}
