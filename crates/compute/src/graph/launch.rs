//! Executable graphs: replay, upload, update; figures and files.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{GraphExecHandle, GraphHandle, GraphUpdate, RelaxedCapture};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::stream::{self, LaunchMembers, Named, Stream};

use super::state::{
    Captured, GraphState, Key, Phase, Taken, captured, captured_phase, change, comes_before,
    with_graph,
};

/// The code of a call that a captured stream does not take.
const CAPTURED: i32 = 900;

/// Instantiates a captured graph.
pub(super) fn make_executable(runtime: &Runtime, captured: &mut Captured) -> Result<()> {
    let Some(graph) = captured.graph else { return Ok(()) };
    let driver = runtime.driver();
    // It allocates, which no capture has to do with.
    let _relaxed = RelaxedCapture::enter(driver)?;
    let exec = driver.graph_instantiate(captured.device, graph)?;
    if let Some(old) = captured.exec.replace(exec) {
        driver.graph_exec_destroy(old)?;
    }
    Ok(())
}

/// Instantiates a graph that keeps the driver's graph.
pub fn instantiate(key: Key) -> Result<()> {
    let runtime = runtime()?;
    change(key, |keeps, mut phase| {
        let done = instantiate_phase(runtime, keeps, &mut phase);
        (phase, done)
    })
}

fn instantiate_phase(runtime: &Runtime, keeps: bool, phase: &mut Phase) -> Result<()> {
    let captured = captured_phase(phase)?;
    if !keeps {
        return Err(Error::invalid_state(
            "the graph was instantiated at the end of its capture; create it with keep_graph to instantiate it yourself",
        ));
    }
    // A graph with conditional nodes has one executable graph at a time.
    if let Some(old) = captured.exec.take() {
        runtime.driver().graph_exec_destroy(old)?;
    }
    make_executable(runtime, captured)?;
    // It uses what its own capture has again.
    let launched = captured.launched.all();
    captured.taken.take().map_or(Ok(()), |taken| let_go(runtime, taken, &launched))
}

/// Lets go of memory that an executable graph does not use any more, but perhaps launches of it that are queued.
fn let_go(runtime: &Runtime, taken: Taken, launched: &[Named]) -> Result<()> {
    taken.holds.release(runtime, launched)
}

/// Instantiates a graph that keeps the driver's graph, because it is launched and the caller has not done so. torch
/// does that, too.
#[cold]
fn first_executable(runtime: &Runtime, captured: &mut Captured) -> Result<GraphExecHandle> {
    make_executable(runtime, captured)?;
    captured.exec.ok_or_else(not_instantiated)
}

#[cold]
fn not_instantiated() -> Error {
    Error::invalid_state("the graph has not been instantiated; call sconce_graph_instantiate first")
}

#[cold]
fn other_device(captured: &Captured, stream: Stream) -> Error {
    Error::invalid_argument(format!(
        "stream: it is of device {}, but the graph was captured on device {}",
        stream.device(),
        captured.device
    ))
}

#[cold]
fn inside_a_capture() -> Error {
    Error::invalid_state(
        "stream: it is being captured, and a graph is not launched inside of another; capture its work instead",
    )
}

/// Queues a launch of a graph on a stream of its device.
#[inline]
pub fn replay(runtime: &Runtime, key: Key, stream: Stream) -> Result<()> {
    launch(runtime, key, |_| Ok(stream))
}

/// Queues a launch of a graph on the calling thread's stream on its device.
#[inline]
pub fn replay_on_current(runtime: &Runtime, key: Key) -> Result<()> {
    launch(runtime, key, |device| stream::current_on(runtime, device))
}

/// Queues a launch on the stream that is chosen for the device of the graph.
#[inline]
fn launch(
    runtime: &Runtime,
    key: Key,
    stream_on: impl FnOnce(DeviceIndex) -> Result<Stream>,
) -> Result<()> {
    let stream = with_graph(key, |state| {
        let captured = captured(state)?;
        let stream = stream_on(captured.device)?;
        if stream.device() != captured.device {
            return Err(other_device(captured, stream));
        }
        captured.refuse_asleep()?;
        if stream::is_in_known_capture(runtime, stream.driver_ref())? {
            return Err(inside_a_capture());
        }
        let exec = match captured.exec {
            Some(exec) => exec,
            None => first_executable(runtime, captured)?,
        };
        // Before, since a launch may be queued although a call after it fails.
        captured.launched.note(runtime, stream);
        let members = captured.members();
        let queued = if members.is_empty() {
            runtime.driver().graph_launch(exec, stream.driver_ref())
        } else {
            launch_with_members(runtime, members, exec, stream)
        };
        if let Err(error) = queued {
            // The driver knows captures that this library does not.
            return Err(if error.backend_code() == CAPTURED {
                error.context(inside_a_capture().message())
            } else {
                error
            });
        }
        Ok(stream)
    })?;
    stream::after_enqueue(runtime, stream)
}

/// Queues a launch, and what its members queue around it.
#[cold]
#[inline(never)]
fn launch_with_members(
    runtime: &Runtime,
    members: &LaunchMembers,
    exec: GraphExecHandle,
    stream: Stream,
) -> Result<()> {
    // A capture that this library does not know would take what the members queue.
    if stream::is_capturing(runtime, stream)? {
        return Err(inside_a_capture());
    }
    let mut queue = || runtime.driver().graph_launch(exec, stream.driver_ref());
    stream::launch_with(members, stream, &mut queue)
}

/// Prepares the first launch, in stream order.
pub fn upload(runtime: &Runtime, key: Key, stream: Stream) -> Result<()> {
    with_graph(key, |state| {
        let captured = captured(state)?;
        let exec = captured.exec.ok_or_else(not_instantiated)?;
        if stream.device() != captured.device {
            return Err(other_device(captured, stream));
        }
        if stream::is_in_known_capture(runtime, stream.driver_ref())? {
            return Err(inside_a_capture());
        }
        runtime.driver().graph_upload(exec, stream.driver_ref())
    })
}

/// Gives an executable graph the parameters of another graph, which keeps the driver's graph. Returns why it cannot
/// take them; nothing if it has. The executable graph holds the other graph's memory from then on.
pub fn update(key: Key, from: Key) -> Result<Option<String>> {
    let runtime = runtime()?;
    if key == from {
        return Err(Error::invalid_argument("from: it is the graph itself"));
    }
    let take = |state: &mut GraphState, from: &mut GraphState| {
        let from = captured(from)?;
        let graph = from.graph.ok_or_else(|| {
            Error::invalid_argument("from: it keeps no graph; create it with keep_graph")
        })?;
        let captured = captured(state)?;
        let exec = captured.exec.ok_or_else(not_instantiated)?;
        // Held before the driver has its addresses. The nodes read what the members of the other graph write.
        let taken = Taken { holds: from.holds.share(key), members: from.members.clone() };
        let updated = match runtime.driver().graph_update(exec, graph) {
            Ok(GraphUpdate::Done) => Ok(None),
            Ok(GraphUpdate::Refused(why)) => Ok(Some(why)),
            Err(error) => Err(error),
        };
        if !matches!(updated, Ok(None)) {
            return Ok((updated, Some(taken), Vec::new()));
        }
        captured.nodes = from.nodes;
        Ok((updated, captured.taken.replace(taken), captured.launched.all()))
    };
    // Another thread may update the other way round.
    let (updated, left, launched) = match comes_before(from, key)? {
        true => with_graph(from, |from| with_graph(key, |state| take(state, from)))?,
        false => with_graph(key, |state| with_graph(from, |from| take(state, from)))?,
    };
    // Without the locks, since this may log.
    let let_go = left.map_or(Ok(()), |left| let_go(runtime, left, &launched));
    updated.and_then(|updated| let_go.map(|()| updated))
}

/// How many nodes the graph has, without those of the bodies of its conditional nodes.
pub fn node_count(key: Key) -> Result<usize> {
    with_graph(key, |state| captured(state).map(|captured| captured.nodes))
}

fn kept(captured: &Captured) -> Result<GraphHandle> {
    captured.graph.ok_or_else(|| {
        Error::invalid_state(
            "You cannot access the raw cudaGraph_t instance unless the graph was created with keep_graph (C++ \
             CUDAGraph(true))",
        )
    })
}

/// Writes the graph to a file in the language of Graphviz.
pub fn debug_dump(key: Key, path: &str, flags: u32) -> Result<()> {
    let runtime = runtime()?;
    with_graph(key, |state| {
        let graph = kept(captured(state)?)?;
        runtime.driver().graph_debug_dump(graph, path, flags)
    })
}

/// The driver's graph.
pub fn native(key: Key) -> Result<usize> {
    with_graph(key, |state| kept(captured(state)?).map(|graph| graph.native()))
}

/// The driver's executable graph.
pub fn native_exec(key: Key) -> Result<usize> {
    with_graph(key, |state| {
        captured(state)?.exec.map(|exec| exec.native()).ok_or_else(not_instantiated)
    })
}
