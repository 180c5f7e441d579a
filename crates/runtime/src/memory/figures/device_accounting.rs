//! The accounting of a device's memory: what was got from the driver, the limit on it, and the peaks of the streams'
//! sums.

use sconce_base::lock::{Mutex, MutexGuard, rank};
use std::sync::atomic::{AtomicU64, Ordering};

use super::peak_quotas::PeakQuotas;
use super::stats::{MemoryStats, PoolStats, Stat};
use super::stream_stats::{self, ALL, FIGURES, Row, StreamStats, row_of};
use crate::caching::size_class::PoolKind;

/// The accounting of a device's memory, apart from what streams count themselves. It refuses what its limit forbids.
#[derive(Clone, Debug)]
pub(crate) struct DeviceAccounting {
    pub(crate) quotas: PeakQuotas,
    /// The thread that took quotas back from other streams last, and when, in nanoseconds of `refill`'s clock. An
    /// `Instant` in an option has no state of zeros, and the accounting of all devices would stand in the library's
    /// file.
    pub(crate) last_refill: Option<(usize, u64)>,
    segment: PoolStats,
    reserved_bytes: PoolStats,
    pub(crate) oversize_allocations: Stat,
    pub(crate) oversize_segments: Stat,
    pub(crate) num_alloc_retries: i64,
    pub(crate) num_ooms: i64,
    pub(crate) num_sync_all_streams: i64,
    pub(crate) num_device_alloc: i64,
    pub(crate) num_device_free: i64,
    /// How many bytes may be got from the driver, if that is limited.
    pub(crate) limit: Option<u64>,
    /// A caller has set the limit; the settings have no say any more.
    pub(crate) limit_is_callers: bool,
    /// Bytes being got from the driver at this moment.
    under_way: u64,
    /// How far the streams' figures had risen and fallen when the sums were last reset.
    base: SumsAtReset,
}

#[derive(Clone, Debug)]
struct SumsAtReset {
    risen: [Row; 2],
    fallen: [Row; 2],
}

/// The sums over a device's streams, a row a pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    values: [Row; 2],
    risen: [Row; 2],
}

impl Sums {
    /// Adds a stream.
    #[inline]
    pub(crate) fn add(&mut self, stream: &StreamStats) {
        for row in 0..2 {
            for figure in 0..FIGURES {
                self.values[row][figure] += stream.value(row, figure);
                self.risen[row][figure] += stream.risen(row)[figure];
            }
        }
    }

    /// The value of a figure, of both pools.
    pub(crate) fn value(&self, figure: usize) -> i64 {
        self.values.iter().map(|row| row[figure]).sum()
    }
}

/// Changes a figure for all memory and for a pool.
fn both(stats: &mut PoolStats, kind: PoolKind, change: impl Fn(&mut Stat)) {
    change(&mut stats.all);
    change(stats.of(kind));
}

impl DeviceAccounting {
    pub(crate) const fn new() -> DeviceAccounting {
        DeviceAccounting {
            quotas: PeakQuotas::new(),
            last_refill: None,
            segment: PoolStats::NONE,
            reserved_bytes: PoolStats::NONE,
            oversize_allocations: Stat::NONE,
            oversize_segments: Stat::NONE,
            num_alloc_retries: 0,
            num_ooms: 0,
            num_sync_all_streams: 0,
            num_device_alloc: 0,
            num_device_free: 0,
            limit: None,
            limit_is_callers: false,
            under_way: 0,
            base: SumsAtReset { risen: [[0; FIGURES]; 2], fallen: [[0; FIGURES]; 2] },
        }
    }

    /// Whether the limit allows so much more than is reserved.
    pub(crate) fn would_allow(&self, bytes: u64) -> bool {
        self.limit.is_none_or(|limit| self.reserved().saturating_add(bytes) <= limit)
    }

    /// Sets aside what is about to be got from the driver; `false` when the limit forbids it.
    pub(crate) fn set_aside(&mut self, bytes: u64) -> bool {
        let under_way = self.under_way.saturating_add(bytes);
        let allowed = self.would_allow(under_way);
        if allowed {
            self.under_way = under_way;
        }
        allowed
    }

    /// The driver had nothing.
    pub(crate) fn cancel(&mut self, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
    }

    /// The driver gave a segment that had been set aside.
    pub(crate) fn gained(&mut self, kind: PoolKind, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
        self.num_device_alloc += 1;
        both(&mut self.segment, kind, |stat| stat.increase(1));
        both(&mut self.reserved_bytes, kind, |stat| stat.increase(bytes as i64));
    }

    /// A segment has gone back to the driver.
    pub(crate) fn lost(&mut self, kind: PoolKind, bytes: u64) {
        self.num_device_free += 1;
        both(&mut self.segment, kind, |stat| stat.decrease(1));
        both(&mut self.reserved_bytes, kind, |stat| stat.decrease(bytes as i64));
    }

    /// The driver gave pages that had been set aside. As in torch, runs of pages do not count as segments.
    pub(crate) fn gained_pages(&mut self, kind: PoolKind, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
        self.num_device_alloc += 1;
        both(&mut self.reserved_bytes, kind, |stat| stat.increase(bytes as i64));
    }

    /// Pages have gone back to the driver.
    pub(crate) fn lost_pages(&mut self, kind: PoolKind, bytes: u64) {
        self.num_device_free += 1;
        both(&mut self.reserved_bytes, kind, |stat| stat.decrease(bytes as i64));
    }

    /// Bytes got from the driver.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved_bytes.all.current as u64
    }

    /// All figures but those of sleeping pools, with the streams' sums.
    #[inline]
    pub(crate) fn stats(&self, sums: &Sums, max_split: Option<u64>) -> MemoryStats {
        MemoryStats {
            allocation: self.pool_stats(sums, stream_stats::ALLOCATION),
            segment: self.segment,
            active: self.pool_stats(sums, stream_stats::ACTIVE),
            inactive_split: self.pool_stats(sums, stream_stats::INACTIVE_SPLIT),
            allocated_bytes: self.pool_stats(sums, stream_stats::ALLOCATED_BYTES),
            reserved_bytes: self.reserved_bytes,
            active_bytes: self.pool_stats(sums, stream_stats::ACTIVE_BYTES),
            inactive_split_bytes: self.pool_stats(sums, stream_stats::INACTIVE_SPLIT_BYTES),
            requested_bytes: self.pool_stats(sums, stream_stats::REQUESTED_BYTES),
            oversize_allocations: self.oversize_allocations,
            oversize_segments: self.oversize_segments,
            num_alloc_retries: self.num_alloc_retries,
            num_ooms: self.num_ooms,
            num_sync_all_streams: self.num_sync_all_streams,
            num_device_alloc: self.num_device_alloc,
            num_device_free: self.num_device_free,
            max_split_size: max_split.map_or(-1, |bytes| bytes as i64),
            sleeping_bytes: 0,
        }
    }

    #[inline]
    fn pool_stats(&self, sums: &Sums, figure: usize) -> PoolStats {
        let small = self.stat(sums, row_of(PoolKind::Small), figure);
        let large = self.stat(sums, row_of(PoolKind::Large), figure);
        let current = small.current + large.current;
        let all = Stat {
            current,
            // A stream may have risen since its part of the sum was read.
            peak: self.quotas.peak(ALL, figure).max(current),
            allocated: small.allocated + large.allocated,
            freed: small.freed + large.freed,
        };
        PoolStats { all, small_pool: small, large_pool: large }
    }

    #[inline]
    fn stat(&self, sums: &Sums, row: usize, figure: usize) -> Stat {
        let (current, risen) = (sums.values[row][figure], sums.risen[row][figure]);
        Stat {
            current,
            peak: self.quotas.peak(row, figure).max(current),
            allocated: risen - self.base.risen[row][figure],
            freed: risen - current - self.base.fallen[row][figure],
        }
    }

    /// The peaks that the device keeps itself become the values of now.
    pub(crate) fn reset_own_peaks(&mut self) {
        for stats in [&mut self.segment, &mut self.reserved_bytes] {
            for stat in [&mut stats.all, &mut stats.small_pool, &mut stats.large_pool] {
                stat.reset_peak();
            }
        }
        self.oversize_allocations.reset_peak();
        self.oversize_segments.reset_peak();
    }

    /// All sums of rises and falls, and all counts, begin again.
    pub(crate) fn reset_accumulated(&mut self, sums: &Sums) {
        self.base.risen = sums.risen;
        for row in 0..2 {
            for figure in 0..FIGURES {
                self.base.fallen[row][figure] = sums.risen[row][figure] - sums.values[row][figure];
            }
        }
        for stats in [&mut self.segment, &mut self.reserved_bytes] {
            for stat in [&mut stats.all, &mut stats.small_pool, &mut stats.large_pool] {
                stat.reset_accumulated();
            }
        }
        self.oversize_allocations.reset_accumulated();
        self.oversize_segments.reset_accumulated();
        self.num_alloc_retries = 0;
        self.num_ooms = 0;
        self.num_sync_all_streams = 0;
        self.num_device_alloc = 0;
        self.num_device_free = 0;
    }
}

/// The accounting of a device under a lock, which counts how often a call that may change them took it.
pub(crate) struct DeviceAccountingLock {
    accounting: Mutex<rank::DeviceAccounting, DeviceAccounting>,
    changes: AtomicU64,
}

impl DeviceAccountingLock {
    pub(crate) const fn new() -> DeviceAccountingLock {
        DeviceAccountingLock {
            accounting: Mutex::new(DeviceAccounting::new()),
            changes: AtomicU64::new(0),
        }
    }

    /// Locks the accounting for a call that may change them.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, rank::DeviceAccounting, DeviceAccounting> {
        let accounting = self.accounting.lock();
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes + 1, Ordering::Relaxed);
        accounting
    }

    /// Passes the accounting to a reader, with the number of changes so far.
    pub(crate) fn read<R>(&self, reader: impl FnOnce(&DeviceAccounting, u64) -> R) -> R {
        let accounting = self.accounting.lock();
        reader(&accounting, self.changes.load(Ordering::Relaxed))
    }

    /// The number of changes so far: not less than that of those which the calling thread knows of.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}
