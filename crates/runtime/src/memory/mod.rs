//! Device memory: the caching allocator.
//!
//! Memory is got from the driver in segments, cut into blocks, and blocks that are freed are kept
//! for later requests on the same stream. `docs/design/memory.md` says how it stays exact and fast.
//!
//! Wings and files, from the lowest to the highest:
//!
//! | file | idea |
//! |---|---|
//! | `snapshot`, `history` | what a snapshot and the history consist of; recording the history |
//! | `nvtx_regions` | the blocks, for tools that check memory |
//! | `figures/` | what is counted, and exact peaks of sums |
//! | `addresses/` | from an address to its block |
//! | `heap/` | one stream's memory, cut and merged |
//! | `streams/` | the caches of streams, and what those of one device have in common |
//! | `source/` | where memory comes from |
//! | `miss/` | when no block fits |
//! | `sleep/` | pools whose memory is the driver's for a while |
//! | `pool_holds` | pools whose memory graphs use |
//! | `fixed_pools` | pools whose memory stays, since the program has registered it elsewhere |
//! | `pool_release` | giving the memory of pools back, at once or later |
//! | `pool` | memory kept apart from the default pool |
//! | `shared_pages` | the pages of blocks that other processes use |
//! | `shared_blocks` | blocks that other processes use |
//! | `allocate` | the calls: the fast path, and where the slow one begins |
//! | `temporary` | memory that work of one stream passes through |
//! | `take_snapshot`, `report/` | what can be read |
//! | `check` | the walker |

mod addresses;
mod allocate;
pub mod check;
mod figures;
mod fixed_pools;
mod heap;
pub mod history;
mod miss;
mod nvtx_regions;
pub mod pool;
mod pool_holds;
mod pool_release;
pub mod report;
pub mod shared_blocks;
pub mod shared_pages;
pub mod sleep;
pub mod snapshot;
mod source;
mod streams;
mod take_snapshot;
mod temporary;

pub use crate::caching::{Contention, contention, settings, size_class};
pub use addresses::block_ref::BlockRef;
pub use allocate::{
    alloc, alloc_native, alloc_on, alloc_on_named, base_of, configure, empty_cache, free,
    page_figures, record_stream, reset_accumulated_stats, reset_peak_stats, stats, usable_bytes,
};
pub use allocate::{block_at, empty_cache_of, with_stats};
pub use figures::{MemoryStats, PoolStats, Stat};
pub use history::record_history;
pub use miss::observers::{self, attach_observer, detach_observer};
pub use miss::reclaim;
pub use streams::limit::{get_fraction, set_fraction};

pub use sleep::{SleepMode, SleepState};
pub use snapshot::Snapshot;
pub use source::pages::PageFigures;
pub use streams::device::reserved_as_seen;
pub use take_snapshot::snapshot;
pub use temporary::Temporary;
