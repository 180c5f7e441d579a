//! Products of matrices, convolutions and Fourier transforms of tensors, on a stream that the call names.

use crate::stream::on;
use crate::{
    sconce_status, sconce_stream, sconce_tensor, sconce_tensor_addmm, sconce_tensor_bmm,
    sconce_tensor_convolution, sconce_tensor_fft, sconce_tensor_matmul,
};

/// Multiplies vectors, matrices or batches of matrices on a stream. Otherwise as
/// `sconce_tensor_matmul`.
///
/// - torch: `torch.matmul` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_matmul_on(
    stream: sconce_stream,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_matmul(first, second, out_tensor) }
    })
}

/// Multiplies two batches of matrices on a stream. Otherwise as `sconce_tensor_bmm`.
///
/// - torch: `torch.bmm` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_bmm_on(
    stream: sconce_stream,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_bmm(first, second, out_tensor) }
    })
}

/// Returns `beta * tensor + alpha * (first @ second)`, computed on a stream. Otherwise as
/// `sconce_tensor_addmm`.
///
/// - torch: `torch.addmm` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_addmm_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    beta: f64,
    alpha: f64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_addmm(tensor, first, second, beta, alpha, out_tensor) }
    })
}

/// Convolves images with a filter, and adds a bias, on a stream. Otherwise as
/// `sconce_tensor_convolution`.
///
/// - torch: `torch.nn.functional.conv1d`, `conv2d`, `conv3d` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_convolution_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    filter: *mut sconce_tensor,
    bias: *mut sconce_tensor,
    stride: *const i64,
    padding: *const i64,
    dilation: *const i64,
    spatial: usize,
    groups: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_tensor_convolution(
                tensor, filter, bias, stride, padding, dilation, spatial, groups, out_tensor,
            )
        }
    })
}

/// Computes Fourier transforms over dimensions of a tensor on a stream. Otherwise as
/// `sconce_tensor_fft`.
///
/// - torch: `torch.fft.fft`, `rfft`, `irfft` and their forms of two and n dimensions inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_fft_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    kind: i32,
    direction: i32,
    normalization: i32,
    dims: *const i64,
    count: usize,
    length: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe {
            sconce_tensor_fft(
                tensor,
                kind,
                direction,
                normalization,
                dims,
                count,
                length,
                out_tensor,
            )
        }
    })
}
