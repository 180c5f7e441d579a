//! Captures and graphs.

use std::ffi::{CString, c_ulonglong};
use std::mem::zeroed;
use std::ptr::{from_mut, null, null_mut};

use cudarc::driver::sys::CUgraphNodeType_enum::CU_GRAPH_NODE_TYPE_CONDITIONAL;
use cudarc::driver::sys::{
    CUDA_CONDITIONAL_NODE_PARAMS, CUgraph, CUgraphConditionalNodeType_enum as ConditionalType,
    CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphNode, CUgraphNodeParams,
};

use super::CudaDriver;
use super::result::{SUCCESS, released};
use crate::driver::{
    CaptureMode, ConditionHandle, ConditionalKind, GraphExecHandle, GraphHandle, GraphUpdate,
    Graphs, StreamRef,
};
use crate::error::{Error, Result, Status};
use crate::types::DeviceIndex;

/// Memory that a launch allocates and does not free is freed by the next launch, and nodes keep the priority of the
/// stream that they were captured from, as torch instantiates graphs.
const INSTANTIATE_FLAGS: c_ulonglong = 1 | 8;
/// The value of a condition is set when a launch begins.
const ASSIGN_DEFAULT: u32 = 1;
/// Later work of a captured stream comes after the nodes named, and no longer after those before.
const SET_DEPENDENCIES: u32 = 1;
/// The driver's code for an update that the executable graph cannot take over.
const UPDATE_FAILURE: i32 = 910;

impl Graphs for CudaDriver {
    fn capture_begin(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        let begin = self.api.cuStreamBeginCapture()?;
        let mode = mode.number();
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call.
        let code = self.on_stream(stream, |handle| unsafe { begin(handle, mode) })?;
        self.api.check("cuStreamBeginCapture", code)
    }

    fn capture_end(&self, stream: StreamRef) -> Result<GraphHandle> {
        let end = self.api.cuStreamEndCapture()?;
        let mut graph: CUgraph = null_mut();
        let place = from_mut(&mut graph);
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call, which `place`
        // outlives.
        let code = self.on_stream(stream, |handle| unsafe { end(handle, place) })?;
        self.api.check("cuStreamEndCapture", code)?;
        if graph.is_null() {
            return Err(Error::invalid_state("the driver ended the capture without a graph"));
        }
        Ok(GraphHandle::from_driver(graph as usize))
    }

    fn graph_node_count(&self, graph: GraphHandle) -> Result<usize> {
        let get = self.api.cuGraphGetNodes()?;
        let mut count = 0_usize;
        // SAFETY: a graph that the driver made and that lives; without a place for nodes the driver only counts them.
        let code = unsafe { get(graph.native() as CUgraph, null_mut(), &mut count) };
        self.api.check("cuGraphGetNodes", code)?;
        Ok(count)
    }

    fn graph_debug_dump(&self, graph: GraphHandle, path: &str, flags: u32) -> Result<()> {
        let print = self.api.cuGraphDebugDotPrint()?;
        let text = CString::new(path)
            .map_err(|_| Error::invalid_argument("path: a path holds no NUL byte"))?;
        // SAFETY: a graph that the driver made and that lives, and a NUL-terminated path.
        let code = unsafe { print(graph.native() as CUgraph, text.as_ptr(), flags) };
        self.api.check("cuGraphDebugDotPrint", code).map_err(|error| error.context(path))
    }

    fn graph_destroy(&self, graph: GraphHandle) -> Result<()> {
        released(|| {
            let destroy = self.api.cuGraphDestroy()?;
            // SAFETY: a graph that the driver made, and that the caller destroys once.
            let code = unsafe { destroy(graph.native() as CUgraph) };
            self.api.check("cuGraphDestroy", code)
        })
    }

    fn graph_instantiate(
        &self,
        device: DeviceIndex,
        graph: GraphHandle,
    ) -> Result<GraphExecHandle> {
        let instantiate = self.api.cuGraphInstantiateWithFlags()?;
        let mut exec: CUgraphExec = null_mut();
        let _entered = self.enter(device)?;
        // SAFETY: a graph that the driver made and that lives; `exec` outlives the call.
        let code = unsafe { instantiate(&mut exec, graph.native() as CUgraph, INSTANTIATE_FLAGS) };
        self.api.check("cuGraphInstantiateWithFlags", code)?;
        Ok(GraphExecHandle::from_driver(exec as usize))
    }

    fn graph_update(&self, exec: GraphExecHandle, graph: GraphHandle) -> Result<GraphUpdate> {
        let update = self.api.cuGraphExecUpdate()?;
        // The driver writes an enum; a number is read instead.
        let mut info = [0_u64; size_of::<CUgraphExecUpdateResultInfo>() / 8];
        let place = info.as_mut_ptr().cast();
        // SAFETY: both graphs were made by the driver and live; `info` outlives the call and has the size of the
        // driver's structure.
        let code =
            unsafe { update(exec.native() as CUgraphExec, graph.native() as CUgraph, place) };
        if code == UPDATE_FAILURE {
            let reason = match info[0] as u32 {
                2 => "the topology changed",
                3 => "the type of a node changed",
                4 | 7 => "the kernel of a node changed in a way that the driver does not support",
                5 => "the parameters of a node changed in a way that the driver does not support",
                6 => "a node is of a kind that the driver does not update",
                8 => "the attributes of a node changed in a way that the driver does not support",
                _ => "the driver gave no reason",
            };
            return Ok(GraphUpdate::Refused(reason.to_owned()));
        }
        self.api.check("cuGraphExecUpdate", code)?;
        Ok(GraphUpdate::Done)
    }

    fn graph_upload(&self, exec: GraphExecHandle, stream: StreamRef) -> Result<()> {
        let upload = self.api.cuGraphUpload()?;
        let exec = exec.native() as CUgraphExec;
        // SAFETY: an executable graph that the driver made and a stream that it made or a program has named, both kept
        // alive during the call.
        let code = self.on_stream(stream, |handle| unsafe { upload(exec, handle) })?;
        self.api.check("cuGraphUpload", code)
    }

    #[inline]
    fn graph_launch(&self, exec: GraphExecHandle, stream: StreamRef) -> Result<()> {
        let launch = self.api.cuGraphLaunch()?;
        let exec = exec.native() as CUgraphExec;
        // SAFETY: as in `graph_upload`. The caller keeps what the nodes use alive until the launch is done.
        let code = self.on_stream(stream, |handle| unsafe { launch(exec, handle) })?;
        self.api.check("cuGraphLaunch", code)
    }

    fn graph_exec_destroy(&self, exec: GraphExecHandle) -> Result<()> {
        released(|| {
            let destroy = self.api.cuGraphExecDestroy()?;
            // SAFETY: an executable graph that the driver made, and that the caller destroys once. The driver keeps
            // what a running launch needs.
            let code = unsafe { destroy(exec.native() as CUgraphExec) };
            self.api.check("cuGraphExecDestroy", code)
        })
    }

    fn condition_create(&self, stream: StreamRef) -> Result<ConditionHandle> {
        let create = self.api.cuGraphConditionalHandleCreate()?;
        let captured = self.captured(stream)?;
        let context = self.primary(stream.device)?;
        let mut condition: c_ulonglong = 0;
        // SAFETY: the graph of a capture that is under way, a context that is never released, and a place that outlives
        // the call.
        let code = unsafe { create(&mut condition, captured.graph, context, 0, ASSIGN_DEFAULT) };
        self.api.check("cuGraphConditionalHandleCreate", code)?;
        Ok(ConditionHandle::from_driver(condition))
    }

    fn conditional_add(
        &self,
        stream: StreamRef,
        condition: ConditionHandle,
        kind: ConditionalKind,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        let add = self.api.cuGraphAddNode()?;
        let update = self.api.cuStreamUpdateCaptureDependencies()?;
        let size = u32::try_from(bodies)
            .map_err(|_| Error::invalid_argument("bodies: there are too many"))?;
        let captured = self.captured(stream)?;
        // SAFETY: numbers and pointers, and enums that have a value 0.
        let mut parameters: CUgraphNodeParams = unsafe { zeroed() };
        parameters.type_ = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle: condition.native(),
            type_: match kind {
                ConditionalKind::If => ConditionalType::CU_GRAPH_COND_TYPE_IF,
                ConditionalKind::While => ConditionalType::CU_GRAPH_COND_TYPE_WHILE,
                ConditionalKind::Switch => ConditionalType::CU_GRAPH_COND_TYPE_SWITCH,
            },
            size,
            phGraph_out: null_mut(),
            ctx: self.primary(stream.device)?,
        };
        let mut node: CUgraphNode = null_mut();
        let (graph, before, count) = (captured.graph, captured.nodes, captured.count);
        // SAFETY: the graph of a capture that is under way and the nodes that the driver has just returned for it, with
        // parameters of the node's type. All places outlive the call.
        let code = unsafe { add(&mut node, graph, before, count, &mut parameters) };
        self.api.check("cuGraphAddNode", code)?;
        // SAFETY: the parameters are those of a conditional node.
        let first = unsafe { parameters.__bindgen_anon_1.conditional }.phGraph_out;
        if first.is_null() {
            return Err(Error::new(Status::Driver, "the driver returned no bodies"));
        }
        let place = from_mut(&mut node);
        // SAFETY: a node of the graph that the stream is captured into.
        let code =
            self.on_stream(stream, |handle| unsafe { update(handle, place, 1, SET_DEPENDENCIES) })?;
        self.api.check("cuStreamUpdateCaptureDependencies", code)?;
        let body = |number| {
            // SAFETY: the driver has written as many graphs as the node has bodies, and keeps the array.
            let body = unsafe { *first.wrapping_add(number) };
            GraphHandle::from_driver(body as usize)
        };
        Ok((0..bodies).map(body).collect())
    }

    fn capture_begin_body(
        &self,
        stream: StreamRef,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        let begin = self.api.cuStreamBeginCaptureToGraph()?;
        let (body, mode) = (body.native() as CUgraph, mode.number());
        // SAFETY: a stream that the driver made or a program has named, and the body of a node of a graph that lives.
        // There are no dependencies.
        let code = self
            .on_stream(stream, |handle| unsafe { begin(handle, body, null(), null(), 0, mode) })?;
        self.api.check("cuStreamBeginCaptureToGraph", code)
    }
}

/// Where the capture of a stream stands.
struct Captured {
    graph: CUgraph,
    /// The nodes that the next work of the stream comes after. The driver keeps them until the next call for the
    /// stream.
    nodes: *const CUgraphNode,
    count: usize,
}

impl CudaDriver {
    /// The graph that a stream is captured into.
    fn captured(&self, stream: StreamRef) -> Result<Captured> {
        let info = self.api.cuStreamGetCaptureInfo()?;
        let (mut status, mut id) = (0, 0);
        let mut captured = Captured { graph: null_mut(), nodes: null(), count: 0 };
        let (status_place, id_place) = (from_mut(&mut status), from_mut(&mut id));
        let graph = from_mut(&mut captured.graph);
        let nodes = from_mut(&mut captured.nodes);
        let count = from_mut(&mut captured.count);
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call, which all places
        // outlive.
        let code = self.on_stream(stream, |handle| unsafe {
            info(handle, status_place, id_place, graph, nodes, count)
        })?;
        if code != SUCCESS || captured.graph.is_null() {
            self.api.check("cuStreamGetCaptureInfo", code)?;
            return Err(Error::invalid_state("stream: it is not being captured"));
        }
        Ok(captured)
    }
}
