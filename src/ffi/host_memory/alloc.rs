//! Pinned host memory. See `docs/design/host_memory.md`.

use std::ffi::{c_char, c_void};
use std::ptr::without_provenance_mut;

use crate::context::runtime;
use crate::ffi::structs::OutStruct;
use crate::ffi::{
    Out, guard, guard_lockless, guard_runtime, sconce_host_memory_stats, sconce_status,
    sconce_stream, string,
};
use crate::host_memory;

/// Allocates page-locked host memory, which every device can copy from and to at full speed and
/// without blocking: from what was freed before, else from the driver. Contents are undefined.
///
/// # Parameters
/// `bytes`: how many; 0 gives NULL. `out_ptr` [out]: host address, a multiple of 64.
/// # Errors
/// OUT_OF_MEMORY: the system has no such memory left to pin. INVALID_ARGUMENT: `out_ptr` is NULL.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller frees it with `sconce_host_memory_free`.
/// # Ordering
/// Nothing uses the memory any more: neither the host nor a copy that was queued with it. Blocks
/// only when the driver is asked for memory. Before that, cached memory that does not fit may be
/// given back, which waits for the devices in use.
/// # Threads
/// Any.
/// # Safety
/// `out_ptr` is NULL or valid for writing one value.
/// # Upstream
/// `torch.empty(n, pin_memory=True)`, `at::cuda::getCachingHostAllocator()->allocate`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_alloc(
    bytes: usize,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_ptr = unsafe { Out::new(out_ptr, "out_ptr") }?;
        out_ptr.write(without_provenance_mut(host_memory::alloc(bytes)?));
        Ok(())
    })
}

/// Frees pinned memory: it is kept for later allocations.
///
/// # Parameters
/// `ptr`: what `sconce_host_memory_alloc` gave; NULL is a no-op.
/// # Errors
/// INVALID_ARGUMENT: `ptr` is not pinned memory of this library, points into it, or was freed
/// already; the message says which. INVALID_STATE and DRIVER: only for memory of others with
/// `pinned_free_catch_all`, while a stream is being captured, or when the driver refuses.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// Takes the memory back.
/// # Ordering
/// Does not block (but where `pinned_max_cached_size_mb` or `pinned_free_catch_all` has memory given
/// back at once, waits for the devices in use), and needs no waiting before it: the memory is not handed out again before the
/// copies of this library that use it, and the work of streams noted with
/// `sconce_host_memory_record_stream`, have finished.
/// # Threads
/// Any, not only the one that allocated.
/// # Safety
/// No requirements.
/// # Upstream
/// The deleter of a pinned tensor's `DataPtr`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_free(ptr: *mut c_void) -> sconce_status {
    guard_runtime(|| host_memory::free(ptr as usize))
}

/// Notes that work of a stream uses pinned memory: once freed, it is not used again before the work
/// that is queued there by then has finished. The copies of this library note themselves.
///
/// # Parameters
/// `ptr`: any address in memory that `sconce_host_memory_alloc` gave, also inside. NULL, and memory
/// that is not of this library, are ignored. `stream`: any stream the library gave out.
/// # Errors
/// INVALID_ARGUMENT: the memory was freed already. INVALID_HANDLE or INVALID_DEVICE: `stream` was
/// not given out by the library. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None. An external stream may be destroyed before the memory is freed, as with
/// `sconce_memory_record_stream`.
/// # Ordering
/// Does not block. If `stream` is external and not current at the free, the memory comes back as that
/// of `sconce_memory_record_stream` does.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `at::cuda::CachingHostAllocator_recordEvent`; there a slice needs the context of its tensor.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_record_stream(
    ptr: *mut c_void,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let stream = stream.resolve(runtime()?)?;
        host_memory::record_stream(ptr as usize, stream)
    })
}

/// Gives all pinned memory that nothing uses back to the system.
///
/// # Parameters
/// None.
/// # Errors
/// INVALID_STATE: a stream is being captured; nothing is given back. DRIVER: also for a failure of
/// earlier work on a device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Waits for no copy: memory that waits for one stays, unless its stream is gone. Giving back waits
/// for the devices in use.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch._C._host_emptyCache()`, `at::cuda::CachingHostAllocator_emptyCache`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_empty_cache() -> sconce_status {
    guard(host_memory::empty_cache)
}

/// Tells whether an address is page-locked host memory that the driver knows, whoever locked it.
///
/// The question opens no backend, so that a program may ask and then fork. Before the first call that
/// opens one, without a device, and in a forked child that cannot use devices, the answer is false.
///
/// # Parameters
/// `ptr`: any address; NULL is not pinned. `out_pinned` [out].
/// # Errors
/// INVALID_ARGUMENT: `out_pinned` is NULL. DRIVER: the driver refuses the question.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_pinned` is NULL or valid for writing one value; `ptr` is not followed.
/// # Upstream
/// `torch.Tensor.is_pinned()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_is_pinned(
    ptr: *const c_void,
    out_pinned: *mut bool,
) -> sconce_status {
    guard_lockless(|| {
        // SAFETY: the caller promises a writable place.
        let out_pinned = unsafe { Out::new(out_pinned, "out_pinned") }?;
        out_pinned.write(host_memory::is_pinned(ptr as usize)?);
        Ok(())
    })
}

/// Gives all figures of pinned host memory.
///
/// # Parameters
/// `out_stats` [out]: its `struct_size` is set by the caller (`SCONCE_HOST_MEMORY_STATS_INIT`); as much as
/// fits is written.
/// # Errors
/// INVALID_ARGUMENT: `out_stats` is NULL, or its `struct_size` is no version's. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block. Zeros where nothing has been allocated yet.
/// # Threads
/// Any.
/// # Safety
/// `out_stats` is NULL or points to as many writable bytes as its `struct_size` says.
/// # Upstream
/// `torch.cuda.host_memory_stats()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_get_stats(
    out_stats: *mut sconce_host_memory_stats,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller's promise is the one asked for.
        let out_stats = unsafe { OutStruct::new(out_stats, "out_stats") }?;
        out_stats.write((&host_memory::stats()?).into());
        Ok(())
    })
}

/// Gives all figures of pinned host memory as one flat JSON object with torch's keys, e.g.
/// `"active_bytes.peak"`.
///
/// # Parameters
/// `out_json` [out].
/// # Errors
/// INVALID_ARGUMENT: `out_json` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller frees the text with `sconce_string_free`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_json` is NULL or valid for writing one value.
/// # Upstream
/// `json.dumps(torch.cuda.host_memory_stats())`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_host_memory_get_stats_json(
    out_json: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_json = unsafe { Out::new(out_json, "out_json") }?;
        out_json.write(string::into_raw(host_memory::stats_json(&host_memory::stats()?)));
        Ok(())
    })
}

/// Makes the peaks of pinned host memory the values of now, and forgets the longest and shortest
/// times.
///
/// # Parameters
/// None.
/// # Errors
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.reset_peak_host_memory_stats()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_reset_peak_stats() -> sconce_status {
    guard(host_memory::reset_peak_stats)
}

/// Makes the sums and counts of pinned host memory 0.
///
/// # Parameters
/// None.
/// # Errors
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.reset_accumulated_host_memory_stats()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_host_memory_reset_accumulated_stats() -> sconce_status {
    guard(host_memory::reset_accumulated_stats)
}
