//! What memory a model takes.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use super::loaded::Model;
use crate::error::Result;
use crate::sconce::{api, check};

/// Figures of a model, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Constants: those of the library, and those that the package or the program passed, of both sets.
    pub constants: u64,
    /// How many graphs there are.
    pub graphs: u64,
    /// The graphs' own inputs.
    pub graph_inputs: u64,
    /// What the graphs' pools took from the driver.
    pub graph_pools: u64,
    /// The most that tensors had at the same time that a run made.
    pub run: u64,
}

impl Model {
    /// What memory the model takes now.
    pub fn memory(&self) -> Result<Memory> {
        let (graph_inputs, pools) = self.graph_memory()?;
        Ok(Memory {
            constants: self.own_constant_bytes() + self.kept_constant_bytes(),
            graphs: pools.len() as u64,
            graph_inputs,
            graph_pools: pool_bytes(&pools)?,
            run: self.run_bytes.load(Ordering::Relaxed),
        })
    }

    /// Constants of the library itself, which stay when others replace them, and those that it computes.
    fn own_constant_bytes(&self) -> u64 {
        let has = self.has_constants && self.constants.lock().has_library();
        let own = self.description.constants.iter().filter(|constant| has || constant.folded);
        own.map(|constant| constant.bytes as u64).sum()
    }

    fn kept_constant_bytes(&self) -> u64 {
        let sets = self.constants.lock();
        let kept = sets.active.kept.keys().chain(sets.inactive.kept.keys());
        kept.map(|index| self.description.constants[*index].bytes as u64).sum()
    }
}

/// A snapshot of the allocator, destroyed at its end.
struct Snapshot(*mut api::sconce_memory_snapshot);

impl Drop for Snapshot {
    fn drop(&mut self) {
        let _ = api::sconce_memory_snapshot_destroy(self.0);
    }
}

/// What private pools took from the driver, by their numbers.
fn pool_bytes(pools: &BTreeSet<u64>) -> Result<u64> {
    if pools.is_empty() {
        return Ok(0);
    }
    let mut snapshot = Snapshot(std::ptr::null_mut());
    check(api::sconce_memory_snapshot_create(&mut snapshot.0))?;
    let (mut first, mut count) = (std::ptr::null(), 0);
    check(api::sconce_memory_snapshot_get_segments(snapshot.0, &mut first, &mut count))?;
    if first.is_null() {
        return Ok(0);
    }
    // SAFETY: the snapshot has so many segments, as long as it lives.
    let segments = unsafe { std::slice::from_raw_parts(first, count) };
    let of_pools = segments.iter().filter(|segment| pools.contains(&segment.pool_id[1]));
    Ok(of_pools.map(|segment| segment.total_bytes).sum())
}
