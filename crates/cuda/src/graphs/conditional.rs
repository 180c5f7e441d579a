//! Conditions and conditional nodes, which are added to the graph that a stream is captured into.

use std::ffi::c_ulonglong;
use std::mem::zeroed;
use std::ptr::{from_mut, null, null_mut};

use cudarc::driver::sys::CUgraphNodeType_enum::CU_GRAPH_NODE_TYPE_CONDITIONAL;
use cudarc::driver::sys::{
    CUDA_CONDITIONAL_NODE_PARAMS, CUgraph, CUgraphConditionalNodeType_enum as ConditionalType,
    CUgraphNode, CUgraphNodeParams,
};
use sconce_base::error::{Error, Result, Status};
use sconce_driver::{CaptureMode, ConditionHandle, ConditionalKind, GraphHandle, StreamRef};

use crate::CudaDriver;
use crate::result::SUCCESS;

/// The value of a condition is set when a launch begins.
const ASSIGN_DEFAULT: u32 = 1;
/// Later work of a captured stream comes after the nodes named, and no longer after those before.
const SET_DEPENDENCIES: u32 = 1;

impl CudaDriver {
    pub(super) fn make_condition(&self, stream: StreamRef) -> Result<ConditionHandle> {
        let create = self.api.cuGraphConditionalHandleCreate()?;
        let captured = self.captured(stream)?;
        let context = self.primary(stream.device)?;
        let mut condition: c_ulonglong = 0;
        // SAFETY: the graph of a capture that is under way, a context that is never released, and a place that outlives
        // the call.
        let code = unsafe { create(&mut condition, captured.graph, context, 0, ASSIGN_DEFAULT) };
        self.api.check("cuGraphConditionalHandleCreate", code)?;
        Ok(ConditionHandle::from_driver(crate::HANDLES, condition))
    }

    pub(super) fn add_conditional(
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
            GraphHandle::from_driver(crate::HANDLES, body as usize)
        };
        Ok((0..bodies).map(body).collect())
    }

    pub(super) fn begin_body(
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
struct CapturePoint {
    graph: CUgraph,
    /// The nodes that the next work of the stream comes after. The driver keeps them until the next call for the
    /// stream.
    nodes: *const CUgraphNode,
    count: usize,
}

impl CudaDriver {
    /// The graph that a stream is captured into.
    fn captured(&self, stream: StreamRef) -> Result<CapturePoint> {
        let info = self.api.cuStreamGetCaptureInfo()?;
        let (mut status, mut id) = (0, 0);
        let mut captured = CapturePoint { graph: null_mut(), nodes: null(), count: 0 };
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
