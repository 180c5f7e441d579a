//! Products of matrices, without TF32 unless the program allows it for this library.

#![allow(unsafe_code, reason = "functions of C over handles")]

use crate::abi::tensors::sizes_of;
use crate::error::Result;
use crate::sconce::operations::{self, Operand, widened};
use crate::sconce::precision::with_precision;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

fallbacks! {
    /// Writes `first @ second` of two matrices to `out`.
    aoti_torch_cpu_mm_out | aoti_torch_cuda_mm_out(out: TensorHandle, first: TensorHandle, second: TensorHandle) {
        operations::mm_out(first, second, out)
    }

    /// Writes `beta * tensor + alpha * (first @ second)` to `out`.
    aoti_torch_cpu_addmm_out | aoti_torch_cuda_addmm_out(
        out: TensorHandle,
        tensor: TensorHandle,
        first: TensorHandle,
        second: TensorHandle,
        beta: f64,
        alpha: f64,
    ) {
        // SAFETY: any number may be passed as a handle.
        with_precision(|| check(unsafe { api::sconce_tensor_addmm_out(tensor, first, second, beta, alpha, out) }))
    }

    /// Writes the products of two batches of matrices to `out`.
    aoti_torch_cpu_bmm_out | aoti_torch_cuda_bmm_out(out: TensorHandle, first: TensorHandle, second: TensorHandle) {
        // SAFETY: any number may be passed as a handle.
        with_precision(|| check(unsafe { api::sconce_tensor_bmm_out(first, second, out) }))
    }

    /// Writes `beta * tensor + alpha * (first @ second)` of batches of matrices to `out`.
    aoti_torch_cpu_baddbmm_out | aoti_torch_cuda_baddbmm_out(
        out: TensorHandle,
        tensor: TensorHandle,
        first: TensorHandle,
        second: TensorHandle,
        beta: f64,
        alpha: f64,
    ) {
        add_batches(out, tensor, [first, second], beta, alpha)
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

/// Writes `a @ b + c @ d` of matrices to `out`.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch__mm_plus_mm_out(
    out: TensorHandle,
    a: TensorHandle,
    b: TensorHandle,
    c: TensorHandle,
    d: TensorHandle,
) -> i32 {
    super::operation("aoti_torch__mm_plus_mm_out", || {
        let product =
            |first, second| operations::mm(widened(first)?.handle(), widened(second)?.handle());
        let (first, second) = (product(a, b)?, product(c, d)?);
        let add = api::SCONCE_BINARY_ADD;
        let sum = operations::binary(add, &first, Operand::Tensor(&second))?;
        operations::copy(&Tensor::retained(out)?, sum.handle())
    })
}
