//! The driver seam: everything that the library needs from a GPU driver, as one trait with two
//! implementations.
//!
//! [`cuda`] calls `libcuda`; [`sim`] is a simulated device. The rooms above (streams, events, memory,
//! …) hold a `&'static dyn Driver` and never learn which one it is.
//!
//! | file | what |
//! |---|---|
//! | `contract/` | the trait [`Driver`] as the sum of the traits of its subjects, and the data that crosses the seam |
//! | `cuda/`, `sim/` | the backends; each implements a trait in the file of its name |
//! | `nvidia/` | the status numbers of NVIDIA's driver and libraries, for both backends |

mod contract;
#[allow(unsafe_code, reason = "calls into libcuda and NVML through function pointers")]
pub mod cuda;
mod nvidia;
pub mod sim;

pub use contract::*;
pub(crate) use contract::{AtomicHandle, WordHandle};
pub(crate) use nvidia::not_permitted;
// What a launch takes is part of the contract.
pub use crate::kernels::{CodeFormat, Dim3, KernelArguments, KernelCode, KernelImage, LaunchShape};

/// The traits of all subjects, for code that calls methods of a backend's own type.
pub mod prelude {
    pub use super::contract::{
        Blas as _, Captures as _, Collectives as _, Compiler as _, Contexts as _, Copies as _,
        Devices as _, Dnn as _, Driver as _, Events as _, Fft as _, Graphs as _, HostMemory as _,
        Ipc as _, Kernels as _, Memory as _, Modules as _, Observe as _, Streams as _,
        VirtualMemory as _,
    };
}
