//! What is counted, in torch's terms (`host_memory_stats`).

use crate::memory::Stat;

/// Time spent in a kind of driver call, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationStat {
    /// The sum.
    pub total: i64,
    /// The longest.
    pub max: i64,
    /// The shortest.
    pub min: i64,
    /// How many.
    pub count: i64,
}

impl DurationStat {
    /// Nothing counted yet.
    pub const NONE: DurationStat = DurationStat { total: 0, max: 0, min: 0, count: 0 };

    /// A call took so long.
    pub fn add(&mut self, microseconds: i64) {
        self.min = if self.count == 0 { microseconds } else { self.min.min(microseconds) };
        self.max = self.max.max(microseconds);
        self.total += microseconds;
        self.count += 1;
    }

    /// The average of all calls, rounded down; 0 before the first.
    pub fn average(&self) -> i64 {
        self.total.checked_div(self.count).unwrap_or(0)
    }
}

/// All figures of pinned host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostMemoryStats {
    /// Segments got from the driver.
    pub allocations: Stat,
    /// Their bytes.
    pub allocated_bytes: Stat,
    /// Blocks held by callers, or freed with events pending.
    pub active_requests: Stat,
    /// Their bytes.
    pub active_bytes: Stat,
    /// Their bytes as they were asked for.
    pub requested_bytes: Stat,
    /// Time spent in pinning.
    pub host_alloc_time: DurationStat,
    /// Time spent in unpinning.
    pub host_free_time: DurationStat,
    /// How often memory was pinned.
    pub num_host_alloc: i64,
    /// How often memory was unpinned.
    pub num_host_free: i64,
}
