//! Products of matrices and Fourier transforms, into tensors of the caller's.

use sconce_tensors::tensor::Tensor;
use sconce_tensors::tensor::operations::{self, TensorFft};

use super::super::handle::{defined, defined_in, sconce_tensor, written_to};
use crate::fft::{direction_of, kind_of, normalization_of};
use crate::{guard, sconce_status};

/// Multiplies vectors, matrices or batches of matrices, and writes the result to a tensor of the
/// caller. Otherwise as `sconce_tensor_matmul`.
///
/// - `into`: receives the result, as in `sconce_tensor_reduce_out`; has the type of the factors. If
///   it is not contiguous, or uses the memory of a factor, the product is computed in new memory
///   and then copied.
/// - Errors: as `sconce_tensor_matmul`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.matmul(…, out=into)`; `at::matmul_out`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_matmul_out(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let mut places = [Tensor::default(), Tensor::default()];
        let [one, other] = &mut places;
        let (first, second) =
            (defined_in(one, first, "first")?, defined_in(other, second, "second")?);
        written_to(into, |into| operations::matmul(first, second, Some(into)))
    })
}

/// Multiplies two batches of matrices, and writes the result to a tensor of the caller. Otherwise
/// as `sconce_tensor_bmm`.
///
/// - `into`: receives the result, as in `sconce_tensor_matmul_out`.
/// - Errors: as `sconce_tensor_bmm`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.bmm(…, out=into)`; `at::bmm_out`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_bmm_out(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        written_to(into, |into| operations::bmm(&first, &second, Some(into)))
    })
}

/// Writes `beta * tensor + alpha * (first @ second)` to a tensor of the caller. Otherwise as
/// `sconce_tensor_addmm`.
///
/// - `into`: receives the result, as in `sconce_tensor_matmul_out`; it may be `tensor`.
/// - Errors: as `sconce_tensor_addmm`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.addmm(…, out=into)`, `torch.Tensor.addmm_`; `at::addmm_out`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_addmm_out(
    tensor: *mut sconce_tensor,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    beta: f64,
    alpha: f64,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let input = defined(tensor, "tensor")?;
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        written_to(into, |into| operations::addmm(&input, &first, &second, beta, alpha, Some(into)))
    })
}

/// Computes Fourier transforms over one to three dimensions of a tensor, and writes the result to a
/// tensor of the caller. Otherwise as `sconce_tensor_fft`.
///
/// - `into`: receives the result, as in `sconce_tensor_reduce_out`: complex numbers, or real ones
///   for C2R. They are converted from the type of the transform to that of `into`. It may use the
///   memory of `tensor`.
/// - Errors: INVALID_ARGUMENT: `into` is not complex, or for C2R not floating-point. Otherwise as
///   `sconce_tensor_fft`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.fft.fft(…, out=into)` and the other functions of `sconce_tensor_fft`; `at::fft_fft_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_fft_out(
    tensor: *mut sconce_tensor,
    kind: i32,
    direction: i32,
    normalization: i32,
    dims: *const i64,
    count: usize,
    length: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let asked = TensorFft {
            kind: kind_of(kind)?,
            direction: direction_of(direction)?,
            normalization: normalization_of(normalization)?,
            dims: entries!(dims, count),
            length: (length != -1).then_some(length),
        };
        let input = defined(tensor, "tensor")?;
        written_to(into, |into| operations::fourier(&input, &asked, Some(into)))
    })
}
