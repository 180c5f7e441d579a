//! Modules and kernel launches.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `module_load`, `module_unload` | no capture holds the thread back: neither one of its own that is not relaxed, nor, while the thread's mode is global, any in global mode; unload: none of the kernels is queued | the image's kernels can be found; a refusal (900) spoils those captures. CUDA allows some loads all the same | while the image is compiled; may wait for the device |
//! | `kernel_find` | module live | a kernel of the module, which lives as long as the module | no |
//! | `kernel_launch` | arguments match the kernel | ordered on the stream | no |
//! | `kernel_launch_wide` | the kernel has one parameter, a structure of as many slots, at most 512 | ordered on the stream; the slots are copied | no |
//!
//! By default every method is `NotSupported`.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::{KernelHandle, ModuleHandle, StreamRef, lacks};
use crate::{KernelArguments, KernelImage, LaunchShape};

/// The modules and kernels of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Kernels: Send + Sync {
    /// Makes the kernels of an image available on a device.
    fn module_load(&self, device: DeviceIndex, image: &KernelImage) -> Result<ModuleHandle> {
        lacks("module_load", "kernels")
    }
    /// Drops a module.
    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        lacks("module_unload", "kernels")
    }
    /// Finds a kernel of a module by name.
    fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        lacks("kernel_find", "kernels")
    }
    /// Launches a kernel.
    fn kernel_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        lacks("kernel_launch", "kernels")
    }
    /// Launches a kernel of the library whose one parameter is a structure with more slots than [`KernelArguments`]
    /// have.
    fn kernel_launch_wide(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        structure: &[u64],
        stream: StreamRef,
    ) -> Result<()> {
        lacks("kernel_launch_wide", "kernels")
    }
}
