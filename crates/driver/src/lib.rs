//! The contract of a GPU driver: everything that the library needs from one, as one trait with two implementations.
//!
//! `crates/cuda` calls `libcuda`; `crates/sim` is a simulated device. The other crates hold a `&'static dyn Driver` and
//! never learn which one it is. See `docs/design/driver.md`.
//!
//! | file | what |
//! |---|---|
//! | `contract/` | the trait [`Driver`] as the sum of the traits of its subjects, and the data that crosses the seam |
//! | `launch/` | the image, the shape and the arguments of a launched kernel |
//! | `nvidia/` | the status numbers of NVIDIA's driver and libraries, for both backends |
//! | `visible` | the devices that a process sees |

mod contract;
mod launch;
pub mod nvidia;
mod visible;

pub use contract::*;
pub use launch::MOST_WIDE_SLOTS;
pub use launch::{CodeFormat, Dim3, KernelArguments, KernelCode, KernelImage, LaunchShape};
pub use nvidia::not_permitted;
pub use visible::VisibleDevices;

/// Implements traits of optional subjects for a driver that lacks them: all methods are the defaults.
///
/// ```
/// struct Bare;
/// sconce_driver::lacks! { Bare: Graphs, Ipc }
/// ```
#[macro_export]
macro_rules! lacks {
    ($driver:ty: $($subject:ident),+ $(,)?) => {
        $(impl $crate::$subject for $driver {})+
    };
}

/// The traits of all subjects, for code that calls methods of a backend's own type.
pub mod prelude {
    pub use super::contract::{
        Blas as _, Captures as _, Collectives as _, Compiler as _, Contexts as _, Copies as _,
        Devices as _, Dnn as _, Driver as _, Events as _, Fft as _, Graphs as _, HostMemory as _,
        Ipc as _, Kernels as _, Memory as _, Modules as _, Observe as _, Streams as _,
        VirtualMemory as _,
    };
}
