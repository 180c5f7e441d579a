//! The check of the device (`SCONCE_CHECK_DEVICE`): the current device follows the driver's, because other code of a
//! thread may call `cudaSetDevice`.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::error::Result;
use sconce_base::log;
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;

use crate::context::Runtime;

/// The calling thread's device. If other code made another context current since the library last looked, that
/// context's device becomes the thread's device first.
#[inline]
pub fn current_of_thread(runtime: &Runtime) -> Result<DeviceIndex> {
    if runtime.checks_device() { check(runtime) } else { Ok(thread_state::device()) }
}

/// Out of line, so that calls without the check keep no registers for it.
#[inline(never)]
fn check(runtime: &Runtime) -> Result<DeviceIndex> {
    let context = runtime.driver().current_context()?;
    match thread_state::device_of_context(context) {
        Some(device) => Ok(device),
        None => follow(runtime, context),
    }
}

/// Takes over the device of a context that other code made current. Without a context it is device 0, which the
/// CUDA runtime uses then.
#[cold]
#[inline(never)]
fn follow(runtime: &Runtime, context: usize) -> Result<DeviceIndex> {
    if let Some(device) = thread_state::named_device() {
        return Ok(device);
    }
    let before = thread_state::device();
    let found = match context {
        0 => Some(DeviceIndex::ZERO),
        _ => runtime.driver().current_device()?,
    };
    // A device that the library does not have, as the 65th, cannot be followed.
    let device = found.filter(|found| found.as_i32() < runtime.device_count()).unwrap_or(before);
    thread_state::set_device(device, context);
    if device != before {
        warn_once(before, device);
    }
    Ok(device)
}

/// Notes that the library itself made a device current on this thread.
pub(super) fn note_switch(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    let context = if runtime.checks_device() { runtime.driver().current_context()? } else { 0 };
    thread_state::set_device(device, context);
    Ok(())
}

fn warn_once(before: DeviceIndex, device: DeviceIndex) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        log::warn(format_args!(
            "other code made device {device} current on a thread whose device was {before} \
             (cudaSetDevice, cuCtxSetCurrent or a pushed context); the thread's device is \
             {device} from now on. Release builds do not notice this unless \
             SCONCE_CHECK_DEVICE=1 is set. Put a guard around such code to keep device {before}. \
             This is reported once; SCONCE_CHECK_DEVICE=0 turns the check off"
        ));
    }
}
