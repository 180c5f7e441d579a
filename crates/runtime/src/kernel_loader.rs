//! Loading of this library's own kernels: an image is loaded on a device when the first kernel of
//! it is needed.
//!
//! Loading and finding kernels may allocate memory of the device and wait for it. CUDA refuses that
//! to a thread while a stream capture holds it back, and spoils the capture. The first use of a
//! kernel may be inside of a capture, so both run in the relaxed capture mode. The code that is
//! loaded belongs to no capture.

use sconce_base::error::Result;
use sconce_base::lock::{OnceCell, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{KernelHandle, KernelImage, ModuleHandle, RelaxedCapture};

use crate::context::Runtime;
use crate::lazy_handle::LazyHandle;

/// `COUNT` kernels of one image on one device. Each is found at its first use and kept for ever.
pub struct LoadedKernels<const COUNT: usize> {
    module: OnceCell<rank::KernelModule, ModuleHandle>,
    found: [LazyHandle<KernelHandle>; COUNT],
}

// Statics are not part of any model.
#[cfg(not(loom))]
impl<const COUNT: usize> LoadedKernels<COUNT> {
    pub const fn new() -> Self {
        LoadedKernels { module: OnceCell::new(), found: [const { LazyHandle::new() }; COUNT] }
    }
}

impl<const COUNT: usize> LoadedKernels<COUNT> {
    /// The kernel that the caller keeps at `index`, whose name in the image `name` returns.
    #[inline]
    pub fn get<Name: AsRef<str>>(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
        image: &KernelImage,
        index: usize,
        name: impl FnOnce() -> Name,
    ) -> Result<KernelHandle> {
        self.found[index].get_or_make(|| {
            let driver = runtime.driver();
            let _relaxed = RelaxedCapture::enter(driver)?;
            let module = *self.module.get_or_try_init(|| driver.module_load(device, image))?;
            driver.kernel_find(device, module, name().as_ref())
        })
    }
}
