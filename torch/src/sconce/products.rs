//! Products of matrices by libsconce.so.

use super::precision::{with_precision, with_tf32};
use super::tensor::TensorHandle;
use super::{Tensor, api, check};
use crate::error::{Error, Result};

/// Refuses what is no matrix: `sconce_tensor_matmul` also takes vectors and batches.
fn check_matrix(tensor: TensorHandle, name: &str) -> Result<()> {
    let mut rank = 0;
    check(api::sconce_tensor_get_rank(tensor, &mut rank))?;
    if rank == 2 {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("{name} must be a matrix, but has {rank} dimensions")))
}

/// The product of two matrices.
pub fn mm(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    check_matrix(first, "self")?;
    check_matrix(second, "mat2")?;
    matmul(first, second)
}

/// The product of two matrices, in a tensor that is there.
pub fn mm_out(first: TensorHandle, second: TensorHandle, out: TensorHandle) -> Result<()> {
    check_matrix(first, "self")?;
    check_matrix(second, "mat2")?;
    with_precision(|| check(api::sconce_tensor_matmul_out(first, second, out)))
}

/// A product in the precision that the thread has.
fn multiply(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_matmul(first, second, made))
}

/// The product of vectors, matrices or batches of matrices.
pub fn matmul(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    with_precision(|| multiply(first, second))
}

/// The products of two batches of matrices.
pub fn bmm(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    with_precision(|| {
        Tensor::made(|made| api::sconce_tensor_bmm(first.handle(), second.handle(), made))
    })
}

/// `beta * tensor + alpha * (first @ second)` of matrices, in a new tensor.
pub fn addmm(
    tensor: TensorHandle,
    [first, second]: [TensorHandle; 2],
    beta: f64,
    alpha: f64,
) -> Result<Tensor> {
    with_precision(|| {
        Tensor::made(|made| api::sconce_tensor_addmm(tensor, first, second, beta, alpha, made))
    })
}

/// As [`matmul`], of matrices whose products of elements and their sums of a part of the inner size are exact in
/// float32, and in nothing shorter.
pub fn exact_matmul(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    with_tf32(false, || multiply(first, second))
}

/// As [`matmul`], of float32 matrices whose elements have so few bits that TF32 holds them.
pub fn short_matmul(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    with_tf32(true, || multiply(first, second))
}
