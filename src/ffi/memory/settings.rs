//! Device memory: what the allocator may do, and who is told when memory runs out.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::error::Error;
use crate::ffi::{Out, guard, null, sconce_status, text};
use crate::memory::observers::OutOfMemory;
use crate::memory::{self, attach_observer, detach_observer};

/// A function that is told when memory has run out: the device, the bytes asked of the driver, the
/// bytes that may be used (all of the device's, or the share that is allowed), the bytes the device
/// has free, and the caller's pointer.
pub type sconce_oom_observer = Option<
    unsafe extern "C" fn(
        device: i32,
        requested_bytes: usize,
        total_bytes: usize,
        free_bytes: usize,
        user: *mut c_void,
    ),
>;

/// Configures the allocator from now on; memory that is already there stays as it is.
///
/// Until the first call the text is taken from the environment: `SCONCE_ALLOC_CONF`, else
/// `PYTORCH_CUDA_ALLOC_CONF`, else `PYTORCH_ALLOC_CONF`. The keys that have an effect:
/// `max_split_size_mb` (from this size on, blocks are not cut), `max_non_split_rounding_mb`,
/// `roundup_power2_divisions` (a power of two, or a list as `[64:8,256:4,>:1]`),
/// `garbage_collection_threshold` (0 to 1, with a fraction), `large_segment_size_mb` and
/// `per_process_memory_fraction` (on devices without a fraction of their own). PyTorch's other keys
/// are accepted, and a warning says once that they have none. `PYTORCH_NO_CUDA_MEMORY_CACHING=1` in the
/// environment turns caching off.
///
/// # Parameters
/// `conf`: `key:value` pairs with commas between, in the syntax of `PYTORCH_CUDA_ALLOC_CONF`; keys
/// that are not named go back to their defaults. "" is all defaults.
/// # Errors
/// INVALID_ARGUMENT: `conf` is NULL, or has a key or value that is not known; the message names it,
/// and the configuration stays as it was. FORKED. Works without a device.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `conf` is NULL or a NUL-terminated string.
/// # Upstream
/// `torch.cuda.memory._set_allocator_settings()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_configure(conf: *const c_char) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a NUL-terminated string.
        let conf = unsafe { text(conf, "conf") }?;
        let conf = conf.to_str().map_err(|_| Error::invalid_argument("conf is not UTF-8"))?;
        memory::configure(conf)
    })
}

/// Limits how much of a device's memory this process gets from the driver. What it has by then it
/// keeps.
///
/// # Parameters
/// `fraction`: of the device's memory, 0 to 1; 1 is no limit. `device`: index, -1 for the current
/// device.
/// # Errors
/// INVALID_ARGUMENT: `fraction` is not from 0 to 1. INVALID_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes the device's context.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.set_per_process_memory_fraction()`, `CUDACachingAllocator::setMemoryFraction`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_set_fraction(fraction: f64, device: i32) -> sconce_status {
    guard(|| memory::set_fraction(fraction, device))
}

/// Gives the share of a device's memory that this process may get from the driver.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_fraction` [out]: 0 to 1; 1 without a limit.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_fraction` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED
/// as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes the device's context.
/// # Threads
/// Any.
/// # Safety
/// `out_fraction` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.get_per_process_memory_fraction()`, `CUDACachingAllocator::getMemoryFraction`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_fraction(
    device: i32,
    out_fraction: *mut f64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_fraction = unsafe { Out::new(out_fraction, "out_fraction") }?;
        out_fraction.write(memory::get_fraction(device)?);
        Ok(())
    })
}

/// A caller's observer.
struct Observer {
    function: unsafe extern "C" fn(i32, usize, usize, usize, *mut c_void),
    user: *mut c_void,
}

// SAFETY: whoever attaches an observer promises that it may be called from any thread.
unsafe impl Send for Observer {}
// SAFETY: see `Send`; calls may overlap.
unsafe impl Sync for Observer {}

impl Observer {
    fn call(&self, event: &OutOfMemory) {
        // SAFETY: the promise of `sconce_memory_attach_oom_observer`.
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

/// Has a function called whenever an allocation fails for want of memory, before the failure is
/// returned. Observers are called in the order they were attached.
///
/// # Parameters
/// `observer`: the function; it may call this library, also to free memory, but the failed
/// allocation is not tried again. `user`: handed to it. `out_id` [out]: for
/// `sconce_memory_detach_oom_observer`; never 0.
/// # Errors
/// INVALID_ARGUMENT: `observer` or `out_id` is NULL. FORKED. Works without a device.
/// # Ownership
/// `user` must live until the observer is detached and every call of it has returned.
/// # Ordering
/// Does not block. Observers run on the thread whose allocation failed, with no lock held.
/// # Threads
/// Any; the observer may be called from several threads at once.
/// # Safety
/// `observer` is NULL or a function of this type that does not unwind; `user` fits it. `out_id` is
/// NULL or valid for writing one value.
/// # Upstream
/// `CUDACachingAllocator::attachOutOfMemoryObserver`; there they cannot be detached.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_attach_oom_observer(
    observer: sconce_oom_observer,
    user: *mut c_void,
    out_id: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_id = unsafe { Out::new(out_id, "out_id") }?;
        let observer = Observer { function: observer.ok_or_else(|| null("observer"))?, user };
        out_id.write(attach_observer(Arc::new(move |event| observer.call(event)))?);
        Ok(())
    })
}

/// Has an observer not called any more. A call on another thread may still be running.
///
/// # Parameters
/// `id`: what `sconce_memory_attach_oom_observer` gave.
/// # Errors
/// INVALID_ARGUMENT: it gave no such id, or the observer is detached. FORKED.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; an observer may detach itself.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch's observers stay.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_detach_oom_observer(id: u64) -> sconce_status {
    guard(|| detach_observer(id))
}
