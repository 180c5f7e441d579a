//! The C API. Device memory. See `docs/design/memory.md`.
//!
//! | file | idea |
//! |---|---|
//! | `alloc` | allocating and freeing |
//! | `pool` | private pools |
//! | `sleep` | pools that sleep and wake |
//! | `settings` | settings, limits, out-of-memory observers |
//! | `figures` | the structs of statistics |
//! | `stats` | statistics |
//! | `page_figures` | what pages are doing |
//! | `layout` | the structs of snapshots |
//! | `snapshot` | snapshots as JSON and pickle, recorded history |
//! | `snapshot_arrays` | snapshots as arrays of structs |
//! | `drop_in` | functions of other frameworks' allocator interfaces |

mod alloc;
mod drop_in;
mod figures;
mod layout;
mod page_figures;
mod pool;
mod settings;
mod sleep;
mod snapshot;
mod snapshot_arrays;
mod stats;

pub use alloc::*;
pub use drop_in::*;
pub use figures::*;
pub use layout::*;
pub use page_figures::*;
pub use pool::*;
pub use settings::*;
pub use sleep::*;
pub use snapshot::*;
pub use snapshot_arrays::*;
pub use stats::*;
