//! Primary contexts, and the context that is current on a thread.
//!
//! | method | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | `context_is_active` | – | no context appears | no | any |
//! | `bind_device` | – | the device's primary context exists and is current on this thread | while the context is made | binds the calling thread only |
//! | `unbind_device` | – | no context is current on this thread | no | calling thread only |
//! | `current_context` | – | a number of the context that is current on this thread, 0 if none is; two contexts that exist have different numbers | no | any |
//! | `current_device` | – | the device of that context; `None` if there is none, or its device is not one of the driver's | no | any |
//!
//! The defaults are for a driver without contexts: every device always has one, and each thread keeps which device is
//! current.

use std::cell::Cell;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

thread_local! {
    /// The device that is current on a thread, for a driver without contexts.
    static CURRENT: Cell<Option<DeviceIndex>> = const { Cell::new(None) };
}

/// The primary contexts of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Contexts: Send + Sync {
    /// Whether the device's primary context exists; any code of the process may have made it.
    fn context_is_active(&self, device: DeviceIndex) -> Result<bool> {
        Ok(true)
    }
    /// Makes the device's primary context, if it does not exist, and makes it current on this thread.
    fn bind_device(&self, device: DeviceIndex) -> Result<()> {
        CURRENT.set(Some(device));
        Ok(())
    }
    /// Leaves no context current on this thread.
    fn unbind_device(&self) -> Result<()> {
        CURRENT.set(None);
        Ok(())
    }
    /// A number of the context that is current on this thread, whichever code made it current; 0 if
    /// none is.
    fn current_context(&self) -> Result<usize> {
        Ok(CURRENT.get().map_or(0, |device| device.as_usize() + 1))
    }
    /// The device of that context.
    fn current_device(&self) -> Result<Option<DeviceIndex>> {
        Ok(CURRENT.get())
    }
}
