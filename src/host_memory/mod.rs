//! Pinned host memory: a caching allocator for memory that every device can copy from and to.
//!
//! One heap for the process; `docs/design/host_memory.md` tells how it stays small and fast.
//!
//! | file | idea |
//! |---|---|
//! | `allocate` | allocating and freeing: the short way, and where the long one begins |
//! | `grow` | when nothing fits |
//! | `rounding` | what a request becomes, and how large a new segment is |
//! | `block`, `heap` | segments cut into blocks |
//! | `hot`, `shelf` | the block handed out last; blocks freed last, kept whole |
//! | `index` | from an address to its block |
//! | `cache` | the lock, and what it guards |
//! | `waiting`, `drain` | blocks freed while streams use them; the thread that looks after them |
//! | `parked` | blocks that wait for streams of the program to be named again |
//! | `source`, `pages` | getting pinned memory, and giving it back |
//! | `figures`, `check` | what is counted; the walker |

mod allocate;
mod block;
mod cache;
pub mod check;
mod drain;
mod figures;
mod grow;
mod heap;
mod hot;
mod index;
#[allow(unsafe_code, reason = "memory from the system")]
mod pages;
mod parked;
mod rounding;
mod shelf;
mod source;
mod waiting;

pub(crate) use allocate::{Known, look_up, record_use, waiting_bytes};
pub use allocate::{
    alloc, empty_cache, free, is_pinned, record_stream, reset_accumulated_stats, reset_peak_stats,
    stats,
};
pub use figures::{DurationStat, HostMemoryStats, stats_json};
