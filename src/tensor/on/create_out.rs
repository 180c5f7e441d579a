//! Tensors of other sizes, and numbers in a sequence in tensors of the caller's, on a stream that the call names.

use crate::stream::on;
use crate::{
    sconce_generator, sconce_scalar, sconce_status, sconce_stream, sconce_tensor,
    sconce_tensor_arange_out, sconce_tensor_eye_out, sconce_tensor_linspace_out,
    sconce_tensor_randperm_out, sconce_tensor_resize,
};

/// Changes the sizes of a tensor on a stream. Otherwise as `sconce_tensor_resize`.
///
/// - torch: `torch.Tensor.resize_` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_resize_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    rank: usize,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_resize(tensor, sizes, rank) }
    })
}

/// Writes evenly spaced numbers to a tensor of the caller on a stream. Otherwise as
/// `sconce_tensor_arange_out`.
///
/// - torch: `torch.arange(…, out=into)`; `at::arange_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_arange_out_on(
    stream: sconce_stream,
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    step: *const sconce_scalar,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_arange_out(start, end, step, into) }
    })
}

/// Writes numbers at equal distances to a tensor of the caller on a stream. Otherwise as
/// `sconce_tensor_linspace_out`.
///
/// - torch: `torch.linspace(…, out=into)`; `at::linspace_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_linspace_out_on(
    stream: sconce_stream,
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    steps: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_linspace_out(start, end, steps, into) }
    })
}

/// Writes a matrix with ones on its main diagonal to a tensor of the caller on a stream. Otherwise
/// as `sconce_tensor_eye_out`.
///
/// - torch: `torch.eye(…, out=into)`; `at::eye_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_eye_out_on(
    stream: sconce_stream,
    rows: i64,
    columns: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_eye_out(rows, columns, into))
}

/// Writes the numbers 0 to `n - 1` in a random order to a tensor of the caller on a stream.
/// Otherwise as `sconce_tensor_randperm_out`.
///
/// - torch: `torch.randperm(…, out=into)`; `at::randperm_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_randperm_out_on(
    stream: sconce_stream,
    n: i64,
    generator: *mut sconce_generator,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_randperm_out(n, generator, into))
}
