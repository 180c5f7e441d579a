//! Code of the program that runs in stream order: host functions, and functions that stand for kernels.
//!
//! A stream waits for such code, so the code must not wait for a device, nor for a lock whose owner waits for one.
//! CUDA refuses most calls in a host function (800), and a wait for the function's own stream never ends. This
//! library refuses every call that needs a backend, except those that give something back.
//!
//! Calls would all pay for a look at the thread. They read one word instead, which says whether there is anything to
//! look at: whether the library is initialised in this process, which is not a forked child, and how many host
//! functions run on all threads.

mod later;

pub use later::later;
pub(crate) use later::run_waiting;

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lock::{Serving, rank, refuse_held};

/// [`INITIALIZED`], plus [`HOST_FUNCTION`] for each host function that runs. One word, so that no moment lies between
/// the begin of a function and the time from which calls look.
static STATE: AtomicUsize = AtomicUsize::new(0);

const INITIALIZED: usize = 1;
const HOST_FUNCTION: usize = 2;

thread_local! {
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramCodeKind {
    HostFunction,
    SimulatedKernel,
}

/// Code of the program runs on this thread until this is dropped.
pub struct ProgramCode {
    before: Option<&'static str>,
    /// The device waits for it.
    _serving: Serving<rank::Device>,
    kind: ProgramCodeKind,
}

impl ProgramCode {
    /// Begins the scope.
    pub fn enter(kind: ProgramCodeKind) -> ProgramCode {
        let words = match kind {
            ProgramCodeKind::HostFunction => {
                STATE.fetch_add(HOST_FUNCTION, Ordering::Relaxed);
                "a host function"
            }
            // Runs often, and only the simulator has it: the simulator's driver looks at each call.
            ProgramCodeKind::SimulatedKernel => "the function of a simulated kernel",
        };
        refuse_held(words);
        let serving = Serving::begin();
        ProgramCode { before: RUNNING.replace(Some(words)), _serving: serving, kind }
    }
}

impl Drop for ProgramCode {
    fn drop(&mut self) {
        RUNNING.set(self.before);
        if self.kind == ProgramCodeKind::HostFunction {
            STATE.fetch_sub(HOST_FUNCTION, Ordering::Relaxed);
        }
    }
}

/// What the thread runs, in words.
pub fn running() -> Option<&'static str> {
    RUNNING.get()
}

/// Why the thread may not call the library: `None` if it may.
#[cold]
pub fn objection() -> Option<String> {
    running().map(|code| {
        format!(
            "{code} called the library; it must not use devices, nor wait for them: queue the work on the stream, \
             or let another thread do it"
        )
    })
}

/// Whether a call may use the library without a look at the thread: the library is initialised in this process, and no
/// host function runs.
#[inline]
pub fn nothing_to_check() -> bool {
    STATE.load(Ordering::Relaxed) == INITIALIZED
}

/// Whether the library is initialised in this process.
#[inline]
pub fn is_initialized() -> bool {
    STATE.load(Ordering::Relaxed) & INITIALIZED != 0
}

/// Notes that the library is initialised.
pub fn note_initialized() {
    STATE.fetch_or(INITIALIZED, Ordering::Relaxed);
}

/// Notes that this is a forked child. Only an atomic changes.
pub fn note_forked() {
    STATE.fetch_and(!INITIALIZED, Ordering::Relaxed);
}
