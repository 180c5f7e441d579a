//! A capture on one thread, and a call on another one meanwhile.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::mpsc;
use std::time::Duration;

use sconce::ffi::sconce_status::*;
use sconce::ffi::*;
use testkit::last_message;
use testkit::places::default_stream;
use testkit::simulated::runtime;
use testkit::statuses::ok;

use crate::calls::Call;
use crate::world::{BYTES, World, empty_graph, made, native_stream, stream_of, zeros};

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
    [Captured::Pooled, Captured::Blocking, Captured::Elsewhere]
        .into_iter()
        .flat_map(move |captured| modes.map(|mode| Setting { mode, captured }))
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
    /// Prepares the call on a new thread. `stream` is its current stream, of the pool or the default one.
    fn new(call: &'static Call, is_pooled: bool) -> Caller {
        let ((go, told), (tell_ready, ready), (tell_done, done)) =
            (mpsc::channel(), mpsc::channel(), mpsc::channel());
        std::thread::spawn(move || {
            let stream = if is_pooled { stream_of(0) } else { default_stream(0) };
            ok(sconce_stream_set_current(stream));
            let world = World { stream, other: stream_of(0) };
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
    let caller = Caller::new(call, true);
    caller.wait();
    caller.call()
}

/// Makes a call while this thread captures.
pub(crate) fn beside(setting: Setting, call: &'static Call) -> Seen {
    runtime();
    // The default stream is used where it may be.
    let caller = Caller::new(call, setting.captured == Captured::Blocking);
    caller.wait();
    let device = i32::from(!setting.is_here());
    let stream = match setting.captured {
        Captured::Blocking => {
            // SAFETY: a stream that this test has made, and a writable place.
            made(|out| unsafe { sconce_stream_get_from_external(native_stream(), 0, out) })
        }
        Captured::Pooled | Captured::Elsewhere => stream_of(device),
    };
    let (first, second) = (zeros(device), zeros(device));
    let graph = empty_graph(false);
    ok(sconce_graph_capture_begin(graph, stream, null_mut(), setting.mode));
    let begun = work(first, stream);
    let (status, message) = caller.call();
    let capture = begun
        .and_then(|()| work(second, stream))
        .and_then(|()| done(sconce_graph_capture_end(graph)))
        .and_then(|()| replayed(graph, stream, [first, second]));
    Seen { status, message, capture }
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
    // SAFETY: as above.
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
