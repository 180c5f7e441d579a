//! The handles of graphs, and what a graph consists of.

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::Slab;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::rank;
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;
use sconce_driver::{CaptureMode, ConditionHandle, GraphExecHandle, GraphHandle, RelaxedCapture};
use sconce_runtime::caching::{BiasedGuard, BiasedLock};
use sconce_runtime::context::{Runtime, refuse_forked_child, runtime};
use sconce_runtime::graph_shared::Share;

use super::holds::Holds;
use super::launched::LaunchStreams;
use super::thread_captures;
pub(super) use sconce_runtime::memory::pool::Key;
use sconce_runtime::stream::{LaunchMembers, LentStream, NotedCapture, Stream};

static GRAPHS: Slab<GraphCell> = Slab::new(HandleKind::Graph);

/// The place of a graph. Cleared when the graph is destroyed.
#[derive(Default)]
struct GraphCell {
    state: BiasedLock<rank::GraphState, Option<GraphState>>,
}

impl GraphCell {
    /// Takes the lock. A thread that replays the graph all the time takes it without a locked instruction.
    #[inline(always)]
    fn lock(&self) -> BiasedGuard<'_, rank::GraphState, Option<GraphState>> {
        self.state.lock(thread_state::owner_word())
    }
}

/// A graph of the C API.
pub(super) struct GraphState {
    /// The driver's graph is kept after the capture, and the caller instantiates.
    pub(super) keeps: bool,
    pub(super) phase: Phase,
}

/// What of a graph there is.
pub(super) enum Phase {
    /// Nothing was captured yet.
    Empty,
    Capturing(Capturing),
    Captured(Captured),
    /// A call has taken the contents out and is working on them.
    Busy,
}

/// A capture under way.
pub(super) struct Capturing {
    /// The stream on which it began.
    pub(super) stream: Stream,
    /// The stream is lent until the capture has ended.
    pub(super) _lent: Option<LentStream>,
    /// Tells other threads of it until it ends.
    pub(super) noted: Option<NotedCapture>,
    /// The number of the thread that began it, and whose allocations come from the pool.
    pub(super) thread: u64,
    pub(super) holds: Holds,
    pub(super) mode: CaptureMode,
    /// The conditions that were made in the capture.
    pub(super) conditions: Vec<ConditionHandle>,
    /// The conditional nodes whose bodies are being captured, the innermost last.
    pub(super) bodies: Vec<OpenBody>,
}

/// A conditional node whose bodies are being captured.
pub(super) struct OpenBody {
    /// The stream from which they are captured.
    pub(super) stream: Stream,
    /// The stream is lent until the last of them has ended.
    pub(super) _lent: Option<LentStream>,
    /// The bodies that follow, the next one last.
    pub(super) rest: Vec<GraphHandle>,
}

impl Capturing {
    /// The stream that is captured into the innermost body, or into the graph.
    pub(super) fn innermost(&self) -> Stream {
        self.bodies.last().map_or(self.stream, |body| body.stream)
    }
}

/// A graph after its capture.
pub(super) struct Captured {
    pub(super) device: DeviceIndex,
    pub(super) nodes: usize,
    pub(super) graph: Option<GraphHandle>,
    pub(super) exec: Option<GraphExecHandle>,
    /// The memory of its own capture.
    pub(super) holds: Holds,
    /// What it does at each launch beside its nodes, as its own capture has it.
    pub(super) members: LaunchMembers,
    /// What the executable graph uses in place of both, since it was updated from another graph.
    pub(super) taken: Option<Taken>,
    /// The streams on which it was launched.
    pub(super) launched: LaunchStreams,
}

/// What a graph has taken over from the graph from which it was updated.
pub(super) struct Taken {
    pub(super) holds: Holds,
    pub(super) members: LaunchMembers,
}

impl Captured {
    /// Refuses a launch while memory that it may use is asleep. The graph is locked.
    #[inline]
    pub(super) fn refuse_asleep(&self) -> Result<()> {
        self.holds.refuse_asleep(self.device)?;
        match &self.taken {
            Some(taken) => taken.holds.refuse_asleep(self.device),
            None => Ok(()),
        }
    }

    /// What a launch does beside its nodes.
    #[inline]
    pub(super) fn members(&self) -> &LaunchMembers {
        self.taken.as_ref().map_or(&self.members, |taken| &taken.members)
    }

    /// Destroys all of it. A launch that is queued still runs.
    pub(super) fn release(self, runtime: &Runtime) -> Result<()> {
        let driver = runtime.driver();
        let exec = self.exec.map_or(Ok(()), |exec| driver.graph_exec_destroy(exec));
        let graph = self.graph.map_or(Ok(()), |graph| driver.graph_destroy(graph));
        let launched = self.launched.all();
        let taken = self.taken.map_or(Ok(()), |taken| taken.holds.release(runtime, &launched));
        let held = self.holds.release(runtime, &launched);
        exec.and(graph).and(taken).and(held)
    }
}

#[cold]
fn dead(key: Key) -> Error {
    dead_argument(key, "graph")
}

/// As [`dead`], for an argument of another name.
#[cold]
fn dead_argument(key: Key, argument: &str) -> Error {
    let otherwise = "is not alive: never created, or destroyed";
    Error::invalid_handle(HandleKind::Graph.refusal(key.bits(), argument, otherwise))
}

/// Runs `action` on a live graph.
#[inline]
pub(super) fn with_graph<R>(
    key: Key,
    action: impl FnOnce(&mut GraphState) -> Result<R>,
) -> Result<R> {
    let cell = GRAPHS.get(key).ok_or_else(|| dead(key))?;
    let mut state = cell.lock();
    // Between the look-up and the lock the graph may have been destroyed, and its place used again.
    if !cell.still() {
        return Err(dead(key));
    }
    action(state.as_mut().ok_or_else(|| dead(key))?)
}

/// Whether the lock of the graph `from` is taken before that of `graph` by threads that take both.
pub(super) fn comes_before(from: Key, graph: Key) -> Result<bool> {
    let place = |key, argument| {
        let cell = GRAPHS.get(key).ok_or_else(|| dead_argument(key, argument))?;
        Ok(std::ptr::from_ref(&cell.state).addr())
    };
    Ok(place(from, "from")? < place(graph, "graph")?)
}

/// Waits until no thread is launching the graph: a launch is queued with the graph's lock held.
pub(super) fn await_launch(key: Key) {
    // A graph that is gone is not launched.
    let _ = with_graph(key, |_| Ok(()));
}

/// Takes the contents out of a graph, and puts back what `action` returns. The graph's lock is not held meanwhile,
/// since the action may log, and a log may call the library.
pub(super) fn change<R>(
    key: Key,
    action: impl FnOnce(bool, Phase) -> (Phase, Result<R>),
) -> Result<R> {
    let (keeps, phase) = with_graph(key, |state| match state.phase {
        Phase::Busy => Err(busy()),
        _ => Ok((state.keeps, std::mem::replace(&mut state.phase, Phase::Busy))),
    })?;
    let (phase, result) = action(keeps, phase);
    with_graph(key, |state| {
        state.phase = phase;
        Ok(())
    })?;
    result
}

#[cold]
fn busy() -> Error {
    Error::invalid_state("another thread is working on the graph; wait until its call has returned")
}

/// The captured graph, for an action that needs one.
#[inline]
pub(super) fn captured(state: &mut GraphState) -> Result<&mut Captured> {
    captured_phase(&mut state.phase)
}

/// The captured graph of the contents of a graph.
#[inline]
pub(super) fn captured_phase(phase: &mut Phase) -> Result<&mut Captured> {
    match phase {
        Phase::Captured(captured) => Ok(captured),
        other => Err(not_captured(other)),
    }
}

/// Why contents are no captured graph.
#[cold]
#[inline(never)]
fn not_captured(phase: &Phase) -> Error {
    match phase {
        Phase::Capturing(_) => {
            Error::invalid_state("the graph is being captured; call sconce_graph_capture_end first")
        }
        Phase::Captured(_) | Phase::Busy => busy(),
        Phase::Empty => Error::invalid_state(
            "Called CUDAGraph::replay without a preceding successful capture. (The graph is empty; capture it with \
             sconce_graph_capture_begin and sconce_graph_capture_end.)",
        ),
    }
}

/// Makes a graph. `keeps`: the driver's graph is kept after the capture, and the caller instantiates.
pub fn create(keeps: bool) -> Result<Key> {
    refuse_forked_child()?;
    let (key, cell) = GRAPHS
        .insert()
        .ok_or_else(|| Error::new(Status::OutOfMemory, "too many graphs are alive"))?;
    *cell.lock() = Some(GraphState { keeps, phase: Phase::Empty });
    Ok(key)
}

/// Takes the capture's result out of a graph, and destroys it.
pub fn reset(key: Key) -> Result<()> {
    let phase = with_graph(key, |state| match state.phase {
        Phase::Capturing(_) => Err(is_captured("reset")),
        Phase::Busy => Err(busy()),
        _ => Ok(std::mem::replace(&mut state.phase, Phase::Empty)),
    })?;
    release(phase)
}

fn release(phase: Phase) -> Result<()> {
    let Phase::Captured(captured) = phase else { return Ok(()) };
    let runtime = runtime()?;
    // Relaxed as in torch: a capture of another thread is not affected.
    let relaxed = RelaxedCapture::enter(runtime.driver());
    // In any case: what is not released is lost.
    let released = captured.release(runtime);
    relaxed.map(drop).and(released)
}

fn is_captured(what: &str) -> Error {
    Error::invalid_state(format!(
        "the graph cannot be {what} while it is being captured; call sconce_graph_capture_end or \
         sconce_graph_capture_abort first"
    ))
}

/// Destroys a graph.
pub fn destroy(key: Key) -> Result<()> {
    let phase = with_graph(key, |state| match state.phase {
        Phase::Capturing(_) => Err(is_captured("destroyed")),
        Phase::Busy => Err(busy()),
        _ => Ok(std::mem::replace(&mut state.phase, Phase::Empty)),
    })?;
    if !GRAPHS.remove(key, |cell| *cell.lock() = None) {
        return Err(dead(key));
    }
    thread_captures::forget(key);
    release(phase)
}

/// Whether the graph is being captured.
pub fn is_capturing(key: Key) -> Result<bool> {
    with_graph(key, |state| Ok(matches!(state.phase, Phase::Capturing(_))))
}

/// The device of the stream that the graph was captured from.
pub fn device_of(key: Key) -> Result<DeviceIndex> {
    with_graph(key, |state| match &state.phase {
        Phase::Capturing(capturing) => Ok(capturing.stream.device()),
        _ => captured(state).map(|captured| captured.device),
    })
}

/// The pool that the graph's memory comes from.
pub fn pool_of(key: Key) -> Result<Key> {
    with_graph(key, |state| match &state.phase {
        Phase::Capturing(capturing) => Ok(capturing.holds.pool()),
        _ => captured(state).map(|captured| captured.holds.pool()),
    })
}

/// Makes a graph keep something that its nodes use, until it lets go of its memory and its launches are done.
pub fn keep(key: Key, share: Share) -> Result<()> {
    with_graph(key, |state| {
        match &state.phase {
            Phase::Capturing(capturing) => capturing.holds.keep_one(share),
            _ => captured(state)?.holds.keep_one(share),
        }
        Ok(())
    })
}
