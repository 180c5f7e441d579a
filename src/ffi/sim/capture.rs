//! Captures on simulated devices, for tests of what happens amid them. See
//! `docs/design/simulator.md`.

use crate::context::runtime;
use crate::driver::CaptureMode;
use crate::error::{Error, Result};
use crate::ffi::{guard, sconce_status, sconce_stream};
use crate::sim;

/// Mode of a simulated capture. The values are CUDA's.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_sim_capture_mode {
    /// Holds back every thread, except those that have relaxed their own mode, from calls that are
    /// unsafe in a capture: allocating, freeing, querying or waiting for events and streams.
    SCONCE_SIM_CAPTURE_GLOBAL = 0,
    /// Holds back only the thread that began it.
    SCONCE_SIM_CAPTURE_THREAD_LOCAL = 1,
    /// Holds back no thread.
    SCONCE_SIM_CAPTURE_RELAXED = 2,
}

numbers_of!(sconce_sim_capture_mode as i32: SCONCE_SIM_CAPTURE_GLOBAL, SCONCE_SIM_CAPTURE_THREAD_LOCAL, SCONCE_SIM_CAPTURE_RELAXED);

fn mode_of(mode: i32) -> Result<CaptureMode> {
    CaptureMode::from_number(mode).ok_or_else(|| {
        Error::invalid_argument(format!(
            "mode is {mode}; it must be SCONCE_SIM_CAPTURE_GLOBAL (0), _THREAD_LOCAL (1) or \
             _RELAXED (2)"
        ))
    })
}

/// Begins a capture on a simulated stream, as `cuStreamBeginCapture` does on a real one. Until
/// `sconce_sim_end_capture` nothing that is queued there runs; nor does it later, since simulated
/// devices cannot launch graphs.
///
/// # Parameters
/// `stream`: any stream the library gave out but a default stream. `mode`: one of
/// `SCONCE_SIM_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `mode` is none. INVALID_STATE: `stream` is a default stream or is being captured. NOT_SUPPORTED:
/// the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; work queued before still runs.
/// # Threads
/// Any; unless `mode` is relaxed, the same thread must end the capture.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_begin_capture(stream: sconce_stream, mode: i32) -> sconce_status {
    guard(|| {
        let mode = mode_of(mode)?;
        let runtime = runtime()?;
        sim::begin_capture(runtime, stream.resolve(runtime)?, mode)
    })
}

/// Ends the capture that began on a simulated stream. Also a failure that says that it was spoilt
/// or left a stream unjoined ends it.
///
/// # Parameters
/// `stream`: the stream on which it began.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_STATE:
/// no capture began on `stream`, another thread must end it, or the capture failed: backend code 901
/// when something spoilt it, 904 when a stream that took part was not waited for. NOT_SUPPORTED: the
/// backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// The one that began the capture, unless that is relaxed.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_end_capture(stream: sconce_stream) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        sim::end_capture(runtime, stream.resolve(runtime)?)
    })
}
