//! The current stream of each thread and device.

use super::value::Stream;
use crate::context::{Runtime, runtime};
use crate::device;
use crate::error::Result;
use crate::thread_state;
use crate::types::DeviceIndex;

/// The id and device of the calling thread's stream on a device (-1: the current one).
#[inline]
pub fn current(index: i32) -> Result<(i64, DeviceIndex)> {
    let runtime = runtime()?;
    if index == -1 {
        let (device, id) = thread_state::device_and_stream_id();
        return Ok((id, device));
    }
    let device = device::checked(runtime, index)?;
    Ok((thread_state::stream_id(device), device))
}

/// The calling thread's stream on a device.
pub(crate) fn current_on(runtime: &Runtime, device: DeviceIndex) -> Result<Stream> {
    Stream::from_parts(runtime, thread_state::stream_id(device), device.as_i32())
}

/// Makes a stream the current one of its device. The current device stays, as with c10's setter.
pub fn set_current(stream: Stream) {
    thread_state::exchange_stream_id(stream.device(), stream.id());
}

/// Makes a stream the current one of its device, and that device the current one.
///
/// Returns the id that was current on the stream's device, and the device that was current.
#[inline]
pub fn exchange(stream: Stream) -> Result<(i64, DeviceIndex)> {
    let previous_device = thread_state::device();
    if previous_device != stream.device() {
        device::switch(runtime()?, stream.device())?;
    }
    let (_, previous_id) = thread_state::exchange_stream_id(stream.device(), stream.id());
    Ok((previous_id, previous_device))
}

/// Undoes [`exchange`]: makes a stream current on its device, and then a device current.
#[inline]
pub fn restore(stream: Stream, previous_device: DeviceIndex) -> Result<()> {
    let (current, _) = thread_state::exchange_stream_id(stream.device(), stream.id());
    if current != previous_device {
        device::switch(runtime()?, previous_device)?;
    }
    Ok(())
}
