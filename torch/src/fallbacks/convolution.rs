//! Convolutions.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::give;
use crate::abi::arguments::{numbers, optional};
use crate::error::Error;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

fallbacks! {
    /// Returns the convolution of `input` with `weight`, and a bias added. TF32 is allowed, as in PyTorch 2.11.
    aoti_torch_cpu_convolution | aoti_torch_cuda_convolution(
        input: TensorHandle,
        weight: TensorHandle,
        bias: *const TensorHandle,
        stride: *const i64,
        stride_len: i64,
        padding: *const i64,
        padding_len: i64,
        dilation: *const i64,
        dilation_len: i64,
        transposed: i32,
        _output_padding: *const i64,
        _output_padding_len: i64,
        groups: i64,
        ret0: *mut TensorHandle,
    ) {
        if transposed != 0 {
            return Err(Error::not_supported(
                "transposed convolutions are not offered; let them be compiled with \
                 torch._inductor.config.max_autotune_conv_backends = \"TRITON\", or decompose them",
            ));
        }
        // SAFETY: the caller's promise for the pointer.
        let bias = unsafe { optional(bias) }.unwrap_or(std::ptr::null_mut());
        // SAFETY: the caller's promise for the array.
        let stride = unsafe { numbers(stride, stride_len, "stride") }?;
        // SAFETY: as above.
        let padding = unsafe { numbers(padding, padding_len, "padding") }?;
        // SAFETY: as above.
        let dilation = unsafe { numbers(dilation, dilation_len, "dilation") }?;
        let spatial = stride.len();
        if padding.len() != spatial || dilation.len() != spatial {
            return Err(Error::invalid_argument("stride, padding and dilation have different lengths"));
        }
        // SAFETY: the arrays have `spatial` entries; the place is valid for a write.
        let result = Tensor::made(|made| unsafe {
            api::sconce_tensor_convolution(
                input, weight, bias, stride.as_ptr(), padding.as_ptr(), dilation.as_ptr(), spatial, groups, made,
            )
        })?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret0, result) }
    }
}
