//! Device memory: settings, limits, and out-of-memory observers.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use sconce_base::error::Error;
use sconce_base::lock::refuse_held;
use sconce_runtime::memory::observers::OutOfMemory;
use sconce_runtime::memory::{self, attach_observer, detach_observer};

use crate::{guard, null, sconce_status};

/// A function that is called when an allocation fails for lack of memory, with the device, the
/// bytes requested from the driver, the bytes that the process may use (all of the device's, or the
/// allowed share), the free bytes of the device, and the caller's pointer.
pub type sconce_oom_observer = Option<
    unsafe extern "C" fn(
        device: i32,
        requested_bytes: usize,
        total_bytes: usize,
        free_bytes: usize,
        user: *mut c_void,
    ),
>;

/// Configures the allocator for later calls. Does not change existing memory. Needs no device.
///
/// Until the first call the configuration comes from the environment: `SCONCE_ALLOC_CONF`, else
/// `PYTORCH_CUDA_ALLOC_CONF`, else `PYTORCH_ALLOC_CONF`. These keys have an effect:
/// `max_split_size_mb` (blocks of this size and more are not split), `max_non_split_rounding_mb`,
/// `roundup_power2_divisions` (a power of two, or a list such as `[64:8,256:4,>:1]`),
/// `garbage_collection_threshold` (a fraction between 0 and 1), `large_segment_size_mb`,
/// `per_process_memory_fraction` (on devices without a fraction of their own), `policy` (`segments`
/// or `pages`; not a key of PyTorch) or its synonym `expandable_segments`, and for pinned memory
/// `pinned_use_cuda_host_register`, `pinned_num_register_threads`, `pinned_use_background_threads`,
/// `pinned_free_catch_all`, `pinned_reserve_segment_size_mb` and `pinned_max_cached_size_mb`.
/// `docs/design/memory_settings.md` describes them. PyTorch's other keys are accepted without
/// effect, and a warning reports that once. `PYTORCH_NO_CUDA_MEMORY_CACHING=1` in the environment
/// turns caching off.
///
/// - `conf`: `key:value` pairs separated by commas, in the syntax of `PYTORCH_CUDA_ALLOC_CONF`.
///   Keys that are not named are reset to their defaults; "" resets all keys.
/// - Errors: INVALID_ARGUMENT: a key or value is not known; the message names it, and the
///   configuration does not change.
/// - torch: `torch.cuda.memory._set_allocator_settings()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_configure(conf: *const c_char) -> sconce_status {
    guard(|| {
        let conf = text!(conf);
        let conf = conf.to_str().map_err(|_| Error::invalid_argument("conf is not UTF-8"))?;
        memory::configure(conf)
    })
}

/// Limits the share of a device's memory that this process takes from the driver. Memory that the
/// process has already stays allocated. Makes the device's context.
///
/// - `fraction`: 0 to 1, else INVALID_ARGUMENT; 1 is no limit.
/// - torch: `torch.cuda.set_per_process_memory_fraction()`,
///   `CUDACachingAllocator::setMemoryFraction`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_set_fraction(fraction: f64, device: i32) -> sconce_status {
    guard(|| memory::set_fraction(fraction, device))
}

/// Reports the share of a device's memory that this process may take from the driver. Makes the
/// device's context.
///
/// - `out_fraction`: receives 0 to 1; 1 is no limit.
/// - torch: `torch.cuda.get_per_process_memory_fraction()`,
///   `CUDACachingAllocator::getMemoryFraction`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_fraction(
    device: i32,
    out_fraction: *mut f64,
) -> sconce_status {
    guard(|| {
        let out_fraction = out!(out_fraction);
        out_fraction.write(memory::get_fraction(device)?);
        Ok(())
    })
}

/// A caller's observer.
struct CObserver {
    function: unsafe extern "C" fn(i32, usize, usize, usize, *mut c_void),
    user: *mut c_void,
}

// SAFETY: `sconce_memory_attach_oom_observer` demands that any thread may call the function with `user`.
unsafe impl Send for CObserver {}
// SAFETY: `sconce_memory_attach_oom_observer` demands that several threads may call the function at once.
unsafe impl Sync for CObserver {}

impl CObserver {
    fn call(&self, event: &OutOfMemory) {
        refuse_held("an observer of missing memory");
        // SAFETY: `sconce_memory_attach_oom_observer` demands that the function expects `user`, which lives until it is
        // detached, and that the function does not unwind.
        unsafe {
            (self.function)(
                event.device,
                event.requested_bytes,
                event.total_bytes,
                event.free_bytes,
                self.user,
            );
        }
    }
}

/// Registers a function that is called whenever an allocation fails for lack of memory, before the
/// failure is returned. Observers are called in the order in which they were attached. Needs no
/// device.
///
/// Observers run on the thread whose allocation failed, while the library holds no lock. An
/// observer may call this library and may free memory, but the failed allocation is not tried
/// again.
///
/// - `observer`: the function.
/// - `user`: passed to each call of `observer`.
/// - `out_id`: receives a number for `sconce_memory_detach_oom_observer`; never 0.
/// - Ownership: `user` must live until the observer is detached and every call of it has returned.
/// - Threads: several threads may call `observer` at once.
/// - Safety: `observer` does not unwind, and `user` is what it expects.
/// - torch: `CUDACachingAllocator::attachOutOfMemoryObserver`; torch cannot detach observers.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_attach_oom_observer(
    observer: sconce_oom_observer,
    user: *mut c_void,
    out_id: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_id = out!(out_id);
        let observer = CObserver { function: observer.ok_or_else(|| null("observer"))?, user };
        out_id.write(attach_observer(Arc::new(move |event| observer.call(event)))?);
        Ok(())
    })
}

/// Removes an observer. The observer may still be running on another thread when this function
/// returns. An observer may detach itself.
///
/// - `id`: the number from `sconce_memory_attach_oom_observer`; INVALID_ARGUMENT if there is no
///   such observer.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_detach_oom_observer(id: u64) -> sconce_status {
    guard(|| detach_observer(id))
}
