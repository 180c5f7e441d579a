//! Sconce's runtime over a driver of one file: `driver` is that file, and this one makes it the backend of the process.
//!
//! The program links `sconce-base`, `sconce-driver` and `sconce-runtime` alone: no simulator, no CUDA, no tensors.

mod driver;

use std::sync::LazyLock;

use sconce_runtime::context::{Backend, Backends, Opened, set_backends};

pub use driver::{DEVICE_BYTES, OwnDriver};

static DRIVER: LazyLock<OwnDriver> = LazyLock::new(OwnDriver::default);

/// Makes the driver the backend of the process, before the first call that needs one.
pub fn install() -> &'static OwnDriver {
    let open = |_: &_| Ok(Opened { backend: Backend::Own, driver: &*DRIVER });
    set_backends(Backends { open, count: |_| Some(1) });
    &DRIVER
}

impl OwnDriver {
    /// Keeps work in its queues until a call waits for it, as on a busy device; or runs it at once, as in the beginning.
    pub fn hold(&self, is_held: bool) {
        let mut device = self.device();
        device.is_held = is_held;
        if !is_held {
            device.run();
        }
    }

    /// How many allocations of the device there are, and their bytes.
    pub fn memory_in_use(&self) -> (usize, usize) {
        let device = self.device();
        (device.memory.len(), device.bytes())
    }
}
