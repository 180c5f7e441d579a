//! Device memory: the caching allocator.
//!
//! Memory is got from the driver in segments, cut into blocks, and blocks that are freed are kept
//! for later requests on the same stream. `docs/design/memory.md` tells how it stays exact and fast.
//!
//! | file | idea |
//! |---|---|
//! | `allocate` | allocating and freeing: the short way, and where the long one begins |
//! | `size_class`, `settings/`, `rules` | sizes, and what the configuration makes of them |
//! | `tree`, `bins` | best fit |
//! | `block`, `segment`, `request`, `heap`, `warm`, `whole` | one stream's memory, cut and merged |
//! | `account`, `credit`, `ledger` | figures, and exact peaks of their sums |
//! | `address_map`, `word`, `numbers`, `sighting`, `registry` | from an address to its block |
//! | `cache`, `raw_lock`, `remote`, `pending`, `parked` | one stream's cache, what other threads freed, what waits for events, processes, or streams of the program |
//! | `table`, `device_cache`, `gate`, `limit` | the caches of a device, who moves its segments, how much it may use |
//! | `ladder`, `release`, `garbage`, `reclaim`, `exhausted`, `observers` | when no block fits |
//! | `pool`, `uncached` | private pools; no cache at all |
//! | `lend` | blocks that other processes use |
//! | `temporary` | memory that work of one stream passes through |
//! | `figures`, `snapshot`, `survey`, `history`, `report/` | what can be read |
//! | `check`, `contention` | the walker; how often threads met |

mod account;
mod address_map;
mod allocate;
mod bins;
mod block;
mod cache;
pub mod check;
mod contention;
mod credit;
mod device_cache;
mod exhausted;
pub mod figures;
mod garbage;
mod gate;
mod heap;
pub mod history;
mod ladder;
mod ledger;
pub mod lend;
mod limit;
mod numbers;
pub mod observers;
mod parked;
mod pending;
pub mod pool;
#[allow(unsafe_code, reason = "the lock of the caches")]
mod raw_lock;
pub(crate) mod reclaim;
mod registry;
mod release;
mod remote;
pub mod report;
mod request;
mod rules;
mod segment;
pub mod settings;
mod sighting;
pub mod size_class;
pub mod snapshot;
mod survey;
mod table;
mod temporary;
mod tree;
mod uncached;
mod warm;
mod whole;
mod word;

pub use allocate::{
    alloc, alloc_native, alloc_on, alloc_on_named, base_of, configure, empty_cache, free,
    record_stream, reset_accumulated_stats, reset_peak_stats, stats, usable_bytes,
};
pub(crate) use allocate::{block_at, empty_cache_of};
pub use contention::{Contention, contention};
pub(crate) use device_cache::reserved_as_seen;
pub use figures::{MemoryStats, PoolStats, Stat};
pub use history::record_history;
pub use limit::{get_fraction, set_fraction};
pub use observers::{attach_observer, detach_observer};
pub(crate) use raw_lock::{Guard, Lock};
pub(crate) use sighting::Sighting;
pub use snapshot::Snapshot;
pub use survey::snapshot;
pub(crate) use temporary::Temporary;
