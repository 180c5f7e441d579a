//! New tensors and fills on a stream that the call names.

use crate::stream::on;
use crate::{
    sconce_scalar, sconce_status, sconce_stream, sconce_tensor, sconce_tensor_arange,
    sconce_tensor_empty, sconce_tensor_empty_like, sconce_tensor_empty_strided, sconce_tensor_eye,
    sconce_tensor_fill, sconce_tensor_full, sconce_tensor_full_like, sconce_tensor_linspace,
    sconce_tensor_ones, sconce_tensor_options, sconce_tensor_zeros,
};

/// Creates a tensor whose values are not set, in memory that belongs to a stream. Otherwise as
/// `sconce_tensor_empty`.
///
/// - torch: `torch.empty` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_empty_on(
    stream: sconce_stream,
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_empty(sizes, rank, options, out_tensor) }
    })
}

/// Creates a tensor with the given strides, whose values are not set, in memory that belongs to a
/// stream. Otherwise as `sconce_tensor_empty_strided`.
///
/// - torch: `torch.empty_strided` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_empty_strided_on(
    stream: sconce_stream,
    sizes: *const i64,
    strides: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_empty_strided(sizes, strides, rank, options, out_tensor) }
    })
}

/// Creates a tensor with the sizes of another, whose values are not set, in memory that belongs to
/// a stream. Otherwise as `sconce_tensor_empty_like`.
///
/// - torch: `torch.empty_like` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_empty_like_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_empty_like(tensor, options, out_tensor) }
    })
}

/// Creates a tensor whose elements all have one value, on a stream. Otherwise as
/// `sconce_tensor_full`.
///
/// - torch: `torch.full`, `torch.zeros`, `torch.ones` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_full_on(
    stream: sconce_stream,
    sizes: *const i64,
    rank: usize,
    value: *const sconce_scalar,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_full(sizes, rank, value, options, out_tensor) }
    })
}

/// Creates a tensor of zeros on a stream. Otherwise as `sconce_tensor_zeros`.
///
/// - torch: `torch.zeros` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_zeros_on(
    stream: sconce_stream,
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_zeros(sizes, rank, options, out_tensor) }
    })
}

/// Creates a tensor of ones on a stream. Otherwise as `sconce_tensor_ones`.
///
/// - torch: `torch.ones` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_ones_on(
    stream: sconce_stream,
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_ones(sizes, rank, options, out_tensor) }
    })
}

/// Creates a tensor with the sizes of another, whose elements all have one value, on a stream.
/// Otherwise as `sconce_tensor_full_like`.
///
/// - torch: `torch.full_like`, `torch.zeros_like`, `torch.ones_like` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_full_like_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    value: *const sconce_scalar,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_full_like(tensor, value, options, out_tensor) }
    })
}

/// Creates a vector of evenly spaced numbers on a stream. Otherwise as `sconce_tensor_arange`.
///
/// - torch: `torch.arange` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_arange_on(
    stream: sconce_stream,
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    step: *const sconce_scalar,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_arange(start, end, step, options, out_tensor) }
    })
}

/// Creates a vector of numbers at equal distances on a stream. Otherwise as
/// `sconce_tensor_linspace`.
///
/// - torch: `torch.linspace` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_linspace_on(
    stream: sconce_stream,
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    steps: i64,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_linspace(start, end, steps, options, out_tensor) }
    })
}

/// Creates a matrix with ones on its main diagonal on a stream. Otherwise as `sconce_tensor_eye`.
///
/// - torch: `torch.eye` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_eye_on(
    stream: sconce_stream,
    rows: i64,
    columns: i64,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_eye(rows, columns, options, out_tensor) }
    })
}

/// Sets every element of a tensor to a value on a stream. Otherwise as `sconce_tensor_fill`.
///
/// - torch: `torch.Tensor.fill_`, `torch.Tensor.zero_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_fill_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    value: *const sconce_scalar,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_fill(tensor, value) }
    })
}
