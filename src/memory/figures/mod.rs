//! The figures of a device: each stream's own, and exact peaks of their sums.
//!
//! | file | idea |
//! |---|---|
//! | `stats` | the figures as callers read them |
//! | `account` | one stream's figures, kept as what each may still rise |
//! | `credit` | what the device has granted to the accounts of its streams |
//! | `settle` | room for an account that has run out of it |
//! | `ledger` | the device's own figures, its limit, and the sums over its streams |

pub(super) mod account;
pub(super) mod credit;
pub(super) mod ledger;
pub(super) mod settle;
mod stats;

pub use stats::{MemoryStats, PoolStats, Stat};
