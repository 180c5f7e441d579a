//! Captures and graphs. Conditional nodes are in `conditional`.

mod conditional;

use std::ffi::{CString, c_ulonglong};
use std::ptr::{from_mut, null_mut};

use cudarc::driver::sys::{CUgraph, CUgraphExec, CUgraphExecUpdateResultInfo};
use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    CaptureMode, ConditionHandle, ConditionalKind, GraphExecHandle, GraphHandle, GraphUpdate,
    Graphs, StreamRef,
};

use super::CudaDriver;
use super::result::released;

/// Memory that a launch allocates and does not free is freed by the next launch, and nodes keep the priority of the
/// stream that they were captured from, as torch instantiates graphs.
const INSTANTIATE_FLAGS: c_ulonglong = 1 | 8;
/// The driver's code for an update that the executable graph cannot take over.
const UPDATE_FAILURE: i32 = 910;

impl Graphs for CudaDriver {
    fn capture_begin(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        let begin = self.api.cuStreamBeginCapture()?;
        let mode = mode.number();
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call.
        let code = self.on_stream(stream, |handle| unsafe { begin(handle, mode) })?;
        self.api.check("cuStreamBeginCapture", code)?;
        self.captured.begin(stream);
        Ok(())
    }

    fn capture_end(&self, stream: StreamRef) -> Result<GraphHandle> {
        let end = self.api.cuStreamEndCapture()?;
        self.captured.end(stream);
        let mut graph: CUgraph = null_mut();
        let place = from_mut(&mut graph);
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call, which `place`
        // outlives.
        let code = self.on_stream(stream, |handle| unsafe { end(handle, place) })?;
        self.api.check("cuStreamEndCapture", code)?;
        if graph.is_null() {
            return Err(Error::invalid_state("the driver ended the capture without a graph"));
        }
        Ok(GraphHandle::from_driver(crate::HANDLES, graph as usize))
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
        Ok(GraphExecHandle::from_driver(crate::HANDLES, exec as usize))
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
                _ => "the driver stated no reason",
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
        // SAFETY: an executable graph that the driver made and a stream that it made or a program has named, both kept
        // alive during the call; what the nodes use is kept alive by the graph's owner until the launch is done.
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
        self.make_condition(stream)
    }

    fn conditional_add(
        &self,
        stream: StreamRef,
        condition: ConditionHandle,
        kind: ConditionalKind,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        self.add_conditional(stream, condition, kind, bodies)
    }

    fn capture_begin_body(
        &self,
        stream: StreamRef,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        self.begin_body(stream, body, mode)
    }
}
