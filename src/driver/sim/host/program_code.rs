//! Code of the program that runs in stream order: host functions, and functions that stand for kernels.
//!
//! CUDA forbids its calls in a host function, and refuses some (800): a call that waits for the stream of the
//! function would wait for ever. The simulator refuses all of them.
#![forbid(unsafe_code)]

use std::cell::Cell;

thread_local! {
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Code of the program runs on this thread until this is dropped.
pub(crate) struct ProgramCode(Option<&'static str>);

impl ProgramCode {
    /// Begins the scope; `what` is the code's kind, for messages.
    pub(crate) fn enter(what: &'static str) -> ProgramCode {
        ProgramCode(RUNNING.replace(Some(what)))
    }

    /// The kind of the code that runs on this thread.
    pub(crate) fn running() -> Option<&'static str> {
        RUNNING.get()
    }
}

impl Drop for ProgramCode {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}
