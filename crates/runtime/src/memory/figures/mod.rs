//! The figures of a device: each stream's own, and exact peaks of their sums.
//!
//! | file | idea |
//! |---|---|
//! | `stats` | the figures as callers read them |
//! | `account` | one stream's figures, kept as what each may still rise |
//! | `credit` | what the device has granted to the accounts of its streams |
//! | `ledger` | the device's own figures, its limit, and the sums over its streams |
//! | `ledger_lock` | the lock of a ledger, which counts changes |
//! | `settle` | room for an account that has run out of it |
//! | `last_reading` | the figures of a device as they were read last |

pub(super) mod account;
pub(super) mod credit;
pub(super) mod last_reading;
pub(super) mod ledger;
pub(super) mod ledger_lock;
pub(super) mod settle;
mod stats;

pub use stats::{MemoryStats, PoolStats, Stat};
