//! The current stream of each thread and device.

use sconce_base::error::{Error, Result, Status};
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;

use super::value::Stream;
use crate::context::{Runtime, runtime};
use crate::device;

/// The id and device of the calling thread's stream on a device (-1: the current one).
#[inline]
pub fn current(index: i32) -> Result<(i64, DeviceIndex)> {
    let runtime = runtime()?;
    // Not `device::resolve`: a result that both ways share takes 15 more instructions.
    if index == -1 {
        let device = device::current_of_thread(runtime)?;
        return Ok((thread_state::stream_id(device), device));
    }
    let device = device::checked(runtime, index)?;
    Ok((thread_state::stream_id(device), device))
}

/// The stream for work on a device: the one that the running call names, else the calling thread's stream there.
/// Fails if the call names a stream of another device.
#[inline]
pub fn current_on(runtime: &Runtime, device: DeviceIndex) -> Result<Stream> {
    match thread_state::stream_for_work(device) {
        Some(id) => Stream::from_parts(runtime, id, device.as_i32()),
        None => Err(of_another_device(device)),
    }
}

/// The stream for work on the current device, as [`current_on`] has it.
#[inline]
pub(crate) fn current_here(runtime: &Runtime) -> Result<Stream> {
    let (device, id) = thread_state::here_for_work();
    match id {
        Some(id) => Stream::from_parts(runtime, id, device.as_i32()),
        None => Err(of_another_device(device)),
    }
}

#[cold]
#[inline(never)]
fn of_another_device(device: DeviceIndex) -> Error {
    let named = thread_state::named_device().unwrap_or(device);
    Error::new(
        Status::CrossDevice,
        format!(
            "stream is of device {named}, but the memory of this call belongs to device {device}; pass a \
             stream of device {device}"
        ),
    )
}

/// The calling thread's stream on a device, also beside a stream of another device that the call names.
pub fn current_beside(runtime: &Runtime, device: DeviceIndex) -> Result<Stream> {
    Stream::from_parts(runtime, thread_state::stream_id(device), device.as_i32())
}

/// Makes a stream the current one of its device. The current device stays, as with c10's setter.
#[inline]
pub fn set_current(stream: Stream) {
    thread_state::exchange_stream_id(stream.device(), stream.id());
}

/// Makes a stream the current one of its device, and that device the current one.
///
/// Returns the id that was current on the stream's device, and the device that was current.
#[inline]
pub fn exchange(runtime: &Runtime, stream: Stream) -> Result<(i64, DeviceIndex)> {
    let previous_device = device::current_of_thread(runtime)?;
    device::switch_from(runtime, previous_device, stream.device())?;
    let previous_id = thread_state::exchange_stream_id(stream.device(), stream.id());
    Ok((previous_id, previous_device))
}

/// Undoes [`exchange`]: makes a stream current on its device, and then a device current.
#[inline]
pub fn restore(runtime: &Runtime, stream: Stream, previous_device: DeviceIndex) -> Result<()> {
    thread_state::exchange_stream_id(stream.device(), stream.id());
    device::switch(runtime, previous_device)
}

/// Calls `action` while a stream is current on its device and that device is current.
pub fn run(runtime: &Runtime, stream: Stream, action: impl FnOnce()) -> Result<()> {
    let (id, device) = exchange(runtime, stream)?;
    action();
    restore(runtime, Stream::from_parts(runtime, id, stream.device().as_i32())?, device)
}
