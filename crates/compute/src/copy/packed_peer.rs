//! Strided copies between devices that cannot use each other's memory.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::{EventFlags, RawAddress};
use sconce_runtime::context::Runtime;
use sconce_runtime::event::NativeEvent;
use sconce_runtime::memory::Temporary;
use sconce_runtime::stream::{self, after_enqueue};

use super::layout::{CopyLayout, DST, SRC};
use super::{kernels, peer};

/// Queues the copy: packed on the source's device, copied, unpacked on the destination's. `devices` are the
/// destination's and the source's.
pub(super) fn copy(
    runtime: &Runtime,
    [dst, src]: [RawAddress; 2],
    layout: &CopyLayout,
    devices: [DeviceIndex; 2],
) -> Result<()> {
    let to = stream::current_beside(runtime, devices[DST])?;
    let from = stream::current_on(runtime, devices[SRC])?;
    peer::refuse_half_a_capture(runtime, from, to)?;
    let driver = runtime.driver();
    let unpacked = NativeEvent::obtain(runtime, devices[DST], EventFlags::default())?;
    // What the source repeats is copied once.
    let distinct = layout.distinct(SRC);
    let bytes = distinct.bytes() as usize;
    let (here, there) = (Temporary::new(bytes, from)?, Temporary::new(bytes, to)?);
    peer::run(runtime, from, to, false, |_| {
        let packing = distinct.with_packed(DST);
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
