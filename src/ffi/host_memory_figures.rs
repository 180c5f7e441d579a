//! The figures of pinned host memory, as C sees them.

use std::mem::{offset_of, size_of};

use super::{Out, sconce_stat};
use crate::error::{Error, Result};
use crate::host_memory::{DurationStat, HostMemoryStats};

/// Time spent in a kind of driver call, in microseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sconce_duration_stat {
    /// The sum.
    pub total: i64,
    /// The longest since the start or the last reset of peaks; 0 before the first.
    pub max: i64,
    /// The shortest since then; 0 before the first.
    pub min: i64,
    /// How many calls there were.
    pub count: i64,
    /// The average; 0 before the first.
    pub avg: i64,
}

/// The figures of pinned host memory. Sizes of blocks are what was asked for, rounded up.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_host_memory_stats {
    /// `sizeof(sconce_host_memory_stats)`, set by the caller.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Pieces of memory got from the driver, from which blocks are cut.
    pub allocations: sconce_stat,
    /// Bytes got from the driver: what is pinned.
    pub allocated_bytes: sconce_stat,
    /// Blocks that callers hold, or that wait for copies after they were freed.
    pub active_requests: sconce_stat,
    /// Bytes of active blocks.
    pub active_bytes: sconce_stat,
    /// Bytes of active blocks as they were asked for. torch does not tell.
    pub requested_bytes: sconce_stat,
    /// Time spent in pinning memory.
    pub host_alloc_time: sconce_duration_stat,
    /// Time spent in unpinning memory.
    pub host_free_time: sconce_duration_stat,
    /// How often memory was pinned.
    pub num_host_alloc: i64,
    /// How often memory was unpinned.
    pub num_host_free: i64,
}

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

impl sconce_host_memory_stats {
    /// Where the caller wants the figures, having made sure that the struct is this version's.
    ///
    /// # Safety
    /// If `pointer` is neither NULL nor misaligned, it points to as many readable and writable
    /// bytes as its `struct_size` says.
    pub(super) unsafe fn place(pointer: *mut Self) -> Result<Out<Self>> {
        // SAFETY: passed on; nothing is written before the size has been checked.
        let place = unsafe { Out::new(pointer, "out_stats") }?;
        // SAFETY: not NULL and aligned; every version of the struct begins with this field.
        let size = unsafe { pointer.cast::<u32>().read() } as usize;
        if size != size_of::<Self>() {
            return Err(Error::invalid_argument(format!(
                "out_stats->struct_size is {size}; set it to sizeof(sconce_host_memory_stats), \
                 which is {} in this version",
                size_of::<Self>()
            )));
        }
        Ok(place)
    }
}
