//! Pinned host memory: a caching allocator for memory that every device can copy from and to.
//!
//! One heap for the process; `docs/design/host_memory.md` tells how it stays small and fast.
//!
//! | file | idea |
//! |---|---|
//! | `heap/` | segments cut into blocks, found by address and by size |
//! | `pages`, `source` | memory from the system; getting pinned memory, and giving it back |
//! | `cache` | the lock, and what it guards |
//! | `deferred_frees`, `parked` | blocks freed while streams use them |
//! | `drain` | the thread that looks after such blocks, when it is asked for |
//! | `grow` | when nothing fits |
//! | `allocate` | allocating and freeing: the short way, and where the long one begins |
//! | `check` | the walker |

mod allocate;
mod cache;
pub mod check;
mod deferred_frees;
mod drain;
mod grow;
mod heap;
#[allow(unsafe_code, reason = "memory from the system")]
mod pages;
mod parked;
mod source;

pub(crate) use allocate::{Known, look_up, record_use, waiting_bytes};
pub use allocate::{
    alloc, empty_cache, free, is_pinned, record_stream, reset_accumulated_stats, reset_peak_stats,
    stats,
};
pub use heap::figures::{DurationStat, HostMemoryStats, stats_json};
