//! Captures: streams whose work goes into a graph instead of running.
#![forbid(unsafe_code)]

use std::cell::Cell;

use crate::driver::CaptureMode;

thread_local! {
    /// The calling thread's mode, on every simulator of the process.
    static THREAD_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// Sets the calling thread's mode and gives the one before.
pub(super) fn exchange_thread_mode(mode: CaptureMode) -> CaptureMode {
    THREAD_MODE.replace(mode)
}
