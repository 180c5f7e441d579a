//! Private pools of device memory.

use sconce_base::error::{Error, Result};
use sconce_runtime::memory::pool::{self, PoolPolicy};

use crate::handle::OpaqueHandle;
use crate::{CBool, guard, sconce_status};

/// A private memory pool: it serves only allocations between `sconce_memory_pool_begin` and
/// `sconce_memory_pool_end`. Opaque; created by `sconce_memory_pool_create`.
pub struct sconce_memory_pool {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_memory_pool {
    const SOURCE: &'static str = "make pools with sconce_memory_pool_create";
}

/// Creates a private memory pool, without any memory yet. It serves all devices. Needs no device.
///
/// - `out_pool`: receives the pool.
/// - Errors: OUT_OF_MEMORY: too many pools.
/// - Ownership: the caller destroys the pool with `sconce_memory_pool_destroy`.
/// - torch: `torch.cuda.MemPool()`, `c10::cuda::MemPool`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_create(
    out_pool: *mut *mut sconce_memory_pool,
) -> sconce_status {
    guard(|| {
        let out_pool = out!(out_pool);
        out_pool.write(sconce_memory_pool::from_key(pool::create()?));
        Ok(())
    })
}

/// What the memory of a private pool is made of.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_memory_policy {
    /// As the settings `policy` and `expandable_segments` choose when the pool obtains memory.
    SCONCE_MEMORY_POLICY_OF_SETTINGS = 0,
    /// Segments, regardless of the settings.
    SCONCE_MEMORY_POLICY_SEGMENTS = 1,
    /// Pages, regardless of the settings. torch calls them expandable segments.
    SCONCE_MEMORY_POLICY_PAGES = 2,
}

numbers_of!(sconce_memory_policy as i32: SCONCE_MEMORY_POLICY_OF_SETTINGS, SCONCE_MEMORY_POLICY_SEGMENTS,
    SCONCE_MEMORY_POLICY_PAGES);

fn policy_of(policy: i32) -> Result<PoolPolicy> {
    match policy {
        SCONCE_MEMORY_POLICY_OF_SETTINGS => Ok(PoolPolicy::OfSettings),
        SCONCE_MEMORY_POLICY_SEGMENTS => Ok(PoolPolicy::Segments),
        SCONCE_MEMORY_POLICY_PAGES => Ok(PoolPolicy::Pages),
        _ => Err(Error::invalid_argument(format!(
            "policy is {policy}; it must be SCONCE_MEMORY_POLICY_OF_SETTINGS (0), _SEGMENTS (1) or \
             _PAGES (2)"
        ))),
    }
}

/// Creates a private memory pool with the given policy, without any memory yet. It serves all devices. Needs no
/// device.
///
/// - `policy`: `SCONCE_MEMORY_POLICY_…`. If the driver does not support pages, the pool uses
///   segments, and a warning is logged, as for the setting `policy:pages`.
/// - `out_pool`: receives the pool.
/// - Errors: INVALID_ARGUMENT: no such policy. OUT_OF_MEMORY: too many pools.
/// - Ownership: the caller destroys the pool with `sconce_memory_pool_destroy`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_create_with_policy(
    policy: i32,
    out_pool: *mut *mut sconce_memory_pool,
) -> sconce_status {
    guard(|| {
        let out_pool = out!(out_pool);
        out_pool.write(sconce_memory_pool::from_key(pool::create_with(policy_of(policy)?)?));
        Ok(())
    })
}

/// Reports the number of a pool in snapshots and histories. Needs no device.
///
/// - `out_id`: receives the second number of torch's pair, whose first number is 0. The number is
///   never 0, and is not reused.
/// - torch: `torch.cuda.MemPool.id`, `c10::cuda::MemPool::id`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_get_id(
    pool: *mut sconce_memory_pool,
    out_id: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_id = out!(out_id);
        out_id.write(pool::number(sconce_memory_pool::key(pool, "pool")?)?);
        Ok(())
    })
}

/// Destroys a pool and returns its unused memory to the driver. Its allocations stay valid and are
/// freed as usual.
///
/// - `pool`: NULL is a no-op.
/// - Errors: INVALID_STATE: a thread has called `sconce_memory_pool_begin` without
///   `sconce_memory_pool_end`, or the memory of the pool is fixed. DRIVER: the pool is destroyed
///   all the same.
/// - Ordering: as `sconce_memory_pool_trim`. While a stream is being captured, and while launches of
///   graphs that have used the pool are queued, the call does not block, and the memory goes back
///   later, as in `sconce_graph_reset`. While a graph holds the pool, its memory stays.
/// - torch: the destructor of `c10::cuda::MemPool`.
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

/// Serves the calling thread's allocations on a device from a pool, until `sconce_memory_pool_end`.
/// If a thread has begun several pools, the one begun last serves.
///
/// - Errors: INVALID_STATE: the thread has begun this pool on this device already.
/// - torch: entering `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::beginAllocateToPool`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_pool_begin(
    pool: *mut sconce_memory_pool,
    device: i32,
) -> sconce_status {
    guard(|| pool::begin(sconce_memory_pool::key(pool, "pool")?, device))
}

/// Undoes `sconce_memory_pool_begin`. Allocations stay valid, and return to the pool when they are
/// freed.
///
/// - Errors: INVALID_STATE: the thread has not begun this pool on this device.
/// - Threads: the thread that called `sconce_memory_pool_begin`.
/// - torch: leaving `torch.cuda.use_mem_pool(pool)`, `CUDACachingAllocator::endAllocateToPool`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_pool_end(
    pool: *mut sconce_memory_pool,
    device: i32,
) -> sconce_status {
    guard(|| pool::end(sconce_memory_pool::key(pool, "pool")?, device))
}

/// Returns unused memory of a pool to the driver, on every device, which `sconce_memory_empty_cache`
/// does not do. Returns nothing while the memory is fixed, or while a graph holds the pool.
///
/// - `out_bytes`: receives the number of bytes returned.
/// - Errors: INVALID_STATE: a stream is being captured.
/// - Ordering: as `sconce_memory_empty_cache`.
/// - torch: `CUDACachingAllocator::emptyCache(mempool_id)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_trim(
    pool: *mut sconce_memory_pool,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_bytes = out!(out_bytes);
        out_bytes.write(pool::trim(sconce_memory_pool::key(pool, "pool")?)?);
        Ok(())
    })
}

/// Fixes the memory of a pool on every device, or ends that. A program that registers memory of the
/// pool with another library (`ncclCommRegister`, `ibv_reg_mr`) fixes the pool before the first
/// registration, and ends that after the last registration has ended.
///
/// Fixed memory keeps its pages and addresses. It cannot sleep, and it does not return to the
/// driver, not even in freed blocks, which serve later allocations from the pool. The pool may
/// still take more memory. The default pool cannot be fixed: its memory may sleep, and its pages
/// move between free blocks.
///
/// - `fixed`: whether the memory is fixed from now on. Repeated calls with the same value have no
///   further effect.
/// - Errors: INVALID_STATE: the pool is asleep on a device. NOT_SUPPORTED: memory is allocated without caching.
/// - Ordering: waits for threads that put a pool to sleep, wake it or return memory to the driver.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_pool_set_fixed(
    pool: *mut sconce_memory_pool,
    fixed: CBool,
) -> sconce_status {
    guard(|| pool::set_fixed(sconce_memory_pool::key(pool, "pool")?, fixed.is_true()))
}

/// Reports whether the memory of a pool is fixed. Needs no device.
///
/// - `out_fixed`: receives the answer.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_is_fixed(
    pool: *mut sconce_memory_pool,
    out_fixed: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_fixed = out!(out_fixed);
        out_fixed.write(pool::is_fixed(sconce_memory_pool::key(pool, "pool")?)?);
        Ok(())
    })
}
