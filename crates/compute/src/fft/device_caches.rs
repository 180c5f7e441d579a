//! The plan caches of all devices: settings and figures for callers, memory for the allocator.

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::{Error, Result};
use sconce_base::lock::{OnceCell, rank};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device::parked;
use sconce_runtime::{device, memory, stream};

use super::CacheStats;
use super::plan::{self, DevicePlan};
use super::plan_cache::{PlanCache, RemovedPlans};

/// The `max_size` that a cache has at first, as in torch.
const DEFAULT_MAX_SIZE: usize = 4096;

static CACHES: PerDevice<OnceCell<rank::FftCaches, PlanCache<DevicePlan>>> =
    per_device!(OnceCell::new());

/// The cache of a device.
#[inline]
pub(crate) fn cache_of(runtime: &Runtime, device: DeviceIndex) -> &'static PlanCache<DevicePlan> {
    CACHES[device].get_or_init(|| {
        memory::reclaim::register(give_back);
        // Plans that could not be destroyed at once.
        parked::give_back_at_rest(plan::destroy_all_deferred);
        PlanCache::new(runtime.driver().fft_most_plans().min(DEFAULT_MAX_SIZE))
    })
}

/// Checks a caller's `max_size`. A cuFFT before CUDA 10 fails beyond 1,023 plans; such a library is
/// recognised by a `library_limit` below the default.
fn checked_max_size(max_size: i64, library_limit: usize) -> Result<usize> {
    match usize::try_from(max_size) {
        Ok(size) if size <= library_limit || library_limit >= DEFAULT_MAX_SIZE => Ok(size),
        Ok(_) => Err(Error::invalid_argument(format!(
            "max_size is {max_size}; this version of cuFFT fails with more than {library_limit} plans"
        ))),
        Err(_) => {
            Err(Error::invalid_argument(format!("max_size is {max_size}; it must be non-negative")))
        }
    }
}

/// Frees memory of a device: destroys the plans whose destruction was deferred, or else evicts up to
/// `count` plans. Returns how many plans that were; 0 while a stream of the device is captured, since the
/// driver takes no memory back then.
pub(super) fn give_back(device: DeviceIndex, count: usize) -> usize {
    let Some(cache) = CACHES[device].get() else { return 0 };
    let Ok(runtime) = runtime() else { return 0 };
    let Some(_no_capture_begins) = stream::give_back(runtime, device, None) else { return 0 };
    match plan::destroy_deferred(runtime, device) {
        0 => cache.evict_oldest(count).count,
        destroyed => destroyed,
    }
}

fn resolved(index: i32) -> Result<(&'static Runtime, DeviceIndex, &'static PlanCache<DevicePlan>)> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    Ok((runtime, device, cache_of(runtime, device)))
}

/// Changes a cache, and destroys the plans that leave it.
fn change(
    index: i32,
    change: impl FnOnce(&PlanCache<DevicePlan>) -> RemovedPlans<'_, DevicePlan>,
) -> Result<()> {
    let (runtime, device, cache) = resolved(index)?;
    drop(change(cache));
    plan::destroy_deferred(runtime, device);
    Ok(())
}

/// The figures of a device's cache.
pub fn cache_stats(index: i32) -> Result<CacheStats> {
    let (_, device, cache) = resolved(index)?;
    let mut stats = cache.stats();
    let outside = plan::cost_outside(device);
    stats.plan_bytes += outside.plan;
    stats.workspace_bytes += outside.workspace;
    Ok(stats)
}

/// The number of plans in a device's cache, and its limit.
pub fn cache_size(index: i32) -> Result<(usize, usize)> {
    Ok(resolved(index)?.2.size())
}

/// The limit of a device's cache in bytes.
pub fn max_bytes(index: i32) -> Result<u64> {
    Ok(resolved(index)?.2.max_bytes())
}

/// Sets the limit of a device's cache in plans.
pub fn set_max_size(index: i32, max_size: i64) -> Result<()> {
    let runtime = runtime()?;
    device::resolve(runtime, index)?;
    let max_size = checked_max_size(max_size, runtime.driver().fft_most_plans())?;
    change(index, |cache| cache.set_max_size(max_size))
}

/// Sets the limit of a device's cache in bytes.
pub fn set_max_bytes(index: i32, max_bytes: i64) -> Result<()> {
    let device = device::resolve(runtime()?, index)?;
    let Ok(max_bytes) = u64::try_from(max_bytes) else {
        return Err(Error::invalid_argument(format!(
            "max_bytes is {max_bytes}; it must be non-negative, INT64_MAX for no limit"
        )));
    };
    change(index, |cache| cache.set_max_bytes(max_bytes, plan::cost_outside(device)))
}

/// Removes all plans from a device's cache.
pub fn clear_cache(index: i32) -> Result<()> {
    change(index, PlanCache::clear)
}

/// Sets the hits, misses and evictions of a device's cache to 0.
pub fn reset_cache_stats(index: i32) -> Result<()> {
    resolved(index)?.2.reset_stats();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_library_that_fails_beyond_a_number_limits_max_size() {
        for (max_size, library_limit, checked) in [
            (0, 4096, Some(0)),
            (5000, 4096, Some(5000)),
            (i64::MAX, usize::MAX, Some(i64::MAX as usize)),
            (1023, 1023, Some(1023)),
            (1024, 1023, None),
            (-1, 4096, None),
        ] {
            let found = checked_max_size(max_size, library_limit).ok();
            assert_eq!(found, checked, "{max_size} {library_limit}");
        }
        let message = checked_max_size(-7, 1023).unwrap_err().message().to_owned();
        assert!(message.contains("non-negative") && message.contains("-7"), "{message}");
        let message = checked_max_size(2000, 1023).unwrap_err().message().to_owned();
        assert!(message.contains("more than 1023 plans"), "{message}");
    }
}
