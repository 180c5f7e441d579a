//! Streams as objects: a handle holds which stream it is, and not the stream itself.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::c_void;

use super::devices::{current_stream, native, stream_of_native};
use super::errors::not_null;
use crate::error::{Error, Result, shim, write_boxed, write_out};
use crate::sconce::api;

/// The stream of a handle.
///
/// # Safety
/// The handle is NULL or one that has not been deleted.
unsafe fn stream_of(stream: *mut api::sconce_stream) -> Result<api::sconce_stream> {
    // SAFETY: the caller's promise.
    let stream = unsafe { stream.as_ref() };
    stream.copied().ok_or_else(|| Error::invalid_argument("stream is NULL"))
}

/// # Safety
/// The place is NULL or valid for a write.
unsafe fn return_stream(
    place: *mut *mut api::sconce_stream,
    stream: impl FnOnce() -> Result<api::sconce_stream>,
) -> i32 {
    shim(|| {
        not_null(place, "ret_stream")?;
        let stream = Box::new(stream()?);
        // SAFETY: the caller's promise.
        unsafe { write_boxed(place, "ret_stream", stream) }
    })
}

/// Returns the calling thread's current stream of a device.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_get_current_stream(
    device_index: i32,
    ret_stream: *mut *mut api::sconce_stream,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { return_stream(ret_stream, || current_stream(device_index)) }
}

/// Returns a `cudaStream_t` as a stream. The stream stays the caller's.
///
/// # Safety
/// The stream is NULL or alive; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_cuda_stream_from_external(
    ext_stream: *mut c_void,
    device_index: i32,
    ret_stream: *mut *mut api::sconce_stream,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { return_stream(ret_stream, || stream_of_native(ext_stream, device_index)) }
}

/// Deletes a handle; the stream lives on.
///
/// # Safety
/// The handle is NULL or one that has not been deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_delete_stream(stream: *mut api::sconce_stream) -> i32 {
    shim(|| {
        not_null(stream, "stream")?;
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(stream) });
        Ok(())
    })
}

/// Returns the number of a stream, which is unique on its device.
///
/// # Safety
/// The handle is NULL or one that has not been deleted; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_stream_id(
    stream: *mut api::sconce_stream,
    ret_stream_id: *mut i64,
) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let stream = unsafe { stream_of(stream) }?;
        // SAFETY: as above.
        unsafe { write_out(ret_stream_id, "ret_stream_id", stream.id) }
    })
}

/// Returns the `cudaStream_t` of a stream.
///
/// # Safety
/// As for [`aoti_torch_stream_id`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_stream_native_handle(
    stream: *mut api::sconce_stream,
    ret_native_handle: *mut *mut c_void,
) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let handle = native(unsafe { stream_of(stream) }?)?;
        // SAFETY: as above.
        unsafe { write_out(ret_native_handle, "ret_native_handle", handle) }
    })
}

#[cfg(test)]
#[allow(clippy::multiple_unsafe_ops_per_block, reason = "calls of one handle after another")]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_found_again_by_its_own_handle() {
        crate::testing::simulate();
        let (mut current, mut same) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (mut native, mut number, mut other) = (std::ptr::null_mut(), 7, 8);
        // SAFETY: the places are valid for writes, and handles are used while they live.
        unsafe {
            assert_eq!(aoti_torch_get_current_stream(0, &mut current), 0);
            assert_eq!(torch_stream_native_handle(current, &mut native), 0);
            assert_eq!(torch_get_cuda_stream_from_external(native, 0, &mut same), 0);
            assert_eq!(aoti_torch_stream_id(current, &mut number), 0);
            assert_eq!(aoti_torch_stream_id(same, &mut other), 0);
            assert_eq!(number, other);
            assert_eq!(aoti_torch_delete_stream(current), 0);
            assert_eq!(aoti_torch_delete_stream(same), 0);
            assert_ne!(aoti_torch_delete_stream(std::ptr::null_mut()), 0);
            assert_ne!(aoti_torch_stream_id(std::ptr::null_mut(), &mut number), 0);
            assert_ne!(aoti_torch_get_current_stream(99, &mut current), 0);
            assert_ne!(aoti_torch_get_current_stream(0, std::ptr::null_mut()), 0);
        }
    }
}
