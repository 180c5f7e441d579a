//! Device memory: statistics.

use std::ffi::c_char;

use sconce_base::error::Result;
use sconce_runtime::context::runtime_if_any;
use sconce_runtime::device;
use sconce_runtime::memory::{self, MemoryStats, report};

use crate::{CBool, Out, guard, sconce_memory_stats, sconce_status, string};

/// Reports all statistics of a device; zeros if nothing has been allocated on it yet.
///
/// While other threads allocate, a reported peak may be up to a sixteenth too high. It is never too
/// low.
///
/// - `out_stats`: receives the statistics; begin with `SCONCE_MEMORY_STATS_INIT`.
/// - torch: `torch.cuda.memory_stats()`, `CUDACachingAllocator::getDeviceStats`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_stats(
    device: i32,
    out_stats: *mut sconce_memory_stats,
) -> sconce_status {
    guard(|| {
        let out_stats = out_struct!(out_stats);
        memory::with_stats(device, |stats| out_stats.write_twin(stats))
    })
}

/// Reports all statistics of a device as one flat JSON object with torch's keys, e.g.
/// `"reserved_bytes.all.peak"`.
///
/// - `out_json`: receives the text.
/// - torch: `json.dumps(torch.cuda.memory_stats())`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_stats_json(
    device: i32,
    out_json: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let out_json = out!(out_json);
        let json = match runtime_if_any()? {
            None => String::from("{}"),
            Some(_) => report::stats_json(&memory::stats(device)?),
        };
        out_json.write(string::into_raw(json));
        Ok(())
    })
}

/// Writes one number, which is never negative.
fn write_bytes(device: i32, out_bytes: Out<usize>, figure: fn(&MemoryStats) -> i64) -> Result<()> {
    let value = memory::with_stats(device, figure)?;
    out_bytes.write(usize::try_from(value).unwrap_or(0));
    Ok(())
}

/// Reports the bytes of a device that callers hold.
///
/// - `out_bytes`: receives the number.
/// - torch: `torch.cuda.memory_allocated()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_allocated(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| write_bytes(device, out!(out_bytes), |stats| stats.allocated_bytes.all.current))
}

/// Reports the peak of the bytes of a device that callers hold, since the start or
/// `sconce_memory_reset_peak_stats`.
///
/// - `out_bytes`: receives the number.
/// - torch: `torch.cuda.max_memory_allocated()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_max_allocated(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| write_bytes(device, out!(out_bytes), |stats| stats.allocated_bytes.all.peak))
}

/// Reports the bytes of a device that this process has taken from the driver, in use or cached.
///
/// - `out_bytes`: receives the number.
/// - torch: `torch.cuda.memory_reserved()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_reserved(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| write_bytes(device, out!(out_bytes), |stats| stats.reserved_bytes.all.current))
}

/// Reports the peak of the bytes of a device that this process has taken from the driver, since the
/// start or `sconce_memory_reset_peak_stats`.
///
/// - `out_bytes`: receives the number.
/// - torch: `torch.cuda.max_memory_reserved()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_max_reserved(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| write_bytes(device, out!(out_bytes), |stats| stats.reserved_bytes.all.peak))
}

/// Sets every peak of a device to the current value.
///
/// - torch: `torch.cuda.reset_peak_memory_stats()`, `CUDACachingAllocator::resetPeakStats`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_reset_peak_stats(device: i32) -> sconce_status {
    guard(|| memory::reset_peak_stats(device))
}

/// Sets every accumulated sum and count of a device to 0.
///
/// - torch: `torch.cuda.reset_accumulated_memory_stats()`,
///   `CUDACachingAllocator::resetAccumulatedStats`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_reset_accumulated_stats(device: i32) -> sconce_status {
    guard(|| memory::reset_accumulated_stats(device))
}

/// Returns the statistics of a device as a table for human readers.
///
/// - `abbreviated`: omits the lines for small and large blocks.
/// - `out_text`: receives the text.
/// - torch: `torch.cuda.memory_summary()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_summary(
    device: i32,
    abbreviated: CBool,
    out_text: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let out_text = out!(out_text);
        let summary = match runtime_if_any()? {
            None => String::new(),
            Some(runtime) => {
                let device = device::resolve(runtime, device)?.as_i32();
                report::summary(&memory::stats(device)?, device, abbreviated.is_true())
            }
        };
        out_text.write(string::into_raw(summary));
        Ok(())
    })
}
