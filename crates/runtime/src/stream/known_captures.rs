//! How many captures are known, and what follows for calls that say nothing of captures.

use sconce_base::announcements::Announcement;
use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::sync::{AtomicU32, Ordering, shared_static};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Driver, RelaxedCapture, StreamRef};

use crate::context::Runtime;

shared_static! {
    /// The number of captures of this library and of known captures of foreign streams, by device.
    static CAPTURES: PerDevice<AtomicU32> = sconce_base::collections::per_device::per_device!(AtomicU32::new(0));
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
    let is_known = has_own() || has_known(stream.device);
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

/// Whether a capture is known that uses a device.
pub(super) fn has_known(device: DeviceIndex) -> bool {
    CAPTURES[device].load(Ordering::Relaxed) != 0
}

/// Whether this library captures anything.
pub(super) fn has_own() -> bool {
    OWN.load(Ordering::Relaxed) != 0
}
