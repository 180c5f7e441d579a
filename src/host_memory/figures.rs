//! The structs of pinned host memory's statistics.

use std::mem::{offset_of, size_of};

use sconce_runtime::host_memory::{DurationStat, HostMemoryStats};

use crate::sconce_stat;

/// Time spent in a kind of driver call, in microseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sconce_duration_stat {
    /// The sum.
    pub total: i64,
    /// The longest call since the start or the last reset of peaks; 0 before the first call.
    pub max: i64,
    /// The shortest call since then; 0 before the first call.
    pub min: i64,
    /// Number of calls.
    pub count: i64,
    /// The average; 0 before the first call.
    pub avg: i64,
}

any_bits!(sconce_duration_stat: total, max, min, count, avg);

/// Statistics of pinned host memory. Sizes of blocks are requested sizes, rounded up.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_host_memory_stats {
    /// `sizeof(sconce_host_memory_stats)`, set by the caller.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Pieces of memory taken from the driver, from which blocks are cut.
    pub allocations: sconce_stat,
    /// Bytes taken from the driver, all of them pinned.
    pub allocated_bytes: sconce_stat,
    /// Blocks that callers hold, or that were freed while copies may still use them.
    pub active_requests: sconce_stat,
    /// Bytes of active blocks.
    pub active_bytes: sconce_stat,
    /// Requested bytes of active blocks. torch has no such statistic.
    pub requested_bytes: sconce_stat,
    /// Time spent in pinning memory.
    pub host_alloc_time: sconce_duration_stat,
    /// Time spent in unpinning memory.
    pub host_free_time: sconce_duration_stat,
    /// Number of times that memory was pinned.
    pub num_host_alloc: i64,
    /// Number of times that memory was unpinned.
    pub num_host_free: i64,
}

grows!(
    sconce_host_memory_stats, "SCONCE_HOST_MEMORY_STATS_INIT", first version: 264 bytes,
    reserved, allocations, allocated_bytes, active_requests, active_bytes, requested_bytes,
    host_alloc_time, host_free_time, num_host_alloc, num_host_free,
);

const _: () = {
    assert!(size_of::<sconce_duration_stat>() == 40);
    assert!(offset_of!(sconce_host_memory_stats, allocations) == 8);
    assert!(size_of::<sconce_host_memory_stats>() == 8 + 5 * 32 + 2 * 40 + 2 * 8);
};

impl From<DurationStat> for sconce_duration_stat {
    fn from(stat: DurationStat) -> Self {
        let DurationStat { total, max, min, count } = stat;
        sconce_duration_stat { total, max, min, count, avg: stat.average() }
    }
}

impl From<&HostMemoryStats> for sconce_host_memory_stats {
    fn from(stats: &HostMemoryStats) -> Self {
        sconce_host_memory_stats {
            struct_size: size_of::<Self>() as u32,
            reserved: 0,
            allocations: stats.allocations.into(),
            allocated_bytes: stats.allocated_bytes.into(),
            active_requests: stats.active_requests.into(),
            active_bytes: stats.active_bytes.into(),
            requested_bytes: stats.requested_bytes.into(),
            host_alloc_time: stats.host_alloc_time.into(),
            host_free_time: stats.host_free_time.into(),
            num_host_alloc: stats.num_host_alloc,
            num_host_free: stats.num_host_free,
        }
    }
}
