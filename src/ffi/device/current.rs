//! Devices: which is current, and what they have to finish. See `docs/design/device.md`.

use crate::device;
use crate::ffi::{Out, guard, guard_runtime, guard_value, sconce_status};

/// Gives how many devices there are; `CUDA_VISIBLE_DEVICES` is respected.
///
/// # Parameters
/// None.
/// # Errors
/// None; never fails. 0 without a backend, and in a forked child.
/// # Ownership
/// None.
/// # Ordering
/// Makes no context; does not initialise.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.device_count()`, `c10::cuda::device_count()`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_count() -> i32 {
    guard_value(0, device::count)
}

/// Gives the calling thread's current device; 0 at thread start.
///
/// # Parameters
/// `out_device` [out]: index.
/// # Errors
/// INVALID_ARGUMENT: `out_device` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_device` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.current_device()`, `c10::cuda::current_device()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_current(out_device: *mut i32) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_device = unsafe { Out::new(out_device, "out_device") }?;
        out_device.write(device::current()?.as_i32());
        Ok(())
    })
}

/// Makes a device the calling thread's current one, for this library and for the CUDA runtime in
/// the same thread.
///
/// # Parameters
/// `device`: index; a negative one changes nothing, as in torch.
/// # Errors
/// INVALID_DEVICE: too large. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, but for making the device's context when this is its first use.
/// # Threads
/// Any; each thread has its own current device.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.set_device()`, `c10::cuda::set_device()`; switching back to device 0 makes no
/// context there.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_set_current(device: i32) -> sconce_status {
    guard_runtime(|| device::set_current(device))
}

/// Makes a device current and gives the one that was: what device guards are made of.
///
/// # Parameters
/// `device`: index; -1 keeps the current one. `out_previous` [out]: the device that was current.
/// # Errors
/// INVALID_DEVICE: `device` is out of range. INVALID_ARGUMENT: `out_previous` is NULL. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// As `sconce_device_set_current`; to the same device it calls no driver.
/// # Threads
/// Any; each thread has its own current device.
/// # Safety
/// `out_previous` is NULL or valid for writing one value.
/// # Upstream
/// `c10::cuda::ExchangeDevice`; -1 is what `CUDAGuard(-1)` needs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_exchange(
    device: i32,
    out_previous: *mut i32,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_previous = unsafe { Out::new(out_previous, "out_previous") }?;
        out_previous.write(device::exchange(device)?.as_i32());
        Ok(())
    })
}

/// Tells whether a device's primary context exists, made by anyone in the process.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_active` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_active` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `out_active` is NULL or valid for writing one value.
/// # Upstream
/// `c10::cuda::hasPrimaryContext`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_has_context(
    device: i32,
    out_active: *mut bool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_active = unsafe { Out::new(out_active, "out_active") }?;
        out_active.write(device::has_context(device)?);
        Ok(())
    })
}

/// Waits until a device has finished all work queued on it so far, on every stream.
///
/// # Parameters
/// `device`: index, -1 for the current device.
/// # Errors
/// INVALID_DEVICE. DRIVER: also for a failure of earlier work on the device. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Blocks the calling thread.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.synchronize(device)`; the current device stays what it is.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_synchronize(device: i32) -> sconce_status {
    guard(|| device::synchronize(device))
}
