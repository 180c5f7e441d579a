//! Products of matrices.

#![allow(unsafe_code, reason = "functions of C over handles")]

use crate::abi::copies::{integer, real};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

fallbacks! {
    /// Writes `first @ second` of two matrices to `out`.
    aoti_torch_cpu_mm_out | aoti_torch_cuda_mm_out(out: TensorHandle, first: TensorHandle, second: TensorHandle) {
        // SAFETY: any number may be passed as a handle.
        check(unsafe { api::sconce_tensor_matmul_out(first, second, out) })
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
        check(unsafe { api::sconce_tensor_addmm_out(tensor, first, second, beta, alpha, out) })
    }

    /// Writes the products of two batches of matrices to `out`.
    aoti_torch_cpu_bmm_out | aoti_torch_cuda_bmm_out(out: TensorHandle, first: TensorHandle, second: TensorHandle) {
        // SAFETY: any number may be passed as a handle.
        check(unsafe { api::sconce_tensor_bmm_out(first, second, out) })
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
        // SAFETY: any number may be passed as a handle; the place is valid for a write.
        let product = Tensor::made(|made| unsafe { api::sconce_tensor_bmm(first, second, made) })?;
        let product = product.handle();
        let none = std::ptr::null_mut();
        let nothing = std::ptr::null();
        if alpha != 1.0 {
            // SAFETY: as above; the number is valid.
            check(unsafe {
                api::sconce_tensor_binary(
                    api::SCONCE_BINARY_MUL, product, nothing, none, &real(alpha), nothing, product, std::ptr::null_mut(),
                )
            })?;
        }
        if beta == 0.0 {
            // SAFETY: as above.
            return_copy(out, product)
        } else {
            let factor = if beta.fract() == 0.0 { integer(beta as i64) } else { real(beta) };
            // SAFETY: as above.
            check(unsafe {
                api::sconce_tensor_binary(
                    api::SCONCE_BINARY_ADD, product, nothing, tensor, nothing, &factor, out, std::ptr::null_mut(),
                )
            })
        }
    }
}

fn return_copy(out: TensorHandle, product: TensorHandle) -> crate::error::Result<()> {
    // SAFETY: any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_copy(out, product, true) })
}
