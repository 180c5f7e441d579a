//! The allocator's figures under the keys of torch's `memory_stats()`, so that a difference names
//! what differs.

use std::collections::BTreeMap;

use sconce_runtime::memory::{MemoryStats, PoolStats, Stat};

/// Every figure under torch's key.
pub fn flat(stats: &MemoryStats) -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    let mut add = |name: &str, stat: &Stat| {
        let Stat { current, peak, allocated, freed } = *stat;
        for (field, value) in
            [("current", current), ("peak", peak), ("allocated", allocated), ("freed", freed)]
        {
            all.insert(format!("{name}.{field}"), value);
        }
    };
    // Taken apart without `..`: a new figure does not compile before it is named here.
    let MemoryStats {
        allocation,
        segment,
        active,
        inactive_split,
        allocated_bytes,
        reserved_bytes,
        active_bytes,
        inactive_split_bytes,
        requested_bytes,
        oversize_allocations,
        oversize_segments,
        num_alloc_retries,
        num_ooms,
        num_sync_all_streams,
        num_device_alloc,
        num_device_free,
        max_split_size,
        sleeping_bytes: _, // torch has no such figure
    } = stats;
    for (name, pools) in [
        ("allocation", allocation),
        ("segment", segment),
        ("active", active),
        ("inactive_split", inactive_split),
        ("allocated_bytes", allocated_bytes),
        ("reserved_bytes", reserved_bytes),
        ("active_bytes", active_bytes),
        ("inactive_split_bytes", inactive_split_bytes),
        ("requested_bytes", requested_bytes),
    ] {
        let PoolStats { all, small_pool, large_pool } = pools;
        for (pool, stat) in [("all", all), ("small_pool", small_pool), ("large_pool", large_pool)] {
            add(&format!("{name}.{pool}"), stat);
        }
    }
    add("oversize_allocations", oversize_allocations);
    add("oversize_segments", oversize_segments);
    for (name, value) in [
        ("num_alloc_retries", num_alloc_retries),
        ("num_ooms", num_ooms),
        ("num_sync_all_streams", num_sync_all_streams),
        ("num_device_alloc", num_device_alloc),
        ("num_device_free", num_device_free),
        ("max_split_size", max_split_size),
    ] {
        all.insert(name.to_owned(), *value);
    }
    all
}

/// The keys whose values differ, with both values; empty when all are equal.
pub fn differences(
    ours: &BTreeMap<String, i64>,
    theirs: &BTreeMap<String, i64>,
) -> Vec<(String, Option<i64>, Option<i64>)> {
    let keys: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    keys.into_iter()
        .map(|key| (key.clone(), ours.get(key).copied(), theirs.get(key).copied()))
        .filter(|(_, ours, theirs)| ours != theirs)
        .collect()
}
