//! The figures of a device: each stream's own, and exact peaks of their sums.
//!
//! | file | idea |
//! |---|---|
//! | `stats` | the figures as callers read them |
//! | `stream_stats` | one stream's figures, kept as what each may still rise |
//! | `peak_quotas` | what the device has granted to its streams |
//! | `device_accounting` | a device's own figures, its limit, the sums over its streams; the lock that counts changes |
//! | `refill` | more quota for a stream that has run out of it |
//! | `last_reading` | the figures of a device as they were read last |

pub(super) mod device_accounting;
pub(super) mod last_reading;
pub(super) mod peak_quotas;
pub(super) mod refill;
mod stats;
pub(super) mod stream_stats;

pub use stats::{MemoryStats, PoolStats, Stat};
