//! Device memory: how much is in use, and how much was at most.

use std::ffi::c_char;

use crate::context::runtime;
use crate::device;
use crate::error::Result;
use crate::ffi::structs::OutStruct;
use crate::ffi::{CBool, Out, guard, sconce_memory_stats, sconce_status, string};
use crate::memory::{self, MemoryStats, report};

/// Gives all figures of a device.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_stats` [out]: its `struct_size` is set by the
/// caller (`SCONCE_MEMORY_STATS_INIT`); as much as fits is written.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no
/// version's. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block. Zeros where nothing has been allocated yet.
/// # Threads
/// Any. While other threads allocate, a peak may be told up to a sixteenth too high, never too low.
/// # Safety
/// `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
/// # Upstream
/// `torch.cuda.memory_stats()`, `CUDACachingAllocator::getDeviceStats`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_stats(
    device: i32,
    out_stats: *mut sconce_memory_stats,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_stats = unsafe { OutStruct::new(out_stats, "out_stats") }?;
        out_stats.write(sconce_memory_stats::from(&memory::stats(device)?));
        Ok(())
    })
}

/// Gives all figures of a device as one flat JSON object with torch's keys, e.g.
/// `"reserved_bytes.all.peak"`.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_json` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_json` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// The caller frees the text with `sconce_string_free`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_json` is NULL or valid for writing one value.
/// # Upstream
/// `json.dumps(torch.cuda.memory_stats())`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_stats_json(
    device: i32,
    out_json: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_json = unsafe { Out::new(out_json, "out_json") }?;
        out_json.write(string::into_raw(report::stats_json(&memory::stats(device)?)));
        Ok(())
    })
}

/// Writes one figure, which is never negative.
///
/// # Safety
/// `out_bytes` is NULL or valid for writing one value.
unsafe fn write_bytes(
    device: i32,
    out_bytes: *mut usize,
    figure: fn(&MemoryStats) -> i64,
) -> Result<()> {
    // SAFETY: the caller promises a writable place.
    let out_bytes = unsafe { Out::new(out_bytes, "out_bytes") }?;
    out_bytes.write(usize::try_from(figure(&memory::stats(device)?)).unwrap_or(0));
    Ok(())
}

/// Gives the bytes of a device that callers hold.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_bytes` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_bytes` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.memory_allocated()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_allocated(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    // SAFETY: the caller's promise is the one asked for.
    guard(|| unsafe { write_bytes(device, out_bytes, |stats| stats.allocated_bytes.all.current) })
}

/// Gives the most bytes of a device that callers have held at a time, since the start or
/// `sconce_memory_reset_peak_stats`.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_bytes` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_bytes` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.max_memory_allocated()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_max_allocated(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    // SAFETY: the caller's promise is the one asked for.
    guard(|| unsafe { write_bytes(device, out_bytes, |stats| stats.allocated_bytes.all.peak) })
}

/// Gives the bytes of a device that this process has got from the driver, used or kept.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_bytes` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_bytes` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.memory_reserved()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_reserved(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    // SAFETY: the caller's promise is the one asked for.
    guard(|| unsafe { write_bytes(device, out_bytes, |stats| stats.reserved_bytes.all.current) })
}

/// Gives the most bytes of a device that this process has had from the driver at a time, since the
/// start or `sconce_memory_reset_peak_stats`.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_bytes` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_bytes` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.max_memory_reserved()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_max_reserved(
    device: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    // SAFETY: the caller's promise is the one asked for.
    guard(|| unsafe { write_bytes(device, out_bytes, |stats| stats.reserved_bytes.all.peak) })
}

/// Sets every peak of a device to the value of now.
///
/// # Parameters
/// `device`: index, -1 for the current device.
/// # Errors
/// INVALID_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.reset_peak_memory_stats()`, `CUDACachingAllocator::resetPeakStats`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_reset_peak_stats(device: i32) -> sconce_status {
    guard(|| memory::reset_peak_stats(device))
}

/// Sets every sum and every count of occasions of a device to 0.
///
/// # Parameters
/// `device`: index, -1 for the current device.
/// # Errors
/// INVALID_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.reset_accumulated_memory_stats()`, `CUDACachingAllocator::resetAccumulatedStats`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_reset_accumulated_stats(device: i32) -> sconce_status {
    guard(|| memory::reset_accumulated_stats(device))
}

/// Gives the figures of a device as a table for people.
///
/// # Parameters
/// `device`: index, -1 for the current device. `abbreviated`: without the lines of the two kinds of
/// block. `out_text` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_text` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// The caller frees the text with `sconce_string_free`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_text` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.memory_summary()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_summary(
    device: i32,
    abbreviated: CBool,
    out_text: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_text = unsafe { Out::new(out_text, "out_text") }?;
        let device = device::resolve(runtime()?, device)?.as_i32();
        let summary = report::summary(&memory::stats(device)?, device, abbreviated.is_true());
        out_text.write(string::into_raw(summary));
        Ok(())
    })
}
