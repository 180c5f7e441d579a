//! Why a communicator is broken, if it is. Its works share this.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};

/// The first failure of a communicator.
#[derive(Default)]
pub(super) struct FirstFailure {
    is_broken: AtomicBool,
    why: Mutex<rank::CommFailure, Option<Error>>,
}

impl FirstFailure {
    /// Fails if the communicator is broken.
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        if self.is_broken.load(Ordering::Acquire) { Err(self.why()) } else { Ok(()) }
    }

    #[cold]
    fn why(&self) -> Error {
        let why = self.why.lock().clone();
        why.unwrap_or_else(|| {
            Error::new(Status::Internal, "a communicator is broken without a reason")
        })
    }

    /// Breaks the communicator, unless it is broken already. Returns whether it was not.
    pub(super) fn break_for(&self, why: &Error) -> bool {
        let mut place = self.why.lock();
        let is_first = place.is_none();
        place.get_or_insert_with(|| why.clone());
        self.is_broken.store(true, Ordering::Release);
        is_first
    }
}

/// The failure of a communicator that was aborted.
pub(super) fn aborted() -> Error {
    Error::new(
        Status::Aborted,
        "the communicator was aborted by this process; destroy it, and make a new one to go on",
    )
}
