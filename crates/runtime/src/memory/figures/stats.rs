//! What the allocator counts, in torch's terms.
//!
//! | figure | counts |
//! |---|---|
//! | allocation, allocated_bytes | blocks (of rounded size) that a caller holds |
//! | active, active_bytes | the same and blocks freed whose events are still pending |
//! | requested_bytes | as active, in bytes as they were asked for |
//! | segment, reserved_bytes | what has been got from the driver |
//! | inactive_split, inactive_split_bytes | free pieces of segments that are partly in use |
//! | oversize_allocations, oversize_segments | those of `max_split_size` and more |

use crate::caching::size_class::PoolKind;

/// One figure: now, at its highest, and the sums of its rises and falls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stat {
    /// The value now.
    pub current: i64,
    /// The highest value since the start or the last reset.
    pub peak: i64,
    /// The sum of all rises.
    pub allocated: i64,
    /// The sum of all falls.
    pub freed: i64,
}

impl Stat {
    /// Nothing counted yet.
    pub const NONE: Stat = Stat { current: 0, peak: 0, allocated: 0, freed: 0 };

    /// The figure rises.
    pub(crate) fn increase(&mut self, by: i64) {
        self.current += by;
        self.peak = self.peak.max(self.current);
        self.allocated += by;
    }

    /// The figure falls.
    pub(crate) fn decrease(&mut self, by: i64) {
        self.current -= by;
        self.freed += by;
    }

    /// The peak becomes the value of now.
    pub fn reset_peak(&mut self) {
        self.peak = self.current;
    }

    /// The sums become 0.
    pub fn reset_accumulated(&mut self) {
        self.allocated = 0;
        self.freed = 0;
    }
}

/// A figure for all memory, and for that of each pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PoolStats {
    /// Both pools.
    pub all: Stat,
    /// Blocks up to 1 MiB.
    pub small_pool: Stat,
    /// Blocks above.
    pub large_pool: Stat,
}

impl PoolStats {
    /// Nothing counted yet.
    pub const NONE: PoolStats =
        PoolStats { all: Stat::NONE, small_pool: Stat::NONE, large_pool: Stat::NONE };

    /// The figure of one pool.
    pub(crate) fn of(&mut self, kind: PoolKind) -> &mut Stat {
        match kind {
            PoolKind::Small => &mut self.small_pool,
            PoolKind::Large => &mut self.large_pool,
        }
    }
}

/// All figures of one device. The C API copies them as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct MemoryStats {
    /// Blocks held by callers.
    pub allocation: PoolStats,
    /// Segments got from the driver.
    pub segment: PoolStats,
    /// Blocks held, or freed with events pending.
    pub active: PoolStats,
    /// Free pieces of split segments.
    pub inactive_split: PoolStats,
    /// Bytes of the blocks held.
    pub allocated_bytes: PoolStats,
    /// Bytes got from the driver.
    pub reserved_bytes: PoolStats,
    /// Bytes of active blocks.
    pub active_bytes: PoolStats,
    /// Bytes of free pieces of split segments.
    pub inactive_split_bytes: PoolStats,
    /// Bytes asked for in active blocks.
    pub requested_bytes: PoolStats,
    /// Blocks of `max_split_size` and more.
    pub oversize_allocations: Stat,
    /// Segments of `max_split_size` and more.
    pub oversize_segments: Stat,
    /// How often the cache was emptied because the driver had no memory left.
    pub num_alloc_retries: i64,
    /// How often an allocation failed for want of memory.
    pub num_ooms: i64,
    /// How often all pending events were waited for.
    pub num_sync_all_streams: i64,
    /// Allocations from the driver.
    pub num_device_alloc: i64,
    /// Allocations returned to the driver.
    pub num_device_free: i64,
    /// The size from which blocks are not split, in bytes; -1 when there is none.
    pub max_split_size: i64,
    /// Bytes of pages of pools that sleep, whose memory is the driver's.
    pub sleeping_bytes: i64,
}

impl MemoryStats {
    /// Nothing counted yet.
    pub const NONE: MemoryStats = MemoryStats {
        allocation: PoolStats::NONE,
        segment: PoolStats::NONE,
        active: PoolStats::NONE,
        inactive_split: PoolStats::NONE,
        allocated_bytes: PoolStats::NONE,
        reserved_bytes: PoolStats::NONE,
        active_bytes: PoolStats::NONE,
        inactive_split_bytes: PoolStats::NONE,
        requested_bytes: PoolStats::NONE,
        oversize_allocations: Stat::NONE,
        oversize_segments: Stat::NONE,
        num_alloc_retries: 0,
        num_ooms: 0,
        num_sync_all_streams: 0,
        num_device_alloc: 0,
        num_device_free: 0,
        max_split_size: 0,
        sleeping_bytes: 0,
    };
}
