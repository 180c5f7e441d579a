//! Operations on elements.
//!
//! | file | idea |
//! |---|---|
//! | this one | sums, products, powers, and what is made of them |
//! | `views` | views, and tensors that are given other sizes |
//! | `pad` | elements around a tensor |
//! | `pad_gradient` | gradients of padding with the outermost elements |

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

pub mod pad;
pub mod pad_gradient;
#[cfg(test)]
mod tests;
pub mod views;

use crate::fallbacks::{Place, give};
use crate::operations::elementwise::{
    Trilinear, angle, hann_window, polar, soft_margin_backward, trilinear,
};
use crate::operations::integers::gcd;
use crate::sconce::operations::Operand::{Handle, Number};
use crate::sconce::operations::combine;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::real;
use crate::sconce::{Tensor, api, operations};

abi_functions! {
    /// Returns `self + alpha * other`.
    aoti_torch_cpu_add_Scalar | aoti_torch_cuda_add_Scalar(
        tensor as self: TensorHandle, other: f64, alpha: f64, ret0: Place,
    ) {
        let sum = combine(api::SCONCE_BINARY_ADD, Handle(tensor), Number(other), alpha)?;
        give(ret0, sum)
    }

    /// Returns `self + alpha * other`.
    aoti_torch_cpu_add_Tensor | aoti_torch_cuda_add_Tensor(
        tensor as self: TensorHandle, other: TensorHandle, alpha: f64, ret0: Place,
    ) {
        let sum = combine(api::SCONCE_BINARY_ADD, Handle(tensor), Handle(other), alpha)?;
        give(ret0, sum)
    }

    /// Returns `self * other`.
    aoti_torch_cpu_mul_Scalar | aoti_torch_cuda_mul_Scalar(
        tensor as self: TensorHandle, other: f64, ret0: Place,
    ) {
        let product = combine(api::SCONCE_BINARY_MUL, Handle(tensor), Number(other), 1.0)?;
        give(ret0, product)
    }

    /// Returns `self * other`.
    aoti_torch_cpu_mul_Tensor | aoti_torch_cuda_mul_Tensor(
        tensor as self: TensorHandle, other: TensorHandle, ret0: Place,
    ) {
        let product = combine(api::SCONCE_BINARY_MUL, Handle(tensor), Handle(other), 1.0)?;
        give(ret0, product)
    }

    /// Returns the greatest common divisors of whole numbers.
    aoti_torch_cpu_gcd | aoti_torch_cuda_gcd(
        tensor as self: TensorHandle, other: TensorHandle, ret0: Place,
    ) {
        give(ret0, gcd(tensor, other)?)
    }

    /// Returns a number to the powers of a tensor.
    aoti_torch_cpu_pow_Scalar | aoti_torch_cuda_pow_Scalar(
        number: f64, exponent: TensorHandle, ret0: Place,
    ) {
        let power = combine(api::SCONCE_BINARY_POW, Number(number), Handle(exponent), 1.0)?;
        // As PyTorch's, whatever the order of the exponent's dimensions.
        let power = operations::contiguous(power.handle())?;
        give(ret0, power)
    }

    /// Returns a tensor to the power of a number.
    aoti_torch_cpu_pow_Tensor_Scalar | aoti_torch_cuda_pow_Tensor_Scalar(
        tensor as self: TensorHandle, exponent: f64, ret0: Place,
    ) {
        let power = combine(api::SCONCE_BINARY_POW, Handle(tensor), Number(exponent), 1.0)?;
        give(ret0, power)
    }

    /// Returns a tensor to the powers of another.
    aoti_torch_cpu_pow_Tensor_Tensor | aoti_torch_cuda_pow_Tensor_Tensor(
        tensor as self: TensorHandle, exponent: TensorHandle, ret0: Place,
    ) {
        let power = combine(api::SCONCE_BINARY_POW, Handle(tensor), Handle(exponent), 1.0)?;
        give(ret0, power)
    }

    /// Sets all elements to a number.
    aoti_torch_cpu_fill__Scalar | aoti_torch_cuda_fill__Scalar(tensor as self: TensorHandle, value: f64) {
        operations::fill(tensor, &real(value))
    }

    /// Returns the sizes of numbers, without their signs.
    aoti_torch_cpu_abs | aoti_torch_cuda_abs(tensor as self: TensorHandle, ret0: Place) {
        let sizes = operations::unary(api::SCONCE_UNARY_ABS, &Tensor::retained(tensor)?)?;
        give(ret0, sizes)
    }

    /// Returns the angles of real numbers: 0 or π.
    aoti_torch_cpu_angle | aoti_torch_cuda_angle(tensor as self: TensorHandle, ret0: Place) {
        give(ret0, angle(tensor)?)
    }

    /// Returns one period of a raised cosine, from 0 to nearly 0.
    aoti_torch_cpu_hann_window | aoti_torch_cuda_hann_window(
        window_length: i64, wanted: NewTensor, ret0: Place,
    ) {
        let options = wanted.options(api::SCONCE_DTYPE_DEFAULT, api::SCONCE_DEVICE_CPU)?;
        give(ret0, hann_window(window_length, &options)?)
    }

    /// Returns complex numbers of given sizes and angles.
    aoti_torch_cpu_polar | aoti_torch_cuda_polar(
        abs: TensorHandle, angle: TensorHandle, ret0: Place,
    ) {
        give(ret0, polar(abs, angle)?)
    }

    /// Returns the gradient of `soft_margin_loss` for its input.
    aoti_torch_cpu_soft_margin_loss_backward | aoti_torch_cuda_soft_margin_loss_backward(
        grad_output: TensorHandle, tensor as self: TensorHandle, target: TensorHandle, reduction: i64, ret0: Place,
    ) {
        let result = soft_margin_backward(grad_output, tensor, target, reduction)?;
        give(ret0, result)
    }

    /// Returns the sum over dimensions of the product of three tensors.
    aoti_torch_cpu__trilinear | aoti_torch_cuda__trilinear(
        i1: TensorHandle, i2: TensorHandle, i3: TensorHandle, expand1: &[i64], expand2: &[i64],
        expand3: &[i64], sumdim: &[i64], unroll_dim: i64, ret0: Place,
    ) {
        let expand = [expand1, expand2, expand3];
        let how = Trilinear { expand, sum: sumdim, unroll: unroll_dim };
        let result = trilinear([i1, i2, i3], &how)?;
        give(ret0, result)
    }
}
