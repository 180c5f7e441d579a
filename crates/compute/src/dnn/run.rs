//! The call: operands, device, stream, handle, plan, workspace, execution.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    Convolution, ConvolutionOperation, ConvolutionPlan, EngineChoice, EventFlags, RelaxedCapture,
    alignment_of,
};
use sconce_runtime::context::{Runtime, precision, runtime};
use sconce_runtime::event::NativeEvent;
use sconce_runtime::memory::Temporary;
use sconce_runtime::operand::{self, Operand};
use sconce_runtime::stream::{self, CaptureSeen, Stream, after_enqueue};

use super::choice::{Search, Trial};
use super::handle::{self, ThreadHandle};
use super::packed::{packed_filter, usual_strides};
use super::plans::{self, ConvolutionKey, Ready};
use super::shape::{ConvolutionRequest, ConvolutionTask, FILTER, Role, footprint, roles};
use super::zero;

/// The arguments' names and what they are, in the order of the C API.
fn names(operation: ConvolutionOperation) -> [&'static str; 3] {
    match operation {
        ConvolutionOperation::Forward => ["a (input)", "b (filter)", "result (output)"],
        ConvolutionOperation::Data => ["a (grad_output)", "b (filter)", "result (grad_input)"],
        ConvolutionOperation::Filter => ["a (grad_output)", "b (input)", "result (grad_filter)"],
    }
}

/// How often an engine is timed; the best counts.
const TIMED_RUNS: usize = 3;

/// Convolves.
pub fn convolution(request: &ConvolutionRequest, a: usize, b: usize, result: usize) -> Result<()> {
    let runtime = runtime()?;
    let arguments =
        Arguments { addresses: [a, b, result], roles: roles(request.operation), request };
    match request.task()? {
        ConvolutionTask::Nothing => Ok(()),
        ConvolutionTask::Zero(tensor, bytes) => {
            let stream = stream::current_on(runtime, arguments.device(runtime, &bytes)?)?;
            let [.., role] = arguments.roles;
            let place = (DevicePtr(result as u64), &tensor, bytes[role]);
            zero::fill(runtime, stream, place, request.element.bytes())
        }
        ConvolutionTask::Convolve(mut problem, bytes) => {
            let stream = stream::current_on(runtime, arguments.device(runtime, &bytes)?)?;
            let pointers = arguments.place(&mut problem)?;
            match usual_strides(&problem.filter, problem.spatial) {
                Some(strides) => problem.filter.strides = strides,
                None => return convolve_packed(runtime, stream, problem, pointers),
            }
            ConvolutionCall { runtime, stream, pointers, key: key_of(problem) }.run()?;
            after_enqueue(runtime, stream)
        }
    }
}

/// Convolves with a filter, or to a gradient of one, that has gaps between its elements or an unusual order.
#[cold]
fn convolve_packed(
    runtime: &Runtime,
    stream: Stream,
    mut problem: Convolution,
    mut pointers: [DevicePtr; 3],
) -> Result<()> {
    let element = problem.element.bytes();
    let (packed, tensor) =
        packed_filter(pointers[FILTER], (&problem.filter, problem.spatial), element, stream)?;
    (problem.filter, pointers[FILTER]) = (tensor, packed.address());
    let is_result = problem.operation == ConvolutionOperation::Filter;
    if !is_result {
        packed.load()?;
    }
    ConvolutionCall { runtime, stream, pointers, key: key_of(problem) }.run()?;
    if is_result {
        return packed.store();
    }
    after_enqueue(runtime, stream)
}

/// What was given, in the order of the C API.
struct Arguments<'a> {
    addresses: [usize; 3],
    roles: [Role; 3],
    request: &'a ConvolutionRequest,
}

impl Arguments<'_> {
    /// The device of those that have elements.
    fn device(&self, runtime: &Runtime, bytes: &[usize; 3]) -> Result<DeviceIndex> {
        let names = names(self.request.operation);
        let operand = |at: usize| Operand {
            name: names[at],
            address: self.addresses[at],
            bytes: bytes[self.roles[at]],
            alignment: self.request.element.bytes(),
        };
        let operands = [operand(0), operand(1), operand(2)];
        if operands.iter().all(|operand| operand.bytes > 0) {
            return operand::device_of(runtime, &operands);
        }
        let used: Vec<Operand> = operands.into_iter().filter(|operand| operand.bytes > 0).collect();
        operand::device_of(runtime, &used)
    }

    /// Returns the addresses of input, filter and output, and sets the alignments in `problem`. Refuses a result that
    /// overlaps an operand.
    fn place(&self, problem: &mut Convolution) -> Result<[DevicePtr; 3]> {
        let mut pointers = [DevicePtr(0); 3];
        for (role, address) in self.roles.into_iter().zip(self.addresses) {
            pointers[role] = DevicePtr(address as u64);
        }
        for (tensor, pointer) in
            [&mut problem.input, &mut problem.filter, &mut problem.output].into_iter().zip(pointers)
        {
            tensor.alignment = alignment_of(pointer);
        }
        let at = |at: usize| footprint(problem, self.roles[at], self.addresses[at]);
        for read in 0..2 {
            if at(2).meets(&at(read)) {
                return Err(overlap(names(self.request.operation), read));
            }
        }
        Ok(pointers)
    }
}

fn key_of(problem: Convolution) -> ConvolutionKey {
    let choice = EngineChoice {
        // Nothing else is rounded, and equal questions shall be equal.
        allow_tf32: problem.element != Dtype::F32 || precision::allow_tf32_cudnn(),
        deterministic: precision::deterministic_cudnn() || precision::deterministic_algorithms(),
    };
    ConvolutionKey { problem, choice, benchmark: precision::benchmark_cudnn() }
}

/// A convolution to be queued on a stream.
struct ConvolutionCall<'a> {
    runtime: &'a Runtime,
    stream: Stream,
    /// Input, filter, output.
    pointers: [DevicePtr; 3],
    key: ConvolutionKey,
}

impl ConvolutionCall<'_> {
    #[inline]
    fn run(&self) -> Result<()> {
        handle::with(self.runtime, self.stream, |handle| {
            let captured = match stream::is_capturing(self.runtime, self.stream)? {
                true => Some(stream::capture_of(self.runtime, self.stream.driver_ref())?),
                false => None,
            };
            drop(handle.plans.outdated());
            if self.run_ready(handle, &self.key, captured.as_ref())? {
                return Ok(());
            }
            self.run_new(handle, captured.as_ref())
        })
    }

    /// By the plan that is there; false if there is none, or no memory for it.
    #[inline]
    fn run_ready(
        &self,
        handle: &mut ThreadHandle,
        key: &ConvolutionKey,
        captured: Option<&CaptureSeen>,
    ) -> Result<bool> {
        let Some(ready) = handle.plans.get(key) else { return Ok(false) };
        match Temporary::new(ready.workspace_bytes(), self.stream) {
            Ok(workspace) => {
                let executed = self.execute(ready.plan()?, &workspace);
                // In any case: an execution that fails may have been captured in part.
                keep_for(captured, ready);
                executed.map(|()| true)
            }
            // Another engine may do with less.
            Err(error) if error.status() == Status::OutOfMemory => Ok(false),
            Err(error) => Err(error),
        }
    }

    #[cold]
    #[inline(never)]
    fn run_new(&self, handle: &mut ThreadHandle, captured: Option<&CaptureSeen>) -> Result<()> {
        let device = self.stream.device();
        let since = plans::epoch();
        let mut key = self.key;
        let mut found = plans::found(device, &key);
        if key.benchmark && found.is_none() && captured.is_some() {
            // Nothing can be timed now. What is taken instead is kept as what it is, a guess.
            key.benchmark = false;
            if self.run_ready(handle, &key, captured)? {
                return Ok(());
            }
            found = plans::found(device, &key);
        }
        // Making plans loads kernels and allocates, which a capture under way would refuse.
        let _relaxed = RelaxedCapture::enter(self.runtime.driver())?;
        let mut engines = handle.handle.engines(&key.problem, key.choice)?;
        let search = Search::new(engines.as_mut(), self, key.choice.deterministic);
        let chosen = if key.benchmark && found.is_none() {
            search.fastest(precision::benchmark_limit_cudnn() as usize)?
        } else {
            search.first(found)?
        };
        if !chosen.for_want_of_memory {
            plans::note_found(device, key, chosen.index, since);
        }
        let mut ready = Ready::new(chosen.plan);
        keep_for(captured, &mut ready);
        handle.plans.insert(key, ready);
        Ok(())
    }
}

/// A graph that an execution of the plan became part of keeps the plan.
#[inline]
fn keep_for(captured: Option<&CaptureSeen>, ready: &mut Ready) {
    if let Some(seen) = captured {
        stream::keep_for_capture(seen, ready.share());
    }
}

impl Trial for ConvolutionCall<'_> {
    type Workspace = Temporary;

    fn workspace(&self, bytes: usize) -> Result<Temporary> {
        Temporary::new(bytes, self.stream)
    }

    fn execute(&self, plan: &mut dyn ConvolutionPlan, workspace: &Temporary) -> Result<()> {
        let [input, filter, output] = self.pointers;
        plan.execute(input, filter, output, workspace.address())
    }

    fn time(&self, plan: &mut dyn ConvolutionPlan, workspace: &Temporary) -> Result<f32> {
        let (driver, stream) = (self.runtime.driver(), self.stream.driver_ref());
        let flags = EventFlags { timing: true, ..EventFlags::default() };
        let obtain = |_| NativeEvent::obtain(self.runtime, stream.device, flags);
        let events = (0..=TIMED_RUNS).map(obtain).collect::<Result<Vec<NativeEvent>>>()?;
        // The first run loads kernels.
        self.execute(plan, workspace)?;
        for (at, event) in events.iter().enumerate() {
            if at > 0 {
                self.execute(plan, workspace)?;
            }
            driver.event_record(event.handle(), stream)?;
        }
        if let Some(last) = events.last() {
            driver.event_synchronize(last.handle())?;
        }
        let mut best = f32::INFINITY;
        for pair in events.windows(2) {
            best = best.min(driver.event_elapsed_ms(pair[0].handle(), pair[1].handle())?);
        }
        Ok(best)
    }
}

#[cold]
fn overlap(names: [&str; 3], read: usize) -> Error {
    let (result, read) = (names[2], names[read]);
    Error::invalid_argument(format!(
        "{result} overlaps {read}, which is read while it is written; use separate memory for it"
    ))
}
