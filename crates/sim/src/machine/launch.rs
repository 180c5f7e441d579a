//! Launches of graphs: each node becomes an operation.
//!
//! A capture begins on one stream, its origin, and may spread to others. Nodes of the origin run on the stream of the
//! launch. Nodes of each other captured stream run on a *lane*, a stream without a handle that belongs to the
//! executable graph.
//!
//! Edges of the graph are tokens, as waits for events are. Two more operations on the stream of the launch enclose the
//! nodes: the first makes them wait for earlier work of that stream and for the previous launch of the same graph, the
//! second makes later work of that stream wait for all of them.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::engine::Engine;
use super::graphs::GraphExec;
use super::operation::{QueuedWork, Submission};
use super::token::{StreamKey, Token};
use crate::call::Call;

/// The operations that enclose the nodes of a launch.
pub(crate) struct LaunchEnds {
    pub(crate) begin: Arc<dyn QueuedWork>,
    pub(crate) end: Arc<dyn QueuedWork>,
}

impl Engine {
    /// Queues a launch of an executable graph. `fault` returns the code with which an operation of a kind is to fail.
    pub(crate) fn launch(
        &mut self,
        key: StreamKey,
        exec: &mut GraphExec,
        ends: LaunchEnds,
        mut fault: impl FnMut(Call) -> Option<i32>,
    ) {
        let device = |engine: &Engine, key| engine.streams.get(&key).map(|stream| stream.device);
        let here = device(self, key);
        let origin = exec.contents.streams.get(&exec.origin).map(|stream| stream.device);
        let mut submit = |engine: &mut Engine, key, call, work, duration_ns, after| {
            let fault = fault(call);
            engine.enqueue(key, Submission { call, work, duration_ns, after, fault, stuck: false })
        };
        let last = exec.last.take().into_iter().collect();
        let begin = submit(self, key, Call::GraphLaunch, ends.begin, 0, last);
        let mut tokens: Vec<Arc<Token>> = Vec::with_capacity(exec.contents.nodes.len());
        for node in &exec.contents.nodes {
            let runs_here = node.stream == exec.origin && origin == here;
            let lane = if runs_here { None } else { exec.lanes.get(&node.stream).copied() };
            let mut after: Vec<_> = node.after.iter().map(|at| Arc::clone(&tokens[*at])).collect();
            if after.is_empty() {
                after.push(Arc::clone(&begin));
            }
            let (work, duration_ns) = (Arc::clone(&node.work), node.duration_ns);
            tokens.push(submit(self, lane.unwrap_or(key), node.call, work, duration_ns, after));
        }
        let mut is_leaf = vec![true; tokens.len()];
        for before in exec.contents.nodes.iter().flat_map(|node| &node.after) {
            is_leaf[*before] = false;
        }
        let leaves = tokens.into_iter().zip(is_leaf).filter(|(_, leaf)| *leaf);
        let leaves: Vec<_> = leaves.map(|(token, _)| token).collect();
        let after = if leaves.is_empty() { vec![begin] } else { leaves };
        let end = Submission {
            call: Call::GraphLaunch,
            work: ends.end,
            duration_ns: 0,
            after,
            fault: None,
            stuck: false,
        };
        exec.last = Some(self.enqueue(key, end));
    }

    /// Makes the lanes of an executable graph.
    pub(crate) fn add_lanes(&mut self, exec: &mut GraphExec) {
        for (captured, stream) in &exec.contents.streams {
            let lane = self.add_lane(stream.device, stream.priority);
            exec.lanes.insert(*captured, lane);
        }
    }

    /// Removes the lanes of an executable graph when their work has ended.
    pub(crate) fn drop_lanes(&mut self, exec: &GraphExec) {
        for lane in exec.lanes.values() {
            self.drop_lane(*lane);
        }
    }
}
