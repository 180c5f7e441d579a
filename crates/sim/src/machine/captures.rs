//! The captures under way: which streams take part, what has become a node, and whether a capture is still valid.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sconce_driver::CaptureMode;

use super::graphs::{CapturedStream, Graph, GraphNode};
use super::token::StreamKey;

thread_local! {
    /// The calling thread's mode, on every simulator of the process.
    static THREAD_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// The calling thread's mode.
pub(crate) fn thread_mode() -> CaptureMode {
    THREAD_MODE.get()
}

/// Sets the calling thread's mode and returns the previous one.
pub(crate) fn exchange_thread_mode(mode: CaptureMode) -> CaptureMode {
    THREAD_MODE.replace(mode)
}

/// A point in a capture: the nodes that the next operation there comes after.
type Position = BTreeSet<usize>;

/// A record of an event on a captured stream.
#[derive(Clone)]
pub(crate) struct CapturedRecord {
    pub(crate) capture: u64,
    after: Position,
}

/// One capture under way.
pub(crate) struct Capture {
    pub(crate) mode: CaptureMode,
    /// The number of the thread that began it.
    pub(crate) owner: u64,
    /// The stream on which it began and ends.
    pub(crate) origin: StreamKey,
    /// The capture is invalid: it takes nothing more, and ending it fails.
    pub(crate) is_invalid: bool,
    /// What it records into.
    pub(crate) graph: Arc<Graph>,
    /// The handle of the graph, if the capture is of the body of a conditional node.
    pub(crate) body: Option<usize>,
    /// The streams that take part: the origin, and those that waited for an event of the capture.
    streams: BTreeMap<StreamKey, Position>,
}

impl Capture {
    /// Whether every node comes before what the origin would do next.
    pub(crate) fn is_joined(&self) -> bool {
        let contents = self.graph.contents.lock();
        let mut before = vec![false; contents.nodes.len()];
        let mut found: Vec<usize> = self.streams[&self.origin].iter().copied().collect();
        while let Some(node) = found.pop() {
            if !std::mem::replace(&mut before[node], true) {
                found.extend(&contents.nodes[node].after);
            }
        }
        before.into_iter().all(|is_before| is_before)
    }

    /// The streams that take part.
    pub(crate) fn streams(&self) -> impl Iterator<Item = &StreamKey> {
        self.streams.keys()
    }
}

/// The captures under way, by numbers that are not used again.
#[derive(Default)]
pub(crate) struct CaptureTable {
    begun: u64,
    live: BTreeMap<u64, Capture>,
}

impl CaptureTable {
    /// Begins a capture on a stream that is in none. `body` is the handle of `graph` if that is a body.
    pub(crate) fn begin(
        &mut self,
        origin: StreamKey,
        mode: CaptureMode,
        owner: u64,
        graph: Arc<Graph>,
        body: Option<usize>,
    ) {
        self.begun += 1;
        let streams = BTreeMap::from([(origin, Position::new())]);
        let capture = Capture { mode, owner, origin, is_invalid: false, graph, body, streams };
        self.live.insert(self.begun, capture);
    }

    /// Ends a capture.
    pub(crate) fn end(&mut self, id: u64) -> Option<Capture> {
        self.live.remove(&id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Capture> {
        self.live.get(&id)
    }

    /// The capture that a stream takes part in.
    pub(crate) fn of(&self, key: StreamKey) -> Option<u64> {
        self.live.iter().find(|(_, c)| c.streams.contains_key(&key)).map(|(id, _)| *id)
    }

    /// Whether `which` holds for any capture.
    pub(crate) fn any(&self, which: impl FnMut(&Capture) -> bool) -> bool {
        self.live.values().any(which)
    }

    pub(crate) fn invalidate(&mut self, id: u64) {
        if let Some(capture) = self.live.get_mut(&id) {
            capture.is_invalid = true;
        }
    }

    /// Invalidates the captures for which `which` holds, and returns whether there were any.
    pub(crate) fn invalidate_if(&mut self, mut which: impl FnMut(&Capture) -> bool) -> bool {
        let mut any = false;
        for capture in self.live.values_mut().filter(|capture| which(capture)) {
            capture.is_invalid = true;
            any = true;
        }
        any
    }

    /// Adds a node behind what a stream that takes part has done; `make` is given the nodes that it comes after.
    pub(crate) fn add_node(
        &mut self,
        id: u64,
        key: StreamKey,
        stream: CapturedStream,
        make: impl FnOnce(Vec<usize>) -> GraphNode,
    ) {
        let Some(capture) = self.live.get_mut(&id) else { return };
        let Some(position) = capture.streams.get_mut(&key) else { return };
        let mut contents = capture.graph.contents.lock();
        let place = contents.nodes.len();
        let after = std::mem::replace(position, Position::from([place]));
        contents.nodes.push(make(after.into_iter().collect()));
        contents.streams.insert(key, stream);
    }

    /// A record of an event on a stream of a capture, made now.
    pub(crate) fn record(&self, id: u64, key: StreamKey) -> CapturedRecord {
        let capture = self.live.get(&id);
        let after = capture.and_then(|capture| capture.streams.get(&key)).cloned();
        CapturedRecord { capture: id, after: after.unwrap_or_default() }
    }

    /// Orders a stream after a record. The stream takes part in the record's capture from now on.
    pub(crate) fn join(&mut self, key: StreamKey, record: CapturedRecord) {
        let Some(capture) = self.live.get_mut(&record.capture) else { return };
        capture.streams.entry(key).or_default().extend(record.after);
    }

    /// Takes a destroyed stream out of its capture, which becomes invalid, and which ends if it began on
    /// that stream.
    pub(crate) fn leave(&mut self, key: StreamKey) {
        let Some(id) = self.of(key) else { return };
        self.invalidate(id);
        let Some(capture) = self.live.get_mut(&id) else { return };
        capture.streams.remove(&key);
        if capture.origin == key {
            self.live.remove(&id);
        }
    }
}
