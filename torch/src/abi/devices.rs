//! Devices and streams: what is current, and guards.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::cell::Cell;
use std::ffi::c_void;

use super::arguments::{CText, Out, object};
use super::bits::CBool;
use super::constants::{DEVICE_TYPE_CPU, DEVICE_TYPE_CUDA};
use crate::error::{Error, Result, shim};
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
    // SAFETY: C passed the handle of a live stream, as the ABI demands of every `cudaStream_t`.
    check(unsafe { api::sconce_stream_get_from_external(handle, device, &mut stream) })?;
    Ok(stream)
}

/// Returns a guard, which the caller owns.
fn return_guard<T>(place: Out<'_, Box<T>>, guard: impl FnOnce() -> Result<T>) -> i32 {
    shim(|| {
        place.check("ret_guard")?;
        place.write("ret_guard", Box::new(guard()?))
    })
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
        #[unsafe(no_mangle)]
        pub extern "C" fn $create(device_index: i32, ret_guard: Out<'_, Box<DeviceGuard>>) -> i32 {
            return_guard(ret_guard, || new_device_guard(device_index))
        }

        /// Makes the device current again that was so before the guard.
        #[unsafe(no_mangle)]
        pub extern "C" fn $delete(guard: Option<Box<DeviceGuard>>) -> i32 {
            shim(|| end_device_guard(&*object(guard, "guard")?))
        }

        /// Makes another device current.
        #[unsafe(no_mangle)]
        pub extern "C" fn $set(guard: Option<&DeviceGuard>, device_index: i32) -> i32 {
            shim(|| {
                object(guard, "guard")?;
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
    ret_guard: Out<'_, Box<StreamGuard>>,
) -> i32 {
    let guard = || {
        let stream = stream_of_native(stream, device_index)?;
        let mut guard = StreamGuard { previous: NO_STREAM, previous_device: 0 };
        let (previous, device) = (&mut guard.previous, &mut guard.previous_device);
        check(api::sconce_stream_exchange(stream, previous, device))?;
        Ok(guard)
    };
    return_guard(ret_guard, guard)
}

/// Makes the stream and the device current again that were so before the guard.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_delete_cuda_stream_guard(guard: Option<Box<StreamGuard>>) -> i32 {
    shim(|| {
        let guard = object(guard, "guard")?;
        check(api::sconce_stream_restore(guard.previous, guard.previous_device))
    })
}

/// Returns the `cudaStream_t` that is the calling thread's current one on a device.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_get_current_cuda_stream(
    device_index: i32,
    ret_stream: Out<'_, *mut c_void>,
) -> i32 {
    shim(|| {
        let handle = native(current_stream(device_index)?)?;
        ret_stream.write("ret_stream", handle)
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
#[unsafe(no_mangle)]
pub extern "C" fn torch_get_cuda_stream_from_pool(
    is_high_priority: CBool,
    device_index: i32,
    ret_stream: Out<'_, *mut c_void>,
) -> i32 {
    shim(|| {
        let mut stream = NO_STREAM;
        let priority = -i32::from(is_high_priority.is_true());
        check(api::sconce_stream_get_from_pool(device_index, priority, &mut stream))?;
        let handle = native(stream)?;
        ret_stream.write("ret_stream", handle)
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
#[unsafe(no_mangle)]
pub extern "C" fn torch_get_current_cuda_blas_handle(ret_handle: Out<'_, *mut c_void>) -> i32 {
    shim(|| {
        let mut handle = std::ptr::null_mut();
        check(api::sconce_blas_get_handle(&mut handle))?;
        ret_handle.write("ret_handle", handle)
    })
}

/// Returns the calling thread's current device.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_get_current_device_index(ret_device_index: Out<'_, i32>) -> i32 {
    shim(|| {
        let mut device = 0;
        check(api::sconce_device_get_current(&mut device))?;
        ret_device_index.write("ret_device_index", device)
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
#[unsafe(no_mangle)]
pub extern "C" fn torch_parse_device_string(
    device_string: CText<'_>,
    out_device_type: Out<'_, u32>,
    out_device_index: Out<'_, i32>,
) -> i32 {
    shim(|| {
        let (kind, index) = parse_device(&device_string.text())?;
        out_device_type.write("out_device_type", kind as u32)?;
        out_device_index.write("out_device_index", index)
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
pub extern "C" fn aoti_torch_grad_mode_set_enabled(enabled: CBool) {
    GRAD_MODE.set(enabled.is_true());
}

/// Allocates device memory for the current stream.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_cuda_caching_allocator_raw_alloc(
    nbytes: u64,
    ret_ptr: Out<'_, *mut c_void>,
) -> i32 {
    shim(|| {
        ret_ptr.check("ret_ptr")?;
        let mut address = std::ptr::null_mut();
        let bytes = usize::try_from(nbytes)
            .map_err(|_| Error::invalid_argument("more bytes than can be counted"))?;
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_memory_alloc(bytes, &mut address) })?;
        ret_ptr.write("ret_ptr", address)
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
