//! Where device memory comes from. All allocations and frees that the allocator asks of the driver are
//! here.
//!
//! | file | idea |
//! |---|---|
//! | `plain` | one allocation of the driver for each segment |
//! | `pages/` | physical pages and reserved addresses, joined as needed |
//! | `pool_policy` | pools whose memory is made in another way than the settings say |
//! | `uncached` | the mode without caching: allocations that callers hold, by address |

pub(super) mod pages;
pub(super) mod plain;
pub(super) mod pool_policy;
pub(super) mod uncached;
