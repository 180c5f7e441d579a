//! How strictly calls are checked while a stream is captured.

use crate::driver::CaptureMode;
use crate::error::{Error, Result};

/// How strictly calls are checked while a stream is captured. The values are CUDA's.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_capture_mode {
    /// Forbids calls that are unsafe in a capture (allocating through CUDA, querying or waiting for
    /// events and streams) on every thread, except those that have relaxed their own mode. This
    /// library's own allocations are allowed.
    SCONCE_CAPTURE_GLOBAL = 0,
    /// Forbids those calls only on the thread that began the capture.
    SCONCE_CAPTURE_THREAD_LOCAL = 1,
    /// Forbids them on no thread.
    SCONCE_CAPTURE_RELAXED = 2,
}

numbers_of!(sconce_capture_mode as i32: SCONCE_CAPTURE_GLOBAL, SCONCE_CAPTURE_THREAD_LOCAL, SCONCE_CAPTURE_RELAXED);

/// The mode of a number of the C API.
pub(in crate::ffi) fn capture_mode(mode: i32) -> Result<CaptureMode> {
    CaptureMode::from_number(mode).ok_or_else(|| {
        Error::invalid_argument(format!(
            "mode is {mode}; it must be SCONCE_CAPTURE_GLOBAL (0), _THREAD_LOCAL (1) or _RELAXED (2)"
        ))
    })
}
