//! The cache of a device's plans for Fourier transforms. See `docs/design/fft.md`.

use std::mem::size_of;

use crate::ffi::structs::OutStruct;
use crate::ffi::{Out, guard, sconce_status};
use crate::fft;

/// Figures of one device's cache of plans.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_fft_cache_stats {
    /// `sizeof(sconce_fft_cache_stats)`, set by the caller.
    pub struct_size: u32,
    /// Plans in the cache.
    pub size: u64,
    /// The most plans it keeps.
    pub max_size: u64,
    /// What its plans make the device hold: the sum of the next two.
    pub bytes: u64,
    /// Memory that cuFFT took for itself while they were made, which the allocator knows nothing of.
    /// The driver gives it in large pieces, so that one plan has what several will use. Measured
    /// as the change in free device memory, so allocations that other libraries made meanwhile are included.
    pub plan_bytes: u64,
    /// Workspaces of all plans, which calls borrow from the allocator.
    pub workspace_bytes: u64,
    /// The most `bytes` it keeps.
    pub max_bytes: u64,
    /// Transforms that found their plan.
    pub hits: u64,
    /// Transforms that had to make it.
    pub misses: u64,
    /// Plans that left to keep a limit, or because memory was short. Clearing is not counted.
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

/// Gives the number of plans in a device's cache.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_size` [out]: plans.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_size` is NULL. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_size` is NULL or writable.
/// # Upstream
/// `torch.backends.cuda.cufft_plan_cache[device].size`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_size(
    device: i32,
    out_size: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_size = unsafe { Out::new(out_size, "out_size") }?;
        out_size.write(fft::cache_size(device)?.0);
        Ok(())
    })
}

/// Gives the most plans that a device's cache keeps: 4096 at first, 1023 with a cuFFT before CUDA 10.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_max_size` [out]: plans.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_max_size` is NULL. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_max_size` is NULL or writable.
/// # Upstream
/// `torch.backends.cuda.cufft_plan_cache[device].max_size`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_max_size(
    device: i32,
    out_max_size: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_max_size = unsafe { Out::new(out_max_size, "out_max_size") }?;
        out_max_size.write(fft::cache_size(device)?.1);
        Ok(())
    })
}

/// Sets the most plans that a device's cache keeps. Those beyond it leave at once, the longest unused
/// first.
///
/// # Parameters
/// `device`: index, -1 for the current device. `max_size`: plans; with 0 none is kept, and each
/// transform makes its own.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `max_size` is negative, or more than a cuFFT before CUDA 10
/// can keep. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Plans that go are waited for where another thread is queuing a transform with them, at the longest
/// until it is queued. Destroying them may wait for the device.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.backends.cuda.cufft_plan_cache[device].max_size = n`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_set_max_size(device: i32, max_size: i64) -> sconce_status {
    guard(|| fft::set_max_size(device, max_size))
}

/// Gives the most bytes that the plans of a device's cache make the device hold: no limit at first.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_max_bytes` [out]: bytes; INT64_MAX is no limit.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_max_bytes` is NULL. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_max_bytes` is NULL or writable.
/// # Upstream
/// None; torch has no such limit.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_max_bytes(
    device: i32,
    out_max_bytes: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_max_bytes = unsafe { Out::new(out_max_bytes, "out_max_bytes") }?;
        out_max_bytes.write(fft::max_bytes(device)?);
        Ok(())
    })
}

/// Sets the most bytes that the plans of a device's cache make the device hold
/// (`sconce_fft_cache_stats::bytes`). Plans beyond it leave at once, the longest unused first.
///
/// # Parameters
/// `device`: index, -1 for the current device. `max_bytes`: bytes; INT64_MAX is no limit. A plan
/// that is larger by itself is used once and not kept.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `max_bytes` is negative. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Plans that go are waited for where another thread is queuing a transform with them, at the longest
/// until it is queued. Destroying them may wait for the device.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None; torch has no such limit.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_set_max_bytes(device: i32, max_bytes: i64) -> sconce_status {
    guard(|| fft::set_max_bytes(device, max_bytes))
}

/// Empties a device's cache of plans. Limits and counts stay.
///
/// # Parameters
/// `device`: index, -1 for the current device.
/// # Errors
/// INVALID_DEVICE. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Plans that go are waited for where another thread is queuing a transform with them, at the longest
/// until it is queued. Destroying them may wait for the device.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.backends.cuda.cufft_plan_cache[device].clear()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_clear(device: i32) -> sconce_status {
    guard(|| fft::clear_cache(device))
}

/// Gives the figures of a device's cache of plans, all at one moment but for hits of other threads.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_stats` [out]: its `struct_size` is set by the
/// caller (`SCONCE_FFT_CACHE_STATS_INIT`); as much as fits is written.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no
/// version's. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block. Looks at each plan, which takes some microseconds where there are thousands.
/// # Threads
/// Any.
/// # Safety
/// `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
/// # Upstream
/// None; torch counts neither hits nor evictions.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_fft_cache_get_stats(
    device: i32,
    out_stats: *mut sconce_fft_cache_stats,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let place = unsafe { OutStruct::new(out_stats, "out_stats") }?;
        place.write(fft::cache_stats(device)?.into());
        Ok(())
    })
}

/// Sets the counts of hits, misses and evictions of a device's cache to 0.
///
/// # Parameters
/// `device`: index, -1 for the current device.
/// # Errors
/// INVALID_DEVICE. NO_DEVICE, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_fft_cache_reset_stats(device: i32) -> sconce_status {
    guard(|| fft::reset_cache_stats(device))
}
