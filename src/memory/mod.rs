//! Device memory: the caching allocator.
//!
//! Memory is got from the driver in segments, cut into blocks, and blocks that are freed are kept
//! for later requests on the same stream. `docs/design/memory.md` tells how it stays exact and fast.

mod facade;
pub mod figures;
#[allow(dead_code, reason = "only the core records")]
mod history;
pub mod observers;
pub mod pool;
pub mod report;
pub mod settings;
pub mod size_class;
pub mod snapshot;

pub use facade::*;
pub use figures::{MemoryStats, PoolStats, Stat};
pub use history::record_history;
pub use observers::{attach_observer, detach_observer};
pub use settings::configure;
pub use snapshot::Snapshot;
