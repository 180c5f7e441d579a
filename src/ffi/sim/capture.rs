//! Captures on simulated devices, for tests of calls during a capture. See
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
    /// Forbids calls that are unsafe in a capture (allocating, freeing, querying or waiting for
    /// events and streams) on every thread, except those that have relaxed their own mode.
    SCONCE_SIM_CAPTURE_GLOBAL = 0,
    /// Forbids those calls only on the thread that began the capture.
    SCONCE_SIM_CAPTURE_THREAD_LOCAL = 1,
    /// Forbids them on no thread.
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

/// Begins a capture on a simulated stream, as other code does with `cuStreamBeginCapture` on a real
/// one, for tests of calls during a capture. Work queued on the stream until `sconce_sim_end_capture`
/// does not run, neither then nor later: the graph is dropped. Work queued earlier still runs. Graphs
/// that can be launched are made by `sconce_graph_capture_begin`.
///
/// - `stream`: not a default stream.
/// - `mode`: one of `SCONCE_SIM_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`; another number is
///   INVALID_ARGUMENT.
/// - Errors: INVALID_STATE: `stream` is a default stream or is being captured.
/// - Threads: any; unless `mode` is relaxed, the same thread must end the capture.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_begin_capture(stream: sconce_stream, mode: i32) -> sconce_status {
    guard(|| {
        let mode = mode_of(mode)?;
        let runtime = runtime()?;
        sim::begin_capture(runtime, stream.resolve(runtime)?, mode)
    })
}

/// Ends the capture that began on a simulated stream. A failure that reports an invalid capture or
/// an unjoined stream ends the capture as well.
///
/// - `stream`: the stream on which the capture began.
/// - Errors: INVALID_STATE: no capture began on `stream`, another thread must end it, or the
///   capture failed: backend code 901 if a call invalidated it, 904 if a stream that joined the
///   capture was not waited for.
/// - Threads: the thread that began the capture, unless its mode is relaxed.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_end_capture(stream: sconce_stream) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        sim::end_capture(runtime, stream.resolve(runtime)?)
    })
}
