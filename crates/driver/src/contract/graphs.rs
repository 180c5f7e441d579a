//! Graphs: work that is captured from streams once and launched as a whole any number of times.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `capture_begin` | the stream is in no capture and is not the legacy default stream | work queued on the stream becomes nodes of a graph and does not run; streams join by waiting for an event of the capture | no |
//! | `capture_end` | the stream is the one that the capture began on; the thread is the one that began it, unless the capture is relaxed | the graph, if no call has made the capture invalid (901) and every stream that joined was waited for (904); the capture has ended in any case, except after 903 | no |
//! | `graph_instantiate` | graph live | an executable copy, which later changes of the graph do not affect | no |
//! | `graph_update` | both live, of the same nodes and edges | later launches take the graph's parameters; otherwise the executable graph is as before | no |
//! | `graph_upload` | executable graph live | the first launch has less to do | no |
//! | `graph_launch` | executable graph live; the stream is in no capture; all that its nodes use lives until the work is done | ordered on the stream like one operation, and behind earlier launches of the same executable graph; nodes run in the order of their edges, others at the same time | no |
//! | `graph_destroy`, `graph_exec_destroy` | live, in use by no other call | a launch that is queued still runs | no |
//! | `graph_node_count`, `graph_debug_dump` | graph live | – | – |
//! | `condition_create` | the stream is being captured | a value of the graph, which is 0 at the beginning of each launch and which kernels set | no |
//! | `conditional_add` | the stream is being captured; the condition is of that graph and of no other node | a node behind the work captured from the stream so far; later work of the stream comes after it. Returns its bodies, which are empty graphs that belong to the graph | no |
//! | `capture_begin_body` | the stream is in no capture; the body is empty | as `capture_begin`, into the body; `capture_end` returns the body | no |
//!
//! A host function that was captured runs at each launch.
//!
//! By default every method is `NotSupported`. A driver that implements them also implements `exchange_capture_mode`,
//! `stream_capture_status` and `stream_capture_number`, whose defaults are those of a driver without captures.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::{CaptureMode, ConditionHandle, GraphExecHandle, GraphHandle, StreamRef, lacks};

/// What a conditional node does with its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionalKind {
    /// Runs its first body once if the condition is not 0, else its second one if it has two.
    If,
    /// Runs its only body as long as the condition is not 0.
    While,
    /// Runs the body whose number is the condition; none if there is no such body.
    Switch,
}

impl ConditionalKind {
    /// The driver's number.
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// The outcome of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphUpdate {
    /// Later launches take the new parameters.
    Done,
    /// The executable graph cannot become this one, for the reason given; it is as it was.
    Refused(String),
}

/// The graphs of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Graphs: Send + Sync {
    /// Begins to capture a stream.
    fn capture_begin(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        lacks("capture_begin", "captures")
    }
    /// Ends the capture that began on the stream.
    fn capture_end(&self, stream: StreamRef) -> Result<GraphHandle> {
        lacks("capture_end", "captures")
    }
    /// How many nodes a graph has, without those of the bodies of its conditional nodes.
    fn graph_node_count(&self, graph: GraphHandle) -> Result<usize> {
        lacks("graph_node_count", "graphs")
    }
    /// Writes a graph to a file in the language of Graphviz. `flags` are the driver's.
    fn graph_debug_dump(&self, graph: GraphHandle, path: &str, flags: u32) -> Result<()> {
        lacks("graph_debug_dump", "graphs")
    }
    /// Destroys a graph. Bodies of conditional nodes go with the graph that they belong to.
    fn graph_destroy(&self, graph: GraphHandle) -> Result<()> {
        lacks("graph_destroy", "graphs")
    }
    /// Makes an executable copy of a graph. The device is the one of its first stream.
    fn graph_instantiate(
        &self,
        device: DeviceIndex,
        graph: GraphHandle,
    ) -> Result<GraphExecHandle> {
        lacks("graph_instantiate", "graphs")
    }
    /// Gives an executable graph the parameters of another graph with the same nodes and edges.
    fn graph_update(&self, exec: GraphExecHandle, graph: GraphHandle) -> Result<GraphUpdate> {
        lacks("graph_update", "graphs")
    }
    /// Prepares an executable graph on the device, in stream order.
    fn graph_upload(&self, exec: GraphExecHandle, stream: StreamRef) -> Result<()> {
        lacks("graph_upload", "graphs")
    }
    /// Queues a launch.
    fn graph_launch(&self, exec: GraphExecHandle, stream: StreamRef) -> Result<()> {
        lacks("graph_launch", "graphs")
    }
    /// Destroys an executable graph.
    fn graph_exec_destroy(&self, exec: GraphExecHandle) -> Result<()> {
        lacks("graph_exec_destroy", "graphs")
    }
    /// Makes a condition in the graph that the stream is captured into.
    fn condition_create(&self, stream: StreamRef) -> Result<ConditionHandle> {
        lacks("condition_create", "conditional nodes")
    }
    /// Adds a conditional node to the graph that the stream is captured into.
    fn conditional_add(
        &self,
        stream: StreamRef,
        condition: ConditionHandle,
        kind: ConditionalKind,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        lacks("conditional_add", "conditional nodes")
    }
    /// Begins to capture a stream into the body of a conditional node.
    fn capture_begin_body(
        &self,
        stream: StreamRef,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        lacks("capture_begin_body", "conditional nodes")
    }
}
