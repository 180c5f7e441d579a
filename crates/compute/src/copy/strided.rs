//! Copies of elements with strides: by the simplest of the driver's copies that will do, or by
//! kernels, with packed temporaries where the two sides cannot meet directly.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::RawAddress;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device::peers;
use sconce_runtime::memory::Temporary;
use sconce_runtime::operand::address_range::{self, MemoryKind};
use sconce_runtime::stream::{self, after_enqueue};

use super::layout::{CopyLayout, DST, SRC};
use super::pinned_temporary::PinnedTemporary;
use super::route::CopyRoute;
use super::rows::{self, RowPair};
use super::transfer::cannot_be_captured;
use super::{Axis, Rows, bytes, kernels, on_host, packed_peer, peer};

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
    match CopyRoute::of(to, from) {
        _ if layout.axes.is_empty() => {
            let [dst, src] = begin(addresses, &layout);
            bytes::copy(dst, src, layout.width as usize, non_blocking)
        }
        CopyRoute::Host => on_host::copy(addresses, &layout),
        CopyRoute::Within(device) => {
            if let Some(rows) = as_rows(addresses, &layout, true) {
                return rows::run(runtime, &rows, to, from, non_blocking);
            }
            let stream = stream::current_on(runtime, device)?;
            kernels::launch(runtime, stream.driver_ref(), dst, src, &layout)?;
            after_enqueue(runtime, stream)
        }
        CopyRoute::Between { from: source, to: target, managed, into_managed } => {
            let reached = into_managed || peers::enable_if_possible(runtime, source, target)?;
            if let Some(rows) = as_rows(addresses, &layout, reached).filter(|_| managed || reached)
            {
                return rows::run(runtime, &rows, to, from, non_blocking);
            }
            // Kernels run on the source's device, and managed memory is within its reach.
            if !reached {
                return packed_peer::copy(runtime, addresses, &layout, [target, source]);
            }
            let (from, to) =
                (stream::current_on(runtime, source)?, stream::current_beside(runtime, target)?);
            peer::run(runtime, from, to, managed, |_| {
                kernels::launch(runtime, from.driver_ref(), dst, src, &layout)
            })?;
            after_enqueue(runtime, from)
        }
        route @ (CopyRoute::Pinned(device)
        | CopyRoute::FromOrdinary(device)
        | CopyRoute::ToOrdinary(device)) => {
            let host =
                if matches!(to, MemoryKind::Ordinary | MemoryKind::Pinned) { DST } else { SRC };
            let plan = HostCopyPlan { addresses, sides: [to, from], host, device, route };
            with_host(runtime, &plan, &layout, non_blocking)
        }
    }
}

/// Copies elements between places in host memory. It needs no backend.
pub fn copy_on_host(dst: RawAddress, src: RawAddress, element: usize, axes: &[Axis]) -> Result<()> {
    let Some(layout) = CopyLayout::of(element, axes)? else { return Ok(()) };
    on_host::copy([dst, src], &layout)
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

/// A copy between a device and the host.
struct HostCopyPlan {
    addresses: [RawAddress; 2],
    sides: [MemoryKind; 2],
    /// Which side is the host's.
    host: usize,
    device: DeviceIndex,
    route: CopyRoute,
}

fn with_host(
    runtime: &Runtime,
    plan: &HostCopyPlan,
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
    // In the device's order, which is the better one for its kernels. What the source repeats is copied once.
    let order = layout.arranged(device);
    let distinct = order.distinct(SRC);
    let (packing, unpacking) = (distinct.with_packed(DST), order.with_packed(SRC));
    let temporary = PinnedTemporary::new(distinct.bytes() as usize)?;
    let mut through = plan.addresses;
    through[device] = temporary.address();
    let beyond = |layout: &CopyLayout| {
        let (address, side) = (temporary.address(), MemoryKind::Pinned);
        with_packed_host(runtime, plan, address, side, layout, false)
    };
    if host == DST {
        beyond(&packing)?;
        return on_host::copy(through, &unpacking);
    }
    if plan.sides[host] != MemoryKind::Ordinary {
        // Work that was queued before may still write to memory that devices reach.
        stream::synchronize(runtime, stream)?;
    }
    on_host::copy(through, &packing)?;
    beyond(&unpacking)
}

/// Copies between a device and packed host memory that begins at `address`.
fn with_packed_host(
    runtime: &Runtime,
    plan: &HostCopyPlan,
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
    let bytes = layout.distinct(plan.host).bytes() as usize;
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
