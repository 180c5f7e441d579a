//! One stream's memory: segments cut into blocks. Nothing here locks or calls a driver.
//!
//! | file | idea |
//! |---|---|
//! | `block`, `segment` | the records of blocks and segments |
//! | `bins` | best fit: a bitmap over sizes, an ordered tree in each bin |
//! | `request` | what is asked of a heap, and what it hands out |
//! | `last_block` | the block that was handed out last, freed and handed out again as it is |
//! | `heap_records` | blocks cut and merged |
//! | `stream_heap` | blocks handed out and taken back |
//! | `pools` | the pools that have memory of the stream |
//! | `idle_segment` | segments without live blocks, on their way into a heap or out of it |
//! | `runs` | segments of pages, which grow and shrink |
//! | `asleep` | runs of a pool that is asleep |
//! | `used_again` | free blocks that streams begin to use |

pub(super) mod asleep;
pub(super) mod bins;
pub(super) mod block;
pub(super) mod heap_records;
pub(super) mod idle_segment;
pub(super) mod last_block;
pub(super) mod pools;
pub(super) mod request;
pub(super) mod runs;
pub(super) mod segment;
pub(super) mod stream_heap;
pub(super) mod used_again;
