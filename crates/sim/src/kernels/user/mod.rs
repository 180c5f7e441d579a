//! Kernels of the program: functions of the host, registered under the names of the kernels that they stand for.
//!
//! | file | idea |
//! |---|---|
//! | `registry` | the registered functions |
//! | `launch` | a launch as its function sees it |
//! | `work` | a queued launch |
//! | `occupancy` | how many blocks a simulated multiprocessor runs |

mod launch;
mod occupancy;
mod registry;
mod work;

pub use launch::SimLaunch;
pub(crate) use occupancy::{BLOCKS, attributes, best_block, occupancy};
pub(crate) use registry::find;
pub use registry::{SimKernel, check_kernel, register_kernel, unregister_kernel};
pub(crate) use work::{UserWork, check};
