//! Captures on simulated devices, for tests of calls during a capture. See
//! `docs/design/simulator.md`.

use sconce_runtime::context::runtime;

use crate::sim::controls as sim;
use crate::stream::capture_mode;
use crate::{guard, sconce_status, sconce_stream};

/// Begins a capture on a simulated stream, as other code does with `cuStreamBeginCapture` on a real
/// one, for tests of calls during a capture. Work queued on the stream until
/// `sconce_sim_end_capture` never runs: the graph is discarded. Work queued earlier still runs. To
/// make a graph that can be launched, use `sconce_graph_capture_begin`.
///
/// - `stream`: not a default stream.
/// - `mode`: one of `SCONCE_CAPTURE_GLOBAL`, `_THREAD_LOCAL` and `_RELAXED`; another number is
///   INVALID_ARGUMENT.
/// - Errors: INVALID_STATE: `stream` is a default stream or is being captured.
/// - Threads: any; unless `mode` is relaxed, the same thread must end the capture.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_begin_capture(stream: sconce_stream, mode: i32) -> sconce_status {
    guard(|| {
        let mode = capture_mode(mode)?;
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
