//! Copies of elements with strides: by the simplest of the driver's copies that will do, or by kernels,
//! with packed temporaries where the two sides cannot meet directly.

use super::layout::{CopyLayout, DST, SRC};
use super::plan::Route;
use super::rows::{self, RowPair};
use super::temporary::OnHost;
use super::transfer::cannot_be_captured;
use super::{Axis, Rows, between, bytes, host_bytes, kernels};
use crate::address_range::{self, MemoryKind};
use crate::context::{Runtime, runtime};
use crate::device::peers;
use crate::driver::{EventFlags, RawAddress};
use crate::error::{Error, Result};
use crate::event::NativeEvent;
use crate::memory::Temporary;
use crate::stream::{self, after_enqueue};
use crate::types::DeviceIndex;

/// Rows of host memory narrower than this are left to kernels: the driver moves each row by itself.
const NARROW_BYTES: u64 = 64;

/// Copies elements of `element` bytes along up to [`super::MOST_AXES`] axes, outermost first.
pub fn copy_strided(
    dst: RawAddress,
    src: RawAddress,
    element: usize,
    axes: &[Axis],
    non_blocking: bool,
) -> Result<()> {
    let runtime = runtime()?;
    let Some(layout) = CopyLayout::of(element, axes)? else { return Ok(()) };
    let addresses = [dst, src];
    let to = side_of(runtime, dst, &layout, DST, "dst")?;
    let from = side_of(runtime, src, &layout, SRC, "src")?;
    match Route::of(to, from) {
        _ if layout.axes.is_empty() => {
            let [dst, src] = begin(addresses, &layout);
            bytes::copy(dst, src, layout.width as usize, non_blocking)
        }
        Route::Host => on_host(addresses, &layout),
        Route::Within(device) => {
            if let Some(rows) = as_rows(addresses, &layout, true) {
                return rows::run(runtime, &rows, to, from, non_blocking);
            }
            let stream = stream::current_on(runtime, device)?;
            kernels::launch(runtime, stream.driver_ref(), dst, src, &layout)?;
            after_enqueue(runtime, stream)
        }
        Route::Between { from: source, to: target, managed, into_managed } => {
            let reached = into_managed || peers::enable_if_possible(runtime, source, target)?;
            if let Some(rows) = as_rows(addresses, &layout, reached).filter(|_| managed || reached)
            {
                return rows::run(runtime, &rows, to, from, non_blocking);
            }
            // Kernels run on the source's device, and managed memory is within its reach.
            if !reached {
                return packed_between(runtime, addresses, &layout, [target, source]);
            }
            let (from, to) =
                (stream::current_on(runtime, source)?, stream::current_on(runtime, target)?);
            between::run(runtime, from, to, managed, |_| {
                kernels::launch(runtime, from.driver_ref(), dst, src, &layout)
            })?;
            after_enqueue(runtime, from)
        }
        route @ (Route::Pinned(device)
        | Route::FromOrdinary(device)
        | Route::ToOrdinary(device)) => {
            let host =
                if matches!(to, MemoryKind::Ordinary | MemoryKind::Pinned) { DST } else { SRC };
            let plan = Plan { addresses, sides: [to, from], host, device, route };
            with_host(runtime, &plan, &layout, non_blocking)
        }
    }
}

/// What a side is, all of it. Memory may be reached backwards from the address that was given.
fn side_of(
    runtime: &Runtime,
    address: RawAddress,
    layout: &CopyLayout,
    side: usize,
    what: &str,
) -> Result<MemoryKind> {
    let (low, bytes) = layout.span(side);
    if address.get() == 0 {
        return Err(address_range::null(bytes as usize, what));
    }
    let given = address_range::kind_of(runtime, address.get(), 1, what)?;
    let leaves = || {
        Error::invalid_argument(format!(
            "{what} {:#x} and its strides leave the allocation that it points into: they reach \
             from {low} to {} bytes from there",
            address.get(),
            i128::from(low) + i128::from(bytes)
        ))
    };
    let lowest = address.get().checked_add_signed(low as isize);
    let lowest = lowest.filter(|lowest| *lowest != 0).ok_or_else(leaves)?;
    match address_range::kind_of(runtime, lowest, bytes as usize, what) {
        Ok(found) if found == given => Ok(given),
        Ok(_) => Err(leaves()),
        Err(error) => Err(error),
    }
}

fn begin(addresses: [RawAddress; 2], layout: &CopyLayout) -> [RawAddress; 2] {
    [DST, SRC].map(|side| addresses[side].offset(layout.start[side] as usize))
}

/// The rows, if that is what is copied, and if they are not better packed.
fn as_rows(addresses: [RawAddress; 2], layout: &CopyLayout, on_devices: bool) -> Option<RowPair> {
    let (pitches, height) = layout.as_rows()?;
    if !on_devices && layout.width < NARROW_BYTES {
        return None;
    }
    let addresses = begin(addresses, layout);
    let [dst, src] =
        [DST, SRC].map(|side| Rows { address: addresses[side], pitch: pitches[side] as usize });
    let (width, height) = (layout.width as usize, height as usize);
    Some(RowPair { dst, src, width, height, on_devices })
}

/// By the calling thread.
fn on_host(addresses: [RawAddress; 2], layout: &CopyLayout) -> Result<()> {
    layout.each_innermost(|at, axis| {
        let [dst, src] = [DST, SRC].map(|side| addresses[side].offset(at[side] as usize));
        host_bytes::copy_each(dst, src, axis.strides, layout.width as usize, axis.size)
    })
}

/// Between devices that cannot use each other's memory: packed on the one, copied, unpacked on the
/// other. `devices` are the destination's and the source's.
pub(super) fn packed_between(
    runtime: &Runtime,
    [dst, src]: [RawAddress; 2],
    layout: &CopyLayout,
    devices: [DeviceIndex; 2],
) -> Result<()> {
    let [to, from] =
        [stream::current_on(runtime, devices[DST])?, stream::current_on(runtime, devices[SRC])?];
    between::refuse_half_a_capture(runtime, from, to)?;
    let driver = runtime.driver();
    let unpacked = NativeEvent::obtain(runtime, devices[DST], EventFlags::default())?;
    let bytes = layout.bytes() as usize;
    let (here, there) = (Temporary::new(bytes, from)?, Temporary::new(bytes, to)?);
    between::run(runtime, from, to, false, |_| {
        let packing = layout.with_packed(DST);
        kernels::launch(runtime, from.driver_ref(), here.address().into(), src, &packing)?;
        let ends = [(devices[DST], there.address()), (devices[SRC], here.address())];
        driver.copy_peer_async(ends[DST], ends[SRC], bytes, from.driver_ref())
    })?;
    let unpacking = layout.with_packed(SRC);
    kernels::launch(runtime, to.driver_ref(), dst, there.address().into(), &unpacking)?;
    // Later work of the source's stream comes after all of the copy, as with other copies.
    driver.event_record(unpacked.handle(), to.driver_ref())?;
    driver.stream_wait_event(from.driver_ref(), unpacked.handle())?;
    after_enqueue(runtime, to)
}

/// A copy between a device and the host.
struct Plan {
    addresses: [RawAddress; 2],
    sides: [MemoryKind; 2],
    /// Which side is the host's.
    host: usize,
    device: DeviceIndex,
    route: Route,
}

fn with_host(
    runtime: &Runtime,
    plan: &Plan,
    layout: &CopyLayout,
    non_blocking: bool,
) -> Result<()> {
    let (host, device) = (plan.host, 1 - plan.host);
    let stream = stream::current_on(runtime, plan.device)?;
    let by_host = layout.arranged(host);
    let is_packed = by_host.is_packed(host);
    // Only the host can pack what is not packed there, and it waits for the stream to do so.
    let non_blocking = non_blocking && is_packed;
    if !plan.route.can_be_captured(non_blocking) && stream::is_capturing(runtime, stream)? {
        return Err(if is_packed {
            cannot_be_captured(plan.device, plan.route)
        } else {
            host_is_not_packed(plan.device)
        });
    }
    if is_packed {
        let address = plan.addresses[host].offset(by_host.start[host] as usize);
        let packed = by_host.with_packed(host);
        return with_packed_host(runtime, plan, address, plan.sides[host], &packed, non_blocking);
    }
    // In the device's order, which is the better one for its kernels.
    let order = layout.arranged(device);
    let temporary = OnHost::new(layout.bytes() as usize)?;
    let mut through = plan.addresses;
    through[device] = temporary.address();
    let (on_this_side, beyond) = (order.with_packed(device), order.with_packed(host));
    if host == SRC {
        on_host(through, &on_this_side)?;
    }
    with_packed_host(runtime, plan, temporary.address(), MemoryKind::Pinned, &beyond, false)?;
    if host == DST {
        on_host(through, &on_this_side)?;
    }
    Ok(())
}

/// The same where the host's side is packed, from `address` on.
fn with_packed_host(
    runtime: &Runtime,
    plan: &Plan,
    address: RawAddress,
    side: MemoryKind,
    layout: &CopyLayout,
    non_blocking: bool,
) -> Result<()> {
    let (mut addresses, mut sides) = (plan.addresses, plan.sides);
    (addresses[plan.host], sides[plan.host]) = (address, side);
    if layout.axes.is_empty() {
        let [dst, src] = begin(addresses, layout);
        return bytes::copy(dst, src, layout.width as usize, non_blocking);
    }
    if let Some(rows) = as_rows(addresses, layout, false) {
        return rows::run(runtime, &rows, sides[DST], sides[SRC], non_blocking);
    }
    let stream = stream::current_on(runtime, plan.device)?;
    let bytes = layout.bytes() as usize;
    let temporary = Temporary::new(bytes, stream)?;
    let through = RawAddress::from(temporary.address());
    addresses[plan.host] = through;
    let launch =
        || kernels::launch(runtime, stream.driver_ref(), addresses[DST], addresses[SRC], layout);
    if plan.host == DST {
        launch()?;
        return bytes::copy(address, through, bytes, non_blocking);
    }
    bytes::copy(through, address, bytes, true)?;
    launch()?;
    if non_blocking { after_enqueue(runtime, stream) } else { stream::synchronize(runtime, stream) }
}

#[cold]
fn host_is_not_packed(device: DeviceIndex) -> Error {
    Error::invalid_state(format!(
        "the current stream of device {device} is being captured, but the copy has to wait for it, \
         since the host's memory is not packed; copy packed pinned memory and make it non_blocking"
    ))
}
