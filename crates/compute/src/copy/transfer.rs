//! Performing a copy: queueing it, noting the pinned memory that it uses, and waiting where that is promised.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{RawAddress, StreamRef};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::host_memory;
use sconce_runtime::operand::address_range::{self, MemoryKind};
use sconce_runtime::stream::{self, Stream, after_enqueue};

use super::peer;
use super::route::CopyRoute;

/// What is copied, in whatever shape.
pub(super) trait Transfer {
    /// An address in the destination's allocation.
    fn dst(&self) -> RawAddress;
    /// An address in the source's allocation.
    fn src(&self) -> RawAddress;
    /// Does it on the calling thread: both sides are host memory.
    fn carry_out(&self) -> Result<()>;
    /// Queues it: each side is pinned, or memory that the stream's device can use.
    fn queue(&self, runtime: &Runtime, stream: StreamRef) -> Result<()>;
    /// Queues it from ordinary memory; when it returns, the source may be changed.
    fn queue_from_ordinary(&self, runtime: &Runtime, stream: Stream) -> Result<()>;
    /// Queues it to ordinary memory and waits until all is written.
    fn copy_to_ordinary(&self, runtime: &Runtime, stream: Stream) -> Result<()>;
    /// Queues it between the memories of two devices that cannot use each other's.
    fn queue_between(
        &self,
        runtime: &Runtime,
        to: DeviceIndex,
        from: DeviceIndex,
        stream: StreamRef,
    ) -> Result<()>;
}

/// Copies between two sides.
pub(super) fn run(
    runtime: &Runtime,
    transfer: &dyn Transfer,
    dst: MemoryKind,
    src: MemoryKind,
    non_blocking: bool,
) -> Result<()> {
    let route = CopyRoute::of(dst, src);
    let device = match route {
        CopyRoute::Host => return transfer.carry_out(),
        CopyRoute::Within(device)
        | CopyRoute::Pinned(device)
        | CopyRoute::FromOrdinary(device)
        | CopyRoute::ToOrdinary(device)
        | CopyRoute::Between { from: device, .. } => device,
    };
    let stream = stream::current_on(runtime, device)?;
    if !route.can_be_captured(non_blocking) && stream::is_capturing(runtime, stream)? {
        return Err(cannot_be_captured(device, route));
    }
    // Memory that was not pinned by this library has no block to note a use with.
    let note_use = || {
        if matches!(route, CopyRoute::Pinned(_)) {
            let pinned = if src == MemoryKind::Pinned { transfer.src() } else { transfer.dst() };
            host_memory::record_use(runtime, pinned.get(), stream);
        }
    };
    match route {
        CopyRoute::FromOrdinary(_) => transfer.queue_from_ordinary(runtime, stream)?,
        CopyRoute::ToOrdinary(_) => transfer.copy_to_ordinary(runtime, stream)?,
        CopyRoute::Between { to, managed, .. } => {
            let other = stream::current_beside(runtime, to)?;
            peer::run(runtime, stream, other, managed, |direct| {
                let at = stream.driver_ref();
                if direct {
                    transfer.queue(runtime, at)
                } else {
                    transfer.queue_between(runtime, to, device, at)
                }
            })?;
        }
        // A failed call may have queued part of the copy, so the use is noted either way.
        _ => transfer.queue(runtime, stream.driver_ref()).inspect_err(|_| note_use())?,
    }
    let waited = if route.waits(non_blocking) {
        stream::synchronize(runtime, stream)
    } else {
        after_enqueue(runtime, stream)
    };
    if non_blocking || waited.is_err() {
        note_use();
    }
    waited
}

/// Waits for the work of a device's current stream, if devices can reach the memory at an address. The calling thread
/// then reads it on behalf of a copy that belongs behind that work.
pub fn await_writers(device: DeviceIndex, address: usize) -> Result<()> {
    let runtime = runtime()?;
    if address_range::kind_of(runtime, address, 1, "src")? == MemoryKind::Ordinary {
        return Ok(());
    }
    let stream = stream::current_on(runtime, device)?;
    if stream::is_capturing(runtime, stream)? {
        return Err(cannot_be_captured(device, CopyRoute::Pinned(device)));
    }
    stream::synchronize(runtime, stream)
}

#[cold]
pub(super) fn cannot_be_captured(device: DeviceIndex, route: CopyRoute) -> Error {
    let why = match route {
        CopyRoute::Pinned(_) => "has to wait for it; make it non_blocking",
        _ => "uses ordinary host memory; use pinned memory and make it non_blocking",
    };
    Error::invalid_state(format!(
        "the current stream of device {device} is being captured, but the copy {why}"
    ))
}
