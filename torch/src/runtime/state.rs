//! The calling thread's device and newest failure.
//!
//! The device is that of the driver's current context, so this runtime, libsconce.so and others that use primary contexts
//! agree; before there is one, it is the device that the thread set, else 0.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use super::driver::{Code, Context, Driver, driver};

/// Codes that these functions return themselves.
pub(super) mod codes {
    use super::Code;
    /// `cudaSuccess`.
    pub(in crate::runtime) const SUCCESS: Code = 0;
    /// `cudaErrorInvalidValue`.
    pub(in crate::runtime) const INVALID_VALUE: Code = 1;
    /// `cudaErrorInvalidPitchValue`.
    pub(in crate::runtime) const INVALID_PITCH: Code = 12;
    /// `cudaErrorInvalidSymbol`.
    pub(in crate::runtime) const INVALID_SYMBOL: Code = 13;
    /// `cudaErrorInsufficientDriver`: also where there is no driver.
    pub(in crate::runtime) const INSUFFICIENT_DRIVER: Code = 35;
    /// `cudaErrorInvalidDeviceFunction`.
    pub(in crate::runtime) const INVALID_DEVICE_FUNCTION: Code = 98;
    /// `cudaErrorInvalidDevice`.
    pub(in crate::runtime) const INVALID_DEVICE: Code = 101;
}

/// What a function of the runtime comes to.
pub(super) type Outcome = Result<(), Code>;

thread_local! {
    static NEWEST: Cell<Code> = const { Cell::new(codes::SUCCESS) };
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// Primary contexts that were kept, by device. They stay until the process ends, as those of the CUDA runtime do.
static KEPT: Mutex<Vec<(i32, Context)>> = Mutex::new(Vec::new());

/// Runs the body of a function, and stores its failure for the thread.
pub(super) fn stored(body: impl FnOnce() -> Outcome) -> Code {
    match body() {
        Ok(()) => codes::SUCCESS,
        Err(code) => {
            NEWEST.set(code);
            code
        }
    }
}

/// The thread's newest failure.
pub(super) fn newest() -> Code {
    NEWEST.get()
}

/// The thread's newest failure, which is forgotten.
pub(super) fn take_newest() -> Code {
    NEWEST.replace(codes::SUCCESS)
}

/// Turns a code of the driver into an outcome.
pub(super) fn check(code: Code) -> Outcome {
    if code == codes::SUCCESS { Ok(()) } else { Err(code) }
}

/// The driver, started.
pub(super) fn started() -> Result<&'static Driver, Code> {
    let driver = driver().ok_or(codes::INSUFFICIENT_DRIVER)?;
    // The flags have to be 0. A driver that runs already returns at once.
    check((driver.init)(0))?;
    Ok(driver)
}

/// The driver, with a current context on the calling thread.
pub(super) fn ready() -> Result<&'static Driver, Code> {
    let driver = driver().ok_or(codes::INSUFFICIENT_DRIVER)?;
    let mut current = Context::NONE;
    // A driver that was not started says so.
    if (driver.current_context)(&mut current) == codes::SUCCESS && current != Context::NONE {
        return Ok(driver);
    }
    set_device(DEVICE.get())?;
    Ok(driver)
}

/// The device of the calling thread.
pub(super) fn device() -> Result<i32, Code> {
    let driver = driver().ok_or(codes::INSUFFICIENT_DRIVER)?;
    let mut device = 0;
    match (driver.context_device)(&mut device) {
        codes::SUCCESS => Ok(device),
        _ => Ok(DEVICE.get()),
    }
}

/// Makes the primary context of a device current on the calling thread.
pub(super) fn set_device(device: i32) -> Outcome {
    let driver = started()?;
    let mut count = 0;
    check((driver.device_count)(&mut count))?;
    if !(0..count).contains(&device) {
        return Err(codes::INVALID_DEVICE);
    }
    let context = primary_context(driver, device)?;
    check((driver.set_context)(context))?;
    DEVICE.set(device);
    Ok(())
}

fn primary_context(driver: &Driver, device: i32) -> Result<Context, Code> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, context)) = kept.iter().find(|(own, _)| *own == device) {
        return Ok(*context);
    }
    let (mut of_driver, mut context) = (0, Context::NONE);
    check((driver.device)(&mut of_driver, device))?;
    check((driver.primary_context)(&mut context, of_driver))?;
    kept.push((device, context));
    Ok(context)
}
