//! Primary contexts, and the context that is current on a thread.
//!
//! | method | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | `context_is_active` | – | no context appears | no | any |
//! | `bind_device` | – | the device's primary context exists and is current on this thread | while the context is made | binds the calling thread only |
//! | `unbind_device` | – | no context is current on this thread | no | calling thread only |
//! | `current_context` | – | a number of the context that is current on this thread, 0 if none is; two contexts that exist have different numbers | no | any |
//! | `current_device` | – | the device of that context; `None` if there is none, or its device is not one of the driver's | no | any |

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

/// The primary contexts of a driver.
pub trait Contexts: Send + Sync {
    /// Whether the device's primary context exists; any code of the process may have made it.
    fn context_is_active(&self, device: DeviceIndex) -> Result<bool>;
    /// Makes the device's primary context, if it does not exist, and makes it current on this thread.
    fn bind_device(&self, device: DeviceIndex) -> Result<()>;
    /// Leaves no context current on this thread.
    fn unbind_device(&self) -> Result<()>;
    /// A number of the context that is current on this thread, whichever code made it current; 0 if
    /// none is.
    fn current_context(&self) -> Result<usize>;
    /// The device of that context.
    fn current_device(&self) -> Result<Option<DeviceIndex>>;
}
