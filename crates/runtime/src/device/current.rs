//! The current device of each thread.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::follow::{current_of_thread, note_switch};
use super::index::checked;
use crate::context::{Runtime, runtime, runtime_if_any, without_device};

/// The calling thread's device.
#[inline]
pub fn current() -> Result<DeviceIndex> {
    current_of_thread(runtime()?)
}

/// Makes a device current. A negative index changes nothing, and needs no device.
pub fn set_current(index: i32) -> Result<()> {
    if index < 0 {
        return runtime_if_any().map(drop);
    }
    let runtime = runtime()?;
    switch(runtime, checked(runtime, index)?)
}

/// Makes a device current (-1: none) and returns the one that was current before; `None` if -1 is passed and there is
/// no device.
#[inline]
pub fn exchange(index: i32) -> Result<Option<DeviceIndex>> {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(failure) if index == -1 => return without_device(failure).map(|()| None),
        Err(failure) => return Err(failure),
    };
    let previous = current_of_thread(runtime)?;
    if index != previous.as_i32() && index != -1 {
        switch_from(runtime, previous, checked(runtime, index)?)?;
    }
    Ok(Some(previous))
}

/// Makes a device current on this thread, for the library and for the driver.
#[inline]
pub fn switch(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    switch_from(runtime, current_of_thread(runtime)?, device)
}

/// [`switch`] from the device that is known to be current.
#[inline]
pub fn switch_from(runtime: &Runtime, current: DeviceIndex, device: DeviceIndex) -> Result<()> {
    if device == current { Ok(()) } else { bind(runtime, device) }
}

/// Makes the context of the device, if that is the thread's current one and has none, and makes it current on the
/// thread.
pub fn make_context_if_current(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    if device != current_of_thread(runtime)? || runtime.driver().context_is_active(device)? {
        return Ok(());
    }
    runtime.driver().bind_device(device)?;
    note_switch(runtime, device)
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
