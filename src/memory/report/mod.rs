//! Everything that writes figures and snapshots down. Functions of plain data: nothing here asks
//! the allocator.

#[cfg(test)]
mod golden;
mod pickle;
#[cfg(test)]
mod reader;
mod save;
mod sink;
mod snapshot_json;
mod stats_json;
mod summary;
mod tree;

pub use pickle::snapshot_pickle;
pub use save::save_snapshot;
pub use snapshot_json::snapshot_json;
pub use stats_json::stats_json;
pub use summary::summary;
