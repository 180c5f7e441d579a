//! Pinned segments cut into blocks. Nothing here locks or calls a driver.
//!
//! | file | idea |
//! |---|---|
//! | `rounding` | what a request becomes, and how large a new segment is |
//! | `block` | the record of a block |
//! | `index` | from any address in a block to the block |
//! | `shelf` | blocks freed last, kept whole for requests of the same size |
//! | `last_block` | the block that was handed out last, freed and handed out again as it is |
//! | `figures` | torch's `host_memory_stats` |
//! | `pinned_heap` | cutting, merging, handing out and taking back |

pub(super) mod block;
pub(super) mod figures;
pub(super) mod index;
pub(super) mod last_block;
pub(super) mod pinned_heap;
pub(super) mod rounding;
pub(super) mod shelf;
