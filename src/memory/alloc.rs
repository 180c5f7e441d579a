//! Device memory: allocating and freeing. See `docs/design/memory.md`.

use std::ffi::c_void;
use std::ptr::without_provenance_mut;

use sconce_runtime::context::runtime;
use sconce_runtime::memory;

use crate::{guard, guard_runtime, sconce_status, sconce_stream};

/// Allocates memory of the current device for its current stream, from memory freed on that stream
/// or else from the driver. The contents are undefined.
///
/// The memory is for work of that stream: earlier work of the stream may still use the same bytes.
/// Work of other streams must wait for an event of that stream, and must be noted with
/// `sconce_memory_record_stream`.
///
/// - `bytes`: 0 returns NULL.
/// - `out_ptr`: receives a device address, a multiple of 512, that the host cannot access.
/// - Errors: OUT_OF_MEMORY: the device, or the share of it that the process may use, has not enough
///   memory left; the message lists the figures.
/// - Ownership: the caller frees the memory with `sconce_memory_free`.
/// - Ordering: blocks only while the driver allocates.
/// - torch: `torch.cuda.caching_allocator_alloc()`, `c10::cuda::CUDACachingAllocator::raw_alloc`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_alloc(
    bytes: usize,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard_runtime(|| {
        let out_ptr = out!(out_ptr);
        out_ptr.write(without_provenance_mut(memory::alloc(bytes)?));
        Ok(())
    })
}

/// Allocates memory for a stream, on the stream's device. Otherwise as `sconce_memory_alloc`.
///
/// - `bytes`: 0 returns NULL.
/// - `out_ptr`: receives the address.
/// - torch: `c10::cuda::CUDACachingAllocator::raw_alloc_with_stream`, which uses the current
///   device.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_alloc_on(
    bytes: usize,
    stream: sconce_stream,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard_runtime(|| {
        let out_ptr = out!(out_ptr);
        let address = memory::alloc_on_named(bytes, stream.id, stream.device)?;
        out_ptr.write(without_provenance_mut(address));
        Ok(())
    })
}

/// Frees memory, on any thread. The cache keeps the memory for later allocations on the stream for
/// which it was allocated.
///
/// The caller need not wait for queued work that uses the memory, on the stream for which it was
/// allocated and on streams noted with `sconce_memory_record_stream`.
///
/// - `ptr`: the address that an allocating function returned; NULL is a no-op.
/// - Errors: INVALID_ARGUMENT: `ptr` is not memory of this library, points into it, or was freed
///   already; the message states which.
/// - torch: `torch.cuda.caching_allocator_delete()`, `c10::cuda::CUDACachingAllocator::raw_delete`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_free(ptr: *mut c_void) -> sconce_status {
    guard_runtime(|| memory::free(ptr as usize))
}

/// Notes that work of another stream uses an allocation. After the allocation is freed, its memory
/// is not reused before the work that is queued on that stream at the time of the free has
/// finished.
///
/// An external stream may be destroyed before the memory is freed. The memory is then reused after
/// a call of this library has waited for the whole device. If an external stream is not current
/// when the memory is freed, the library does not access the stream at that time. The memory
/// becomes reusable in a later call that names the stream (this function, an allocation on it,
/// `sconce_stream_get_from_external`, `sconce_stream_synchronize`) or that waits for the device
/// (`sconce_device_synchronize`, `sconce_memory_empty_cache`, an allocation that finds no memory).
///
/// - `ptr`: any address in an allocation of this library; the call applies to the whole block. NULL
///   and memory that is not of this library are ignored.
/// - `stream`: ignored if it is the stream for which the memory was allocated.
/// - Errors: INVALID_ARGUMENT: the memory was freed already.
/// - torch: `torch.Tensor.record_stream()`, `c10::cuda::CUDACachingAllocator::recordStream`.
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

/// Returns unused memory of every device to the driver: segments without a live block, and with
/// `policy:pages` every whole free page, of the default pool and of pools that were destroyed; idle
/// workspaces of cuBLAS, too. Unused memory of other pools stays with them;
/// `sconce_memory_pool_trim` returns it.
///
/// - Errors: INVALID_STATE: a stream is being captured. Nothing of its device is returned; other
///   devices are emptied, and the capture is not affected.
/// - Ordering: waits for the streams whose work may still use freed memory. Returning memory to the
///   driver waits for the device.
/// - torch: `torch.cuda.empty_cache()`, `c10::cuda::CUDACachingAllocator::emptyCache`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_empty_cache() -> sconce_status {
    guard(memory::empty_cache)
}

/// Reports the driver allocation that contains an allocation, e.g. to share it with another
/// process. The library may return the driver allocation once all its pieces are freed.
///
/// - `ptr`: any address in an allocation of this library, else INVALID_ARGUMENT.
/// - `out_base`: receives the address at which the driver allocation begins; for memory of pages,
///   the first page that holds a part of the allocation.
/// - `out_bytes`: receives its size; for memory of pages, that of all pages that hold a part of the
///   allocation.
/// - torch: `c10::cuda::CUDACachingAllocator::getBaseAllocation`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_base(
    ptr: *const c_void,
    out_base: *mut *mut c_void,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_base = out!(out_base);
        let out_bytes = out!(out_bytes);
        let (base, bytes) = memory::base_of(ptr as usize)?;
        out_base.write(without_provenance_mut(base));
        out_bytes.write(bytes);
        Ok(())
    })
}

/// Reports the size of an allocation's block: the requested size, rounded up, plus a remainder that
/// was too small to be split off. The caller may use all of these bytes, as with
/// `malloc_usable_size`.
///
/// - `ptr`: the address that an allocating function returned.
/// - `out_bytes`: receives the size.
/// - Errors: INVALID_ARGUMENT: `ptr` is NULL, is not memory of this library, points into it, or was
///   freed.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_usable_bytes(
    ptr: *const c_void,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_bytes = out!(out_bytes);
        out_bytes.write(memory::usable_bytes(ptr as usize)?);
        Ok(())
    })
}
