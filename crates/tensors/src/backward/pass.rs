//! Running a node of a pass, and handing on its gradients.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::thread_state;
use sconce_base::types::{DeviceIndex, MAX_DEVICES};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::stream::Stream;

use super::node::Node;
use super::plan::BackwardPlan;
use super::progress::{Progress, ReadyNode};
use super::queues;
use super::scope::StreamScope;
use crate::tensor::{Place, Tensor};

/// A pass.
pub(super) struct Pass {
    pub(super) plan: BackwardPlan,
    /// How many passes it was called in.
    pub(super) depth: usize,
    /// Whether functions can be called again in a later pass.
    pub(super) keep: bool,
    /// The caller's current stream of each device.
    caller_streams: [i64; MAX_DEVICES],
}

thread_local! {
    /// The depth of a pass that this thread would start.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The depth of a pass that the calling thread starts.
pub(super) fn depth() -> usize {
    DEPTH.get()
}

impl Pass {
    /// A pass of the calling thread.
    pub(super) fn new(plan: BackwardPlan, keep: bool) -> Pass {
        let stream_id =
            |index: usize| DeviceIndex::new(index as i32).map_or(0, thread_state::stream_id);
        Pass { plan, depth: depth(), keep, caller_streams: std::array::from_fn(stream_id) }
    }

    /// The stream that was current on a device when the pass began, on its caller's thread.
    pub(super) fn caller_stream(&self, runtime: &Runtime, device: DeviceIndex) -> Result<Stream> {
        Stream::from_parts(runtime, self.caller_streams[device.as_usize()], device.as_i32())
    }

    /// The stream on which a node uses a gradient.
    fn consumer(&self, runtime: &Runtime, node: &Node, gradient: Place) -> Result<Stream> {
        match (node.stream, gradient) {
            (Some(stream), _) => Ok(stream),
            (None, Place::Device(device)) => self.caller_stream(runtime, device),
            (None, Place::Cpu) => Err(Error::new(Status::Internal, "host memory has no stream")),
        }
    }

    /// Hands a gradient to an input; the node is queued when it was the last one.
    pub(super) fn deliver(
        self: &Arc<Self>,
        progress: &Arc<Progress>,
        (index, input): (usize, usize),
        gradient: Tensor,
        producer: Option<Stream>,
    ) -> Result<()> {
        let target = &self.plan.nodes[index];
        if gradient.is_defined() {
            let place = gradient.place();
            let consumer = |runtime: &Runtime| self.consumer(runtime, &target.node, place);
            let added = target.inputs.lock()[input].add(gradient, producer, consumer);
            let unused = added.map_err(|error| {
                error.context(format_args!("input {input} of {:?}", target.node.name))
            })?;
            drop(unused);
        }
        if !target.arrived() {
            return Ok(());
        }
        let urgency = target.node.urgency();
        let (pass, counted) = (self.clone(), progress.clone());
        let run = Box::new(move || perform(pass, &counted, index));
        let ready = ReadyNode { depth: self.depth, urgency, run };
        progress.begin();
        match target.node.place {
            Place::Cpu => progress.push(ready),
            Place::Device(device) => {
                if let Err(error) = queues::push(device, ready) {
                    progress.end();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn evaluate(self: &Arc<Self>, progress: &Arc<Progress>, index: usize) -> Result<()> {
        let planned = &self.plan.nodes[index];
        let node = &*planned.node;
        let scope = match node.stream {
            None => None,
            Some(stream) => Some(StreamScope::enter(Some(runtime()?), Some(stream))?),
        };
        let inputs = std::mem::take(&mut *planned.inputs.lock());
        let take = |input: super::input::InputGradient| match input.place() {
            None => Ok(Tensor::default()),
            Some(place) => input.take(|runtime| self.consumer(runtime, node, place)),
        };
        let gradients = inputs.into_iter().map(take).collect::<Result<Vec<Tensor>>>()?;
        let results = called(|| node.call(gradients, self.keep))?;
        if let Some(stream) = node.stream
            && planned.targets.iter().all(Option::is_none)
        {
            progress.add_leaf_stream(stream);
        }
        for (target, gradient) in planned.targets.iter().zip(results) {
            if let Some(target) = *target {
                self.deliver(progress, target, gradient, node.stream)?;
            }
        }
        drop(scope);
        Ok(())
    }
}

/// Calls a function of the program; a panic is an error.
fn called<R>(function: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    Error::new(Status::Internal, format!("the function panicked: {text}"))
}

/// Runs a ready node, unless its pass has failed.
fn perform(pass: Arc<Pass>, progress: &Arc<Progress>, index: usize) {
    if !progress.has_failed() {
        let before = DEPTH.replace(pass.depth + 1);
        if let Err(error) = called(|| pass.evaluate(progress, index)) {
            let name = &pass.plan.nodes[index].node.name;
            progress.fail(error.context(format_args!("backward of {name:?}")));
        }
        DEPTH.set(before);
    }
    // The caller frees contexts once no node is open.
    drop(pass);
    progress.end();
}
