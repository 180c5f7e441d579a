//! Device memory: allocating and freeing. See `docs/design/memory.md`.

use std::ffi::c_void;
use std::ptr::without_provenance_mut;

use crate::context::runtime;
use crate::ffi::{Out, guard, guard_runtime, sconce_status, sconce_stream};
use crate::memory;

/// Allocates memory of the current device for its current stream: from what was freed there before,
/// else from the driver. Contents are undefined.
///
/// # Parameters
/// `bytes`: how many; 0 gives NULL. `out_ptr` [out]: device address, a multiple of 512; the host
/// cannot follow it.
/// # Errors
/// OUT_OF_MEMORY: the device, or the share of it that is allowed, has no such room left; the message
/// has the figures. INVALID_ARGUMENT: `out_ptr` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// The caller frees it with `sconce_memory_free`.
/// # Ordering
/// The memory is for work of that stream: earlier work of it may still use the same bytes. Work of
/// other streams is ordered after an event of it, and noted with `sconce_memory_record_stream`.
/// Blocks only when the driver is asked for memory.
/// # Threads
/// Any.
/// # Safety
/// `out_ptr` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.caching_allocator_alloc()`, `c10::cuda::CUDACachingAllocator::raw_alloc`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_alloc(
    bytes: usize,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_ptr = unsafe { Out::new(out_ptr, "out_ptr") }?;
        out_ptr.write(without_provenance_mut(memory::alloc(bytes)?));
        Ok(())
    })
}

/// Allocates memory for a stream, on the stream's device. Contents are undefined.
///
/// # Parameters
/// `bytes`: how many; 0 gives NULL. `stream`: any stream the library gave out. `out_ptr` [out]:
/// device address, a multiple of 512; the host cannot follow it.
/// # Errors
/// OUT_OF_MEMORY: the device, or the share of it that is allowed, has no such room left; the message
/// has the figures. INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library.
/// INVALID_ARGUMENT: `out_ptr` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller frees it with `sconce_memory_free`.
/// # Ordering
/// As `sconce_memory_alloc`, for `stream` instead of the current one.
/// # Threads
/// Any.
/// # Safety
/// `out_ptr` is NULL or valid for writing one value.
/// # Upstream
/// `c10::cuda::CUDACachingAllocator::raw_alloc_with_stream`; there the current device counts.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_alloc_on(
    bytes: usize,
    stream: sconce_stream,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_ptr = unsafe { Out::new(out_ptr, "out_ptr") }?;
        let address = memory::alloc_on_named(bytes, stream.id, stream.device)?;
        out_ptr.write(without_provenance_mut(address));
        Ok(())
    })
}

/// Frees memory: it is kept for later allocations on the stream it was allocated for.
///
/// # Parameters
/// `ptr`: what an allocating function of this library gave; NULL is a no-op.
/// # Errors
/// INVALID_ARGUMENT: `ptr` is not memory of this library, points into it, or was freed already; the
/// message says which. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// Takes the memory back.
/// # Ordering
/// Does not block, and needs no waiting before it: queued work of the stream that the memory was
/// allocated for, and of streams noted with `sconce_memory_record_stream`, may still use it.
/// # Threads
/// Any, not only the one that allocated.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.caching_allocator_delete()`, `c10::cuda::CUDACachingAllocator::raw_delete`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_free(ptr: *mut c_void) -> sconce_status {
    guard_runtime(|| memory::free(ptr as usize))
}

/// Notes that work of another stream uses an allocation: once freed, it is not used again before
/// the work that is queued there by then has finished.
///
/// # Parameters
/// `ptr`: any address in memory that an allocating function of this library returned; it stands for
/// the whole block. NULL, and memory that is not of this library, are ignored. `stream`: any stream
/// the library gave out; the one that the memory was allocated for is ignored.
/// # Errors
/// INVALID_ARGUMENT: the memory was freed already. INVALID_HANDLE or INVALID_DEVICE: `stream` was not
/// given out by the library. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None. An external stream may be destroyed before the memory is freed. The memory is then used again
/// once a call of the library has waited for the whole device.
/// # Ordering
/// Does not block. If `stream` is external and not current at the free, the library must not touch it
/// there: the memory comes back after a later call that names the stream (`record_stream`, an
/// allocation on it, `sconce_stream_get_from_external`, `sconce_stream_synchronize`) or waits for the
/// device (`sconce_device_synchronize`, `sconce_memory_empty_cache`, an allocation that finds no
/// memory).
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.Tensor.record_stream()`, `c10::cuda::CUDACachingAllocator::recordStream`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_record_stream(
    ptr: *mut c_void,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let stream = stream.resolve(runtime()?)?;
        memory::record_stream(ptr as usize, stream)
    })
}

/// Gives the memory of every device that nothing uses back to the driver.
///
/// # Parameters
/// None.
/// # Errors
/// DRIVER: also for a failure of earlier work on a device. INVALID_STATE: a stream is being captured.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Waits for the streams that freed memory still waits for; giving back waits for the device.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.empty_cache()`, `c10::cuda::CUDACachingAllocator::emptyCache`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_empty_cache() -> sconce_status {
    guard(memory::empty_cache)
}

/// Gives the driver's allocation that an allocation is a piece of, e.g. to share it with another
/// process.
///
/// # Parameters
/// `ptr`: any address in memory that is allocated from this library. `out_base` [out]: where the
/// driver's allocation begins. `out_bytes` [out]: its size.
/// # Errors
/// INVALID_ARGUMENT: `ptr` is not in allocated memory of this library, or `out_base` or `out_bytes`
/// is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None: the library may give the driver's allocation back once all its pieces are freed.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_base` and `out_bytes` are each NULL or valid for writing one value.
/// # Upstream
/// `c10::cuda::CUDACachingAllocator::getBaseAllocation`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_base(
    ptr: *const c_void,
    out_base: *mut *mut c_void,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_base = unsafe { Out::new(out_base, "out_base") }?;
        // SAFETY: the caller promises a writable place.
        let out_bytes = unsafe { Out::new(out_bytes, "out_bytes") }?;
        let (base, bytes) = memory::base_of(ptr as usize)?;
        out_base.write(without_provenance_mut(base));
        out_bytes.write(bytes);
        Ok(())
    })
}

/// Gives the size of an allocation's block: what was asked for, rounded up, and a rest that was too small to
/// be split off.
///
/// # Parameters
/// `ptr`: what an allocating function of this library gave. `out_bytes` [out].
/// # Errors
/// INVALID_ARGUMENT: `ptr` is NULL, is not memory of this library, points into it, or was freed; or
/// `out_bytes` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None; the caller may use all of these bytes.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_bytes` is NULL or valid for writing one value.
/// # Upstream
/// None; `malloc_usable_size` in spirit. torch has the same blocks and does not show them.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_usable_bytes(
    ptr: *const c_void,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_bytes = unsafe { Out::new(out_bytes, "out_bytes") }?;
        out_bytes.write(memory::usable_bytes(ptr as usize)?);
        Ok(())
    })
}
