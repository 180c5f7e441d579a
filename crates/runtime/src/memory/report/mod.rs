//! Figures and snapshots as text. Functions of plain data: nothing here asks the allocator.
//!
//! | file | idea |
//! |---|---|
//! | `sink`, `tree` | how a form spells maps, lists and numbers; the keys of a snapshot and their order |
//! | `snapshot_json`, `pickle` | a snapshot in each of the two forms for programs |
//! | `page` | a snapshot as a page for a browser |
//! | `stats_json`, `summary` | the figures as JSON, and as a table for people |
//! | `save` | files that appear whole or not at all |
//! | `golden` | for tests: what PyTorch recorded |

#[cfg(test)]
mod golden;
mod page;
mod pickle;
mod save;
mod sink;
mod snapshot_json;
mod stats_json;
mod summary;
mod tree;

pub(crate) use page::snapshot_page;
pub(crate) use pickle::snapshot_pickle;
pub use save::save_snapshot;
pub use snapshot_json::snapshot_json;
pub use stats_json::stats_json;
pub use summary::summary;
