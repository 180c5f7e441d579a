//! Pinned segments cut into blocks. Nothing here locks or calls a driver.
//!
//! | file | idea |
//! |---|---|
//! | `rounding` | what a request becomes, and how large a new segment is |
//! | `block` | the record of a block |
//! | `address_table` | from the address at which a block begins to the block |
//! | `starts` | where the blocks of a segment begin: from any address to the beginning of its block |
//! | `segments` | memory that is pinned in one piece |
//! | `bins` | free blocks by size |
//! | `shelf` | blocks freed last, kept whole for requests of the same size |
//! | `last_block` | the block that was handed out last, freed and handed out again as it is |
//! | `figures` | torch's `host_memory_stats` |
//! | `pinned_heap` | cutting, merging, handing out and taking back |
//! | `supply` | segments that come and go |

pub(super) mod address_table;
pub(super) mod bins;
pub(super) mod block;
pub(super) mod figures;
pub(super) mod last_block;
pub(super) mod pinned_heap;
pub(super) mod rounding;
pub(super) mod segments;
pub(super) mod shelf;
pub(super) mod starts;
pub(super) mod supply;
