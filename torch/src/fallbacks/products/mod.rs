//! Products of matrices, without TF32 unless the program allows it for this library. `quantized` has those of integers
//! and 8-bit numbers, `packed` those with packed weights.

#![allow(unsafe_code, reason = "functions of C over handles")]

pub mod packed;
pub mod quantized;

use crate::abi::constants::dtype_of;
use crate::abi::tensors::{device_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::{Place, give};
use crate::operations::products::grouped::grouped_mm;
use crate::sconce::operations::{self, Operand, widened};
use crate::sconce::precision::with_precision;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

abi_functions! {
    /// Writes `first @ second` of two matrices to `out`.
    aoti_torch_cpu_mm_out | aoti_torch_cuda_mm_out(
        out: TensorHandle, first as self: TensorHandle, second as mat2: TensorHandle,
    ) {
        operations::mm_out(first, second, out)
    }

    /// Writes `beta * tensor + alpha * (first @ second)` to `out`.
    aoti_torch_cpu_addmm_out | aoti_torch_cuda_addmm_out(
        out: TensorHandle, tensor as self: TensorHandle, first as mat1: TensorHandle, second as mat2: TensorHandle,
        beta: f64, alpha: f64,
    ) {
        with_precision(|| check(api::sconce_tensor_addmm_out(tensor, first, second, beta, alpha, out)))
    }

    /// Writes the products of two batches of matrices to `out`.
    aoti_torch_cpu_bmm_out | aoti_torch_cuda_bmm_out(
        out: TensorHandle, first as self: TensorHandle, second as mat2: TensorHandle,
    ) {
        with_precision(|| check(api::sconce_tensor_bmm_out(first, second, out)))
    }

    /// Writes `beta * tensor + alpha * (first @ second)` of batches of matrices to `out`.
    aoti_torch_cpu_baddbmm_out | aoti_torch_cuda_baddbmm_out(
        out: TensorHandle, tensor as self: TensorHandle, first as batch1: TensorHandle, second as batch2: TensorHandle,
        beta: f64, alpha: f64,
    ) {
        add_batches(out, tensor, [first, second], beta, alpha)
    }

    /// Returns the products of groups of matrices. `offs` has the ends of the groups in an operand that is one matrix;
    /// `bias` must be missing.
    aoti_torch_cpu__grouped_mm | aoti_torch_cuda__grouped_mm(
        first as self: TensorHandle, second as mat2: TensorHandle, offs: Option<TensorHandle>,
        bias: Option<TensorHandle>, out_dtype: Option<i32>, ret0: Place,
    ) {
        let dtype = out_dtype.map(dtype_of).transpose()?;
        if bias.is_some() {
            return Err(Error::not_supported("Bias not supported yet; add it to the product"));
        }
        let products = grouped_mm(first, second, offs, dtype)?;
        give(ret0, products)
    }

    /// Returns `beta * tensor + alpha * s`, where `s` is the sum of the products of two batches of matrices.
    aoti_torch_cpu_addbmm | aoti_torch_cuda_addbmm(
        tensor as self: TensorHandle, first as batch1: TensorHandle, second as batch2: TensorHandle, beta: f64,
        alpha: f64, ret0: Place,
    ) {
        let (left, right) = (sizes_of(first)?, sizes_of(second)?);
        let ([batch, rows, inner], [other, depth, columns]) = (&left[..], &right[..]) else {
            return Err(Error::invalid_argument("batch1 and batch2 must be 3D tensors"));
        };
        if batch != other || inner != depth {
            return Err(Error::invalid_argument(format!(
                "batch1 has sizes {left:?} and batch2 {right:?}; both need as many matrices, and as many columns of the \
                 first as rows of the second"
            )));
        }
        // One product of matrices sums over the batch, too.
        let side_by_side = operations::permute(first, &[1, 0, 2])?;
        let side_by_side = operations::reshape(side_by_side.handle(), &[*rows, batch * inner])?;
        let stacked = operations::reshape(second, &[batch * inner, *columns])?;
        let sum = operations::addmm(tensor, [side_by_side.handle(), stacked.handle()], beta, alpha)?;
        give(ret0, sum)
    }

    /// Returns `beta * tensor + alpha * (mat @ vec)` of a matrix and a vector.
    aoti_torch_cpu_addmv | aoti_torch_cuda_addmv(
        tensor as self: TensorHandle, mat: TensorHandle, vec: TensorHandle, beta: f64, alpha: f64, ret0: Place,
    ) {
        let (matrix, vector) = (sizes_of(mat)?, sizes_of(vec)?);
        if matrix.len() != 2 || vector.len() != 1 || matrix[1] != vector[0] {
            return Err(Error::invalid_argument(format!(
                "mat must be a matrix and vec a vector of as many elements as it has columns, but their sizes are \
                 {matrix:?} and {vector:?}"
            )));
        }
        // A vector of one element is added to all; one of the result's length becomes a column.
        let column = match sizes_of(tensor)?.len() {
            0 => Tensor::retained(tensor)?,
            _ => operations::unsqueeze(tensor, -1)?,
        };
        let vector = operations::unsqueeze(vec, 1)?;
        let sum = operations::addmm(column.handle(), [mat, vector.handle()], beta, alpha)?;
        give(ret0, operations::reshape(sum.handle(), &matrix[..1])?)
    }

    /// Returns `beta * tensor + alpha * (first @ second)` of matrices, through GELU if `use_gelu` is not 0, else
    /// through ReLU.
    aoti_torch_cpu__addmm_activation | aoti_torch_cuda__addmm_activation(
        tensor as self: TensorHandle, first as mat1: TensorHandle, second as mat2: TensorHandle, beta: f64, alpha: f64,
        use_gelu: bool, ret0: Place,
    ) {
        let sum = operations::addmm(tensor, [first, second], beta, alpha)?;
        // PyTorch approximates GELU on devices only.
        let activation = match (use_gelu, device_of_tensor(first)? == api::SCONCE_DEVICE_CPU) {
            (false, _) => api::SCONCE_UNARY_RELU,
            (true, true) => api::SCONCE_UNARY_GELU,
            (true, false) => api::SCONCE_UNARY_GELU_TANH,
        };
        give(ret0, operations::unary(activation, &sum)?)
    }
}

/// Sums in float32 for the 16-bit types, so that the result is rounded once.
fn add_batches(
    out: TensorHandle,
    input: TensorHandle,
    [first, second]: [TensorHandle; 2],
    beta: f64,
    alpha: f64,
) -> Result<()> {
    let mut sum = operations::bmm(&widened(first)?, &widened(second)?)?;
    if alpha != 1.0 {
        sum = operations::binary(api::SCONCE_BINARY_MUL, &sum, Operand::Number(alpha))?;
    }
    // What is multiplied by 0 is not even read, so that a NaN in it does not count.
    if beta != 0.0 {
        let input = operations::expand(widened(input)?.handle(), &sizes_of(sum.handle())?)?;
        let scaled = match beta {
            1.0 => input,
            beta => operations::binary(api::SCONCE_BINARY_MUL, &input, Operand::Number(beta))?,
        };
        sum = operations::binary(api::SCONCE_BINARY_ADD, &sum, Operand::Tensor(&scaled))?;
    }
    operations::copy(&Tensor::retained(out)?, sum.handle())
}

abi_functions! {
    /// Writes `a @ b + c @ d` of matrices to `out`.
    aoti_torch__mm_plus_mm_out(
        out: TensorHandle, a: TensorHandle, b: TensorHandle, c: TensorHandle, d: TensorHandle,
    ) {
        let product =
            |first, second| operations::mm(widened(first)?.handle(), widened(second)?.handle());
        let (first, second) = (product(a, b)?, product(c, d)?);
        let add = api::SCONCE_BINARY_ADD;
        let sum = operations::binary(add, &first, Operand::Tensor(&second))?;
        operations::copy(&Tensor::retained(out)?, sum.handle())
    }
}
