//! Devices: the current one of each thread, and their properties. See `docs/design/device.md`.
//!
//! Each thread has a current device of its own, which the library keeps. Making another device current also
//! makes its primary context current with the driver, so that CUDA runtime calls and kernels of the same
//! thread use the same device. Every other call leaves the thread's context as it was. Switching creates a
//! context only on the device that is switched to, and none on device 0: without a context the CUDA runtime
//! uses device 0.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `follow` | the thread's device when other code made another context current |
//! | `index` | the number of devices, and the check of their indices |
//! | `current` | the current device of each thread |
//! | `parked` | waiting for a device, and the blocks that such a wait frees |
//! | `queries` | properties, free memory, the device of an address; the wait for a device |
//! | `processes` | the processes that use a device |
//! | `peers` | which device can use the memory of which other |
//! | `reach` | which memory work of the current device may use, and where memory ends |

mod current;
mod follow;
mod index;
pub mod parked;
pub mod peers;
mod processes;
mod queries;
pub mod reach;

pub use current::{current, exchange, set_current};
pub use current::{make_context_if_current, switch, switch_from};
pub use follow::current_of_thread;
pub use index::checked;
pub use index::{count, resolve};
pub use peers::{can_access_peer, enable_peer_access};
pub use processes::list_processes;
pub use queries::{has_context, memory_info, of_pointer, properties, synchronize};
