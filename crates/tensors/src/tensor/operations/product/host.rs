//! Products of matrices on the CPU.

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_compute::blas::Matmul;
use sconce_math::products::{Batch, Matrices, Real};

use crate::tensor::host_use::{self, HostUse};
use crate::tensor::transfer::{contiguous, copy_into, empty_like};
use crate::tensor::{MemoryFormat, Tensor, TensorOptions, views};

/// `c = alpha * a @ b + beta * c` for batches of matrices, of which `c` is contiguous and shares no memory with the
/// others. 16-bit types are multiplied in single precision and rounded once.
pub(super) fn multiply(request: &Matmul, a: &Tensor, b: &Tensor, c: &Tensor) -> Result<()> {
    host_use::note([HostUse::reads(a), HostUse::reads(b), HostUse::writes(c)]);
    let dtype = match c.dtype() {
        wide @ (Dtype::F64 | Dtype::C64 | Dtype::C128) => wide,
        _ => Dtype::F32,
    };
    let [batch, m, n, k] = [request.batch, request.m, request.n, request.k];
    // A batch that has one right factor is a product of one tall matrix, which reads that factor once.
    if batch > 1 && b.strides()[0] == 0 {
        let tall = views::view(&contiguous(a, MemoryFormat::Contiguous)?, &[1, batch * m, k])?;
        let (shared, result) = (views::narrow(b, 0, 0, 1)?, views::view(c, &[1, batch * m, n])?);
        return multiply_each([1, batch * m, n, k], request, dtype, [&tall, &shared, &result]);
    }
    multiply_each([batch, m, n, k], request, dtype, [a, b, c])
}

/// [`multiply`], matrix by matrix.
fn multiply_each(
    sizes: [i64; 4],
    request: &Matmul,
    dtype: Dtype,
    [a, b, c]: [&Tensor; 3],
) -> Result<()> {
    // What is multiplied by 0 is not read.
    let (left, right) = (in_type(a, dtype, request.k != 0)?, in_type(b, dtype, request.k != 0)?);
    let result = in_type(c, dtype, request.beta != 0.0)?;
    let sizes = sizes.map(|size| size as usize);
    let operands = [&left, &right, &result];
    let factors = [request.alpha, request.beta];
    let singles = factors.map(|factor| factor as f32);
    let is_complex = matches!(dtype, Dtype::C64 | Dtype::C128);
    match dtype {
        Dtype::F64 | Dtype::C128 => multiply_numbers(sizes, factors, operands, is_complex),
        _ => multiply_numbers(sizes, singles, operands, is_complex),
    }
    if result.address() == c.address() { Ok(()) } else { copy_into(c, &result, false) }
}

/// The product of three tensors, in the type of the elements or of their real parts.
fn multiply_numbers<T: Real>(
    sizes: [usize; 4],
    [alpha, beta]: [T; 2],
    [a, b, c]: [&Tensor; 3],
    is_complex: bool,
) {
    let steps = |tensor: &Tensor| std::array::from_fn(|dim| tensor.strides()[dim] as isize);
    let product = Batch {
        sizes,
        alpha,
        a: Matrices { first: with_exposed_provenance(a.address()), steps: steps(a) },
        b: Matrices { first: with_exposed_provenance(b.address()), steps: steps(b) },
        beta,
        c: Matrices { first: with_exposed_provenance_mut(c.address()), steps: steps(c) },
    };
    if is_complex {
        // SAFETY: the tensors are in host memory, with elements of two `T` at every place that sizes and strides reach;
        // the result is new or the caller's, its elements are one after another, and the factors share none of them.
        unsafe { product.multiply_complex() }
    } else {
        // SAFETY: the tensors are in host memory, with a `T` at every place that sizes and strides reach; the result is
        // new or the caller's, its elements are one after another, and the factors share none of them.
        unsafe { product.multiply() }
    }
}

/// The tensor itself if it has the type that is calculated in; else a packed copy, of one matrix if the whole batch is
/// one.
fn in_type(tensor: &Tensor, dtype: Dtype, is_read: bool) -> Result<Tensor> {
    if tensor.dtype() == dtype {
        return Ok(tensor.clone());
    }
    let is_one = tensor.strides()[0] == 0 && tensor.sizes()[0] > 1;
    let own = if is_one { views::narrow(tensor, 0, 0, 1)? } else { tensor.clone() };
    // In the same order, so that the conversion reads and writes runs: the factors' strides may be any.
    let options = TensorOptions::of(&own).with(dtype);
    let packed = empty_like(&own, options, MemoryFormat::Preserve)?;
    if is_read {
        copy_into(&packed, &own, false)?;
    }
    if is_one { views::expand(&packed, tensor.sizes()) } else { Ok(packed) }
}
