//! Products of matrices and Fourier transforms, into tensors of the caller's, on a stream that the call names.

use crate::stream::on;
use crate::{
    sconce_status, sconce_stream, sconce_tensor, sconce_tensor_addmm_out, sconce_tensor_bmm_out,
    sconce_tensor_fft_out, sconce_tensor_matmul_out,
};

/// Multiplies vectors, matrices or batches of matrices on a stream, and writes the product to a
/// tensor of the caller. Otherwise as `sconce_tensor_matmul_out`.
///
/// - torch: `torch.matmul(…, out=into)`; `at::matmul_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_matmul_out_on(
    stream: sconce_stream,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_matmul_out(first, second, into))
}

/// Multiplies two batches of matrices on a stream, and writes the products to a tensor of the
/// caller. Otherwise as `sconce_tensor_bmm_out`.
///
/// - torch: `torch.bmm(…, out=into)`; `at::bmm_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_bmm_out_on(
    stream: sconce_stream,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_bmm_out(first, second, into))
}

/// Computes `beta * tensor + alpha * (first @ second)` on a stream, and writes the result to a
/// tensor of the caller. Otherwise as `sconce_tensor_addmm_out`.
///
/// - torch: `torch.addmm(…, out=into)`, `torch.Tensor.addmm_`; `at::addmm_out` inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_addmm_out_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    beta: f64,
    alpha: f64,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || sconce_tensor_addmm_out(tensor, first, second, beta, alpha, into))
}

/// Computes Fourier transforms over dimensions of a tensor on a stream, and writes the result to a
/// tensor of the caller. Otherwise as `sconce_tensor_fft_out`.
///
/// - torch: `torch.fft.fft(…, out=into)` and the other functions of `sconce_tensor_fft`;
///   `at::fft_fft_out` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_fft_out_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    kind: i32,
    direction: i32,
    normalization: i32,
    dims: *const i64,
    count: usize,
    length: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_tensor_fft_out(tensor, kind, direction, normalization, dims, count, length, into)
        }
    })
}
