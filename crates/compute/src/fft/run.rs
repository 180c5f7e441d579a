//! The call: operands, temporaries, plan, workspace, execution, division.

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{FftCall, StreamHandle, StreamRef};
use sconce_runtime::context::{Runtime, nothing_to_check, runtime};
use sconce_runtime::memory::Temporary;
use sconce_runtime::operand;
use sconce_runtime::stream::{self, Stream};

use super::cached_plan::{CachedPlan, PlanHold};
use super::device_caches::cache_of;
use super::known_transform::KnownTransform;
use super::make_plan::make_plan;
use super::plan::DevicePlan;
use super::route::{FftKey, FftRoute, check_overlap};
use super::shape::{AXES, FftSide, FftSides};
use super::{RawDescriptor, Transform, descriptor_memo, plan, scale};
use crate::copy::PackedOperand;

/// Does a transform whose descriptor this thread has used before. Returns `None` if it has not, or if the
/// addresses need the full checks: [`transform`] then does it.
#[inline(always)]
pub fn transform_known(
    descriptor: &RawDescriptor,
    input: usize,
    output: usize,
) -> Option<Result<()>> {
    descriptor_memo::with(descriptor, |known| {
        let is_as_last = known.is_as_last(input, output) && nothing_to_check();
        if !is_as_last && !known.accepts(input, output) {
            return None;
        }
        match is_captured(known.runtime, known.stream.get().driver_ref()) {
            Ok(false) => {}
            // The graph is to keep the plan.
            Ok(true) => return None,
            Err(error) => return Some(Err(error)),
        }
        if !is_as_last || !known.only_executes {
            return with_workspace_and_scale(known, input, output);
        }
        let call = known.call(known.stream.get(), DevicePtr(0), input, output);
        known.plan.execute_if_cached(|plan| plan.execute(&call))
    })
}

/// Does a known transform whose addresses have been checked. Returns `None` if its plan was evicted.
#[inline(never)]
fn with_workspace_and_scale(
    known: &KnownTransform,
    input: usize,
    output: usize,
) -> Option<Result<()>> {
    // An allocation may call functions of the user, which may transform on another stream.
    let stream = known.stream.get();
    let workspace = match Temporary::new(known.workspace, stream) {
        Ok(workspace) => workspace,
        Err(error) => return Some(Err(error)),
    };
    let call = known.call(stream, workspace.address(), input, output);
    let done = known.plan.execute_if_cached(|plan| plan.execute(&call))?;
    // Later work of the stream may use the memory.
    drop(workspace);
    Some(done.and_then(|()| {
        let (runtime, results) = (known.runtime, (&known.output, call.output));
        scale::run(runtime, call.stream, results, known.element, known.factor)?;
        stream::after_enqueue(runtime, stream)
    }))
}

/// Checks a request and transforms the memory at `input` into that at `output`. `descriptor`: the bytes
/// that `request` was made from.
pub fn transform(
    descriptor: &RawDescriptor,
    request: &Transform,
    input: usize,
    output: usize,
) -> Result<()> {
    let (runtime, addresses) = (runtime()?, [input, output]);
    let Some(sides) = FftSides::of(request)? else { return Ok(()) };
    let route = FftRoute::of(request, &sides, addresses[0], addresses[1])?;
    let device = operand::device_of(runtime, &route.operands)?;
    check_overlap(&route, &sides, addresses)?;
    let stream = stream::current_on(runtime, device)?;
    let plan = hold_plan(runtime, device, &route.key)?;
    let [input, output] = addresses.map(|address| DevicePtr(address as u64));
    let workspace = Temporary::new(plan.entry().workspace(), stream)?;
    let from = SideMemory::new(&sides.input, input, route.input_through, stream)?;
    let to = SideMemory::new(&sides.output, output, route.output_through, stream)?;
    if let Some(packed) = &from.packed {
        packed.load()?;
    }
    let call = FftCall {
        stream: stream.driver_ref(),
        workspace: workspace.address(),
        input: from.address,
        output: to.address,
        direction: request.direction,
    };
    execute(runtime, &plan, &call)?;
    // Later work of the stream may use the memory.
    drop((workspace, from));
    let results = (&to.side, call.output);
    scale::run(runtime, call.stream, results, request.element, scale::factor(request))?;
    if let Some(packed) = &to.packed {
        packed.store()?;
    }
    let entry = plan.entry();
    let known = KnownTransform::new(runtime, descriptor, request, &sides, &route, stream, entry);
    if let Some(known) = known {
        descriptor_memo::insert(descriptor, known);
    }
    stream::after_enqueue(runtime, stream)
}

/// Holds the plan of a shape, which is made if need be.
fn hold_plan(
    runtime: &'static Runtime,
    device: DeviceIndex,
    key: &FftKey,
) -> Result<PlanHold<DevicePlan>> {
    let cache = cache_of(runtime, device);
    loop {
        let (entry, evicted) = cache.find_or_insert(key);
        drop(evicted);
        match CachedPlan::hold(&entry, || make_plan(runtime, device, &key.0)) {
            Ok(Some((hold, None))) => return Ok(hold),
            Ok(Some((hold, Some(cost)))) => {
                drop(cache.record_cost(key, &entry, cost, plan::cost_outside(device)));
                return Ok(hold);
            }
            // It was evicted between the look-up and the hold.
            Ok(None) => {}
            Err(error) => {
                cache.remove_failed(key, &entry);
                return Err(error);
            }
        }
    }
}

/// Queues the execution. If it becomes part of a graph, the graph keeps the plan.
fn execute(runtime: &Runtime, plan: &PlanHold<DevicePlan>, call: &FftCall) -> Result<()> {
    if !is_captured(runtime, call.stream)? {
        return plan.execute(|plan| plan.execute(call));
    }
    let seen = stream::capture_of(runtime, call.stream)?;
    // In any case: an execution that fails may have been captured in part.
    let (executed, share) = plan.execute(|plan| Ok((plan.execute(call), plan.share())))?;
    if !stream::keep_for_capture(&seen, share) {
        plan.execute(|plan| {
            plan.note_others();
            Ok(())
        })?;
    }
    executed
}

/// Whether an execution on a stream becomes part of a graph. The legacy default stream cannot be captured; for others
/// the query takes 28 ns.
#[inline]
fn is_captured(runtime: &Runtime, stream: StreamRef) -> Result<bool> {
    Ok(stream.handle != StreamHandle::DEFAULT && runtime.driver().stream_is_capturing(stream)?)
}

/// The memory of a side as the library takes it.
struct SideMemory {
    address: DevicePtr,
    side: FftSide,
    /// The packed temporary, if the side goes through one.
    packed: Option<PackedOperand<AXES>>,
}

impl SideMemory {
    #[inline]
    fn new(
        given: &FftSide,
        address: DevicePtr,
        through: Option<FftSide>,
        stream: Stream,
    ) -> Result<SideMemory> {
        let Some(side) = through else {
            return Ok(SideMemory { address, side: *given, packed: None });
        };
        let (given, layout) = ((address, given.strides), (side.sizes, side.strides));
        let packed =
            PackedOperand::new(given, layout, side.element as usize, side.bytes(), stream)?;
        Ok(SideMemory { address: packed.address(), side, packed: Some(packed) })
    }
}
