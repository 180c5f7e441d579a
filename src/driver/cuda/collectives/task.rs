//! What waits for other ranks, on a thread of its own.

use std::sync::Arc;

use crate::error::{Error, Result, Status};
use crate::lock::Mutex;

/// Work of a thread, and its result once it has ended. Whoever gives it up leaves the thread to itself.
#[derive(Clone)]
pub(super) struct Task(Arc<Mutex<Option<Result<()>>>>);

impl Task {
    /// Begins the work.
    pub(super) fn begin(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<Task> {
        let task = Task(Arc::default());
        let place = Arc::clone(&task.0);
        let thread = std::thread::Builder::new().name("sconce-nccl".to_owned());
        let begun = thread.spawn(move || {
            let result = work();
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
