//! Pinned host memory: a caching allocator for memory that every device can copy from and to.
//!
//! One heap for the process; `docs/design/host_memory.md` says how it stays small and fast.
//!
//! | file | idea |
//! |---|---|
//! | `heap/` | segments cut into blocks, found by address and by size |
//! | `cache` | the lock of the heap, and what else the process has one of |
//! | `pages`, `source` | memory from the system; getting pinned memory, and giving it back |
//! | `give_back` | giving segments back that have left the heap |
//! | `drain` | the thread that polls events, when it is asked for |
//! | `deferred` | blocks freed while streams use them: polling, and waiting |
//! | `graphs` | memory that graphs copy |
//! | `grow` | when nothing fits |
//! | `allocate` | allocating and freeing: the fast path, and where the slow one begins |
//! | `observed` | reports of blocks to a driver that observes them |
//! | `check` | the walker |

mod allocate;
mod cache;
pub mod check;
mod deferred;
mod drain;
mod give_back;
mod graphs;
mod grow;
mod heap;
mod observed;
#[allow(unsafe_code, reason = "memory from the system")]
mod pages;
mod source;

pub use allocate::{PinnedAddress, look_up, record_use, waiting_bytes};
pub use allocate::{
    alloc, empty_cache, free, is_pinned, record_stream, reset_accumulated_stats, reset_peak_stats,
    stats,
};
pub use graphs::{begin_capture, end_capture, release_capture};
pub use heap::figures::{DurationStat, HostMemoryStats, stats_json};
