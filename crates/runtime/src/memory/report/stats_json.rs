//! The figures as one flat JSON map under torch's keys, `figure.pool.field`, in their order.

use crate::memory::{MemoryStats, PoolStats, Stat};

/// The figures as torch's `memory_stats()` names and orders them.
pub fn stats_json(stats: &MemoryStats) -> String {
    // Taken apart without `..`: a new figure does not compile before it has its place.
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
    let mut map = Map { text: String::with_capacity(5000) };
    map.pools("active", active);
    map.pools("active_bytes", active_bytes);
    map.pools("allocated_bytes", allocated_bytes);
    map.pools("allocation", allocation);
    map.pools("inactive_split", inactive_split);
    map.pools("inactive_split_bytes", inactive_split_bytes);
    map.entry("", "max_split_size", *max_split_size);
    map.entry("", "num_alloc_retries", *num_alloc_retries);
    map.entry("", "num_device_alloc", *num_device_alloc);
    map.entry("", "num_device_free", *num_device_free);
    map.entry("", "num_ooms", *num_ooms);
    map.entry("", "num_sync_all_streams", *num_sync_all_streams);
    map.stat("oversize_allocations.", oversize_allocations);
    map.stat("oversize_segments.", oversize_segments);
    map.pools("requested_bytes", requested_bytes);
    map.pools("reserved_bytes", reserved_bytes);
    map.pools("segment", segment);
    map.text.push('}');
    map.text
}

/// A map that is being written.
struct Map {
    text: String,
}

impl Map {
    fn entry(&mut self, prefix: &str, key: &str, value: i64) {
        self.text.push_str(if self.text.is_empty() { "{\"" } else { ",\"" });
        self.text.push_str(prefix);
        self.text.push_str(key);
        self.text.push_str("\":");
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    fn stat(&mut self, prefix: &str, stat: &Stat) {
        self.entry(prefix, "allocated", stat.allocated);
        self.entry(prefix, "current", stat.current);
        self.entry(prefix, "freed", stat.freed);
        self.entry(prefix, "peak", stat.peak);
    }

    fn pools(&mut self, figure: &str, pools: &PoolStats) {
        self.stat(&format!("{figure}.all."), &pools.all);
        self.stat(&format!("{figure}.large_pool."), &pools.large_pool);
        self.stat(&format!("{figure}.small_pool."), &pools.small_pool);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use testkit_json::Json;

    use super::super::golden;
    use super::*;

    fn figures(text: &str) -> BTreeMap<String, i64> {
        let Json::Map(entries) = Json::read(text) else { panic!("no map") };
        let count = entries.len();
        let figures: BTreeMap<_, _> =
            entries.into_iter().map(|(key, value)| (key, value.number())).collect();
        assert_eq!(figures.len(), count, "a key stands twice");
        figures
    }

    #[test]
    fn the_recorded_figures_are_written_as_torch_wrote_them() {
        let recorded = figures(golden::STATS);
        let written = figures(&stats_json(&golden::stats()));
        assert_eq!(recorded.len(), 122);
        assert_eq!(written, recorded);
        // And in their order.
        assert_eq!(stats_json(&golden::stats()), golden::compact(golden::STATS));
    }

    /// The recorded figures are often equal; here no two are.
    #[test]
    fn no_two_figures_are_mixed_up() {
        let mut stats = MemoryStats::default();
        let mut next = 1 << 40;
        let mut number = |value: &mut i64| {
            *value = next;
            next += 1;
        };
        let mut stat = |stat: &mut Stat| {
            let Stat { current, peak, allocated, freed } = stat;
            [current, peak, allocated, freed].into_iter().for_each(&mut number);
        };
        let PoolStats { all, small_pool, large_pool } = &mut stats.reserved_bytes;
        [all, small_pool, large_pool].into_iter().for_each(&mut stat);
        stat(&mut stats.oversize_segments);
        let written = figures(&stats_json(&stats));
        let mut expected = 1 << 40;
        for pool in ["reserved_bytes.all", "reserved_bytes.small_pool", "reserved_bytes.large_pool"]
            .into_iter()
            .chain(["oversize_segments"])
        {
            for field in ["current", "peak", "allocated", "freed"] {
                assert_eq!(written[&format!("{pool}.{field}")], expected, "{pool}.{field}");
                expected += 1;
            }
        }
        assert_eq!(written.values().filter(|value| **value != 0).count(), 16);
    }
}
