//! The caches of streams, and what the caches of one device share. From the lowest to the highest:
//!
//! | file | idea |
//! |---|---|
//! | `policy` | the settings as a cache applies them |
//! | `remote_frees` | blocks of a cache that other threads have freed |
//! | `identity` | which stream a cache belongs to |
//! | `uses` | the other streams and the processes that use blocks of a cache |
//! | `quarantine` | freed blocks that are kept from being handed out again |
//! | `device` | the state that the caches of a device share, and its locks |
//! | `sleepers` | which pools are asleep |
//! | `limit` | how much of a device's memory may be used |
//! | `cache` | one stream: its heap under a lock |
//! | `owners` | from the number of a block to its cache |
//! | `all_caches` | all caches of a device at once: locking them, and their sums |
//! | `lookup` | from a device and a stream to its cache |
//! | `live_blocks` | from any address in a live block to the block |
//! | `deferred` | freed blocks that other streams use: deferring, polling, and waiting |
//! | `block_uses` | noting that other streams and processes use live blocks |
//! | `launch_uses` | noting that the launches of a graph use all memory of a pool |

pub(super) mod all_caches;
pub(super) mod block_uses;
pub(super) mod cache;
pub(super) mod deferred;
pub(super) mod device;
pub(super) mod identity;
pub(super) mod launch_uses;
pub(super) mod limit;
pub(super) mod live_blocks;
pub(super) mod lookup;
pub(super) mod owners;
pub(super) mod policy;
pub(super) mod quarantine;
pub(super) mod remote_frees;
pub(super) mod sleepers;
pub(super) mod uses;
