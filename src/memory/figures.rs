//! The structs of the allocator's statistics.

use std::mem::{offset_of, size_of};

use sconce_runtime::memory::{MemoryStats, PoolStats, Stat};

/// One figure: its value, its peak, and the sums of its increases and decreases.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sconce_stat {
    /// The present value.
    pub current: i64,
    /// The highest value since the start or the last reset of peaks.
    pub peak: i64,
    /// The sum of all increases since the start or the last reset of sums.
    pub allocated: i64,
    /// The sum of all decreases since then.
    pub freed: i64,
}

any_bits!(sconce_stat: current, peak, allocated, freed);

/// A figure for all blocks, and for each of the two kinds of block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sconce_pool_stats {
    /// All blocks.
    pub all: sconce_stat,
    /// Blocks of up to 1 MiB.
    pub small_pool: sconce_stat,
    /// Larger blocks.
    pub large_pool: sconce_stat,
}

any_bits!(sconce_pool_stats: all, small_pool, large_pool);

/// Figures of a device. Sizes are those of blocks, which are requested sizes, rounded up.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_memory_stats {
    /// `sizeof(sconce_memory_stats)`, set by the caller.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Blocks that callers hold.
    pub allocation: sconce_pool_stats,
    /// Allocations taken from the driver.
    pub segment: sconce_pool_stats,
    /// Blocks that callers hold, or that were freed while work of other streams may still use them.
    pub active: sconce_pool_stats,
    /// Free blocks that are parts of a segment.
    pub inactive_split: sconce_pool_stats,
    /// Bytes of the blocks that callers hold.
    pub allocated_bytes: sconce_pool_stats,
    /// Bytes taken from the driver.
    pub reserved_bytes: sconce_pool_stats,
    /// Bytes of active blocks.
    pub active_bytes: sconce_pool_stats,
    /// Bytes of free blocks that are parts of a segment.
    pub inactive_split_bytes: sconce_pool_stats,
    /// Bytes of active blocks as they were requested.
    pub requested_bytes: sconce_pool_stats,
    /// Blocks of `max_split_size` and more.
    pub oversize_allocations: sconce_stat,
    /// Segments of `max_split_size` and more.
    pub oversize_segments: sconce_stat,
    /// Number of times that free memory was returned because the driver had none left.
    pub num_alloc_retries: i64,
    /// Number of allocations that failed for lack of memory.
    pub num_ooms: i64,
    /// Number of times that the allocator waited for all streams whose work may use freed memory.
    pub num_sync_all_streams: i64,
    /// Number of allocations by the driver.
    pub num_device_alloc: i64,
    /// Number of frees by the driver.
    pub num_device_free: i64,
    /// The size in bytes from which blocks are not split; -1 if there is no such size.
    pub max_split_size: i64,
    /// Bytes of sleeping pools whose memory has gone back to the driver. Reserved bytes exclude
    /// them.
    pub sleeping_bytes: i64,
}

grows!(
    sconce_memory_stats, "SCONCE_MEMORY_STATS_INIT", first version: 984 bytes,
    reserved, allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes, active_bytes,
    inactive_split_bytes, requested_bytes, oversize_allocations, oversize_segments, num_alloc_retries,
    num_ooms, num_sync_all_streams, num_device_alloc, num_device_free, max_split_size,
    sleeping_bytes,
);

const _: () = {
    assert!(size_of::<sconce_stat>() == 32);
    assert!(size_of::<sconce_pool_stats>() == 96);
    assert!(size_of::<sconce_memory_stats>() == 992);
    assert!(offset_of!(sconce_memory_stats, allocation) == 8);
    assert!(offset_of!(sconce_memory_stats, oversize_allocations) == 872);
    assert!(offset_of!(sconce_memory_stats, num_alloc_retries) == 936);
};

headed_copy!(
    sconce_memory_stats of MemoryStats: allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes,
    active_bytes, inactive_split_bytes, requested_bytes, oversize_allocations, oversize_segments, num_alloc_retries,
    num_ooms, num_sync_all_streams, num_device_alloc, num_device_free, max_split_size, sleeping_bytes,
);

const _: () = {
    assert!(offset_of!(sconce_stat, current) == offset_of!(Stat, current));
    assert!(offset_of!(sconce_stat, peak) == offset_of!(Stat, peak));
    assert!(offset_of!(sconce_stat, allocated) == offset_of!(Stat, allocated));
    assert!(offset_of!(sconce_stat, freed) == offset_of!(Stat, freed));
    assert!(offset_of!(sconce_pool_stats, all) == offset_of!(PoolStats, all));
    assert!(offset_of!(sconce_pool_stats, small_pool) == offset_of!(PoolStats, small_pool));
    assert!(offset_of!(sconce_pool_stats, large_pool) == offset_of!(PoolStats, large_pool));
};

impl From<Stat> for sconce_stat {
    fn from(stat: Stat) -> Self {
        let Stat { current, peak, allocated, freed } = stat;
        sconce_stat { current, peak, allocated, freed }
    }
}
