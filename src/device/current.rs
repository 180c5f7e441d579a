//! The current device of each thread.

use super::follow::{current_of_thread, note_switch};
use super::index::checked;
use crate::context::{Runtime, runtime};
use crate::error::Result;
use crate::types::DeviceIndex;

/// The calling thread's device.
#[inline]
pub fn current() -> Result<DeviceIndex> {
    current_of_thread(runtime()?)
}

/// Makes a device current. A negative index changes nothing.
pub fn set_current(index: i32) -> Result<()> {
    let runtime = runtime()?;
    if index < 0 {
        return Ok(());
    }
    switch(runtime, checked(runtime, index)?)
}

/// Makes a device current (-1: none) and returns the one that was current before.
#[inline]
pub fn exchange(index: i32) -> Result<DeviceIndex> {
    let runtime = runtime()?;
    let previous = current_of_thread(runtime)?;
    if index != previous.as_i32() && index != -1 {
        switch_from(runtime, previous, checked(runtime, index)?)?;
    }
    Ok(previous)
}

/// Makes a device current on this thread, for the library and for the driver.
#[inline]
pub(crate) fn switch(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    switch_from(runtime, current_of_thread(runtime)?, device)
}

/// [`switch`] from the device that is known to be current.
#[inline]
pub(crate) fn switch_from(
    runtime: &Runtime,
    current: DeviceIndex,
    device: DeviceIndex,
) -> Result<()> {
    if device == current { Ok(()) } else { bind(runtime, device) }
}

fn bind(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    let driver = runtime.driver();
    if device == DeviceIndex::ZERO && !driver.context_is_active(device)? {
        driver.unbind_device()?;
    } else {
        driver.bind_device(device)?;
    }
    note_switch(runtime, device)
}
