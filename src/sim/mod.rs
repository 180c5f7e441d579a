//! The C API. The simulator, for tests. See `docs/design/simulator.md`.
//!
//! | file | idea |
//! |---|---|
//! | `controls` | the simulator's controls, by the names that C callers use |
//! | `control` | time, latencies, faults, counts of driver calls |
//! | `capture` | captures as other code would begin them |
//! | `comm` | faults of communicators |
//! | `external` | streams and events of other code |
//! | `memory` | memory of simulated devices |
//! | `kernel` | functions that stand for kernels |

mod capture;
mod comm;
mod control;
pub mod controls;
mod external;
mod kernel;
mod memory;

pub use capture::*;
pub use comm::*;
pub use control::*;
pub use external::*;
pub use kernel::*;
pub use memory::*;
