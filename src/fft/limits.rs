//! The caches of all devices: what callers read and set, and what the allocator asks for.

use once_cell::sync::OnceCell;

use super::CacheStats;
use super::cache::{Cache, Left};
use super::plan::{self, Plan};
use crate::context::{Runtime, runtime};
use crate::error::{Error, Result};
use crate::types::{DeviceIndex, MAX_DEVICES};
use crate::{device, memory, stream};

/// The most plans at first, as in torch.
const MOST_AT_FIRST: usize = 4096;

static CACHES: [OnceCell<Cache<Plan>>; MAX_DEVICES] = [const { OnceCell::new() }; MAX_DEVICES];

/// The cache of a device.
#[inline]
pub(super) fn cache_of(runtime: &Runtime, device: DeviceIndex) -> &'static Cache<Plan> {
    CACHES[device.as_usize()].get_or_init(|| {
        memory::reclaim::register(give_back);
        Cache::new(runtime.driver().fft_most_plans().min(MOST_AT_FIRST))
    })
}

/// A limit of a caller's, where the library can keep `most_plans`: with less than the limit at first
/// it is one that fails beyond.
fn checked_most(max_size: i64, most_plans: usize) -> Result<usize> {
    match usize::try_from(max_size) {
        Ok(most) if most <= most_plans || most_plans >= MOST_AT_FIRST => Ok(most),
        Ok(_) => Err(Error::invalid_argument(format!(
            "max_size is {max_size}; this version of cuFFT fails with more than {most_plans} plans"
        ))),
        Err(_) => {
            Err(Error::invalid_argument(format!("max_size is {max_size}; it must be non-negative")))
        }
    }
}

/// Takes up to `most` plans out of a device's cache so that their memory can be used otherwise, and
/// destroys what was put aside. Says how many; none while their memory could not go back.
pub(super) fn give_back(device: DeviceIndex, most: usize) -> usize {
    let Some(cache) = CACHES[device.as_usize()].get() else { return 0 };
    match runtime() {
        Ok(runtime) if !stream::is_under_capture(runtime, device) => {
            match plan::destroy_what_is_aside(runtime, device) {
                0 => cache.take_oldest(most).count,
                aside => aside,
            }
        }
        _ => 0,
    }
}

fn resolved(index: i32) -> Result<(&'static Runtime, DeviceIndex, &'static Cache<Plan>)> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    Ok((runtime, device, cache_of(runtime, device)))
}

/// Changes a cache, and destroys what has left it.
fn change(index: i32, change: impl FnOnce(&Cache<Plan>) -> Left<'_, Plan>) -> Result<()> {
    let (runtime, device, cache) = resolved(index)?;
    drop(change(cache));
    plan::destroy_what_is_aside(runtime, device);
    Ok(())
}

/// Figures of a device's cache.
pub fn cache_stats(index: i32) -> Result<CacheStats> {
    Ok(resolved(index)?.2.stats())
}

/// How many plans a device's cache has, and the most it may have.
pub fn cache_size(index: i32) -> Result<(usize, usize)> {
    Ok(resolved(index)?.2.size())
}

/// The most bytes that its plans may take.
pub fn max_bytes(index: i32) -> Result<u64> {
    Ok(resolved(index)?.2.most_bytes())
}

/// Sets the most plans.
pub fn set_max_size(index: i32, max_size: i64) -> Result<()> {
    let runtime = runtime()?;
    device::resolve(runtime, index)?;
    let most = checked_most(max_size, runtime.driver().fft_most_plans())?;
    change(index, |cache| cache.set_most(most))
}

/// Sets the most bytes.
pub fn set_max_bytes(index: i32, max_bytes: i64) -> Result<()> {
    device::resolve(runtime()?, index)?;
    let Ok(most) = u64::try_from(max_bytes) else {
        return Err(Error::invalid_argument(format!(
            "max_bytes is {max_bytes}; it must be non-negative, INT64_MAX for no limit"
        )));
    };
    change(index, |cache| cache.set_most_bytes(most))
}

/// Empties a device's cache.
pub fn clear_cache(index: i32) -> Result<()> {
    change(index, Cache::clear)
}

/// Sets a device's counts to 0.
pub fn reset_cache_stats(index: i32) -> Result<()> {
    resolved(index)?.2.reset_stats();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_library_that_fails_beyond_a_number_limits_the_limit() {
        for (max_size, most_plans, most) in [
            (0, 4096, Some(0)),
            (5000, 4096, Some(5000)),
            (i64::MAX, usize::MAX, Some(i64::MAX as usize)),
            (1023, 1023, Some(1023)),
            (1024, 1023, None),
            (-1, 4096, None),
        ] {
            assert_eq!(checked_most(max_size, most_plans).ok(), most, "{max_size} {most_plans}");
        }
        let message = checked_most(-7, 1023).unwrap_err().message().to_owned();
        assert!(message.contains("non-negative") && message.contains("-7"), "{message}");
        let message = checked_most(2000, 1023).unwrap_err().message().to_owned();
        assert!(message.contains("more than 1023 plans"), "{message}");
    }
}
