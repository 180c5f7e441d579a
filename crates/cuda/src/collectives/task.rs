//! What waits for other ranks, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};

/// Work of a thread, and its result once it has ended. Whoever gives it up leaves the thread to itself.
#[derive(Clone)]
pub(super) struct Task(Arc<Mutex<rank::CudaTask, Option<Result<()>>>>);

/// The work that has not ended, whether or not anybody waits for it.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Counts work while it exists.
struct Running;

impl Running {
    fn new() -> Running {
        RUNNING.fetch_add(1, Ordering::AcqRel);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How much work has not ended.
pub(super) fn running() -> usize {
    RUNNING.load(Ordering::Acquire)
}

impl Task {
    /// Begins the work.
    pub(super) fn begin(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<Task> {
        let task = Task(Arc::default());
        let place = Arc::clone(&task.0);
        let thread = std::thread::Builder::new().name("sconce-nccl".to_owned());
        let counted = Running::new();
        let begun = thread.spawn(move || {
            let result = work();
            // Before the result is known: who has it knows that the work does not count any more.
            drop(counted);
            *place.lock() = Some(result);
        });
        begun.map_err(|why| {
            Error::new(Status::OutOfMemory, format!("no thread for a call of NCCL: {why}"))
        })?;
        Ok(task)
    }

    /// The result, if the work has ended.
    pub(super) fn result(&self) -> Option<Result<()>> {
        self.0.lock().clone()
    }
}
