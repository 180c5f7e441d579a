//! Every operation while another thread captures: it works as ever, and the capture survives.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::mpsc;

use sconce::*;
use testkit::places::own_stream;

use super::operations::{ALL, Operation, Tensors, is_unpredictable};
use crate::api::{Handle, Outcome, outcome};

const BYTES: usize = 4096;

/// Asks the thread that captures to begin, or to end.
type Turn = mpsc::Sender<bool>;

/// A graph that sets memory twice, captured on a thread of its own whenever the test asks for it.
fn capture_on_demand(
    device: i32,
    mode: i32,
    asked: &mpsc::Receiver<bool>,
    told: &mpsc::Sender<Outcome<()>>,
) {
    let stream = own_stream(device);
    let memory = allocate(stream);
    let mut graph = null_mut();
    // SAFETY: a writable place.
    outcome(unsafe { sconce_graph_create(CBool::FALSE, &raw mut graph) }).unwrap();
    while let Ok(begins) = asked.recv() {
        let done = match begins {
            true => outcome(sconce_graph_capture_begin(graph, stream, null_mut(), mode))
                .and_then(|()| set(memory, 1, stream)),
            false => end(graph, memory, stream),
        };
        told.send(done).unwrap();
    }
}

fn allocate(stream: sconce_stream) -> *mut c_void {
    let mut memory = null_mut();
    // SAFETY: a writable place.
    outcome(unsafe { sconce_memory_alloc_on(BYTES, stream, &raw mut memory) }).unwrap();
    memory
}

fn set(memory: *mut c_void, value: u8, stream: sconce_stream) -> Outcome<()> {
    // SAFETY: memory of a device.
    outcome(unsafe { sconce_memory_set_on(memory, value, BYTES, stream) })
}

/// Ends the capture, and looks at what the graph does.
fn end(graph: *mut sconce_graph, memory: *mut c_void, stream: sconce_stream) -> Outcome<()> {
    let ended = set(memory, 2, stream).and_then(|()| outcome(sconce_graph_capture_end(graph)));
    if ended.is_err() {
        let _ = sconce_graph_capture_abort(graph);
    }
    ended?;
    outcome(sconce_graph_replay(graph, stream))?;
    outcome(sconce_stream_synchronize(stream))?;
    let mut bytes = vec![0_u8; BYTES];
    // SAFETY: memory of a device, and a writable place of this size.
    outcome(unsafe { sconce_sim_memory_read(memory, BYTES, bytes.as_mut_ptr().cast()) })?;
    assert_eq!(bytes, [2; BYTES], "the graph computed other values");
    outcome(sconce_graph_reset(graph))
}

/// The bytes of results; random numbers and new memory differ each time.
fn bytes(operation: &Operation, results: &[Handle]) -> Vec<Vec<u8>> {
    if is_unpredictable(operation) {
        return Vec::new();
    }
    results.iter().map(|tensor| tensor.bytes().unwrap()).collect()
}

fn check(device: i32, mode: i32, ask: &Turn, told: &mpsc::Receiver<Outcome<()>>) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, operation) in ALL.iter().enumerate() {
        let name = format!("{} ({number}), device {device}, mode {mode}", operation.name);
        let tensors = Tensors::new(0, 0);
        let mut note = |what: &str, failed: Option<crate::api::Failure>| {
            problems.extend(failed.map(|failure| format!("{name}: {what}: {failure:?}")));
        };
        ask.send(true).unwrap();
        note("the capture does not begin", told.recv().unwrap().err());
        // The results are read before the capture ends, too.
        let seen = (operation.call)(&tensors);
        let values = seen.as_ref().map(|results| bytes(operation, results)).unwrap_or_default();
        note("fails", seen.err());
        ask.send(false).unwrap();
        note("the capture is lost", told.recv().unwrap().err());
        // Results may be in the memory of the operands.
        let others = Tensors::new(0, 0);
        let later = (operation.call)(&others).unwrap();
        if bytes(operation, &later) != values {
            problems.push(format!("{name}: other values than without a capture"));
        }
    }
    problems
}

/// A thread captures on the same device or on another one.
#[test]
fn an_operation_leaves_captures_of_other_threads_alone() {
    let environment = [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")];
    let test = "an_operation_leaves_captures_of_other_threads_alone";
    testkit::in_child(test, &environment, || {
        testkit::simulated::runtime();
        let mut problems = Vec::new();
        for device in [0, 1] {
            for mode in [SCONCE_CAPTURE_GLOBAL, SCONCE_CAPTURE_THREAD_LOCAL, SCONCE_CAPTURE_RELAXED]
            {
                let ((ask, asked), (tell, told)) = (mpsc::channel(), mpsc::channel());
                std::thread::scope(|scope| {
                    scope.spawn(move || capture_on_demand(device, mode, &asked, &tell));
                    problems.extend(check(device, mode, &ask, &told));
                    drop(ask);
                });
            }
        }
        assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    });
}
