//! Devices: the current one of each thread, and what each of them is.
//!
//! The current device is Sconce's own and per thread. Making another device current also makes its
//! primary context current with the driver, so that CUDA runtime calls and kernels of the same
//! thread go to the same device. Every other call leaves the thread's context as it found it.
//! Switching never makes a context on any device but the one switched to, and going back to
//! device 0 makes none at all: without a context the CUDA runtime picks device 0 by itself.

pub(crate) mod parked;
pub(crate) mod peers;
mod processes;
pub(crate) mod reach;

pub use peers::{can_access_peer, enable_peer_access};
pub use processes::list_processes;

use crate::context::{Runtime, runtime};
use crate::driver::{DeviceProperties, MemoryInfo, PointerKind};
use crate::error::{Error, Result, Status};
use crate::thread_state;
use crate::types::DeviceIndex;

/// How many devices there are; 0 without a backend.
pub fn count() -> i32 {
    crate::context::probe().map_or(0, Runtime::device_count)
}

/// The device that an index of the C API names; -1 is the current one.
#[inline]
pub fn resolve(runtime: &Runtime, index: i32) -> Result<DeviceIndex> {
    if index == -1 {
        return Ok(thread_state::device());
    }
    checked(runtime, index)
}

/// The device with this index; -1 is not allowed.
#[inline]
pub(crate) fn checked(runtime: &Runtime, index: i32) -> Result<DeviceIndex> {
    // The count is at most `MAX_DEVICES`; as unsigned numbers negative indices are too large.
    if (index as u32) < runtime.device_count() as u32 {
        Ok(DeviceIndex::from_u8(index as u8))
    } else {
        Err(out_of_range(runtime, index))
    }
}

#[cold]
#[inline(never)]
fn out_of_range(runtime: &Runtime, index: i32) -> Error {
    Error::new(
        Status::InvalidDevice,
        format!(
            "device index {index} is out of range [0, {}); -1 means the current device",
            runtime.device_count()
        ),
    )
}

/// The calling thread's device.
#[inline]
pub fn current() -> Result<DeviceIndex> {
    runtime()?;
    Ok(thread_state::device())
}

/// Makes a device current; a negative index changes nothing.
pub fn set_current(index: i32) -> Result<()> {
    let runtime = runtime()?;
    if index < 0 {
        return Ok(());
    }
    switch(runtime, checked(runtime, index)?)
}

/// Makes a device current (-1: keeps it) and gives the one that was.
#[inline]
pub fn exchange(index: i32) -> Result<DeviceIndex> {
    let runtime = runtime()?;
    let previous = thread_state::device();
    if index != previous.as_i32() && index != -1 {
        switch(runtime, checked(runtime, index)?)?;
    }
    Ok(previous)
}

/// Makes a device current on this thread, for the library and for the driver.
pub(crate) fn switch(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    if device == thread_state::device() {
        return Ok(());
    }
    let driver = runtime.driver();
    if device == DeviceIndex::ZERO && !driver.context_is_active(device)? {
        driver.unbind_device()?;
    } else {
        driver.bind_device(device)?;
    }
    thread_state::set_device(device);
    Ok(())
}

/// Whether the device's primary context exists.
pub fn has_context(index: i32) -> Result<bool> {
    let runtime = runtime()?;
    runtime.driver().context_is_active(resolve(runtime, index)?)
}

/// Waits for all work of a device.
pub fn synchronize(index: i32) -> Result<()> {
    let runtime = runtime()?;
    parked::wait(runtime, resolve(runtime, index)?)
}

/// What a device is.
pub fn properties(index: i32) -> Result<DeviceProperties> {
    let runtime = runtime()?;
    runtime.driver().device_properties(resolve(runtime, index)?)
}

/// Free and total memory of a device.
pub fn memory_info(index: i32) -> Result<MemoryInfo> {
    let runtime = runtime()?;
    runtime.driver().memory_info(resolve(runtime, index)?)
}

/// The device that an address belongs to.
pub fn of_pointer(address: usize) -> Result<DeviceIndex> {
    let runtime = runtime()?;
    match runtime.driver().pointer_info(address)?.kind {
        PointerKind::Device(device) => Ok(device),
        kind => Err(Error::invalid_argument(format!(
            "ptr {address:#x} is not device memory ({})",
            match kind {
                PointerKind::PinnedHost => "it is pinned host memory",
                PointerKind::Managed => "it is managed memory, which belongs to no one device",
                _ => "the driver does not know it",
            }
        ))),
    }
}
