//! Streams as objects: a handle holds which stream it is, and not the stream itself.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::c_void;

use super::arguments::{Out, object};
use super::devices::{current_stream, native, stream_of_native};
use crate::error::{Result, shim};
use crate::sconce::api;

/// The stream of a handle.
fn stream_of(stream: Option<&api::sconce_stream>) -> Result<api::sconce_stream> {
    object(stream, "stream").copied()
}

/// Returns a stream as an object, which the caller owns.
fn return_stream(
    place: Out<'_, Box<api::sconce_stream>>,
    stream: impl FnOnce() -> Result<api::sconce_stream>,
) -> i32 {
    shim(|| {
        place.check("ret_stream")?;
        place.write("ret_stream", Box::new(stream()?))
    })
}

/// Returns the calling thread's current stream of a device.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_get_current_stream(
    device_index: i32,
    ret_stream: Out<'_, Box<api::sconce_stream>>,
) -> i32 {
    return_stream(ret_stream, || current_stream(device_index))
}

/// Returns a `cudaStream_t` as a stream. The stream stays the caller's.
///
/// # Safety
/// The stream is NULL or alive; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_cuda_stream_from_external(
    ext_stream: *mut c_void,
    device_index: i32,
    ret_stream: Out<'_, Box<api::sconce_stream>>,
) -> i32 {
    return_stream(ret_stream, || stream_of_native(ext_stream, device_index))
}

/// Deletes a handle; the stream lives on.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_delete_stream(stream: Option<Box<api::sconce_stream>>) -> i32 {
    shim(|| object(stream, "stream").map(drop))
}

/// Returns the number of a stream, which is unique on its device.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_stream_id(
    stream: Option<&api::sconce_stream>,
    ret_stream_id: Out<'_, i64>,
) -> i32 {
    shim(|| {
        let stream = stream_of(stream)?;
        ret_stream_id.write("ret_stream_id", stream.id)
    })
}

/// Returns the `cudaStream_t` of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn torch_stream_native_handle(
    stream: Option<&api::sconce_stream>,
    ret_native_handle: Out<'_, *mut c_void>,
) -> i32 {
    shim(|| {
        let handle = native(stream_of(stream)?)?;
        ret_native_handle.write("ret_native_handle", handle)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_found_again_by_its_own_handle() {
        crate::testing::simulate();
        let (mut current, mut same) = (None, None);
        let (mut native, mut number, mut other) = (std::ptr::null_mut(), 7, 8);
        assert_eq!(aoti_torch_get_current_stream(0, Out::of_box(&mut current)), 0);
        assert_eq!(torch_stream_native_handle(current.as_deref(), Out::from(&mut native)), 0);
        // SAFETY: the handle is that of a stream of libsconce.so.
        let status =
            unsafe { torch_get_cuda_stream_from_external(native, 0, Out::of_box(&mut same)) };
        assert_eq!(status, 0);
        assert_eq!(aoti_torch_stream_id(current.as_deref(), Out::from(&mut number)), 0);
        assert_eq!(aoti_torch_stream_id(same.as_deref(), Out::from(&mut other)), 0);
        assert_eq!(number, other);
        assert_eq!(aoti_torch_delete_stream(current), 0);
        assert_eq!(aoti_torch_delete_stream(same), 0);
        assert_ne!(aoti_torch_delete_stream(None), 0);
        assert_ne!(aoti_torch_stream_id(None, Out::from(&mut number)), 0);
        assert_ne!(aoti_torch_get_current_stream(0, Out::none()), 0);
        let mut none = None;
        assert_ne!(aoti_torch_get_current_stream(99, Out::of_box(&mut none)), 0);
        assert!(none.is_none());
    }
}
