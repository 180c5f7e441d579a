//! What a graph can do besides replays: uploads, updates, files, the driver's handles; and what each refuses.
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use sconce::sconce_status::*;
use sconce::*;

use crate::support::*;

const BYTES: usize = 4096;

/// Captures a fill of `output`, and a copy of its first half to the second if `copies`.
fn capture_fill(
    graph: *mut sconce_graph,
    stream: sconce_stream,
    output: *mut c_void,
    value: u8,
    copies: bool,
) {
    ok(begin(graph, stream));
    ok(set(output, value, BYTES / 2));
    if copies {
        ok(copy(output.wrapping_byte_add(BYTES / 2), output, BYTES / 2));
    }
    ok(sconce_graph_capture_end(graph));
}

fn update(graph: *mut sconce_graph, from: *mut sconce_graph) -> (sconce_status, bool) {
    let mut updated = false;
    // SAFETY: a writable place.
    (unsafe { sconce_graph_update(graph, from, &raw mut updated) }, updated)
}

fn updated(graph: *mut sconce_graph, from: *mut sconce_graph) -> bool {
    let (status, updated) = update(graph, from);
    ok(status);
    updated
}

fn nodes(graph: *mut sconce_graph) -> usize {
    let mut count = 0;
    // SAFETY: a writable place.
    ok(unsafe { sconce_graph_node_count(graph, &raw mut count) });
    count
}

fn native(graph: *mut sconce_graph) -> (sconce_status, *mut c_void) {
    let mut native = null_mut();
    // SAFETY: a writable place.
    (unsafe { sconce_graph_get_native(graph, &raw mut native) }, native)
}

fn native_exec(graph: *mut sconce_graph) -> (sconce_status, *mut c_void) {
    let mut native = null_mut();
    // SAFETY: a writable place.
    (unsafe { sconce_graph_get_native_exec(graph, &raw mut native) }, native)
}

fn dump(graph: *mut sconce_graph, path: &str, flags: u32) -> sconce_status {
    let path = CString::new(path).unwrap();
    // SAFETY: a NUL-terminated text.
    unsafe { sconce_graph_debug_dump(graph, path.as_ptr(), flags) }
}

/// A file of this test's own, which is removed at the end.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("sconce-{name}-{}.dot", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_graph_is_uploaded_before_its_launches() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let graph = graph(false);
    capture_fill(graph, stream, output, 6, true);
    let before = calls("graph_upload");
    ok(sconce_graph_upload(graph, stream));
    ok(sconce_graph_upload(graph, pool_stream()));
    assert_eq!(calls("graph_upload"), before + 2);
    ok(set(output, 9, BYTES));
    assert_eq!(read(output, BYTES), [9; BYTES], "an upload launches nothing");
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(output, BYTES), [6; BYTES]);
    ok(sconce_graph_upload(graph, stream));
    ok(sconce_graph_replay(graph, stream));
    ok(sconce_graph_destroy(graph));
    assert_eq!(read(output, BYTES), [6; BYTES]);
    free(output);
}

#[test]
fn what_cannot_be_launched_is_not_uploaded() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let kept = graph(true);
    let invalid = SCONCE_ERROR_INVALID_STATE;
    refused(sconce_graph_upload(kept, stream), invalid, "The graph is empty");
    ok(begin(kept, stream));
    refused(sconce_graph_upload(kept, stream), invalid, "the graph is being captured");
    ok(set(output, 1, BYTES));
    ok(sconce_graph_capture_end(kept));
    refused(sconce_graph_upload(kept, stream), invalid, "call sconce_graph_instantiate first");
    ok(sconce_graph_instantiate(kept));
    ok(sconce_graph_upload(kept, stream));
    let mut other = stream;
    // SAFETY: a writable place.
    ok(unsafe { sconce_stream_get_default(1, &raw mut other) });
    let wrong_device = "of device 1, but the graph was captured on device 0";
    refused(sconce_graph_upload(kept, other), SCONCE_ERROR_INVALID_ARGUMENT, wrong_device);
    let unknown = sconce_stream { id: 12345, ..stream };
    assert_ne!(sconce_graph_upload(kept, unknown), SCONCE_OK, "there is no such stream");
    // A stream that is being captured; the capture stays valid.
    let second = graph(false);
    ok(begin(second, stream));
    refused(sconce_graph_upload(kept, stream), invalid, "is being captured");
    ok(set(output, 2, BYTES));
    ok(sconce_graph_capture_end(second));
    ok(sconce_graph_replay(second, stream));
    assert_eq!(read(output, BYTES), [2; BYTES]);
    ok(sconce_graph_reset(kept));
    refused(sconce_graph_upload(kept, stream), invalid, "The graph is empty");
    ok(sconce_graph_destroy(kept));
    refused(sconce_graph_upload(kept, stream), SCONCE_ERROR_INVALID_HANDLE, "not alive");
    ok(sconce_graph_destroy(second));
    free(output);
}

#[test]
fn an_update_takes_the_addresses_and_numbers_of_another_graph() {
    let stream = current_stream();
    let [one, other] = [allocate(BYTES), allocate(BYTES)];
    let [graph, from, longer] = [graph(false), graph(true), graph(true)];
    capture_fill(graph, stream, one, 1, false);
    capture_fill(from, stream, other, 2, false);
    capture_fill(longer, stream, other, 3, true);
    for block in [one, other] {
        ok(set(block, 0, BYTES));
    }
    // A launch that is queued is not affected.
    ok(sconce_stream_sleep(stream, 20_000_000));
    ok(sconce_graph_replay(graph, stream));
    assert!(updated(graph, from));
    assert_eq!(read(one, BYTES / 2), [1; BYTES / 2]);
    assert_eq!(read(other, BYTES), [0; BYTES], "the queued launch took the update");
    ok(set(one, 0, BYTES));
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(one, BYTES), [0; BYTES]);
    assert_eq!(read(other, BYTES / 2), [2; BYTES / 2]);
    // Another number of nodes: the graph stays as it was.
    assert!(!updated(graph, longer));
    assert_eq!(nodes(graph), 1);
    ok(set(other, 0, BYTES));
    ok(sconce_graph_replay(graph, stream));
    assert_eq!(read(other, BYTES)[..BYTES / 2], [2; BYTES / 2]);
    assert_eq!(read(other, BYTES)[BYTES / 2..], [0; BYTES / 2]);
    for graph in [graph, from, longer] {
        ok(sconce_graph_destroy(graph));
    }
    free(one);
    free(other);
}

#[test]
fn an_update_without_what_it_needs_is_refused() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let [graph_, kept, unkept, empty] = [graph(true), graph(true), graph(false), graph(true)];
    capture_fill(graph_, stream, output, 1, false);
    capture_fill(kept, stream, output, 2, false);
    capture_fill(unkept, stream, output, 3, false);
    let refuses = |graph, from, status, words| refused(update(graph, from).0, status, words);
    let (argument, state) = (SCONCE_ERROR_INVALID_ARGUMENT, SCONCE_ERROR_INVALID_STATE);
    refuses(graph_, kept, state, "call sconce_graph_instantiate first");
    ok(sconce_graph_instantiate(graph_));
    refuses(graph_, graph_, argument, "from: it is the graph itself");
    refuses(graph_, unkept, argument, "from: it keeps no graph");
    refuses(graph_, empty, state, "The graph is empty");
    refuses(empty, kept, state, "The graph is empty");
    refuses(graph_, null_mut(), SCONCE_ERROR_INVALID_HANDLE, "from");
    // SAFETY: NULL is refused.
    let no_place = unsafe { sconce_graph_update(graph_, kept, null_mut()) };
    refused(no_place, argument, "out_updated");
    ok(sconce_graph_replay(graph_, stream));
    assert_eq!(read(output, BYTES / 2), [1; BYTES / 2], "a refused update changed the graph");
    assert!(updated(graph_, kept));
    ok(sconce_graph_reset(kept));
    refuses(graph_, kept, state, "The graph is empty");
    ok(sconce_graph_replay(graph_, stream));
    assert_eq!(read(output, BYTES / 2), [2; BYTES / 2], "the graph needs the other no more");
    for graph in [graph_, kept, unkept, empty] {
        ok(sconce_graph_destroy(graph));
    }
    free(output);
}

#[test]
fn a_graph_is_written_to_a_file() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let graph = graph(true);
    capture_fill(graph, stream, output, 1, true);
    let file = File::new("dump");
    std::fs::write(&file.0, "what was there before").unwrap();
    for flags in [0, 1] {
        ok(dump(graph, file.path(), flags));
        let text = std::fs::read_to_string(&file.0).unwrap();
        assert!(text.starts_with("digraph"), "{text}");
        for words in ["fill_async", "copy_async", "node_0 -> node_1"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert_eq!(text.matches("label=").count(), 2, "{text}");
        assert!(text.contains(&format!("{} bytes", BYTES / 2)), "{text}");
    }
    ok(sconce_graph_destroy(graph));
    free(output);
}

#[test]
fn a_graph_that_cannot_be_written_is_refused() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let file = File::new("refused");
    let (argument, state) = (SCONCE_ERROR_INVALID_ARGUMENT, SCONCE_ERROR_INVALID_STATE);
    let [kept, unkept] = [graph(true), graph(false)];
    refused(dump(kept, file.path(), 0), state, "The graph is empty");
    ok(begin(kept, stream));
    refused(dump(kept, file.path(), 0), state, "the graph is being captured");
    ok(set(output, 1, BYTES));
    ok(sconce_graph_capture_end(kept));
    capture_fill(unkept, stream, output, 1, false);
    refused(dump(unkept, file.path(), 0), state, "created with keep_graph");
    let nowhere = format!("{}/there/is/no/folder", file.path());
    refused(dump(kept, &nowhere, 0), SCONCE_ERROR_DRIVER, "no/folder");
    // SAFETY: NUL-terminated.
    let no_text = unsafe { sconce_graph_debug_dump(kept, c"\xff\xfe".as_ptr(), 0) };
    refused(no_text, argument, "not UTF-8");
    // SAFETY: NULL is refused.
    let no_path = unsafe { sconce_graph_debug_dump(kept, null(), 0) };
    refused(no_path, argument, "path");
    assert!(!file.0.exists(), "a refused call wrote a file");
    ok(dump(kept, file.path(), 0));
    ok(sconce_graph_destroy(kept));
    refused(dump(kept, file.path(), 0), SCONCE_ERROR_INVALID_HANDLE, "not alive");
    ok(sconce_graph_destroy(unkept));
    free(output);
}

#[test]
fn the_drivers_handles_are_the_graphs() {
    let stream = current_stream();
    let output = allocate(BYTES);
    let [kept, other, unkept] = [graph(true), graph(true), graph(false)];
    let state = SCONCE_ERROR_INVALID_STATE;
    refused(native(kept).0, state, "The graph is empty");
    refused(native_exec(kept).0, state, "The graph is empty");
    for graph in [kept, other, unkept] {
        capture_fill(graph, stream, output, 1, false);
    }
    let handle = native(kept);
    assert!(handle.0 == SCONCE_OK && !handle.1.is_null());
    assert_eq!(native(kept), handle);
    assert_ne!(native(other).1, handle.1);
    refused(native_exec(kept).0, state, "call sconce_graph_instantiate first");
    ok(sconce_graph_instantiate(kept));
    let exec = native_exec(kept);
    assert!(exec.0 == SCONCE_OK && !exec.1.is_null());
    ok(sconce_graph_replay(kept, stream));
    assert_eq!(native_exec(kept), exec, "a launch changed the executable graph");
    ok(sconce_graph_instantiate(kept));
    // A driver that uses freed handles again at once may give the same one.
    let replaced = native_exec(kept);
    assert!(replaced.0 == SCONCE_OK && !replaced.1.is_null());
    if std::env::var_os("SCONCE_SIM_REUSE_ADDRESSES").is_none() {
        assert_ne!(replaced.1, exec.1, "the executable graph was not replaced");
    }
    assert_eq!(native(kept), handle);
    // Without keep_graph there is only the executable graph.
    refused(native(unkept).0, state, "created with keep_graph");
    ok(native_exec(unkept).0);
    refused(sconce_graph_instantiate(unkept), state, "create it with keep_graph");
    ok(sconce_graph_reset(kept));
    refused(native(kept).0, state, "The graph is empty");
    refused(native_exec(kept).0, state, "The graph is empty");
    for graph in [kept, other, unkept] {
        ok(sconce_graph_destroy(graph));
    }
    free(output);
}
