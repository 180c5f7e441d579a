//! Code of the program that runs in stream order: host functions, and functions that stand for kernels.
//!
//! A stream waits for such code, so the code must not wait for a device, nor for a lock whose owner waits for one.
//! CUDA refuses most calls in a host function (800), and a wait for the function's own stream never ends. This
//! library refuses every call that needs a backend, except those that give something back.
//!
//! Calls would all pay for a look at the thread. They read one flag instead, which says that nothing needs a look:
//! the library is initialised, this is no forked child, and no host function runs on any thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static NOTHING_TO_CHECK: AtomicBool = AtomicBool::new(false);

/// The number of host functions that run on all threads.
static HOST_FUNCTIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramCodeKind {
    HostFunction,
    SimulatedKernel,
}

/// Code of the program runs on this thread until this is dropped.
pub(crate) struct ProgramCode {
    before: Option<&'static str>,
    kind: ProgramCodeKind,
}

impl ProgramCode {
    /// Begins the scope.
    pub(crate) fn enter(kind: ProgramCodeKind) -> ProgramCode {
        let words = match kind {
            ProgramCodeKind::HostFunction => {
                HOST_FUNCTIONS.fetch_add(1, Ordering::SeqCst);
                NOTHING_TO_CHECK.store(false, Ordering::SeqCst);
                "a host function"
            }
            // Runs often, and only the simulator has it: the simulator's driver looks at each call.
            ProgramCodeKind::SimulatedKernel => "the function of a simulated kernel",
        };
        ProgramCode { before: RUNNING.replace(Some(words)), kind }
    }
}

impl Drop for ProgramCode {
    fn drop(&mut self) {
        RUNNING.set(self.before);
        if self.kind == ProgramCodeKind::HostFunction {
            HOST_FUNCTIONS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// What the thread runs, in words.
pub(crate) fn running() -> Option<&'static str> {
    RUNNING.get()
}

/// Why the thread may not call the library: `None` if it may.
#[cold]
pub(crate) fn objection() -> Option<String> {
    running().map(|code| {
        format!(
            "{code} called the library; it must not use devices, nor wait for them: queue the work on the stream, \
             or let another thread do it"
        )
    })
}

/// Whether a call needs no look at the state of the process and the thread.
#[inline]
pub(crate) fn nothing_to_check() -> bool {
    NOTHING_TO_CHECK.load(Ordering::Relaxed)
}

/// From now on calls need no look, unless a host function runs.
pub(crate) fn stop_checking() {
    NOTHING_TO_CHECK.store(true, Ordering::SeqCst);
    // One that began meanwhile has written before this, or sees its own number here.
    if HOST_FUNCTIONS.load(Ordering::SeqCst) != 0 {
        NOTHING_TO_CHECK.store(false, Ordering::SeqCst);
    }
}

/// From now on calls need a look. Only an atomic changes, so a forked child may call this.
pub(crate) fn check_again() {
    NOTHING_TO_CHECK.store(false, Ordering::SeqCst);
}
