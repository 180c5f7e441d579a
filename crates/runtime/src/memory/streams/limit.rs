//! How much of a device's memory this process may get from the driver.

use std::sync::atomic::Ordering;

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;

use super::device::DeviceMemory;
use crate::caching::settings;
use crate::context::{Runtime, runtime};
use crate::device;

/// Learns a device's size, and sets the limit that the settings ask for, before its first cache.
pub(crate) fn prepare(runtime: &Runtime, home: &DeviceMemory, device: DeviceIndex) -> Result<()> {
    if home.total_bytes.load(Ordering::Acquire) != 0 {
        return Ok(());
    }
    let total = runtime.driver().device_properties(device)?.total_memory_bytes;
    home.total_bytes.store(total as usize, Ordering::Release);
    follow_settings(home);
    Ok(())
}

/// Sets what the settings say about a device that has been used, unless a caller has set its limit.
pub(crate) fn follow_settings(home: &DeviceMemory) {
    let total = home.total_bytes.load(Ordering::Acquire);
    if total == 0 {
        return;
    }
    let fraction = settings::current().per_process_memory_fraction;
    {
        let mut accounting = home.accounting.lock();
        if !accounting.limit_is_callers {
            accounting.limit = limit(fraction, total);
        }
    }
    home.review();
}

/// A share of a device's memory in bytes; all of it is no limit.
fn limit(fraction: f64, total: usize) -> Option<u64> {
    (fraction < 1.0).then_some((fraction * total as f64) as u64)
}

/// Limits what may be got from the driver on a device (-1: the current one); 1 takes the limit away.
pub fn set_fraction(fraction: f64, index: i32) -> Result<()> {
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Error::invalid_argument(format!(
            "fraction is {fraction}; it must be from 0 to 1"
        )));
    }
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let home = DeviceMemory::of(device);
    prepare(runtime, home, device)?;
    let total = home.total_bytes.load(Ordering::Acquire);
    {
        let mut accounting = home.accounting.lock();
        accounting.limit = limit(fraction, total);
        accounting.limit_is_callers = true;
    }
    home.review();
    Ok(())
}

/// The share of a device's memory (-1: the current one) that may be got from the driver.
pub fn get_fraction(index: i32) -> Result<f64> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let home = DeviceMemory::of(device);
    prepare(runtime, home, device)?;
    let total = home.total_bytes.load(Ordering::Acquire) as f64;
    Ok(home.accounting.lock().limit.map_or(1.0, |limit| limit as f64 / total))
}
