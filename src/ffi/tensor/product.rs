//! Products of matrices.

use super::handle::{defined, returned, sconce_tensor};
use crate::ffi::{guard, sconce_status};
use crate::tensor::operations;

/// Multiplies vectors, matrices or batches of matrices, as torch does.
///
/// - `first`, `second`: of one type: F16, BF16, F32 or F64.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: the shapes do not fit, or the types differ. NOT_SUPPORTED: another type. CROSS_DEVICE:
///   the tensors are on several devices. Otherwise as `sconce_matmul`.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.matmul`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_matmul(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        out_tensor.write(returned(operations::matmul(&first, &second)?)?);
        Ok(())
    })
}

/// Multiplies two batches of matrices. Otherwise as `sconce_tensor_matmul`.
///
/// - `first`, `second`: of three dimensions.
/// - `out_tensor`: receives the new tensor.
/// - torch: `torch.bmm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_bmm(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        out_tensor.write(returned(operations::bmm(&first, &second)?)?);
        Ok(())
    })
}

/// Returns `beta * tensor + alpha * (first @ second)`. Otherwise as `sconce_tensor_matmul`.
///
/// - `tensor`: repeated to the product's shape; with a `beta` of 0 it is not read.
/// - `first`, `second`: matrices.
/// - `out_tensor`: receives the new tensor.
/// - torch: `torch.addmm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_addmm(
    tensor: *mut sconce_tensor,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    beta: f64,
    alpha: f64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let input = defined(tensor, "tensor")?;
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        out_tensor.write(returned(operations::addmm(&input, &first, &second, beta, alpha)?)?);
        Ok(())
    })
}
