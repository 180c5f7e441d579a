//! The simulated device: a driver that needs no GPU and behaves like one.
//!
//! Streams run in the background and in order, memory lies at addresses the host cannot read, errors of
//! queued work stick, and a test may decide what completes next, count calls and make things fail
//! ([`Simulator`]'s own methods, in `controls/`). `docs/design/simulator.md` states how and why.
//!
//! A folder or file imports only those above it in this table.
//!
//! | file | idea |
//! |---|---|
//! | `block_reports` | the allocator's reports of its blocks |
//! | `call` | kinds of driver calls, and how often each was made |
//! | `codes` | the driver's error numbers |
//! | `faults` | injected faults |
//! | `handles` | handles of streams and events |
//! | `visible` | the devices of the machine that the process sees |
//! | `host/` | memory of the host process by address; the unsafe code |
//! | `processes/` | what processes share |
//! | `memory/` | physical pages, address space, pinned memory, declared accesses |
//! | `machine/` | queues, the order in which operations run, threads, time |
//! | `work/` | what copies, fills, records, waits and host functions do |
//! | `kernels/` | the library's kernels on the CPU |
//! | `state` | the simulator and its state |
//! | `libraries/` | simulated cuBLAS, cuDNN and cuFFT |
//! | `declared` | the memory that a call would declare, without a simulator |
//! | `calls/` | the driver's calls, a file a subject |
//! | `controls/` | the controls of a test |

mod block_reports;
mod call;
mod calls;
mod codes;
mod controls;
pub mod declared;
mod faults;
mod handles;
mod host;
mod kernels;
mod libraries;
mod machine;
mod memory;
mod processes;
mod state;
mod visible;
mod work;

#[cfg(test)]
mod tests;

pub use block_reports::BlockReport;
pub use call::Call;
pub use calls::contexts::context_of_thread;
pub use kernels::user::{SimKernel, SimLaunch, check_kernel, register_kernel, unregister_kernel};
pub use machine::listener::{OperationListener, QueuedOperation};
pub use memory::{AccessStep, Accesses, Intent, MemoryAccess};
pub use state::{SimOptions, Simulator};

/// What makes handles of this backend.
#[allow(unsafe_code, reason = "the handles are keys of tables")]
// SAFETY: the simulator looks each handle up in its tables, and refuses one that is not there.
const HANDLES: sconce_driver::HandleMaker = unsafe { sconce_driver::HandleMaker::new() };
