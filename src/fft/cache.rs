//! The plan cache of a device. See `docs/design/fft.md`.

use std::mem::size_of;

use sconce_compute::fft;

use crate::{guard, sconce_status};

/// Statistics of one device's plan cache.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_fft_cache_stats {
    /// `sizeof(sconce_fft_cache_stats)`, set by the caller.
    pub struct_size: u32,
    /// Plans in the cache.
    pub size: u64,
    /// The limit of `size`.
    pub max_size: u64,
    /// Device memory of the cache's plans, and of plans that have left the cache but that graphs
    /// use: the sum of the next two.
    pub bytes: u64,
    /// Memory that cuFFT itself took while the plans were made, and that the allocator does not
    /// know. The driver allocates it in large pieces, so the figure of one plan may include memory
    /// that several plans will use. It is measured as the change in free device memory, and
    /// therefore includes allocations that other libraries made at the same time.
    pub plan_bytes: u64,
    /// Workspaces of all plans, which calls take from the allocator.
    pub workspace_bytes: u64,
    /// The limit of `bytes`.
    pub max_bytes: u64,
    /// Transforms whose plan was in the cache.
    pub hits: u64,
    /// Transforms that made their plan.
    pub misses: u64,
    /// Plans evicted to keep a limit, or because memory was short. Clearing the cache does not
    /// count.
    pub evictions: u64,
}

grows!(
    sconce_fft_cache_stats, "SCONCE_FFT_CACHE_STATS_INIT", first version: 80 bytes,
    size, max_size, bytes, plan_bytes, workspace_bytes, max_bytes, hits, misses, evictions,
);

impl From<fft::CacheStats> for sconce_fft_cache_stats {
    fn from(stats: fft::CacheStats) -> Self {
        sconce_fft_cache_stats {
            struct_size: size_of::<Self>() as u32,
            size: stats.size,
            max_size: stats.max_size,
            bytes: stats.plan_bytes + stats.workspace_bytes,
            plan_bytes: stats.plan_bytes,
            workspace_bytes: stats.workspace_bytes,
            max_bytes: stats.max_bytes,
            hits: stats.hits,
            misses: stats.misses,
            evictions: stats.evictions,
        }
    }
}

/// Reports the number of plans in a device's cache.
///
/// - `out_size`: receives the number.
/// - torch: `torch.backends.cuda.cufft_plan_cache[device].size`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_size(
    device: i32,
    out_size: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_size = out!(out_size);
        out_size.write(fft::cache_size(device)?.0);
        Ok(())
    })
}

/// Reports the largest number of plans that a device's cache keeps. 4096 by default, 1023 with a
/// cuFFT before CUDA 10.
///
/// - `out_max_size`: receives the number.
/// - torch: `torch.backends.cuda.cufft_plan_cache[device].max_size`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_max_size(
    device: i32,
    out_max_size: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_max_size = out!(out_max_size);
        out_max_size.write(fft::cache_size(device)?.1);
        Ok(())
    })
}

/// Sets the largest number of plans that a device's cache keeps. Plans beyond it are evicted at
/// once, least recently used first.
///
/// - `max_size`: with 0 no plan is kept, and each transform makes its own.
/// - Errors: INVALID_ARGUMENT: `max_size` is negative, or exceeds 1023 with a cuFFT before CUDA 10.
/// - Ordering: waits for other threads that are queuing a transform with an evicted plan.
///   Destroying plans may wait for the device.
/// - torch: `torch.backends.cuda.cufft_plan_cache[device].max_size = n`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_set_max_size(device: i32, max_size: i64) -> sconce_status {
    guard(|| fft::set_max_size(device, max_size))
}

/// Reports the limit of the device memory that the plans of a device's cache may use. No limit by
/// default.
///
/// - `out_max_bytes`: receives the limit in bytes; INT64_MAX means no limit.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_max_bytes(
    device: i32,
    out_max_bytes: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_max_bytes = out!(out_max_bytes);
        out_max_bytes.write(fft::max_bytes(device)?);
        Ok(())
    })
}

/// Limits the device memory that the plans of a device's cache may use
/// (`sconce_fft_cache_stats::bytes`). Plans beyond the limit are evicted at once, least recently
/// used first. Plans that graphs use leave the cache, too, but stay, and count for the limit, until
/// the graphs are gone.
///
/// - `max_bytes`: not negative, else INVALID_ARGUMENT; INT64_MAX means no limit. A single plan that
///   exceeds the limit is used once and not kept.
/// - Ordering: as `sconce_fft_cache_set_max_size`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_set_max_bytes(device: i32, max_bytes: i64) -> sconce_status {
    guard(|| fft::set_max_bytes(device, max_bytes))
}

/// Evicts all plans of a device's cache. Limits and counts do not change. Plans that graphs use stay
/// until the graphs are gone, and count in `sconce_fft_cache_stats::bytes`.
///
/// - Ordering: as `sconce_fft_cache_set_max_size`.
/// - torch: `torch.backends.cuda.cufft_plan_cache[device].clear()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_clear(device: i32) -> sconce_status {
    guard(|| fft::clear_cache(device))
}

/// Reports the statistics of a device's plan cache, all at one moment except the hits of other
/// threads. Takes a few microseconds if there are thousands of plans.
///
/// - `out_stats`: receives the statistics; begin with `SCONCE_FFT_CACHE_STATS_INIT`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_stats(
    device: i32,
    out_stats: *mut sconce_fft_cache_stats,
) -> sconce_status {
    guard(|| {
        let place = out_struct!(out_stats);
        place.write(fft::cache_stats(device)?.into());
        Ok(())
    })
}

/// Sets the counts of hits, misses and evictions of a device's cache to 0.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_reset_stats(device: i32) -> sconce_status {
    guard(|| fft::reset_cache_stats(device))
}
