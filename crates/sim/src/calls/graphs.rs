//! Captures and graphs.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use sconce_base::error::{Error, Result};
use sconce_base::lock::{MutexGuard, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    CaptureMode, ConditionHandle, ConditionalKind, GraphExecHandle, GraphHandle, GraphUpdate,
    Graphs, StreamRef,
};

use crate::call::Call;
use crate::codes;
use crate::handles::end_process;
use crate::machine::engine::Engine;
use crate::machine::graph_text::text_of;
use crate::machine::graphs::{Condition, Graph, GraphContents, GraphExec};
use crate::machine::launch::LaunchEnds;
use crate::machine::operation::QueuedWork;
use crate::machine::token::StreamKey;
use crate::state::{Simulator, State};
use crate::work::graph::{ConditionalWork, ResetConditionsWork};
use crate::work::order::OrderingWork;

impl Graphs for Simulator {
    fn capture_begin(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        self.inner.enter_context(Call::CaptureBegin, stream.device)?;
        self.inner.begin_capture(Call::CaptureBegin, stream, mode, None)
    }

    fn capture_end(&self, stream: StreamRef) -> Result<GraphHandle> {
        self.inner.enter_device(Call::CaptureEnd, stream.device)?;
        self.inner.end_capture(Call::CaptureEnd, stream)
    }

    fn graph_node_count(&self, graph: GraphHandle) -> Result<usize> {
        let call = Call::GraphNodeCount;
        self.inner.enter(call)?;
        let graph = find_graph(&self.inner.machine.engine.lock(), call, graph)?;
        Ok(graph.node_count())
    }

    fn graph_debug_dump(&self, graph: GraphHandle, path: &str, _flags: u32) -> Result<()> {
        let call = Call::GraphDebugDump;
        self.inner.enter(call)?;
        let graph = find_graph(&self.inner.machine.engine.lock(), call, graph)?;
        std::fs::write(path, text_of(&graph)).map_err(|why| {
            codes::failure_because(call, codes::OPERATING_SYSTEM, format_args!("{path}: {why}"))
        })
    }

    fn graph_destroy(&self, graph: GraphHandle) -> Result<()> {
        let call = Call::GraphDestroy;
        self.inner.enter(call)?;
        let mut engine = self.inner.machine.engine.lock();
        let found = find_graph(&engine, call, graph)?;
        if found.parent.is_some() {
            let why = "the body of a conditional node is destroyed with its graph";
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        }
        engine.remove_graph(graph.native(), &found);
        Ok(())
    }

    fn graph_instantiate(
        &self,
        device: DeviceIndex,
        graph: GraphHandle,
    ) -> Result<GraphExecHandle> {
        let call = Call::GraphInstantiate;
        self.inner.enter_context(call, device)?;
        let mut engine = self.inner.machine.engine.lock();
        engine.check(call, device)?;
        let graph = find_graph(&engine, call, graph)?;
        let origin = *graph.origin.lock();
        let Some(origin) = origin.filter(|_| graph.parent.is_none()) else {
            let why = "the body of a conditional node cannot be launched";
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        };
        let contents = graph.contents.lock().clone();
        let mut instance = graph.instance.lock();
        if !contents.conditions.is_empty() && instance.strong_count() > 0 {
            let why = "a graph with conditional nodes has one executable graph at a time; destroy the other first";
            return Err(codes::failure_because(call, codes::NOT_SUPPORTED, why));
        }
        let shown = Arc::new(());
        *instance = Arc::downgrade(&shown);
        let lanes = BTreeMap::new();
        let mut exec = GraphExec { origin, contents, lanes, last: None, _instance: shown };
        engine.add_lanes(&mut exec);
        let handle = engine.handles.take();
        engine.graphs.execs.insert(handle, exec);
        Ok(GraphExecHandle::from_driver(crate::HANDLES, handle))
    }

    fn graph_update(&self, exec: GraphExecHandle, graph: GraphHandle) -> Result<GraphUpdate> {
        let call = Call::GraphUpdate;
        self.inner.enter(call)?;
        let mut engine = self.inner.machine.engine.lock();
        let graph = find_graph(&engine, call, graph)?;
        let contents = graph.contents.lock().clone();
        let mut found = take_exec(&mut engine, call, exec)?;
        let difference = difference(&found.contents, &contents);
        if difference.is_none() {
            engine.drop_lanes(&found);
            found.lanes.clear();
            found.contents = contents;
            found.origin = graph.origin.lock().unwrap_or(found.origin);
            engine.add_lanes(&mut found);
        }
        engine.graphs.execs.insert(exec.native(), found);
        Ok(difference.map_or(GraphUpdate::Done, GraphUpdate::Refused))
    }

    /// Checks what a launch checks: there is nothing to prepare.
    fn graph_upload(&self, exec: GraphExecHandle, stream: StreamRef) -> Result<()> {
        let (inner, call) = (&self.inner, Call::GraphUpload);
        inner.enter_context(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let found = take_exec(&mut engine, call, exec)?;
        let checked = launch_stream(&mut engine, call, stream, &found).map(drop);
        engine.graphs.execs.insert(exec.native(), found);
        checked
    }

    fn graph_launch(&self, exec: GraphExecHandle, stream: StreamRef) -> Result<()> {
        let (inner, call) = (&self.inner, Call::GraphLaunch);
        inner.enter_context(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let mut found = take_exec(&mut engine, call, exec)?;
        let launched = launch_stream(&mut engine, call, stream, &found).map(|key| {
            let conditions = found.contents.conditions.clone();
            let begin: Arc<dyn QueuedWork> = match conditions.is_empty() {
                true => Arc::new(OrderingWork),
                false => Arc::new(ResetConditionsWork(conditions)),
            };
            let ends = LaunchEnds { begin, end: Arc::new(OrderingWork) };
            engine.launch(key, &mut found, ends, |call| inner.faults.of_operation(call));
        });
        engine.graphs.execs.insert(exec.native(), found);
        inner.machine.serve(&mut engine);
        launched?;
        engine.check_threads(call)
    }

    fn graph_exec_destroy(&self, exec: GraphExecHandle) -> Result<()> {
        let call = Call::GraphExecDestroy;
        self.inner.enter(call)?;
        let mut engine = self.inner.machine.engine.lock();
        let found = take_exec(&mut engine, call, exec)?;
        engine.drop_lanes(&found);
        engine.handles.give(exec.native());
        Ok(())
    }

    fn condition_create(&self, stream: StreamRef) -> Result<ConditionHandle> {
        let (inner, call) = (&self.inner, Call::ConditionCreate);
        inner.enter_context(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let (_, graph) = captured_graph(&mut engine, call, stream)?;
        let condition = Condition::new();
        let handle = condition.handle();
        graph.outermost().contents.lock().conditions.push(condition);
        Ok(ConditionHandle::from_driver(crate::HANDLES, handle))
    }

    fn conditional_add(
        &self,
        stream: StreamRef,
        condition: ConditionHandle,
        kind: ConditionalKind,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        let (inner, call) = (&self.inner, Call::ConditionalAdd);
        inner.enter_context(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let (key, graph) = captured_graph(&mut engine, call, stream)?;
        let refuse = |why: &str| Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        let most = if kind == ConditionalKind::If { 2 } else { usize::from(u16::MAX) };
        let most = if kind == ConditionalKind::While { 1 } else { most };
        if bodies == 0 || bodies > most {
            return refuse("a conditional node has one body or more; If at most two, While one");
        }
        let Some(condition) = graph.outermost().condition(condition.native()) else {
            return refuse(
                "the condition is not one of the graph that the stream is captured into",
            );
        };
        let bodies: Vec<_> = (0..bodies).map(|_| Graph::new(None, Some(&graph))).collect();
        let work = ConditionalWork::new(condition, kind, bodies.clone());
        let work: Arc<dyn QueuedWork> = Arc::new(work);
        engine.capture_operation(call, key, &work, 0)?;
        let insert = |body| {
            let handle = engine.handles.take();
            engine.graphs.graphs.insert(handle, body);
            GraphHandle::from_driver(crate::HANDLES, handle)
        };
        Ok(bodies.into_iter().map(insert).collect())
    }

    fn capture_begin_body(
        &self,
        stream: StreamRef,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        let call = Call::CaptureBeginBody;
        self.inner.enter_context(call, stream.device)?;
        self.inner.begin_capture(call, stream, mode, Some(body))
    }
}

impl State {
    /// Destroys a graph that a capture has made, and returns how many nodes it had.
    pub(crate) fn drop_graph(&self, graph: GraphHandle) -> usize {
        let mut engine = self.machine.engine.lock();
        let Some(found) = engine.graphs.graphs.get(&graph.native()).cloned() else { return 0 };
        engine.remove_graph(graph.native(), &found);
        found.node_count()
    }
}

impl Engine {
    /// Removes a graph and the bodies of its conditional nodes.
    pub(super) fn remove_graph(&mut self, handle: usize, graph: &Arc<Graph>) {
        self.graphs.graphs.remove(&handle);
        self.handles.give(handle);
        self.forget_bodies(graph);
    }

    /// Removes the bodies of the conditional nodes of a graph that is going.
    pub(super) fn forget_bodies(&mut self, graph: &Arc<Graph>) {
        let belongs = |other: &Arc<Graph>| {
            let parent = other.parent.as_ref().and_then(Weak::upgrade);
            parent.is_some_and(|parent| Arc::ptr_eq(&parent, graph))
        };
        let bodies = self.graphs.graphs.iter().filter(|(_, other)| belongs(other));
        let bodies: Vec<_> = bodies.map(|(handle, body)| (*handle, Arc::clone(body))).collect();
        for (handle, body) in bodies {
            self.remove_graph(handle, &body);
        }
    }
}

/// The living graph that a handle names. Ends the process if the graph has been destroyed.
pub(super) fn find_graph(engine: &Engine, call: Call, graph: GraphHandle) -> Result<Arc<Graph>> {
    match engine.graphs.graphs.get(&graph.native()) {
        Some(found) => Ok(Arc::clone(found)),
        None if engine.handles.was_taken(graph.native()) => {
            end_process(call, "graph", graph.native())
        }
        None => Err(no_graph(call, graph.native())),
    }
}

/// Takes an executable graph out of the table, into which the caller puts it back. Ends the process if it has been
/// destroyed.
fn take_exec(
    engine: &mut MutexGuard<'_, rank::SimEngine, Engine>,
    call: Call,
    exec: GraphExecHandle,
) -> Result<GraphExec> {
    match engine.graphs.execs.remove(&exec.native()) {
        Some(found) => Ok(found),
        None if engine.handles.was_taken(exec.native()) => {
            end_process(call, "executable graph", exec.native())
        }
        None => Err(no_graph(call, exec.native())),
    }
}

fn no_graph(call: Call, number: usize) -> Error {
    let why = format_args!("{number:#x} is not a graph").to_string();
    codes::failure_because(call, codes::INVALID_VALUE, why)
}

/// The stream of a launch, which must not be captured. No device of the graph may have failed.
fn launch_stream(
    engine: &mut MutexGuard<'_, rank::SimEngine, Engine>,
    call: Call,
    stream: StreamRef,
    exec: &GraphExec,
) -> Result<StreamKey> {
    let key = engine.find(call, stream)?;
    engine.check(call, stream.device)?;
    for captured in exec.contents.streams.values() {
        engine.check(call, captured.device)?;
    }
    if let Some(id) = engine.capture_for(call, key)? {
        engine.captures.invalidate(id);
        let why = "the stream is being captured, and a graph is not launched inside of another";
        return Err(codes::failure_because(call, codes::STREAM_CAPTURE_UNSUPPORTED, why));
    }
    Ok(key)
}

/// The graph that a stream is captured into.
fn captured_graph(
    engine: &mut MutexGuard<'_, rank::SimEngine, Engine>,
    call: Call,
    stream: StreamRef,
) -> Result<(StreamKey, Arc<Graph>)> {
    let key = engine.find(call, stream)?;
    engine.check(call, stream.device)?;
    let id = engine.capture_for(call, key)?;
    let capture = id.and_then(|id| engine.captures.get(id));
    let graph = capture.map(|capture| Arc::clone(&capture.graph));
    graph.map(|graph| (key, graph)).ok_or_else(|| {
        let why = "stream: it is not being captured";
        codes::failure_because(call, codes::ILLEGAL_STATE, why)
    })
}

/// What of a graph an executable graph cannot take over; nothing if it can.
fn difference(old: &GraphContents, new: &GraphContents) -> Option<String> {
    if !old.conditions.is_empty() || !new.conditions.is_empty() {
        return Some("a graph with conditional nodes cannot be updated".to_owned());
    }
    if old.nodes.len() != new.nodes.len() {
        let (old, new) = (old.nodes.len(), new.nodes.len());
        return Some(format!("the topology changed: {old} nodes became {new}"));
    }
    old.nodes.iter().zip(&new.nodes).enumerate().find_map(|(number, (old, new))| {
        if old.after != new.after {
            return Some(format!("the topology changed at node {number}"));
        }
        let (old, new) = (old.call, new.call);
        let (from, to) = (old.name(), new.name());
        (old != new).then(|| format!("the type of node {number} changed from {from} to {to}"))
    })
}
