//! Calls of CUDA's libraries: products, convolutions, transforms, collectives.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    Blas, BlasHandle, Collectives, CommAbort, CommCall, CommEndpoint, CommId, CommMember,
    CommOptions, Convolution, ConvolutionEngines, ConvolutionOperation, ConvolutionPlan, Dnn,
    DnnHandle, EngineChoice, Fft, FftCall, FftPlan, FftShape, Gemm, MathMode, StreamRef,
};
use sconce_sim::declared;

use super::work::{uses_beside_workspace, uses_of};
use super::{CheckedDriver, pass_on};
use crate::checker::{Checker, LastCall};
use crate::collective::RankCall;
use crate::{Sanitizer, Transferred};

impl Blas for CheckedDriver {
    fn blas_create(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        let inner = self.inner.blas_create(device)?;
        let sanitizer = Arc::clone(&self.sanitizer);
        let stream = StreamRef::default_of(device);
        Ok(Box::new(CheckedBlas { inner, sanitizer, stream, workspace: None }))
    }
}

struct CheckedBlas {
    inner: Box<dyn BlasHandle>,
    sanitizer: Arc<Sanitizer>,
    stream: StreamRef,
    workspace: Option<(DevicePtr, usize)>,
}

impl BlasHandle for CheckedBlas {
    fn native(&self) -> usize {
        self.inner.native()
    }

    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        self.inner.set_stream(stream)?;
        // As in cuBLAS, the workspace is the library's own again.
        (self.stream, self.workspace) = (stream, None);
        Ok(())
    }

    fn set_workspace(&mut self, workspace: DevicePtr, bytes: usize) -> Result<()> {
        self.inner.set_workspace(workspace, bytes)?;
        self.workspace = Some((workspace, bytes));
        Ok(())
    }

    fn set_math_mode(&mut self, mode: MathMode) -> Result<()> {
        self.inner.set_math_mode(mode)
    }

    fn is_set_to(&self, stream: StreamRef, mode: MathMode) -> bool {
        self.inner.is_set_to(stream, mode)
    }

    fn gemm(&mut self, gemm: &Gemm) -> Result<()> {
        let accesses = declared::of_gemm(gemm, self.workspace);
        let uses = uses_beside_workspace(&accesses, self.workspace);
        let name = format!("product of {} x {} x {}", gemm.m, gemm.n, gemm.k);
        let inner = &mut self.inner;
        self.sanitizer.queue(self.stream, &name, Some(uses), || inner.gemm(gemm))
    }
}

impl Dnn for CheckedDriver {
    pass_on! {
        dnn_version() -> Result<i64>;
    }

    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        let inner = self.inner.dnn_create(device)?;
        let stream = Arc::new(CurrentStream::new(StreamRef::default_of(device)));
        Ok(Box::new(CheckedDnn { inner, sanitizer: Arc::clone(&self.sanitizer), stream }))
    }
}

/// The stream of a handle, which its plans run on.
type CurrentStream = sconce_base::lock::Mutex<sconce_base::lock::rank::SanitizerKernels, StreamRef>;

struct CheckedDnn {
    inner: Box<dyn DnnHandle>,
    sanitizer: Arc<Sanitizer>,
    stream: Arc<CurrentStream>,
}

impl DnnHandle for CheckedDnn {
    fn native(&self) -> usize {
        self.inner.native()
    }

    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        self.inner.set_stream(stream)?;
        *self.stream.lock() = stream;
        Ok(())
    }

    fn is_set_to(&self, stream: StreamRef) -> bool {
        self.inner.is_set_to(stream)
    }

    fn engines(
        &mut self,
        problem: &Convolution,
        choice: EngineChoice,
    ) -> Result<Box<dyn ConvolutionEngines>> {
        let inner = self.inner.engines(problem, choice)?;
        let (sanitizer, stream) = (Arc::clone(&self.sanitizer), Arc::clone(&self.stream));
        Ok(Box::new(CheckedEngines { inner, sanitizer, stream, problem: *problem }))
    }
}

struct CheckedEngines {
    inner: Box<dyn ConvolutionEngines>,
    sanitizer: Arc<Sanitizer>,
    stream: Arc<CurrentStream>,
    problem: Convolution,
}

impl ConvolutionEngines for CheckedEngines {
    fn has(&mut self, index: usize) -> Result<bool> {
        self.inner.has(index)
    }

    fn plan(&mut self, index: usize) -> Result<Box<dyn ConvolutionPlan>> {
        let inner = self.inner.plan(index)?;
        let (sanitizer, stream) = (Arc::clone(&self.sanitizer), Arc::clone(&self.stream));
        Ok(Box::new(CheckedPlan { inner, sanitizer, stream, problem: self.problem }))
    }
}

struct CheckedPlan {
    inner: Box<dyn ConvolutionPlan>,
    sanitizer: Arc<Sanitizer>,
    stream: Arc<CurrentStream>,
    problem: Convolution,
}

impl ConvolutionPlan for CheckedPlan {
    fn workspace_bytes(&self) -> usize {
        self.inner.workspace_bytes()
    }

    fn execute(
        &mut self,
        input: DevicePtr,
        filter: DevicePtr,
        output: DevicePtr,
        workspace: DevicePtr,
    ) -> Result<()> {
        let bytes = self.inner.workspace_bytes();
        let accesses =
            declared::of_convolution(&self.problem, [input, filter, output], workspace, bytes);
        let name = match self.problem.operation {
            ConvolutionOperation::Forward => "convolution",
            ConvolutionOperation::Data => "gradient of a convolution's input",
            ConvolutionOperation::Filter => "gradient of a convolution's filter",
        };
        let stream = *self.stream.lock();
        let inner = &mut self.inner;
        let uses = uses_beside_workspace(&accesses, Some((workspace, bytes)));
        self.sanitizer
            .queue(stream, name, Some(uses), || inner.execute(input, filter, output, workspace))
    }
}

impl Fft for CheckedDriver {
    pass_on! {
        fft_most_plans() -> usize;
    }

    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>> {
        let inner = self.inner.fft_plan(device, shape)?;
        let (sanitizer, shape) = (Arc::clone(&self.sanitizer), *shape);
        Ok(Box::new(CheckedTransform { inner, sanitizer, shape }))
    }
}

struct CheckedTransform {
    inner: Box<dyn FftPlan>,
    sanitizer: Arc<Sanitizer>,
    shape: FftShape,
}

impl FftPlan for CheckedTransform {
    fn workspace_bytes(&self) -> usize {
        self.inner.workspace_bytes()
    }

    fn execute(&mut self, call: &FftCall) -> Result<()> {
        let accesses = declared::of_transform(&self.shape, call, self.inner.workspace_bytes());
        let inner = &mut self.inner;
        let uses = Some(uses_of(&accesses));
        self.sanitizer.queue(call.stream, "transform", uses, || inner.execute(call))
    }
}

impl Collectives for CheckedDriver {
    pass_on! {
        comm_version() -> Result<i32>;
        comm_unique_id() -> Result<CommId>;
        comm_pending() -> usize;
    }

    fn comm_group_start(&self) -> Result<()> {
        self.inner.comm_group_start()?;
        let (depth, number) = GROUP.get();
        let number = if depth == 0 { GROUPS.fetch_add(1, Ordering::Relaxed) } else { number };
        GROUP.set((depth + 1, number));
        Ok(())
    }

    fn comm_group_end(&self) -> Result<()> {
        let (depth, number) = GROUP.get();
        GROUP.set((depth.saturating_sub(1), number));
        self.inner.comm_group_end()
    }

    fn comm_create(
        &self,
        id: &CommId,
        ranks: usize,
        members: &[CommMember],
        options: &CommOptions,
    ) -> Result<Vec<Box<dyn CommEndpoint>>> {
        let members_of = || Member::new(&self.sanitizer, id.0.to_vec());
        // Another rank may queue its first call before this function returns.
        let joined: Vec<Member> = members.iter().map(|_| members_of()).collect();
        let made = self.inner.comm_create(id, ranks, members, options)?;
        self.sanitizer.note(|checker| {
            members.iter().for_each(|member| checker.calls.own_rank(&id.0, member.rank));
        });
        let checked = made.into_iter().zip(joined).map(|(inner, member)| {
            Box::new(CheckedEndpoint::new(inner, member)) as Box<dyn CommEndpoint>
        });
        Ok(checked.collect())
    }
}

/// Groups of calls so far.
static GROUPS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// How many groups of the thread are open within each other, and the number of the outermost.
    static GROUP: Cell<(u32, u64)> = const { Cell::new((0, 0)) };
}

/// A rank of this process in a communicator, until it goes.
struct Member {
    sanitizer: Arc<Sanitizer>,
    /// What all ranks of the communicator have in common.
    name: Vec<u8>,
}

impl Member {
    fn new(sanitizer: &Arc<Sanitizer>, name: Vec<u8>) -> Member {
        sanitizer.meetings.lock().joins(&name);
        Member { sanitizer: Arc::clone(sanitizer), name }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let was_last = self.sanitizer.meetings.lock().leaves(&self.name);
        if was_last {
            self.sanitizer.note(|checker| checker.calls.forget(&self.name));
        }
    }
}

struct CheckedEndpoint {
    inner: Box<dyn CommEndpoint>,
    member: Member,
    calls: u64,
    splits: u32,
    last: LastCall,
}

impl CheckedEndpoint {
    fn new(inner: Box<dyn CommEndpoint>, member: Member) -> CheckedEndpoint {
        CheckedEndpoint { inner, member, calls: 0, splits: 0, last: LastCall::default() }
    }
}

fn name_of(call: &CommCall) -> &'static str {
    match call {
        CommCall::AllReduce { .. } => "all_reduce",
        CommCall::Reduce { .. } => "reduce",
        CommCall::Broadcast { .. } => "broadcast",
        CommCall::AllGather { .. } => "all_gather",
        CommCall::ReduceScatter { .. } => "reduce_scatter",
        CommCall::AllToAll { .. } => "all_to_all",
        CommCall::Gather { .. } => "gather",
        CommCall::Scatter { .. } => "scatter",
        CommCall::Send { .. } => "send",
        CommCall::Recv { .. } => "recv",
    }
}

impl CommEndpoint for CheckedEndpoint {
    fn poll(&mut self) -> Result<bool> {
        self.inner.poll()
    }

    fn queue(&mut self, call: &CommCall, stream: StreamRef) -> Result<()> {
        let Ok((rank, ranks)) = self.inner.place() else { return self.inner.queue(call, stream) };
        let uses = uses_of(&declared::of_collective(call, rank, ranks));
        let are_all_needed = !matches!(call, CommCall::Send { .. } | CommCall::Recv { .. });
        self.calls += u64::from(are_all_needed);
        let Member { sanitizer, name } = &self.member;
        let meeting = (name.clone(), self.calls);
        let (depth, group) = GROUP.get();
        let group = (depth > 0).then_some(group);
        let capture = sanitizer.capture_of(stream);
        let last = &mut self.last;
        let queued = |checker: &mut Checker| {
            checker.found_capture(stream, capture);
            checker.follows_rank(stream, last);
            let number = checker.queued(stream, name_of(call), Some(uses));
            checker.rank_called(stream, last);
            if are_all_needed {
                checker.called(RankCall { meeting, rank, ranks, group }, stream);
            }
            number
        };
        let number = self.calls;
        let transfer = match *call {
            CommCall::Send { peer, .. } => Some(((rank, peer), true)),
            CommCall::Recv { peer, .. } => Some(((peer, rank), false)),
            _ => None,
        };
        let queued = sanitizer.attempt(queued, || {
            if are_all_needed {
                sanitizer.meet(name, number, stream);
            }
            let transferred =
                transfer.map(|(way, sends)| sanitizer.transfer(name, way, sends, stream));
            self.inner.queue(call, stream).inspect_err(|_| {
                let mut meetings = sanitizer.meetings.lock();
                if are_all_needed {
                    meetings.withdraw(name, number);
                }
                if let (Some((way, sends)), Some(Transferred::Queued(met))) =
                    (transfer, transferred)
                {
                    meetings.withdraw_transfer(name, way, sends, met);
                }
            })
        });
        // The next call of the rank takes its place.
        self.calls -= u64::from(are_all_needed && queued.is_err());
        queued
    }

    fn split(
        &mut self,
        color: Option<i32>,
        key: i32,
        options: &CommOptions,
    ) -> Result<Option<Box<dyn CommEndpoint>>> {
        self.splits += 1;
        let mut name = self.member.name.clone();
        name.extend(self.splits.to_le_bytes());
        name.extend(color.unwrap_or(-1).to_le_bytes());
        let member = Member::new(&self.member.sanitizer, name);
        let made = self.inner.split(color, key, options)?;
        Ok(made.map(|inner| Box::new(CheckedEndpoint::new(inner, member)) as Box<dyn CommEndpoint>))
    }

    fn place(&mut self) -> Result<(usize, usize)> {
        self.inner.place()
    }

    fn finalize(&mut self) -> Result<()> {
        self.inner.finalize()
    }

    fn aborter(&self) -> Arc<dyn CommAbort> {
        self.inner.aborter()
    }

    fn native(&self) -> usize {
        self.inner.native()
    }
}
