//! The current device of each thread.

use super::index::checked;
use crate::context::{Runtime, runtime};
use crate::error::Result;
use crate::thread_state;
use crate::types::DeviceIndex;

/// The calling thread's device.
#[inline]
pub fn current() -> Result<DeviceIndex> {
    runtime()?;
    Ok(thread_state::device())
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
