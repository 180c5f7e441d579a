//! Which streams are being captured, as far as the running call may ask.
//!
//! A foreign stream may have been destroyed, so the driver is only queried for those that the running call
//! names.

use sconce_base::announcements::Announcement;
use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::sync::{AtomicU32, Ordering, shared_static};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Driver, RelaxedCapture, StreamHandle, StreamRef};

use super::external::current_foreign;
use super::pool;
use crate::context::Runtime;

shared_static! {
    /// The number of captures of this library and of known captures of foreign streams, by device.
    static CAPTURES: PerDevice<AtomicU32> = sconce_base::collections::per_device::per_device!(AtomicU32::new(0));
}

/// A device with a stream that is being captured, by the rule of [`is_under_capture`].
pub(super) fn device_under_capture(runtime: &Runtime) -> Option<DeviceIndex> {
    runtime.devices().find(|device| is_under_capture(runtime, *device))
}

/// The streams of a device that the running call may pass to the driver, without the default stream: the
/// pooled streams, the calling thread's current stream, and the stream that is an argument of the call.
pub(super) fn usable(
    device: DeviceIndex,
    argument: Option<StreamRef>,
) -> impl Iterator<Item = StreamHandle> {
    let named = [current_foreign(device), argument.filter(|argument| argument.device == device)];
    let named = named.into_iter().flatten().map(|stream| stream.handle);
    pool::pooled(device).chain(named.filter(|handle| *handle != StreamHandle::DEFAULT))
}

/// [`is_under_capture_beside`] for a call without a stream as argument.
pub(crate) fn is_under_capture(runtime: &Runtime, device: DeviceIndex) -> bool {
    is_under_capture_beside(runtime, device, None)
}

/// Whether this library captures a stream of a device, or a pooled stream, the calling thread's current stream or the
/// call's argument is being captured, or a capture of a foreign stream is known. Other captures of other code are not
/// found: the driver refuses to wait for a device then.
pub(crate) fn is_under_capture_beside(
    runtime: &Runtime,
    device: DeviceIndex,
    argument: Option<StreamRef>,
) -> bool {
    CAPTURES[device].load(Ordering::Relaxed) != 0
        || usable(device, argument).any(|handle| {
            runtime.driver().stream_is_capturing(StreamRef { device, handle }).unwrap_or(false)
        })
}

/// Whether a stream of a device is in a known capture: the driver is asked only while this library captures.
pub(super) fn is_under_known_capture(runtime: &Runtime, device: DeviceIndex) -> bool {
    CAPTURES[device].load(Ordering::Relaxed) != 0
        || (OWN.load(Ordering::Relaxed) != 0 && is_under_capture(runtime, device))
}

shared_static! {
    /// The number of captures of this library that are under way.
    static OWN: AtomicU32 = AtomicU32::new(0);
}

shared_static! {
    /// The number of known captures that may forbid calls to threads other than their own.
    static HOLDING_BACK: AtomicU32 = AtomicU32::new(0);
}

/// Counts a capture of this library.
pub(super) fn count_capture(device: DeviceIndex, holds_back: bool) {
    OWN.fetch_add(1, Ordering::Relaxed);
    CAPTURES[device].fetch_add(1, Ordering::Relaxed);
    HOLDING_BACK.fetch_add(u32::from(holds_back), Ordering::Relaxed);
}

/// Undoes [`count_capture`].
pub(super) fn uncount_capture(device: DeviceIndex, holds_back: bool) {
    HOLDING_BACK.fetch_sub(u32::from(holds_back), Ordering::Relaxed);
    CAPTURES[device].fetch_sub(1, Ordering::Relaxed);
    OWN.fetch_sub(1, Ordering::Relaxed);
}

/// Makes a query of the driver that returns at once and has nothing to do with captures, in the relaxed mode if a
/// capture is known that may forbid it. The calling thread has announced what it uses, so no such capture begins before
/// the query is made. Calls that wait enter the relaxed mode in any case; queries are too frequent for that, since it
/// takes two calls of the driver.
#[inline(always)]
pub(crate) fn in_passing<R>(
    runtime: &Runtime,
    _announced: &Announcement,
    query: impl FnOnce(&'static dyn Driver) -> Result<R>,
) -> Result<R> {
    let driver = runtime.driver();
    if HOLDING_BACK.load(Ordering::Relaxed) == 0 {
        return query(driver);
    }
    let _relaxed = RelaxedCapture::enter(driver)?;
    query(driver)
}

/// Whether a stream is in a capture of this library, or in one of a foreign stream that is known. The driver is asked
/// only if there is such a capture: a query takes 15 to 25 ns.
#[inline]
pub fn is_in_known_capture(runtime: &Runtime, stream: StreamRef) -> Result<bool> {
    let is_known =
        OWN.load(Ordering::Relaxed) != 0 || CAPTURES[stream.device].load(Ordering::Relaxed) != 0;
    if is_known { runtime.driver().stream_is_capturing(stream) } else { Ok(false) }
}

/// Notes a capture of a foreign stream.
pub(crate) fn add_capture(device: DeviceIndex) {
    CAPTURES[device].fetch_add(1, Ordering::Relaxed);
    HOLDING_BACK.fetch_add(1, Ordering::Relaxed);
}

/// Notes the end of a capture that [`add_capture`] noted.
pub(crate) fn remove_capture(device: DeviceIndex) {
    HOLDING_BACK.fetch_sub(1, Ordering::Relaxed);
    CAPTURES[device].fetch_sub(1, Ordering::Relaxed);
}
