//! Whether a stream is captured, and how strictly calls are checked then.

use sconce_base::error::{Error, Result};
use sconce_driver::{CaptureMode, CaptureStatus};

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

/// Whether a stream is being captured. The values are CUDA's.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_capture_status {
    /// The stream is not being captured.
    SCONCE_CAPTURE_STATUS_NONE = 0,
    /// The stream is being captured, and the capture is valid.
    SCONCE_CAPTURE_STATUS_ACTIVE = 1,
    /// The stream is being captured, but a call has made the capture invalid. The stream accepts no
    /// work until the capture is ended.
    SCONCE_CAPTURE_STATUS_INVALIDATED = 2,
}

numbers_of!(sconce_capture_status as i32: SCONCE_CAPTURE_STATUS_NONE, SCONCE_CAPTURE_STATUS_ACTIVE, SCONCE_CAPTURE_STATUS_INVALIDATED);

/// The number of the C API.
pub(crate) fn number_of_status(status: CaptureStatus) -> i32 {
    match status {
        CaptureStatus::None => SCONCE_CAPTURE_STATUS_NONE,
        CaptureStatus::Active => SCONCE_CAPTURE_STATUS_ACTIVE,
        CaptureStatus::Invalidated => SCONCE_CAPTURE_STATUS_INVALIDATED,
    }
}

/// The mode of a number of the C API.
pub(crate) fn capture_mode(mode: i32) -> Result<CaptureMode> {
    CaptureMode::from_number(mode).ok_or_else(|| {
        Error::invalid_argument(format!(
            "mode is {mode}; it must be SCONCE_CAPTURE_GLOBAL (0), _THREAD_LOCAL (1) or _RELAXED (2)"
        ))
    })
}
