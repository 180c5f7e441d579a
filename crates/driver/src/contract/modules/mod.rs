//! Modules and kernels of the program: loaded, examined and launched.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `module_load_code` | as `module_load` | the code's kernels can be found with `kernel_find`; `module_unload` drops the module | while the code is compiled; may wait for the device |
//! | `module_release` | as `module_load`; no stream of the device is captured; no graph has a kernel of the module | all queued work of the device has finished, and the module is dropped | yes |
//! | `kernel_attributes`, `kernel_parameters` | kernel live | nothing changes | no |
//! | `kernel_allow_shared` | kernel live | launches may have so much dynamic shared memory | no |
//! | `kernel_occupancy`, `kernel_best_block` | kernel live | nothing changes | no |
//! | `kernel_launch_values` | kernel live; the values are those that the kernel takes | the values are copied, and the launch is ordered on the stream; if that is asked, the result says whether the stream is being captured | no |
//!
//! By default every method is `NotSupported`, except `kernel_parameters`, which tells nothing.
//!
//! | file | idea |
//! |---|---|
//! | `code` | code of a module, checked for what a driver trusts |
//! | `values` | arguments of a launch that a caller vouches for |

mod code;
mod values;

pub use code::looks_like_path;
pub use code::{ModuleCode, ModuleFormat};
pub use values::KernelValues;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::{KernelHandle, ModuleHandle, StreamRef};
use crate::contract::lacks;
use crate::{Dim3, LaunchShape};

/// How a kernel of the program is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Grid, block and dynamic shared memory.
    pub shape: LaunchShape,
    /// Blocks of a cluster; `None` leaves that to the kernel.
    pub cluster: Option<Dim3>,
    /// All blocks run at the same time and may wait for each other.
    pub cooperative: bool,
}

/// What a device needs for a kernel, and how far a launch may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelAttributes {
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory of a block that the kernel declares, in bytes.
    pub static_shared_bytes: u32,
    /// Local memory of a thread, in bytes.
    pub local_bytes: u32,
    /// Constant memory that the kernel declares, in bytes.
    pub constant_bytes: u32,
    /// Threads that a block may have.
    pub max_threads_per_block: u32,
    /// Dynamic shared memory that a launch may have at present, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Dynamic shared memory that `kernel_allow_shared` can allow, in bytes.
    pub most_dynamic_shared_bytes: u32,
}

/// A block size with which a kernel fills the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestBlock {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks with which the whole device is busy.
    pub min_blocks: u32,
}

/// The program's modules and kernels on a driver's devices.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Modules: Send + Sync {
    /// Makes the kernels of a program's code available on a device.
    fn module_load_code(&self, device: DeviceIndex, code: &ModuleCode) -> Result<ModuleHandle> {
        lacks("module_load_code", "kernels of the program")
    }
    /// Drops a module once no queued work can use it.
    fn module_release(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        lacks("module_release", "kernels of the program")
    }
    /// What the kernel needs.
    fn kernel_attributes(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
    ) -> Result<KernelAttributes> {
        lacks("kernel_attributes", "kernels of the program")
    }
    /// Bytes of each parameter of the kernel; `None` where the driver does not tell.
    fn kernel_parameters(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
    ) -> Result<Option<Vec<usize>>> {
        Ok(None)
    }
    /// Allows launches up to `bytes` of dynamic shared memory.
    fn kernel_allow_shared(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
        bytes: u32,
    ) -> Result<()> {
        lacks("kernel_allow_shared", "kernels of the program")
    }
    /// Blocks of so many threads, with so much dynamic shared memory each, that a multiprocessor runs at
    /// the same time.
    fn kernel_occupancy(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32> {
        lacks("kernel_occupancy", "kernels of the program")
    }
    /// The block size of the greatest occupancy, with `shared_bytes` of dynamic shared memory a block and
    /// at most `most_threads` threads (0: as many as the kernel allows).
    fn kernel_best_block(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
        shared_bytes: u32,
        most_threads: u32,
    ) -> Result<BestBlock> {
        lacks("kernel_best_block", "kernels of the program")
    }
    /// Launches a kernel. With `asks_captured`, returns whether the launch may have become part of a graph: also if the
    /// driver cannot say. Otherwise returns false.
    fn kernel_launch_values(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig,
        values: &KernelValues<'_>,
        stream: StreamRef,
        asks_captured: bool,
    ) -> Result<bool> {
        lacks("kernel_launch_values", "kernels of the program")
    }
}
