//! Handles of streams and events: numbers that look like pointers.
//!
//! A CUDA handle is a pointer. After the object is destroyed a driver call that receives the handle
//! reads freed memory, and a later object may get the same handle. The simulator reuses handles when
//! address reuse is on, and ends the process when a driver call receives the handle of a destroyed
//! object.
#![forbid(unsafe_code)]

use std::io::Write as _;

use crate::call::Call;

/// The first handle. Handles are large multiples of [`HANDLE_STEP`], as pointers are.
const FIRST_HANDLE: usize = 0x5C00_0000_0000;
pub(crate) const HANDLE_STEP: usize = 64;

/// The handles of one simulator.
pub(crate) struct Handles {
    next: usize,
    reuse: bool,
    /// Handles of destroyed objects that may be used again, the newest last.
    free: Vec<usize>,
}

impl Handles {
    pub(crate) fn new(reuse: bool) -> Handles {
        Handles { next: FIRST_HANDLE, reuse, free: Vec::new() }
    }

    /// Turns reuse on or off. Only handles that are returned while it is on are reused.
    pub(crate) fn set_reuse(&mut self, reuse: bool) {
        self.reuse = reuse;
        self.free.clear();
    }

    /// A handle for a new object: with reuse, the one returned last.
    pub(crate) fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            let handle = self.next;
            self.next += HANDLE_STEP;
            handle
        })
    }

    /// Takes back the handle of a destroyed object.
    pub(crate) fn give(&mut self, handle: usize) {
        if self.reuse {
            self.free.push(handle);
        }
    }

    /// Whether some object has, or had, this handle.
    pub(crate) fn was_taken(&self, handle: usize) -> bool {
        (FIRST_HANDLE..self.next).contains(&handle) && handle.is_multiple_of(HANDLE_STEP)
    }
}

/// Ends the process because `call` received the handle of a destroyed object. A CUDA driver reads
/// freed memory there, and crashes or harms an unrelated object.
///
/// The message goes to standard error, not to the log: the log's callback may call the library,
/// which may hold locks here.
pub(crate) fn end_process(call: Call, what: &str, handle: usize) -> ! {
    let _ = writeln!(
        std::io::stderr(),
        "sconce: the simulated driver call {} received the {what} {handle:#x}, which has been \
         destroyed; a CUDA driver would read freed memory. The process ends. Destroy {what}s only \
         after its last use.",
        call.name()
    );
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_reused_only_when_asked_for() {
        let mut handles = Handles::new(false);
        let first = handles.take();
        handles.give(first);
        let second = handles.take();
        assert_ne!(first, second);
        handles.set_reuse(true);
        handles.give(second);
        assert_eq!(handles.take(), second);
        assert!(handles.was_taken(first) && !handles.was_taken(first + 1));
        assert!(!handles.was_taken(second + HANDLE_STEP));
    }
}
