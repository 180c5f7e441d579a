//! Devices and streams: what is current, and guards.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::cell::Cell;
use std::ffi::{c_char, c_void};

use super::constants::{DEVICE_TYPE_CPU, DEVICE_TYPE_CUDA};
use super::errors::{not_null, text_of};
use crate::error::{Error, Result, shim, write_boxed, write_out};
use crate::sconce::{api, check};

/// Makes a device current until it is deleted.
pub struct DeviceGuard {
    original: i32,
}

/// Makes a stream and its device current until it is deleted.
pub struct StreamGuard {
    previous: api::sconce_stream,
    previous_device: i32,
}

fn exchange_device(device: i32) -> Result<i32> {
    let mut previous = 0;
    check(api::sconce_device_exchange(device, &mut previous))?;
    Ok(previous)
}

/// Runs `body` with a device as the calling thread's current one.
pub fn with_device<R>(device: i32, body: impl FnOnce() -> Result<R>) -> Result<R> {
    let previous = exchange_device(device)?;
    let result = body();
    exchange_device(previous)?;
    result
}

/// The stream 0 of device 0.
const NO_STREAM: api::sconce_stream = api::sconce_stream { id: 0, device: 0, reserved: 0 };

/// The calling thread's current stream of a device.
pub fn current_stream(device: i32) -> Result<api::sconce_stream> {
    let mut stream = NO_STREAM;
    check(api::sconce_stream_get_current(device, &mut stream))?;
    Ok(stream)
}

/// Whether a stream is being captured into a graph.
pub fn is_capturing(stream: api::sconce_stream) -> Result<bool> {
    let mut capturing = false;
    check(api::sconce_stream_is_capturing(stream, &mut capturing))?;
    Ok(capturing)
}

/// The `cudaStream_t` of a stream.
pub fn native(stream: api::sconce_stream) -> Result<*mut c_void> {
    let mut native = std::ptr::null_mut();
    check(api::sconce_stream_get_native(stream, &mut native))?;
    Ok(native)
}

/// The stream of a `cudaStream_t`: the current one if that is its handle, since memory belongs to a stream as it was
/// named, else one of other code.
pub fn stream_of_native(handle: *mut c_void, device: i32) -> Result<api::sconce_stream> {
    let current = current_stream(device)?;
    if native(current)? == handle {
        return Ok(current);
    }
    let mut stream = NO_STREAM;
    // SAFETY: the caller of the ABI promises a live stream; the place is valid for a write.
    check(unsafe { api::sconce_stream_get_from_external(handle, device, &mut stream) })?;
    Ok(stream)
}

/// Writes a boxed guard where the caller wants it.
///
/// # Safety
/// The place is NULL or valid for a write.
unsafe fn return_guard<T>(place: *mut *mut T, guard: impl FnOnce() -> Result<T>) -> i32 {
    shim(|| {
        not_null(place, "ret_guard")?;
        let guard = guard()?;
        // SAFETY: the caller's promise.
        unsafe { write_boxed(place, "ret_guard", Box::new(guard)) }
    })
}

/// The boxed guard of a pointer, NULL or one of a guard that has not been deleted.
///
/// # Safety
/// As described.
unsafe fn guard_of<T>(guard: *mut T) -> Result<Box<T>> {
    not_null(guard, "guard")?;
    // SAFETY: the caller's promise.
    Ok(unsafe { Box::from_raw(guard) })
}

fn new_device_guard(device: i32) -> Result<DeviceGuard> {
    Ok(DeviceGuard { original: exchange_device(device)? })
}

fn end_device_guard(guard: &DeviceGuard) -> Result<()> {
    exchange_device(guard.original).map(|_| ())
}

/// Functions of a guard of a device, which the ABI has under two names.
macro_rules! device_guards {
    ($create:ident, $delete:ident, $set:ident) => {
        /// Makes a device current until the guard is deleted; -1 keeps the current one.
        ///
        /// # Safety
        /// The result's place is NULL or valid for a write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $create(
            device_index: i32,
            ret_guard: *mut *mut DeviceGuard,
        ) -> i32 {
            // SAFETY: the caller's promise.
            unsafe { return_guard(ret_guard, || new_device_guard(device_index)) }
        }

        /// Makes the device current again that was so before the guard.
        ///
        /// # Safety
        /// The guard is NULL or one that has not been deleted.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $delete(guard: *mut DeviceGuard) -> i32 {
            // SAFETY: the caller's promise.
            shim(|| end_device_guard(&*unsafe { guard_of(guard) }?))
        }

        /// Makes another device current.
        ///
        /// # Safety
        /// The guard is NULL or one that has not been deleted.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(guard: *mut DeviceGuard, device_index: i32) -> i32 {
            shim(|| {
                not_null(guard, "guard")?;
                exchange_device(device_index).map(|_| ())
            })
        }
    };
}

device_guards!(
    aoti_torch_create_device_guard,
    aoti_torch_delete_device_guard,
    aoti_torch_device_guard_set_index
);
device_guards!(
    aoti_torch_create_cuda_guard,
    aoti_torch_delete_cuda_guard,
    aoti_torch_cuda_guard_set_index
);

/// Makes a `cudaStream_t` and its device current until the guard is deleted.
///
/// # Safety
/// The stream is NULL or alive; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_create_cuda_stream_guard(
    stream: *mut c_void,
    device_index: i32,
    ret_guard: *mut *mut StreamGuard,
) -> i32 {
    let guard = || {
        let stream = stream_of_native(stream, device_index)?;
        let mut guard = StreamGuard { previous: NO_STREAM, previous_device: 0 };
        let (previous, device) = (&mut guard.previous, &mut guard.previous_device);
        check(api::sconce_stream_exchange(stream, previous, device))?;
        Ok(guard)
    };
    // SAFETY: the caller's promise.
    unsafe { return_guard(ret_guard, guard) }
}

/// Makes the stream and the device current again that were so before the guard.
///
/// # Safety
/// The guard is NULL or one that has not been deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_delete_cuda_stream_guard(guard: *mut StreamGuard) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let guard = unsafe { guard_of(guard) }?;
        check(api::sconce_stream_restore(guard.previous, guard.previous_device))
    })
}

/// Returns the `cudaStream_t` that is the calling thread's current one on a device.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_get_current_cuda_stream(
    device_index: i32,
    ret_stream: *mut *mut c_void,
) -> i32 {
    shim(|| {
        let handle = native(current_stream(device_index)?)?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_stream, "ret_stream", handle) }
    })
}

/// Makes a `cudaStream_t` the calling thread's current one on a device.
///
/// # Safety
/// The stream is NULL or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_set_current_cuda_stream(
    stream: *mut c_void,
    device_index: i32,
) -> i32 {
    shim(|| {
        let stream = stream_of_native(stream, device_index)?;
        check(api::sconce_stream_set_current(stream))
    })
}

/// Returns a stream of the device's pool as a `cudaStream_t`.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_cuda_stream_from_pool(
    is_high_priority: bool,
    device_index: i32,
    ret_stream: *mut *mut c_void,
) -> i32 {
    shim(|| {
        let mut stream = NO_STREAM;
        let priority = -i32::from(is_high_priority);
        check(api::sconce_stream_get_from_pool(device_index, priority, &mut stream))?;
        let handle = native(stream)?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_stream, "ret_stream", handle) }
    })
}

/// Waits until the work of a `cudaStream_t` is done.
///
/// # Safety
/// The stream is NULL or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_cuda_stream_synchronize(
    stream: *mut c_void,
    device_index: i32,
) -> i32 {
    shim(|| {
        let stream = stream_of_native(stream, device_index)?;
        check(api::sconce_stream_synchronize(stream))
    })
}

/// Returns the calling thread's cuBLAS handle of the current device, set to the current stream.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_current_cuda_blas_handle(ret_handle: *mut *mut c_void) -> i32 {
    shim(|| {
        let mut handle = std::ptr::null_mut();
        check(api::sconce_blas_get_handle(&mut handle))?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_handle, "ret_handle", handle) }
    })
}

/// Returns the calling thread's current device.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_get_current_device_index(ret_device_index: *mut i32) -> i32 {
    shim(|| {
        let mut device = 0;
        check(api::sconce_device_get_current(&mut device))?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_device_index, "ret_device_index", device) }
    })
}

/// The kind and the index of a device such as `cuda:1`; the index is -1 where there is none.
pub fn parse_device(text: &str) -> Result<(i32, i32)> {
    let wrong =
        || Error::invalid_argument(format!("{text:?} is no device; write cpu, cuda or cuda:INDEX"));
    let (kind, index) = match text.split_once(':') {
        Some((kind, index)) => (kind, index.parse::<u8>().map_err(|_| wrong())?.into()),
        None => (text, -1),
    };
    match kind {
        "cpu" if index <= 0 => Ok((DEVICE_TYPE_CPU, index)),
        "cuda" => Ok((DEVICE_TYPE_CUDA, index)),
        _ => Err(wrong()),
    }
}

/// Reads the name of a device.
///
/// # Safety
/// The text is NULL or ends with NUL; the places are NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_parse_device_string(
    device_string: *const c_char,
    out_device_type: *mut u32,
    out_device_index: *mut i32,
) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let (kind, index) = parse_device(&unsafe { text_of(device_string) })?;
        // SAFETY: as above.
        unsafe { write_out(out_device_type, "out_device_type", kind as u32) }?;
        // SAFETY: as above.
        unsafe { write_out(out_device_index, "out_device_index", index) }
    })
}

thread_local! {
    /// Nothing here records gradients; models switch the mode off and on again.
    static GRAD_MODE: Cell<bool> = const { Cell::new(true) };
}

/// Returns whether the calling thread would record gradients.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_grad_mode_is_enabled() -> bool {
    GRAD_MODE.get()
}

/// Switches the calling thread's mode.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_grad_mode_set_enabled(enabled: bool) {
    GRAD_MODE.set(enabled);
}

/// Allocates device memory for the current stream.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda_caching_allocator_raw_alloc(
    nbytes: u64,
    ret_ptr: *mut *mut c_void,
) -> i32 {
    shim(|| {
        not_null(ret_ptr, "ret_ptr")?;
        let mut address = std::ptr::null_mut();
        let bytes = usize::try_from(nbytes)
            .map_err(|_| Error::invalid_argument("more bytes than can be counted"))?;
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_memory_alloc(bytes, &mut address) })?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_ptr, "ret_ptr", address) }
    })
}

/// Frees device memory in the order of the stream that it was allocated for.
///
/// # Safety
/// Addresses of devices are checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda_caching_allocator_raw_delete(ptr: *mut c_void) -> i32 {
    // SAFETY: addresses of devices are checked.
    shim(|| check(unsafe { api::sconce_memory_free(ptr) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read() {
        assert_eq!(parse_device("cpu").unwrap(), (0, -1));
        assert_eq!(parse_device("cuda").unwrap(), (1, -1));
        assert_eq!(parse_device("cuda:3").unwrap(), (1, 3));
        for wrong in ["", "cuda:", "cuda:-1", "cpu:1", "mps", "cuda:999"] {
            assert!(parse_device(wrong).unwrap_err().message.contains("no device"), "{wrong}");
        }
    }
}
