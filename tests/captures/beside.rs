//! A capture on one thread, and a call on another one meanwhile.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::mpsc;
use std::time::Duration;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::default_stream;
use testkit::simulated::runtime;
use testkit::statuses::ok;

use crate::calls::Call;
use crate::world::{BYTES, World, block_on, empty_graph, made, stream_of};

/// Longer than any call takes.
const PATIENCE: Duration = Duration::from_secs(15);

/// What is captured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Captured {
    /// A stream of the pool of device 0.
    Pooled,
    /// A stream of the program that is ordered with the default stream of device 0, which nothing may use meanwhile.
    Blocking,
    /// A stream of the pool of device 1.
    Elsewhere,
    /// Every stream of the pools of devices 0 and 1, and of a stream of the program. The call names none of them.
    Pools,
}

/// How the capture is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) mode: i32,
    pub(crate) captured: Captured,
}

impl Setting {
    pub(crate) fn is_global(self) -> bool {
        self.mode == SCONCE_CAPTURE_GLOBAL
    }

    /// Whether a stream of device 0 is captured.
    pub(crate) fn is_here(self) -> bool {
        self.captured != Captured::Elsewhere
    }
}

/// Captures of every mode.
pub(crate) fn settings() -> impl Iterator<Item = Setting> {
    let modes = [SCONCE_CAPTURE_GLOBAL, SCONCE_CAPTURE_THREAD_LOCAL, SCONCE_CAPTURE_RELAXED];
    // Which streams a call uses does not depend on the mode.
    let pools = Setting { mode: SCONCE_CAPTURE_THREAD_LOCAL, captured: Captured::Pools };
    [Captured::Pooled, Captured::Blocking, Captured::Elsewhere]
        .into_iter()
        .flat_map(move |captured| modes.map(|mode| Setting { mode, captured }))
        .chain([pools])
}

/// What a call returned, and what became of the capture.
pub(crate) struct Seen {
    pub(crate) status: sconce_status,
    pub(crate) message: String,
    pub(crate) capture: Result<(), String>,
}

/// A thread that makes a call when it is told to.
struct Caller {
    go: mpsc::Sender<()>,
    ready: mpsc::Receiver<()>,
    done: mpsc::Receiver<(sconce_status, String)>,
}

impl Caller {
    /// Prepares the call on a new thread, which has two streams: of the pool, unless that is not its to use.
    fn new(call: &'static Call, captured: Option<Captured>) -> Caller {
        let ((go, told), (tell_ready, ready), (tell_done, done)) =
            (mpsc::channel(), mpsc::channel(), mpsc::channel());
        std::thread::spawn(move || {
            let (stream, other) = match captured {
                Some(Captured::Pools) => (default_stream(0), of_program(false)),
                // The default stream is used where it may be.
                Some(Captured::Pooled | Captured::Elsewhere) => (default_stream(0), stream_of(0)),
                Some(Captured::Blocking) | None => (stream_of(0), stream_of(0)),
            };
            ok(sconce_stream_set_current(stream));
            let world = World { stream, other };
            let prepared = (call.prepare)(&world);
            tell_ready.send(()).unwrap();
            told.recv().unwrap();
            let status = prepared();
            tell_done.send((status, last_message())).unwrap();
            // What the thread captures must not end with it.
            std::thread::park();
        });
        Caller { go, ready, done }
    }

    fn wait(&self) {
        self.ready.recv_timeout(PATIENCE).expect("the call could not be prepared");
    }

    /// Makes the call.
    fn call(&self) -> (sconce_status, String) {
        self.go.send(()).unwrap();
        self.done.recv_timeout(PATIENCE).expect("the call hangs, or has ended its thread")
    }
}

/// Makes a call while nothing is captured.
pub(crate) fn alone(call: &'static Call) -> (sconce_status, String) {
    runtime();
    let caller = Caller::new(call, None);
    caller.wait();
    caller.call()
}

/// Makes a call while this thread captures.
pub(crate) fn beside(setting: Setting, call: &'static Call) -> Seen {
    runtime();
    let captures = captures(setting.captured);
    let caller = Caller::new(call, Some(setting.captured));
    caller.wait();
    // The call may end a capture of the caller, which is made by then.
    let captures: Vec<_> =
        captures.into_iter().filter(|capture| !is_captured(capture.stream)).collect();
    let begun: Vec<_> = captures.iter().map(|capture| capture.begin(setting.mode)).collect();
    let (status, message) = caller.call();
    let ended = captures.iter().zip(begun).map(|(capture, begun)| capture.end(begun?));
    // All of them, also after one that has failed.
    let ended: Vec<_> = ended.collect();
    let checked = captures.iter().zip(ended).map(|(capture, graph)| capture.check(graph?));
    Seen { status, message, capture: checked.collect() }
}

/// A stream that the program made.
fn of_program(is_blocking: bool) -> sconce_stream {
    let flags = if is_blocking { 0 } else { SCONCE_SIM_STREAM_NON_BLOCKING };
    // SAFETY: a writable place.
    let native = made(|out| unsafe { sconce_sim_stream_create(0, flags, 0, out) });
    // SAFETY: a stream that this test has made, and a writable place.
    made(|out| unsafe { sconce_stream_get_from_external(native, 0, out) })
}

/// What is captured beside the call.
fn captures(captured: Captured) -> Vec<Capture> {
    let alone = |stream: sconce_stream| vec![Capture::new(stream, true)];
    match captured {
        Captured::Pooled => alone(stream_of(0)),
        Captured::Elsewhere => alone(stream_of(1)),
        Captured::Blocking => alone(of_program(true)),
        Captured::Pools => [0, 1].into_iter().flat_map(of_pools).collect(),
    }
}

/// All streams of two pools of a device.
fn of_pools(device: i32) -> impl Iterator<Item = Capture> {
    const STREAMS: usize = 32;
    let results = [block_on(device), block_on(device)];
    [0, -1].into_iter().flat_map(move |priority| {
        (0..STREAMS).map(move |_| {
            // SAFETY: a writable place.
            let stream = made(|out| unsafe { sconce_stream_get_from_pool(device, priority, out) });
            Capture { stream, results, is_launched: false }
        })
    })
}

fn is_captured(stream: sconce_stream) -> bool {
    // SAFETY: a writable place.
    let status: i32 = made(|out| unsafe { sconce_stream_get_capture_status(stream, out) });
    status != 0
}

/// A capture of a stream, and what its work writes.
struct Capture {
    stream: sconce_stream,
    results: [*mut c_void; 2],
    /// The graph is launched, too, which takes a while.
    is_launched: bool,
}

impl Capture {
    fn new(stream: sconce_stream, is_launched: bool) -> Capture {
        let results = [block_on(stream.device), block_on(stream.device)];
        Capture { stream, results, is_launched }
    }

    fn begin(&self, mode: i32) -> Result<*mut sconce_graph, String> {
        let graph = empty_graph(!self.is_launched);
        ok(sconce_graph_capture_begin(graph, self.stream, null_mut(), mode));
        work(self.results[0], self.stream)?;
        Ok(graph)
    }

    fn end(&self, graph: *mut sconce_graph) -> Result<*mut sconce_graph, String> {
        work(self.results[1], self.stream)?;
        done(sconce_graph_capture_end(graph))?;
        Ok(graph)
    }

    /// The graph has the work of the capturing thread, and no other.
    fn check(&self, graph: *mut sconce_graph) -> Result<(), String> {
        const NODES: usize = 4;
        // SAFETY: a writable place.
        let nodes: usize = made(|out| unsafe { sconce_graph_node_count(graph, out) });
        if nodes != NODES {
            return Err(format!("the graph has {nodes} nodes instead of {NODES}"));
        }
        if self.is_launched { replayed(graph, self.stream, self.results) } else { Ok(()) }
    }
}

fn done(status: sconce_status) -> Result<(), String> {
    if status == SCONCE_OK { Ok(()) } else { Err(last_message()) }
}

/// Captures an allocation, a fill and a copy.
fn work(to: *mut c_void, stream: sconce_stream) -> Result<(), String> {
    let mut inside = null_mut();
    // SAFETY: a writable place.
    done(unsafe { sconce_memory_alloc_on(BYTES, stream, &raw mut inside) })?;
    // SAFETY: memory of a device.
    done(unsafe { sconce_memory_set_on(inside, 7, BYTES, stream) })?;
    // SAFETY: both are memory of a device, which the call checks.
    done(unsafe { sconce_copy_on(to, inside, BYTES, CBool::TRUE, stream) })?;
    done(sconce_memory_free(inside))
}

/// Launches the graph, and looks at what it has written.
fn replayed(
    graph: *mut sconce_graph,
    stream: sconce_stream,
    results: [*mut c_void; 2],
) -> Result<(), String> {
    done(sconce_graph_replay(graph, stream))?;
    done(sconce_stream_synchronize(stream))?;
    for result in results {
        let mut bytes = vec![0_u8; BYTES];
        // SAFETY: memory of a device, and a writable place of this size.
        done(unsafe { sconce_sim_memory_read(result, BYTES, bytes.as_mut_ptr().cast()) })?;
        if bytes != [7; BYTES] {
            return Err("the graph computed other values".to_owned());
        }
    }
    Ok(())
}
