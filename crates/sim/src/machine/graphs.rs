//! Graphs: the operations of a capture as nodes with edges, and executable copies of them.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;

use super::operation::QueuedWork;
use super::token::{StreamKey, Token};
use crate::call::Call;

/// An operation of a graph.
#[derive(Clone)]
pub(crate) struct GraphNode {
    pub(crate) call: Call,
    pub(crate) work: Arc<dyn QueuedWork>,
    pub(crate) duration_ns: u64,
    /// The stream that it was captured from.
    pub(crate) stream: StreamKey,
    /// The nodes that must have ended before, by their places in the graph, which are lower than its own.
    pub(crate) after: Vec<usize>,
}

/// The conditions of the process by their handles, for kernels, which know no simulator.
static CONDITIONS: Mutex<rank::SimConditions, BTreeMap<u64, Weak<Condition>>> =
    Mutex::new(BTreeMap::new());
/// The handle of the next condition.
static NEXT_CONDITION: AtomicU64 = AtomicU64::new(0x5E00_0001);

/// A value that a conditional node reads.
pub(crate) struct Condition {
    handle: u64,
    value: AtomicU32,
}

impl Condition {
    pub(crate) fn new() -> Arc<Condition> {
        let handle = NEXT_CONDITION.fetch_add(1, Ordering::Relaxed);
        let condition = Arc::new(Condition { handle, value: AtomicU32::new(0) });
        CONDITIONS.lock().insert(handle, Arc::downgrade(&condition));
        condition
    }

    /// The living condition with this handle.
    pub(crate) fn find(handle: u64) -> Option<Arc<Condition>> {
        CONDITIONS.lock().get(&handle).and_then(Weak::upgrade)
    }

    pub(crate) fn handle(&self) -> u64 {
        self.handle
    }

    pub(crate) fn get(&self) -> u32 {
        self.value.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, value: u32) {
        self.value.store(value, Ordering::Release);
    }
}

impl Drop for Condition {
    fn drop(&mut self) {
        CONDITIONS.lock().remove(&self.handle);
    }
}

/// A stream that a graph was captured from.
#[derive(Clone, Copy)]
pub(crate) struct CapturedStream {
    pub(crate) device: DeviceIndex,
    pub(crate) priority: i32,
}

/// What a graph consists of.
#[derive(Clone, Default)]
pub(crate) struct GraphContents {
    pub(crate) nodes: Vec<GraphNode>,
    /// The streams of the nodes.
    pub(crate) streams: BTreeMap<StreamKey, CapturedStream>,
    /// The conditions of its conditional nodes and of those in their bodies.
    pub(crate) conditions: Vec<Arc<Condition>>,
}

/// A graph, or the body of a conditional node.
pub(crate) struct Graph {
    /// The stream on which the capture began; `None` for a body before its capture.
    pub(crate) origin: Mutex<rank::SimGraphOrigin, Option<StreamKey>>,
    pub(crate) contents: Mutex<rank::SimGraph, GraphContents>,
    /// The graph that a body belongs to.
    pub(crate) parent: Option<Weak<Graph>>,
    /// Exists as long as the executable copy that was made last.
    pub(crate) instance: Mutex<rank::SimGraphInstance, Weak<()>>,
}

impl Graph {
    pub(crate) fn new(origin: Option<StreamKey>, parent: Option<&Arc<Graph>>) -> Arc<Graph> {
        Arc::new(Graph {
            origin: Mutex::new(origin),
            contents: Mutex::default(),
            parent: parent.map(Arc::downgrade),
            instance: Mutex::default(),
        })
    }

    /// The graph that is launched: for a body that of its outermost conditional node.
    pub(crate) fn outermost(self: &Arc<Self>) -> Arc<Graph> {
        let mut graph = Arc::clone(self);
        while let Some(parent) = graph.parent.as_ref().and_then(Weak::upgrade) {
            graph = parent;
        }
        graph
    }
}

impl Graph {
    /// How many nodes it has.
    pub(crate) fn node_count(&self) -> usize {
        self.contents.lock().nodes.len()
    }

    /// The condition with this handle, if it is one of this graph.
    pub(crate) fn condition(&self, handle: u64) -> Option<Arc<Condition>> {
        let contents = self.contents.lock();
        contents.conditions.iter().find(|condition| condition.handle() == handle).cloned()
    }
}

/// An executable copy of a graph.
pub(crate) struct GraphExec {
    pub(crate) origin: StreamKey,
    pub(crate) contents: GraphContents,
    /// For each captured stream the stream on which its nodes run, unless they run on the one of the launch.
    pub(crate) lanes: BTreeMap<StreamKey, StreamKey>,
    /// The end of the last launch.
    pub(crate) last: Option<Arc<Token>>,
    /// Shows that the graph has an executable copy.
    pub(crate) _instance: Arc<()>,
}

/// The graphs of a simulator, by their handles.
#[derive(Default)]
pub(crate) struct GraphTable {
    pub(crate) graphs: HashMap<usize, Arc<Graph>>,
    pub(crate) execs: HashMap<usize, GraphExec>,
}
