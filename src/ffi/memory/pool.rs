//! Private pools of device memory.

use crate::ffi::handle::Handle;
use crate::ffi::{Out, guard, sconce_status};
use crate::memory::pool;

/// Memory that only allocations inside its begin and end are served from. Opaque; made by
/// `sconce_memory_pool_create`.
pub struct sconce_memory_pool {
    _private: [u8; 0],
}

impl Handle for sconce_memory_pool {
    const SOURCE: &'static str = "make pools with sconce_memory_pool_create";
}

/// Makes a pool, without any memory yet. It serves all devices.
///
/// # Parameters
/// `out_pool` [out].
/// # Errors
/// INVALID_ARGUMENT: `out_pool` is NULL. OUT_OF_MEMORY: too many pools. FORKED. Works without a
/// device.
/// # Ownership
/// The caller destroys it with `sconce_memory_pool_destroy`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_pool` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.MemPool()`, `c10::cuda::MemPool`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_create(
    out_pool: *mut *mut sconce_memory_pool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_pool = unsafe { Out::new(out_pool, "out_pool") }?;
        out_pool.write(sconce_memory_pool::from_key(pool::create()?));
        Ok(())
    })
}

/// Gives the number by which snapshots and histories know a pool.
///
/// # Parameters
/// `pool`: a live pool. `out_id` [out]: the second number of the pair; the first is 0. Never 0, and
/// never used again.
/// # Errors
/// INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_id` is NULL. Works
/// without a device.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_id` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.MemPool.id`, `c10::cuda::MemPool::id`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_get_id(
    pool: *mut sconce_memory_pool,
    out_id: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_id = unsafe { Out::new(out_id, "out_id") }?;
        out_id.write(pool::number(sconce_memory_pool::key(pool, "pool")?)?);
        Ok(())
    })
}

/// Destroys a pool and gives what nothing uses of it back to the driver. What is allocated from it
/// stays valid and is freed as ever.
///
/// # Parameters
/// `pool`: a live pool; NULL is a no-op.
/// # Errors
/// INVALID_HANDLE: `pool` is destroyed or foreign. INVALID_STATE: a thread has begun it and not ended
/// it. DRIVER: also for a failure of earlier work on a device; the pool is destroyed all the same.
/// FORKED.
/// # Ownership
/// Takes the pool back; the handle is dead afterwards and is recognised as such.
/// # Ordering
/// As `sconce_memory_pool_trim`; while a stream is being captured it does not block, and the memory
/// goes back when the cache is emptied next.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The destructor of `c10::cuda::MemPool`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_pool_destroy(pool: *mut sconce_memory_pool) -> sconce_status {
    guard(|| {
        if pool.is_null() {
            return Ok(());
        }
        pool::destroy(sconce_memory_pool::key(pool, "pool")?)
    })
}

/// Has the calling thread's allocations on a device served from a pool, until
/// `sconce_memory_pool_end`. Of several pools that have begun, the newest serves.
///
/// # Parameters
/// `pool`: a live pool. `device`: index, -1 for the current device.
/// # Errors
/// INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_DEVICE. INVALID_STATE: the thread
/// has begun this pool on this device already. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any; for the calling thread alone.
/// # Safety
/// No requirements.
/// # Upstream
/// Entering `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::beginAllocateToPool`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_pool_begin(
    pool: *mut sconce_memory_pool,
    device: i32,
) -> sconce_status {
    guard(|| pool::begin(sconce_memory_pool::key(pool, "pool")?, device))
}

/// Undoes `sconce_memory_pool_begin`. What was allocated stays allocated, and returns to the pool
/// when it is freed.
///
/// # Parameters
/// `pool`: a live pool. `device`: index, -1 for the current device.
/// # Errors
/// INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_DEVICE. INVALID_STATE: the thread
/// has not begun this pool on this device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// The thread that called the begin.
/// # Safety
/// No requirements.
/// # Upstream
/// Leaving `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::endAllocateToPool`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_pool_end(
    pool: *mut sconce_memory_pool,
    device: i32,
) -> sconce_status {
    guard(|| pool::end(sconce_memory_pool::key(pool, "pool")?, device))
}

/// Gives memory of a pool that nothing uses back to the driver, on every device.
///
/// # Parameters
/// `pool`: a live pool. `out_bytes` [out]: how many bytes went back.
/// # Errors
/// INVALID_HANDLE: `pool` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_bytes` is NULL.
/// INVALID_STATE: a stream is being captured. DRIVER: also for a failure of earlier work on a device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Waits for the streams that freed memory still waits for; giving back waits for the device.
/// # Threads
/// Any.
/// # Safety
/// `out_bytes` is NULL or valid for writing one value.
/// # Upstream
/// `CUDACachingAllocator::emptyCache(mempool_id)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_trim(
    pool: *mut sconce_memory_pool,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_bytes = unsafe { Out::new(out_bytes, "out_bytes") }?;
        out_bytes.write(pool::trim(sconce_memory_pool::key(pool, "pool")?)?);
        Ok(())
    })
}
