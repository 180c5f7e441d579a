//! Pinned host memory. See `docs/design/host_memory.md`.

use std::ffi::{c_char, c_void};
use std::ptr::without_provenance_mut;

use sconce_runtime::context::{runtime, runtime_if_any};
use sconce_runtime::host_memory;

use crate::{
    guard, guard_lockless, guard_runtime, sconce_host_memory_stats, sconce_status, sconce_stream,
    string,
};

/// Allocates page-locked host memory, from cached memory or else from the driver. Every device can
/// copy from and to it at full speed and without blocking. The contents are undefined.
///
/// No copy that was queued earlier still uses the memory.
///
/// - `bytes`: 0 returns NULL.
/// - `out_ptr`: receives a host address, a multiple of 64.
/// - Errors: OUT_OF_MEMORY: the system can pin no more memory.
/// - Ownership: the caller frees the memory with `sconce_host_memory_free`.
/// - Ordering: blocks only while the driver allocates. Before that, cached memory that is too small
///   may be returned to the system, which waits for the devices in use.
/// - torch: `torch.empty(n, pin_memory=True)`, `at::cuda::getCachingHostAllocator()->allocate`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_alloc(
    bytes: usize,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard_runtime(|| {
        let out_ptr = out!(out_ptr);
        out_ptr.write(without_provenance_mut(host_memory::alloc(bytes)?));
        Ok(())
    })
}

/// Frees pinned memory, on any thread. The cache keeps it for later allocations.
///
/// The caller need not wait: the memory is not allocated again before the copies of this library
/// that use it have finished, and the work of streams noted with
/// `sconce_host_memory_record_stream`.
///
/// - `ptr`: the address that `sconce_host_memory_alloc` returned; NULL is a no-op.
/// - Errors: INVALID_ARGUMENT: `ptr` is not pinned memory of this library, points into it, or was
///   freed already; the message states which. INVALID_STATE and DRIVER: only under
///   `pinned_free_catch_all` for memory of other code, while a stream is being captured or if the
///   driver refuses.
/// - Ordering: does not block, except where `pinned_max_cached_size_mb` or `pinned_free_catch_all`
///   returns memory at once: that waits for the devices in use.
/// - torch: the deleter of a pinned tensor's `DataPtr`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_free(ptr: *mut c_void) -> sconce_status {
    guard_runtime(|| host_memory::free(ptr as usize))
}

/// Notes that work of a stream uses pinned memory. After the memory is freed, it is not reused
/// before the work that is queued on that stream at the time of the free has finished. Copies of
/// this library are noted automatically.
///
/// External streams are treated as in `sconce_memory_record_stream`.
///
/// - `ptr`: any address in an allocation of `sconce_host_memory_alloc`. NULL and memory that is not
///   of this library are ignored.
/// - Errors: INVALID_ARGUMENT: the memory was freed already.
/// - torch: `at::cuda::CachingHostAllocator_recordEvent`, which for a slice needs the context of
///   its tensor.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_record_stream(
    ptr: *mut c_void,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let stream = stream.resolve(runtime()?)?;
        host_memory::record_stream(ptr as usize, stream).map(drop)
    })
}

/// Notes that work of a stream uses pinned memory, as `sconce_host_memory_record_stream`, and
/// reports whether the memory is of this library.
///
/// - `ptr`: any address in an allocation of `sconce_host_memory_alloc`. NULL and memory that is not
///   of this library are ignored.
/// - `out_known`: receives whether the use was noted.
/// - Errors: INVALID_ARGUMENT: the memory was freed already.
/// - torch: the result of `at::cuda::CachingHostAllocator_recordEvent`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_try_record_stream(
    ptr: *mut c_void,
    stream: sconce_stream,
    out_known: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_known = out!(out_known);
        let stream = stream.resolve(runtime()?)?;
        out_known.write(host_memory::record_stream(ptr as usize, stream)?);
        Ok(())
    })
}

/// Returns all unused pinned memory to the system.
///
/// - Errors: INVALID_STATE: a stream is being captured; nothing is returned.
/// - Ordering: does not wait for copies: memory that a copy may still use is kept, unless its
///   stream no longer exists. Returning memory waits for the devices in use.
/// - torch: `torch._C._host_emptyCache()`, `at::cuda::CachingHostAllocator_emptyCache`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_empty_cache() -> sconce_status {
    guard(host_memory::empty_cache)
}

/// Reports whether an address is page-locked host memory that the driver knows, whichever code
/// locked it.
///
/// The call does not initialise the library, so that a program may call it and fork later. The
/// answer is false before the library is initialised, without a device, and in a forked child that
/// cannot use devices.
///
/// - `ptr`: any address; NULL is not pinned.
/// - `out_pinned`: receives the answer.
/// - torch: `torch.Tensor.is_pinned()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_is_pinned(
    ptr: *const c_void,
    out_pinned: *mut bool,
) -> sconce_status {
    guard_lockless(|| {
        let out_pinned = out!(out_pinned);
        out_pinned.write(host_memory::is_pinned(ptr as usize)?);
        Ok(())
    })
}

/// Reports all statistics of pinned host memory; zeros if none has been allocated yet.
///
/// - `out_stats`: receives the statistics; begin with `SCONCE_HOST_MEMORY_STATS_INIT`.
/// - torch: `torch.cuda.host_memory_stats()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_get_stats(
    out_stats: *mut sconce_host_memory_stats,
) -> sconce_status {
    guard(|| {
        let out_stats = out_struct!(out_stats);
        out_stats.write((&host_memory::stats()?).into());
        Ok(())
    })
}

/// Reports all statistics of pinned host memory as one flat JSON object with torch's keys, e.g.
/// `"active_bytes.peak"`.
///
/// - `out_json`: receives the text.
/// - torch: `json.dumps(torch.cuda.host_memory_stats())`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_get_stats_json(
    out_json: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let out_json = out!(out_json);
        let json = match runtime_if_any()? {
            None => String::from("{}"),
            Some(_) => host_memory::stats_json(&host_memory::stats()?),
        };
        out_json.write(string::into_raw(json));
        Ok(())
    })
}

/// Sets the peaks of pinned host memory to the current values, and resets the longest and shortest
/// times.
///
/// - torch: `torch.cuda.reset_peak_host_memory_stats()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_reset_peak_stats() -> sconce_status {
    guard(host_memory::reset_peak_stats)
}

/// Sets the accumulated sums and counts of pinned host memory to 0.
///
/// - torch: `torch.cuda.reset_accumulated_host_memory_stats()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_reset_accumulated_stats() -> sconce_status {
    guard(host_memory::reset_accumulated_stats)
}
