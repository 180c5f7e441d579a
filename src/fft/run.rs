//! The call: operands, temporaries, plan, workspace, execution, division.

use super::cache::Hint;
use super::limits::cache_of;
use super::memo::{self, Known};
use super::plan::{self, Plan};
use super::route::{Key, Route, check_overlap};
use super::shape::{AXES, Side, Sides};
use super::slot::{Arc, Ready, Slot};
use super::{Normalization, Transform, scale};
use crate::context::{Runtime, runtime};
use crate::copy::{Axis, copy_strided};
use crate::driver::{FftCall, RawAddress, StreamHandle};
use crate::error::Result;
use crate::memory::Temporary;
use crate::operand::{self, Operand};
use crate::stream::{self, Stream};
use crate::types::{DeviceIndex, DevicePtr};

/// Transforms what is at `input` into what is at `output`, as `request` tells.
#[inline]
pub fn transform(request: &Transform, input: usize, output: usize) -> Result<()> {
    let runtime = runtime()?;
    let done = memo::with(request, input, output, |known, operands| {
        as_before(runtime, request, known, &operands, [input, output])
    });
    match done {
        Some(done) => done,
        None => the_long_way(runtime, request, input, output),
    }
}

/// The short way: a description that this thread used before.
#[inline]
fn as_before(
    runtime: &'static Runtime,
    request: &Transform,
    known: &mut Known,
    operands: &[Operand; 2],
    [input, output]: [usize; 2],
) -> Result<()> {
    let device = operand::device_of(runtime, operands)?;
    let stream = stream::current_on(runtime, device)?;
    let (slot, workspace) = plan(runtime, device, &known.key, &mut known.hint)?;
    let workspace = Temporary::new(workspace, stream)?;
    let call = FftCall {
        stream: stream.driver_ref(),
        workspace: workspace.address(),
        input: DevicePtr(input as u64),
        output: DevicePtr(output as u64),
        direction: request.direction,
    };
    execute(runtime, stream, &slot, &call)?;
    drop(workspace);
    divide(runtime, &call, &known.output, request)?;
    stream::after_enqueue(runtime, stream)
}

#[inline(never)]
fn the_long_way(
    runtime: &'static Runtime,
    request: &Transform,
    input: usize,
    output: usize,
) -> Result<()> {
    let addresses = [input, output];
    let Some(sides) = Sides::of(request)? else { return Ok(()) };
    let route = Route::of(request, &sides, input, output)?;
    let device = operand::device_of(runtime, &route.operands)?;
    check_overlap(&route, &sides, addresses)?;
    let stream = stream::current_on(runtime, device)?;
    let mut hint = Hint::default();
    let (slot, workspace) = plan(runtime, device, &route.key, &mut hint)?;
    let [input, output] = [input, output].map(|address| DevicePtr(address as u64));
    let workspace = Temporary::new(workspace, stream)?;
    let from = Through::new(&sides.input, input, route.input_through, stream)?;
    let to = Through::new(&sides.output, output, route.output_through, stream)?;
    if let Some((packed, temporary)) = &from.packed {
        copy((packed, temporary.address()), (&sides.input, input))?;
    }
    let call = FftCall {
        stream: stream.driver_ref(),
        workspace: workspace.address(),
        input: from.address,
        output: to.address,
        direction: request.direction,
    };
    execute(runtime, stream, &slot, &call)?;
    // The workspace is for the work that comes next.
    drop((workspace, from));
    divide(runtime, &call, &to.side, request)?;
    if let Some((packed, temporary)) = &to.packed {
        copy((&sides.output, output), (packed, temporary.address()))?;
    }
    memo::keep(request, &sides, &route, addresses);
    stream::after_enqueue(runtime, stream)
}

/// Queues the division of the results that a call has queued.
#[inline]
fn divide(runtime: &Runtime, call: &FftCall, side: &Side, request: &Transform) -> Result<()> {
    if request.normalization == Normalization::None {
        return Ok(());
    }
    let factor = factor(request);
    if factor == 1.0 {
        return Ok(());
    }
    scale::run(runtime, call.stream, (side, call.output), request.element, factor)
}

/// The plan of a shape, made if need be, and its workspace. `hint` is how the cache finds it again.
#[inline]
fn plan(
    runtime: &'static Runtime,
    device: DeviceIndex,
    key: &Key,
    hint: &mut Hint,
) -> Result<(Arc<Slot<Plan>>, usize)> {
    if let Some(slot) = cache_of(runtime, device).find_again(hint)
        && let Some(workspace) = slot.workspace()
    {
        return Ok((slot, workspace));
    }
    plan_of_shape(runtime, device, key, hint)
}

#[inline(never)]
fn plan_of_shape(
    runtime: &'static Runtime,
    device: DeviceIndex,
    key: &Key,
    hint: &mut Hint,
) -> Result<(Arc<Slot<Plan>>, usize)> {
    let (slot, left) = cache_of(runtime, device).find(key, hint);
    drop(left);
    if let Some(workspace) = slot.workspace() {
        return Ok((slot, workspace));
    }
    make(runtime, device, key, &slot)?;
    let workspace = slot.workspace().unwrap_or(0);
    Ok((slot, workspace))
}

#[cold]
#[inline(never)]
fn make(
    runtime: &'static Runtime,
    device: DeviceIndex,
    key: &Key,
    slot: &Arc<Slot<Plan>>,
) -> Result<()> {
    let cache = cache_of(runtime, device);
    match slot.make(|| plan::make(runtime, device, &key.0)) {
        Ok(Ready::Before) => {}
        Ok(Ready::Now(cost)) => drop(cache.made(key, slot, cost)),
        Err(error) => {
            drop(cache.failed(key, slot));
            return Err(error);
        }
    }
    Ok(())
}

/// Queues the execution.
#[inline]
fn execute(runtime: &Runtime, stream: Stream, slot: &Slot<Plan>, call: &FftCall) -> Result<()> {
    // The legacy default stream cannot be captured. Asking about others takes 28 ns, and is not
    // needed for a plan that a graph has already.
    let cannot_be = call.stream.handle == StreamHandle::DEFAULT;
    slot.with(|plan| {
        let captured = !cannot_be && !plan.is_in_graph() && stream::is_capturing(runtime, stream)?;
        plan.execute(call, captured)
    })
}

/// What results are multiplied by.
fn factor(request: &Transform) -> f64 {
    let n = || request.sizes[..request.rank].iter().map(|size| *size as f64).product::<f64>();
    match request.normalization {
        Normalization::None => 1.0,
        Normalization::ByRootN => 1.0 / n().sqrt(),
        Normalization::ByN => 1.0 / n(),
    }
}

/// Where the library finds a side, or puts it.
struct Through {
    address: DevicePtr,
    side: Side,
    /// The temporary that is packed.
    packed: Option<(Side, Temporary)>,
}

impl Through {
    #[inline]
    fn new(
        side: &Side,
        address: DevicePtr,
        through: Option<Side>,
        stream: Stream,
    ) -> Result<Through> {
        let Some(packed) = through else {
            return Ok(Through { address, side: *side, packed: None });
        };
        let temporary = Temporary::new(packed.bytes(), stream)?;
        let address = temporary.address();
        Ok(Through { address, side: packed, packed: Some((packed, temporary)) })
    }
}

/// Queues the copy of elements between two sides of the same sizes.
fn copy((to, dst): (&Side, DevicePtr), (from, src): (&Side, DevicePtr)) -> Result<()> {
    let mut axes = [Axis::default(); AXES];
    for (index, axis) in axes.iter_mut().enumerate() {
        *axis = Axis {
            size: to.sizes[index] as u64,
            dst_stride: to.strides[index],
            src_stride: from.strides[index],
        };
    }
    copy_strided(RawAddress::from(dst), RawAddress::from(src), to.element as usize, &axes, true)
}
