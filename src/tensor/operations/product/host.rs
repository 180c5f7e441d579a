//! Products of matrices on the CPU, by the calling thread.

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

use crate::blas::Matmul;
use crate::element::Dtype;
use crate::error::Result;
use crate::tensor::transfer::copy_into;
use crate::tensor::{Tensor, TensorOptions};

/// `c = alpha * a @ b + beta * c` for batches of matrices. 16-bit types are multiplied in single precision and
/// rounded once.
pub(super) fn multiply(request: &Matmul, a: &Tensor, b: &Tensor, c: &Tensor) -> Result<()> {
    let dtype = if c.dtype() == Dtype::F64 { Dtype::F64 } else { Dtype::F32 };
    let packed = |tensor: &Tensor, is_read: bool| -> Result<Tensor> {
        let packed = TensorOptions::of(tensor).with(dtype).empty(tensor.sizes())?;
        if is_read {
            copy_into(&packed, tensor, false)?;
        }
        Ok(packed)
    };
    // What is multiplied by 0 is not read.
    let (left, right) = (packed(a, request.k != 0)?, packed(b, request.k != 0)?);
    let result = packed(c, request.beta != 0.0)?;
    let [m, n, k] = [request.m, request.n, request.k].map(|size| size as usize);
    for index in 0..request.batch as usize {
        let at = |tensor: &Tensor, elements: usize| {
            tensor.address() + index * elements * tensor.element()
        };
        let (left, right, result) = (at(&left, m * k), at(&right, k * n), at(&result, m * n));
        let (rows_of_k, rows_of_n) = (k as isize, n as isize);
        if dtype == Dtype::F64 {
            // SAFETY: the three tensors are new, packed, in host memory, and hold so many matrices of these sizes.
            unsafe {
                matrixmultiply::dgemm(
                    m,
                    k,
                    n,
                    request.alpha,
                    with_exposed_provenance(left),
                    rows_of_k,
                    1,
                    with_exposed_provenance(right),
                    rows_of_n,
                    1,
                    request.beta,
                    with_exposed_provenance_mut(result),
                    rows_of_n,
                    1,
                );
            }
        } else {
            // SAFETY: the three tensors are new, packed, in host memory, and hold so many matrices of these sizes.
            unsafe {
                matrixmultiply::sgemm(
                    m,
                    k,
                    n,
                    request.alpha as f32,
                    with_exposed_provenance(left),
                    rows_of_k,
                    1,
                    with_exposed_provenance(right),
                    rows_of_n,
                    1,
                    request.beta as f32,
                    with_exposed_provenance_mut(result),
                    rows_of_n,
                    1,
                );
            }
        }
    }
    copy_into(c, &result, false)
}
