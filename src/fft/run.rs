//! The call: operands, temporaries, plan, workspace, execution, division.

use super::limits::cache_of;
use super::memo::{self, Known};
use super::plan::{self, Plan};
use super::route::{Key, Route, check_overlap};
use super::shape::{AXES, Side, Sides};
use super::slot::{Held, Slot};
use super::{Description, Transform, scale};
use crate::context::{Runtime, is_initialized, runtime};
use crate::copy::{Axis, copy_strided};
use crate::driver::{FftCall, RawAddress, StreamHandle};
use crate::error::Result;
use crate::memory::Temporary;
use crate::operand;
use crate::stream::{self, Stream};
use crate::types::{DeviceIndex, DevicePtr};

/// Transforms as a description tells that this thread used before; `None` where it did not, or where
/// that does not go for these addresses: [`transform`] does it then.
#[inline(always)]
pub fn again(description: &Description, input: usize, output: usize) -> Option<Result<()>> {
    memo::with(description, |known| {
        let as_it_was = known.goes_as_it_was(input, output) && is_initialized();
        if !as_it_was && !known.goes_for(input, output) {
            return None;
        }
        if !as_it_was || !known.is_plain {
            return in_full(known, input, output);
        }
        let call = known.call(known.stream.get(), DevicePtr(0), input, output);
        known.slot.again(|plan| execute(known.runtime, plan, &call))
    })
}

/// What remains to be done when everything has been looked at; `None` if the plan has gone.
#[inline(never)]
fn in_full(known: &Known, input: usize, output: usize) -> Option<Result<()>> {
    // Making room may call functions of the user, who may transform on another stream.
    let stream = known.stream.get();
    let workspace = match Temporary::new(known.workspace, stream) {
        Ok(workspace) => workspace,
        Err(error) => return Some(Err(error)),
    };
    let call = known.call(stream, workspace.address(), input, output);
    let done = known.slot.again(|plan| execute(known.runtime, plan, &call))?;
    // The workspace is for the work that comes next.
    drop(workspace);
    Some(done.and_then(|()| {
        let (runtime, results) = (known.runtime, (&known.output, call.output));
        scale::run(runtime, call.stream, results, known.element, known.factor)?;
        stream::after_enqueue(runtime, stream)
    }))
}

/// Transforms what is at `input` into what is at `output`. `description` is what `request` was made of.
pub fn transform(
    description: &Description,
    request: &Transform,
    input: usize,
    output: usize,
) -> Result<()> {
    let (runtime, addresses) = (runtime()?, [input, output]);
    let Some(sides) = Sides::of(request)? else { return Ok(()) };
    let route = Route::of(request, &sides, addresses[0], addresses[1])?;
    let device = operand::device_of(runtime, &route.operands)?;
    check_overlap(&route, &sides, addresses)?;
    let stream = stream::current_on(runtime, device)?;
    let plan = plan(runtime, device, &route.key)?;
    let [input, output] = addresses.map(|address| DevicePtr(address as u64));
    let workspace = Temporary::new(plan.slot().workspace(), stream)?;
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
    plan.with(|plan| execute(runtime, plan, &call))?;
    // The workspace is for the work that comes next.
    drop((workspace, from));
    let results = (&to.side, call.output);
    scale::run(runtime, call.stream, results, request.element, scale::factor(request))?;
    if let Some((packed, temporary)) = &to.packed {
        copy((&sides.output, output), (packed, temporary.address()))?;
    }
    memo::keep(runtime, description, request, &sides, &route, stream, plan.slot());
    stream::after_enqueue(runtime, stream)
}

/// The plan of a shape, made if need be.
fn plan(runtime: &'static Runtime, device: DeviceIndex, key: &Key) -> Result<Held<Plan>> {
    let cache = cache_of(runtime, device);
    loop {
        let (slot, left) = cache.find(key);
        drop(left);
        match Slot::hold(&slot, || plan::make(runtime, device, &key.0)) {
            Ok(Some((plan, None))) => return Ok(plan),
            Ok(Some((plan, Some(cost)))) => {
                drop(cache.made(key, &slot, cost));
                return Ok(plan);
            }
            // It left the cache between being found and being held.
            Ok(None) => {}
            Err(error) => {
                cache.failed(key, &slot);
                return Err(error);
            }
        }
    }
}

/// Queues the execution.
#[inline]
fn execute(runtime: &Runtime, plan: &mut Plan, call: &FftCall) -> Result<()> {
    // The legacy default stream cannot be captured. Asking about others takes 28 ns, and is not
    // needed for a plan that a graph has already.
    let captured = call.stream.handle != StreamHandle::DEFAULT
        && !plan.is_in_graph()
        && runtime.driver().stream_is_capturing(call.stream)?;
    plan.execute(call, captured)
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
