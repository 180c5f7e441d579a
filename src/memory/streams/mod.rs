//! The caches of streams, and what the caches of one device have in common.
//!
//! | file | idea |
//! |---|---|
//! | `policy` | the settings as a cache applies them |
//! | `remote_frees` | blocks of a cache that other threads have freed |
//! | `gate` | the lock that every segment passes on its way from or to the driver |
//! | `device` | one device: its caches, its ledger, and what makes a request take the long way |
//! | `cache` | one stream: its heap under a lock |
//! | `lookup` | from a device and a stream to its cache |
//! | `live_blocks` | from any address in a live block to the block |
//! | `deferred_frees` | blocks that were freed while other streams or processes use them |
//! | `parked` | freed blocks that wait for a stream of the program to be named again |

pub(super) mod cache;
pub(super) mod deferred_frees;
pub(super) mod device;
pub(super) mod gate;
pub(super) mod live_blocks;
pub(super) mod lookup;
pub(super) mod parked;
pub(super) mod policy;
pub(super) mod remote_frees;
