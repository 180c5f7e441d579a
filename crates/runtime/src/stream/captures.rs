//! Which streams are being captured, as far as the running call may ask.
//!
//! A foreign stream may have been destroyed, so the driver is only queried for those that the running call
//! names.

use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamHandle, StreamRef};

use super::external::current_foreign;
use super::known_captures::{has_known, has_own};
use super::pool;
use crate::context::Runtime;

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
    has_known(device)
        || usable(device, argument).any(|handle| {
            runtime.driver().stream_is_capturing(StreamRef { device, handle }).unwrap_or(false)
        })
}

/// Whether a stream of a device is in a known capture: the driver is asked only while this library captures.
pub(super) fn is_under_known_capture(runtime: &Runtime, device: DeviceIndex) -> bool {
    has_known(device) || (has_own() && is_under_capture(runtime, device))
}
