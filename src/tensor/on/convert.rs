//! Other types, places and orders in memory, and values of the host, on a stream that the call names.

use std::ffi::{c_char, c_void};

use crate::stream::on;
use crate::{
    CBool, sconce_scalar, sconce_status, sconce_stream, sconce_tensor, sconce_tensor_clone,
    sconce_tensor_contiguous, sconce_tensor_copy, sconce_tensor_flatten, sconce_tensor_from_values,
    sconce_tensor_item, sconce_tensor_options, sconce_tensor_reshape, sconce_tensor_to,
    sconce_tensor_to_string, sconce_tensor_to_values,
};

/// Creates a tensor with values from the caller's memory on a stream. Otherwise as
/// `sconce_tensor_from_values`.
///
/// - torch: `torch.tensor` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_values_on(
    stream: sconce_stream,
    values: *const c_void,
    bytes: usize,
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_from_values(values, bytes, sizes, rank, options, out_tensor) }
    })
}

/// Copies the elements of `source` to `tensor` on a stream. Otherwise as `sconce_tensor_copy`.
///
/// - `stream`: between two devices, a stream of the device of `source`. The side of `tensor` is
///   ordered with the calling thread's current stream of its device.
/// - torch: `torch.Tensor.copy_(source, non_blocking)` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_copy_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    source: *mut sconce_tensor,
    non_blocking: CBool,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_copy(tensor, source, non_blocking))
}

/// Converts a tensor to another type, device or memory format on a stream. Otherwise as
/// `sconce_tensor_to`.
///
/// - `stream`: between two devices, a stream of the device of `tensor`. The result then belongs to
///   the calling thread's current stream of its own device, which waits for the copy.
/// - torch: `torch.Tensor.to`, `.cuda()`, `.cpu()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    options: *const sconce_tensor_options,
    non_blocking: CBool,
    copy: CBool,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_to(tensor, options, non_blocking, copy, out_tensor) }
    })
}

/// Returns a copy of a tensor, which is made on a stream. Otherwise as `sconce_tensor_clone`.
///
/// - torch: `torch.Tensor.clone` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_clone_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    memory_format: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_clone(tensor, memory_format, out_tensor) }
    })
}

/// Returns a tensor whose elements are contiguous in memory. A copy, if one is needed, is made on a
/// stream. Otherwise as `sconce_tensor_contiguous`.
///
/// - torch: `torch.Tensor.contiguous` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_contiguous_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    memory_format: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_contiguous(tensor, memory_format, out_tensor) }
    })
}

/// Returns a tensor with other sizes. A copy, if one is needed, is made on a stream. Otherwise as
/// `sconce_tensor_reshape`.
///
/// - torch: `torch.Tensor.reshape` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_reshape_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    rank: usize,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_reshape(tensor, sizes, rank, out_tensor) }
    })
}

/// Merges dimensions into one. A copy, if one is needed, is made on a stream. Otherwise as
/// `sconce_tensor_flatten`.
///
/// - torch: `torch.Tensor.flatten` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_flatten_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    start: i64,
    end: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_flatten(tensor, start, end, out_tensor) }
    })
}

/// Writes all elements to the caller's memory, after the earlier work of a stream. Otherwise as
/// `sconce_tensor_to_values`.
///
/// - torch: `torch.Tensor.tolist()`, `.cpu().numpy()` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_values_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    out_values: *mut c_void,
    bytes: usize,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_to_values(tensor, out_values, bytes) }
    })
}

/// Returns the value of a tensor of one element, after the earlier work of a stream. Otherwise as
/// `sconce_tensor_item`.
///
/// - torch: `torch.Tensor.item` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_item_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    out_value: *mut sconce_scalar,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_item(tensor, out_value) }
    })
}

/// Returns a tensor as text, after the earlier work of a stream. Otherwise as
/// `sconce_tensor_to_string`.
///
/// - torch: `str(tensor)` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_string_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    out_text: *mut *mut c_char,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_to_string(tensor, out_text) }
    })
}
