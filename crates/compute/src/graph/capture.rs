//! The beginning, the end and the abortion of a capture.

use sconce_base::error::{Error, Result};
use sconce_base::log;
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;
use sconce_driver::{CaptureMode, GraphHandle, StreamHandle};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::stream::{self, LaunchMembers, LentStream, NotedCapture, Stream};

use super::holds::Holds;
use super::late;
use super::launch::make_executable;
use super::launched::LaunchStreams;
use super::state::{Captured, Capturing, Key, Phase, await_launch, change, is_capturing};
use super::thread_captures;

/// The graph that the calling thread captures, the newest one.
pub fn capturing() -> Option<Key> {
    while let Some(key) = thread_captures::newest() {
        if is_capturing(key).unwrap_or(false) {
            return Some(key);
        }
        thread_captures::forget(key);
    }
    None
}

/// Begins to capture a stream. The calling thread's allocations on its device come from a pool from now on.
pub fn begin(
    runtime: &Runtime,
    key: Key,
    stream: Stream,
    pool: Option<Key>,
    mode: CaptureMode,
) -> Result<()> {
    begin_on(runtime, key, (stream, None), pool, mode)
}

/// Begins to capture a stream of a device that is lent to the capture, and returns the stream.
pub fn begin_lent(
    runtime: &Runtime,
    key: Key,
    device: DeviceIndex,
    pool: Option<Key>,
    mode: CaptureMode,
) -> Result<Stream> {
    let (stream, lent) = stream::lend(runtime, device)?;
    begin_on(runtime, key, (stream, Some(lent)), pool, mode)?;
    Ok(stream)
}

fn begin_on(
    runtime: &Runtime,
    key: Key,
    (stream, lent): (Stream, Option<LentStream>),
    pool: Option<Key>,
    mode: CaptureMode,
) -> Result<()> {
    change(key, |_, phase| {
        if let Err(error) = refuse_begin(runtime, &phase, stream) {
            return (phase, Err(error));
        }
        match begin_capture(runtime, key, (stream, lent), pool, mode) {
            Ok(capturing) => {
                thread_captures::note(key);
                (Phase::Capturing(capturing), Ok(()))
            }
            Err(error) => (Phase::Empty, Err(error)),
        }
    })
}

fn refuse_begin(runtime: &Runtime, phase: &Phase, stream: Stream) -> Result<()> {
    match phase {
        Phase::Empty => {}
        Phase::Captured(_) => {
            return Err(Error::invalid_state(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new \
                 instance. (Or call sconce_graph_reset first.)",
            ));
        }
        Phase::Capturing(_) | Phase::Busy => {
            return Err(Error::invalid_state("the graph is being captured already"));
        }
    }
    if stream.driver_ref().handle == StreamHandle::DEFAULT {
        return Err(Error::invalid_state(
            "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on \
             the default stream.)",
        ));
    }
    if stream::is_capturing(runtime, stream)? {
        return Err(Error::invalid_state("stream: it is being captured already"));
    }
    Ok(())
}

fn begin_capture(
    runtime: &Runtime,
    key: Key,
    (stream, lent): (Stream, Option<LentStream>),
    given: Option<Key>,
    mode: CaptureMode,
) -> Result<Capturing> {
    late::give_back_all(runtime);
    let holds = Holds::new(given, key, await_launch)?;
    let noted = NotedCapture::new(stream.device(), mode);
    // Before the capture begins, so that no allocation of it is missed.
    let begun = holds.begin(stream.device()).and_then(|()| {
        let begun = {
            let _nothing_goes_back = stream::begin_capture();
            runtime.driver().capture_begin(stream.driver_ref(), mode)
        };
        if begun.is_err() {
            holds.end(stream.device())?;
        }
        begun
    });
    if let Err(error) = begun {
        discard(runtime, holds);
        return Err(error);
    }
    stream::begin_own_capture(runtime, holds.capture_number(), stream, false);
    let thread = thread_state::number();
    let (conditions, bodies) = (Vec::new(), Vec::new());
    Ok(Capturing {
        stream,
        _lent: lent,
        noted: Some(noted),
        thread,
        holds,
        mode,
        conditions,
        bodies,
    })
}

/// The capture, if the calling thread may end it; else what there was, and why not.
fn take(phase: Phase) -> std::result::Result<Capturing, Box<(Phase, Error)>> {
    match phase {
        Phase::Capturing(capturing) if capturing.thread == thread_state::number() => Ok(capturing),
        Phase::Capturing(_) => {
            let why = "another thread began the capture, whose allocations come from the graph's pool; end the capture \
                       on that thread";
            Err(Box::new((phase, Error::invalid_state(why))))
        }
        _ => Err(Box::new((phase, not_captured()))),
    }
}

fn not_captured() -> Error {
    Error::invalid_state("the graph is not being captured; call sconce_graph_capture_begin first")
}

/// Ends the capture of a stream. A call that fails may have done nothing; the stream must not stay captured, and so the
/// capture is ended again and its graph destroyed.
fn end_stream(runtime: &Runtime, stream: Stream) -> Result<GraphHandle> {
    let driver = runtime.driver();
    let ended = driver.capture_end(stream.driver_ref());
    if ended.is_err()
        && stream::is_capturing(runtime, stream).unwrap_or(true)
        && let Ok(graph) = driver.capture_end(stream.driver_ref())
        && let Err(error) = driver.graph_destroy(graph)
    {
        log::debug(format_args!("the graph of a failed capture: {}", error.message()));
    }
    ended
}

/// Ends the capture of a body from a stream, likewise. The body belongs to its graph and is not destroyed.
pub(super) fn end_body(runtime: &Runtime, stream: Stream) -> Result<()> {
    let driver = runtime.driver();
    let ended = driver.capture_end(stream.driver_ref());
    if ended.is_err() && stream::is_capturing(runtime, stream).unwrap_or(true) {
        // The first failure is what the caller learns.
        let _ = driver.capture_end(stream.driver_ref());
    }
    ended.map(drop)
}

/// Ends all captures of a graph: of open bodies, and its own. The thread's allocations no longer come from the pool.
fn finish(runtime: &Runtime, capturing: &mut Capturing) -> Result<(GraphHandle, LaunchMembers)> {
    let driver = runtime.driver();
    let (members, kept) = stream::end_own_capture(capturing.holds.capture_number());
    capturing.holds.keep(kept);
    let is_open = !capturing.bodies.is_empty();
    while let Some(body) = capturing.bodies.pop() {
        // It fails if the body is not complete; the outer capture is discarded in any case.
        if let Err(error) = end_body(runtime, body.stream) {
            log::debug(format_args!("a body of a conditional node: {}", error.message()));
        }
    }
    let ended = end_stream(runtime, capturing.stream);
    capturing.noted = None;
    let left = capturing.holds.end(capturing.stream.device());
    match (ended, left) {
        (Ok(graph), Ok(())) if !is_open => Ok((graph, members)),
        (Ok(graph), left) => {
            driver.graph_destroy(graph)?;
            left?;
            Err(Error::invalid_state(
                "a conditional node of the graph was not ended; call sconce_graph_conditional_end before \
                 sconce_graph_capture_end. The capture is discarded",
            ))
        }
        (Err(error), _) => Err(error),
    }
}

/// Ends the capture of a graph, and instantiates it unless the caller does. After a failure nothing is captured, and
/// the graph is empty.
pub fn end(runtime: &Runtime, key: Key) -> Result<()> {
    change(key, |keeps, phase| {
        let capturing = match take(phase) {
            Ok(capturing) => capturing,
            Err(refused) => return (refused.0, Err(refused.1)),
        };
        thread_captures::forget(key);
        match end_capture(runtime, keeps, capturing) {
            Ok(captured) => (Phase::Captured(captured), Ok(())),
            Err(error) => (Phase::Empty, Err(error)),
        }
    })
}

fn end_capture(runtime: &Runtime, keeps: bool, mut capturing: Capturing) -> Result<Captured> {
    let (graph, members) = match finish(runtime, &mut capturing) {
        Ok(ended) => ended,
        Err(error) => {
            discard(runtime, capturing.holds);
            return Err(error);
        }
    };
    let mut captured = Captured {
        device: capturing.stream.device(),
        nodes: 0,
        graph: Some(graph),
        exec: None,
        holds: capturing.holds,
        members,
        taken: None,
        launched: LaunchStreams::default(),
    };
    if let Err(error) = complete(runtime, keeps, &mut captured) {
        if let Err(other) = captured.release(runtime) {
            log::debug(format_args!("after a failed capture: {}", other.message()));
        }
        return Err(error);
    }
    Ok(captured)
}

fn complete(runtime: &Runtime, keeps: bool, captured: &mut Captured) -> Result<()> {
    let Some(graph) = captured.graph else { return Ok(()) };
    captured.nodes = runtime.driver().graph_node_count(graph)?;
    if captured.nodes == 0 {
        log::warn(format_args!(
            "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device \
             or stream."
        ));
    }
    if keeps {
        return Ok(());
    }
    make_executable(runtime, captured)?;
    captured.graph = None;
    runtime.driver().graph_destroy(graph)
}

fn discard(runtime: &Runtime, holds: Holds) {
    if let Err(error) = holds.release(runtime, &[]) {
        log::debug(format_args!("after a failed capture: {}", error.message()));
    }
}

/// Ends a capture and discards what was captured, whether it is valid or not.
pub fn abort(key: Key) -> Result<()> {
    let runtime = runtime()?;
    change(key, |_, phase| {
        let mut capturing = match take(phase) {
            Ok(capturing) => capturing,
            Err(refused) => return (refused.0, Err(refused.1)),
        };
        thread_captures::forget(key);
        // A capture that is invalid ends with a failure, which is no news here.
        let dropped = match finish(runtime, &mut capturing) {
            Ok((graph, _)) => runtime.driver().graph_destroy(graph),
            Err(_) => Ok(()),
        };
        let released = capturing.holds.release(runtime, &[]);
        (Phase::Empty, dropped.and(released))
    })
}
